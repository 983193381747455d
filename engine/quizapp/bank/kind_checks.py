"""The checks of single kinds of question: what makes a key of theirs unfair, dead or not what it seems."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from quizapp.bank.findings import Severity, Where
from quizapp.bank.markdown import parse, to_plain
from quizapp.bank.model import Matching, Mistake, Numeric, Ordering, Question, Reading, ShortText

# The columns of a strip on a terminal of 80.
FEWEST_COLUMNS = 50

Kinds = Ordering | Matching | Numeric | ShortText | Reading


class Judge(NamedTuple):
    """How typed responses are scored, which floors above know."""

    is_right: Callable[[Question, str], bool]
    """Raises ValueError in words for a response that the question does not admit."""
    told: Callable[[Question, str], str]
    """The rationale of the foreseen mistake that a wrong response is; "" for another one."""


class Found(NamedTuple):
    """A fault, with its place inside the question."""

    where: Where
    code: str
    message: str
    hint: str
    severity: Severity = "error"


def texts(question: Kinds) -> Iterator[tuple[Where, str, bool]]:
    """The texts that only this kind has: place, text, whether it stands on a line of its own."""
    yield ("rationale",), question.rationale, False
    if isinstance(question, Ordering):
        for number, item in enumerate(question.items):
            yield ("items", number, "text"), item.text, True
    elif isinstance(question, Matching):
        for number, pair in enumerate(question.pairs):
            yield ("pairs", number, "text"), pair.text, True
            yield ("pairs", number, "match"), pair.match, True
            yield ("pairs", number, "rationale"), pair.rationale, False
        for number, item in enumerate(question.extra):
            yield ("extra", number, "text"), item.text, True
    else:
        for number, mistake in enumerate(question.mistakes):
            yield ("mistakes", number, "rationale"), mistake.rationale, False
    if isinstance(question, ShortText):
        for number, form in enumerate(question.key):
            yield ("key", number), form, False


def faults(question: Kinds, judge: Judge | None) -> Iterator[Found]:
    """What is wrong with a valid question of these kinds. Without `judge`, typed keys go untried."""
    if isinstance(question, Ordering):
        yield from _twice([(("items", i, "text"), item.text) for i, item in enumerate(question.items)])
        return
    if isinstance(question, Matching):
        yield from _twice([(("pairs", i, "text"), pair.text) for i, pair in enumerate(question.pairs)])
        yield from _same_choices(question)
        return
    if isinstance(question, Reading):
        yield from _span(question)
    if isinstance(question, Numeric):
        yield from _share_of_nothing(question)
    if judge is not None:
        if isinstance(question, ShortText):
            yield from _forms(question, judge)
            yield from _dead_characters(question, judge)
        for number, mistake in enumerate(question.mistakes):
            yield from _mistake(question, number, mistake, judge)


def plain_words(text: str) -> str:
    """What a text says, whatever its letters' case, its marks and its spaces."""
    return " ".join(to_plain(parse(text), 10_000).replace("*", "").replace("`", "").split()).casefold()


def _twice(parts: Sequence[tuple[Where, str]]) -> Iterator[Found]:
    first: set[str] = set()
    for where, text in parts:
        words = plain_words(text)
        if words in first:
            message = f"{text!r} stands twice, and can't be told apart"
            yield Found(where, "duplicate-option-text", message, "say how they differ, or drop one")
        first.add(words)


def _same_choices(question: Matching) -> Iterator[Found]:
    """Two choices that read the same, one of which would be right and the other wrong."""
    choices = [(("pairs", i, "match"), pair.match) for i, pair in enumerate(question.pairs)]
    choices += [(("extra", i, "text"), item.text) for i, item in enumerate(question.extra)]
    first: dict[str, str] = {}
    for where, text in choices:
        words = plain_words(text)
        # Matches that are written alike are one choice; extra choices never are.
        if words in first and (first[words] != text or where[0] == "extra"):
            message = f"{text!r} and {first[words]!r} are two choices that say the same"
            yield Found(
                where, "duplicate-option-text", message, "write them alike, drop one, or tell them apart"
            )
        first.setdefault(words, text)


def _share_of_nothing(question: Numeric) -> Iterator[Found]:
    from decimal import Decimal

    tolerance = question.tolerance or ""
    ends = (question.key.min, question.key.max)
    if tolerance.endswith("%") and any(end is not None and Decimal(end) == 0 for end in ends):
        message = f"{tolerance} of 0 is 0, so only 0 itself is within it"
        yield Found(
            ("tolerance",), "no-tolerance", message, "write how far off is right, such as 0.5", "warning"
        )


def _span(question: Reading) -> Iterator[Found]:
    span, strip = question.key.span, question.strip
    if span is None or strip is None:
        return
    least_s = strip.duration_s / FEWEST_COLUMNS * 3
    if span.end_s - span.start_s < least_s:
        message = f"{span.end_s - span.start_s:g} s are less than 3 of {FEWEST_COLUMNS} columns"
        hint = f"ask for {least_s:.2g} s at least, or record a shorter run"
        yield Found(("key", "span"), "narrow-span", message, hint, "warning")


def _forms(question: ShortText, judge: Judge) -> Iterator[Found]:
    for number, form in enumerate(question.key):
        where: Where = ("key", number)
        if judge.is_right(dataclasses.replace(question, key=(form,), pattern=""), " "):
            yield Found(where, "empty-form", f"nothing of {form!r} is compared", "write a letter or a digit")
            continue
        odd = next((c for c in form if c.isspace() and c != " "), "")
        if odd:
            message = f"holds U+{ord(odd):04X} in place of a space"
            yield Found(
                where, "hidden-character", message, "write a plain space: it is compared as one", "warning"
            )
        before = dataclasses.replace(question, key=question.key[:number], pattern="")
        if number and judge.is_right(before, form):
            message = f"{form!r} is the same as a form before it"
            yield Found(where, "duplicate-form", message, "remove it", "warning")


def _dead_characters(question: ShortText, judge: Judge) -> Iterator[Found]:
    for character in dict.fromkeys(question.pattern):
        alone = dataclasses.replace(question, key=(), pattern=f"\\x{{{ord(character):x}}}")
        if not character.isascii() and not judge.is_right(alone, character):
            message = f"holds {character!r}, which no response holds once it is compared"
            hint = "write the plain letter, quote, dash or space that it is compared as"
            yield Found(("pattern",), "dead-character", message, hint, "warning")


def _mistake(
    question: Numeric | ShortText | Reading, number: int, mistake: Mistake, judge: Judge
) -> Iterator[Found]:
    where: Where = ("mistakes", number, "response")
    try:
        right = judge.is_right(question, mistake.response)
    except ValueError as error:
        message, _, hint = str(error).partition("; ")
        yield Found(where, "bad-mistake", message, hint or "write one that a learner can")
        return
    if right:
        message = f"{mistake.response!r} is right by this question's key"
        yield Found(where, "mistake-is-right", message, "remove it, or make the key narrower")
        return
    if judge.told(question, mistake.response) != mistake.rationale:
        message = f"{mistake.response!r} is taken as a mistake that stands before it"
        yield Found(where, "mistake-is-hidden", message, "remove one, or tell the two apart")
