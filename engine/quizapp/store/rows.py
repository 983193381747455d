"""Every response in the store as a row: for spreadsheets, and for statistics elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from quizapp.store.clock import to_datetime

if TYPE_CHECKING:
    from quizapp.assess.attempt import ItemState
    from quizapp.store.store import Store

COLUMNS = (
    "learner", "bank", "attempt", "mode", "question", "revision", "objective", "response", "verdict",
    "points", "max_points", "rule", "shown_at", "submitted_at", "time_s",
)  # fmt: skip


def response_rows(
    store: Store, learner: str | None = None, bank_id: str | None = None
) -> Iterator[dict[str, Any]]:
    """One row for each question that was shown in a finished attempt, oldest attempt first.

    `response` is the text that was typed, or ids joined by blanks (`left=right` for matches); times are UTC,
    ISO 8601; `time_s` is from the first showing to the submission.
    """
    for summary in reversed(store.attempts(learner, bank_id, state="finished")):
        for state in store.show(summary.id).attempt.items:
            if not state.shown:
                continue
            score = state.score
            yield {
                "learner": summary.learner,
                "bank": summary.bank_id,
                "attempt": summary.id,
                "mode": summary.mode,
                "question": state.question_id,
                "revision": state.revision,
                "objective": state.objective or "",
                "response": _response(state),
                "verdict": score.verdict.value if score else "",
                "points": score.points if score else None,
                "max_points": score.max_points if score else None,
                "rule": score.rule if score else "",
                "shown_at": _time(state.shown_at_us),
                "submitted_at": _time(state.submitted_at_us),
                "time_s": _took_s(state),
            }


def _response(state: ItemState) -> str:
    given = state.response.plain
    if isinstance(given, str):
        return given
    if isinstance(given, dict):
        if all(isinstance(value, str) for value in given.values()):
            return " ".join(f"{left}={right}" for left, right in given.items())
        return json.dumps(given)
    return " ".join(map(str, given))


def _time(at_us: int) -> str:
    return to_datetime(at_us).isoformat(timespec="milliseconds") if at_us else ""


def _took_s(state: ItemState) -> float | None:
    took_s = (state.submitted_at_us - state.shown_at_us) / 1e6
    return round(took_s, 3) if state.submitted_at_us and took_s >= 0 else None
