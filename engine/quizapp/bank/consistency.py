"""What types can't say of a question, and without which it can't be taken or measured."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from quizapp.bank.findings import Where
from quizapp.bank.model import (
    Matching,
    MultipleChoice,
    Numeric,
    Ordering,
    Predicate,
    Question,
    Reading,
    ShortText,
    SingleChoice,
    Symptom,
    TrueFalse,
)
from quizapp.bank.units import unit_form

Complaint = tuple[Where, str, str, str]  # place inside the question, code, message, hint

PER_DEVICE = ("mean", "minimum", "maximum", "longest_zero_s")
_NUMBER_LIKE = re.compile(r"[0-9.,'’_+-]|[eE][+-]?[0-9]")
OF_THE_JOB = ("processes", "steps_per_s")


def complaints(question: Question) -> Iterator[Complaint]:
    """Errors of one valid question, with their places inside it."""
    if question.points <= 0:
        yield (
            ("points",),
            "bad-value",
            f"{question.points:g} points can't be scored",
            "write a number above 0",
        )
    if isinstance(question, SingleChoice | MultipleChoice):
        options = [(option.id, option.correct, option.pin) for option in question.options]
        if not any(correct for _, correct, _ in options):
            yield ("options",), "no-key", "no option is the key", "mark the right one with correct: true"
        yield from option_complaints(options, single=isinstance(question, SingleChoice))
    elif isinstance(question, TrueFalse):
        if question.true.correct == question.false.correct:
            message = "both answers are keys" if question.true.correct else "neither answer is the key"
            yield (), "no-key", message, "write correct: true under one of true and false"
    elif isinstance(question, Numeric):
        yield from _number_complaints(question)
    elif isinstance(question, ShortText):
        yield from _text_complaints(question)
    elif isinstance(question, Ordering):
        yield from _parts_complaints("items", [(item.id, item.text) for item in question.items])
    elif isinstance(question, Matching):
        yield from _match_complaints(question)
    elif isinstance(question, Reading):
        yield from _reading_complaints(question)
    yield from _rule_complaints(question)
    if question.symptom is not None:
        yield from symptom_complaints(question.symptom)


def _rule_complaints(question: Question) -> Iterator[Complaint]:
    rule, where = question.scoring.rule, ("scoring", "rule")
    if rule is None:
        return
    if isinstance(question, Reading):
        known = ["all-or-nothing", "overlap" if question.key.span else "net-correct"]
        if rule not in known:
            message = f"{rule} is no rule for what is picked here"
            yield where, "bad-rule", message, f"write {' or '.join(known)}"
        return
    if rule == "overlap":
        yield where, "bad-rule", "overlap compares stretches of time", "write another rule"
        return
    if isinstance(question, MultipleChoice):
        return
    if not isinstance(question, Ordering | Matching):
        message = f"{question.kind} is right or wrong as a whole"
        yield where, "bad-rule", message, "remove rule, or make it kind: multiple-choice"
    elif rule not in ("all-or-nothing", "each-answer"):
        yield where, "bad-rule", f"{rule} is for choices", "write all-or-nothing or each-answer"


def _parts_complaints(field: str, parts: Sequence[tuple[str, str]]) -> Iterator[Complaint]:
    """Errors in a list of parts, given as (id, text), of which letters or numbers are made on screen."""
    if len(parts) < 2:
        yield (field,), "too-few-options", f"so few {field} are no task", "list two at least"
    if len(parts) > 26:
        yield (field,), "too-many-options", f"{len(parts)} are more than letters", "list 26 at most"
    first: dict[str, int] = {}
    for index, (part_id, _) in enumerate(parts):
        if part_id in first:
            message = f"{field} {first[part_id] + 1} and {index + 1} share the id {part_id}"
            yield (field, index, "id"), "duplicate-option-id", message, "give each its own"
        first.setdefault(part_id, index)


def _match_complaints(question: Matching) -> Iterator[Complaint]:
    yield from _parts_complaints("pairs", [(pair.id, pair.text) for pair in question.pairs])
    if len(question.options) > 26:
        message = f"{len(question.options)} choices are more than letters"
        yield ("extra",), "too-many-options", message, "offer 26 at most"
    if question.pairs and len(question.options) < 2:
        yield ("pairs",), "too-few-options", "all have the same match", "add extra: choices"
    ids = {pair.id for pair in question.pairs}
    matches = {pair.match for pair in question.pairs}
    for index, item in enumerate(question.extra):
        if item.id in ids:
            message = f"the id {item.id} stands twice"
            yield ("extra", index, "id"), "duplicate-option-id", message, "give each its own"
        if item.text in matches:
            message = f"{item.text!r} is the match of a pair"
            yield ("extra", index, "text"), "bad-value", message, "remove it, or say something else"
        ids.add(item.id)


def _number_complaints(question: Numeric) -> Iterator[Complaint]:
    from decimal import Decimal

    low, high = question.key.min, question.key.max
    if low is None and high is None:
        yield ("key",), "no-key", "the key has no bound", "write a number, or {min: …, max: …}"
    elif low is not None and high is not None and Decimal(low) > Decimal(high):
        yield ("key",), "bad-value", f"min {low} is above max {high}", "swap the two"
    if question.significant_digits is not None:
        where: Where = ("significant_digits",)
        if question.tolerance is not None:
            yield where, "bad-value", "stands beside a tolerance", "leave one of the two"
        if low is None or low != high:
            yield where, "bad-value", "a range has no digits to round to", "write one number as the key"
        if question.significant_digits > 30:
            yield where, "bad-value", "no one types so many digits", "write 30 at most"
    own = unit_form(question.unit)
    if question.unit and (not own or _NUMBER_LIKE.match(own)):
        yield ("unit",), "bad-value", f"{question.unit!r} can't be typed as a unit", "write one such as GiB"
    first: dict[str, str] = {}
    for unit, factor in question.units.items():
        if Decimal(factor) <= 0:
            hint = f"write how much of {question.unit or 'the unit'} one {unit} is"
            yield ("units", unit), "bad-value", f"{factor} is no factor", hint
        form = unit_form(unit)
        if form == own:
            hint = "list other units only"
            yield ("units", unit), "bad-value", f"{unit} is the question's own unit", hint
        elif form in first:
            message = f"{unit} is compared as the same unit as {first[form]}"
            yield ("units", unit), "bad-value", message, "remove one"
        first.setdefault(form, unit)
        if not form or unit != unit.strip() or _NUMBER_LIKE.match(form):
            yield ("units", unit), "bad-value", f"{unit!r} can't be typed as a unit", "write one such as GiB"


def _reading_complaints(question: Reading) -> Iterator[Complaint]:
    devices, span, strip = question.key.devices, question.key.span, question.strip
    if bool(devices) == bool(span):
        message = "both devices and a span are keys" if span else "nothing is to be picked"
        hint = "write {devices: [3]} or {span: {start_s: 2, end_s: 3.5}}"
        yield ("key",), "no-key", message, hint
    if len(set(devices)) < len(devices):
        yield ("key", "devices"), "bad-value", "a device is listed twice", "list each once"
    if strip is not None:
        for index, device in enumerate(devices):
            if device >= strip.devices:
                message = f"there is no device {device} in the recording"
                hint = f"its devices are 0 to {strip.devices - 1}"
                yield ("key", "devices", index), "bad-value", message, hint
    if span is not None:
        if not 0 <= span.start_s < span.end_s:
            message = f"{span.start_s:g} to {span.end_s:g} is no stretch of time"
            yield ("key", "span"), "bad-value", message, "write the earlier one as start_s"
        elif strip is not None and span.end_s > strip.duration_s + 1e-6:
            message = f"the recording ends at {strip.duration_s:g} s"
            yield ("key", "span", "end_s"), "bad-value", message, "write a stretch inside it"
    if not 0 < question.overlap <= 1:
        yield ("overlap",), "bad-value", "every response would be right", "write such as 70%"


def _text_complaints(question: ShortText) -> Iterator[Complaint]:
    if not question.key:
        yield ("key",), "no-key", "no form is right", "list one at least"
    if not question.pattern:
        return
    from quizapp.bank.pattern import compile_pattern

    try:
        compile_pattern(question.pattern, fold_case=question.case == "fold")
    except ValueError as error:
        message, _, hint = str(error).partition("; ")
        hint = hint or "write it in the syntax of RE2, and in single quotes, so that YAML keeps backslashes"
        yield ("pattern",), "bad-pattern", message, hint


def option_complaints(
    options: Sequence[tuple[str, bool, str | None]], *, single: bool
) -> Iterator[Complaint]:
    """Errors in a question's options, given as (id, correct, pin)."""
    if len(options) < 2:
        yield ("options",), "too-few-options", "one option is no choice", "offer two at least"
    if len(options) > 26:
        yield (
            ("options",),
            "too-many-options",
            f"{len(options)} options are more than letters",
            "offer 26 at most",
        )
    first: dict[str, int] = {}
    for index, (option_id, _, _) in enumerate(options):
        if option_id in first:
            message = f"options {first[option_id] + 1} and {index + 1} share the id {option_id}"
            yield ("options", index, "id"), "duplicate-option-id", message, "give each its own"
        first.setdefault(option_id, index)
    keys = [option_id for option_id, correct, _ in options if correct]
    if len(keys) > 1 and single:
        message = f"{len(keys)} options are keys: {', '.join(keys)}"
        yield ("options",), "too-many-keys", message, "leave one, or make it kind: multiple-choice"
    for end in ("first", "last"):
        pinned = [option_id for option_id, _, pin in options if pin == end]
        if len(pinned) > 1:
            message = f"{' and '.join(pinned)} are both pinned {end}"
            yield ("options",), "pins-collide", message, "pin one of them"


