"""What a bank that can be taken may still get wrong: the checks of `quizapp check`.

An error makes a question unfair, misleading or dead; a warning is something to look at.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from quizapp.bank.findings import Finding, Severity, Where
from quizapp.bank.kind_checks import Judge, Kinds, faults, plain_words, texts
from quizapp.bank.load import LoadedBank
from quizapp.bank.markdown import Block, parse
from quizapp.bank.model import (
    Bank,
    Matching,
    MultipleChoice,
    Numeric,
    Option,
    Ordering,
    Question,
    ShortText,
    SingleChoice,
    TrueFalse,
)
from quizapp.bank.pools import shortages
from quizapp.bank.references import referenced
from quizapp.bank.snapshot import PLACEHOLDER, question_from_json, question_to_json
from quizapp.bank.spelling import parse_count
from quizapp.bank.text import visible
from quizapp.bank.variables import BadDraw, exactly, filled, first_filled, unknown_in, unused
from quizapp.errors import nearest

EXPLANATION_BYTES = 20 * 1024
# A pattern in the keys is reported when chance alone would give one as strong in fewer than 1 of 100 banks.
CHANCE = 0.01
# … and when picking by it gives this many times the hits of guessing.
WORTH_GUESSING = 1.25
# Probabilities are summed up to this many questions, and taken from the normal distribution above.
EXACT_UP_TO = 400
# The key "is the longest option" when it has this much more text than any other.
LONGEST = 1.1

# Said of options by their letter, or by where they stand on the page.
_LETTER = re.compile(r"\b(?:[Oo]ptions?|[Aa]nswers?|[Cc]hoices?)\s+\(?([A-H])\b(?:\)|(?![\w'’-]))")
_BOTH_LETTERS = re.compile(
    r"\b(?:[Bb]oth|[Ee]ither|[Nn]either|[Oo]nly)\s+\(?[A-H]\)?\s+(?:and|or|nor)\s+\(?[A-H]\b"
)
_POSITION = re.compile(
    r"\b(?:(?:first|second|third|fourth|last|next|previous)\s+(?:option|answer|choice)\b"
    r"|(?:option|answer|choice)s?\s+(?:above|below)\b|the\s+(?:above|below)\s+(?:option|answer|choice)"
    r"|\b(?:of|than)\s+the\s+(?:above|below)\b)",
    re.IGNORECASE,
)
# "See above.", and neither "90 % and above." nor "below the threshold".
_ABOVE = re.compile(r"(?<!and )(?<!or )\b(?:above|below)(?=\s*(?:[.,;:!?)]|$))", re.IGNORECASE)
_ALL_OF_THESE = re.compile(
    r"^\W*(?:all|none|both|any|neither|some)\s+of\s+(?:the\s+)?(?:above|below|these|those|others?|options|answers)\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"\b(?:not|never|except|cannot|least)\b|n['’]t\b", re.IGNORECASE)
_SENTENCE = re.compile(r"[^.?!\n]*\?|[^.?!\n]*\b[Ww]hich[^.?!\n]*[:.]\s*$")
_JOINED = re.compile(r"[\u200c\u200d\ufe0e\ufe0f]|[\U0001f3fb-\U0001f3ff]")
_RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_COMMENT = re.compile(r"<!--")


class Demo(Protocol):
    """What is asked of a demo's declaration."""

    @property
    def variants(self) -> Sequence[str]: ...

    def check_param(self, name: str, text: str) -> str:
        """What is wrong with giving the parameter this value, or ""."""
        ...

    def check_devices(self, count: int) -> str:
        """What is wrong with running on so many devices, or ""."""
        ...


Demos = Mapping[str, Demo]
Draws = Sequence[Callable[[Question], Mapping[str, str]]]
"""Each draws the values of a question's variables."""


def check_bank(
    loaded: LoadedBank, demos: Demos | None, judge: Judge | None = None, draws: Draws = ()
) -> list[Finding]:
    """What is wrong with the valid questions of a bank.

    Without `demos`, links to them go unchecked; without `judge`, so do the mistakes and forms of typed kinds.
    `draws` are ways to draw a question's variables: each draw is checked like a question of its own, besides
    the one with the first value of each.
    """
    check = _Check(loaded, demos, judge)
    asked = []
    for index, question in enumerate(loaded.bank.questions):
        if question.variables:
            asked.append(check.with_variables(index, question, draws))
        else:
            check.question(index, question)
            asked.append(question)
    check.whole(dataclasses.replace(loaded.bank, questions=tuple(asked)))
    return sorted(check.findings, key=lambda finding: (finding.line, finding.column))


