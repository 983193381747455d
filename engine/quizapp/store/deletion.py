"""Takes one learner out of the store, so that nothing of them is left in its files."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from quizapp.errors import QuizappError, nearest
from quizapp.store import lease
from quizapp.store.database import FILE_NAME, explained, open_database, transaction


class Deleted(NamedTuple):
    """How much went. `overwritten` is False while another program still reads the store's older pages."""

    learner: str
    attempts: int
    overwritten: bool


def attempts_of(folder: Path, name: str) -> int:
    """How many attempts a learner has; QuizappError when there is no such learner."""
    if not (folder / FILE_NAME).exists():
        raise _no_learner(name, [])
    with closing(open_database(folder)) as db, explained(folder / FILE_NAME):
        learner_id = _learner(db, name)
        return int(
            db.execute("SELECT count(*) FROM attempts WHERE learner_id = ?", (learner_id,)).fetchone()[0]
        )


def delete_learner(folder: Path, name: str) -> Deleted:
    """Deletes a learner with all attempts and whatever else refers to either, and overwrites where it stood.

    What questions were shown stays, as it says nothing of anybody. QuizappError while one of the attempts is
    being taken.
    """
    with closing(open_database(folder)) as db, explained(folder / FILE_NAME):
        db.execute("PRAGMA secure_delete = ON")
        with transaction(db):
            learner_id = _learner(db, name)
            for pid, process in db.execute(
                "SELECT pid, process FROM leases JOIN attempts ON attempts.key = leases.attempt"
                " WHERE learner_id = ?",
                (learner_id,),
            ):
                if lease.lives(pid, process):
                    raise QuizappError(
                        f"{name} is taking an attempt just now (process {pid}).",
                        hint="End it there first; nothing was deleted.",
                    )
            count = _delete(db, learner_id)
        overwritten = _forget_pages(db)
    return Deleted(name, count, overwritten)


def _learner(db: sqlite3.Connection, name: str) -> str:
    found = db.execute("SELECT id FROM learners WHERE name = ?", (name.strip(),)).fetchone()
    if found is None:
        raise _no_learner(name, [str(row[0]) for row in db.execute("SELECT name FROM learners")])
    return str(found[0])


def _no_learner(name: str, known: list[str]) -> QuizappError:
    near = nearest(name, known)
    hint = f"Did you mean {near!r}?" if near else "`quizapp results` lists who has attempts."
    return QuizappError(f"There is no learner {name!r}.", hint=hint)


def _delete(db: sqlite3.Connection, learner_id: str) -> int:
    """Deletes by the references that the tables declare, so that a table of tomorrow is not forgotten."""
    of_attempts, of_learners = [], []
    for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        for reference in db.execute(f"PRAGMA foreign_key_list({_quoted(table)})").fetchall():
            if reference[2] == "attempts":
                of_attempts.append((table, reference[3]))
            elif reference[2] == "learners" and table != "attempts":
                of_learners.append((table, reference[3]))
    for table, column in of_attempts:
        db.execute(
            f"DELETE FROM {_quoted(table)} WHERE {_quoted(column)} IN"  # noqa: S608 (names out of the schema)
            " (SELECT key FROM attempts WHERE learner_id = ?)",
            (learner_id,),
        )
    for table, column in of_learners:
        db.execute(
            f"DELETE FROM {_quoted(table)} WHERE {_quoted(column)} = ?",  # noqa: S608 (the same)
            (learner_id,),
        )
    count = db.execute("DELETE FROM attempts WHERE learner_id = ?", (learner_id,)).rowcount
    db.execute("DELETE FROM learners WHERE id = ?", (learner_id,))
    return count


def _forget_pages(db: sqlite3.Connection) -> bool:
    """Writes the store anew and empties its log; False when another program reads the log meanwhile."""
    try:
        db.execute("VACUUM")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise
        return False
    busy = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    return not busy


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
