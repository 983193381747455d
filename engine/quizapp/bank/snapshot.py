"""A question as JSON and back: what the cache holds, and what an attempt keeps of what it showed.

Fields at their default are left out, so that a field added to the model later changes no hash.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, Field, fields
from typing import Any

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
    Symptom,
    Take,
)
from quizapp.bank.strip import strip_from_plain

_RANGES = ("mean", "minimum", "maximum", "longest_zero_s", "value")
_defaults: dict[type, list[tuple[str, Any]]] = {}


def question_to_json(question: Question) -> str:
    """The question as one line of JSON, the same for the same content."""
    return json.dumps(_plain(question), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


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
    data["explanation"] = _explanation(data["explanation"])
    if "symptom" in data:
        data["symptom"] = _symptom(data["symptom"])
    if "references" in data:
        data["references"] = tuple(Reference(**reference) for reference in data["references"])
    return KINDS[data["kind"]](**data)


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


def _plain(value: Any) -> Any:
    kind = value.__class__
    if kind is str or kind is bool or kind is int or kind is float or value is None:
        return value
    if kind is tuple:
        return [_plain(item) for item in value]
    if kind is dict:
        return value
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


def _picked(data: dict[str, Any]) -> ReadingKey:
    if "span" in data:
        data["span"] = Span(**data["span"])
    return ReadingKey(**{**data, "devices": tuple(data.get("devices", ()))})


def _predicate(data: dict[str, Any]) -> Predicate:
    for name in _RANGES:
        if name in data:
            data[name] = Range(**data[name])
    return Predicate(**data)
