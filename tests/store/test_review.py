"""What a review asks follows from what the store keeps of the learner's attempts."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from quizapp.assess.response import Response
from quizapp.assess.review import Today
from quizapp.errors import QuizappError
from quizapp.store.begin import begin
from quizapp.store.history import NothingDue, due_today, reviews_of
from quizapp.store.sitting import Sitting
from quizapp.store.store import Store
from sample_bank import MemoryBank, three_questions

LONG_AFTER = datetime.now(UTC) + timedelta(days=400)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path)


def answered(sitting: Sitting, *, right: bool = True) -> None:
    for place in range(sitting.total):
        sitting.show(place)
        options = sitting.question(place).options
        chosen = [option.id for option in options if option.correct == right]
        sitting.respond(place, Response(tuple(chosen) if right else tuple(chosen[:1])))
        sitting.submit(place)
    sitting.finish()
    sitting.close()


def test_a_review_begins_with_new_questions_and_ends_with_nothing_due(store: Store) -> None:
    bank = MemoryBank(three_questions())
    begun = begin(store, bank, "ada", mode="review")
    sitting = begun.sitting
    assert (sitting.mode, sitting.total, sitting.pass_mark) == ("review", 3, None)
    answered(sitting)
    with pytest.raises(NothingDue, match="Nothing is due in 'A sample bank'") as nothing:
        begin(store, bank, "ada", mode="review")
    assert nothing.value.next_day is not None
    assert nothing.value.next_day.isoformat() in nothing.value.hint
    assert due_today(store, bank, "ada", LONG_AFTER).due == 3
    assert due_today(store, bank, "grace", LONG_AFTER) == Today(bank.ids, 0, 3, None)


def test_a_review_that_was_left_goes_on(store: Store) -> None:
    bank = MemoryBank(three_questions())
    begin(store, bank, "ada", mode="review").sitting.close()
    first = store.attempts("ada")[0].id
    again = begin(store, bank, "ada", mode="review").sitting
    assert again.attempt_id == first
    again.close()


def test_a_number_of_questions_bounds_a_review(store: Store) -> None:
    sitting = begin(store, MemoryBank(three_questions()), "ada", mode="review", draw=2).sitting
    assert sitting.total == 2
    sitting.close()


def test_practice_counts_and_a_mended_word_loses_none_of_it(store: Store) -> None:
    bank = MemoryBank(three_questions())
    answered(begin(store, bank, "ada").sitting, right=False)
    questions = three_questions()
    questions[0] = replace(questions[0], stem="Another word.")
    mended = MemoryBank(questions)
    assert mended.hash != bank.hash
    plan = due_today(store, mended, "ada", LONG_AFTER)
    assert (plan.due, plan.new) == (3, 0)
    questions[0] = replace(questions[0], revision=questions[0].revision + 1)
    revised = due_today(store, MemoryBank(questions), "ada", LONG_AFTER)
    assert (revised.due, revised.new) == (2, 1)
    assert revised.ask[-1] == questions[0].id


def test_a_new_store_object_knows_the_same_cards(store: Store, tmp_path: Path) -> None:
    bank = MemoryBank(three_questions())
    answered(begin(store, bank, "ada", mode="review").sitting)
    # Cards are kept nowhere but in the events: no cache can be lost.
    assert due_today(Store.open(tmp_path), bank, "ada", LONG_AFTER) == due_today(
        store, bank, "ada", LONG_AFTER
    )


def test_the_end_of_an_exam_says_nothing_about_how_long_a_response_took(store: Store) -> None:
    bank = MemoryBank(three_questions())
    sitting = begin(store, bank, "ada", mode="exam").sitting
    sitting.show(0)
    sitting.respond(0, Response((sitting.option_order(0)[0],)))
    assert reviews_of(store, "ada", bank.id) == []
    sitting.close()
    with pytest.raises(QuizappError, match="exam"):
        begin(store, bank, "ada", mode="review")
    sitting = begin(store, bank, "ada", mode="exam").sitting
    sitting.finish()
    assert [each.took_s for each in reviews_of(store, "ada", bank.id)] == [None]
    sitting.close()
