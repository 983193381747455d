"""Control, fault and fix side by side, each figure beside the closed form that the plan gives for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from quizapp.bank.text import visible
from quizapp.lab.meters import MeterStat
from quizapp.lab.params import Value, param_text
from quizapp.lab.protocol import Json
from quizapp.lab.summary import RunSummary

if TYPE_CHECKING:
    from quizapp.lab.catalogue import DemoDeclaration
    from quizapp.lab.request import RunRequest

TOLERANCE = 0.05
"""A figure further from its closed form than this share of it is flagged."""
_FLOOR = 0.02
"""A share smaller than this is held against TOLERANCE of the whole: 5 % of next to nothing says nothing."""

METRICS = ("steps_per_s", "compute", "collective", "data_wait", "host_wait", "memory_bytes")
LABELS = {
    "steps_per_s": "steps per second",
    "compute": "compute",
    "collective": "collective",
    "data_wait": "data wait",
    "host_wait": "host wait",
    "memory_bytes": "peak memory",
}


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run to be made, and the name that it has beside others."""

    label: str
    request: RunRequest
    declared: bool = True
    """Whether the demo declares this run's outcome and diagnosis: a comparison's further cells have none."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One run of a comparison."""

    label: str
    summary: RunSummary


@dataclass(frozen=True, slots=True)
class Figure:
    """One metric of one run: shares are means over the devices, memory is the highest of any."""

    measured: float | None
    expected: float | None
    """The closed form, where the plan gives one."""
    deviation: float | None
    """Of the device that is furthest off, as a share of its closed form."""
    ratio: float | None
    """To the control's figure."""
    expected_ratio: float | None

    @property
    def ratio_deviation(self) -> float | None:
        """Of the ratio, as a share of its closed form."""
        if self.ratio is None or not self.expected_ratio:
            return None
        return self.ratio / self.expected_ratio - 1

    @property
    def off(self) -> bool:
        """Whether the closed form is missed, by the figure or by its ratio to the control's."""
        return any(d is not None and abs(d) > TOLERANCE for d in (self.deviation, self.ratio_deviation))


@dataclass(frozen=True, slots=True)
class Comparison:
    """The runs and, for each metric, a figure a run. The first run is the control."""

    cells: tuple[Cell, ...]
    rows: Mapping[str, tuple[Figure, ...]]
    notices: tuple[str, ...]

    @property
    def off(self) -> list[str]:
        """The figures that miss their closed form, in words."""
        found = []
        for metric, figures in self.rows.items():
            for cell, figure in zip(self.cells, figures, strict=True):
                for what, deviation in (("", figure.deviation), ("'s ratio", figure.ratio_deviation)):
                    if deviation is not None and abs(deviation) > TOLERANCE:
                        found.append(
                            f"{cell.label}: {LABELS[metric]}{what} is {deviation:+.1%} off its closed form"
                        )
        return found

    @property
    def differing(self) -> dict[str, tuple[str, ...]]:
        """The parameters whose value is not the same in all runs that have them; "" for a run without it."""
        names = dict.fromkeys(name for cell in self.cells for name in cell.summary.params)
        values = {
            name: tuple(
                param_text(cast(Value, cell.summary.params[name])) if name in cell.summary.params else ""
                for cell in self.cells
            )
            for name in names
        }
        return {name: texts for name, texts in values.items() if len(set(texts) - {""}) > 1}

    def as_json(self) -> dict[str, object]:
        """What `quizapp demo --compare --json` prints."""
        return {
            "cells": [
                {
                    "label": cell.label,
                    **cell.summary.as_json(),
                    "figures": {
                        metric: {
                            "measured": figures[i].measured,
                            "expected": figures[i].expected,
                            "deviation": figures[i].deviation,
                            "ratio": figures[i].ratio,
                            "expected_ratio": figures[i].expected_ratio,
                            "ratio_deviation": figures[i].ratio_deviation,
                            "off": figures[i].off,
                        }
                        for metric, figures in self.rows.items()
                    },
                }
                for i, cell in enumerate(self.cells)
            ],
            "differing": {name: list(texts) for name, texts in self.differing.items()},
            "off": self.off,
            "notices": list(self.notices),
        }


