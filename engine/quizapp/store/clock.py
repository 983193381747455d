"""The store's time is UTC in microseconds; what people see is their own. Nothing else converts."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, tzinfo
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quizapp.assess.exam_clock import Reading


def now_us() -> int:
    """Microseconds since 1970, UTC."""
    return time.time_ns() // 1000


class SteadyClock:
    """The time of one sitting: it only goes forward, whatever is done to the system's clock meanwhile.

    It begins at the system's time, or at `not_before_us` where that is later, and then counts what passes,
    sleep of the machine included where the system tells.
    """

    def __init__(self, not_before_us: int = 0) -> None:
        self._began_us = max(now_us(), not_before_us)
        self._count_ns = _passed_ns()

    def now_us(self) -> int:
        """Microseconds since 1970, UTC; never less than it was before."""
        return self._began_us + (_passed_ns() - self._count_ns) // 1000


def reading() -> Reading:
    """What this machine's clocks read now."""
    from quizapp.assess.exam_clock import Reading

    return Reading(_first_line("/proc/sys/kernel/random/boot_id"), _machine(), _passed_ns() // 1000, now_us())


def _machine() -> str:
    # machine-id(5): the id itself is not to be told, a keyed hash of it may be.
    known = _first_line("/etc/machine-id")
    if not known:
        return ""
    import hashlib

    return hashlib.blake2b(known.encode(), key=b"quizapp", digest_size=8).hexdigest()


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            return file.readline().strip()
    except (OSError, ValueError):
        return ""


def _passed_ns() -> int:
    # Linux: CLOCK_MONOTONIC stands still while a laptop sleeps.
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) if _COUNTS_SLEEP else time.monotonic_ns()


_COUNTS_SLEEP = hasattr(time, "CLOCK_BOOTTIME")


def to_datetime(at_us: int) -> datetime:
    """A stored time as an aware UTC datetime."""
    return datetime.fromtimestamp(at_us / 1e6, UTC)


def local(moment: datetime, zone: tzinfo | None = None) -> datetime:
    """An aware time in the learner's zone: the system's unless one is given."""
    return moment.astimezone(zone)


def learner_day(moment: datetime, zone: tzinfo | None = None) -> date:
    """The calendar day at an aware moment. Reviews count days that end in the night: assess/review.py."""
    return local(moment, zone).date()


def on_screen(moment: datetime, zone: tzinfo | None = None) -> str:
    """An aware time as it is shown: `2026-03-01 14:05`, local."""
    return local(moment, zone).strftime("%Y-%m-%d %H:%M")
