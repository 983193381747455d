"""Whether a run shows what a stem claims: each predicate read against the run's meters."""

from __future__ import annotations

from dataclasses import dataclass

from quizapp.bank.model import Predicate, Range, Symptom
from quizapp.lab.meters import MeterStat
from quizapp.lab.summary import RunSummary

_SHARES = ("util", "compute", "collective", "data_wait", "host_wait")
_STATISTICS = ("mean", "minimum", "maximum", "longest_zero_s")
_NAMES = {
    "util": "utilisation",
    "compute": "compute",
    "collective": "collective",
    "data_wait": "data wait",
    "host_wait": "host wait",
    "memory_bytes": "memory",
    "processes": "processes",
    "steps_per_s": "steps per second",
}


@dataclass(frozen=True, slots=True)
class PredicateReading:
    """One predicate beside what was measured."""

    predicate: Predicate
    holds: bool
    available: bool
    """False when the run, or its control, has no such reading; the predicate then doesn't hold."""
    condition: str
    """What is asked of the reading: `devices with utilisation at zero for ≥ 1 s`."""
    wanted: str
    measured: str
    margin: float | None
    """How far the reading that decides is from its bound, in the reading's own unit, never negative."""

    def __str__(self) -> str:
        return f"{self.condition}: wanted {self.wanted}, measured {self.measured}"


def evaluate(
    symptom: Symptom, summary: RunSummary, control: RunSummary | None = None
) -> list[PredicateReading]:
    """Each predicate of the symptom against the run, in order. `control`: for predicates relative to it."""
    return [_read(predicate, summary, control) for predicate in symptom.where]


def shows(readings: list[PredicateReading]) -> bool:
    """Whether the run shows the whole symptom."""
    return all(reading.holds for reading in readings)


def _read(predicate: Predicate, summary: RunSummary, control: RunSummary | None) -> PredicateReading:
    if predicate.event is not None:
        happened = summary.outcome == predicate.event
        words = {True: "happens", False: "does not happen"}
        return PredicateReading(
            predicate,
            happened == predicate.present,
            True,
            predicate.event,
            words[predicate.present],
            words[happened],
            None,
        )
    if predicate.meter in ("processes", "steps_per_s"):
        return _read_job(predicate, predicate.meter, summary, control)
    if predicate.meter is None:
        raise ValueError("a predicate needs a meter or an event")
    return _read_devices(predicate, predicate.meter, summary, control)


def _read_job(
    predicate: Predicate, meter: str, summary: RunSummary, control: RunSummary | None
) -> PredicateReading:
    condition = _NAMES[meter]
    wanted_range = predicate.value or Range()
    relative = predicate.relative_to is not None
    wanted = _range_words(wanted_range, meter, relative=relative)
    value = _job_value(summary, meter)
    if relative:
        condition += " relative to the control"
        base = None if control is None else _job_value(control, meter)
        value = None if value is None or not base else value / base
    if value is None:
        return PredicateReading(predicate, False, False, condition, wanted, _missing(relative, control), None)
    distance = _distance(value, wanted_range)
    return PredicateReading(
        predicate,
        _within(value, wanted_range),
        True,
        condition,
        wanted,
        _number_words(value, meter, relative=relative),
        None if distance is None else abs(distance),
    )


def _job_value(summary: RunSummary, meter: str) -> float | None:
    value = summary.processes if meter == "processes" else summary.steps_per_s
    return None if value is None else float(value)


def _read_devices(
    predicate: Predicate, meter: str, summary: RunSummary, control: RunSummary | None
) -> PredicateReading:
    relative = predicate.relative_to is not None
    conditions = [
        (name, bounds) for name in _STATISTICS if (bounds := getattr(predicate, name)) is not None
    ] or ([("mean", predicate.value)] if predicate.value is not None else [])
    condition = _condition_words(meter, conditions, relative=relative)
    wanted_count = summary.devices if predicate.devices in ("all", None) else int(predicate.devices or 0)
    wanted = "all" if predicate.devices in ("all", None) else str(wanted_count)
    readings = _device_readings(summary, control, meter, [name for name, _ in conditions], relative=relative)
    if readings is None:
        return PredicateReading(predicate, False, False, condition, wanted, _missing(relative, control), None)
    # How far inside (positive) or outside (negative) all of its bounds each device is.
    inside = [
        min(
            (
                d
                for value, (_, bounds) in zip(values, conditions, strict=True)
                if (d := _distance(value, bounds)) is not None
            ),
            default=float("inf"),
        )
        for values in readings
    ]
    holding = [distance >= 0 for distance in inside]
    count = sum(holding)
    return PredicateReading(
        predicate,
        count == wanted_count,
        True,
        condition,
        wanted,
        str(count),
        _count_margin(inside, holding, count, wanted_count),
    )


