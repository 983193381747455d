"""Properties of scores, responses, numbers and wordings that hold for every input, not only for examples."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from quizapp.assess import wording
from quizapp.assess.draw import order_options, order_questions
from quizapp.assess.number import read_number
from quizapp.assess.response import Response
from quizapp.assess.scoring import Verdict, problem, score
from quizapp.bank.model import (
    Explanation,
    Interval,
    MultipleChoice,
    Numeric,
    Question,
    Scoring,
    ShortText,
    SingleChoice,
)
from sample_bank import option

EXPLANATION = Explanation(short="Because")
RULES = ["all-or-nothing", "each-answer", "net-correct", "coverage"]
POINTS = st.sampled_from([0.5, 1.0, 2.0, 3.0, 10.0])


@st.composite
def choices(draw: st.DrawFn) -> Question:
    """A question with options, 1 to 26 of them, under any rule, points and penalty."""
    count = draw(st.integers(2, 26))
    several = draw(st.booleans())
    keys = draw(st.sets(st.integers(0, count - 1), min_size=1, max_size=count if several else 1))
    options = tuple(option(f"o{number}", correct=number in keys) for number in range(count))
    rule = draw(st.sampled_from([None, *RULES])) if several else None
    scoring = Scoring(rule=rule, penalty=draw(st.sampled_from([0.0, 0.25, 1.0])))  # type: ignore[arg-type]
    kind: type[SingleChoice | MultipleChoice] = MultipleChoice if several else SingleChoice
    return kind(
        kind="multiple-choice" if several else "single-choice",  # type: ignore[arg-type]
        id="q",
        stem="?",
        points=draw(POINTS),
        scoring=scoring,
        options=options,
        explanation=EXPLANATION,
    )


def chosen(data: st.DataObject, question: Question) -> tuple[str, ...]:
    ids = [each.id for each in question.options]
    most = len(ids) if question.kind == "multiple-choice" else 1
    return tuple(data.draw(st.lists(st.sampled_from(ids), unique=True, max_size=most)))


@given(choices(), st.data())
def test_points_lie_between_the_penalty_and_the_points_and_blank_is_nothing(
    question: Question, data: st.DataObject
) -> None:
    got = score(question, Response(chosen(data, question)))
    assert -question.points * question.scoring.penalty <= got.points <= question.points
    if not question.scoring.penalty:
        assert got.points >= 0
    blank = score(question, Response())
    assert (blank.verdict, blank.points) == (Verdict.UNANSWERED, 0.0)
    assert str(blank.points) == "0.0"


@given(choices(), st.data())
def test_the_key_in_full_gets_all_points_and_nothing_else_does(
    question: Question, data: st.DataObject
) -> None:
    key = tuple(each.id for each in question.options if each.correct)
    assert score(question, Response(key)) == (
        Verdict.CORRECT,
        question.points,
        question.points,
        score(question, Response()).rule,
    )
    given_ids = chosen(data, question)
    if set(given_ids) != set(key):
        got = score(question, Response(given_ids))
        assert got.points < question.points
        assert got.verdict is not Verdict.CORRECT


@given(choices(), st.data())
def test_neither_the_order_of_options_nor_that_of_choosing_changes_a_score(
    question: Question, data: st.DataObject
) -> None:
    given_ids = chosen(data, question)
    shuffled = replace(question, options=tuple(data.draw(st.permutations(question.options))))
    again = tuple(data.draw(st.permutations(given_ids)))
    assert score(shuffled, Response(again)) == score(question, Response(given_ids))


@given(choices(), st.data())
def test_scoring_twice_is_scoring_once_and_changes_nothing(question: Question, data: st.DataObject) -> None:
    response = Response(chosen(data, question))
    before = (repr(question), repr(response))
    assert score(question, response) == score(question, response)
    assert (repr(question), repr(response)) == before


@given(choices(), st.data())
def test_a_further_key_never_hurts_and_a_further_distractor_never_helps(
    question: Question, data: st.DataObject
) -> None:
    assume(question.kind == "multiple-choice")
    given_ids = chosen(data, question)
    left = [each for each in question.options if each.id not in given_ids]
    # A blank response is no score to compare with: leaving a question open never costs anything.
    assume(left and given_ids)
    more = data.draw(st.sampled_from(left))
    before = score(question, Response(given_ids)).points
    after = score(question, Response((*given_ids, more.id))).points
    assert after >= before - 1e-9 if more.correct else after <= before + 1e-9


ANY_TEXT = st.text(st.characters(codec="utf-8"), max_size=40)


@given(
    st.one_of(
        st.builds(lambda ids: Response(tuple(ids)), st.lists(ANY_TEXT, max_size=30)),
        st.builds(lambda text: Response(text=text), ANY_TEXT),
        st.builds(lambda pairs: Response(pairs=tuple(pairs)), st.lists(st.tuples(ANY_TEXT, ANY_TEXT))),
    )
)
def test_a_response_comes_back_from_json_as_it_went(response: Response) -> None:
    assert Response.from_json(json.loads(json.dumps(response.to_json()))) == response


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | ANY_TEXT,
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.sampled_from(["selected", "text", "pairs", "more"]), inner, max_size=4)
        ),
        max_leaves=12,
    )
)
def test_what_is_no_response_is_refused_with_a_value_error(body: object) -> None:
    if not isinstance(body, dict):
        return
    try:
        response = Response.from_json(body)
    except ValueError:
        return
    assert Response.from_json(json.loads(json.dumps(response.to_json()))) == response


def numeric(key: str = "1", **fields: object) -> Numeric:
    return Numeric(
        kind="numeric",
        id="n",
        stem="?",
        key=Interval(min=key, max=key),
        rationale="So",
        explanation=EXPLANATION,
        **fields,  # type: ignore[arg-type]
    )


@given(st.integers(-(10**9), 10**9), st.integers(0, 6))
def test_equal_forms_of_a_number_are_one_number(whole: int, zeros: int) -> None:
    question = numeric(str(whole))
    forms = [str(whole), f"{whole}.{'0' * zeros}" if zeros else f" {whole} ", f"{whole}e0", f"{whole}0e-1"]
    if whole >= 0:
        forms.append(f"+{whole}")
    for form in forms:
        assert read_number(question, form) == Decimal(whole), form
        assert score(question, Response(text=form)).verdict is Verdict.CORRECT, form


@given(st.text(max_size=60))
def test_any_typed_text_is_a_number_or_is_refused_in_words(text: str) -> None:
    question = numeric()
    fault = problem(question, Response(text=text))
    if fault:
        with pytest.raises(ValueError, match=r"."):
            read_number(question, text)
    elif text.strip():
        value = read_number(question, text)
        assert value.is_finite()
        assert read_number(question, str(value)) == value


@pytest.mark.parametrize(
    "text", ["1e999999999", "9" * 5000, "1e-999999999", "nan", "inf", "0x10", "1_0", "٣", "1\x000"]
)
def test_monstrous_numbers_are_answered_at_once(text: str) -> None:
    fault = problem(numeric(), Response(text=text))
    assert fault or score(numeric(), Response(text=text)).verdict is Verdict.INCORRECT


@given(st.text(max_size=80), st.sampled_from(["fold", "exact"]), st.sampled_from(["fold", "exact"]))
def test_normalising_twice_is_normalising_once(text: str, case: str, accents: str) -> None:
    once = wording.normalised(text, case=case, accents=accents)
    assert wording.normalised(once, case=case, accents=accents) == once


def short_text(key: str, **fields: object) -> ShortText:
    return ShortText(
        kind="short-text",
        id="s",
        stem="?",
        key=(key,),
        rationale="So",
        explanation=EXPLANATION,
        **fields,  # type: ignore[arg-type]
    )


@given(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=60).filter(
        lambda text: text.strip() and wording.normalised(text).strip()
    )
)
def test_a_key_typed_as_it_stands_is_right(key: str) -> None:
    question = short_text(key)
    assert score(question, Response(text=key)).verdict is Verdict.CORRECT
    assert score(question, Response(text=f"  {key}\t")).verdict is Verdict.CORRECT


@pytest.mark.parametrize(
    ("key", "typed", "right"),
    [
        ("don't", "don’t", True),
        ("all\N{NO-BREAK SPACE}reduce", "all reduce", True),
        ("1\N{EN DASH}4", "1-4", True),
        ("e\u0301cole", "école", True),
        ("zero\u200bwidth", "zerowidth", True),
        ("เบียร์", "เบยร", False),
        ("école", "ecole", False),
    ],
)
def test_what_looks_alike_is_alike_and_what_has_other_marks_is_not(key: str, typed: str, right: bool) -> None:
    assert (score(short_text(key), Response(text=typed)).verdict is Verdict.CORRECT) == right


def test_marks_are_left_out_only_where_the_author_asks_for_it() -> None:
    assert score(short_text("école", accents="fold"), Response(text="ecole")).verdict is Verdict.CORRECT


DRAWN = (
    "from collections import namedtuple\n"
    "from quizapp.assess.draw import order_options, order_questions\n"
    "A = namedtuple('A', 'id option_ids pins')\n"
    "ids = [f'q{n}' for n in range(50)]\n"
    "print(order_questions(ids, 99, True), order_options(A('q', ids[:9], {'q3': 'last'}), 99, True))"
)


def test_draws_do_not_depend_on_the_seed_of_pythons_hashes() -> None:
    def drawn(seed: str) -> bytes:
        environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(filter(None, sys.path))}
        return subprocess.run(
            [sys.executable, "-c", DRAWN], capture_output=True, check=True, env=environment
        ).stdout

    assert len({drawn(seed) for seed in ("0", "1", "4294967295")}) == 1


@given(st.integers(0, 2**63 - 1), st.lists(st.sampled_from("abcdefghij"), unique=True, min_size=1))
def test_a_draw_is_a_function_of_its_seed_and_ids_alone(seed: int, ids: list[str]) -> None:
    from collections import namedtuple

    asked = namedtuple("asked", "id option_ids pins")("q", tuple(ids), {ids[0]: "last"})
    assert order_questions(ids, seed, True) == order_questions(list(ids), seed, True)
    order = order_options(asked, seed, True)
    assert order == order_options(asked, seed, True)
    assert order[-1] == ids[0]
    assert sorted(order) == sorted(ids)
