"""The queue between a loader's workers and the training loop, in logical time. No torch."""

from __future__ import annotations

from collections import deque


class WorkerQueue:
    """When each batch of a DataLoader is ready, given what its decoding takes.

    Batch k is made by worker k modulo `workers`, one batch after the other. A worker begins a batch as soon
    as it is free and no more than `workers * prefetch` batches are begun and not yet taken, as torch's
    DataLoader hands them out.
    """

    def __init__(self, workers: int, prefetch: int = 2) -> None:
        if workers < 1:
            raise ValueError("without workers the loop decodes by itself: there is no queue")
        self._free_s = [0.0] * workers
        self._taken_s = deque([0.0] * (workers * prefetch))
        self._next = 0

    def ready_s(self, decode_s: float) -> float:
        """The moment at which the next batch, that takes `decode_s` to make, is ready."""
        worker = self._next % len(self._free_s)
        ready_s = max(self._free_s[worker], self._taken_s.popleft()) + decode_s
        self._free_s[worker] = ready_s
        self._next += 1
        return ready_s

    def taken(self, moment_s: float) -> None:
        """The loop took that batch at `moment_s`: there is room for another."""
        self._taken_s.append(moment_s)
