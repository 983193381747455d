"""Spaced repetition: what comes back, and when, by the learner's own day."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from quizapp.assess.review import (
    AGAIN,
    DUE_A_DAY,
    EASY,
    GOOD,
    HARD,
    NEW_A_DAY,
    Review,
    Schedule,
    Today,
    day_of,
    rating,
    schedule,
    today,
)
from quizapp.assess.scoring import Verdict

BERLIN = ZoneInfo("Europe/Berlin")
BEGAN = datetime(2026, 1, 5, 12, tzinfo=UTC)
QUESTIONS = ("one", "two", "three")


def at(
    now: datetime,
    *reviews: Review,
    revisions: dict[str, int] | None = None,
    questions: tuple[str, ...] = QUESTIONS,
) -> Schedule:
    return schedule(
        questions,
        reviews,
        now,
        revisions=revisions or dict.fromkeys(questions, 1),
        targets_s={"one": 60.0},
        zone=BERLIN,
    )


@pytest.mark.parametrize(
    ("verdict", "took_s", "target_s", "wanted"),
    [
        (Verdict.INCORRECT, 5, 60, AGAIN),
        (Verdict.UNANSWERED, None, None, AGAIN),
        (Verdict.PARTIAL, 5, 60, HARD),
        (Verdict.CORRECT, None, 60, GOOD),
        (Verdict.CORRECT, 60, None, GOOD),
        (Verdict.CORRECT, 29.9, 60, EASY),
        (Verdict.CORRECT, 30, 60, GOOD),
        (Verdict.CORRECT, 120, 60, GOOD),
        (Verdict.CORRECT, 120.1, 60, HARD),
    ],
)
def test_a_rating_follows_from_correctness_and_time(
    verdict: Verdict, took_s: float | None, target_s: float | None, wanted: int
) -> None:
    assert rating(verdict, took_s, target_s) == wanted


def test_all_is_new_at_first_and_nothing_is_due() -> None:
    assert at(BEGAN) == Schedule((), QUESTIONS, None)


def test_right_answers_come_back_later_and_later_wrong_ones_soon() -> None:
    reviews, now, gaps = [], BEGAN, []
    for _ in range(4):
        reviews.append(Review("one", 1, now, Verdict.CORRECT))
        later = at(now, *reviews).next_at
        assert later is not None
        gaps.append(later - now)
        now = later
    assert gaps == sorted(gaps)
    assert gaps[-1] > 10 * gaps[0]
    lapse = at(now, *reviews, Review("one", 1, now, Verdict.INCORRECT)).next_at
    assert lapse is not None
    assert lapse - now < gaps[1]


def test_due_is_what_comes_up_on_the_learner_s_day_most_overdue_first() -> None:
    wrong = Review("two", 1, BEGAN - timedelta(days=1), Verdict.INCORRECT)
    right = Review("one", 1, BEGAN, Verdict.CORRECT)
    assert at(BEGAN + timedelta(hours=1), wrong, right).due == ("two",)
    planned = at(BEGAN + timedelta(days=30), right, wrong)
    assert (planned.due, planned.new, planned.next_at) == (("two", "one"), ("three",), None)


def test_a_word_mended_keeps_the_history_and_another_meaning_begins_anew() -> None:
    seen = Review("one", 1, BEGAN, Verdict.CORRECT)
    assert "one" not in at(BEGAN, seen).new
    assert "one" in at(BEGAN, seen, revisions={"one": 2, "two": 1, "three": 1}).new
    assert at(BEGAN + timedelta(days=90), seen, questions=("two",), revisions={"two": 1}).due == ()


@pytest.mark.parametrize(
    ("moment", "day"),
    [
        ("2026-01-06T03:59:00+01:00", date(2026, 1, 5)),
        ("2026-01-06T04:00:00+01:00", date(2026, 1, 6)),
        # The night in which clocks go forward: 02:00 is 03:00 already.
        ("2026-03-29T00:30:00+00:00", date(2026, 3, 28)),
        ("2026-03-29T01:59:00+00:00", date(2026, 3, 28)),
        ("2026-03-29T02:00:00+00:00", date(2026, 3, 29)),
        # The night in which 02:30 comes twice: both belong to the day before.
        ("2026-10-25T00:30:00+00:00", date(2026, 10, 24)),
        ("2026-10-25T01:30:00+00:00", date(2026, 10, 24)),
        ("2026-10-25T02:59:00+00:00", date(2026, 10, 24)),
        ("2026-10-25T03:00:00+00:00", date(2026, 10, 25)),
    ],
)
def test_the_day_ends_at_the_rollover_hour_of_the_wall_clock(moment: str, day: date) -> None:
    assert day_of(datetime.fromisoformat(moment), BERLIN) == day


def test_order_of_storage_and_equal_inputs_change_nothing() -> None:
    reviews = [Review("one", 1, BEGAN + timedelta(days=days), Verdict.CORRECT) for days in range(0, 40, 7)]
    now = BEGAN + timedelta(days=41)
    assert at(now, *reviews) == at(now, *reversed(reviews)) == at(now, *reviews)


def on_day(now: datetime, *reviews: Review, questions: tuple[str, ...] = QUESTIONS) -> Today:
    return today(questions, reviews, now, revisions=dict.fromkeys(questions, 1), targets_s={}, zone=BERLIN)


MANY = tuple(f"q{number:03}" for number in range(100))


def test_a_day_asks_so_many_new_ones_and_what_was_answered_on_it_counts() -> None:
    plan = on_day(BEGAN, questions=MANY)
    assert (plan.ask, plan.due, plan.new) == (MANY[:NEW_A_DAY], 0, NEW_A_DAY)
    assert plan.next_day == date(2026, 1, 6)
    half = [Review(each, 1, BEGAN, Verdict.CORRECT) for each in MANY[:4]]
    rest = on_day(BEGAN + timedelta(hours=3), *half, questions=MANY)
    assert rest.ask == MANY[4:NEW_A_DAY]
    all_of_it = [Review(each, 1, BEGAN, Verdict.CORRECT) for each in MANY[:NEW_A_DAY]]
    done = on_day(BEGAN + timedelta(hours=3), *all_of_it, questions=MANY)
    assert (done.ask, done.next_day) == ((), date(2026, 1, 6))
    # Five hours past midnight it is the next day.
    assert on_day(datetime(2026, 1, 6, 4, tzinfo=UTC), *all_of_it, questions=MANY).new == NEW_A_DAY


def test_after_a_long_absence_the_most_overdue_come_first_and_the_rest_on_the_next_days() -> None:
    seen = [
        Review(each, 1, BEGAN - timedelta(minutes=number), Verdict.INCORRECT)
        for number, each in enumerate(MANY)
    ]
    later = BEGAN + timedelta(days=60)
    plan = on_day(later, *seen, questions=MANY)
    assert plan.ask == tuple(reversed(MANY))[:DUE_A_DAY]
    assert (plan.due, plan.new, plan.next_day) == (DUE_A_DAY, 0, date(2026, 3, 7))
    again = [Review(each, 1, later, Verdict.CORRECT) for each in plan.ask]
    assert on_day(later, *seen, *again, questions=MANY).ask == ()
    tomorrow = on_day(later + timedelta(days=1), *seen, *again, questions=MANY)
    assert tomorrow.ask[:50] == tuple(reversed(MANY))[DUE_A_DAY:]


def test_with_nothing_held_back_the_next_day_is_that_of_the_first_card() -> None:
    seen = [Review(each, 1, BEGAN, Verdict.CORRECT) for each in QUESTIONS]
    plan = on_day(BEGAN, *seen)
    assert plan.ask == ()
    assert plan.next_day is not None
    assert on_day(BEGAN + (plan.next_day - BEGAN.date()) - timedelta(days=1), *seen).ask == ()
    assert set(on_day(BEGAN + (plan.next_day - BEGAN.date()), *seen).ask) == set(QUESTIONS)
    assert on_day(BEGAN, questions=()) == Today((), 0, 0, None)
