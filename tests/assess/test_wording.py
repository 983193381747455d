"""Short-text responses: what counts as the same words."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizapp.assess.wording import is_right, normalised
from quizapp.bank.model import Explanation, ShortText


def asks(*forms: str, **fields: Any) -> ShortText:
    return ShortText(
        id="w",
        kind="short-text",
        stem="Which word?",
        key=forms,
        rationale="That one",
        explanation=Explanation(short="A word"),
        **fields,
    )


@pytest.mark.parametrize(
    ("form", "typed"),
    [
        ("torchrun", "  TorchRun\t"),
        ("all-reduce", "all‐reduce"),
        ("all-reduce", "ALL–REDUCE"),
        ("don't", "don’t"),
        ('say "hi"', "say “hi”"),
        ("python -m torch", "python   -m\u00a0torch"),
        ("straße", "STRASSE"),
        ("café", "cafe\u0301"),
        ("GPU 0", "ＧＰＵ　０"),
        ("dataparallel", "data\u200bparallel"),
        ("ΣΑΣ", "σας"),
    ],
)
def test_the_same_words_are_the_same(form: str, typed: str) -> None:
    assert is_right(asks(form), typed)


def test_case_and_accents_count_as_the_author_says() -> None:
    assert not is_right(asks("DDP", case="exact"), "ddp")
    assert is_right(asks("DDP", case="exact"), " DDP ")
    assert not is_right(asks("café"), "cafe")
    assert is_right(asks("cafe", accents="fold"), "CAFÉ")
    assert is_right(asks("Ångström", accents="fold"), "angstrom")


def test_a_pattern_is_matched_in_full_beside_the_forms() -> None:
    question = asks("torchrun", pattern=r"(python3? -m )?torch\.distributed\.run")
    assert is_right(question, "Python3 -m torch.distributed.run")
    assert is_right(question, "torchrun")
    assert not is_right(question, "torch.distributed.run --help")


def test_a_pattern_with_nested_repetitions_is_only_a_pattern() -> None:
    question = asks("b", pattern="(a|aa)+$")
    assert not is_right(question, "a" * 60 + "!")
    assert is_right(question, "a" * 61)


def test_a_pattern_folds_the_case_as_the_key_does() -> None:
    assert is_right(asks("x", pattern="É+"), "éÉ")
    assert not is_right(asks("x", pattern="DDP[0-9]", case="exact"), "ddp1")
    assert is_right(asks("x", pattern="cafe\u0301"), "café")


def test_half_a_surrogate_pair_is_a_wrong_word_and_no_crash() -> None:
    assert not is_right(asks("x", pattern="[a-z?]+"), "\udcff")


@given(st.text(max_size=40), st.sampled_from(["fold", "exact"]), st.sampled_from(["fold", "exact"]))
def test_normalising_twice_changes_nothing(text: str, case: str, accents: str) -> None:
    once = normalised(text, case=case, accents=accents)
    assert normalised(once, case=case, accents=accents) == once


@given(st.text(max_size=40), st.sampled_from(["NFC", "NFD"]))
def test_canonically_equal_texts_are_one(text: str, form: str) -> None:
    assert normalised(unicodedata.normalize(form, text)) == normalised(text)
