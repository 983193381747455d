"""Numeric responses: read as typed, in decimal, whatever the locale; and whether they are right."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING, NamedTuple

from quizapp.bank.units import MINUS, UNSEEN, unit_form

if TYPE_CHECKING:
    from quizapp.bank.model import Numeric

LONGEST = 100
"""Characters of a response."""
_NUMBER = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?0*[0-9]{1,2}(?![0-9]))?)(.*)", re.DOTALL)
# What can't begin a unit (see bank/consistency.py): a second group of digits, or too long an exponent.
_GROUP = re.compile(r"[,.'’_0-9]")
_EXPONENT = re.compile(r"[eE][+-]?[0-9]")
# Wide enough that no sum or product of what can be written is rounded: 60 digits and exponents of two digits.
_EXACT = Context(prec=400, rounding=ROUND_HALF_EVEN)
_HALVES = (ROUND_HALF_EVEN, ROUND_HALF_UP)


class Bounds(NamedTuple):
    """The numbers that are right, both ends included, in the question's unit; None: open."""

    low: Decimal | None
    high: Decimal | None


def read_number(question: Numeric, text: str) -> Decimal:
    """The number in the question's unit. Raises ValueError, in words for a learner, for what is no number."""
    if len(text) > LONGEST:
        raise ValueError(f"a number of more than {LONGEST} characters can't be meant")
    tidy = " ".join(text.translate(UNSEEN | MINUS).split())
    found = _NUMBER.fullmatch(tidy)
    if found is None:
        raise ValueError(f"{_quoted(tidy)} is no number; write one such as 21, 0.5 or 2.1e9")
    number, unit = found[1], found[2].strip()
    if _EXPONENT.match(unit):
        raise ValueError(f"{_quoted(tidy)} has too long an exponent; two digits are the most, such as 2.1e9")
    if _GROUP.match(unit):
        raise ValueError("write the number without separators, and a point for decimals, such as 1234.5")
    form = unit_form(unit)
    if not unit or form == unit_form(question.unit):
        return Decimal(number)
    factor = {unit_form(name): factor for name, factor in question.units.items()}.get(form)
    if factor is None:
        known = [name for name in (question.unit, *question.units) if name]
        hint = f"write it in {' or '.join(known)}" if known else "write the number alone"
        raise ValueError(f"{_quoted(unit)} is no unit of this question; {hint}")
    return _EXACT.multiply(Decimal(number), Decimal(factor))


def bounds(question: Numeric) -> Bounds:
    """The interval that is right: the key's, widened by the tolerance."""
    ends = [None if end is None else Decimal(end) for end in (question.key.min, question.key.max)]
    off = [_tolerance(question, end) if end is not None else Decimal(0) for end in ends]
    low = None if ends[0] is None else _EXACT.subtract(ends[0], off[0])
    high = None if ends[1] is None else _EXACT.add(ends[1], off[1])
    return Bounds(low, high)


def is_right(question: Numeric, value: Decimal) -> bool:
    """Whether a number in the question's unit is the key, within its tolerance or to its digits."""
    digits = question.significant_digits
    if digits is not None and question.key.min is not None:
        key = Decimal(question.key.min)
        # Schools round a half up, computers to the even neighbour: either is right.
        return any(_rounded(value, digits, half) == _rounded(key, digits, half) for half in _HALVES)
    low, high = bounds(question)
    return (low is None or low <= value) and (high is None or value <= high)


def key_in_words(question: Numeric) -> str:
    """The key as it is shown: `21 GB ± 5%`, `20 to 22 GB`."""
    low, high = question.key.min, question.key.max
    unit = f" {question.unit}" if question.unit else ""
    if low is not None and low == high:
        words = f"{low}{unit}"
        if question.significant_digits is not None:
            return f"{words}, to {question.significant_digits} significant digits"
        return f"{words} ± {question.tolerance}" if question.tolerance else words
    if low is None or high is None:
        return f"at most {high}{unit}" if low is None else f"at least {low}{unit}"
    return f"{low} to {high}{unit}"


def _rounded(value: Decimal, digits: int, half: str) -> Decimal:
    return Context(prec=digits, rounding=half).plus(value)


def _tolerance(question: Numeric, end: Decimal) -> Decimal:
    text = (question.tolerance or "0").strip()
    if text.endswith("%"):
        return _EXACT.multiply(abs(end), Decimal(text[:-1].strip()).scaleb(-2, _EXACT))
    return Decimal(text)


def _quoted(text: str) -> str:
    shown = text if len(text) <= 30 else text[:29] + "…"
    return f"{shown!r}" if shown else "nothing"
