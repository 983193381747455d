"""What a learner's attempts on a bank say, for the scheduling of reviews."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quizapp.assess.review import Review
from quizapp.store.clock import to_datetime

if TYPE_CHECKING:
    from quizapp.store.store import Store

# A question that lay open overnight says nothing about how long it took.
_LONGEST_S = 3600.0


def reviews_of(store: Store, learner: str, bank_id: str) -> list[Review]:
    """Every response that the learner handed in on this bank, oldest attempt first."""
    found = []
    for summary in reversed(store.attempts(learner, bank_id)):
        for state in store.show(summary.id).attempt.touched:
            if state.score is None or not state.submitted_at_us:
                continue
            took_s = (state.submitted_at_us - state.shown_at_us) / 1e6
            known = took_s if 0 <= took_s <= _LONGEST_S else None
            at = to_datetime(state.submitted_at_us)
            found.append(Review(state.question_id, state.revision, at, state.score.verdict, known))
    return found
