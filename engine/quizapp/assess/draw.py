"""Orders of questions and options, drawn from a seed.

The random words come from SHAKE-256 over the seed and a purpose, not from a library's generator: equal on
every platform, Python and release. The tests hold golden values; changing what comes out of here would
change what an attempt's seed means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol


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


def order_options(question: HasOptions, seed: int, shuffle: bool) -> tuple[str, ...]:
    """The option ids in the order of presentation; pins (`first`, `last`) hold whether shuffled or not."""
    pins = question.pins
    first = [option_id for option_id in question.option_ids if pins.get(option_id) == "first"]
    last = [option_id for option_id in question.option_ids if pins.get(option_id) == "last"]
    free = [option_id for option_id in question.option_ids if pins.get(option_id) not in ("first", "last")]
    middle = _shuffled(free, seed, f"options {question.id}") if shuffle else tuple(free)
    return (*first, *middle, *last)


def _shuffled(ids: Sequence[str], seed: int, purpose: str) -> tuple[str, ...]:
    words = _words(seed, purpose, len(ids))
    return tuple(map(ids.__getitem__, sorted(range(len(ids)), key=words.__getitem__)))


def _words(seed: int, purpose: str, count: int) -> list[int]:
    """Random words to sort by. Of a billion pairs one ties, and keeps its order: that is fair enough."""
    from struct import unpack

    try:
        # hashlib loads OpenSSL for the same function: a fifth of what Python itself takes to start.
        from _sha3 import shake_256  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import shake_256

    stream = shake_256(f"quizapp draw 1\0{seed}\0{purpose}".encode()).digest(4 * count)
    # Python compares integers of 30 bits twice as fast as longer ones.
    return [word >> 2 for word in unpack(f">{count}I", stream)]
