"""What the meters of a run say is wrong with it.

The thresholds were chosen on recorded runs (docs/demos.md tells how) and are frozen: a run whose planned
durations are all perturbed by 30 % must still be told right. They read the *compute* share, because
utilisation as nvidia-smi counts it calls a device busy that waits inside a collective.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from quizapp.lab.meters import deviation, measured, stats
from quizapp.lab.protocol import Outcome, Sample

DiagnosisName = Literal[
    "healthy", "imbalance", "input-bound", "launch-bound", "out-of-memory", "inconclusive"
]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Shares of time, 0 to 1, unless a unit is named."""

    healthy_least: float = 0.80
    """Every device computes at least this share …"""
    healthy_spread: float = 0.12
    """… and they differ by this much at most."""
    imbalance_spread: float = 0.25
    """Busiest and least busy device differ by this much at least …"""
    imbalance_most: float = 0.65
    """… and the busiest computes at least this share."""
    starved_most: float = 0.65
    """No device computes more than this share …"""
    starved_spread: float = 0.20
    """… and they differ by this much at most: all wait for the same thing."""
    data_wait: float = 0.35
    """Waiting for the loader this share of the time: bound by the input."""
    wave: float = 0.22
    """Without a data-wait meter: a compute share that varies this much in time comes in batches …"""
    steady: float = 0.10
    """… and one that varies this little is a stream of short kernels."""
    shortest_s: float = 1.0
    """Device time needed after the warm-up."""


THRESHOLDS = Thresholds()


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The name, the reason in words with the figures, and how far the nearest deciding threshold is."""

    name: DiagnosisName
    reason: str
    margin: float | None = None
    readings: dict[str, float] = field(default_factory=dict)


def diagnose(samples: Sequence[Sample], outcome: Outcome, devices: int) -> Diagnosis:
    """The diagnosis of a run on `devices` devices; inconclusive, and why, when the rules don't fit."""
    t = THRESHOLDS
    if outcome.outcome == "out-of-memory":
        words = f": {outcome.error.message}" if outcome.error and outcome.error.message else ""
        return Diagnosis("out-of-memory", f"the demo ended with an out-of-memory error{words}")
    if outcome.outcome in ("crashed", "timed-out"):
        words = f": {outcome.error.message}" if outcome.error else ""
        return Diagnosis("inconclusive", f"the run {outcome.outcome.replace('-', ' ')}{words}")
    counted = measured(samples)
    seconds = sum(sample.window_s for sample in counted)
    if seconds < t.shortest_s - 1e-9:
        return Diagnosis(
            "inconclusive", f"{seconds:.1f} s were measured after the warm-up, {t.shortest_s:g} s are needed"
        )
    compute = [stat for stat in stats(counted, "compute", devices) if stat is not None]
    if len(compute) < devices:
        return Diagnosis(
            "inconclusive",
            "the compute share is not available on every device, and utilisation alone "
            "does not tell work from waiting inside a collective",
        )
    least, most = min(stat.mean for stat in compute), max(stat.mean for stat in compute)
    spread = most - least
    waits = [stat.mean for stat in stats(counted, "data_wait", devices) if stat is not None]
    varying = [sd for i in range(devices) if (sd := deviation(counted, "compute", i, devices)) is not None]
    sd = sum(varying) / len(varying)
    readings = {"least": least, "most": most, "spread": spread, "sd": sd}
    # The early ranks of a starved job wait in the collective, not for their loader: the most tells.
    data_wait = max(waits) if len(waits) == devices else None
    if data_wait is not None:
        readings["data_wait"] = data_wait

    def found(name: DiagnosisName, reason: str, *margins: float) -> Diagnosis:
        return Diagnosis(name, reason, min(margins) if margins else None, readings)

    if least >= t.healthy_least and spread <= t.healthy_spread:
        return found(
            "healthy",
            f"every device computes {least:.0%} of the time or more, and they differ by {spread:.0%} at most",
            least - t.healthy_least,
            t.healthy_spread - spread,
        )
    if spread >= t.imbalance_spread and most >= t.imbalance_most:
        return found(
            "imbalance",
            f"the busiest device computes {most:.0%} of the time, the least busy one {least:.0%}",
            spread - t.imbalance_spread,
            most - t.imbalance_most,
        )
    if most <= t.starved_most and spread <= t.starved_spread:
        alike = (t.starved_most - most, t.starved_spread - spread)
        words = f"no device computes more than {most:.0%} of the time, and they are alike"
        if data_wait is not None and data_wait >= t.data_wait:
            return found(
                "input-bound",
                f"{words}; they wait for the next batch {data_wait:.0%} of the time",
                *alike,
                data_wait - t.data_wait,
            )
        if data_wait is None and sd >= t.wave:
            return found("input-bound", f"{words}; the work comes in waves (± {sd:.0%})", *alike, sd - t.wave)
        if sd <= t.steady:
            no_wait = () if data_wait is None else (t.data_wait - data_wait,)
            return found(
                "launch-bound",
                f"{words}, steadily (± {sd:.0%}): kernels too short to fill the time between their launches",
                *alike,
                t.steady - sd,
                *no_wait,
            )
        waits_words = (
            "" if data_wait is None else f", and they wait for data only {data_wait:.0%} of the time"
        )
        return found(
            "inconclusive", f"{words}; it varies too much for short kernels (± {sd:.0%}){waits_words}"
        )
    return found(
        "inconclusive",
        f"compute shares from {least:.0%} to {most:.0%} are neither healthy, nor one cause's known picture",
    )
