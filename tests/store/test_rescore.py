"""A mended key is applied to what is stored: shown first, added with its reason, never replacing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from quizapp.assess.attempt import Scored
from quizapp.assess.response import Response
from quizapp.assess.scoring import Verdict
from quizapp.bank.model import Question, SingleChoice, Take
from quizapp.errors import QuizappError
from quizapp.store.rescore import plan_rescore, rescore
from quizapp.store.store import Store
from sample_bank import MemoryBank, multiple, single

TAKE = Take(pass_mark=0.5)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path)


def bank(*questions: Question) -> MemoryBank:
    return MemoryBank(list(questions), take=TAKE)


def keyed(question: SingleChoice, key: str, renamed: dict[str, str] | None = None) -> SingleChoice:
    """The question with another key, and perhaps other ids."""
    renamed = renamed or {}
    options = tuple(
        replace(each, id=renamed.get(each.id, each.id), correct=each.id == key) for each in question.options
    )
    return replace(question, options=options)


def took(store: Store, learner: str, *chosen: str, mode: str = "practice") -> str:
    """An attempt on two questions, finished with these choices."""
    sitting = store.start(bank(single("one"), single("two")), learner, mode=mode)  # type: ignore[arg-type]
    for place, option_id in enumerate(chosen):
        sitting.show(place)
        sitting.respond(place, Response((option_id,)))
    sitting.finish()
    sitting.close()
    return sitting.attempt_id


def test_a_mended_key_is_applied_and_what_was_scored_before_stays(store: Store) -> None:
    lifted, lowered = took(store, "ada", "loader", "loader"), took(store, "bob", "sync", mode="exam")
    mended = bank(keyed(single("one"), "loader"), single("two"))
    plan = plan_rescore(store, mended)  # type: ignore[arg-type]
    assert [(each.learner, each.old_points, each.new_points) for each in plan.attempts] == [
        ("ada", 0, 1),
        ("bob", 1, 0),
    ]
    assert [(each.old_passed, each.new_passed) for each in plan.attempts] == [(False, True), (True, False)]
    assert [[change.decrease for change in each.changes] for each in plan.attempts] == [[False], [True]]
    assert [store.show(each).summary.points for each in (lifted, lowered)] == [0, 1], (
        "planning stores nothing"
    )

    assert rescore(store, plan, "The key was wrong") == 2
    record = store.show(lifted)
    assert (record.summary.points, record.summary.passed, record.summary.state) == (1, True, "finished")
    assert (store.show(lowered).summary.passed, store.show(lowered).summary.points) == (False, 0)
    item = record.attempt.item("one")
    assert [score.verdict for score in item.scores] == [Verdict.INCORRECT, Verdict.CORRECT]
    assert item.reasons == ["", "The key was wrong"]
    added = [event for _, event in record.events if isinstance(event, Scored) and event.reason]
    by_hash = dict(store._db.execute("SELECT hash, question FROM snapshots").fetchall())
    assert by_hash[added[0].snapshot] == mended.question_json("one")
    # A second time there is nothing left to do.
    assert plan_rescore(store, mended).attempts == ()  # type: ignore[arg-type]
    # And back: three scores stand side by side.
    back = bank(single("one"), single("two"))
    rescore(store, plan_rescore(store, back), "It was right after all")  # type: ignore[arg-type]
    assert [score.points for score in store.show(lifted).attempt.item("one").scores] == [0, 1, 0]


def test_changed_ids_are_refused_without_a_map_and_nothing_is_stored(store: Store) -> None:
    attempt = took(store, "ada", "loader", "sync")
    other = bank(keyed(single("one"), "loader", {"loader": "input"}), single("two"))
    with pytest.raises(QuizappError, match="one: option ids that are gone: loader; new ones: input"):
        plan_rescore(store, other)  # type: ignore[arg-type]
    for good in ({"loader": "input"}, {"one:loader": "input"}):
        (changed,) = plan_rescore(
            store,
            bank(keyed(single("one"), "loader", {"loader": "input"})),  # type: ignore[arg-type]
            option_map=good,
        ).attempts
        assert [(change.question_id, change.new.points) for change in changed.changes] == [("one", 1)]
    with pytest.raises(QuizappError, match="mapped to one"):
        plan_rescore(store, other, option_map={"one:loader": "sync"})  # type: ignore[arg-type]
    assert len(store.show(attempt).attempt.item("one").scores) == 1


def test_another_kind_is_refused(store: Store) -> None:
    took(store, "ada", "loader")
    with pytest.raises(QuizappError, match="it was single-choice, and is multiple-choice"):
        plan_rescore(store, bank(multiple("one"), single("two")))  # type: ignore[arg-type]


def test_questions_that_left_the_bank_keep_their_scores(store: Store) -> None:
    took(store, "ada", "loader", "sync")
    plan = plan_rescore(store, bank(single("two")))  # type: ignore[arg-type]
    assert (plan.attempts, plan.looked_at, plan.gone) == ((), 1, 1)


def test_unanswered_stays_unanswered_and_new_points_count(store: Store) -> None:
    took(store, "ada", "sync")
    worth_more = bank(single("one", points=3), single("two", points=2))
    (changed,) = plan_rescore(store, worth_more).attempts  # type: ignore[arg-type]
    assert (changed.new_points, changed.new_max) == (3, 5)
    assert [change.new.verdict for change in changed.changes] == [Verdict.CORRECT, Verdict.UNANSWERED]


def test_only_one_learners_attempts(store: Store) -> None:
    took(store, "ada", "loader")
    took(store, "bob", "loader")
    mended = bank(keyed(single("one"), "loader"), single("two"))
    assert [each.learner for each in plan_rescore(store, mended, learner="bob").attempts] == ["bob"]  # type: ignore[arg-type]