def compare(cells: Sequence[Cell]) -> Comparison:
    """The comparison of runs; the first is the control that ratios refer to."""
    rows = {}
    for metric in METRICS:
        values = [_measured(cell.summary, metric) for cell in cells]
        closed = [_expected(cell.summary, metric) for cell in cells]
        rows[metric] = tuple(
            Figure(
                measured=value,
                expected=form,
                deviation=_deviation(cell.summary, metric),
                ratio=_ratio(value, values[0], metric),
                expected_ratio=_ratio(form, closed[0], metric),
            )
            for cell, value, form in zip(cells, values, closed, strict=True)
        )
    notices = tuple(
        dict.fromkeys(n for cell in cells for n in (cell.summary.replayed, cell.summary.notice) if n)
    )
    return Comparison(tuple(cells), rows, notices)


def planned_runs(base: RunRequest, control: DemoDeclaration | None) -> list[PlannedRun]:
    """The runs of a demo's comparison: control, fault, fix, then the cells that the demo adds.

    The control runs under the same parameters, as far as it has them.
    """
    demo = base.demo
    planned: list[PlannedRun] = []
    if control is not None and control.name != demo.name:
        shared = demo.for_control(control, base.params)
        request = replace(base, demo=control, variant=control.variants[0], params=shared)
        planned.append(PlannedRun("control", request))
    values_of: dict[int, object] = {}
    for variant in demo.variants:
        values_of[len(planned)] = demo.resolve(variant, base.params)
        planned.append(PlannedRun(variant, replace(base, variant=variant)))
    for cell in demo.comparison:
        params = {name: param_text(value) for name, value in cell.params.items()} | dict(base.params)
        values = demo.resolve(cell.variant, params)
        same = next((index for index, known in values_of.items() if known == values), None)
        if same is not None:
            # A cell that a variant already is gives that run its better name.
            if planned[same].label in demo.variants:
                planned[same] = replace(planned[same], label=f"{planned[same].label}: {cell.label}")
            continue
        values_of[len(planned)] = values
        request = replace(base, variant=cell.variant, params=params)
        planned.append(PlannedRun(cell.label, request, declared=False))
    return planned


def _measured(summary: RunSummary, metric: str) -> float | None:
    if metric == "steps_per_s":
        return summary.steps_per_s
    stats = summary.meters.get(metric, [])
    return _combined([_of(stat, metric) for stat in stats], metric)


def _of(stat: MeterStat | None, metric: str) -> float | None:
    if stat is None:
        return None
    return stat.max if metric == "memory_bytes" else stat.mean


def _combined(values: Sequence[float | None], metric: str) -> float | None:
    known = [value for value in values if value is not None]
    if not known:
        return None
    return max(known) if metric == "memory_bytes" else sum(known) / len(known)


def _expected_each(summary: RunSummary, metric: str) -> list[float | None]:
    """The closed form for each device; a single number stands for all of them."""
    form: Json = summary.expected.get(metric)
    if isinstance(form, list):
        numbers = [_number(value) for value in form]
        return numbers if len(numbers) == summary.devices else []
    number = _number(form)
    return [] if number is None else [number] * summary.devices


def _number(value: Json) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _expected(summary: RunSummary, metric: str) -> float | None:
    if metric == "steps_per_s":
        return _number(summary.expected.get(metric))
    return _combined(_expected_each(summary, metric), metric)


def _deviation(summary: RunSummary, metric: str) -> float | None:
    if metric == "steps_per_s":
        return _off(summary.steps_per_s, _number(summary.expected.get(metric)), metric)
    measured = [_of(stat, metric) for stat in summary.meters.get(metric, [])]
    expected = _expected_each(summary, metric)
    if len(measured) != len(expected):
        return None
    each = [_off(value, form, metric) for value, form in zip(measured, expected, strict=True)]
    known = [value for value in each if value is not None]
    return max(known, key=abs, default=None)


