"""Values as authors write them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizapp.bank.spelling import (
    is_id,
    make_id,
    parse_count,
    parse_devices,
    parse_duration,
    parse_figure_path,
    parse_flag,
    parse_id,
    parse_number,
    parse_share,
    parse_url,
)


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (parse_duration, "90s", 90),
        (parse_duration, "30m", 1800),
        (parse_duration, "1h30m", 5400),
        (parse_duration, "1.5 h", 5400),
        (parse_duration, "2 min", 120),
        (parse_share, "70%", 0.7),
        (parse_share, "0.7", 0.7),
        (parse_share, "100 %", 1),
        (parse_share, "0", 0),
        (parse_number, "95%", 0.95),
        (parse_number, "-1e3", -1000),
        (parse_number, ".5", 0.5),
        (parse_flag, "true", True),
        (parse_flag, "false", False),
        (parse_count, "8", 8),
        (parse_devices, "all", "all"),
        (parse_devices, "2", 2),
        (parse_id, "a-1", "a-1"),
        (parse_url, "https://example.org/a", "https://example.org/a"),
        (parse_figure_path, "figures/a b.svg", "figures/a b.svg"),
    ],
)
def test_spellings(read: Callable[[str], object], text: str, value: object) -> None:
    assert read(text) == value


@pytest.mark.parametrize(
    ("read", "text", "words"),
    [
        (parse_duration, "90", "has no unit; write 90s for seconds or 90m for minutes"),
        (parse_duration, "", "is empty"),
        (parse_duration, "1:30", "is no duration"),
        (parse_duration, "0s", "no time at all"),
        (parse_duration, "1h x", "is no duration"),
        (parse_duration, "1..5h", "is no duration"),
        (parse_duration, "99999h", "more than 30 days"),
        (parse_duration, "-5s", "is no duration"),
        (parse_share, "70", "did you mean 70%?"),
        (parse_share, "120%", "write 0% to 100%"),
        (parse_share, "most", "is no percentage"),
        (parse_number, "nan", "is no number"),
        (parse_number, "inf", "is no number"),
        (parse_number, "1_000", "is no number"),
        (parse_number, "1e999", "is no number"),
        (parse_number, "", "is no number"),
        (parse_number, "٣", "is no number"),
        (parse_flag, "True", "neither true nor false"),
        (parse_flag, "yes", "neither true nor false"),
        (parse_flag, "1", "neither true nor false"),
        (parse_count, "0", "no whole number from 1"),
        (parse_count, "²", "no whole number from 1"),
        (parse_count, "9" * 5000, "no whole number from 1"),
        (parse_devices, "some", "no number of devices"),
        (parse_id, "A b", "such as a-b"),
        (parse_id, "日本", "use small letters, digits and hyphens"),
        (parse_url, "javascript:alert(1)", "no web address"),
        (parse_url, "file:///etc/passwd", "no web address"),
        (parse_figure_path, "../secret.svg", "leaves the bank's folder"),
        (parse_figure_path, "/etc/passwd", "leaves the bank's folder"),
        (parse_figure_path, "a/../../b", "leaves the bank's folder"),
        (parse_figure_path, "http://x/y.svg", "leaves the bank's folder"),
        (parse_figure_path, "C:\\x", "leaves the bank's folder"),
    ],
)
def test_what_is_wrong_is_said(read: Callable[[str], object], text: str, words: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        read(text)
    assert words in str(caught.value)


@given(st.text(max_size=80))
def test_a_proposed_id_is_one(text: str) -> None:
    slug = make_id(text)
    assert slug == "" or is_id(slug)
    if is_id(text):
        assert slug == text