class _Check:
    def __init__(self, loaded: LoadedBank, demos: Demos | None, judge: Judge | None) -> None:
        self.findings: list[Finding] = []
        self._loaded, self._demos, self._judge = loaded, demos, judge
        self._folder = Path(loaded.path).parent
        self._english = loaded.bank.language.lower().startswith("en")

    def _report(
        self,
        where: Where,
        code: str,
        message: str,
        hint: str,
        severity: Severity = "error",
        *,
        key: bool = False,
    ) -> None:
        self.findings.append(self._loaded.finding(where, code, message, hint, severity=severity, key=key))

    def _warn(self, where: Where, code: str, message: str, hint: str) -> None:
        self._report(where, code, message, hint, "warning")

    def with_variables(self, index: int, question: Question, draws: Draws) -> Question:
        """Reports what is wrong with any draw of a question, once; gives the one with the first values."""
        at: Where = ("questions", index)
        for name in unused(question):
            message = f"{name} is used nowhere"
            hint = f"write {{{{var:{name}}}}} where it belongs, or remove it"
            self._warn((*at, "variables", name), "unused-variable", message, hint)
        text = question_to_json(question)
        seen: list[tuple[str, list[Finding]]] = []
        for drawn in ({}, *(draw(question) for draw in draws)):
            before = len(self.findings)
            try:
                asked = question_from_json(filled(text, question.variables, drawn))
            except BadDraw as error:
                hint = "change the formula, or the values it is made of"
                self._report((*at, "variables", error.name, "formula"), "bad-draw", error.words, hint)
            else:
                self.question(index, asked)
                self._key_of_draw(at, question, asked)
                drawn = asked.drawn
            values = ", ".join(f"{name} = {value}" for name, value in drawn.items())
            seen.append((values, self.findings[before:]))
            del self.findings[before:]
        self.findings += _each_once(seen)
        return question_from_json(first_filled(text, question.variables))

    def _key_of_draw(self, at: Where, question: Question, asked: Question) -> None:
        """A key is rounded to be shown: the number that it was rounded from must still be right."""
        if not (isinstance(question, Numeric) and isinstance(asked, Numeric)) or self._judge is None:
            return
        numbers = exactly(question.variables, asked.drawn)
        for end in ("min", "max"):
            named = PLACEHOLDER.fullmatch(getattr(question.key, end) or "")
            if named and not self._judge.is_right(asked, repr(numbers[named[1]])):
                message = f"the key is {getattr(asked.key, end)}, and {numbers[named[1]]!r} is wrong by it"
                hint = f"give {named[1]} more digits, or the question a wider tolerance"
                self._report((*at, "key"), "key-outside-tolerance", message, hint)
                return

    def whole(self, bank: Bank) -> None:
        self._text(("title",), bank.title, short=True)
        self._text(("description",), bank.description)
        for name, sentence in bank.objectives.items():
            self._text(("objectives", name), sentence)
        if self._loaded.whole:
            used = {question.objective for question in bank.questions}
            for name in bank.objectives:
                if name not in used:
                    hint = f"give questions objective: {name}, or remove it"
                    self._warn(
                        ("objectives", name),
                        "unused-objective",
                        f"no question has the objective {name}",
                        hint,
                    )
            for code, message, hint in giveaways(bank):
                self._warn(("questions",), code, message, hint)
            for short in shortages(bank.take.sections, bank.questions, bank.objectives):
                severity: Severity = "warning" if short.code == "untimed-pool" else "error"
                self._report(short.where, short.code, short.message, short.hint, severity)

    def question(self, index: int, question: Question) -> None:
        at: Where = ("questions", index)
        self._text((*at, "stem"), question.stem)
        self._stem(at, question.stem)
        self._explanation(at, question)
        for number, reference in enumerate(question.references):
            self._text((*at, "references", number, "title"), reference.title, short=True)
        if isinstance(question, SingleChoice | MultipleChoice):
            self._options(at, question)
        elif isinstance(question, TrueFalse):
            for option in question.options:
                self._text((*at, option.id, "rationale"), option.rationale)
                self._option_words((*at, option.id, "rationale"), option.rationale, question)
                self._demo((*at, option.id), option)
        else:
            self._kind(at, question)
        self._symptom(at, question)
        self._ground(at, question)

    def _stem(self, at: Where, stem: str) -> None:
        if not self._english:
            return
        for sentence in _SENTENCE.findall(_unstressed(parse(stem))):
            for found in _NEGATION.finditer(sentence):
                if not found[0].isupper():
                    message = f"the stem asks with {found[0]!r}, which is easily missed"
                    hint = "stress it, as in **NOT**, or ask for what is true"
                    self._warn((*at, "stem"), "negation", message, hint)
                    return

    def _explanation(self, at: Where, question: Question) -> None:
        explanation = question.explanation
        for name in ("short", "full"):
            text = getattr(explanation, name)
            where = (*at, "explanation", name)
            self._text(where, text)
            self._option_words(where, text, question)
            size = len(text.encode("utf-8", "replace"))
            if size > EXPLANATION_BYTES:
                message = f"{size / 1024:.0f} KiB are slow to show and long to read"
                self._warn(where, "long-explanation", message, f"stay below {EXPLANATION_BYTES // 1024} KiB")
        if explanation.figure is not None:
            where = (*at, "explanation", "figure")
            self._text((*where, "alt"), explanation.figure.alt)
            self._figure(where, explanation.figure.src)

    def _figure(self, where: Where, src: str) -> None:
        path = self._folder / src
        if path.is_file():
            if not path.resolve().is_relative_to(self._folder.resolve()):
                self._report(
                    (*where, "src"), "dead-figure", f"{src} leads out of the bank's folder", "copy it there"
                )
            return
        names = [
            found.relative_to(self._folder).as_posix()
            for found in (path.parent.iterdir() if path.parent.is_dir() else ())
        ]
        match = nearest(src, names)
        hint = f"did you mean {match}?" if match else f"it is looked for in {self._folder}"
        self._report((*where, "src"), "dead-figure", f"there is no file {src}", hint)

    def _options(self, at: Where, question: SingleChoice | MultipleChoice) -> None:
        first: dict[str, Option] = {}
        for number, option in enumerate(question.options):
            where = (*at, "options", number)
            self._text((*where, "text"), option.text, short=True)
            self._text((*where, "rationale"), option.rationale)
            self._option_words((*where, "text"), option.text, question)
            self._option_words((*where, "rationale"), option.rationale, question)
            words = plain_words(option.text)
            if words in first:
                message = f"options {first[words].id} and {option.id} have the same text"
                self._report(
                    (*where, "text"), "duplicate-option-text", message, "tell them apart, or drop one"
                )
            first.setdefault(words, option)
            if self._english and _ALL_OF_THESE.search(option.text) and option.pin is None:
                message = f"{option.text.strip()!r} may be shown anywhere among the options"
                self._report((*where, "text"), "unpinned", message, "add pin: last")
            self._demo(where, option)

    def _kind(self, at: Where, question: Kinds) -> None:
        for where, text, short in texts(question):
            self._text((*at, *where), text, short=short)
        if isinstance(question, Ordering | Matching):
            self._option_words((*at, "rationale"), question.rationale, question)
        for found in faults(question, self._judge):
            self._report((*at, *found.where), found.code, found.message, found.hint, found.severity)

    def _option_words(self, where: Where, text: str, question: Question) -> None:
        """Letters and positions exist only on screen, and differ from learner to learner."""
        if question.options:
            ids = [option.id for option in question.options]
            for option_id in referenced(text):
                if option_id not in ids:
                    match = nearest(option_id, ids)
                    hint = f"did you mean {match}?" if match else f"its options are {', '.join(ids)}"
                    self._report(where, "dead-reference", f"{option_id} is no option of this question", hint)
        if not self._english:
            return
        prose = _without_code(text)
        letter = _LETTER.search(prose) or _BOTH_LETTERS.search(prose)
        if letter:
            hint = "write {{opt:its-id}}, or say what it claims"
            self._report(
                where, "letter", f"{letter[0]!r} names an option by a letter that shuffling changes", hint
            )
        position = _POSITION.search(prose)
        hint = "write {{opt:its-id}} for an option, and name anything else"
        # "All of the above", pinned last, is what it says; unpinned it has its own finding.
        if where[-1] == "text" and _ALL_OF_THESE.search(text):
            return
        if position:
            self._report(where, "position", f"{position[0]!r} names a place, and options change theirs", hint)
        elif where[-1] in ("text", "rationale") and (vague := _ABOVE.search(prose)):
            message = f"{vague[0]!r} names a place, and it depends on the screen what stands there"
            self._warn(where, "position", message, hint)

    def _demo(self, where: Where, option: Option) -> None:
        if option.demo is None or self._demos is None:
            return
        link = option.demo
        demo = self._demos.get(link.name)
        if demo is None:
            match = nearest(link.name, list(self._demos))
            hint = (
                f"did you mean {match}?"
                if match
                else f"the demos are {', '.join(sorted(self._demos)) or 'none'}"
            )
            self._report((*where, "demo", "name"), "dead-demo", f"there is no demo {link.name}", hint)
            return
        if link.variant not in demo.variants:
            hint = f"it has {', '.join(demo.variants)}"
            self._report(
                (*where, "demo", "variant"), "dead-demo", f"{link.name} has no variant {link.variant}", hint
            )
        for name, text in link.params.items():
            problem = _devices_problem(demo, text) if name == "devices" else demo.check_param(name, text)
            if problem:
                message, _, hint = problem.partition("; ")
                shown = f"`quizapp demo {link.name} --source` shows its parameters"
                self._report((*where, "demo", "params", name), "dead-parameter", message, hint or shown)

    def _symptom(self, at: Where, question: Question) -> None:
        if question.symptom is None:
            return
        stem = plain_words(question.stem)
        raw = " ".join(question.stem.split()).casefold()
        for number, predicate in enumerate(question.symptom.where):
            says = " ".join(predicate.says.split()).casefold()
            if says not in raw and plain_words(predicate.says) not in stem:
                message = f"the stem doesn't say {predicate.says!r}"
                hint = "quote the words of the stem that this predicate encodes"
                self._report((*at, "symptom", "where", number, "says"), "says-not-in-stem", message, hint)

    def _ground(self, at: Where, question: Question) -> None:
        """Whether the question has what its `verified_by` claims."""
        if question.verified_by == "reference" and not question.references:
            self._report(
                (*at, "verified_by"), "no-ground", "there are no references", "add the one that says so"
            )
        if question.verified_by != "experiment":
            return
        if question.symptom is None:
            hint = "add symptom:, or verified_by: reference or judgement"
            self._report((*at, "verified_by"), "no-ground", "an experiment needs a symptom to look for", hint)
        if isinstance(question, Numeric | ShortText | Ordering | Matching):
            hint = "write verified_by: reference or judgement"
            self._report(
                (*at, "verified_by"),
                "no-ground",
                f"the key of a question of kind {question.kind} has no demo",
                hint,
            )
            return
        sides = isinstance(question, TrueFalse)
        for number, option in enumerate(question.options):
            if option.correct and option.demo is None:
                message = f"the key {option.id} has no demo that could show the symptom"
                where: Where = (*at, option.id) if sides else (*at, "options", number)
                self._report(where, "no-ground", message, "add demo: {name: …, variant: …}")
        if not any(option.demo for option in question.options if not option.correct):
            message = "no distractor has a demo, so no experiment can rule one out"
            self._report(at if sides else (*at, "options"), "no-ground", message, "add demo: to one at least")

    def _text(self, where: Where, text: str, *, short: bool = False) -> None:
        """Characters that don't come out as the author sees them, and numbers that nobody declared."""
        for message, hint in unknown_in(text, {}) if "{{var:" in text else ():
            self._report(where, "unknown-variable", message, hint)
        hidden = _hidden(text)
        if hidden:
            message = f"holds {hidden}, which is shown as a sign"
            self._warn(where, "hidden-character", message, "remove it")
        if _COMMENT.search(_without_code(text)):
            self._warn(
                where, "html-comment", "an HTML comment is shown as it is written", "use a YAML comment: # …"
            )
        if short and _JOINED.search(text):
            message = "holds joined or modified emoji, whose width differs from terminal to terminal"
            self._warn(where, "unsteady-width", message, "use plain characters here")
        if short and _RIGHT_TO_LEFT.search(text):
            message = "holds right-to-left text, which few terminals lay out"
            self._warn(where, "right-to-left", message, "see how it looks in yours before you rely on it")


