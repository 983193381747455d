"""The store's time is UTC in microseconds; what people see is their own. Nothing else converts."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, tzinfo


def now_us() -> int:
    """Microseconds since 1970, UTC."""
    return time.time_ns() // 1000


def to_datetime(at_us: int) -> datetime:
    """A stored time as an aware UTC datetime."""
    return datetime.fromtimestamp(at_us / 1e6, UTC)


def local(moment: datetime, zone: tzinfo | None = None) -> datetime:
    """An aware time in the learner's zone: the system's unless one is given."""
    return moment.astimezone(zone)


def learner_day(moment: datetime, zone: tzinfo | None = None) -> date:
    """The learner's day at an aware moment: every view that counts days asks here."""
    return local(moment, zone).date()


def on_screen(moment: datetime, zone: tzinfo | None = None) -> str:
    """An aware time as it is shown: `2026-03-01 14:05`, local."""
    return local(moment, zone).strftime("%Y-%m-%d %H:%M")
