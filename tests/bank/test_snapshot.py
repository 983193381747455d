"""Questions as JSON and back."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizapp.bank import model
from quizapp.bank.load import load_bank
from quizapp.bank.snapshot import (
    content_hash,
    question_from_json,
    question_to_json,
    take_from_plain,
    take_to_plain,
)
from quizapp.bank.strip import Strip

GOOD = Path(__file__).parent.parent / "banks" / "good"

_text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
_number = st.floats(allow_nan=False, allow_infinity=False)
_range = st.builds(model.Range, min=st.none() | _number, max=st.none() | _number)
_demo = st.builds(
    model.DemoLink,
    name=_text,
    variant=st.sampled_from(["fault", "fix"]),
    params=st.dictionaries(_text, _text, max_size=2),
)
_option = st.builds(
    model.Option,
    id=_text,
    text=_text,
    correct=st.booleans(),
    rationale=_text,
    demo=st.none() | _demo,
    pin=st.sampled_from([None, "first", "last"]),
)
_predicate = st.builds(
    model.Predicate,
    says=_text,
    meter=st.sampled_from([None, "util", "processes"]),
    devices=st.none() | st.integers(1, 8) | st.just("all"),
    mean=st.none() | _range,
    minimum=st.none() | _range,
    maximum=st.none() | _range,
    longest_zero_s=st.none() | _range,
    value=st.none() | _range,
    relative_to=st.sampled_from([None, "control"]),
    event=st.sampled_from([None, "out-of-memory"]),
    present=st.booleans(),
)
_side = st.builds(
    model.Side,
    correct=st.booleans(),
    text=st.text(max_size=5),
    rationale=_text,
    demo=st.none() | _demo,
)
_mistakes = st.lists(st.builds(model.Mistake, response=_text, rationale=_text), max_size=2).map(tuple)
_items = st.lists(st.builds(model.Item, id=_text, text=_text), max_size=2).map(tuple)
_name = st.text("abc_1", min_size=1, max_size=4)
_variable = st.builds(
    model.Variable,
    values=st.lists(_text, max_size=2).map(tuple),
    range=st.none() | st.builds(model.Spread, min=_text, max=_text, step=_text),
    formula=st.text(max_size=5),
    digits=st.integers(1, 15),
    min=_text,
    max=st.none() | _text,
)
_choices = {"options": st.lists(_option, max_size=3).map(tuple)}
_OWN = {
    "single-choice": _choices,
    "multiple-choice": _choices,
    "true-false": {"true": _side, "false": _side},
    "numeric": {
        "key": st.builds(model.Interval, min=st.none() | _text, max=st.none() | _text),
        "tolerance": st.none() | _text,
        "significant_digits": st.none() | st.integers(1, 9),
        "unit": st.text(max_size=5),
        "units": st.dictionaries(_text, _text, max_size=2),
        "rationale": _text,
        "mistakes": _mistakes,
    },
    "short-text": {
        "key": st.lists(_text, max_size=2).map(tuple),
        "pattern": st.text(max_size=5),
        "case": st.sampled_from(["fold", "exact"]),
        "accents": st.sampled_from(["fold", "exact"]),
        "rationale": _text,
        "mistakes": _mistakes,
    },
    "ordering": {"items": _items, "rationale": _text},
    "matching": {
        "pairs": st.lists(
            st.builds(model.Pair, id=_text, text=_text, match=_text, rationale=st.text(max_size=5)),
            max_size=2,
        ).map(tuple),
        "extra": _items,
        "rationale": st.text(max_size=5),
    },
    "reading": {
        "recording": _text,
        "meter": st.sampled_from(["compute", "util"]),
        "key": st.builds(
            model.ReadingKey,
            devices=st.lists(st.integers(0, 9), max_size=2).map(tuple),
            span=st.none() | st.builds(model.Span, start_s=_number, end_s=_number),
        ),
        "overlap": _number,
        "rationale": _text,
        "mistakes": _mistakes,
        "strip": st.none()
        | st.builds(
            Strip,
            device_kind=_text,
            window_s=_number,
            compute=st.lists(st.text("0123456789abcdef-", max_size=4), max_size=2).map(tuple),
            util=st.lists(st.text("0123456789abcdef-", max_size=4), max_size=2).map(tuple),
        ),
    },
}
_question = st.sampled_from(list(model.KINDS)).flatmap(
    lambda kind: st.builds(
        model.KINDS[kind],
        kind=st.just(kind),
        scoring=st.builds(
            model.Scoring,
            rule=st.sampled_from([None, "each-answer", "coverage"]),
            penalty=st.floats(0, 1),
        ),
        id=_text,
        revision=st.integers(1, 99),
        objective=st.none() | _text,
        target_time_s=st.none() | _number,
        points=_number,
        variables=st.dictionaries(_name, _variable, max_size=2),
        drawn=st.dictionaries(_name, _text, max_size=2),
        stem=_text,
        symptom=st.none()
        | st.builds(
            model.Symptom, devices=st.integers(1, 8), where=st.lists(_predicate, max_size=2).map(tuple)
        ),
        explanation=st.builds(
            model.Explanation,
            short=_text,
            full=st.text(max_size=5),
            figure=st.none() | st.builds(model.Figure, src=_text, alt=_text),
        ),
        references=st.lists(st.builds(model.Reference, title=_text, url=_text), max_size=2).map(tuple),
        verified_by=st.sampled_from(["experiment", "reference", "judgement"]),
        **_OWN[kind],
    )
)


@given(_question)
def test_questions_survive(question: model.Question) -> None:
    text = question_to_json(question)
    assert question_from_json(text) == question
    assert question_to_json(question_from_json(text)) == text


def test_the_strategies_above_know_every_field() -> None:
    """A field added to the model must be added to the round trip."""
    loaded = load_bank(GOOD / "everything.yaml").bank.questions[0]
    parts = [loaded, loaded.explanation, loaded.explanation.figure, loaded.options[0], loaded.options[0].demo]
    counts = [len(dataclasses.fields(part)) for part in parts if part is not None]
    assert counts == [15, 3, 2, 6, 3]
    assert set(_OWN) == set(model.KINDS)
    shared = {field.name for field in dataclasses.fields(model._Question)} | {"kind"}
    for kind, own in _OWN.items():
        assert {field.name for field in dataclasses.fields(model.KINDS[kind])} == shared | set(own)
    assert loaded.symptom is not None
    assert len(dataclasses.fields(loaded.symptom.where[0])) == 11


def test_defaults_are_left_out_so_that_a_new_field_changes_no_hash() -> None:
    question = load_bank(GOOD / "minimal.yaml").bank.questions[0]
    text = question_to_json(question)
    assert json.loads(text) == {
        "id": "one",
        "kind": "single-choice",
        "stem": "Which?",
        "options": [
            {"id": "a", "text": "A", "correct": True, "rationale": "Because"},
            {"id": "b", "text": "B", "rationale": "Because not"},
        ],
        "explanation": {"short": "Because"},
    }
    assert content_hash(text) == "695a762e447e9d862f192e690ceeee5b962de045da4fd815842b09ad8e060db5"


def test_take_survives() -> None:
    sections = (model.Section(title="A", objectives=("a", "b"), count=3), model.Section(time_budget_s=90.0))
    take = model.Take(shuffle=("options",), pass_mark=0.5, sections=sections)
    assert take_from_plain(json.loads(json.dumps(take_to_plain(take)))) == take


def test_parts_can_not_be_changed_and_must_be_whole() -> None:
    reference = model.Reference(title="a", url="b")
    with pytest.raises(dataclasses.FrozenInstanceError):
        reference.title = "c"  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del reference.title  # type: ignore[misc]
    with pytest.raises(TypeError, match="Reference needs url"):
        model.Reference(title="a")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Reference has no ulr"):
        model.Reference(title="a", url="b", ulr="c")  # type: ignore[call-arg]
    assert dataclasses.replace(reference, url="c") == model.Reference(title="a", url="c") != reference
    assert len({reference, model.Reference(title="a", url="b")}) == 1
    assert repr(reference) == "Reference(title='a', url='b')"
