"""A result's uncertainty, and the attempts that stand for a learner."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizapp.assess.result import interval_in_words, share_interval
from quizapp.assess.standing import standings


@pytest.mark.parametrize(
    ("points", "questions", "low", "high"),
    # Wilson score intervals without correction, as in R: prop.test(x, n, correct = FALSE)$conf.int
    [
        (8, 10, 0.4901625, 0.9433178),
        (0, 10, 0.0, 0.2775328),
        (10, 10, 0.7224672, 1.0),
        (1, 2, 0.0945312, 0.9054688),
    ],
)
def test_questions_of_one_point_have_the_wilson_interval(
    points: int, questions: int, low: float, high: float
) -> None:
    assert share_interval(points, questions, questions) == pytest.approx((low, high), abs=1e-6)


def test_questions_of_different_weight_count_as_fewer() -> None:
    # 9 points and 1 point: Kish's n is 100 / 82, hardly more than one question.
    even, uneven = share_interval(5, 10, 50), share_interval(5, 10, 82)
    assert uneven[0] < even[0] < 0.5 < even[1] < uneven[1]
    # What counts double everywhere counts as it did.
    assert share_interval(16, 20, 40) == pytest.approx(share_interval(8, 10, 10))


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.1, 10)), min_size=1, max_size=30))
def test_an_interval_holds_its_share(scores: list[tuple[float, float]]) -> None:
    points, most = sum(share * of for share, of in scores), sum(of for _, of in scores)
    low, high = share_interval(points, most, sum(of * of for _, of in scores))
    assert 0 <= low <= points / most + 1e-9
    assert points / most - 1e-9 <= high <= 1


def test_of_nothing_nothing_is_known_and_words_are_short() -> None:
    assert share_interval(0, 0, 0) == (0.0, 1.0)
    assert interval_in_words((0.4901, 0.9433)) == "49–94 %"


class Attempt(NamedTuple):
    id: int
    points: float
    learner: str = "ada"
    bank_id: str = "waits"
    mode: str = "exam"
    total: int = 4
    max_points: float = 4


def test_first_best_and_last_are_kept_apart() -> None:
    (found,) = standings([Attempt(1, 1), Attempt(2, 3), Attempt(3, 3), Attempt(4, 2)])
    assert (found.first, found.best, found.last) == (Attempt(1, 1), Attempt(2, 3), Attempt(4, 2))
    assert found.attempts == 4


def test_learners_banks_and_modes_stand_apart_and_a_part_redone_does_not_count() -> None:
    redone = Attempt(9, 1, total=1, max_points=1)
    found = standings(
        [Attempt(1, 2), redone, Attempt(2, 1, learner="bob"), Attempt(3, 1, mode="practice"), Attempt(4, 1)]
    )
    assert [(each.first.learner, each.first.mode, each.attempts) for each in found] == [
        ("ada", "exam", 2),
        ("bob", "exam", 1),
        ("ada", "practice", 1),
    ]
    assert found[0].best == Attempt(1, 2)
