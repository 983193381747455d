"""How values are written in YAML: durations, shares, bounds, booleans, ids.

Each `Written` in a dataclass's annotation tells pydantic, when it is there, how to read the field and what
its JSON schema is; without pydantic it is inert.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

FORMAT = 1

_ID_PATTERN = "^[a-z0-9]{1,50}(-[a-z0-9]{1,50}){0,9}$"

# Exponents of three digits are more than any unit needs, and keep arithmetic small.
_DECIMAL_PATTERN = r"^[+-]?([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})([eE][+-]?[0-9]{1,2})?$"
_NAME_PATTERN = "^[a-z][a-z0-9_]{0,29}$"
_QUANTITY_PATTERN = rf"{_DECIMAL_PATTERN}|^\{{\{{var:[a-z][a-z0-9_]{{0,29}}\}}\}}$"
_TOLERANCE_PATTERN = r"^([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})([eE][+-]?[0-9]{1,2})? ?%?$"

_UNITS_S = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def parse_duration(text: str) -> float:
    """Seconds of `90s`, `30m`, `1h30m` or `1.5h`. Raises ValueError in words for an author."""
    rest, seconds = text.strip().lower().replace(" ", ""), 0.0
    if not rest:
        raise ValueError("is empty; write a duration such as 90s, 30m or 1h30m")
    while rest:
        digits = len(rest) - len(rest.lstrip("0123456789."))
        tail = rest[digits:]
        letters = len(tail) - len(tail.lstrip("abcdefghijklmnopqrstuvwxyz"))
        number, unit = rest[:digits], tail[:letters]
        if number and not tail:
            raise ValueError(f"{text!r} has no unit; write {number}s for seconds or {number}m for minutes")
        if unit not in _UNITS_S or number.count(".") > 1 or not number.strip("."):
            raise ValueError(f"{text!r} is no duration; write one such as 90s, 30m or 1h30m")
        seconds += float(number) * _UNITS_S[unit]
        rest = tail[letters:]
    if seconds <= 0:
        raise ValueError(f"{text!r} is no time at all; leave the field out where there is no limit")
    if seconds > 30 * 24 * 3600:
        raise ValueError(f"{text!r} is more than 30 days; write one such as 90s, 30m or 1h30m")
    return seconds


def parse_share(text: str) -> float:
    """0 to 1 out of `70%` or `0.7`. Raises ValueError in words for an author."""
    share = parse_number(text, words=f"{text!r} is no percentage; write 70% or 0.7")
    if not 0 <= share <= 1:
        meant = f"did you mean {share:g}%?" if 1 < share <= 100 and "%" not in text else "write 0% to 100%"
        raise ValueError(f"{text!r} is not between 0% and 100%; {meant}")
    return share


def parse_number(text: str, *, words: str = "") -> float:
    """A finite number, or a percentage (`95%` is 0.95). Raises ValueError in words for an author."""
    words = words or f"{text!r} is no number; write one such as 0.95, 95% or 2"
    stripped = text.strip()
    if stripped.endswith("%"):
        return _number(stripped[:-1].rstrip(), words) / 100
    return _number(stripped, words)


def parse_decimal(text: str) -> str:
    """A decimal number as it is written, kept exact. Raises ValueError in words for an author."""
    if re.fullmatch(_DECIMAL_PATTERN, text) is None:
        raise ValueError(f"{text!r} is no number; write one such as 21, 0.5 or 2.1e9")
    return text


def parse_quantity(text: str) -> str:
    """A decimal number, or a question's variable. Raises ValueError in words for an author."""
    if re.fullmatch(_QUANTITY_PATTERN, text) is None:
        variable = "; a variable is written {{var:its_name}}, alone" if "{" in text else ""
        raise ValueError(f"{text!r} is no number{variable or '; write one such as 21, 0.5 or 2.1e9'}")
    return text


