"""Joins what the ranks measured, window by window, into the job's samples. No torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = Sequence[float]
"""compute, collective, data_wait, host_wait (shares), memory_bytes."""


@dataclass
class Merger:
    """Holds the windows of every device until all devices have one for the same stretch of time."""

    devices: int
    ranks: int
    zero_monotonic_s: float | None = None
    """The system's monotonic clock when the run's time began, on real devices."""
    _rows: dict[int, dict[int, Row]] = field(default_factory=dict)
    _steps: dict[int, dict[int, int]] = field(default_factory=dict)
    _spans: dict[int, tuple[float, float]] = field(default_factory=dict)
    _warmup: dict[int, bool] = field(default_factory=dict)
    _next: int = 0

    def add(
        self,
        rank: int,
        first: int,
        spans: Sequence[Sequence[float]],
        rows: Mapping[int, Sequence[Row]],
        steps: Sequence[int],
        warmup: bool,
    ) -> None:
        """The windows from number `first` on, from and to `spans`, of the devices of one rank."""
        for offset, (start_s, end_s) in enumerate(spans):
            number = first + offset
            self._spans[number] = (start_s, end_s)
            self._steps.setdefault(number, {})[rank] = steps[offset]
            self._warmup[number] = self._warmup.get(number, False) or warmup
            for device, windows in rows.items():
                self._rows.setdefault(number, {})[device] = windows[offset]

    def samples(self) -> Iterator[dict[str, Any]]:
        """Every window that is complete by now, as a line of the protocol."""
        while (
            len(self._rows.get(self._next, ())) == self.devices and len(self._steps[self._next]) == self.ranks
        ):
            yield self._sample(self._next)
            self._next += 1

    def _sample(self, number: int) -> dict[str, Any]:
        rows = self._rows.pop(number)
        ordered = [rows[device] for device in sorted(rows)]
        start_s, end_s = self._spans.pop(number)
        compute, collective, data_wait, host_wait, memory = zip(*ordered, strict=True)
        # On real devices utilisation is what NVML reads: the parent fills it in.
        util = [
            None if self.zero_monotonic_s is not None else _share(a + b)
            for a, b in zip(compute, collective, strict=True)
        ]
        sample = {
            "v": 1,
            "type": "sample",
            "t_s": round(end_s, 6),
            "window_s": round(end_s - start_s, 6),
            "step": min(self._steps.pop(number).values()),
            "warmup": self._warmup.pop(number),
            "meters": {
                "util": util,
                "compute": [_share(value) for value in compute],
                "collective": [_share(value) for value in collective],
                "data_wait": [_share(value) for value in data_wait],
                "host_wait": [_share(value) for value in host_wait],
                "memory_bytes": [int(value) for value in memory],
            },
        }
        if self.zero_monotonic_s is not None:
            sample["monotonic_s"] = self.zero_monotonic_s + end_s
        return sample


def _share(value: float) -> float:
    return round(min(max(value, 0.0), 1.0), 4)
