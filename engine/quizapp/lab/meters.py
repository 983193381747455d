"""Windows summed up: what one meter of one device did over a whole run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quizapp.lab.protocol import Sample

ZERO_BELOW = 0.005
"""What nvidia-smi shows as 0 %."""
_ADJACENT = 1e-6


@dataclass(frozen=True, slots=True)
class MeterStat:
    """A meter over a run, each window counted by its length. Shares are 0 to 1, memory is in bytes."""

    mean: float
    min: float
    max: float
    longest_zero_s: float
    """Longest stretch of device time at zero."""

    def as_json(self) -> dict[str, float]:
        """The four numbers by name."""
        return {"mean": self.mean, "min": self.min, "max": self.max, "longest_zero_s": self.longest_zero_s}


def measured(samples: Sequence[Sample]) -> list[Sample]:
    """The samples that count: those after the warm-up, in order of device time."""
    return sorted((sample for sample in samples if not sample.warmup), key=lambda sample: sample.t_s)


def stats(samples: Sequence[Sample], meter: str, devices: int) -> list[MeterStat | None]:
    """The meter of each device over `samples` (warm-up left out); None where it was never available."""
    counted = measured(samples)
    return [_stat(counted, [sample.reading(meter, devices)[i] for sample in counted]) for i in range(devices)]


def deviation(samples: Sequence[Sample], meter: str, device: int, devices: int) -> float | None:
    """Standard deviation of the meter over time on one device; None when it was never available."""
    counted = measured(samples)
    pairs = [(sample.window_s, sample.reading(meter, devices)[device]) for sample in counted]
    known = [(weight, value) for weight, value in pairs if value is not None]
    total = sum(weight for weight, _ in known)
    if not total:
        return None
    mean = sum(weight * value for weight, value in known) / total
    return float((sum(weight * (value - mean) ** 2 for weight, value in known) / total) ** 0.5)


def _stat(samples: Sequence[Sample], values: Sequence[float | None]) -> MeterStat | None:
    known = [
        (sample.window_s, value) for sample, value in zip(samples, values, strict=True) if value is not None
    ]
    if not known:
        return None
    total = sum(weight for weight, _ in known)
    return MeterStat(
        mean=sum(weight * value for weight, value in known) / total,
        min=min(value for _, value in known),
        max=max(value for _, value in known),
        longest_zero_s=_longest_zero_s(samples, values),
    )


def _longest_zero_s(samples: Sequence[Sample], values: Sequence[float | None]) -> float:
    longest = current = 0.0
    previous_end_s: float | None = None
    for sample, value in zip(samples, values, strict=True):
        begin_s = sample.t_s - sample.window_s
        # A hole in the samples is not known to be zero.
        follows = previous_end_s is None or begin_s - previous_end_s <= _ADJACENT + sample.window_s * 0.01
        if value is not None and value < ZERO_BELOW:
            current = (current if follows else 0.0) + sample.window_s
            longest = max(longest, current)
        else:
            current = 0.0
        previous_end_s = sample.t_s
    return longest
