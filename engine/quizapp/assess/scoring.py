"""Points for a response: a pure function of question, response and rule.

Unanswered is not wrong: a blank response has its own verdict and costs nothing. Only a penalty that the
question names takes points below zero, for a response that earns none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, cast

from quizapp.assess.response import Response

if TYPE_CHECKING:
    from quizapp.bank.model import Matching, Numeric, Ordering, Question, Reading, ShortText

TYPED = frozenset({"numeric", "short-text"})
"""Kinds whose response is a text."""


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
    rule = question.scoring.rule or rule_of(question.kind)
    if response.blank:
        return Score(Verdict.UNANSWERED, 0.0, question.points, rule)
    share = _share(question, response, rule)
    if share <= 0:
        lost = question.points * question.scoring.penalty
        return Score(Verdict.INCORRECT, -lost if lost else 0.0, question.points, rule)
    verdict = Verdict.CORRECT if share == 1 else Verdict.PARTIAL
    return Score(verdict, question.points * share, question.points, rule)


def problem(question: Question, response: Response) -> str:
    """Why the question does not admit this response, "" when it does. Invalid is neither wrong nor blank."""
    if question.kind == "reading":
        from quizapp.assess import reading

        if response.selected or response.text:
            return "something in the recording is to be picked"
        return reading.problem(question, response)
    if response.devices or response.span_s is not None:
        return "there is no recording to pick from"
    if question.kind in TYPED:
        return "a text is asked for" if response.selected else _problem_of_text(question, response.text)
    if response.text:
        return "options are to be chosen"
    if question.kind == "matching":
        return _problem_of_pairs(question, response)
    if response.pairs:
        return "nothing is to be matched"
    known = [option.id for option in question.options]
    strange = [option_id for option_id in response.selected if option_id not in known]
    if strange:
        return f"no option {strange[0]!r}"
    if len(set(response.selected)) < len(response.selected):
        return "an option is chosen twice"
    if question.kind == "ordering":
        missing = len(known) - len(response.selected)
        return f"put all {len(known)} in order" if missing and response.selected else ""
    if question.kind != "multiple-choice" and len(response.selected) > 1:
        return "only one option can be chosen"
    return ""


def key_of(question: Question) -> frozenset[str]:
    """The ids of the options that are right; none where a text is asked for."""
    return frozenset(option.id for option in question.options if option.correct)


def key_in_words(question: Question, letters: Mapping[str, str]) -> str:
    """The key as it is told: the letters of its options, or the number or words that are right."""
    match question.kind:
        case "numeric":
            from quizapp.assess import number

            return number.key_in_words(question)
        case "short-text":
            return " or ".join(question.key)
        case "ordering" | "matching":
            return given_in_words(question, _key(question), letters)
        case "reading":
            from quizapp.assess import reading

            return reading.key_in_words(question)
        case _:
            key = key_of(question)
            return ", ".join(letter for option_id, letter in letters.items() if option_id in key)


def given_in_words(question: Question, response: Response, letters: Mapping[str, str]) -> str:
    """A response as it is told: letters, what was typed, `1 B, 2 A` for matches; "" when blank."""
    if response.text:
        return response.text.strip()
    if question.kind == "reading":
        from quizapp.assess import reading

        return reading.given_in_words(response)
    if question.kind == "matching":
        numbers = {pair.id: number for number, pair in enumerate(question.pairs, 1)}
        given = sorted((numbers[left], letters.get(right, right)) for left, right in response.pairs)
        return ", ".join(f"{number} {letter}" for number, letter in given)
    return ", ".join(letters.get(option_id, option_id) for option_id in response.selected)


def mistake_of(question: Question, response: Response) -> str:
    """Why this wrong response was foreseen to be wrong, in Markdown; "" when it was not."""
    if question.kind == "reading":
        return _mistake_of_reading(question, response)
    if question.kind not in TYPED or response.blank or problem(question, response):
        return ""
    asked = cast("Numeric | ShortText", question)
    for mistake in asked.mistakes:
        if problem(question, Response(text=mistake.response)):
            continue  # nobody can give it; `quizapp check` says so
        if _is_right(_as_key(asked, mistake.response), response.text):
            return mistake.rationale
    return ""


def foreseen(question: Question, text: str) -> str:
    """As `mistake_of`, of a typed response. ValueError in words for one that the question does not admit."""
    if question.kind == "reading":
        from quizapp.assess import reading

        return mistake_of(question, reading.read_pick(question, text))
    return mistake_of(question, Response(text=text))


def _mistake_of_reading(question: Reading, response: Response) -> str:
    from quizapp.assess import reading

    if response.blank or _share(question, response, rule_of(question.kind)) == 1:
        return ""
    for mistake in question.mistakes:
        try:
            foreseen = reading.read_pick(question, mistake.response)
        except ValueError:
            continue  # nobody can give it; `quizapp check` says so
        # The question whose key this response would be, with the same nearness.
        as_key = reading.with_key(question, foreseen)
        if reading.share_of(as_key, response, "all-or-nothing") == 1:
            return mistake.rationale
    return ""


def is_right(question: Question, text: str) -> bool:
    """Whether a typed response is right; ValueError in words for one that the question does not admit."""
    if question.kind == "reading":
        from quizapp.assess import reading

        response = reading.read_pick(question, text)
        return not response.blank and _share(question, response, rule_of(question.kind)) == 1
    fault = _problem_of_text(question, text)
    if fault:
        raise ValueError(fault)
    return _is_right(question, text)


def rule_of(kind: str) -> str:
    """The name of the rule by which questions of a kind are scored when they name none."""
    return {"multiple-choice": "net-correct", "matching": "each-answer"}.get(kind, "all-or-nothing")


def rule_in_words(rule: str, penalty: float = 0.0) -> str:
    """The rule as the learner is told it, before and after."""
    words = _WORDS[rule]
    if penalty:
        words += f"; a wrong response costs {penalty:.0%} of the points, a blank one nothing"
    return f"{rule}: {words}"


def points_in_words(points: float) -> str:
    """Points as people write them: `1`, `0.5`, `1.33`; at most two decimals."""
    return f"{points:.2f}".rstrip("0").rstrip(".")


def _share(question: Question, response: Response, rule: str) -> float:
    if question.kind in TYPED:
        return 1.0 if _is_right(question, response.text) else 0.0
    if question.kind == "ordering" or question.kind == "matching":
        right, of = parts_right(question, response)
        return right / of if rule == "each-answer" else float(right == of)
    if question.kind == "reading":
        from quizapp.assess import reading

        return reading.share_of(question, response, rule)
    known = frozenset(option.id for option in question.options)
    return _RULES[rule](key_of(question), frozenset(response.selected), known)


def parts_right(question: Ordering | Matching, response: Response) -> tuple[int, int]:
    """How many items stand in their place, or how many pairs have their match; and of how many."""
    key = _key(question)
    if question.kind == "ordering":
        right = sum(a == b for a, b in zip(key.selected, response.selected, strict=False))
        return right, len(key.selected)
    return len(frozenset(key.pairs) & frozenset(response.pairs)), len(key.pairs)


def _key(question: Ordering | Matching) -> Response:
    if question.kind == "ordering":
        return Response(tuple(item.id for item in question.items))
    return Response(pairs=tuple(question.key.items()))


def _problem_of_pairs(question: Matching, response: Response) -> str:
    if response.selected:
        return "each is to be matched with a choice"
    left, choices = {pair.id for pair in question.pairs}, {option.id for option in question.options}
    for pair_id, choice_id in response.pairs:
        if pair_id not in left or choice_id not in choices:
            return f"no match {pair_id!r} with {choice_id!r}"
    if len({pair_id for pair_id, _ in response.pairs}) < len(response.pairs):
        return "one is matched twice"
    return ""


def _is_right(question: Question, text: str) -> bool:
    if question.kind == "numeric":
        from quizapp.assess import number

        return number.is_right(question, number.read_number(question, text))
    from quizapp.assess import wording

    return wording.is_right(cast("ShortText", question), text)


def _problem_of_text(question: Question, text: str) -> str:
    if not text.strip():
        return ""
    if question.kind == "short-text":
        from quizapp.assess import wording

        return f"write {wording.LONGEST} characters at most" if len(text) > wording.LONGEST else ""
    from quizapp.assess import number

    try:
        number.read_number(cast("Numeric", question), text)
    except ValueError as error:
        return str(error)
    return ""


def _as_key(question: Numeric | ShortText, response: str) -> Question:
    """The question whose key this response would be, under the same tolerance."""
    from dataclasses import replace

    if question.kind == "short-text":
        return replace(question, key=(response,), pattern="")
    from quizapp.assess.number import read_number
    from quizapp.bank.model import Interval

    exact = str(read_number(question, response))
    return replace(question, key=Interval(min=exact, max=exact))


def _all_or_nothing(key: frozenset[str], chosen: frozenset[str], known: frozenset[str]) -> float:
    return 1.0 if chosen == key else 0.0


def _each_answer(key: frozenset[str], chosen: frozenset[str], known: frozenset[str]) -> float:
    # Each option is an answer by itself: chosen if it is a key, left if it is not.
    return 1 - len(key ^ chosen) / len(known)


def _net_correct(key: frozenset[str], chosen: frozenset[str], known: frozenset[str]) -> float:
    # PrairieLearn's definition; ticking everything does not pay, and one forgotten key costs only its share.
    return max(0, len(chosen & key) - len(chosen - key)) / len(key)


def _coverage(key: frozenset[str], chosen: frozenset[str], known: frozenset[str]) -> float:
    # PrairieLearn's definition.
    found = len(chosen & key)
    return found / len(key) * found / len(chosen) if chosen else 0.0


_RULES: dict[str, Callable[[frozenset[str], frozenset[str], frozenset[str]], float]] = {
    "all-or-nothing": _all_or_nothing,
    "each-answer": _each_answer,
    "net-correct": _net_correct,
    "coverage": _coverage,
}
_WORDS = {
    "all-or-nothing": "only what is right in full gets the points",
    "each-answer": "each part that is right adds an equal share of the points; of options, each that is "
    "rightly chosen or rightly left",
    "net-correct": "each right choice adds an equal share of the points, each wrong one takes "
    "a share away, never below zero",
    "overlap": "a stretch that is not right earns the share of it that it has in common with the key, of "
    "both together",
    "coverage": "the share of the right options that you chose, times the share of your choices "
    "that is right",
}
