"""What a learner's attempts on a bank say, for the scheduling of reviews."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING

from quizapp.assess.review import ROLLOVER_HOUR, Review, Today, today
from quizapp.errors import QuizappError
from quizapp.store.clock import to_datetime

if TYPE_CHECKING:
    from datetime import date

    from quizapp.bank.library import OpenBank
    from quizapp.store.store import Store


def _now() -> datetime:
    return datetime.now(UTC)


class NothingDue(QuizappError):
    """A review has nothing to ask today. `next_day`: the learner's day on which it has; None for never."""

    def __init__(self, title: str, next_day: date | None) -> None:
        self.next_day = next_day
        super().__init__(f"Nothing is due in {title!r}.", hint=_next_words(next_day))


# A question that lay open overnight says nothing about how long it took.
_LONGEST_S = 3600.0


def reviews_of(store: Store, learner: str, bank_id: str) -> list[Review]:
    """Every response that the learner handed in on this bank, oldest attempt first."""
    found = []
    for summary in reversed(store.attempts(learner, bank_id)):
        for state in store.show(summary.id).attempt.touched:
            if state.score is None or not state.submitted_at_us:
                continue
            # An exam's responses are all handed in at its end.
            exam = summary.mode == "exam"
            took_s = (state.submitted_at_us - state.shown_at_us) / 1e6
            known = took_s if not exam and 0 <= took_s <= _LONGEST_S else None
            at = to_datetime(state.submitted_at_us)
            found.append(Review(state.question_id, state.revision, at, state.score.verdict, known))
    return found


def due_today(
    store: Store, bank: OpenBank, learner: str, now: datetime | None = None, zone: tzinfo | None = None
) -> Today:
    """What a review of the bank asks the learner now; `zone` is the system's unless given."""
    rows = list(bank.rows)
    return today(
        bank.ids,
        reviews_of(store, learner.strip(), bank.id),
        now or _now(),
        revisions={row.id: row.revision for row in rows},
        targets_s={row.id: row.target_time_s for row in rows if row.target_time_s},
        zone=zone,
    )


def _next_words(next_day: date | None) -> str:
    if next_day is None:
        return "The bank has no question that would come back."
    return f"The next review is on {next_day.isoformat()}, from {ROLLOVER_HOUR:02}:00."
