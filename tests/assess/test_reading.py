"""What is picked out of a recording: how it is typed, judged and told."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizapp.assess.reading import overlap, overlap_in_words, read_pick
from quizapp.assess.response import Response
from quizapp.assess.scoring import Verdict, is_right, key_in_words, mistake_of, problem, score
from quizapp.bank.load import load_bank
from quizapp.bank.model import Reading

BANK = load_bank(Path(__file__).parent.parent / "banks" / "good" / "reading.yaml").bank
WHICH, WHEN = BANK.questions
assert isinstance(WHICH, Reading)
assert isinstance(WHEN, Reading)

ends = st.tuples(st.floats(0, 5), st.floats(0, 5)).filter(lambda pair: pair[0] + 1e-6 < pair[1])


@pytest.mark.parametrize(
    ("typed", "devices"), [("4", (4,)), ("0,1", (0, 1)), (" 7  0 ", (0, 7)), ("3,3", (3,)), ("", ())]
)
def test_devices_are_typed_by_number(typed: str, devices: tuple[int, ...]) -> None:
    assert read_pick(WHICH, typed) == Response(devices=devices)


@pytest.mark.parametrize("typed", ["a", "0-1", "-1", "1.5", "٤", "8", "99999", "0;1"])
def test_what_is_no_device_is_said(typed: str) -> None:
    with pytest.raises(ValueError, match=r"write the numbers of devices|there is no device"):
        read_pick(WHICH, typed)


@pytest.mark.parametrize("typed", ["0.2-0.9", "0.2 - 0.9 s", "0.2s–0.9s", "0.2 to 0.9", "0.2..0.9"])
def test_a_stretch_is_typed_by_its_ends(typed: str) -> None:
    assert read_pick(WHEN, typed) == Response(span_s=(0.2, 0.9))


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("1", "such as"),
        ("1-", "such as"),
        ("2-1", "begins before"),
        ("1-1", "begins"),
        ("1-9", "ends at 5.3 s"),
    ],
)
def test_what_is_no_stretch_is_said(typed: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_pick(WHEN, typed)


def test_devices_are_scored_by_the_named_rule() -> None:
    assert score(WHICH, Response(devices=(4,)))[:2] == (Verdict.CORRECT, 2.0)
    assert score(WHICH, Response(devices=(0, 4)))[:2] == (Verdict.INCORRECT, 0.0)
    assert score(WHICH, Response(devices=(1,)))[:2] == (Verdict.INCORRECT, 0.0)
    assert score(WHICH, Response()).verdict is Verdict.UNANSWERED


@pytest.mark.parametrize(
    ("span_s", "verdict", "points"),
    [
        ((0.2, 0.9), Verdict.CORRECT, 1.0),
        ((0.2, 0.62), Verdict.CORRECT, 1.0),  # 0.42 of 0.7: the limit itself
        ((0.2, 0.55), Verdict.PARTIAL, 0.5),
        ((1.0, 2.0), Verdict.INCORRECT, 0.0),
    ],
)
def test_a_stretch_is_scored_by_its_overlap(
    span_s: tuple[float, float], verdict: Verdict, points: float
) -> None:
    given_score = score(WHEN, Response(span_s=span_s))
    assert given_score.verdict is verdict
    assert given_score.points == pytest.approx(points)
    assert given_score.rule == "overlap"


def test_the_overlap_is_told() -> None:
    assert overlap_in_words(WHEN, Response(span_s=(0.2, 0.55))) == "overlap with the key 50%, wanted 60%"
    assert key_in_words(WHEN, {}) == "0.2-0.9 s"
    assert key_in_words(WHICH, {}) == "4"


def test_a_foreseen_mistake_is_explained() -> None:
    assert mistake_of(WHICH, Response(devices=(0,))) == "It waits, inside the *all-reduce*."
    assert mistake_of(WHICH, Response(devices=(1,))) == ""
    assert mistake_of(WHICH, Response(devices=(4,))) == ""


def test_a_response_of_another_kind_is_not_admitted() -> None:
    assert problem(WHICH, Response(("a",)))
    assert problem(WHICH, Response(text="4"))
    assert problem(WHICH, Response(span_s=(0, 1)))
    assert problem(WHEN, Response(devices=(1,)))
    assert problem(WHICH, Response(devices=(8,))) == "there is no device 8; they are 0 to 7"
    assert problem(WHICH, Response(devices=(1, 1))) == "a device is picked twice"


def test_what_is_typed_is_judged_as_what_is_picked() -> None:
    assert is_right(WHICH, "4")
    assert not is_right(WHICH, "0")
    assert is_right(WHEN, "0.2-0.9")


@given(ends, ends)
def test_overlap_is_a_share_the_same_both_ways(one: tuple[float, float], other: tuple[float, float]) -> None:
    assert 0 <= overlap(one, other) <= 1 + 1e-12
    assert overlap(one, other) == pytest.approx(overlap(other, one))
    assert overlap(one, one) == pytest.approx(1)


@given(
    st.one_of(
        st.lists(st.integers(0, 7), unique=True).map(lambda d: Response(devices=tuple(d))),
        ends.map(lambda span: Response(span_s=span)),
    )
)
def test_a_pick_survives_the_store(response: Response) -> None:
    assert Response.from_json(response.to_json()) == response


@pytest.mark.parametrize(
    "body", [{"devices": "1"}, {"devices": [1.5]}, {"devices": [True]}, {"span_s": [1]}, {"span_s": [0, "1"]}]
)
def test_a_damaged_pick_is_refused(body: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="not"):
        Response.from_json(body)
