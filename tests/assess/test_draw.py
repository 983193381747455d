"""Draws: the same seed gives the same order on every machine, for ever."""

from __future__ import annotations

import sys
from collections import Counter
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizapp.assess.draw import draw_sections, order_options, order_questions
from quizapp.bank.model import Section
from quizapp.bank.pools import pools_of, shortages


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


class Row(NamedTuple):
    id: str
    objective: str | None
    target_time_s: float | None = None


# Twelve questions, three objectives in turn, of 30 s, 60 s, 90 s and 120 s in turn.
TWELVE = [Row(f"q{n}", ("meters", "traces", "memory")[n % 3], 30.0 * (1 + n % 4)) for n in range(12)]
SECTIONS = (
    Section(title="Meters", objectives=("meters",), count=2),
    Section(title="Traces", objectives=("traces",), time_budget_s=180.0),
    Section(title="The rest", count=1),
)
# What seeds draw since sections came. A change here re-deals every exam that was ever drawn.
GOLDEN_DRAWS = {
    0: "q3 q6 q7 q4 q8",
    1: "q3 q9 q4 q7 q8",
    42: "q0 q3 q7 q4 q8",
    9223372036854775807: "q6 q0 q7 q4 q2",
}


def test_draws_are_the_golden_ones() -> None:
    pools = pools_of(SECTIONS, TWELVE)
    assert {seed: " ".join(draw_sections(pools, seed, True)) for seed in GOLDEN_DRAWS} == GOLDEN_DRAWS


def test_an_unshuffled_draw_asks_the_same_questions_in_the_banks_order() -> None:
    pools = pools_of(SECTIONS, TWELVE)
    for seed in range(50):
        mixed, straight = draw_sections(pools, seed, True), draw_sections(pools, seed, False)
        assert sorted(mixed) == sorted(straight)
        places = [
            (("meters", "traces", "memory").index(TWELVE[int(q[1:])].objective), int(q[1:])) for q in straight
        ]  # type: ignore[arg-type]
        assert places == sorted(places)


@given(
    st.integers(0, 2**63 - 1),
    st.lists(
        st.tuples(st.sampled_from([None, "a", "b"]), st.none() | st.integers(1, 600).map(float)), max_size=40
    ),
    st.integers(1, 40),
    st.integers(1, 3600).map(float),
)
def test_a_draw_takes_what_its_sections_ask_for_or_is_refused_beforehand(
    seed: int, drawn: list[tuple[str | None, float | None]], count: int, budget_s: float
) -> None:
    rows = [Row(f"q{number}", *facts) for number, facts in enumerate(drawn)]
    sections = (
        Section(objectives=("a",), count=count),
        Section(objectives=("b",), time_budget_s=budget_s),
        Section(),
    )
    refused = [short.code for short in shortages(sections, rows, ("a", "b"))]
    if "small-pool" in refused:
        return
    ids = draw_sections(pools_of(sections, rows), seed, True)
    by_id = {row.id: row for row in rows}
    assert len(set(ids)) == len(ids)
    asked = [by_id[each] for each in ids]
    assert [row.objective for row in asked].count("a") == count
    timed = [row for row in asked if row.objective == "b"]
    spent = sum(row.target_time_s or 0 for row in timed)
    assert 0 < spent <= budget_s
    left = [row for row in rows if row.objective == "b" and row not in timed]
    assert all(row.target_time_s is None or spent + row.target_time_s > budget_s for row in left)
    assert [row for row in rows if row.objective is None] == sorted(
        (row for row in asked if row.objective is None), key=rows.index
    )


def test_every_question_of_a_pool_is_drawn_as_often_as_another() -> None:
    pools = pools_of((Section(count=3),), TWELVE)
    counts = Counter(each for seed in range(4000) for each in draw_sections(pools, seed, True))
    # 1,000 each; five standard deviations are 137.
    assert len(counts) == 12
    assert all(863 < count < 1137 for count in counts.values())


def test_a_pool_that_is_too_small_is_told_with_both_numbers() -> None:
    def said(*sections: Section) -> str:
        return "; ".join(
            short.message for short in shortages(sections, TWELVE, ("meters", "traces", "memory"))
        )

    assert said(Section(objectives=("meters",), count=4)) == ""
    assert "draws 5 questions, and its pool has 4" in said(Section(objectives=("meters",), count=5))
    # 30 s, 120 s, 90 s and 60 s are there.
    assert said(Section(objectives=("meters",), time_budget_s=300.0)) == ""
    assert "draws 10 min, and its pool has 5 min" in said(
        Section(objectives=("meters",), time_budget_s=600.0)
    )
    assert "draws 20 s, and the shortest question takes 30 s" in said(
        Section(objectives=("meters",), time_budget_s=20.0)
    )
    assert "draws from 0 questions" in said(Section(objectives=("meters", "traces", "memory")), Section())


def test_sections_that_contradict_each_other_are_told() -> None:
    codes = [
        short.code
        for short in shortages(
            (
                Section(objectives=("meters", "metres"), count=1, time_budget_s=60.0),
                Section(objectives=("meters",), count=1),
                Section(count=1),
                Section(count=1),
            ),
            TWELVE,
            ("meters", "traces", "memory"),
        )
    ]
    assert codes.count("bad-section") == 3
    assert codes.count("unknown-objective") == 1