def parse_name(text: str) -> str:
    """The name of a variable. Raises ValueError in words for an author."""
    if re.fullmatch(_NAME_PATTERN, text) is None:
        raise ValueError(
            f"{text!r} is no name; use small letters, digits and underscores, such as params_b, 30 at most"
        )
    return text


def parse_tolerance(text: str) -> str:
    """A tolerance as it is written: `0.5`, or `5%` of the key. Raises ValueError in words for an author."""
    if re.fullmatch(_TOLERANCE_PATTERN, text) is None:
        raise ValueError(f"{text!r} is no tolerance; write one such as 0.5, or 5% of the key")
    return text


def parse_flag(text: str) -> bool:
    """`true` or `false`, and nothing else: YAML 1.1's yes, on, y and 1 read differently from tool to tool."""
    if text == "true":
        return True
    if text == "false":
        return False
    raise ValueError(f"{text!r} is neither true nor false; write one of these two")


def parse_count(text: str) -> int:
    """A whole number from 1. Raises ValueError in words for an author."""
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10 and int(digits) > 0):
        raise ValueError(f"{text!r} is no whole number from 1; write one such as 2")
    return int(digits)


def parse_device(text: str) -> int:
    """The number of a device, from 0. Raises ValueError in words for an author."""
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit() and len(digits) < 5):
        raise ValueError(f"{text!r} is no number of a device; write one such as 0, the first one's")
    return int(digits)


def parse_devices(text: str) -> int | str:
    """A whole number from 1, or `all`. Raises ValueError in words for an author."""
    if text.strip() == "all":
        return "all"
    try:
        return parse_count(text)
    except ValueError:
        raise ValueError(f"{text!r} is no number of devices; write one such as 2, or all") from None


def parse_format(text: str) -> int:
    """The version of the bank format that this quizapp reads. Raises ValueError for any other."""
    if text == str(FORMAT):
        return FORMAT
    raise ValueError(
        f"{text!r} is no format that this quizapp reads; write format: {FORMAT}, or update quizapp"
    )


def parse_id(text: str) -> str:
    """An id in kebab-case. Raises ValueError with one that would do."""
    if is_id(text):
        return text
    slug = make_id(text)
    raise ValueError(
        f"{text!r} is no id; use small letters, digits and hyphens" + (f", such as {slug}" if slug else "")
    )


def is_id(text: str) -> bool:
    """Whether `text` is kebab-case: small ASCII letters and digits, single hyphens between."""
    return re.fullmatch(_ID_PATTERN, text) is not None


def make_id(text: str) -> str:
    """The id most like `text`, or "" when nothing of it can stay."""
    kept = "".join(c if c.isascii() and c.isalnum() else "-" for c in text.lower())
    return "-".join([part[:50] for part in kept.split("-") if part][:10])


def parse_text(text: str) -> str:
    """Any text that isn't blank. Raises ValueError otherwise."""
    if not text or text.isspace():
        raise ValueError("is empty; write the text, or leave the field out where it is optional")
    return text


def parse_url(text: str) -> str:
    """A web address. Raises ValueError in words for an author."""
    scheme, found, rest = text.partition("://")
    if not found or scheme.lower() not in ("http", "https") or not rest or any(c.isspace() for c in text):
        raise ValueError(f"{text!r} is no web address; write one that starts with https://")
    return text


def parse_figure_path(text: str) -> str:
    """A path that stays inside the bank's folder. Raises ValueError in words for an author."""
    parse_text(text)
    if text.startswith(("/", "~")) or "\\" in text or ":" in text or ".." in text.split("/"):
        raise ValueError(f"{text!r} leaves the bank's folder; write a path inside it, such as figures/x.svg")
    return text


def _number(text: str, otherwise: str) -> float:
    if not text or not text.isascii() or text.strip("0123456789.+-eE") or text.strip() != text:
        raise ValueError(otherwise)
    try:
        number = float(text)
    except ValueError:
        raise ValueError(otherwise) from None
    if abs(number) > 1e300:
        raise ValueError(otherwise)
    return number


