"""Finished attempts as statistics read them: one line of JSON each, made from its events and kept.

A sheet is a projection like the columns of `attempts`, kept when an attempt is finished: it is made again
when its attempt has more events than it knows of (a later scoring). Nothing is lost when it can't be kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from quizapp.store.database import StoreUnavailable, explained, transaction
from quizapp.store.store import AttemptUnreadable

if TYPE_CHECKING:
    from quizapp.bank.model import Question
    from quizapp.store.store import Store

_AT_ONCE = 500


class AnswerSheet(NamedTuple):
    """A finished attempt; the lists run along `questions`, in the order of their ids.

    Only questions that were presented are here. `responses` are chosen ids with spaces between them as they
    were presented, or the text that was typed, or pairs as `left=right`; "" is blank. `points` are those of
    the latest scoring. `times_s` are the seconds in which the question stood on the screen.
    """

    attempt: str
    learner_id: str
    mode: str
    share: float
    questions: str
    """Ids with their revisions, `id#revision`, with spaces between them."""
    points: list[float]
    max_points: list[float]
    responses: list[str]
    times_s: list[float]
    withheld: int
    """Questions that were drawn and never presented."""


def answer_sheets(store: Store, bank_id: str, modes: Iterable[str] = ("exam",)) -> list[AnswerSheet]:
    """The sheets of the finished attempts on a bank, oldest first. Raises StoreUnavailable."""
    wanted = json.dumps(list(modes))
    with explained(store.path):
        rows = store.db.execute(
            "SELECT attempts.key, attempts.id, learner_id, mode, points, max_points, sheet,"
            " answer_sheets.events,"
            " (SELECT max(seq) FROM events WHERE events.attempt = attempts.key)"
            " FROM attempts LEFT JOIN answer_sheets ON answer_sheets.attempt = attempts.key"
            " WHERE bank_id = ? AND state = 'finished' AND mode IN (SELECT value FROM json_each(?))"
            " ORDER BY attempts.key",
            (bank_id, wanted),
        ).fetchall()
    fresh: list[tuple[int, int, str]] = []
    sheets = []
    for key, attempt_id, learner_id, mode, points, max_points, sheet, known, last in rows:
        if known != last:
            sheet = _sheet(store, key, attempt_id)
            fresh.append((key, last, sheet))
            if len(fresh) >= _AT_ONCE:
                _keep(store, fresh)
                fresh = []
        share = points / max_points if max_points else 0.0
        sheets.append(AnswerSheet(attempt_id, learner_id, mode, share, *_restored(store, attempt_id, sheet)))
    _keep(store, fresh)
    return sheets


def _restored(store: Store, attempt_id: str, sheet: str) -> Iterator[Any]:
    try:
        kept = json.loads(sheet)
        return iter((kept["q"], kept["p"], kept["m"], kept["r"], kept["t"], kept["w"]))
    except (ValueError, TypeError, KeyError) as error:
        raise AttemptUnreadable(attempt_id, store.path, str(error)) from error


def _keep(store: Store, fresh: list[tuple[int, int, str]]) -> None:
    # A store that can be read and not written still has its statistics.
    if fresh:
        with suppress(StoreUnavailable), explained(store.path), transaction(store.db):
            store.db.executemany("INSERT OR REPLACE INTO answer_sheets VALUES (?, ?, ?)", fresh)


class _OnScreen:
    """What happened to one question, by its events."""

    __slots__ = ("max_points", "points", "response", "revision", "time_us")

    def __init__(self) -> None:
        self.revision = 0
        self.response: dict[str, Any] = {}
        self.points = self.max_points = 0.0
        self.time_us = 0


def _sheet(store: Store, key: int, attempt_id: str) -> str:
    with explained(store.path):
        rows = store.db.execute(
            "SELECT at_us, type, body FROM events WHERE attempt = ? ORDER BY seq", (key,)
        ).fetchall()
    try:
        return sheet_of((at_us, kind, json.loads(body)) for at_us, kind, body in rows)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise AttemptUnreadable(attempt_id, store.path, str(error)) from error


def sheet_of(events: Iterable[tuple[int, str, Mapping[str, Any]]]) -> str:
    """The sheet of an attempt, by its events: their times in microseconds, names and bodies, oldest first."""
    states: dict[str, _OnScreen] = {}
    drawn = 0
    open_id, since_us, last_us = "", 0, 0
    for at_us, kind, body in events:
        if kind == "started":
            drawn = len(body["question_ids"].split())
        elif kind in ("shown", "submitted", "finished"):
            asked = body.get("question_id", "")
            if open_id and (asked != open_id or kind == "submitted"):
                states[open_id].time_us += at_us - since_us
                open_id = ""
            elif open_id:
                # Shown again without another in between: the learner went away after the last event.
                states[open_id].time_us += last_us - since_us
            if kind == "shown":
                state = states.setdefault(asked, _OnScreen())
                state.revision = state.revision or body["revision"]
                open_id, since_us = asked, at_us
        elif kind in ("response-changed", "scored"):
            state = states.setdefault(body["question_id"], _OnScreen())
            if kind == "scored":
                state.points, state.max_points = body["points"], body["max_points"]
            else:
                state.response = body["response"]
        last_us = at_us
    shown = sorted((question_id, state) for question_id, state in states.items() if state.revision)
    return json.dumps(
        {
            "q": " ".join(f"{question_id}#{state.revision}" for question_id, state in shown),
            "p": [state.points for _, state in shown],
            "m": [state.max_points for _, state in shown],
            "r": [_label(state.response) for _, state in shown],
            "t": [round(state.time_us / 1e6, 3) for _, state in shown],
            "w": drawn - len(shown),
        },
        separators=(",", ":"),
    )


def _label(response: dict[str, Any]) -> str:
    parts = [str(response.get("text", "")).strip(), " ".join(response.get("selected", ()))]
    parts += [" ".join(f"{left}={right}" for left, right in response.get("pairs", ()))]
    return next(filter(None, parts), "") or _marked(response)


def _marked(response: dict[str, Any]) -> str:
    """Of a recording: the devices that were picked, or the stretch of time."""
    if response.get("devices"):
        return " ".join(map(str, response["devices"]))
    span = response.get("span_s")
    return f"{span[0]:g}-{span[1]:g}" if span else ""


def queue_for_verify(store: Store, bank_id: str, found: Iterable[tuple[str, int, str]], at_us: int) -> int:
    """Queues questions (id, revision, reason) whose keys are to be verified anew; the number of them."""
    rows = [(bank_id, question_id, revision, reason, at_us) for question_id, revision, reason in found]
    with explained(store.path), transaction(store.db):
        store.db.executemany("INSERT OR REPLACE INTO verify_queue VALUES (?, ?, ?, ?, ?)", rows)
    return len(rows)


def queued_for_verify(store: Store, bank_id: str) -> dict[str, str]:
    """The questions of a bank that wait for verification, with the reason."""
    with explained(store.path):
        rows: list[tuple[str, str]] = store.db.execute(
            "SELECT question_id, reason FROM verify_queue WHERE bank_id = ? ORDER BY question_id", (bank_id,)
        ).fetchall()
    return dict(rows)


def take_from_queue(store: Store, bank_id: str, question_ids: Iterable[str]) -> None:
    """These were verified."""
    with explained(store.path), transaction(store.db):
        store.db.executemany(
            "DELETE FROM verify_queue WHERE bank_id = ? AND question_id = ?",
            [(bank_id, question_id) for question_id in question_ids],
        )


def last_presented(store: Store, bank_id: str, question_id: str, revision: int) -> Question | None:
    """The question of this revision as an attempt on the bank presented it last; None if none did."""
    from quizapp.store.store import presented

    with explained(store.path):
        row = store.db.execute(
            "SELECT attempts.id, question FROM attempts JOIN events ON events.attempt = attempts.key"
            " JOIN snapshots ON snapshots.hash = json_extract(body, '$.snapshot')"
            " WHERE bank_id = ? AND type = 'shown' AND json_extract(body, '$.question_id') = ?"
            " AND json_extract(body, '$.revision') = ? ORDER BY attempts.key DESC LIMIT 1",
            (bank_id, question_id, revision),
        ).fetchone()
    return None if row is None else presented(question_id, row[1], row[0], store.path)
