"""Takes the attempts of other stores in, without doubles: who and what is known by random ids, never by name.

A store that is merged is data of anybody's: it is copied first and never written to, each attempt is folded
from its events before a row is made of it, and what can't be read is left out and said.
"""

from __future__ import annotations

import json
import re
import sqlite3
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from quizapp.assess.attempt import Attempt, Started, event_from_json
from quizapp.errors import QuizappError
from quizapp.store import lease
from quizapp.store.database import (
    FILE_NAME,
    StoreUnavailable,
    explained,
    open_database,
    transaction,
)
from quizapp.store.projection import UPDATE, projection_of
from quizapp.store.schema import APPLICATION_ID, VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

_ATTEMPT_ID = re.compile(r"[0-9a-f]{12}")
_LEARNER_ID = re.compile(r"[0-9a-f]{32}")
_LARGEST_INT = 2**63 - 1


class Merged(NamedTuple):
    """What came in. `known` attempts were here already, `behind` ones were here and have now gone on.

    `renamed`: learners whose name belongs to another one here, as (name there, name here). `left_out`:
    attempts that were not taken in, each with the reason.
    """

    learners: int
    attempts: int
    behind: int
    known: int
    renamed: tuple[tuple[str, str], ...]
    left_out: tuple[tuple[str, str], ...]


def merge_store(folder: Path, source: Path) -> Merged:
    """Takes the attempts of the store at `source` (its file or folder) into the one in `folder`.

    Evidence stays where it is: what was run there was not run here. StoreUnavailable for a source that is no
    store, damaged, or written by a newer quizapp; nothing is taken in then.
    """
    file = source / FILE_NAME if source.is_dir() else source
    if not file.is_file():
        raise QuizappError(f"{source}: there is no store", hint=f"A store is a file named {FILE_NAME}.")
    if (folder / FILE_NAME).exists() and file.samefile(folder / FILE_NAME):
        raise QuizappError(f"{source} is the store itself", hint="Name another one to merge into it.")
    with _copied(file) as theirs, closing(open_database(folder)) as ours, explained(folder / FILE_NAME):
        return _Merge(ours, theirs).all()


@contextmanager
def _copied(file: Path) -> Iterator[sqlite3.Connection]:
    """A copy of a store, brought up to this version's tables; the store itself is only read."""
    with tempfile.TemporaryDirectory(prefix="quizapp-") as name:
        copy = Path(name) / FILE_NAME
        with explained(file):
            with closing(_read_only(file)) as theirs:
                _must_be_known(theirs, file)
                with closing(sqlite3.connect(copy)) as mine:
                    theirs.backup(mine)
            with closing(open_database(copy.parent)) as theirs:
                yield theirs


