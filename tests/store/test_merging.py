"""Merging stores: nothing twice, nothing lost, nothing believed unread."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from quizapp.assess.response import Response
from quizapp.errors import QuizappError
from quizapp.store.database import FILE_NAME, StoreUnavailable
from quizapp.store.merging import merge_store
from quizapp.store.store import Store
from sample_bank import MemoryBank, three_questions


def take(folder: Path, learner: str, *, to: int = 3, end: bool = True) -> str:
    store = Store.open(folder)
    sitting = store.start(MemoryBank(three_questions()), learner, seed=3)  # type: ignore[arg-type]
    for place in range(to):
        sitting.show(place)
        sitting.respond(place, Response((sitting.option_order(place)[0],)))
        sitting.submit(place)
    if end:
        sitting.finish()
    sitting.close()
    store.close()
    return sitting.attempt_id


def dump(folder: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(folder / FILE_NAME)) as db:
        return db.execute(
            "SELECT id, learner_id, bank_id, bank_title, state, finished_us, position, answered, total,"
            " points, max_points, passed, seq, at_us, type, body FROM attempts JOIN events ON attempt = key"
            " ORDER BY id, seq"
        ).fetchall()


def test_an_attempt_comes_as_it_was_and_only_once(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    take(here, "ada")
    attempt_id = take(there, "bob")
    before = (there / FILE_NAME).read_bytes()
    first = merge_store(here, there)
    assert (first.attempts, first.learners, first.known, first.left_out) == (1, 1, 0, ())
    assert (there / FILE_NAME).read_bytes() == before
    merged = dump(here)
    assert [row for row in merged if row[0] == attempt_id] == dump(there)
    again = merge_store(here, there / FILE_NAME)
    assert (again.attempts, again.learners, again.known) == (0, 0, 1)
    assert dump(here) == merged
    store = Store.open(here)
    record = store.show(attempt_id)
    assert (record.summary.learner, record.summary.state) == ("bob", "finished")
    assert record.question("first") is not None
    store.close()


def test_learners_of_one_name_stay_two(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    take(here, "ada")
    take(there, "ada")
    done = merge_store(here, there)
    ((name, new_name),) = done.renamed
    assert name == "ada"
    take(there, "ada")
    assert merge_store(here, there).renamed == ()
    store = Store.open(here)
    assert sorted(attempt.learner for attempt in store.attempts()) == ["ada", new_name, new_name]
    store.close()


def test_an_attempt_that_went_on_there_goes_on_here(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    attempt_id = take(there, "bob", to=1, end=False)
    merge_store(here, there)
    store = Store.open(there)
    sitting = store.resume(attempt_id, MemoryBank(three_questions()))  # type: ignore[arg-type]
    sitting.show(1)
    sitting.submit(1)
    sitting.finish()
    sitting.close()
    store.close()
    done = merge_store(here, there)
    assert (done.behind, done.attempts) == (1, 0)
    assert dump(here) == dump(there)
    # The other way round there is nothing to take.
    assert merge_store(there, here).known == 1


def test_an_attempt_that_went_on_in_both_stays_and_is_told(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    attempt_id = take(there, "bob", to=1, end=False)
    merge_store(here, there)
    for folder in (here, there):
        store = Store.open(folder)
        sitting = store.resume(attempt_id, MemoryBank(three_questions()))  # type: ignore[arg-type]
        sitting.show(1)
        sitting.close()
        store.close()
    before = dump(here)
    (left_out,) = merge_store(here, there).left_out
    assert left_out[0] == attempt_id
    assert dump(here) == before


@pytest.mark.parametrize(
    "spoil",
    [
        "UPDATE attempts SET id = 'x'' OR 1'",
        "DELETE FROM events WHERE seq = 0",
        "INSERT INTO events SELECT key, 99, 1, 'conjured', '{}' FROM attempts",
        "UPDATE learners SET id = 'not random'",
        "UPDATE learners SET created_us = 'soon'",
    ],
)
def test_an_attempt_that_makes_no_sense_is_left_out_whole(tmp_path: Path, spoil: str) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    take(here, "ada")
    take(there, "bob")
    before = dump(here)
    with closing(sqlite3.connect(there / FILE_NAME)) as db, db:
        db.execute(spoil)
    done = merge_store(here, there)
    assert done.attempts == 0
    assert dump(here) == before
    with closing(sqlite3.connect(here / FILE_NAME)) as db:
        assert db.execute("SELECT count(*) FROM learners").fetchone() == (1,)


def test_what_a_row_says_against_its_events_is_not_believed(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    attempt_id = take(there, "bob")
    with closing(sqlite3.connect(there / FILE_NAME)) as db, db:
        db.execute("UPDATE attempts SET points = 1000, started_us = 'yesterday', state = 'x'")
    merge_store(here, there)
    store = Store.open(here)
    summary = store.show(attempt_id).summary
    assert summary.points <= 3
    assert summary.state == "finished"
    store.close()


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    take(here, "ada")
    take(there, "bob")
    with pytest.raises(QuizappError, match="there is no store"):
        merge_store(here, tmp_path / "nowhere")
    with pytest.raises(QuizappError, match="the store itself"):
        merge_store(here, here)
    with closing(sqlite3.connect(there / FILE_NAME)) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreUnavailable, match="newer quizapp"):
        merge_store(here, there)
    other = tmp_path / "other.sqlite3"
    with closing(sqlite3.connect(other)) as db, db:
        db.execute("CREATE TABLE a (b)")
    with pytest.raises(StoreUnavailable, match="belongs to another program"):
        merge_store(here, other)
    (tmp_path / "torn").write_bytes(b"no database at all" * 400)
    with pytest.raises(StoreUnavailable, match="damaged"):
        merge_store(here, tmp_path / "torn")
    assert len({row[0] for row in dump(here)}) == 1
