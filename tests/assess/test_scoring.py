"""Points: what learners are promised by the rule's name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizapp.assess.response import Response
from quizapp.assess.scoring import (
    Verdict,
    key_in_words,
    mistake_of,
    points_in_words,
    problem,
    rule_in_words,
    rule_of,
    score,
)
from quizapp.bank.load import load_bank
from quizapp.bank.model import Mistake, Numeric, Scoring
from sample_bank import multiple, single

KINDS = load_bank(Path(__file__).parent.parent / "banks" / "good" / "kinds.yaml").bank.questions


def test_a_blank_response_is_unanswered_not_wrong() -> None:
    for question in (single(), multiple()):
        got = score(question, Response())
        assert (got.verdict, got.points) == (Verdict.UNANSWERED, 0.0)


@pytest.mark.parametrize(
    ("chosen", "verdict", "points"), [("sync", "correct", 0.5), ("loader", "incorrect", 0)]
)
def test_single_choice_is_all_or_nothing_with_decimal_points(
    chosen: str, verdict: str, points: float
) -> None:
    got = score(single(points=0.5), Response((chosen,)))
    assert (got.verdict, got.points, got.max_points, got.rule) == (verdict, points, 0.5, "all-or-nothing")


@pytest.mark.parametrize(
    ("chosen", "verdict", "points"),
    [
        (("key-0", "key-1"), Verdict.CORRECT, 1.0),
        (("key-1", "key-0"), Verdict.CORRECT, 1.0),
        (("key-0",), Verdict.PARTIAL, 0.5),
        (("key-0", "key-1", "no-0"), Verdict.PARTIAL, 0.5),
        (("key-0", "no-0"), Verdict.INCORRECT, 0.0),
        (("no-0", "no-1"), Verdict.INCORRECT, 0.0),
        (("key-0", "key-1", "no-0", "no-1"), Verdict.INCORRECT, 0.0),
    ],
)
def test_multiple_choice_gives_net_correct(chosen: tuple[str, ...], verdict: Verdict, points: float) -> None:
    got = score(multiple(), Response(chosen))
    assert (got.verdict, got.points, got.rule) == (verdict, points, "net-correct")


def test_five_right_and_one_wrong_of_five_keys_is_four_fifths() -> None:
    chosen = (*(f"key-{number}" for number in range(5)), "no-0")
    assert score(multiple(keys=5), Response(chosen)).points == pytest.approx(0.8)


@pytest.mark.parametrize("selected", [("nowhere",), ("sync", "sync"), ("sync", "loader")])
def test_an_impossible_response_is_refused_not_scored(selected: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="one"):
        score(single(), Response(selected))


@given(st.integers(1, 6), st.integers(0, 6), st.data())
def test_points_stay_between_nothing_and_all_and_the_key_alone_gets_all(
    keys: int, distractors: int, data: st.DataObject
) -> None:
    question = multiple(keys=keys, distractors=distractors)
    ids = [option.id for option in question.options]
    chosen = tuple(data.draw(st.lists(st.sampled_from(ids), unique=True)))
    got = score(question, Response(chosen))
    key = {option.id for option in question.options if option.correct}
    assert 0 <= got.points <= got.max_points
    assert (got.verdict is Verdict.CORRECT) == (set(chosen) == key) == (got.points == got.max_points)
    assert (got.verdict is Verdict.UNANSWERED) == (not chosen)
    assert (got.verdict is Verdict.PARTIAL) == (0 < got.points < got.max_points)


@given(st.integers(1, 5), st.integers(1, 5), st.data())
def test_a_further_distractor_never_helps_and_a_further_key_never_hurts(
    keys: int, distractors: int, data: st.DataObject
) -> None:
    question = multiple(keys=keys, distractors=distractors)
    ids = [option.id for option in question.options]
    chosen = data.draw(st.lists(st.sampled_from(ids), unique=True))
    further = data.draw(st.sampled_from(ids))
    if further in chosen:
        return
    before = score(question, Response(tuple(chosen))).points
    after = score(question, Response((*chosen, further))).points
    assert after >= before if further.startswith("key") else after <= before


def test_every_rule_is_told_in_words_that_begin_with_its_name() -> None:
    for kind in ("single-choice", "multiple-choice"):
        assert rule_in_words(rule_of(kind)).startswith(rule_of(kind))


@pytest.mark.parametrize(
    ("points", "words"), [(1.0, "1"), (0.5, "0.5"), (4 / 3, "1.33"), (0.0, "0"), (10, "10")]
)
def test_points_in_words(points: float, words: str) -> None:
    assert points_in_words(points) == words


@pytest.mark.parametrize(
    ("rule", "chosen", "points"),
    [
        ("all-or-nothing", ("key-0", "key-1"), 1.0),
        ("all-or-nothing", ("key-0",), 0.0),
        ("each-answer", ("key-0",), 0.75),
        ("each-answer", ("key-0", "no-0"), 0.5),
        ("each-answer", ("no-0", "no-1"), 0.0),
        ("coverage", ("key-0",), 0.5),
        ("coverage", ("key-0", "no-0"), 0.25),
        ("coverage", ("key-0", "key-1", "no-0"), 2 / 3),
        ("coverage", ("no-0",), 0.0),
    ],
)
def test_a_question_may_name_its_rule(rule: str, chosen: tuple[str, ...], points: float) -> None:
    got = score(replace(multiple(), scoring=Scoring(rule=rule)), Response(chosen))  # type: ignore[arg-type]
    assert (got.points, got.rule) == (pytest.approx(points), rule)


def test_a_penalty_is_for_what_earns_nothing_and_never_for_a_blank() -> None:
    question = replace(multiple(), points=2.0, scoring=Scoring(penalty=0.25))
    assert score(question, Response(("no-0",))).points == -0.5
    assert score(question, Response(("key-0",))).points == 1.0
    assert score(question, Response()).points == 0.0
    assert score(replace(question, scoring=Scoring()), Response(("no-0",))).points == 0.0
    words = rule_in_words("net-correct", 0.25)
    assert words.endswith("a wrong response costs 25% of the points, a blank one nothing")


def test_typed_kinds_take_a_text_and_no_option() -> None:
    numeric = KINDS[0]
    right = score(numeric, Response(text="112000 MB"))
    assert (right.verdict, right.points, right.rule) == (Verdict.CORRECT, 2.0, "all-or-nothing")
    assert score(numeric, Response(text="84")).points == -0.5
    assert score(numeric, Response(text="  ")).verdict is Verdict.UNANSWERED
    assert problem(numeric, Response(("a",))) == "a text is asked for"
    assert "without separators" in problem(numeric, Response(text="1,5"))
    assert problem(single(), Response(text="sync")) == "options are to be chosen"


def test_a_foreseen_mistake_is_explained() -> None:
    numeric = KINDS[0]
    assert mistake_of(numeric, Response(text="28 GB")) == "That is the parameters alone."
    assert mistake_of(numeric, Response(text="85")) == "AdamW keeps *two* moments."
    assert mistake_of(numeric, Response(text="7")) == ""
    launcher = next(question for question in KINDS if question.id == "launcher")
    assert mistake_of(launcher, Response(text="MPIrun")) == "MPI sets variables of its own."


def test_a_mistake_that_nobody_can_give_is_passed_over() -> None:
    numeric = cast(Numeric, KINDS[0])
    question = replace(numeric, mistakes=(Mistake(response="ten", rationale="A word."), *numeric.mistakes))
    assert mistake_of(question, Response(text="28 GB")) == "That is the parameters alone."
    assert mistake_of(question, Response(text="7")) == ""


def test_the_key_of_every_kind_is_told_in_words() -> None:
    told = {
        question.id: key_in_words(question, {option.id: option.id[0] for option in question.options})
        for question in KINDS
    }
    assert told == {
        "adamw-bytes": "112 GB ± 2%",
        "all-reduce-share": "1.75, to 2 significant digits",
        "port": "1024 to 65535",
        "launcher": "torchrun or python -m torch.distributed.run",
        "city": "Ens",
        "dp-one-process": "f",
        "which-are-collectives": "a, b",
        "step-order": "f, b, a, o",
        "who-runs": "1 d, 2 d, 3 d",
    }


@pytest.mark.parametrize(
    ("order", "points"),
    [
        (("forward", "backward", "all-reduce", "optimizer"), 1.0),
        (("backward", "forward", "all-reduce", "optimizer"), 0.5),
        (("optimizer", "forward", "backward", "all-reduce"), 0.0),
    ],
)
def test_an_order_earns_a_share_for_each_item_in_its_place(order: tuple[str, ...], points: float) -> None:
    question = next(question for question in KINDS if question.kind == "ordering")
    assert score(question, Response(order)).points == points
    in_full = replace(question, scoring=Scoring())
    assert score(in_full, Response(order)).points == (1.0 if points == 1 else 0.0)
    assert problem(question, Response(order[:2])) == "put all 4 in order"


@pytest.mark.parametrize(
    ("pairs", "points"),
    [
        ({"dp": "dp", "ddp": "ddp", "fsdp": "ddp"}, 3.0),
        ({"dp": "dp", "ddp": "none"}, 1.0),
        ({"dp": "ddp", "ddp": "dp", "fsdp": "dp"}, 0.0),
    ],
)
def test_matches_earn_a_share_each_and_equal_matches_are_one_choice(
    pairs: dict[str, str], points: float
) -> None:
    question = next(question for question in KINDS if question.kind == "matching")
    assert [option.id for option in question.options] == ["dp", "ddp", "none"]
    got = score(question, Response(pairs=tuple(pairs.items())))
    assert (got.points, got.rule) == (points, "each-answer")
    assert problem(question, Response(pairs=(("dp", "nowhere"),))) == "no match 'dp' with 'nowhere'"
    assert problem(question, Response(pairs=(("dp", "dp"), ("dp", "ddp")))) == "one is matched twice"


def test_true_and_false_keep_their_places() -> None:
    question = next(question for question in KINDS if question.kind == "true-false")
    assert [(option.id, option.text, option.pin) for option in question.options] == [
        ("true", "True", "first"),
        ("false", "Not so", "last"),
    ]
    assert score(question, Response(("false",))).verdict is Verdict.CORRECT
    assert problem(question, Response(("true", "false"))) == "only one option can be chosen"
