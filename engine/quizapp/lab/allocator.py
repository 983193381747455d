"""The memory of one emulated device: bookkeeping by category against a stated capacity. Nothing is
allocated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

GIB = 2**30
MIB = 2**20

# A request in several pieces is rounded piece by piece.
_ROUNDING_BYTES = 4096

Refuse = Callable[[str], NoReturn]


class DeviceMemory:
    """What a device holds, in bytes; a request beyond the capacity is refused as PyTorch's allocator refuses
    it.

    Every emulated request is exact: there is no fragmentation and no cache, so nothing is reserved and
    unused.
    """

    def __init__(self, name: str, capacity_bytes: float, context_bytes: float, refuse: Refuse) -> None:
        self.name = name
        self.capacity_bytes = int(capacity_bytes)
        self.context_bytes = int(context_bytes)
        self.refuse = refuse
        self.held: dict[str, int] = {}
        self.peak_bytes = self.context_bytes
        self.peak: dict[str, int] = {}

    @property
    def used_bytes(self) -> int:
        """All that nvidia-smi would show, the context included."""
        return self.context_bytes + sum(self.held.values())

    def alloc(self, category: str, requested_bytes: float) -> int:
        """Take `requested_bytes` for `category`; returns what is used then, or refuses."""
        request = int(requested_bytes)
        used = self.used_bytes
        if used + request > self.capacity_bytes:
            self.refuse(self._refusal(request, used))
        self.held[category] = self.held.get(category, 0) + request
        used += request
        if used > self.peak_bytes:
            self.peak_bytes = used
            self.peak = dict(self.held)
        return used

    def free(self, category: str, released_bytes: float) -> int:
        """Give back `released_bytes` of `category`; returns what is used then."""
        left = self.held.get(category, 0) - int(released_bytes)
        if left < -_ROUNDING_BYTES:
            raise ValueError(f"{category}: more is freed than held")
        self.held[category] = max(left, 0)
        return self.used_bytes

    def free_all(self, category: str) -> int:
        self.held.pop(category, None)
        return self.used_bytes

    def _refusal(self, request: int, used: int) -> str:
        return (
            f"Tried to allocate {_size(request)}. {self.name} has a total capacity of "
            f"{_size(self.capacity_bytes)} of which {_size(self.capacity_bytes - used)} is free. "
            f"Of the allocated memory {_size(used - self.context_bytes)} is allocated by PyTorch, "
            "and 0 bytes is reserved by PyTorch but unallocated."
        )


def _size(count: int) -> str:
    return f"{count / GIB:.2f} GiB" if count >= GIB else f"{count / MIB:.2f} MiB"
