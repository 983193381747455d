"""Numeric responses: what is typed, and what is right."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizapp.assess.number import bounds, is_right, key_in_words, read_number
from quizapp.assess.response import Response
from quizapp.assess.scoring import Verdict, problem, score
from quizapp.bank.model import Explanation, Interval, Numeric

UNITS = {"GiB": "1.073741824", "MB": "0.001", "µs": "1e-6"}


def asks(key: str | tuple[str | None, str | None], **fields: Any) -> Numeric:
    low, high = key if isinstance(key, tuple) else (key, key)
    return Numeric(
        id="n",
        kind="numeric",
        stem="How many?",
        key=Interval(min=low, max=high),
        rationale="So many",
        explanation=Explanation(short="Some"),
        **fields,
    )


@pytest.mark.parametrize(
    "text",
    [
        "21",
        "21.0",
        "2.1e1",
        "+21",
        " 21 ",
        "021",
        "21.",
        "2.1E+1",
        "210e-1",
        "2.1e01",
        "\ufeff21\u200b",
        "\u200e21",
    ],
)
def test_equal_numbers_are_equal_however_they_are_typed(text: str) -> None:
    question = asks("21")
    assert is_right(question, read_number(question, text))


@pytest.mark.parametrize("text", ["-5", "−5", "－5"])
def test_every_minus_sign_is_one(text: str) -> None:
    assert read_number(asks("0"), text) == -5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1,5", "without separators, and a point"),
        ("1_000", "without separators"),
        ("1'000", "without separators"),
        ("abc", "'abc' is no number"),
        ("nan", "is no number"),
        ("inf", "is no number"),
        ("-", "is no number"),
        ("٣", "is no number"),
        ("0x10", "'x10' is no unit"),
        ("21 GiBi", "'GiBi' is no unit of this question; write it in GB or GiB"),
        ("1/3", "'/3' is no unit"),
        ("1e999", "'1e999' has too long an exponent"),
        ("1e-100", "too long an exponent"),
        ("1e99999999", "too long an exponent"),
        ("1 000", "without separators"),
        ("1\u202f000", "without separators"),
        ("1.000.000", "without separators"),
        ("1’000", "without separators"),
        ("２１", "is no number"),
        ("1" * 101, "more than 100 characters"),
    ],
)
def test_what_is_no_number_here_is_said_and_is_no_wrong_response(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        read_number(asks("1", unit="GB", units=UNITS), text)


def test_units_may_be_typed_or_left_out() -> None:
    question = asks("2", unit="GB", units=UNITS)
    assert [read_number(question, text) for text in ("2", "2 GB", "2GB", "2000 MB")] == [2, 2, 2, 2]
    assert read_number(question, "1 GiB") == Decimal("1.073741824")


def test_a_unit_is_one_whatever_keyboard_it_comes_from_and_case_tells_bits_from_bytes() -> None:
    question = asks("2", unit="\u00b5s", units={"k\u2126": "3"})
    assert [read_number(question, text) for text in ("2 \u00b5s", "2\u03bcs", "1 k\u03a9")] == [2, 2, 3]
    with pytest.raises(ValueError, match="'Gb' is no unit"):
        read_number(asks("2", unit="GB"), "16 Gb")


@pytest.mark.parametrize(
    ("key", "fields", "right", "wrong"),
    [
        ("0.3", {"tolerance": "0.1"}, ["0.2", "0.4", "0.40000"], ["0.1999999999", "0.4000000001"]),
        ("-200", {"tolerance": "5%"}, ["-190", "-210"], ["-189.99", "-210.01"]),
        ("0", {"tolerance": "10 %"}, ["0", "-0"], ["0.0001"]),
        ("1.75", {"significant_digits": 2}, ["1.8", "1.75", "1.8499"], ["1.7", "1.86", "18"]),
        ("2.5", {"significant_digits": 1}, ["2", "3", "2.5"], ["1", "4"]),
        ("-0.0125", {"significant_digits": 2}, ["-0.012", "-0.013"], ["-0.011", "0.012", "-0.014"]),
        ("99.6", {"significant_digits": 2}, ["100", "99.9"], ["99", "106"]),
        (("1024", None), {}, ["1024", "1e20"], ["1023.9"]),
        ((None, "0"), {}, ["0", "-1"], ["0.1"]),
        (("3", "5"), {"tolerance": "1"}, ["2", "6"], ["1.9", "6.1"]),
    ],
)
def test_ends_are_right_and_what_lies_beyond_is_not(
    key: str, fields: dict[str, Any], right: list[str], wrong: list[str]
) -> None:
    question = asks(key, **fields)
    assert [text for text in right if not is_right(question, read_number(question, text))] == []
    assert [text for text in wrong if is_right(question, read_number(question, text))] == []


def test_the_key_is_told_as_its_author_wrote_it() -> None:
    assert key_in_words(asks("112", unit="GB", tolerance="2%")) == "112 GB ± 2%"
    assert key_in_words(asks("1.750", significant_digits=2)) == "1.750, to 2 significant digits"
    assert key_in_words(asks(("20", "22"), unit="ms")) == "20 to 22 ms"
    assert key_in_words(asks(("20", None))) == "at least 20"
    assert key_in_words(asks((None, "20"))) == "at most 20"


_decimals = st.decimals(
    allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20, places=6
)


@given(_decimals, st.decimals(min_value=0, max_value=1000, places=6))
def test_the_interval_is_exact_and_holds_its_ends(key: Decimal, off: Decimal) -> None:
    question = asks(f"{key:f}", tolerance=f"{off:f}")
    assert bounds(question) == (key - off, key + off)
    for end in (key - off, key, key + off):
        assert is_right(question, read_number(question, f"{end:f}"))
    assert not is_right(question, key + off + Decimal("0.000001"))


@given(st.text(max_size=120))
def test_whatever_is_typed_is_a_number_or_a_sentence(text: str) -> None:
    question = asks("1", unit="GB", units=UNITS)
    fault = problem(question, Response(text=text))
    if not fault and text.strip():
        assert read_number(question, text).is_finite()
        assert score(question, Response(text=text)).verdict in (Verdict.CORRECT, Verdict.INCORRECT)