def _off(value: float | None, form: float | None, metric: str) -> float | None:
    if value is None or form is None:
        return None
    if metric in ("compute", "collective", "data_wait", "host_wait") and abs(form) < _FLOOR:
        return value - form
    return (value - form) / form if form else None


def _ratio(value: float | None, control: float | None, metric: str) -> float | None:
    if value is None or control is None:
        return None
    if metric not in ("steps_per_s", "memory_bytes") and control < _FLOOR:
        return None  # a share of next to nothing is no measure
    return value / control if control else None


def table(comparison: Comparison, width: int = 80) -> list[str]:
    """The comparison as lines of text no wider than `width`: figures, closed forms, ratios to the control."""
    label_width = 18
    # Control, fault and fix stand side by side in a window on 80 columns too.
    column = max(18, min(20, (width - label_width) // 3))
    fitting = max(1, (width - label_width) // column)
    lines: list[str] = []
    indices = list(range(len(comparison.cells)))
    # The control stands at the left of every block, for the ratios to be read.
    blocks = [indices[:fitting]]
    rest = indices[fitting:]
    step = max(1, fitting - 1)
    blocks += [[0, *rest[i : i + step]] for i in range(0, len(rest), step)]
    for block in blocks:
        if lines:
            lines.append("")
        lines += _block(comparison, block, label_width, column)
    return lines


def _block(comparison: Comparison, block: list[int], label_width: int, column: int) -> list[str]:
    def row(label: str, entries: Sequence[str]) -> str:
        return (label.ljust(label_width) + "".join(entry.rjust(column) for entry in entries)).rstrip()

    cells = [comparison.cells[i] for i in block]
    wrapped = [_wrap(cell.label, column - 2) for cell in cells]
    height = max(len(words) for words in wrapped)
    lines = [row("", [words[i] if i < len(words) else "" for words in wrapped]) for i in range(height)]
    lines.append(row("devices", [f"{cell.summary.devices} {cell.summary.device_kind}" for cell in cells]))
    for number, (name, texts) in enumerate(comparison.differing.items()):
        if not number:
            lines.append("parameters that differ")
        entries = [visible(texts[i] or "—")[: column - 2] for i in block]
        lines.append(row(f"  {visible(name)}"[: label_width - 1], entries))
    lines.append(row("outcome", [cell.summary.outcome for cell in cells]))
    lines.append(row("diagnosis", [cell.summary.diagnosis for cell in cells]))
    for metric, figures in comparison.rows.items():
        chosen = [figures[i] for i in block]
        if all(figure.measured is None and figure.expected is None for figure in chosen):
            continue
        lines.append(row(LABELS[metric], [_figure(figure.measured, metric) for figure in chosen]))
        if any(figure.expected is not None for figure in chosen):
            lines.append(row("  closed form", [_closed(figure, metric) for figure in chosen]))
        if any(figure.ratio is not None for figure in chosen[1:]):
            lines.append(row("  × control", [_ratios(figure) for figure in chosen]))
    return lines


def _wrap(label: str, width: int) -> list[str]:
    import textwrap

    return textwrap.wrap(label, width) or [""]


def _figure(value: float | None, metric: str) -> str:
    if value is None:
        return "n/a"
    if metric == "steps_per_s":
        return f"{value:.3g}/s"
    return f"{value / 2**30:.2f} GiB" if metric == "memory_bytes" else f"{value:.1%}"


def _closed(figure: Figure, metric: str) -> str:
    if figure.expected is None:
        return "—"
    sign = "" if figure.deviation is None else f" {figure.deviation:+.1%}"
    sign = " ±0.0%" if sign in (" -0.0%", " +0.0%") else sign
    return f"{_figure(figure.expected, metric)}{sign}{' !' if figure.off else ''}"


def _ratios(figure: Figure) -> str:
    if figure.ratio is None:
        return "—"
    closed = "" if figure.expected_ratio is None else f" ({figure.expected_ratio:.3g})"
    return f"{figure.ratio:.3g}{closed}"
