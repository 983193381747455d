"""The columns of `attempts` that follow from its events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quizapp.assess.attempt import Attempt

UPDATE = (
    "UPDATE attempts SET state = ?, finished_us = ?, position = ?, answered = ?, total = ?, points = ?,"
    " max_points = ?, passed = ? WHERE key = ?"
)


def projection_of(attempt: Attempt, position: int | None = None) -> tuple[Any, ...]:
    """The values of `UPDATE`, but for the key; `position` where it is not the one among all questions."""
    state = "discarded" if attempt.discarded else "finished" if attempt.finished else "open"
    passed = None
    if attempt.finished and attempt.started is not None:
        from quizapp.assess.result import passes

        # Scoring again may lift an attempt over the mark, or take it below.
        passed = passes(attempt.points, attempt.max_points, attempt.started.pass_mark)
    return (
        state,
        attempt.finished_at_us if attempt.finished else None,
        attempt.position if position is None else position,
        attempt.answered,
        len(attempt.question_ids),
        float(attempt.points),
        float(attempt.max_points),
        None if passed is None else int(passed),
    )
