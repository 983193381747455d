"""Brings another store's attempts into this one, without doubles and without losing any."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from quizapp.store.database import FILE_NAME, StoreUnavailable, explained, open_database, transaction


class Merged(NamedTuple):
    """What came of a merge, in numbers of attempts."""

    added: int
    continued: int
    """Attempts that were here already, and had gone on over there."""
    known: int
    """Attempts that were here already, as far as they go over there or further."""
    parted: tuple[str, ...]
    """Ids of attempts that went on in both places; they stay as they are here."""


def merge(db: sqlite3.Connection, path: Path, other: Path) -> Merged:
    """Copy what the store `other` (a folder, or its file) has and `db`, whose file is `path`, has not.

    An attempt is known by its id, a learner by the random one: two learners of one name stay two. Raises
    StoreUnavailable for a file that is no store, or a newer one.
    """
    file = other / FILE_NAME if other.is_dir() else other
    if not file.is_file():
        raise StoreUnavailable(
            f"{file}: there is no store.", hint="Name the folder that holds another store."
        )
    if file.resolve() == path.resolve():
        raise StoreUnavailable(
            f"{file} is this store itself.", hint="Name the folder that holds another one."
        )
    with tempfile.TemporaryDirectory() as scratch:
        # A copy: an older store is brought up to date before it is read, and the other one stays as it is.
        _copy(file, Path(scratch) / FILE_NAME)
        with closing(open_database(Path(scratch))) as theirs, explained(path), transaction(db):
            return _merge(db, theirs)


def _copy(file: Path, to: Path) -> None:
    try:
        with (
            closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(to)) as target,
        ):
            source.backup(target)
    except sqlite3.Error:
        # What is wrong with it is told when the copy is opened.
        shutil.copyfile(file, to)


def _merge(ours: sqlite3.Connection, theirs: sqlite3.Connection) -> Merged:
    added = continued = known = 0
    parted: list[str] = []
    for attempt_id, their_key in theirs.execute("SELECT id, key FROM attempts ORDER BY key").fetchall():
        found = ours.execute("SELECT key FROM attempts WHERE id = ?", (attempt_id,)).fetchone()
        if found is None:
            _add(ours, theirs, their_key)
            added += 1
            continue
        mine, other = _events(ours, found[0]), _events(theirs, their_key)
        if other[: len(mine)] == mine:
            if len(other) > len(mine):
                _continue(ours, theirs, found[0], their_key, other[len(mine) :])
                continued += 1
            else:
                known += 1
        elif mine[: len(other)] == other:
            known += 1
        else:
            parted.append(attempt_id)
    ours.executemany(
        "INSERT OR IGNORE INTO snapshots VALUES (?, ?)",
        theirs.execute("SELECT hash, question FROM snapshots"),
    )
    for record in theirs.execute("SELECT key, made_us, record FROM evidence").fetchall():
        if not ours.execute(
            "SELECT 1 FROM evidence WHERE key = ? AND record = ?", (record[0], record[2])
        ).fetchone():
            ours.execute("INSERT INTO evidence (key, made_us, record) VALUES (?, ?, ?)", record)
    return Merged(added, continued, known, tuple(parted))


_PROJECTION = ("state", "finished_us", "position", "answered", "total", "points", "max_points", "passed")
_IDENTITY = (
    "id",
    "learner_id",
    "bank_id",
    "bank_path",
    "bank_title",
    "bank_hash",
    "mode",
    "seed",
    "started_us",
)


def _add(ours: sqlite3.Connection, theirs: sqlite3.Connection, key: int) -> None:
    columns = ", ".join((*_IDENTITY, *_PROJECTION))
    row = theirs.execute(f"SELECT {columns} FROM attempts WHERE key = ?", (key,)).fetchone()  # noqa: S608 (constants)
    _add_learner(ours, theirs, row[1])
    marks = ", ".join("?" * len(row))
    cursor = ours.execute(f"INSERT INTO attempts ({columns}) VALUES ({marks})", row)  # noqa: S608 (constants)
    ours.executemany(
        "INSERT INTO events VALUES (?, ?, ?, ?, ?)",
        ((cursor.lastrowid, *event) for event in _events(theirs, key)),
    )


def _continue(
    ours: sqlite3.Connection,
    theirs: sqlite3.Connection,
    key: int,
    their_key: int,
    events: list[tuple[object, ...]],
) -> None:
    columns = ", ".join(_PROJECTION)
    row = theirs.execute(f"SELECT {columns} FROM attempts WHERE key = ?", (their_key,)).fetchone()  # noqa: S608
    changes = ", ".join(f"{name} = ?" for name in _PROJECTION)
    ours.execute(f"UPDATE attempts SET {changes} WHERE key = ?", (*row, key))  # noqa: S608 (constants)
    ours.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", ((key, *event) for event in events))


def _add_learner(ours: sqlite3.Connection, theirs: sqlite3.Connection, learner_id: str) -> None:
    if ours.execute("SELECT 1 FROM learners WHERE id = ?", (learner_id,)).fetchone():
        return
    name, created_us = theirs.execute(
        "SELECT name, created_us FROM learners WHERE id = ?", (learner_id,)
    ).fetchone()
    free, number = name, 2
    while ours.execute("SELECT 1 FROM learners WHERE name = ?", (free,)).fetchone():
        free, number = f"{name} ({number})", number + 1
    ours.execute("INSERT INTO learners VALUES (?, ?, ?)", (learner_id, free, created_us))


def _events(db: sqlite3.Connection, key: int) -> list[tuple[object, ...]]:
    return db.execute(
        "SELECT seq, at_us, type, body FROM events WHERE attempt = ? ORDER BY seq", (key,)
    ).fetchall()
