from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizapp.lab.params import DeclarationError, ParamDeclaration, ParamError, read_param

VARIANTS = ("fault", "fix")


def read(**raw: object) -> ParamDeclaration:
    return read_param("long-ratio", raw, VARIANTS)


def test_a_text_becomes_a_value_of_the_declared_type() -> None:
    assert read(type="int", range=[1, 64], default=4).parse(" 12 ") == 12
    assert read(type="float", range=[0, 1], default=0.5).parse("2.5e-1") == 0.25
    assert read(type="choice", choices=["even", "uneven"], default="even").parse("uneven") == "uneven"
    assert [read(type="bool", default=False).parse(text) for text in ("true", "No", "ON", "0")] == [
        True,
        False,
        True,
        False,
    ]


@pytest.mark.parametrize("text", ["", "1.5", "one", "0x10", "1_000", "65", "0", "-3", "9" * 40, "٣", "nan"])
def test_an_int_out_of_its_type_or_range_is_refused_with_what_is_allowed(text: str) -> None:
    with pytest.raises(ParamError) as caught:
        read(type="int", range=[1, 64], unit="ms", default=4).parse(text)
    assert caught.value.hint == "allowed: a whole number from 1 to 64 (ms)"
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e999", "1_0", "2.5", ""])
def test_a_float_must_be_finite_and_in_range(text: str) -> None:
    with pytest.raises(ParamError):
        read(type="float", range=[0, 2], default=1).parse(text)


def test_a_wrong_choice_names_the_nearest_and_all() -> None:
    with pytest.raises(ParamError) as caught:
        read(type="choice", choices=["even", "uneven"], default="even").parse("unevn")
    assert "did you mean 'uneven'" in caught.value.hint
    assert "one of even, uneven" in caught.value.hint


def test_a_variant_sets_a_value_or_leaves_the_default() -> None:
    param = read(type="int", range=[1, 9], default=3, fault=1)
    assert (param.value("fault"), param.value("fix")) == (1, 3)


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ({"type": "integer", "default": 1}, "type must be one of"),
        ({"type": "int"}, "default is missing"),
        ({"type": "int", "default": 9, "range": [1, 4]}, "default: 9 is not a whole number from 1 to 4"),
        ({"type": "int", "default": 1, "range": [1, 4], "fault": 7}, "fault: 7"),
        ({"type": "int", "default": True}, "default: True"),
        ({"type": "int", "default": 1, "range": [4, 1]}, "range must be"),
        ({"type": "int", "default": 1, "rnage": [1, 4]}, "did you mean 'range'"),
        ({"type": "choice", "default": "a"}, "choices must be"),
        ({"type": "choice", "default": "a", "choices": ["a", "a"]}, "choices must be"),
        ({"type": "bool", "default": True, "range": [0, 1]}, "range is for int and float"),
        ({"type": "int", "default": 1, "unit": 5}, "unit must be a string"),
        ("int", "must be a dict"),
    ],
)
def test_a_declaration_that_cannot_be_is_an_error_in_words(raw: object, says: str) -> None:
    with pytest.raises(DeclarationError, match="params: long-ratio") as caught:
        read_param("long-ratio", raw, VARIANTS)
    assert says in str(caught.value)


@given(st.text(max_size=50))
def test_any_text_is_a_value_within_the_range_or_a_param_error(text: str) -> None:
    param = read(type="float", range=[-3, 3], default=0)
    try:
        value = param.parse(text)
    except ParamError:
        return
    assert param.holds(value)
