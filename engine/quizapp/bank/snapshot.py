"""A question as JSON and back: what the cache holds, and what an attempt keeps of what it showed.

Fields at their default are left out, so that a field added to the model later changes no hash.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields
from typing import TYPE_CHECKING, Any

from quizapp.bank.model import (
    KINDS,
    DemoLink,
    Explanation,
    Figure,
    Interval,
    Item,
    Mistake,
    Option,
    Pair,
    Predicate,
    Question,
    Range,
    ReadingKey,
    Reference,
    Scoring,
    Section,
    Side,
    Span,
    Spread,
    Symptom,
    Take,
    Variable,
)
from quizapp.bank.strip import strip_from_plain

if TYPE_CHECKING:
    from quizapp.bank.findings import Where

PLACEHOLDER = re.compile(r"\{\{var:([a-z][a-z0-9_]{0,29})\}\}")
_RANGES = ("mean", "minimum", "maximum", "longest_zero_s", "value")
_defaults: dict[type, list[tuple[str, Any]]] = {}


def question_to_json(question: Question) -> str:
    """The question as one line of JSON, the same for the same content."""
    return _line(_plain(question))


def question_from_json(text: str) -> Question:
    """The question that `question_to_json` wrote."""
    data = json.loads(text)
    if "options" in data:
        data["options"] = tuple(_option(option) for option in data["options"])
    for side in ("true", "false"):
        if side in data:
            data[side] = _side(data[side])
    for name, part in (("items", Item), ("pairs", Pair), ("extra", Item)):
        if name in data:
            data[name] = tuple(part(**item) for item in data[name])
    if data["kind"] == "reading":
        data["key"] = _picked(data["key"])
        if "strip" in data:
            data["strip"] = strip_from_plain(data["strip"])
    elif isinstance(data.get("key"), dict):
        data["key"] = Interval(**data["key"])
    elif "key" in data:
        data["key"] = tuple(data["key"])
    if "mistakes" in data:
        data["mistakes"] = tuple(Mistake(**mistake) for mistake in data["mistakes"])
    if "scoring" in data:
        data["scoring"] = Scoring(**data["scoring"])
    if "variables" in data:
        data["variables"] = {name: _variable(each) for name, each in data["variables"].items()}
    data["explanation"] = _explanation(data["explanation"])
    if "symptom" in data:
        data["symptom"] = _symptom(data["symptom"])
    if "references" in data:
        data["references"] = tuple(Reference(**reference) for reference in data["references"])
    return KINDS[data["kind"]](**data)


def as_asked(question_json: str, text_of: Mapping[str, str], drawn: Mapping[str, str]) -> str:
    """The JSON of a question with variables as one without: each `{{var:name}}` is what `text_of` says.

    `drawn` is kept with it. A name that `text_of` hasn't got stays as it is.
    """
    # What is put in is a number, so JSON needs no escapes for it.
    filled = PLACEHOLDER.sub(lambda found: text_of.get(found[1], found[0]), question_json)
    data = json.loads(filled)
    del data["variables"]
    return _line({**data, "drawn": dict(drawn)})


def has_variables(question_json: str) -> bool:
    """Whether this is a question that differs from attempt to attempt."""
    # Inside a JSON string a backslash would stand before the quotes; no other mapping's values are mappings.
    return '"variables":{' in question_json


def texts_of(question: Question) -> Iterator[tuple[Where, str]]:
    """All texts of a question, each with its place."""
    return _texts(_plain(question), ())


def content_hash(question_json: str) -> str:
    """What proves that a question is the one that was shown: sha256 of its JSON, in hex."""
    import hashlib

    return hashlib.sha256(question_json.encode("utf-8", "surrogatepass")).hexdigest()


def take_to_plain(take: Take) -> dict[str, Any]:
    """`take` for JSON."""
    plain: dict[str, Any] = _plain(take)
    return plain


def take_from_plain(data: dict[str, Any]) -> Take:
    """What `take_to_plain` made, after JSON."""
    sections = tuple(
        Section(**{**section, "objectives": tuple(section.get("objectives", ()))})
        for section in data.get("sections", ())
    )
    return Take(**{**data, "shuffle": tuple(data.get("shuffle", ())), "sections": sections})


def _line(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _texts(value: Any, where: Where) -> Iterator[tuple[Where, str]]:
    if isinstance(value, str):
        yield where, value
        return
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in steps:
        yield from _texts(part, (*where, step))


def _plain(value: Any) -> Any:
    kind = value.__class__
    if kind is str or kind is bool or kind is int or kind is float or value is None:
        return value
    if kind is tuple:
        return [_plain(item) for item in value]
    if kind is dict:
        return {name: _plain(item) for name, item in value.items()}
    plain = {}
    for name, default in _defaults.get(kind) or _learn(kind):
        item = getattr(value, name)
        if item is not default and item != default:
            plain[name] = _plain(item)
    return plain


def _learn(kind: type) -> list[tuple[str, Any]]:
    _defaults[kind] = [(field.name, _default(field)) for field in fields(kind)]
    return _defaults[kind]


def _default(field: Field[Any]) -> Any:
    return field.default_factory() if field.default_factory is not MISSING else field.default


def _option(data: dict[str, Any]) -> Option:
    if "demo" in data:
        data["demo"] = DemoLink(**data["demo"])
    return Option(**data)


def _side(data: dict[str, Any]) -> Side:
    if "demo" in data:
        data["demo"] = DemoLink(**data["demo"])
    return Side(**data)


def _explanation(data: dict[str, Any]) -> Explanation:
    if "figure" in data:
        data["figure"] = Figure(**data["figure"])
    return Explanation(**data)


def _symptom(data: dict[str, Any]) -> Symptom:
    data["where"] = tuple(_predicate(predicate) for predicate in data["where"])
    return Symptom(**data)


def _variable(data: dict[str, Any]) -> Variable:
    if "range" in data:
        data["range"] = Spread(**data["range"])
    return Variable(**{**data, "values": tuple(data.get("values", ()))})


def _picked(data: dict[str, Any]) -> ReadingKey:
    if "span" in data:
        data["span"] = Span(**data["span"])
    return ReadingKey(**{**data, "devices": tuple(data.get("devices", ()))})


def _predicate(data: dict[str, Any]) -> Predicate:
    for name in _RANGES:
        if name in data:
            data[name] = Range(**data[name])
    return Predicate(**data)
