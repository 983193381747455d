"""Draws: the same seed gives the same order on every machine, for ever."""

from __future__ import annotations

import sys
from collections import Counter
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizapp.assess.draw import order_options, order_questions


class Asked(NamedTuple):
    id: str
    option_ids: tuple[str, ...]
    pins: dict[str, str]


TEN = tuple(f"q{number}" for number in range(10))
FIVE = Asked("q1", ("a", "b", "c", "d", "e"), {})

# What seeds have meant since the first release. A change here re-deals every exam that was ever drawn.
GOLDEN_QUESTIONS = {
    0: "q0 q3 q5 q7 q9 q1 q4 q6 q8 q2",
    1: "q4 q3 q0 q5 q9 q2 q7 q1 q6 q8",
    42: "q0 q9 q1 q7 q6 q8 q4 q5 q3 q2",
    9223372036854775807: "q3 q1 q6 q8 q5 q9 q0 q7 q2 q4",
}
GOLDEN_OPTIONS = {
    0: "edbac",
    1: "edbca",
    42: "acbde",
    9223372036854775807: "bcead",
}


def test_orders_are_the_golden_ones() -> None:
    assert {seed: " ".join(order_questions(TEN, seed, True)) for seed in GOLDEN_QUESTIONS} == GOLDEN_QUESTIONS
    assert {seed: "".join(order_options(FIVE, seed, True)) for seed in GOLDEN_OPTIONS} == GOLDEN_OPTIONS


def test_another_source_of_the_same_hash_gives_the_same_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "_sha3", None)
    test_orders_are_the_golden_ones()


def test_without_shuffling_all_stays_as_written_but_for_pins() -> None:
    assert order_questions(TEN, 7, False) == TEN
    pinned = Asked("q", ("z", "a", "b", "c"), {"z": "last", "c": "first"})
    assert order_options(pinned, 7, False) == ("c", "a", "b", "z")


@given(st.integers(0, 2**63 - 1), st.lists(st.text(min_size=1), unique=True, max_size=30))
def test_a_shuffle_loses_and_doubles_nothing(seed: int, ids: list[str]) -> None:
    assert sorted(order_questions(ids, seed, True)) == sorted(ids)


@given(st.integers(0, 2**63 - 1))
def test_pins_hold_under_every_seed(seed: int) -> None:
    asked = Asked("q", ("all", "a", "b", "c", "none"), {"all": "first", "none": "last"})
    order = order_options(asked, seed, True)
    assert (order[0], order[-1]) == ("all", "none")
    assert sorted(order) == sorted(asked.option_ids)


def test_two_questions_with_the_same_options_are_shuffled_apart() -> None:
    orders = {order_options(FIVE._replace(id=f"q{number}"), 1, True) for number in range(50)}
    assert len(orders) > 30


def test_every_place_is_equally_likely() -> None:
    # 4,800 draws of 24 orders: 200 each; five standard deviations are 70.
    four = Asked("q", ("a", "b", "c", "d"), {})
    counts = Counter(order_options(four, seed, True) for seed in range(4800))
    assert len(counts) == 24
    assert all(130 < count < 270 for count in counts.values())