def symptom_complaints(symptom: Symptom) -> Iterator[Complaint]:
    """Errors in a symptom, with their places inside the question."""
    if not symptom.where:
        yield (
            ("symptom", "where"),
            "no-predicate",
            "no predicate stands here",
            "write one at least, or no symptom",
        )
    for index, predicate in enumerate(symptom.where):
        for field, message, hint in _predicate(predicate, symptom.devices):
            yield ("symptom", "where", index, *field), "bad-predicate", message, hint


def _predicate(predicate: Predicate, devices: int) -> Iterator[tuple[Where, str, str]]:
    readings = [name for name in (*PER_DEVICE, "value") if getattr(predicate, name) is not None]
    if predicate.event is not None:
        if predicate.meter is not None:
            yield ("meter",), "an event stands beside a meter", "make them two predicates"
        for name in readings:
            yield (
                (name,),
                f"{name} stands beside an event",
                "an event happens or not; write present: true or false",
            )
        if predicate.devices is not None:
            yield (
                ("devices",),
                "devices stands beside an event",
                "an event is the whole job's; remove devices",
            )
        return
    if predicate.meter is None:
        yield (), "neither a meter nor an event is named", "add meter: util, or event: out-of-memory"
        return
    if not predicate.present:
        yield ("present",), "present belongs to an event", "bound a reading instead, such as mean: {max: 0.5}"
    if not readings:
        wanted = "value: 1" if predicate.meter in OF_THE_JOB else "mean: {min: 0.95}"
        yield (), f"no reading of {predicate.meter} is bounded", f"add one, such as {wanted}"
    for name in readings:
        if predicate.meter in OF_THE_JOB and name != "value":
            yield (
                (name,),
                f"{predicate.meter} is one reading of the whole job",
                f"write value in place of {name}",
            )
        elif predicate.meter not in OF_THE_JOB and name == "value":
            known = ", ".join(PER_DEVICE)
            yield (
                (name,),
                f"{predicate.meter} is read window by window",
                f"write one of {known} in place of value",
            )
        bounds = getattr(predicate, name)
        if bounds.min is None and bounds.max is None:
            yield (name,), "has no bound", "write {min: …}, {max: …} or both"
        elif bounds.min is not None and bounds.max is not None and bounds.min > bounds.max:
            yield (name,), f"min {bounds.min:g} is above max {bounds.max:g}", "swap the two"
    if predicate.meter in OF_THE_JOB:
        if predicate.devices is not None:
            yield ("devices",), f"{predicate.meter} is a reading of the whole job", "remove devices"
    elif predicate.devices is None:
        yield (), "devices is missing", f"say how many must show it, such as devices: {devices}, or all"
    elif isinstance(predicate.devices, int) and predicate.devices > devices:
        message = f"{predicate.devices} devices are more than the symptom's {devices}"
        yield ("devices",), message, "raise the symptom's devices, or lower this"
