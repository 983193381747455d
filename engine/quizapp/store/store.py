"""Attempts and evidence on disk."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from quizapp.assess.attempt import Attempt, ClockRead, Event, Started, event_from_json, event_to_json
from quizapp.content import state_dir
from quizapp.errors import QuizappError
from quizapp.store import lease
from quizapp.store.clock import now_us, reading, to_datetime
from quizapp.store.database import (
    FILE_NAME,
    StoreUnavailable,
    explained,
    in_turn,
    memory_database,
    open_database,
    transaction,
)
from quizapp.store.drawing import beginning_of
from quizapp.store.projection import UPDATE

if TYPE_CHECKING:
    from datetime import datetime

    from quizapp.assess.adaptive import Plan
    from quizapp.bank.library import OpenBank
    from quizapp.bank.model import Question
    from quizapp.store.sitting import Sitting


LARGEST_SEED = 2**63 - 1
_TAKEN_OVER = "This attempt was taken over by another process."
_START_AGAIN = "Start again to go on with it."


class AttemptNotFound(QuizappError):
    """There is no attempt of that id."""


class AttemptHeld(QuizappError):
    """Another process is taking this attempt."""


class AttemptUnreadable(QuizappError):
    """What is stored of this attempt makes no sense; the other attempts of the store are not concerned."""

    def __init__(self, attempt_id: str, path: Path | None, why: str) -> None:
        super().__init__(
            f"The attempt {attempt_id} in {path or 'memory'} can't be read: {why}.",
            hint="Was it written by another version of quizapp, or is the file damaged? Take the bank with "
            "--new to begin another attempt; this one stays as it is.",
        )


class AttemptSummary(NamedTuple):
    """An attempt without its events. Times are aware UTC datetimes; `state`: open, finished or discarded.

    `total` counts the drawn questions, `points` and `max_points` those of the questions scored so far.
    """

    id: str
    bank_id: str
    bank_path: str
    bank_title: str
    bank_hash: str
    learner: str
    mode: str
    seed: int
    started_at: datetime
    finished_at: datetime | None
    position: int
    answered: int
    total: int
    points: float
    max_points: float
    passed: bool | None
    state: str


class AttemptRecord(NamedTuple):
    """All that is stored of an attempt: its fold, its events in order, and the questions as presented."""

    summary: AttemptSummary
    attempt: Attempt
    events: tuple[tuple[datetime, Event], ...]
    snapshots: dict[str, str]
    path: Path | None = None

    @property
    def concealed(self) -> bool:
        """True while an exam is open: no key, rationale or score of it may be shown."""
        return self.summary.mode == "exam" and self.summary.state == "open"

    def question(self, question_id: str) -> Question | None:
        """The question as it was presented; None when it never was. AttemptUnreadable when it is damaged."""
        text = self.snapshots.get(question_id)
        return None if text is None else presented(question_id, text, self.summary.id, self.path)


class Store:
    """The attempts in one folder. Every method raises StoreUnavailable when the store fails."""

    def __init__(self, db: sqlite3.Connection, path: Path | None) -> None:
        self._db = db
        self.path = path

    @classmethod
    def open(cls, folder: Path | None = None) -> Store:
        """The store in `folder` (the state folder unless given), created when missing."""
        folder = folder or state_dir()
        return cls(open_database(folder), folder / FILE_NAME)

    @classmethod
    def open_if_there(cls, folder: Path | None = None) -> Store:
        """As `open`, but looking creates nothing: without a store, an empty one in memory."""
        folder = folder or state_dir()
        return cls.open(folder) if (folder / FILE_NAME).exists() else cls.in_memory()

    @classmethod
    def in_memory(cls) -> Store:
        """A store that keeps nothing: its sittings have `saved == False`, and say so to the learner."""
        return cls(memory_database(), None)

    @property
    def saved(self) -> bool:
        """False when what is recorded ends with the process."""
        return self.path is not None

    @property
    def db(self) -> sqlite3.Connection:
        """The open database, for this floor's other modules."""
        return self._db

    def close(self) -> None:
        """Closes the file; sittings of this store must be closed before."""
        self._db.close()

    def start(
        self,
        bank: OpenBank,
        learner: str,
        *,
        mode: str = "practice",
        seed: int | None = None,
        only: Sequence[str] | None = None,
        draw: int | None = None,
        plan: Plan | None = None,
    ) -> Sitting:
        """Begins an attempt on what the bank says is drawn from it, or on the questions named in `only`.

        `draw`: so many questions of the whole bank, whatever its sections say. `plan`: of an adaptive one.
        """
        from quizapp.store.sitting import Sitting

        learner = _name(learner)
        if not learner:
            raise QuizappError("A learner needs a name.", hint="Give one with --learner NAME.")
        seed = int.from_bytes(os.urandom(4), "big") if seed is None else seed
        if not 0 <= seed <= LARGEST_SEED:
            raise QuizappError(f"A seed is a whole number from 0 to {LARGEST_SEED}.")
        started, snapshots = beginning_of(bank, learner, mode, seed, only=only, draw=draw, plan=plan)
        at_us = now_us()
        events: list[tuple[int, Event]] = [(at_us, started)]
        if started.time_limit_s is not None:
            now = reading()
            events.append((at_us, ClockRead(now.boot, now.machine, now.count_us, 0)))
        attempt_id, token = _new_id(), _new_id()
        with explained(self.path), transaction(self._db):
            self._db.execute(
                "INSERT INTO attempts (id, learner_id, bank_id, bank_path, bank_title, bank_hash, mode, seed,"
                " started_us, state, position, answered, total, points, max_points)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', 0, 0, ?, 0, 0)",
                (
                    attempt_id,
                    self._learner_id(learner, at_us),
                    _text(bank.id),
                    _text(os.path.abspath(bank.path)),
                    bank.title,
                    bank.hash,
                    mode,
                    seed,
                    at_us,
                    len(started.question_ids),
                ),
            )
            key = self._key(attempt_id)
            self._hold(key, token, at_us)
            self._db.executemany(
                "INSERT OR IGNORE INTO snapshots VALUES (?, ?)",
                zip(started.snapshots, snapshots.values(), strict=True),
            )
            self._db.executemany(
                "INSERT INTO events VALUES (?, ?, ?, ?, ?)",
                ((key, seq, at_us, *_dump(event)) for seq, (_, event) in enumerate(events)),
            )
        sitting = Sitting(self, key, attempt_id, token, events, snapshots, bank)
        sitting.go_on()
        return sitting

    def resume(self, attempt_id: str, bank: OpenBank | None) -> Sitting:
        """Goes on with an attempt; a finished one can be looked at again. AttemptHeld while another has it.

        Without its bank, the questions that were presented are there, and the others are left out.
        """
        from quizapp.store.sitting import Sitting

        token = _new_id()
        with explained(self.path):
            with transaction(self._db):
                key = self._key(attempt_id)
                holder = self._db.execute(
                    "SELECT pid, process, token FROM leases WHERE attempt = ?", (key,)
                ).fetchone()
                if holder and _in_use(*holder):
                    raise AttemptHeld(
                        f"This attempt is being taken in another window (process {holder[0]}).",
                        hint="Go on there, or begin a new attempt with --new.",
                    )
                self._hold(key, token, now_us())
            attempt_id = self._db.execute("SELECT id FROM attempts WHERE key = ?", (key,)).fetchone()[0]
        try:
            with explained(self.path):
                events = self._events(key, attempt_id)
                snapshots = self._snapshots([event for _, event in events])
            with self._read(attempt_id):
                sitting = Sitting(self, key, attempt_id, token, events, snapshots, bank)
            sitting.wind_clock(reading())
            sitting.go_on()
            return sitting
        except BaseException:
            # Nobody takes an attempt that can't be taken.
            with suppress(StoreUnavailable):
                self.release(key, token)
            raise

    def resumable(self, bank_id: str, learner: str) -> AttemptSummary | None:
        """The learner's newest open attempt on a bank of this id."""
        return next(iter(self.attempts(learner, bank_id, state="open")), None)

    def attempts(
        self, learner: str | None = None, bank_id: str | None = None, *, state: str | None = None
    ) -> list[AttemptSummary]:
        """The attempts, newest first."""
        wanted = {
            "learners.name": None if learner is None else _name(learner),
            "attempts.bank_id": None if bank_id is None else _text(bank_id),
            "attempts.state": state,
        }
        given = {column: value for column, value in wanted.items() if value is not None}
        where = " AND ".join(f"{column} = ?" for column in given) or "1"
        with explained(self.path):
            rows = self._db.execute(
                f"{_SUMMARY} WHERE {where} ORDER BY attempts.key DESC", (*given.values(),)
            )
            return [_summary(row) for row in rows]

    def learner_ids(self) -> dict[str, str]:
        """The random id of each learner, by name."""
        with explained(self.path):
            return {str(name): str(id_) for name, id_ in self._db.execute("SELECT name, id FROM learners")}

    def show(self, attempt_id: str) -> AttemptRecord:
        """All of one attempt; the id may be shortened as long as only one attempt fits."""
        with explained(self.path):
            key = self._key(attempt_id)
            summary = _summary(self._db.execute(f"{_SUMMARY} WHERE attempts.key = ?", (key,)).fetchone())
            events = self._events(key, summary.id)
            snapshots = self._snapshots([event for _, event in events])
        attempt = Attempt()
        with self._read(summary.id):
            for at_us, event in events:
                attempt.apply(event, at_us)
            times = tuple((to_datetime(at_us), event) for at_us, event in events)
        return AttemptRecord(summary, attempt, times, snapshots, self.path)

    def discard(self, attempt_id: str) -> None:
        """Gives an open attempt up: it stays in the store, and is no longer offered."""
        sitting = self.resume(attempt_id, None)
        try:
            sitting.discard()
        finally:
            sitting.close()

    def keep_questions(self, by_hash: Mapping[str, str]) -> None:
        """Keeps questions, as JSON, under their content hashes."""
        with explained(self.path), transaction(self._db):
            self._db.executemany("INSERT OR IGNORE INTO snapshots VALUES (?, ?)", by_hash.items())

    def remember_evidence(self, record: Mapping[str, Any], *, key: str) -> None:
        """Keeps the record of one run under its key; runs under one key add up, none replaces another."""
        with explained(self.path), transaction(self._db):
            self._db.execute(
                "INSERT INTO evidence (key, made_us, record) VALUES (?, ?, ?)",
                (key, now_us(), json.dumps(record)),
            )

    def evidence(self, key: str) -> list[dict[str, Any]]:
        """The records kept under a key, oldest first."""
        with explained(self.path):
            rows = self._db.execute(
                "SELECT record FROM evidence WHERE key = ? ORDER BY id", (key,)
            ).fetchall()
        return [json.loads(row[0]) for row in rows]

    # What a sitting calls.

    def append(
        self,
        key: int,
        token: str,
        seq: int,
        at_us: int,
        events: Iterable[Event],
        projection: tuple[Any, ...] | None,
        snapshot: tuple[str, str] | None = None,
        sheet: str | None = None,
    ) -> None:
        """Puts events on disk, all or none, before it returns. AttemptHeld if the lease is lost.

        `projection` is what `projection_of` gives; None: as before. `sheet`: of an attempt that ends by them.
        """
        events = tuple(events)
        if len(events) == 1 and projection is None and snapshot is None:
            # One statement is a transaction by itself, at two thirds of the price of three.
            with explained(self.path), in_turn(self._db):
                put = self._db.execute(
                    "INSERT INTO events SELECT ?, ?, ?, ?, ?"
                    " WHERE EXISTS (SELECT 1 FROM leases WHERE attempt = ? AND token = ?)",
                    (key, seq, at_us, *_dump(events[0]), key, token),
                )
            if put.rowcount != 1:
                raise AttemptHeld(_TAKEN_OVER, hint=_START_AGAIN)
            return
        with explained(self.path), transaction(self._db):
            held = self._db.execute("SELECT token FROM leases WHERE attempt = ?", (key,)).fetchone()
            if held is None or held[0] != token:
                raise AttemptHeld(_TAKEN_OVER, hint=_START_AGAIN)
            if snapshot is not None:
                self._db.execute("INSERT OR IGNORE INTO snapshots VALUES (?, ?)", snapshot)
            for number, event in enumerate(events, seq):
                self._db.execute(
                    "INSERT INTO events VALUES (?, ?, ?, ?, ?)", (key, number, at_us, *_dump(event))
                )
            if projection is not None:
                self._db.execute(
                    UPDATE,
                    (*projection, key),
                )
            if sheet is not None:
                last = seq + len(events) - 1
                self._db.execute("INSERT OR REPLACE INTO answer_sheets VALUES (?, ?, ?)", (key, last, sheet))

    def release(self, key: int, token: str) -> None:
        """Lets an attempt go, for whoever wants to go on with it."""
        _held_here.discard(token)
        with explained(self.path), transaction(self._db):
            self._db.execute("DELETE FROM leases WHERE attempt = ? AND token = ?", (key, token))

    def _hold(self, key: int, token: str, at_us: int) -> None:
        _held_here.add(token)
        self._db.execute(
            "INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?)", (key, *lease.this_process(), token, at_us)
        )

    def _learner_id(self, name: str, at_us: int) -> str:
        found = self._db.execute("SELECT id FROM learners WHERE name = ?", (name,)).fetchone()
        if found:
            return str(found[0])
        learner_id = os.urandom(16).hex()
        self._db.execute("INSERT INTO learners VALUES (?, ?, ?)", (learner_id, name, at_us))
        return learner_id

    def _key(self, attempt_id: str) -> int:
        wanted = attempt_id.strip().lower()
        # Ids hold no LIKE wildcards, so what does can't be one.
        plain = bool(wanted) and wanted.isascii() and wanted.isalnum()
        found = (
            self._db.execute(
                "SELECT key, id FROM attempts WHERE id LIKE ? LIMIT 2", (wanted + "%",)
            ).fetchall()
            if plain
            else []
        )
        exact = [key for key, known in found if known == wanted]
        if len(found) == 1 or exact:
            return int(exact[0] if exact else found[0][0])
        what = "Several attempts begin with" if found else "There is no attempt"
        raise AttemptNotFound(f"{what} {attempt_id!r}.", hint="`quizapp results` lists the attempts.")

    def _events(self, key: int, attempt_id: str) -> list[tuple[int, Event]]:
        rows = self._db.execute(
            "SELECT at_us, type, body FROM events WHERE attempt = ? ORDER BY seq", (key,)
        ).fetchall()
        with self._read(attempt_id):
            return [(int(at_us), event_from_json(kind, json.loads(body))) for at_us, kind, body in rows]

    @contextmanager
    def _read(self, attempt_id: str) -> Iterator[None]:
        # What was stored is data: bits of it may be wrong, or of another version.
        try:
            yield
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
            raise AttemptUnreadable(attempt_id, self.path, str(error)) from error

    def _snapshots(self, events: Sequence[Event]) -> dict[str, str]:
        from quizapp.assess.attempt import Shown

        hashes: dict[str, str] = {}
        for event in events:
            if isinstance(event, Started) and event.snapshots:
                hashes |= zip(event.question_ids, event.snapshots, strict=True)
            elif isinstance(event, Shown):
                hashes.setdefault(event.question_id, event.snapshot)
        found = {}
        for question_id, hash_ in hashes.items():
            row = self._db.execute("SELECT question FROM snapshots WHERE hash = ?", (hash_,)).fetchone()
            if row:
                found[question_id] = str(row[0])
        return found