class Written:
    """A field's spelling: `read` turns the scalar into the value, `json_schema` tells editors of it.

    With a `pattern` the text stays as it is, and `read` is only asked for the words when the pattern fails.
    """

    __slots__ = ("json_schema", "pattern", "read")

    def __init__(
        self, read: Callable[[str], object], json_schema: dict[str, Any], *, pattern: str | None = None
    ) -> None:
        self.read = read
        self.json_schema = json_schema if pattern is None else {**json_schema, "pattern": pattern}
        self.pattern = pattern

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        if self.pattern is not None or self.read is str:
            return core_schema.str_schema(pattern=self.pattern)
        # A string first, so that a mapping in a scalar's place is named as such.
        return core_schema.no_info_after_validator_function(self.read, core_schema.str_schema())

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return dict(self.json_schema)


class ShortBounds:
    """`value: 1` as short for `value: {min: 1, max: 1}`; `number` is how a bound is written."""

    __slots__ = ("number",)

    def __init__(self, number: Written) -> None:
        self.number = number

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_before_validator_function(
            lambda given: {"min": given, "max": given} if isinstance(given, str) else given, handler(source)
        )

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {"anyOf": [handler(schema), dict(self.number.json_schema)]}


class NotWritten:
    """A field that quizapp fills: an error in a bank's file."""

    __slots__ = ()

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        def refuse(given: object) -> object:
            raise ValueError("is filled by quizapp; remove it")

        return core_schema.no_info_plain_validator_function(refuse)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {"not": {}}


class ByKind:
    """Tells questions apart by their `kind`."""

    __slots__ = ()

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic import Discriminator

        return Discriminator("kind").__get_pydantic_core_schema__(source, handler)


# A scalar is a string until its field says otherwise, but an editor reads `text: 8` as a number.
_SCALAR = ["string", "number", "boolean"]
TEXT = Written(parse_text, {"type": _SCALAR}, pattern=r"\S")
ANY_TEXT = Written(str, {"type": _SCALAR})
ID = Written(parse_id, {"type": ["string", "integer"]}, pattern=_ID_PATTERN)
DECIMAL = Written(parse_decimal, {"type": ["string", "number"]}, pattern=_DECIMAL_PATTERN)
QUANTITY = Written(parse_quantity, {"type": ["string", "number"]}, pattern=_QUANTITY_PATTERN)
NAME = Written(parse_name, {"type": "string"}, pattern=_NAME_PATTERN)
TOLERANCE = Written(parse_tolerance, {"type": ["string", "number"]}, pattern=_TOLERANCE_PATTERN)
FLAG = Written(parse_flag, {"type": "boolean"})
COUNT = Written(parse_count, {"type": "integer", "minimum": 1})
DEVICE = Written(parse_device, {"type": "integer", "minimum": 0})
DEVICES = Written(parse_devices, {"anyOf": [{"type": "integer", "minimum": 1}, {"const": "all"}]})
NUMBER = Written(
    parse_number, {"anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^[-+]?[0-9.]+ ?%$"}]}
)
SHARE = Written(
    parse_share,
    {
        "anyOf": [
            {"type": "number", "minimum": 0, "maximum": 1},
            {"type": "string", "pattern": r"^[0-9.]+ ?%$"},
        ]
    },
)
DURATION = Written(
    parse_duration, {"type": "string", "pattern": r"^([0-9.]+ ?(s|m|min|h) ?)+$", "examples": ["90s", "30m"]}
)
URL = Written(parse_url, {"type": "string", "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://"})
FIGURE_PATH = Written(parse_figure_path, {"type": "string", "pattern": r"\S"})
THIS_FORMAT = Written(parse_format, {"const": FORMAT})
PATTERNED = (TEXT, ID, NAME, DECIMAL, QUANTITY, TOLERANCE)
BOUNDS = ShortBounds(NUMBER)
INTERVAL = ShortBounds(QUANTITY)
NOT_WRITTEN = NotWritten()
BY_KIND = ByKind()
