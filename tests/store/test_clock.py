"""A clock that jumps: events stay in their order, and no time on task is negative or invented."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizapp.assess.response import Response
from quizapp.store import clock
from quizapp.store.clock import SteadyClock
from quizapp.store.store import Store
from sample_bank import MemoryBank, three_questions

YEAR_NS = 365 * 86_400 * 1_000_000_000
BANK = MemoryBank(three_questions())


class Wall:
    """The system's clock in our hands; the machine's own count goes on as it is told."""

    def __init__(self, patched: pytest.MonkeyPatch) -> None:
        self.wall_ns = 1_800_000_000 * 1_000_000_000
        self.passed_ns = 5_000_000_000
        patched.setattr(time, "time_ns", lambda: self.wall_ns)
        patched.setattr(clock, "_passed_ns", lambda: self.passed_ns)

    def passes(self, seconds: float) -> None:
        self.wall_ns += int(seconds * 1e9)
        self.passed_ns += int(seconds * 1e9)


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> Wall:
    return Wall(monkeypatch)


@pytest.mark.parametrize("jumps", [(-YEAR_NS, YEAR_NS), (YEAR_NS, -2 * YEAR_NS), (-1, 1), (YEAR_NS, YEAR_NS)])
def test_a_clock_that_is_set_while_a_question_is_open_changes_no_time_on_it(
    tmp_path: Path, wall: Wall, jumps: tuple[int, int]
) -> None:
    store = Store.open(tmp_path)
    sitting = store.start(BANK, "ada")
    for place in range(3):
        sitting.show(place)
        wall.passes(20)
        wall.wall_ns += jumps[place % 2]
        sitting.respond(place, Response(sitting.option_order(place)[:1]))
        wall.passes(10)
        sitting.submit(place)
    sitting.finish()
    sitting.close()
    record = store.show(sitting.attempt_id)
    times = [at for at, _ in record.events]
    assert times == sorted(times)
    for item in record.attempt.items:
        assert item.submitted_at_us - item.shown_at_us == 30_000_000
    assert times[-1] - times[0] == timedelta(seconds=90)


def test_an_attempt_that_goes_on_under_a_clock_set_back_goes_on_after_its_last_event(
    tmp_path: Path, wall: Wall
) -> None:
    store = Store.open(tmp_path)
    sitting = store.start(BANK, "ada")
    wall.passes(60)
    sitting.show(0)
    sitting.close()
    wall.wall_ns -= YEAR_NS
    again = store.resume(sitting.attempt_id, BANK)
    wall.passes(5)
    again.respond(0, Response(again.option_order(0)[:1]))
    again.submit(0)
    again.finish()
    again.close()
    record = store.show(sitting.attempt_id)
    times = [at for at, _ in record.events]
    assert times == sorted(times)
    item = record.attempt.item(sitting.question_id(0))
    assert item.submitted_at_us - item.shown_at_us == 5_000_000
    summary = store.attempts()[0]
    assert summary.finished_at is not None
    assert summary.finished_at >= summary.started_at


@given(st.lists(st.tuples(st.integers(0, 10**15), st.integers(-(10**18), 10**18)), max_size=30))
def test_whatever_the_systems_clock_does_the_sittings_clock_counts_what_passes(
    steps: list[tuple[int, int]],
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        wall = Wall(patched)
        steady = SteadyClock()
        began = steady.now_us()
        passed = 0
        for passing, jump in steps:
            wall.passed_ns += passing
            passed += passing
            wall.wall_ns += passing + jump
            assert steady.now_us() == began + passed // 1000


def test_a_sitting_begins_at_the_systems_time() -> None:
    before = clock.now_us()
    got = SteadyClock().now_us()
    assert before <= got <= clock.now_us() + 1
    assert SteadyClock(not_before_us=before + 10**12).now_us() >= before + 10**12
