"""Points for a response: a pure function of question, response and rule.

Unanswered is not wrong: a blank response has its own verdict, and no rule ever takes points below zero.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from quizapp.assess.response import Response

if TYPE_CHECKING:
    from quizapp.bank.model import Question


class Verdict(StrEnum):
    """What became of a response."""

    CORRECT = "correct"
    PARTIAL = "partial"
    INCORRECT = "incorrect"
    UNANSWERED = "unanswered"


class Score(NamedTuple):
    """Points of max_points, and the rule that gave them."""

    verdict: Verdict
    points: float
    max_points: float
    rule: str


def score(question: Question, response: Response) -> Score:
    """Scores a response; ValueError for one that the question does not admit (see `problem`)."""
    fault = problem(question, response)
    if fault:
        raise ValueError(f"{question.id}: {fault}")
    rule = rule_of(question.kind)
    if response.blank:
        return Score(Verdict.UNANSWERED, 0.0, question.points, rule)
    share = _RULES[rule](key_of(question), frozenset(response.selected))
    verdict = Verdict.CORRECT if share == 1 else Verdict.PARTIAL if share > 0 else Verdict.INCORRECT
    return Score(verdict, question.points * share, question.points, rule)


def problem(question: Question, response: Response) -> str:
    """Why the question does not admit this response, "" when it does. Invalid is neither wrong nor blank."""
    known = [option.id for option in question.options]
    strange = [option_id for option_id in response.selected if option_id not in known]
    if strange:
        return f"no option {strange[0]!r}"
    if len(set(response.selected)) < len(response.selected):
        return "an option is chosen twice"
    if question.kind == "single-choice" and len(response.selected) > 1:
        return "only one option can be chosen"
    return ""


def key_of(question: Question) -> frozenset[str]:
    """The ids of the options that are right."""
    return frozenset(option.id for option in question.options if option.correct)


def rule_of(kind: str) -> str:
    """The name of the rule by which questions of a kind are scored."""
    return "all-or-nothing" if kind == "single-choice" else "net-correct"


def rule_in_words(rule: str) -> str:
    """The rule as the learner is told it, before and after."""
    if rule == "all-or-nothing":
        return "all-or-nothing: the right option gets the points"
    return (
        "net-correct: each right choice adds an equal share of the points, each wrong one takes "
        "a share away, never below zero"
    )


def points_in_words(points: float) -> str:
    """Points as people write them: `1`, `0.5`, `1.33`; at most two decimals."""
    return f"{points:.2f}".rstrip("0").rstrip(".")


def _all_or_nothing(key: frozenset[str], chosen: frozenset[str]) -> float:
    return 1.0 if chosen == key else 0.0


def _net_correct(key: frozenset[str], chosen: frozenset[str]) -> float:
    # PrairieLearn's definition; ticking everything does not pay, and one forgotten key costs only its share.
    return max(0, len(chosen & key) - len(chosen - key)) / len(key)


_RULES: dict[str, Callable[[frozenset[str], frozenset[str]], float]] = {
    "all-or-nothing": _all_or_nothing,
    "net-correct": _net_correct,
}
