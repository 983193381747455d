"""From the kernels that torch.profiler saw to what a device did: compute, collective, idle. No torch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from quizapp.lab.timeline import Interval


class Kernel(NamedTuple):
    """One kernel on a device, in seconds since the run began."""

    name: str
    device: int
    start_s: float
    end_s: float

    @property
    def communicates(self) -> bool:
        """NCCL's kernels were called ncclKernel…, and ncclDevKernel… since 2.19."""
        return self.name.startswith("nccl")


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """The time covered by at least one of the intervals: kernels on several streams overlap."""
    covered: list[Interval] = []
    for start_s, end_s in sorted(intervals):
        if covered and start_s <= covered[-1][1]:
            covered[-1] = (covered[-1][0], max(covered[-1][1], end_s))
        elif end_s > start_s:
            covered.append((start_s, end_s))
    return covered


def phases(kernels: Iterable[Kernel], device: int) -> tuple[list[Interval], list[Interval]]:
    """When the device computed, and when a collective's kernel was on it."""
    mine = [kernel for kernel in kernels if kernel.device == device]
    compute = union((kernel.start_s, kernel.end_s) for kernel in mine if not kernel.communicates)
    collective = union((kernel.start_s, kernel.end_s) for kernel in mine if kernel.communicates)
    return compute, collective
