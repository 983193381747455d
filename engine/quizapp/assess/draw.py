"""Questions, and orders of questions and options, drawn from a seed.

The random words come from SHAKE-256 over the seed and a purpose, not from a library's generator: equal on
every platform, Python and release. The tests hold golden values; changing what comes out of here would
change what an attempt's seed means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from quizapp.bank.pools import Pool


class HasOptions(Protocol):
    """What the order of options depends on."""

    @property
    def id(self) -> str: ...
    @property
    def option_ids(self) -> Sequence[str]: ...
    @property
    def pins(self) -> Mapping[str, str]: ...


def order_questions(question_ids: Sequence[str], seed: int, shuffle: bool) -> tuple[str, ...]:
    """The questions in the order of the attempt; as in the bank unless shuffled."""
    return _shuffled(question_ids, seed, "questions") if shuffle else tuple(question_ids)


def draw_sections(pools: Sequence[Pool], seed: int, shuffle: bool) -> tuple[str, ...]:
    """The questions of each section, one section after the other; in the bank's order unless shuffled.

    A count takes as many; a time budget takes, in a drawn order, each question whose target time still fits,
    and leaves those that have none. ValueError for a count that is larger than its pool.
    """
    drawn: list[str] = []
    for number, (section, questions) in enumerate(pools):
        ids = [question.id for question in questions]
        # Named by what it draws from, a section that is moved keeps its draw.
        purpose = f"section {' '.join(sorted(section.objectives))}"
        dealt = _shuffled(ids, seed, purpose)
        if section.time_budget_s is not None:
            dealt = _fitting(dealt, {q.id: q.target_time_s for q in questions}, section.time_budget_s)
        elif section.count is not None:
            if section.count > len(ids):
                raise ValueError(f"section {number + 1} draws {section.count} of {len(ids)}")
            dealt = dealt[: section.count]
        if not shuffle:
            chosen = frozenset(dealt)
            dealt = tuple(question_id for question_id in ids if question_id in chosen)
        drawn += dealt
    return tuple(drawn)


def _fitting(dealt: Sequence[str], times_s: Mapping[str, float | None], budget_s: float) -> tuple[str, ...]:
    taken: list[str] = []
    for question_id in dealt:
        time_s = times_s[question_id]
        if time_s is not None and time_s <= budget_s:
            taken.append(question_id)
            budget_s -= time_s
    return tuple(taken)


def order_options(question: HasOptions, seed: int, shuffle: bool) -> tuple[str, ...]:
    """The option ids in the order of presentation; pins (`first`, `last`) hold whether shuffled or not."""
    pins = question.pins
    first = [option_id for option_id in question.option_ids if pins.get(option_id) == "first"]
    last = [option_id for option_id in question.option_ids if pins.get(option_id) == "last"]
    free = [option_id for option_id in question.option_ids if pins.get(option_id) not in ("first", "last")]
    middle = _shuffled(free, seed, f"options {question.id}") if shuffle else tuple(free)
    return (*first, *middle, *last)


def draw_places(question_id: str, counts: Mapping[str, int], seed: int, number: int = 0) -> dict[str, int]:
    """For each variable a place below its count. `number` tells apart the draws of one attempt."""
    return {
        name: _word(seed, f"variable {question_id} {name} {number}") * count >> 32
        for name, count in counts.items()
    }


def scramble(ids: Sequence[str], seed: int, purpose: str) -> tuple[str, ...]:
    """The ids in an order that is never the one given, where there are two or more."""
    drawn = _shuffled(ids, seed, purpose)
    return drawn if drawn != tuple(ids) else (*drawn[1:], *drawn[:1])


def _shuffled(ids: Sequence[str], seed: int, purpose: str) -> tuple[str, ...]:
    words = _words(seed, purpose, len(ids))
    return tuple(map(ids.__getitem__, sorted(range(len(ids)), key=words.__getitem__)))


def _word(seed: int, purpose: str) -> int:
    return int.from_bytes(_stream(seed, purpose, 4), "big")


def _words(seed: int, purpose: str, count: int) -> list[int]:
    """Random words to sort by. Of a billion pairs one ties, and keeps its order: that is fair enough."""
    from struct import unpack

    # Python compares integers of 30 bits twice as fast as longer ones.
    return [word >> 2 for word in unpack(f">{count}I", _stream(seed, purpose, 4 * count))]


def _stream(seed: int, purpose: str, size: int) -> bytes:
    try:
        # hashlib loads OpenSSL for the same function: a fifth of what Python itself takes to start.
        from _sha3 import shake_256  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import shake_256

    stream: bytes = shake_256(f"quizapp draw 1\0{seed}\0{purpose}".encode()).digest(size)
    return stream
