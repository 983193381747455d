"""pydantic's complaints, and places in a bank, in an author's words."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any

from quizapp.bank import model, spelling
from quizapp.bank.findings import Where
from quizapp.errors import nearest

# The part that stands under a field, and what an author calls one of them.
_PARTS: dict[str, tuple[type, str]] = {
    "take": (model.Take, "take"),
    "questions": (model._Question, "question"),
    "options": (model.Option, "option"),
    "demo": (model.DemoLink, "demo"),
    "symptom": (model.Symptom, "symptom"),
    "where": (model.Predicate, "predicate"),
    "explanation": (model.Explanation, "explanation"),
    "figure": (model.Figure, "figure"),
    "references": (model.Reference, "reference"),
    "scoring": (model.Scoring, "scoring"),
    "true": (model.Side, "true"),
    "false": (model.Side, "false"),
    "key": (model.Interval, "key"),
    "mistakes": (model.Mistake, "mistake"),
    "items": (model.Item, "item"),
    "pairs": (model.Pair, "pair"),
    "extra": (model.Item, "extra choice"),
    "span": (model.Span, "span"),
    "variables": (model.Variable, "variable"),
    "range": (model.Spread, "range"),
    "devices": (str, "device"),
    "shuffle": (str, "shuffle"),
    "sections": (model.Section, "section"),
} | dict.fromkeys(("mean", "minimum", "maximum", "longest_zero_s", "value"), (model.Range, "range"))


def place_words(where: Where, question_id: str = "", option_ids: Sequence[str] = ()) -> str:
    """`where` as an author reads it: `question six-of-eight-idle, option oom, demo`."""
    words: list[str] = []
    previous = ""
    for step in where:
        if isinstance(step, str):
            # The builder's name for a key that it has reported.
            words += [step] if not step.startswith("\0") else []
        else:
            noun = _PARTS[previous][1] if previous in _PARTS else previous
            known = [question_id] if previous == "questions" and question_id else []
            if previous == "options" and step < len(option_ids):
                known = [option_ids[step]]
            words[-1:] = [f"{noun} {known[0] if known and known[0] else step + 1}"]
        previous = step if isinstance(step, str) else ""
    return ", ".join(words)


def in_words(error: Mapping[str, Any], kind: str | None) -> tuple[Where, bool, str, str, str]:
    """Of one pydantic error: the place, whether its key is meant, and a code, a message and a hint.

    `kind` is the question's, or None for the bank's head.
    """
    where: Where = tuple(error["loc"])
    given, problem = error.get("input"), error["type"]
    if where[-1:] == ("[key]",):  # a mapping's key, in place of its value
        where, _, *words = in_words({**error, "loc": where[:-1]}, kind)
        return where, True, words[0], words[1], words[2]
    if problem == "value_error":
        message, _, hint = str(error["ctx"]["error"]).partition("; ")
        return where, False, "bad-value", message, hint
    if problem == "string_pattern_mismatch":
        return where, False, "bad-value", *_mismatch(str(given), str(error["ctx"]["pattern"]))
    if problem == "missing":
        part = _part(where[:-1], kind)
        return where[:-1], False, "missing-field", f"{where[-1]} is missing", _hint_for(part, str(where[-1]))
    if problem == "unexpected_keyword_argument":
        return where, True, "unknown-field", *_unknown(str(where[-1]), _part(where[:-1], kind), where[:-1])
    if problem == "literal_error":
        known = re.findall(r"'([^']*)'", str(error["ctx"]["expected"]))
        message = f"{given!r} is none of {', '.join(known)}"
        return where, False, "bad-value", message, _did_you_mean(str(given), known) or "write one of them"
    wanted, hint = _WANTED.get(problem, (str(error["msg"]), "see the bank format"))
    if problem == "dataclass_type":
        hint = f"its fields are {', '.join(fields_of(_part(where, kind)))}"
    return where, False, "wrong-shape", f"must be {wanted}, not {_shape(given)}", hint


def _mismatch(given: str, pattern: str) -> tuple[str, str]:
    written = next(written for written in spelling.PATTERNED if written.pattern == pattern)
    try:
        written.read(given)
    except ValueError as error:
        message, _, hint = str(error).partition("; ")
        return message, hint
    return "is not as it must be", "see the bank format"


def fields_of(part: type) -> list[str]:
    """The names of a part's fields, as they are written in YAML."""
    if not dataclasses.is_dataclass(part):
        return []
    names = [str(field.metadata.get("alias", field.name)) for field in dataclasses.fields(part)]
    return [name for name in names if name not in ("strip", "drawn")]  # quizapp fills these


def _part(where: Where, kind: str | None) -> type:
    names = [step for step in where if isinstance(step, str)]
    if names:
        if names[-2:-1] == ["variables"]:
            return model.Variable
        if names[-1] == "key" and kind == "reading":
            return model.ReadingKey
        return _PARTS.get(names[-1], (str, ""))[0]
    return model.KINDS[kind] if kind else model.Bank


def _unknown(name: str, part: type, where: Where) -> tuple[str, str]:
    known = fields_of(part)
    names = [step for step in where if isinstance(step, str)]
    noun = (
        "variable"
        if part is model.Variable
        else _PARTS[names[-1]][1]
        if names and names[-1] in _PARTS
        else "question"
        if part is not model.Bank
        else "bank"
    )
    message = f"{name} is no field of {'an' if noun[0] in 'aeiou' else 'a'} {noun}"
    return message, _did_you_mean(name, known) or f"its fields are {', '.join(known)}"


def _did_you_mean(name: str, known: list[str]) -> str:
    match = nearest(name.lower().replace("-", "_"), known) or nearest(name.lower(), known)
    return f"did you mean {match}?" if match else ""


def _hint_for(part: type, name: str) -> str:
    if part is model.Option and name == "rationale":
        return "say why this option is right or wrong"
    if part is model.Figure and name == "alt":
        return "say what the picture shows, for those who can't see it"
    return f"add {name}: {spelling.FORMAT if name == 'format' else '…'}"


def _shape(given: object) -> str:
    return {"dict": "a mapping", "list": "a list", "tuple": "a list"}.get(type(given).__name__, "text")


_WANTED = {
    "string_type": ("text", "quote it if it holds brackets, braces or a colon"),
    "tuple_type": ("a list", "start each entry with a dash on a line of its own"),
    "dict_type": ("a mapping", "write key: value lines under it"),
    "dataclass_type": ("a mapping", ""),
}
