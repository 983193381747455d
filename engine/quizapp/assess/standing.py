"""Several attempts of one learner on one bank: the first, the best and the last are kept apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol, TypeVar


class Attempted(Protocol):
    """What is asked of a finished attempt."""

    @property
    def learner(self) -> str: ...
    @property
    def bank_id(self) -> str: ...
    @property
    def mode(self) -> str: ...
    @property
    def total(self) -> int: ...
    @property
    def points(self) -> float: ...
    @property
    def max_points(self) -> float: ...


_Attempt = TypeVar("_Attempt", bound=Attempted)


class Standing(NamedTuple):
    """Attempts of a learner on a bank in a mode; each of the three is one of them."""

    first: Attempted
    best: Attempted
    last: Attempted
    attempts: int


def standings(finished: Iterable[_Attempt]) -> list[Standing]:
    """One for each learner, bank and mode, in order of their first attempts; `finished` is oldest first.

    An attempt on fewer questions than the first one was redone in part, and does not count. Of equally good
    attempts the earlier is the best.
    """
    groups: dict[tuple[str, str, str], list[_Attempt]] = {}
    for attempt in finished:
        group = groups.setdefault((attempt.learner, attempt.bank_id, attempt.mode), [])
        if not group or attempt.total >= group[0].total:
            group.append(attempt)
    return [Standing(group[0], max(group, key=share), group[-1], len(group)) for group in groups.values()]


def share(attempt: Attempted) -> float:
    """Points of the points to be had, 0 to 1."""
    return attempt.points / attempt.max_points if attempt.max_points else 0.0
