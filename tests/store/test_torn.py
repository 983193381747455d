"""A file of the store that was torn: each way of damage is survived or said, in words and by name."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from quizapp.assess.response import Response
from quizapp.errors import QuizappError
from quizapp.store.begin import Beginning, begin, open_store
from quizapp.store.database import FILE_NAME, StoreUnavailable
from quizapp.store.store import AttemptUnreadable, Store
from sample_bank import MemoryBank, three_questions

BANK = MemoryBank(three_questions())
DAMAGES = 250


def fill(folder: Path) -> list[str]:
    """A store in which two learners have attempts half way; their ids."""
    store = Store.open(folder)
    ids = []
    for learner in ("ada", "bob"):
        sitting = begin(store, BANK, learner).sitting
        for place in range(2):
            sitting.show(place)
            sitting.respond(place, Response(sitting.option_order(place)[:1]))
            sitting.submit(place)
        sitting.show(2)
        sitting.respond(2, Response(sitting.option_order(2)[:1]))
        sitting.close()
        ids.append(sitting.attempt_id)
    store.close()
    return ids


def use(folder: Path) -> Beginning:
    """Lists, shows and goes on to the end."""
    store = Store.open(folder)
    try:
        for summary in store.attempts():
            record = store.show(summary.id)
            for question_id in record.attempt.question_ids:
                record.question(question_id)
        beginning = begin(store, BANK, "ada")
        sitting = beginning.sitting
        for place in sitting.open_items():
            sitting.show(place)
            sitting.respond(place, Response(sitting.option_order(place)[:1]))
            sitting.submit(place)
        sitting.finish()
        sitting.close()
        return beginning
    finally:
        store.close()


def what_is_said(folder: Path) -> str:
    """What the learner is told of a store, "" when there is nothing to tell."""
    try:
        beginning = use(folder)
    except QuizappError as error:
        return f"{error.message} {error.hint}" if error.hint else "what to do is missing"
    return "" if beginning.sitting.saved else beginning.notices[0]


def flipped_bit(content: bytearray, draw: random.Random) -> None:
    content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)


def torn_stretch(content: bytearray, draw: random.Random) -> None:
    begins, length = draw.randrange(len(content)), draw.randrange(1, 400)
    for place in range(begins, min(begins + length, len(content))):
        content[place] = draw.randrange(256)


def zeroed_page(content: bytearray, draw: random.Random) -> None:
    page = draw.randrange(len(content) // 4096)
    content[page * 4096 : (page + 1) * 4096] = bytes(4096)


def cut_short(content: bytearray, draw: random.Random) -> None:
    del content[draw.randrange(1, len(content)) :]


@pytest.mark.parametrize("damage", [flipped_bit, torn_stretch, zeroed_page, cut_short])
def test_any_damage_of_the_file_is_survived_or_named(
    tmp_path: Path, damage: Callable[[bytearray, random.Random], None]
) -> None:
    fill(tmp_path / "whole")
    whole = (tmp_path / "whole" / FILE_NAME).read_bytes()
    said = 0
    for number in range(DAMAGES // 4):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        content = bytearray(whole)
        damage(content, random.Random(number))
        (folder / FILE_NAME).write_bytes(content)
        told = what_is_said(folder)
        if told:
            said += 1
            assert str(folder / FILE_NAME) in told
        shutil.rmtree(folder)
    assert said > 0, "the damage missed everything that counts"


@pytest.mark.parametrize("content", [b"", b"\0" * 5000, b"garbage " * 3000, bytes(range(256)) * 64])
@pytest.mark.parametrize("name", [f"{FILE_NAME}-wal", f"{FILE_NAME}-shm"])
def test_garbage_beside_the_file_costs_nothing_that_was_in_it(
    tmp_path: Path, name: str, content: bytes
) -> None:
    ids = fill(tmp_path)
    (tmp_path / name).write_bytes(content)
    store = Store.open(tmp_path)
    assert {summary.id for summary in store.attempts()} == set(ids)
    store.close()
    assert use(tmp_path).sitting.saved


def test_a_lost_log_costs_what_was_in_it_and_no_more(tmp_path: Path) -> None:
    ids = fill(tmp_path)
    store = Store.open(tmp_path)
    sitting = begin(store, BANK, "ada").sitting
    sitting.clear(2)
    copy = tmp_path / "after the fall"
    copy.mkdir()
    shutil.copy(tmp_path / FILE_NAME, copy)
    again = begin(Store.open(copy), BANK, "ada").sitting
    assert (again.attempt_id, again.open_items()) == (ids[0], [2])
    assert not again.response(2).blank


def event(folder: Path, change: str, attempt_id: str, body: object = None) -> None:
    """Does to the stored events what no quizapp does; `change` may use :attempt and :body."""
    db = sqlite3.connect(folder / FILE_NAME)
    with db:
        db.execute("DROP TRIGGER events_are_appended")
        key = db.execute("SELECT key FROM attempts WHERE id = ?", (attempt_id,)).fetchone()[0]
        db.execute(change, {"attempt": key, "body": body})
    db.close()


BODY = "UPDATE events SET body = :body WHERE seq = 2 AND attempt = :attempt"


@pytest.mark.parametrize(
    ("change", "body"),
    [
        ("DELETE FROM events WHERE type = 'started' AND attempt = :attempt", None),
        ("DELETE FROM events WHERE seq < 3 AND attempt = :attempt", None),
        ("UPDATE events SET type = 'started' WHERE seq = 1 AND attempt = :attempt", None),
        ("UPDATE events SET type = 'discarded', body = '{}' WHERE seq = 2 AND attempt = :attempt", None),
        (BODY, "[]"),
        (BODY, "3"),
        (BODY, '{"question_id": [1]'),
        (BODY, b"\xff\x00"),
        ("UPDATE events SET at_us = 'noon' WHERE seq = 2 AND attempt = :attempt", None),
        ("UPDATE events SET at_us = 9223372036854775807 WHERE seq = 2 AND attempt = :attempt", None),
    ],
)
def test_an_attempt_whose_events_make_no_sense_is_named_and_the_others_are_not_concerned(
    tmp_path: Path, change: str, body: object
) -> None:
    broken, other = fill(tmp_path)
    event(tmp_path, change, broken, body)
    store = Store.open(tmp_path)
    with pytest.raises(AttemptUnreadable) as told:
        store.show(broken)
    assert broken in told.value.message
    assert str(tmp_path / FILE_NAME) in told.value.message
    assert "--new" in told.value.hint
    assert len(store.show(other).events) > 5
    assert begin(store, BANK, "bob").sitting.attempt_id == other
    fresh = begin(store, BANK, "ada", fresh=True).sitting
    assert fresh.saved
    fresh.close()
    assert begin(store, BANK, "ada").sitting.attempt_id == fresh.attempt_id


def test_an_attempt_that_can_not_be_read_is_held_by_nobody(tmp_path: Path) -> None:
    broken, _ = fill(tmp_path)
    event(tmp_path, BODY, broken, "")
    store = Store.open(tmp_path)
    for _ in range(2):
        with pytest.raises(AttemptUnreadable):
            store.resume(broken, BANK)
    db = sqlite3.connect(tmp_path / FILE_NAME)
    assert db.execute("SELECT count(*) FROM leases").fetchone() == (0,)
    db.close()


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", json.dumps({"kind": "essay", "options": []})])
def test_a_presentation_that_can_not_be_read_is_named(tmp_path: Path, text: str) -> None:
    broken, _ = fill(tmp_path)
    db = sqlite3.connect(tmp_path / FILE_NAME)
    with db:
        db.execute("UPDATE snapshots SET question = ?", (text,))
    db.close()
    store = Store.open(tmp_path)
    record = store.show(broken)
    with pytest.raises(AttemptUnreadable, match=r"not as it was presented"):
        record.question("first")
    sitting = store.resume(broken, BANK)
    with pytest.raises(AttemptUnreadable, match=broken):
        sitting.question(0)


def test_without_a_usable_store_the_notice_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path)
    with (tmp_path / FILE_NAME).open("r+b") as file:
        file.write(b"\0" * 100)
    monkeypatch.setenv("QUIZAPP_STATE_DIR", str(tmp_path))
    store, notice = open_store()
    assert not store.saved
    assert notice.startswith(f"Nothing will be saved. {tmp_path / FILE_NAME} is damaged")
    assert "Move it away" in notice
    with pytest.raises(StoreUnavailable):
        Store.open(tmp_path)
