"""How much of an exam's time has passed, from what clocks read when a process took the exam up.

The limit is wall time: it runs on while quizapp is closed or the machine asleep. The system's clock can be
set, so it decides as little as possible:

- While one process has the exam, a count that nobody can set tells the time (store/clock.py).
- From one process to the next, the same count goes on for as long as the machine is not restarted.
- Over a restart, or on another machine, the system's clock tells what has passed, forward only. What the
  machine has been up since its restart has passed in any case, so a clock that is set back can hide only the
  time for which the machine was off.
"""

from __future__ import annotations

from typing import NamedTuple

from quizapp.assess.attempt import ClockRead


class Reading(NamedTuple):
    """What the clocks read, in microseconds.

    `boot` and `machine` name this run of the system and the machine, "" where the system does not tell;
    `count_us` has passed since the machine was started, `wall_us` since 1970 by the system's clock.
    """

    boot: str
    machine: str
    count_us: int
    wall_us: int


def passed_us(read: ClockRead, read_at_us: int, last_event_us: int, now: Reading) -> int:
    """Microseconds of the exam that have passed now.

    `read` is what the last process to take the exam up noted, at `read_at_us`; `last_event_us` is the time of
    the last thing that it recorded.
    """
    until_last_event = read.passed_us + max(0, last_event_us - read_at_us)
    if now.boot and now.boot == read.boot and now.count_us >= read.count_us:
        return max(until_last_event, read.passed_us + now.count_us - read.count_us)
    gap_us = max(0, now.wall_us - last_event_us)
    if now.machine and now.machine == read.machine:
        gap_us = max(gap_us, now.count_us)
    return until_last_event + gap_us


def in_words(remaining_s: float) -> str:
    """The time that is left, as it stands on a screen: `1:04:09`, `12:30`, `0:05`; never less than `0:00`."""
    # Whole seconds, rounded up: 0:00 is the end, and nothing before it.
    seconds = max(0, -int(-remaining_s // 1))
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return f"{hours}:{minutes:02}:{seconds % 60:02}" if hours else f"{minutes}:{seconds % 60:02}"


def is_near(remaining_s: float, limit_s: float) -> bool:
    """Whether the end is near enough for a warning: a tenth of the time is left, or five minutes if less."""
    return remaining_s <= min(limit_s / 10, 300.0)
