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
DUE_A_DAY, NEW_A_DAY = 50, 10
"""Questions that a day's reviews ask at most, of those seen before and of the new ones. After a long absence
the most overdue come first and the rest on the next days."""


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


class Today(NamedTuple):
    """What a review of the learner's day asks: `due` questions seen before, then `new` ones."""

    ask: tuple[str, ...]
    due: int
    new: int
    next_day: date | None
    """The learner's day on which there is more; None for never."""


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


def today(
    questions: Sequence[str],
    reviews: Iterable[Review],
    now: datetime,
    *,
    revisions: Mapping[str, int],
    targets_s: Mapping[str, float],
    zone: tzinfo | None = None,
    rollover_hour: int = ROLLOVER_HOUR,
) -> Today:
    """What is left to ask on the learner's day: its limits count what was answered on it already."""
    reviews = [each for each in reviews if revisions.get(each.question_id) == each.revision]
    plan = schedule(
        questions,
        reviews,
        now,
        revisions=revisions,
        targets_s=targets_s,
        zone=zone,
        rollover_hour=rollover_hour,
    )
    day = day_of(now, zone, rollover_hour)
    answered = {each.question_id for each in reviews if day_of(each.at, zone, rollover_hour) == day}
    before = {each.question_id for each in reviews if day_of(each.at, zone, rollover_hour) < day}
    due = plan.due[: max(0, DUE_A_DAY - len(answered & before))]
    new = plan.new[: max(0, NEW_A_DAY - len(answered - before))]
    if len(due) < len(plan.due) or len(new) < len(plan.new):
        next_day: date | None = day + timedelta(days=1)
    else:
        next_day = None if plan.next_at is None else day_of(plan.next_at, zone, rollover_hour)
    return Today(due + new, len(due), len(new), next_day)


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
