"""What statistics read of an attempt is what its events say, at any time."""

from __future__ import annotations

from pathlib import Path

import pytest

from quizapp.assess.attempt import Scored
from quizapp.assess.response import Response
from quizapp.assess.scoring import Verdict
from quizapp.bank.model import Take
from quizapp.store.answer_sheets import (
    answer_sheets,
    last_presented,
    queue_for_verify,
    queued_for_verify,
    take_from_queue,
)
from quizapp.store.sitting import Sitting
from quizapp.store.store import Store
from sample_bank import MemoryBank, three_questions

SHUFFLED = Take(shuffle=("questions", "options"))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path)


def taken(
    store: Store, learner: str, *, right: bool = True, mode: str = "exam", finish: bool = True
) -> Sitting:
    """An attempt whose last question was never looked at."""
    sitting = store.start(MemoryBank(three_questions(), take=SHUFFLED), learner, mode=mode, seed=len(learner))
    for place in range(2):
        sitting.show(place)
        question = sitting.question(place)
        chosen = tuple(option.id for option in question.options if option.correct is right)
        sitting.respond(place, Response(chosen if question.kind == "multiple-choice" else chosen[:1]))
        if mode != "exam":
            sitting.submit(place)
    if finish:
        sitting.finish()
    return sitting


def test_a_sheet_is_what_the_fold_of_the_events_says(store: Store) -> None:
    sittings = [taken(store, "ada"), taken(store, "grace", right=False)]
    for sitting, sheet in zip(sittings, answer_sheets(store, "sample"), strict=True):
        record = store.show(sitting.attempt_id)
        states = sorted(
            (state for state in record.attempt.items if state.shown), key=lambda state: state.question_id
        )
        assert sheet.questions.split() == [f"{state.question_id}#{state.revision}" for state in states]
        assert sheet.points == [state.score.points for state in states if state.score]
        assert sheet.max_points == [state.score.max_points for state in states if state.score]
        assert sheet.responses == [" ".join(state.response.selected) for state in states]
        assert sheet.withheld == 1
        on_screen_s = (record.attempt.finished_at_us - min(state.shown_at_us for state in states)) / 1e6
        assert sum(sheet.times_s) == pytest.approx(on_screen_s, abs=2e-3)


def test_only_finished_attempts_of_the_asked_modes_count(store: Store) -> None:
    taken(store, "ada", finish=False).close()
    taken(store, "ada", mode="practice").close()
    exam = taken(store, "ada")
    assert [sheet.attempt for sheet in answer_sheets(store, "sample")] == [exam.attempt_id]
    assert len(answer_sheets(store, "sample", ("exam", "practice"))) == 2
    assert answer_sheets(store, "other") == []


def test_a_later_scoring_is_seen_though_the_sheet_was_kept(store: Store) -> None:
    sitting = taken(store, "ada", right=False)
    before = answer_sheets(store, "sample")[0]
    question_id = before.questions.split()[0].partition("#")[0]
    event = Scored(question_id, Verdict.CORRECT, 1.0, 1.0, "all-or-nothing", None, "the key was wrong")
    key = store.db.execute("SELECT key FROM attempts WHERE id = ?", (sitting.attempt_id,)).fetchone()[0]
    token = store.db.execute("SELECT token FROM leases").fetchone()[0]
    last = store.db.execute("SELECT max(seq) FROM events").fetchone()[0]
    store.append(key, token, last + 1, 1, [event], None)
    after = answer_sheets(store, "sample")[0]
    assert before.points[0] < 1
    assert after.points == [1.0, *before.points[1:]]


def test_sheets_are_kept_and_read_the_same(store: Store, tmp_path: Path) -> None:
    taken(store, "ada").close()
    first = answer_sheets(store, "sample")
    assert store.db.execute("SELECT count(*) FROM answer_sheets").fetchone() == (1,)
    store.close()
    assert answer_sheets(Store.open(tmp_path), "sample") == first


def test_a_question_comes_back_as_it_was_presented(store: Store) -> None:
    taken(store, "ada").close()
    shown = answer_sheets(store, "sample")[0].questions.split()[0].partition("#")
    found = last_presented(store, "sample", shown[0], int(shown[2]))
    assert found is not None
    assert found.id == shown[0]
    assert last_presented(store, "sample", shown[0], 99) is None


def test_the_queue_keeps_a_question_once_until_it_was_verified(store: Store) -> None:
    queue_for_verify(store, "one", [("a", 1, "first reason"), ("b", 2, "another")], 1)
    queue_for_verify(store, "one", [("a", 1, "newer reason")], 2)
    queue_for_verify(store, "two", [("a", 1, "other bank")], 2)
    assert queued_for_verify(store, "one") == {"a": "newer reason", "b": "another"}
    take_from_queue(store, "one", ["a"])
    assert queued_for_verify(store, "one") == {"b": "another"}
    assert queued_for_verify(store, "two") == {"a": "other bank"}


def test_a_finished_attempt_has_its_sheet_at_once_and_it_is_the_one_that_would_be_made(store: Store) -> None:
    taken(store, "ada").close()
    kept = store.db.execute("SELECT events, sheet FROM answer_sheets").fetchall()
    store.db.execute("DELETE FROM answer_sheets")
    answer_sheets(store, "sample")
    assert store.db.execute("SELECT events, sheet FROM answer_sheets").fetchall() == kept
    assert len(kept) == 1