def _each_once(seen: Sequence[tuple[str, Sequence[Finding]]]) -> Iterator[Finding]:
    """The findings of several draws of one question; what not all draws have is said with the values."""

    def fault(found: Finding) -> tuple[int, int, str]:
        return found.line, found.column, found.code

    draws = [{fault(found) for found in findings} for _, findings in seen]
    told = set()
    for values, findings in seen:
        for found in findings:
            if fault(found) in told:
                continue
            if not all(fault(found) in draw for draw in draws):
                found = dataclasses.replace(found, message=f"with {values}: {found.message}")
            yield found
        told |= {fault(found) for found in findings}


def giveaways(bank: Bank) -> Iterator[tuple[str, str, str]]:
    """Patterns by which the key could be guessed without knowing anything: code, message, hint.

    Counted over the single-choice questions. Under chance each option is as likely as its neighbours to be
    the key; a pattern counts when P(as many or more) is below `CHANCE` (shared among the places looked at)
    and it is worth guessing by.
    """
    questions = [question for question in bank.questions if isinstance(question, SingleChoice)]
    chances = [1 / len(question.options) for question in questions]
    longest = sum(_key_is_longest(question.options) for question in questions)
    if _telling(chances, longest):
        message = f"the key is the longest option in {longest} of {len(questions)} single-choice questions"
        yield "longest-is-key", message, "lengthen distractors or shorten keys: a guesser picks the longest"
    if "options" in bank.take.shuffle or not questions:
        return
    places = max(len(question.options) for question in questions)
    for place in range(places):
        having = [question for question in questions if place < len(question.options)]
        there = sum(question.options[place].correct for question in having)
        if _telling([1 / len(question.options) for question in having], there, among=places):
            message = (
                f"the key stands in place {place + 1} in {there} of {len(having)} single-choice questions"
            )
            yield "position-is-key", message, "move keys, or add take: {shuffle: [options]}"


