"""A deleted learner is gone: from the lists, and from the bytes on disk."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from quizapp.assess.response import Response
from quizapp.errors import QuizappError
from quizapp.store.database import FILE_NAME
from quizapp.store.deletion import attempts_of, delete_learner
from quizapp.store.schema import MIGRATIONS
from quizapp.store.store import Store
from sample_bank import MemoryBank, three_questions


def take(folder: Path, learner: str) -> None:
    store = Store.open(folder)
    sitting = store.start(MemoryBank(three_questions()), learner)  # type: ignore[arg-type]
    sitting.show(0)
    sitting.respond(0, Response((sitting.option_order(0)[0],)))
    sitting.submit(0)
    sitting.close()
    store.close()


def on_disk(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


def test_nothing_of_a_deleted_learner_is_left_in_the_files(tmp_path: Path) -> None:
    for _ in range(20):
        take(tmp_path, "Xanthippe Quine")
    take(tmp_path, "bob")
    assert b"Xanthippe" in on_disk(tmp_path)
    assert attempts_of(tmp_path, "Xanthippe Quine") == 20
    deleted = delete_learner(tmp_path, "Xanthippe Quine")
    assert (deleted.attempts, deleted.overwritten) == (20, True)
    assert b"Xanthippe" not in on_disk(tmp_path)
    store = Store.open(tmp_path)
    (kept,) = store.attempts()
    assert kept.learner == "bob"
    assert store.show(kept.id).question("first") is not None
    store.close()


def test_every_table_that_holds_a_learner_says_so() -> None:
    """Deletion follows declared references: a column without one would be forgotten."""
    with closing(sqlite3.connect(":memory:")) as db:
        for script in MIGRATIONS:
            db.executescript(script)
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            columns = {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
            declared = {row[3] for row in db.execute(f"PRAGMA foreign_key_list({table})")}
            assert columns & {"learner", "learner_id", "attempt", "attempt_id"} <= declared, table


def test_a_name_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(QuizappError, match="There is no learner"):
        attempts_of(tmp_path, "ada")
    assert not (tmp_path / FILE_NAME).exists()
    take(tmp_path, "ada")
    with pytest.raises(QuizappError, match="Did you mean 'ada'"):
        delete_learner(tmp_path, "adaa")


def test_a_learner_who_is_taking_an_attempt_is_not_deleted(tmp_path: Path) -> None:
    store = Store.open(tmp_path)
    sitting = store.start(MemoryBank(three_questions()), "ada")  # type: ignore[arg-type]
    with pytest.raises(QuizappError, match="taking an attempt just now"):
        delete_learner(tmp_path, "ada")
    sitting.show(0)
    sitting.close()
    store.close()
    assert delete_learner(tmp_path, "ada").attempts == 1


def test_while_another_reads_the_old_pages_it_is_said(tmp_path: Path) -> None:
    take(tmp_path, "ada")
    take(tmp_path, "bob")
    with closing(sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM events").fetchone()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("quizapp.store.database.BUSY_S", 0.1)
            assert not delete_learner(tmp_path, "ada").overwritten
    assert delete_learner(tmp_path, "bob").overwritten
    assert b'"ada"' not in on_disk(tmp_path)