def _read_only(file: Path) -> sqlite3.Connection:
    # Without its log a store needs no lock files, which a folder that can't be written has no place for.
    has_log = file.with_name(f"{file.name}-wal").exists()
    name = str(file.resolve()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return sqlite3.connect(f"file:{name}?mode=ro{'' if has_log else '&immutable=1'}", uri=True)


def _must_be_known(db: sqlite3.Connection, file: Path) -> None:
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise StoreUnavailable(f"{file} is not a quizapp store: it belongs to another program.")
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    if version > VERSION:
        raise StoreUnavailable(
            f"{file} was written by a newer quizapp (store version {version}, this one knows {VERSION}).",
            hint="Update quizapp, then merge.",
        )


class _Merge:
    def __init__(self, ours: sqlite3.Connection, theirs: sqlite3.Connection) -> None:
        self._ours = ours
        self._theirs = theirs
        self._learners: dict[str, str] = {}
        self._new_learners = self._new = self._behind = self._known = 0
        self._renamed: list[tuple[str, str]] = []
        self._left_out: list[tuple[str, str]] = []

    def all(self) -> Merged:
        rows = self._theirs.execute(
            "SELECT attempts.key, attempts.id, learner_id, learners.name, created_us, bank_path FROM attempts"
            " JOIN learners ON learners.id = attempts.learner_id ORDER BY attempts.key"
        ).fetchall()
        for key, attempt_id, *learner, bank_path in rows:
            try:
                self._attempt(int(key), str(attempt_id), learner, str(bank_path))
            except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
                self._left_out.append((str(attempt_id), f"can't be read: {error}"))
        return Merged(
            self._new_learners,
            self._new,
            self._behind,
            self._known,
            tuple(self._renamed),
            tuple(self._left_out),
        )

    def _attempt(self, key: int, attempt_id: str, learner: list[Any], bank_path: str) -> None:
        events = self._events(self._theirs, key)
        attempt = _folded(attempt_id, events)
        # One transaction an attempt: others who take an attempt here now wait for no more than that.
        with transaction(self._ours):
            found = self._ours.execute("SELECT key FROM attempts WHERE id = ?", (attempt_id,)).fetchone()
            here = self._events(self._ours, found[0]) if found else []
            if found and events[: len(here)] != here:
                if here[: len(events)] == events:
                    self._known += 1
                else:
                    self._left_out.append((attempt_id, "went on otherwise here; what is here stays"))
                return
            if len(here) == len(events):
                self._known += 1
                return
            if found and self._taken(found[0]):
                self._left_out.append((attempt_id, "is being taken here just now"))
                return
            self._put_snapshots(events)
            ours = found[0] if found else self._insert(attempt_id, learner, bank_path, attempt, events)
            self._ours.executemany(
                "INSERT INTO events VALUES (?, ?, ?, ?, ?)",
                ((ours, seq, *event) for seq, event in enumerate(events) if seq >= len(here)),
            )
            self._ours.execute(
                UPDATE,
                (*projection_of(attempt), ours),
            )
        if found:
            self._behind += 1
        else:
            self._new += 1

    def _insert(
        self,
        attempt_id: str,
        learner: list[Any],
        bank_path: str,
        attempt: Attempt,
        events: list[tuple[int, str, str]],
    ) -> int:
        started = attempt.started
        assert isinstance(started, Started)  # noqa: S101 (folded)
        seed = _whole(started.seed)
        names = [
            _text(each) for each in (started.bank_id, started.bank_title, started.bank_hash, started.mode)
        ]
        put = self._ours.execute(
            "INSERT INTO attempts (id, learner_id, bank_id, bank_path, bank_title, bank_hash, mode, seed,"
            " started_us, state, position, answered, total, points, max_points)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', 0, 0, ?, 0, 0)",
            (
                attempt_id,
                self._learner(*learner),
                names[0],
                bank_path,
                *names[1:],
                seed,
                events[0][0],
                len(started.question_ids),
            ),
        )
        return int(put.lastrowid or 0)

    def _learner(self, learner_id: str, name: str, created_us: int) -> str:
        if not _LEARNER_ID.fullmatch(str(learner_id)) or not str(name).strip():
            raise ValueError("its learner has no name or no id")
        if self._ours.execute("SELECT 1 FROM learners WHERE id = ?", (learner_id,)).fetchone():
            return learner_id
        here = name
        # Two learners of one name stay two; the id keeps their names apart, and says the same every time.
        length = 4
        while self._ours.execute("SELECT 1 FROM learners WHERE name = ?", (here,)).fetchone():
            here = f"{name} ({learner_id[:length]})"
            length += 4
        self._ours.execute("INSERT INTO learners VALUES (?, ?, ?)", (learner_id, here, _whole(created_us)))
        self._new_learners += 1
        if here != name:
            self._renamed.append((name, here))
        return learner_id

    def _put_snapshots(self, events: list[tuple[int, str, str]]) -> None:
        hashes: set[str] = set()
        for _, kind, body in events:
            if kind == "shown":
                hashes.add(str(json.loads(body).get("snapshot", "")))
            elif kind == "started":
                hashes |= set(str(json.loads(body).get("snapshots", "")).split())
        for each in sorted(hashes):
            row = self._theirs.execute("SELECT question FROM snapshots WHERE hash = ?", (each,)).fetchone()
            if row:
                self._ours.execute("INSERT OR IGNORE INTO snapshots VALUES (?, ?)", (each, str(row[0])))

    def _taken(self, key: int) -> bool:
        row = self._ours.execute("SELECT pid, process FROM leases WHERE attempt = ?", (key,)).fetchone()
        return bool(row) and lease.lives(*row)

    @staticmethod
    def _events(db: sqlite3.Connection, key: int) -> list[tuple[int, str, str]]:
        rows = db.execute("SELECT at_us, type, body FROM events WHERE attempt = ? ORDER BY seq", (key,))
        return [(_whole(at_us), _text(kind), _text(body)) for at_us, kind, body in rows]


def _folded(attempt_id: str, events: list[tuple[int, str, str]]) -> Attempt:
    """The attempt that these events lead to; ValueError and its like for what makes no sense."""
    if not _ATTEMPT_ID.fullmatch(attempt_id):
        raise ValueError("its id is none")
    attempt = Attempt()
    for at_us, kind, body in events:
        attempt.apply(event_from_json(kind, json.loads(body)), at_us)
    if attempt.started is None:
        raise ValueError("it never began")
    return attempt


def _whole(value: object) -> int:
    if type(value) is not int or not 0 <= value <= _LARGEST_INT:
        raise ValueError(f"no whole number: {value!r}")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"no text: {value!r}")
    return value