def _device_readings(
    summary: RunSummary, control: RunSummary | None, meter: str, names: list[str], *, relative: bool
) -> list[list[float]] | None:
    """For each device its reading of each statistic; None when one is missing."""
    stats = _known(summary, meter)
    if stats is None:
        return None
    rows = [[_statistic(stat, name) for name in names] for stat in stats]
    if not relative:
        return rows
    base = None if control is None else _known(control, meter)
    if base is None:
        return None
    # The control's devices do the same work, and which of them a device is to be held against is not given.
    bases = [sum(_statistic(stat, name) for stat in base) / len(base) for name in names]
    if not all(bases):
        return None
    return [[value / by for value, by in zip(row, bases, strict=True)] for row in rows]


def _known(summary: RunSummary, meter: str) -> list[MeterStat] | None:
    stats = summary.meters.get(meter, [])
    known = [stat for stat in stats if stat is not None]
    return known if known and len(known) == summary.devices else None


def _statistic(stat: MeterStat, name: str) -> float:
    return float(getattr(stat, {"minimum": "min", "maximum": "max"}.get(name, name)))


def _count_margin(inside: list[float], holding: list[bool], count: int, wanted: int) -> float | None:
    """How far readings would have to move until the predicate's truth changed."""
    if count == wanted:
        nearest = min((abs(distance) for distance in inside), default=None)
        return None if nearest is None or nearest == float("inf") else nearest
    # So many devices would have to cross, and the last of them decides.
    crossing = sorted(abs(d) for d, holds in zip(inside, holding, strict=True) if holds == (count > wanted))
    needed = abs(count - wanted)
    return crossing[needed - 1] if needed <= len(crossing) else None


def _within(value: float, bounds: Range) -> bool:
    distance = _distance(value, bounds)
    return distance is None or distance >= 0


def _distance(value: float, bounds: Range) -> float | None:
    """How far inside the bounds a value is, negative outside; None when there are no bounds."""
    distances = []
    if bounds.min is not None:
        distances.append(value - bounds.min)
    if bounds.max is not None:
        distances.append(bounds.max - value)
    return min(distances) if distances else None


def _condition_words(meter: str, conditions: list[tuple[str, Range]], *, relative: bool) -> str:
    parts = []
    for name, bounds in conditions:
        if name == "longest_zero_s":
            parts.append(f"at zero for {_range_words(bounds, 's', relative=relative)}")
        else:
            words = {"mean": "mean", "minimum": "lowest", "maximum": "highest"}[name]
            parts.append(f"{words} {_range_words(bounds, meter, relative=relative)}")
    tail = " relative to the control" if relative else ""
    return f"devices with {_NAMES[meter]} {' and '.join(parts)}{tail}"


def _range_words(bounds: Range, unit: str, *, relative: bool) -> str:
    low = None if bounds.min is None else _number_words(bounds.min, unit, relative=relative)
    high = None if bounds.max is None else _number_words(bounds.max, unit, relative=relative)
    if low is not None and high is not None:
        return low if bounds.min == bounds.max else f"{low} to {high}"
    if low is not None:
        return f"≥ {low}"
    return f"≤ {high}" if high is not None else "any"


def _number_words(value: float, unit: str, *, relative: bool) -> str:
    if relative:
        return f"{value:.3g} ×"
    if unit in _SHARES:
        return f"{value * 100:.3g} %"
    if unit == "memory_bytes":
        return f"{value / 2**30:.3g} GiB"
    return f"{value:.3g} s" if unit == "s" else f"{value:.4g}"


def _missing(relative: bool, control: RunSummary | None) -> str:
    return "no control run to compare with" if relative and control is None else "not available"