def _key_is_longest(options: Sequence[Option]) -> bool:
    key = next(len(option.text) for option in options if option.correct)
    return key >= LONGEST * max(len(option.text) for option in options if not option.correct)


def _telling(chances: Sequence[float], count: int, *, among: int = 1) -> bool:
    """Whether so many hits are too many for chance, and enough more to help a guesser."""
    return count >= WORTH_GUESSING * math.fsum(chances) and _tail(chances, count) < CHANCE / among


def _tail(chances: Sequence[float], at_least: int) -> float:
    """Probability that of independent events with these chances at least so many happen."""
    if len(chances) > EXACT_UP_TO:
        mean = math.fsum(chances)
        deviation = math.sqrt(math.fsum(chance * (1 - chance) for chance in chances))
        return 0.5 * math.erfc((at_least - 0.5 - mean) / deviation / math.sqrt(2))
    exactly = [1.0]
    for chance in chances:
        exactly = [
            here * (1 - chance) + before * chance
            for here, before in zip([*exactly, 0.0], [0.0, *exactly], strict=True)
        ]
    return math.fsum(exactly[at_least:])


def _devices_problem(demo: Demo, text: str) -> str:
    try:
        return demo.check_devices(parse_count(text))
    except ValueError as error:
        return str(error)


def _unstressed(document: Sequence[Block]) -> str:
    """The text of a document without what is stressed, and without code."""
    parts = []
    for block in document:
        for span in block.spans:
            stressed = {"strong", "em", "code", "math"} & set(span.style)
            parts.append("…" if stressed else span.text)
        parts += ["\n", _unstressed(block.children)]
    return "".join(parts)


def _without_code(text: str) -> str:
    """`text` without fenced and inline code, where letters and words mean something else."""
    return re.sub(r"```.*?(?:```|\Z)|`[^`\n]*`", "`…`", text, flags=re.DOTALL)


def _hidden(text: str) -> str:
    if text.isascii() and (text.isprintable() or not _CONTROL.search(text)):
        return ""
    for character in text:
        if character not in "\n\t" and visible(character) != character:
            return f"the character U+{ord(character):04X}"
    return ""


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
