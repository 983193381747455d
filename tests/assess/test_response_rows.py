"""Cells of an export: no spreadsheet runs them, and nothing of a response is lost in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizapp.assess.response import Response
from quizapp.assess.response_rows import guarded, label_of, unguarded


@given(st.text())
def test_a_guarded_text_comes_back_and_is_no_formula(text: str) -> None:
    assert unguarded(guarded(text)) == text
    assert not guarded(text).startswith(("=", "+", "-", "@", "\t", "\r", "\n"))


@pytest.mark.parametrize(
    ("response", "label"),
    [
        (Response(), ""),
        (Response(("b", "a")), "b a"),
        (Response(text="112 GB"), "112 GB"),
        (Response(devices=(1, 3)), "1 3"),
        (Response(span_s=(1.5, 20.0)), "1.5-20"),
        (Response(pairs=(("dp", "one"), ("ddp", "many"))), "dp=one ddp=many"),
    ],
)
def test_a_response_is_one_label(response: Response, label: str) -> None:
    assert label_of(response) == label
