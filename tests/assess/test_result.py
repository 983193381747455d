"""The result of an attempt: sums that a learner can be shown."""

from __future__ import annotations

from quizapp.assess.attempt import Attempt, Scored, Shown, Started
from quizapp.assess.result import result_of
from quizapp.assess.scoring import Verdict

IDS = ("a", "b", "c")


def attempt_with(points: dict[str, float], objectives: dict[str, str], pass_mark: float | None) -> Attempt:
    attempt = Attempt(
        [Started("bank", "A bank", "0f", "ada", "practice", 7, (), IDS, pass_mark, dict.fromkeys(IDS, ""))]
    )
    for question_id, of_one in points.items():
        verdict = Verdict.CORRECT if of_one > 0 else Verdict.INCORRECT
        attempt.apply(Shown(question_id, 1, ("x", "y"), "0f"), 1)
        attempt.apply(
            Scored(question_id, verdict, of_one, 1.0, "net-correct", objectives.get(question_id, "")), 2
        )
    return attempt


def test_penalties_take_no_sum_below_zero_and_each_score_stays_as_it_is() -> None:
    attempt = attempt_with(
        {"a": -0.75, "b": -0.75, "c": 1.0}, {"a": "meters", "b": "meters", "c": "traces"}, 0.0
    )
    got = result_of(attempt)
    assert (got.points, got.share, got.passed) == (0, 0, True)
    assert attempt.points == 0
    assert [(part.objective, part.points) for part in got.by_objective] == [("meters", 0), ("traces", 1)]
    assert [state.score.points for state in attempt.items if state.score] == [-0.75, -0.75, 1.0]


def test_a_penalty_counts_against_what_was_earned() -> None:
    got = result_of(attempt_with({"a": -0.5, "b": 1.0, "c": 1.0}, {}, 0.6))
    assert (got.points, got.max_points, got.passed) == (1.5, 3.0, False)
