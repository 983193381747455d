"""Stores brought together, and learners taken out: nothing twice, nothing lost, nothing left behind."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from quizapp.assess.response import Response
from quizapp.errors import QuizappError
from quizapp.store.database import FILE_NAME, StoreUnavailable
from quizapp.store.sitting import Sitting
from quizapp.store.store import Store
from sample_bank import MemoryBank, three_questions

BANK = MemoryBank(three_questions())


def begun(store: Store, learner: str, seed: int = 1) -> Sitting:
    return store.start(BANK, learner, seed=seed)  # type: ignore[arg-type]


def finished(store: Store, learner: str, seed: int = 1) -> str:
    sitting = begun(store, learner, seed)
    sitting.show(0)
    sitting.respond(0, Response((sitting.option_order(0)[0],)))
    sitting.finish()
    sitting.close()
    return sitting.attempt_id


@pytest.fixture
def here(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "here")


@pytest.fixture
def there(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "there")


def test_what_is_new_comes_over_once(here: Store, there: Store, tmp_path: Path) -> None:
    finished(here, "ada")
    bens = [finished(there, "ben"), finished(there, "ben", 2)]
    assert here.merge(tmp_path / "there")[:3] == (2, 0, 0)
    assert {summary.id for summary in here.attempts("ben")} == set(bens)
    theirs = there.show(bens[0])
    ours = here.show(bens[0])
    assert ours.events == theirs.events
    assert ours.question(ours.attempt.items[0].question_id) is not None
    assert here.merge(tmp_path / "there" / FILE_NAME)[:3] == (0, 0, 2)
    assert len(here.attempts()) == 3
    assert len(there.attempts()) == 2


def test_two_learners_of_one_name_stay_two(here: Store, there: Store, tmp_path: Path) -> None:
    finished(here, "ada")
    finished(there, "ada")
    here.merge(tmp_path / "there")
    assert sorted(summary.learner for summary in here.attempts()) == ["ada", "ada (2)"]
    here.merge(tmp_path / "there")
    assert len(here.attempts()) == 2


def test_an_attempt_that_went_on_elsewhere_goes_on_here(here: Store, tmp_path: Path) -> None:
    sitting = begun(here, "ada")
    sitting.show(0)
    sitting.close()
    here.close()
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    there = Store.open(tmp_path / "there")
    going_on = there.resume(sitting.attempt_id, BANK)  # type: ignore[arg-type]
    going_on.respond(0, Response((going_on.option_order(0)[0],)))
    going_on.finish()
    going_on.close()
    there.close()
    here = Store.open(tmp_path / "here")
    assert here.merge(tmp_path / "there")[:3] == (0, 1, 0)
    (summary,) = here.attempts()
    assert (summary.state, summary.id) == ("finished", sitting.attempt_id)
    assert here.show(summary.id).attempt.finished


def test_an_attempt_that_went_on_in_both_places_is_told_and_stays(here: Store, tmp_path: Path) -> None:
    sitting = begun(here, "ada")
    sitting.show(0)
    sitting.close()
    here.close()
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    for name, option in (("here", 0), ("there", 1)):
        store = Store.open(tmp_path / name)
        going_on = store.resume(sitting.attempt_id, BANK)  # type: ignore[arg-type]
        going_on.respond(0, Response((going_on.option_order(0)[option],)))
        going_on.close()
        store.close()
    here = Store.open(tmp_path / "here")
    before = here.show(sitting.attempt_id).events
    assert here.merge(tmp_path / "there").parted == (sitting.attempt_id,)
    assert here.show(sitting.attempt_id).events == before


@pytest.mark.parametrize("what", ["nothing", "itself", "no store"])
def test_what_can_not_be_merged_is_said_and_changes_nothing(here: Store, tmp_path: Path, what: str) -> None:
    finished(here, "ada")
    other = {"nothing": tmp_path / "nowhere", "itself": tmp_path / "here", "no store": tmp_path / "x.txt"}[
        what
    ]
    if what == "no store":
        other.write_text("just words, and more of them than a header is long" * 100)
    with pytest.raises(StoreUnavailable):
        here.merge(other)
    assert len(here.attempts()) == 1


def test_a_deleted_learner_is_gone_from_the_file_too(here: Store, tmp_path: Path) -> None:
    finished(here, "somebody-unmistakable")
    finished(here, "ben")
    assert here.forget("somebody-unmistakable") == 1
    assert [summary.learner for summary in here.attempts()] == ["ben"]
    here.close()
    for file in (tmp_path / "here").iterdir():
        assert b"somebody-unmistakable" not in file.read_bytes()
    with pytest.raises(QuizappError, match="no learner"):
        Store.open(tmp_path / "here").forget("somebody-unmistakable")
