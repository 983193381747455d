"""When a question is worth asking again: FSRS over what a learner's attempts say. Pure.

One card a question, keyed by its id, so that a mended typo keeps its history; a raised revision means another
question, and begins anew. Nothing is stored: the cards follow from the attempts each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, NamedTuple

from quizapp.assess.scoring import Verdict

if TYPE_CHECKING:
    from fsrs import Card

ROLLOVER_HOUR = 4
"""A learner's day ends at this hour of the night."""
AGAIN, HARD, GOOD, EASY = 1, 2, 3, 4


class Review(NamedTuple):
    """One scored response. `at` is aware; `took_s` is None where it is not known."""

    question_id: str
    revision: int
    at: datetime
    verdict: Verdict
    took_s: float | None = None


class Schedule(NamedTuple):
    """What is to be asked today, and when the next question is due if nothing is left today."""

    due: tuple[str, ...]
    """Seen before and due by today, the most overdue first."""
    new: tuple[str, ...]
    """Never answered, in the bank's order."""
    next_at: datetime | None
    """When the first of the others is due, UTC."""


def rating(verdict: Verdict, took_s: float | None, target_time_s: float | None) -> int:
    """FSRS's rating of a response: again, hard, good or easy.

    Right within half of the question's target time is easy, right after more than twice of it is hard.
    """
    if verdict in (Verdict.INCORRECT, Verdict.UNANSWERED):
        return AGAIN
    if verdict is Verdict.PARTIAL:
        return HARD
    if took_s is None or not target_time_s:
        return GOOD
    if took_s > 2 * target_time_s:
        return HARD
    return EASY if took_s < target_time_s / 2 else GOOD


def day_of(moment: datetime, zone: tzinfo | None = None, rollover_hour: int = ROLLOVER_HOUR) -> date:
    """The learner's day at an aware moment: by the wall clock of the zone (the system's unless given)."""
    wall = moment.astimezone(zone).replace(tzinfo=None)
    return (wall - timedelta(hours=rollover_hour)).date()


def schedule(
    questions: Sequence[str],
    reviews: Iterable[Review],
    now: datetime,
    *,
    revisions: Mapping[str, int],
    targets_s: Mapping[str, float],
    zone: tzinfo | None = None,
    rollover_hour: int = ROLLOVER_HOUR,
) -> Schedule:
    """What of these questions is due on the learner's day. `revisions`: of the questions as they are now."""
    cards = _cards(reviews, revisions, targets_s)
    today = day_of(now, zone, rollover_hour)
    waiting = sorted(
        (card.due, question_id) for question_id, card in cards.items() if question_id in revisions
    )
    due = [question_id for at, question_id in waiting if day_of(at, zone, rollover_hour) <= today]
    later = [at for at, question_id in waiting if question_id not in due]
    new = tuple(question_id for question_id in questions if question_id not in cards)
    return Schedule(tuple(due), new, min(later, default=None))


def _cards(
    reviews: Iterable[Review], revisions: Mapping[str, int], targets_s: Mapping[str, float]
) -> dict[str, Card]:
    from fsrs import Card, Rating, Scheduler

    # Without steps within a day: a question comes back in another sitting, not in ten minutes.
    scheduler = Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
    cards: dict[str, Card] = {}
    for review in sorted(reviews, key=lambda review: review.at):
        if revisions.get(review.question_id) != review.revision:
            continue
        card = cards.get(review.question_id) or Card(card_id=len(cards) + 1, due=review.at)
        given = rating(review.verdict, review.took_s, targets_s.get(review.question_id))
        cards[review.question_id], _ = scheduler.review_card(card, Rating(given), review_datetime=review.at)
    return cards
