"""Adaptive testing: an ability as responses come in, the next question by information, and when to stop.

A learner of ability θ gets a question right with probability 1 / (1 + exp(-a (θ - b))), a its discrimination
and b its difficulty (the two-parameter model). Abilities are in standard deviations of those on whose
responses the questions were calibrated; 0 is their mean. Pure Python, so that a bank is taken without numpy.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from quizapp.assess.draw import draw_places

if TYPE_CHECKING:
    from quizapp.assess.attempt import Attempt

AMONG = 5
"""The next question is drawn from so many of the most informative ones, so that the best ones don't wear out
(randomesque selection: Kingsbury and Zara 1989)."""

# The trapezoid rule on a smooth function that falls to nothing at both ends is exact to 1e-12 at this step.
_STEP = 0.1
_NODES = tuple(_STEP * place for place in range(-80, 81))
_LOG_PRIOR = tuple(-node * node / 2 for node in _NODES)


class Parameters(NamedTuple):
    """Of one question: discrimination and difficulty, in standard deviations of ability."""

    discrimination: float
    difficulty: float


class Rule(NamedTuple):
    """When an adaptive attempt ends: at this standard error of the ability, or after so many questions."""

    until_se: float = 0.4
    length: int = 20


class Plan(NamedTuple):
    """What an adaptive attempt goes by; kept with it, so that it ends as it began."""

    rule: Rule
    model: str
    attempts: int
    """On how many attempts the questions were calibrated."""
    parameters: dict[str, Parameters]
    """Of each question that can be asked, by id."""

    def to_json(self) -> dict[str, Any]:
        """A JSON-able form."""
        return {**self._asdict(), "rule": list(self.rule), "parameters": dict(self.parameters)}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Plan:
        """What `to_json` made. ValueError and its like for anything else."""
        until_se, length = body["rule"]
        parameters = {
            str(name): Parameters(float(a), float(b)) for name, (a, b) in body["parameters"].items()
        }
        rule = Rule(float(until_se), int(length))
        return cls(rule, str(body["model"]), int(body["attempts"]), parameters)


class Estimate(NamedTuple):
    """Mean and standard deviation of an ability, given the responses."""

    ability: float
    se: float


class Ability(NamedTuple):
    """What an adaptive attempt says of a learner, and why it ended."""

    ability: float
    se: float
    answered: int
    model: str
    attempts: int
    """On how many attempts the questions were calibrated."""
    stopped: str
    """`standard error`, `length`, `pool`, or "" where the learner ended it, or it goes on."""


def estimate(given: Iterable[tuple[Parameters, bool]]) -> Estimate:
    """The expected a posteriori ability (Bock and Mislevy 1982), the prior being a standard normal."""
    logs = list(_LOG_PRIOR)
    for (slope, place), right in given:
        sign = -slope if right else slope
        for number, node in enumerate(_NODES):
            logs[number] -= _log1pexp(sign * (node - place))
    most = max(logs)
    weights = [math.exp(log - most) for log in logs]
    total = math.fsum(weights)
    mean = math.fsum(weight * node for weight, node in zip(weights, _NODES, strict=True)) / total
    spread = (
        math.fsum(weight * (node - mean) ** 2 for weight, node in zip(weights, _NODES, strict=True)) / total
    )
    return Estimate(mean, math.sqrt(spread))


def information(question: Parameters, ability: float) -> float:
    """Fisher's information that a response to this question gives about an ability."""
    chance = 1 / (1 + math.exp(min(700.0, -question.discrimination * (ability - question.difficulty))))
    return question.discrimination**2 * chance * (1 - chance)


def choose(
    parameters: Mapping[str, Parameters], left: Iterable[str], ability: float, seed: int, number: int
) -> str | None:
    """The question that comes next, of those that are left; `number` counts those before it. None: no one."""
    best = sorted(left, key=lambda each: (-information(parameters[each], ability), each))[:AMONG]
    if not best:
        return None
    return best[draw_places("adaptive", {"next": len(best)}, seed, number)["next"]]


def ability_of(attempt: Attempt, left: int | None = None) -> Ability | None:
    """What an adaptive attempt says so far; None of another one.

    `left`: how many more questions could be asked; without it, those of the plan that were not.
    """
    plan = attempt.started.adaptive if attempt.started else None
    if plan is None:
        return None
    # Right is right in full, as it was when the questions were calibrated.
    given = [
        (plan.parameters[state.question_id], str(state.score.verdict) == "correct")
        for state in attempt.items
        if state.submitted and state.score is not None and state.question_id in plan.parameters
    ]
    found = estimate(given)
    remaining = len(plan.parameters) - len(attempt.question_ids) if left is None else left
    stopped = ""
    if given and found.se <= plan.rule.until_se:
        stopped = "standard error"
    elif len(given) >= plan.rule.length:
        stopped = "length"
    elif remaining <= 0 and len(given) >= len(attempt.question_ids):
        stopped = "pool"
    return Ability(*found, len(given), plan.model, plan.attempts, stopped)


def ability_in_words(found: Ability) -> str:
    """An ability as it is told: with its error, its interval and what it is measured in."""
    low, high = found.ability - 1.96 * found.se, found.ability + 1.96 * found.se
    count = "1 question" if found.answered == 1 else f"{found.answered} questions"
    return (
        f"ability {found.ability:+.2f}, standard error {found.se:.2f} (95 %: {low:+.2f} to {high:+.2f}), by"
        f" {count}"
    )


def scale_in_words(found: Ability) -> str:
    """What an ability is measured in."""
    return (
        f"0 is the mean of the {found.attempts} attempts on which the questions were calibrated"
        f" ({found.model}), 1 their standard deviation."
    )


def end_in_words(found: Ability) -> str:
    """Why an adaptive attempt ended, as a sentence; "" where the learner ended it."""
    return {
        "standard error": "It ended because the standard error is small enough.",
        "length": "It ended at its greatest length.",
        "pool": "It ended because no calibrated question is left.",
    }.get(found.stopped, "")


def _log1pexp(x: float) -> float:
    return x + math.log1p(math.exp(-x)) if x > 0 else math.log1p(math.exp(x))
