"""An exam's time: what has passed by clocks that may be set, stopped or swapped meanwhile."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizapp.assess.attempt import ClockRead
from quizapp.assess.exam_clock import Reading, in_words, is_near, passed_us

S = 1_000_000
START = 1_800_000_000 * S
# Taken up 100 s after the machine was started, with 10 s of the exam gone; something was recorded 5 s later.
READ = ClockRead("boot-1", "host", 100 * S, 10 * S)


def passed_s(now: Reading) -> float:
    return passed_us(READ, START, START + 5 * S, now) / S


@pytest.mark.parametrize("clock_s", [-86400, 0, 30, 86400])
def test_while_the_machine_runs_the_system_clock_says_nothing(clock_s: int) -> None:
    assert passed_s(Reading("boot-1", "host", 160 * S, START + clock_s * S)) == 70


def test_over_a_restart_the_system_clock_goes_on_and_never_back() -> None:
    assert passed_s(Reading("boot-2", "host", 20 * S, START + 65 * S)) == 10 + 5 + 60
    # Set back by a day, it can't hide what the machine has been up since.
    assert passed_s(Reading("boot-2", "host", 20 * S, START - 86400 * S)) == 10 + 5 + 20


def test_another_machine_that_has_been_up_for_long_costs_nothing() -> None:
    assert passed_s(Reading("boot-9", "elsewhere", 10**6 * S, START + 15 * S)) == 10 + 5 + 10


def test_without_a_name_of_the_boot_the_system_clock_has_to_do() -> None:
    read = ClockRead("", "", 100 * S, 10 * S)
    assert passed_us(read, START, START + 5 * S, Reading("", "", 160 * S, START + 65 * S)) == 75 * S
    assert passed_us(read, START, START + 5 * S, Reading("", "", 160 * S, START - 65 * S)) == 15 * S


@given(
    st.sampled_from(["boot-1", "boot-2", ""]),
    st.sampled_from(["host", "elsewhere", ""]),
    st.integers(0, 10**15),
    st.integers(0, 10**17),
)
def test_whatever_clocks_read_no_time_comes_back(boot: str, machine: str, count: int, wall: int) -> None:
    assert passed_us(READ, START, START + 5 * S, Reading(boot, machine, count, wall)) >= 15 * S


@pytest.mark.parametrize(
    ("left_s", "words"),
    [
        (1800, "30:00"),
        (59.2, "1:00"),
        (5, "0:05"),
        (0.1, "0:01"),
        (0, "0:00"),
        (-3, "0:00"),
        (3849, "1:04:09"),
    ],
)
def test_the_time_in_words(left_s: float, words: str) -> None:
    assert in_words(left_s) == words


def test_the_warning_comes_for_the_last_tenth_or_five_minutes() -> None:
    assert [is_near(left, 600) for left in (61, 60)] == [False, True]
    assert [is_near(left, 7200) for left in (301, 300)] == [False, True]
