"""The typed parameters that a demo declares, and how a text becomes one of their values."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from quizapp.errors import QuizappError, nearest

Value = bool | int | float | str
ParamType = Literal["int", "float", "choice", "bool"]
PARAM_TYPES: tuple[str, ...] = get_args(ParamType)

_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_SHOWN = 60


class ParamError(QuizappError):
    """A parameter that the demo doesn't have, or a value that it doesn't allow."""


def param_text(value: Value) -> str:
    """A value as it is written on a command line or in a bank."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class ParamDeclaration:
    """One parameter of a demo: its type, unit and allowed values, and what each variant sets it to."""

    name: str
    type: ParamType
    default: Value
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    unit: str = ""
    help: str = ""
    by_variant: Mapping[str, Value] = field(default_factory=dict)

    def value(self, variant: str) -> Value:
        """What `variant` sets this parameter to."""
        return self.by_variant.get(variant, self.default)

    def allowed(self) -> str:
        """The allowed values in words: `a whole number from 1 to 64 (ms)`."""
        if self.type == "choice":
            return "one of " + ", ".join(self.choices)
        if self.type == "bool":
            return "true or false"
        words = "a whole number" if self.type == "int" else "a number"
        if self.low is not None and self.high is not None:
            words += f" from {self.low:g} to {self.high:g}"
        elif self.low is not None:
            words += f", {self.low:g} or more"
        elif self.high is not None:
            words += f", {self.high:g} or less"
        return f"{words} ({self.unit})" if self.unit else words

    def parse(self, text: str) -> Value:
        """The typed value that `text` stands for; raises ParamError with what is allowed."""
        if self.type == "choice":
            if text in self.choices:
                return text
            near = nearest(text, list(self.choices))
            raise self._refused(text, f"did you mean {near!r}? " if near else "")
        if self.type == "bool":
            lowered = text.strip().lower()
            if lowered in _TRUE or lowered in _FALSE:
                return lowered in _TRUE
            raise self._refused(text)
        number: int | float
        if self.type == "int":
            if not _INTEGER.fullmatch(text.strip()):
                raise self._refused(text)
            number = int(text)
        else:
            try:
                number = float(text) if "_" not in text else math.nan
            except ValueError:
                number = math.nan
            if not math.isfinite(number):
                raise self._refused(text)
        if not self.holds(number):
            raise self._refused(text)
        return number

    def holds(self, value: Value) -> bool:
        """Whether a typed value is one that this parameter allows."""
        if self.type == "choice":
            return value in self.choices
        if self.type == "bool":
            return isinstance(value, bool)
        if isinstance(value, bool) or not isinstance(value, int if self.type == "int" else (int, float)):
            return False
        above = self.low is None or value >= self.low
        return above and (self.high is None or value <= self.high)

    def _refused(self, text: str, first: str = "") -> ParamError:
        shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
        return ParamError(f"{self.name}: {shown!r} is not allowed", hint=f"{first}allowed: {self.allowed()}")


class DeclarationError(ValueError):
    """A DEMO literal that can't be read; the text says which key and what is wrong with it."""


_KEYS = ("type", "range", "choices", "unit", "default", "help")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def read_param(name: str, raw: object, variants: tuple[str, ...]) -> ParamDeclaration:
    """The declaration of one parameter out of a DEMO literal; raises DeclarationError."""
    where = f"params: {name}"
    if not _NAME.fullmatch(name):
        raise DeclarationError(f"{where}: a parameter's name is kebab-case, such as decode-ms")
    if not isinstance(raw, dict):
        raise DeclarationError(f"{where}: must be a dict")
    known = _KEYS + variants
    for key in raw:
        if key not in known:
            near = nearest(str(key), list(known))
            raise DeclarationError(
                f"{where}: unknown key {key!r}" + (f"; did you mean {near!r}?" if near else "")
            )
    kind = raw.get("type")
    if kind not in PARAM_TYPES:
        raise DeclarationError(f"{where}: type must be one of {', '.join(PARAM_TYPES)}")
    low, high = _bounds(where, kind, raw)
    choices = _choices(where, kind, raw)
    if "default" not in raw:
        raise DeclarationError(f"{where}: default is missing")
    by_variant = {variant: raw[variant] for variant in variants if variant in raw}
    declaration = ParamDeclaration(
        name=name,
        type=kind,
        default=raw["default"],
        low=low,
        high=high,
        choices=choices,
        unit=_words(where, "unit", raw),
        help=_words(where, "help", raw),
        by_variant=by_variant,
    )
    for key, value in {"default": declaration.default, **by_variant}.items():
        if not declaration.holds(value):
            raise DeclarationError(f"{where}: {key}: {value!r} is not {declaration.allowed()}")
    return declaration


def _bounds(where: str, kind: str, raw: dict[str, object]) -> tuple[float | None, float | None]:
    bounds = raw.get("range")
    if bounds is None:
        return None, None
    if kind not in ("int", "float"):
        raise DeclarationError(f"{where}: range is for int and float")
    if (
        not isinstance(bounds, (list, tuple))
        or len(bounds) != 2
        or not all(
            isinstance(b, (int, float)) and not isinstance(b, bool) and math.isfinite(b) for b in bounds
        )
        or bounds[0] > bounds[1]
    ):
        raise DeclarationError(f"{where}: range must be [lowest, highest]")
    return bounds[0], bounds[1]


def _choices(where: str, kind: str, raw: dict[str, object]) -> tuple[str, ...]:
    choices = raw.get("choices")
    if kind != "choice":
        if choices is not None:
            raise DeclarationError(f"{where}: choices are for type choice")
        return ()
    if (
        not isinstance(choices, (list, tuple))
        or not choices
        or not all(isinstance(c, str) for c in choices)
        or len(set(choices)) != len(choices)
    ):
        raise DeclarationError(f"{where}: choices must be a list of different strings")
    return tuple(choices)


def _words(where: str, key: str, raw: dict[str, object]) -> str:
    value = raw.get(key, "")
    if not isinstance(value, str):
        raise DeclarationError(f"{where}: {key} must be a string")
    return value
