"""A process is killed at any moment: what it was told is kept is there, and the store opens again."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from child_process import Child
from quizapp.assess.attempt import event_to_json
from quizapp.assess.response import Response
from quizapp.bank.model import Take
from quizapp.store import database
from quizapp.store.begin import begin
from quizapp.store.sitting import Sitting
from quizapp.store.store import Store
from sample_bank import MemoryBank, three_questions

BANK = MemoryBank(three_questions(), take=Take(shuffle=("questions", "options")))
Send = Callable[[str], None]


def acknowledge(send: Send, sitting: Sitting, known: int) -> int:
    """Sends the events that the sitting has recorded beyond the first `known`, as they are stored."""
    events = [event for _, event in sitting._events]
    for event in events[known:]:
        send(json.dumps(event_to_json(event)))
    return len(events)


def take_for_ever(folder: Path, seed: int, send: Send) -> None:
    """Answers at random, acknowledging each thing once the method that records it has returned."""
    draw = random.Random(seed)
    store = Store.open(folder)
    sitting = begin(store, BANK, "ada").sitting
    send(sitting.attempt_id)
    known = acknowledge(send, sitting, 0)
    while True:
        place = draw.randrange(sitting.total)
        open_item = not sitting.submitted(place)
        step = draw.random()
        if step < 0.3:
            sitting.show(place)
        elif step < 0.9 and open_item:
            sitting.respond(place, Response((draw.choice(sitting.option_order(place)),)))
        elif step < 0.91 and open_item:
            sitting.submit(place)
        else:
            sitting.predict(place, sitting.option_order(place)[0], "imbalance")
        known = acknowledge(send, sitting, known)


def stored(folder: Path, attempt_id: str) -> list[str]:
    record = Store.open(folder).show(attempt_id)
    return [json.dumps(event_to_json(event)) for _, event in record.events]


def test_killed_at_random_moments_again_and_again_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    draw = random.Random(20)
    attempts = set()
    acknowledged: list[str] = []
    for round_number in range(40):
        child = Child(lambda send, seed=round_number: take_for_ever(tmp_path, seed, send))  # type: ignore[misc]
        attempts.add(attempt_id := child.line())
        before = len(acknowledged)
        got = [child.line() for _ in range(before + draw.randrange(1, 30))]
        child.kill()
        got += child.rest()
        assert got[:before] == acknowledged, "the resumed attempt is the one that was left"
        kept = stored(tmp_path, attempt_id)
        assert kept[: len(got)] == got
        assert len(kept) - len(got) <= 2, "at most the step in flight is there without its acknowledgement"
        acknowledged = kept
    assert len(attempts) == 1, "each start resumed the attempt of the process that was killed"
    check = sqlite3.connect(tmp_path / "attempts.sqlite3").execute("PRAGMA integrity_check").fetchone()
    assert check == ("ok",)


def short_attempt(folder: Path, send: Send) -> None:
    store = Store.open(folder)
    sitting = begin(store, BANK, "ada").sitting
    send(sitting.attempt_id)
    known = acknowledge(send, sitting, 0)
    for place in sitting.open_items():
        for step in (
            lambda: sitting.show(place),  # noqa: B023
            lambda: sitting.respond(place, Response((sitting.option_order(place)[0],))),  # noqa: B023
            lambda: sitting.submit(place),  # noqa: B023
        ):
            step()
            known = acknowledge(send, sitting, known)
    sitting.finish()
    acknowledge(send, sitting, known)
    sitting.close()


def killed_before_statement(number: int, folder: Path, send: Send) -> None:
    """As `short_attempt`, but the process kills itself before its n-th SQL statement."""
    left = number
    connect = sqlite3.connect

    def count(_statement: str) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def traced(*args: object, **options: object) -> sqlite3.Connection:
        db: sqlite3.Connection = connect(*args, **options)  # type: ignore[call-overload]
        db.set_trace_callback(count)
        return db

    sqlite3.connect = traced  # type: ignore[assignment]
    short_attempt(folder, send)


def test_killed_before_each_single_statement_of_an_attempt(tmp_path: Path) -> None:
    number, code, resumed = 0, -signal.SIGKILL, 0
    while code == -signal.SIGKILL:
        number += 1
        folder = tmp_path / str(number)
        child = Child(lambda send, n=number, f=folder: killed_before_statement(n, f, send))  # type: ignore[misc]
        code = child.wait()
        lines = child.rest()
        if lines:
            assert stored(folder, lines[0])[: len(lines) - 1] == lines[1:]
        sitting = begin(Store.open(folder), BANK, "ada").sitting
        assert sitting.saved
        resumed += bool(lines) and sitting.attempt_id == lines[0]
        sitting.finish()
        sitting.close()
    assert code == 0
    # Creating the store, starting, three questions of three steps, finishing: far fewer would mean that the
    # kill missed its mark.
    assert number > 60
    assert resumed > 30


def hold(folder: Path, send: Send) -> None:
    sitting = begin(Store.open(folder), BANK, "ada").sitting
    send(sitting.attempt_id)
    signal.pause()


def test_a_living_holder_keeps_its_attempt_and_a_killed_one_gives_it_up(tmp_path: Path) -> None:
    from quizapp.store.store import AttemptHeld

    child = Child(lambda send: hold(tmp_path, send))
    attempt_id = child.line()
    store = Store.open(tmp_path)
    with pytest.raises(AttemptHeld, match=str(child.pid)) as held:
        begin(store, BANK, "ada")
    assert "--new" in held.value.hint
    fresh = begin(store, BANK, "ada", fresh=True).sitting
    assert fresh.attempt_id != attempt_id
    fresh.discard()
    fresh.close()
    child.kill()
    sitting = begin(store, BANK, "ada").sitting
    assert (sitting.attempt_id, sitting.saved) == (attempt_id, True)


def test_a_stopped_process_is_still_a_holder(tmp_path: Path) -> None:
    from quizapp.store.store import AttemptHeld

    child = Child(lambda send: hold(tmp_path, send))
    child.line()
    os.kill(child.pid, signal.SIGSTOP)
    os.waitpid(child.pid, os.WUNTRACED)
    with pytest.raises(AttemptHeld):
        begin(Store.open(tmp_path), BANK, "ada")
    child.kill()


def test_a_pid_that_came_back_is_not_the_holder(tmp_path: Path) -> None:
    store = Store.open(tmp_path)
    first = begin(store, BANK, "ada").sitting
    db = sqlite3.connect(tmp_path / "attempts.sqlite3")
    with db:
        db.execute("UPDATE leases SET process = 'another boot 12345'")
    db.close()
    again = begin(store, BANK, "ada").sitting
    assert again.attempt_id == first.attempt_id


def test_a_taker_whose_attempt_was_taken_over_writes_nothing_more(tmp_path: Path) -> None:
    from quizapp.store.store import AttemptHeld

    store = Store.open(tmp_path)
    first = begin(store, BANK, "ada").sitting
    first.show(0)
    db = sqlite3.connect(tmp_path / "attempts.sqlite3")
    with db:
        db.execute("UPDATE leases SET process = 'another boot 12345'")
    db.close()
    second = begin(store, BANK, "ada").sitting
    with pytest.raises(AttemptHeld, match="taken over"):
        first.respond(0, Response(first.option_order(0)[:1]))
    assert first.response(0).blank
    first.close()
    second.respond(0, Response(second.option_order(0)[:1]))
    assert not second.response(0).blank


def write_many(folder: Path, learner: str, send: Send) -> None:
    sitting = begin(Store.open(folder), BANK, learner).sitting
    send(sitting.attempt_id)
    sitting.show(0)
    for number in range(40):
        sitting.respond(0, Response((sitting.option_order(0)[number % 2],)))
    sitting.close()


def test_eight_takers_at_once_create_the_store_and_lose_nothing(tmp_path: Path) -> None:
    children = [
        Child(lambda send, name=f"learner {number}": write_many(tmp_path, name, send))  # type: ignore[misc]
        for number in range(8)
    ]
    ids = [child.line() for child in children]
    assert [child.wait() for child in children] == [0] * 8
    for attempt_id in ids:
        assert len(stored(tmp_path, attempt_id)) == 42


def test_a_second_opening_in_one_process_takes_nothing_from_the_first(tmp_path: Path) -> None:
    # POSIX drops all locks of a process on a file with any closing of it: a process that opens the store
    # twice must not lose those of its first connection, or another one deletes the log that it writes to.
    first = Store.open(tmp_path)
    sitting = begin(first, BANK, "ada").sitting
    sitting.show(0)
    second = Store.open(tmp_path)
    assert len(second.attempts()) == 1
    events = (
        "import sys\nfrom pathlib import Path\nfrom quizapp.store.store import Store\n"
        "store = Store.open(Path(sys.argv[1]))\n"
        "print(len(store.show(sys.argv[2]).events))\n"
        "store.close()"
    )

    def seen_by_another() -> int:
        # Not forked: a forked process would inherit the connections of this one.
        command = [sys.executable, "-c", events, str(tmp_path), sitting.attempt_id]
        env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        return int(subprocess.run(command, capture_output=True, check=True, env=env).stdout)

    assert seen_by_another() == 2
    sitting.respond(0, Response(sitting.option_order(0)[:1]))
    assert seen_by_another() == 3
    second.close()


def test_a_writer_that_is_killed_in_its_turn_gives_it_up(tmp_path: Path) -> None:
    from quizapp.store.database import in_turn

    def writes_for_ever(send: Send) -> None:
        store = Store.open(tmp_path)
        with in_turn(store._db):
            send("mine")
            signal.pause()

    child = Child(writes_for_ever)
    assert child.line() == "mine"
    child.kill()
    sitting = begin(Store.open(tmp_path), BANK, "ada").sitting
    sitting.show(0)
    assert sitting.saved


def test_a_store_without_a_place_for_the_turn_is_written_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "attempts.sqlite3-turn").mkdir()
    children = [
        Child(lambda send, name=f"learner {number}": write_many(tmp_path, name, send))  # type: ignore[misc]
        for number in range(2)
    ]
    ids = [child.line() for child in children]
    assert [child.wait() for child in children] == [0, 0]
    assert all(len(stored(tmp_path, attempt_id)) == 42 for attempt_id in ids)


def test_processes_that_create_the_store_at_once_take_it_for_nobody_elses(tmp_path: Path) -> None:
    for number in range(15):
        folder = tmp_path / f"{number}"
        children = [Child(lambda send, f=folder: Store.open(f).close()) for _ in range(4)]  # type: ignore[misc]
        assert [child.wait() for child in children] == [0] * 4


def test_a_store_that_another_process_creates_between_two_looks_is_taken_for_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = []
    look = database._is_empty

    def look_and_be_overtaken(db: sqlite3.Connection) -> bool:
        found = look(db)
        if not looked:
            looked.append(found)
            monkeypatch.setattr(database, "_is_empty", look)
            assert Child(lambda send: Store.open(tmp_path).close()).wait() == 0
        return found

    monkeypatch.setattr(database, "_is_empty", look_and_be_overtaken)
    Store.open(tmp_path).close()
    assert looked == [True]