def presented(question_id: str, text: str, attempt_id: str, path: Path | None) -> Question:
    """A question out of its stored snapshot; AttemptUnreadable when the snapshot is damaged."""
    from quizapp.bank.snapshot import question_from_json

    try:
        return question_from_json(text)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        why = f"question {question_id!r} is not as it was presented ({error})"
        raise AttemptUnreadable(attempt_id, path, why) from error


_SUMMARY = (
    "SELECT attempts.id, bank_id, bank_path, bank_title, bank_hash, learners.name, mode, seed, started_us,"
    " finished_us, position, answered, total, points, max_points, passed, state"
    " FROM attempts JOIN learners ON learners.id = attempts.learner_id"
)


# Tokens of the attempts that this process is taking.
_held_here: set[str] = set()


def _in_use(pid: int, process: str, token: str) -> bool:
    # A lease of ours that could not be released, because the disk was full, binds nobody.
    return token in _held_here if (pid, process) == lease.this_process() else lease.lives(pid, process)


def _summary(row: tuple[Any, ...]) -> AttemptSummary:
    values = list(row)
    values[8] = to_datetime(values[8])
    values[9] = None if values[9] is None else to_datetime(values[9])
    values[15] = None if values[15] is None else bool(values[15])
    return AttemptSummary(*values)


# json.dumps with separators makes an encoder each time, which takes longer than encoding an event.
_encode = json.JSONEncoder(separators=(",", ":")).encode


def _dump(event: Event) -> tuple[str, str]:
    name, body = event_to_json(event)
    return name, _encode(body)


def _name(learner: str) -> str:
    return _text(learner.strip())


def _text(given: str) -> str:
    # A name out of the command line or of a folder may hold bytes that are no UTF-8.
    return given.encode("utf-8", "replace").decode("utf-8")


def _new_id() -> str:
    return os.urandom(6).hex()
