"""The live strip: device time in columns, a row a device, on a fixed scale from 0 to 100 %. No Textual."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from quizapp.lab.meters import ZERO_BELOW
from quizapp.tui.glyphs import Glyphs
from quizapp.tui.render import Line

if TYPE_CHECKING:
    from quizapp.lab.protocol import Sample

Shown = Literal["compute", "util"]
SHOWN_IN_WORDS: dict[Shown, str] = {"compute": "compute, the useful work", "util": "as nvidia-smi sees it"}
SHOWN_IN_A_WORD: dict[Shown, str] = {"compute": "compute", "util": "nvidia-smi"}

MOST_BINS = 2048
_STEPS = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
_TICK_CELLS = 10


class StripState:
    """Collects samples into bins of device time; `columns` reads them at the width of a terminal.

    Too many bins are merged in pairs, so that a run of an hour costs no more than one of a minute.
    """

    def __init__(self, devices: int, window_s: float, total_s: float) -> None:
        self.devices = devices
        self.bin_s = window_s
        self.total_s = total_s
        self.shown: Shown = "compute"
        self.t_s = 0.0
        self._sums: dict[Shown, list[list[float]]] = {"compute": [], "util": []}
        self._weights: dict[Shown, list[list[float]]] = {"compute": [], "util": []}
        self._now: dict[Shown, list[float | None]] = {"compute": [None] * devices, "util": [None] * devices}
        self._measured: dict[Shown, list[list[float]]] = {
            "compute": [[0.0, 0.0] for _ in range(devices)],
            "util": [[0.0, 0.0] for _ in range(devices)],
        }
        self._zero: dict[Shown, list[list[float]]] = {
            "compute": [[0.0, 0.0] for _ in range(devices)],
            "util": [[0.0, 0.0] for _ in range(devices)],
        }
        self.memory_bytes: list[float | None] = [None] * devices
        self.power_w: list[float | None] = [None] * devices

    def add(self, sample: Sample) -> None:
        """Take a sample in."""
        self.t_s = max(self.t_s, sample.t_s)
        for shown in ("compute", "util"):
            self._add(shown, sample)
        for device, value in enumerate(sample.reading("memory_bytes", self.devices)):
            if value is not None:
                self.memory_bytes[device] = max(value, self.memory_bytes[device] or 0.0)
        for device, value in enumerate(sample.reading("power_w", self.devices)):
            if value is not None:
                self.power_w[device] = value
        while len(self._sums["compute"]) > MOST_BINS:
            self._halve()

    def _add(self, shown: Shown, sample: Sample) -> None:
        readings = sample.reading(shown, self.devices)
        sums, weights = self._sums[shown], self._weights[shown]
        first = max(0, int((sample.t_s - sample.window_s) / self.bin_s + 0.5))
        last = max(first, int(sample.t_s / self.bin_s + 0.5) - 1)
        # A time stamp out of a demo that nobody vouches for must not allocate without bounds.
        last = min(last, len(sums) + 4 * MOST_BINS)
        while len(sums) <= last:
            sums.append([0.0] * self.devices)
            weights.append([0.0] * self.devices)
        for device, value in enumerate(readings):
            if value is None:
                self._now[shown][device] = None
                continue
            self._now[shown][device] = value
            share = sample.window_s / (last - first + 1)
            for place in range(first, last + 1):
                sums[place][device] += value * share
                weights[place][device] += share
            if not sample.warmup:
                total = self._measured[shown][device]
                total[0] += value * sample.window_s
                total[1] += sample.window_s
                zero = self._zero[shown][device]
                zero[0] = zero[0] + sample.window_s if value < ZERO_BELOW else 0.0
                zero[1] = max(zero)

    def _halve(self) -> None:
        self.bin_s *= 2
        for table in (*self._sums.values(), *self._weights.values()):
            merged = [
                [
                    a + b
                    for a, b in zip(
                        table[i], table[i + 1] if i + 1 < len(table) else [0.0] * self.devices, strict=True
                    )
                ]
                for i in range(0, len(table), 2)
            ]
            table[:] = merged

    def toggle(self) -> None:
        """Show the other meter."""
        self.shown = "util" if self.shown == "compute" else "compute"

    def seconds_per_column(self, width: int) -> float:
        """Device seconds that a column stands for: the whole run fits, in round steps."""
        wanted = max(self.total_s, self.t_s, self.bin_s) / max(1, width)
        if wanted <= self.bin_s:
            return self.bin_s
        power = 1e-3
        while True:
            for step in _STEPS:
                if step * power >= wanted - 1e-12:
                    return max(step * power, self.bin_s)
            power *= 10

    def columns(self, width: int) -> list[list[float | None]]:
        """For each device, the mean share in each column; None where nothing is measured."""
        per_column = self.seconds_per_column(width) / self.bin_s
        sums, weights = self._sums[self.shown], self._weights[self.shown]
        rows: list[list[float | None]] = [[None] * width for _ in range(self.devices)]
        for column in range(width):
            first, last = round(column * per_column), round((column + 1) * per_column)
            if first >= len(sums):
                break
            for device in range(self.devices):
                total = weight = 0.0
                for place in range(first, min(last, len(sums))):
                    total += sums[place][device]
                    weight += weights[place][device]
                if weight:
                    rows[device][column] = total / weight
        return rows

    def now(self, device: int) -> float | None:
        """The share in the last window."""
        return self._now[self.shown][device]

    def mean(self, device: int) -> float | None:
        """The mean share after the warm-up."""
        total, weight = self._measured[self.shown][device]
        return total / weight if weight else None

    def longest_zero_s(self, device: int) -> float | None:
        """The longest stretch at zero after the warm-up, in device seconds."""
        return self._zero[self.shown][device][1] if self._measured[self.shown][device][1] else None


def cell(value: float | None, glyphs: Glyphs) -> tuple[str, str]:
    """Sign and band of one share: zero has a sign of its own, and four bands of one hue cover the rest."""
    if value is None:
        return " ", ""
    if value < ZERO_BELOW:
        return glyphs.zero, "band-0"
    level = min(len(glyphs.levels) - 1, int(value * len(glyphs.levels)))
    return glyphs.levels[level], f"band-{min(4, 1 + int(value * 4))}"


def row(values: Sequence[float | None], glyphs: Glyphs) -> Line:
    """One device's columns, runs of one band merged."""
    line: Line = []
    for value in values:
        sign, band = cell(value, glyphs)
        if line and line[-1][1] == band:
            line[-1] = (line[-1][0] + sign, band)
        else:
            line.append((sign, band))
    return line


def axis(width: int, seconds_per_column: float, glyphs: Glyphs) -> str:
    """The time axis: round numbers of device seconds under their columns."""
    if width < _TICK_CELLS:
        return glyphs.rule * width
    # A tick wherever a multiple of the tick time begins a column, with room for its number.
    tick_s = next(
        step * power
        for power in (10.0**exponent for exponent in range(-3, 9))
        for step in (1.0, 2.0, 5.0)
        if step * power >= _TICK_CELLS * seconds_per_column - 1e-9
    )
    cells = [glyphs.rule] * width
    number = 0
    while True:
        column = round(number * tick_s / seconds_per_column)
        if column >= width:
            break
        label = f"{number * tick_s:g}"
        if column + len(label) + 1 <= width:
            cells[column] = glyphs.tick
            cells[column + 1 : column + 1 + len(label)] = label
        number += 1
    return "".join(cells)
