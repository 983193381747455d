"""The fold: an attempt is what its events say, and survives being written down."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizapp.assess.attempt import (
    Attempt,
    DemoRan,
    Discarded,
    Event,
    Finished,
    Predicted,
    ResponseChanged,
    Scored,
    Shown,
    Started,
    Submitted,
    event_from_json,
    event_to_json,
)
from quizapp.assess.response import Response
from quizapp.assess.result import passes, result_of
from quizapp.assess.scoring import Verdict

IDS = ("a", "b", "c")
STARTED = Started(
    "bank", "A bank", "0f", "ada", "practice", 7, ("questions",), IDS, 0.7, {"reading": "Read the signs"}
)


def shown(question_id: str, *order: str) -> Shown:
    return Shown(question_id, 1, order or ("x", "y"), f"hash of {question_id}")


def scored(question_id: str, points: float, verdict: Verdict = Verdict.CORRECT, reason: str = "") -> Scored:
    return Scored(question_id, verdict, points, 1.0, "all-or-nothing", "reading", reason)


EVENTS: list[Event] = [
    STARTED,
    shown("a"),
    ResponseChanged("a", Response(("x",))),
    ResponseChanged("a", Response(("y",))),
    Submitted("a"),
    scored("a", 1.0),
    Predicted("a", "x", "imbalance"),
    DemoRan("a", "x", {"diagnosis": "healthy", "meters": {"util": [{"mean": 0.5}, None]}}),
    shown("b"),
    ResponseChanged("b", Response(("x",))),
]


def test_the_state_is_what_the_events_lead_to() -> None:
    attempt = Attempt(EVENTS)
    first, second, third = attempt.items
    assert (first.response, first.submitted, first.score.points if first.score else None) == (
        Response(("y",)),
        True,
        1.0,
    )
    assert first.predictions == [("x", "imbalance")]
    assert first.runs[0][1]["diagnosis"] == "healthy"
    assert (second.response, second.submitted, second.score) == (Response(("x",)), False, None)
    assert not third.shown
    assert (attempt.position, attempt.answered, attempt.points) == (1, 1, 1.0)


def test_events_come_back_from_json_as_they_went() -> None:
    every = [*EVENTS, Discarded(), Finished(1.0, 3.0, False), Finished(1.0, 3.0, None)]
    for event in every:
        name, body = event_to_json(event)
        back = event_from_json(name, json.loads(json.dumps(body)))
        assert back == event
        assert type(back) is type(event)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("exploded", {}),
        ("submitted", {}),
        ("submitted", {"question_id": "a", "more": 1}),
        ("response-changed", {"question_id": "a", "response": {"selected": "ab"}}),
        ("response-changed", {"question_id": "a", "response": 3}),
        ("scored", {"verdict": "perfect"}),
    ],
)
def test_what_is_no_event_is_refused(name: str, body: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        event_from_json(name, body)


@pytest.mark.parametrize(
    "events",
    [
        [shown("a")],
        [STARTED, STARTED],
        [STARTED, shown("nowhere")],
        [STARTED, Submitted("a"), ResponseChanged("a", Response())],
        [STARTED, Submitted("a"), Submitted("a")],
        [STARTED, Discarded(), shown("a")],
        [STARTED, Finished(0, 3, False), ResponseChanged("a", Response())],
        [STARTED, Finished(0, 3, False), Discarded()],
    ],
)
def test_an_impossible_sequence_is_refused(events: list[Event]) -> None:
    with pytest.raises(ValueError, match=r"."):
        Attempt(events)


def test_the_first_presentation_stands() -> None:
    attempt = Attempt([STARTED, shown("a", "x", "y"), shown("b"), shown("a", "y", "x")])
    assert attempt.item("a").option_order == ("x", "y")
    assert attempt.position == 0


def test_scoring_again_adds_a_score_and_counts_the_latest() -> None:
    attempt = Attempt(
        [STARTED, Submitted("a"), scored("a", 0.0, Verdict.INCORRECT), scored("a", 1.0, reason="key mended")]
    )
    assert [score.points for score in attempt.item("a").scores] == [0.0, 1.0]
    assert attempt.points == 1.0
    assert result_of(attempt).counts[Verdict.CORRECT] == 1


def test_a_finished_attempt_can_still_be_looked_at() -> None:
    attempt = Attempt([STARTED, Finished(0, 3, False), shown("c"), DemoRan("c", "x", {})])
    assert attempt.finished
    assert len(attempt.item("c").runs) == 1


STEPS = st.one_of(
    st.builds(shown, st.sampled_from(IDS)),
    st.builds(
        ResponseChanged,
        st.sampled_from(IDS),
        st.builds(
            Response,
            st.lists(st.sampled_from("xy"), unique=True).map(tuple),
            text=st.text(max_size=3),
            pairs=st.just(()),
            devices=st.just(()),
            span_s=st.none() | st.tuples(st.floats(0, 9), st.floats(0, 9)),
        ),
    ),
    st.builds(Submitted, st.sampled_from(IDS)),
    st.builds(scored, st.sampled_from(IDS), st.sampled_from([0.0, 0.5, 1.0])),
    st.builds(Predicted, st.sampled_from(IDS), st.just("x"), st.just("healthy")),
    st.just(Finished(0.0, 3.0, False)),
    st.just(Discarded()),
)


@given(st.lists(STEPS, max_size=40))
def test_whatever_is_accepted_folds_the_same_after_storing(steps: list[Event]) -> None:
    attempt, accepted = Attempt([STARTED]), [STARTED]
    final: dict[str, Response] = {}
    for event in steps:
        try:
            attempt.apply(event)
        except ValueError:
            continue
        accepted.append(event)  # type: ignore[arg-type]
        if isinstance(event, ResponseChanged):
            final[event.question_id] = event.response
    stored = [json.loads(json.dumps(event_to_json(event))) for event in accepted]
    again = Attempt(event_from_json(name, body) for name, body in stored)
    assert {item.question_id: item.response for item in again.items if item.response.selected} == {
        question_id: response for question_id, response in final.items() if response.selected
    }
    for ours, theirs in zip(attempt.items, again.items, strict=True):
        assert all(getattr(ours, name) == getattr(theirs, name) for name in ours.__slots__)
    assert (attempt.finished, attempt.discarded, attempt.position) == (
        again.finished,
        again.discarded,
        again.position,
    )
    assert attempt.points == again.points <= attempt.max_points


def test_a_sum_of_thirds_reaches_the_mark_that_it_equals() -> None:
    assert passes(1 / 3 + 1 / 3 + 1 / 3 + 0.1 + 0.2 + 0.4, 2.0, 0.85) is True
    assert passes(0.69, 1.0, 0.7) is False
    assert passes(0.0, 0.0, None) is None


def test_the_result_by_objective_counts_questions_and_points() -> None:
    attempt = Attempt(
        [
            STARTED,
            scored("a", 1.0),
            scored("b", 0.5, Verdict.PARTIAL),
            Scored("c", Verdict.UNANSWERED, 0.0, 2.0, "net-correct", None),
        ]
    )
    got = result_of(attempt)
    assert [(part.objective, part.title, part.points, part.max_points) for part in got.by_objective] == [
        ("reading", "Read the signs", 1.5, 2.0),
        ("", "", 0.0, 2.0),
    ]
    assert (got.points, got.max_points, got.passed, got.share) == (1.5, 4.0, False, 0.375)
    assert sum(got.counts.values()) == 3
