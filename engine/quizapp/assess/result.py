"""The result of an attempt, from its fold alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from quizapp.assess.attempt import Attempt
from quizapp.assess.intervals import wilson
from quizapp.assess.scoring import Verdict

if TYPE_CHECKING:
    from quizapp.assess.adaptive import Ability

# A sum of thirds must not fail a mark that it reaches.
_TOLERANCE = 1e-9


class ObjectiveResult(NamedTuple):
    """Points on one objective, never below zero; `objective` is "" for questions without one."""

    objective: str
    title: str
    points: float
    max_points: float
    correct: int
    questions: int
    interval: tuple[float, float]
    """What the share of the points might be had more questions been asked: 95 %, see `share_interval`."""


class Result(NamedTuple):
    """Points of the questions scored so far; all of them once the attempt is finished."""

    points: float
    max_points: float
    pass_mark: float | None
    passed: bool | None
    by_objective: tuple[ObjectiveResult, ...]
    counts: dict[Verdict, int]
    interval: tuple[float, float] | None = None
    """As of an objective, of the whole; None before anything is scored."""
    ability: Ability | None = None
    """Of an adaptive attempt."""

    @property
    def share(self) -> float:
        """Points as a share of the points to be had, 0 to 1."""
        return self.points / self.max_points if self.max_points else 0.0


def result_of(attempt: Attempt) -> Result:
    """Adds up the latest score of each question."""
    started = attempt.started
    titles = started.objectives if started else {}
    pass_mark = started.pass_mark if started else None
    counts = dict.fromkeys(Verdict, 0)
    by_objective: dict[str, list[float]] = {}
    weights: list[float] = []
    for state in attempt.items:
        score = state.score
        if score is None:
            continue
        counts[score.verdict] += 1
        weights.append(score.max_points)
        sums = by_objective.setdefault(state.objective or "", [0.0, 0.0, 0, 0, 0.0])
        sums[0] += score.points
        sums[1] += score.max_points
        sums[2] += score.verdict is Verdict.CORRECT
        sums[3] += 1
        sums[4] += score.max_points**2
    points, max_points = attempt.points, attempt.max_points
    return Result(
        points,
        max_points,
        pass_mark,
        passes(points, max_points, pass_mark),
        tuple(
            ObjectiveResult(
                name,
                titles.get(name, name),
                max(0, sums[0]),
                sums[1],
                int(sums[2]),
                int(sums[3]),
                share_interval(sums[0], sums[1], sums[4]),
            )
            for name, sums in by_objective.items()
        ),
        counts,
        share_interval(points, max_points, sum(weight**2 for weight in weights)) if weights else None,
        _ability(attempt),
    )


def _ability(attempt: Attempt) -> Ability | None:
    if attempt.started is None or attempt.started.adaptive is None:
        return None
    from quizapp.assess.adaptive import ability_of

    return ability_of(attempt)


def share_interval(points: float, max_points: float, squares: float) -> tuple[float, float]:
    """The 95 % Wilson interval of a share of points, taking the questions for a sample of such questions.

    `squares` is the sum of the squared points of the questions: where they differ, n is Kish's effective
    number of questions. A part of a point varies less than all or nothing, so the interval errs on the wide
    side. (0, 1) of nothing.
    """
    if max_points <= 0 or squares <= 0:
        return 0.0, 1.0
    n = max(1.0, max_points**2 / squares)
    share = min(1.0, max(0.0, points / max_points))
    return wilson(share * n, n) or (0.0, 1.0)


def interval_in_words(interval: tuple[float, float]) -> str:
    """An interval of shares as it is told: `30–95 %`."""
    low, high = interval
    return f"{low:.0%}".rstrip("%") + f"–{high * 100:.0f} %"


def passes(points: float, max_points: float, pass_mark: float | None) -> bool | None:
    """Whether the points reach the mark (a share of the points, 0 to 1); None without a mark."""
    return None if pass_mark is None else points + _TOLERANCE >= pass_mark * max_points
