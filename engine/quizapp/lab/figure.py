"""A recorded run as a picture: a row a device over device time, for light and dark. Pure.

Each column of a row stacks the shares of one stretch of time: compute at the bottom, then collective, then
what the device waits for. Phases differ by pattern as well as by colour. What the picture shows is also said
in words, which a bank can take for its alternative text.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import groupby
from typing import NamedTuple

from quizapp.bank.text import visible
from quizapp.lab.meters import MeterStat
from quizapp.lab.protocol import Sample
from quizapp.lab.recording import Recording
from quizapp.lab.summary import RunSummary, summarise_lines

PHASES = {
    "compute": "compute",
    "collective": "collective, waits in it too",
    "data_wait": "idle: waits for data",
    "host_wait": "idle: waits on the host",
}
"""The phases in the order in which a column stacks them, from the bottom."""
_MEANS = {"data_wait": "waiting for data", "host_wait": "waiting on the host"}

# Pixels.
_WIDTH, _LEFT, _PLOT, _TOP, _ROW, _BAR = 720, 70, 484, 78, 22, 16
_COLUMN = 2
_MOST_ROWS = 32

_STYLE = """svg{font:14px system-ui,'DejaVu Sans',sans-serif}
.bg{fill:#fff;stroke:#c5ccd4}text{fill:#1b222a}.m{fill:#5b6773;font-size:12px}.b{font-weight:600}.e{text-anchor:end}
.k{text-anchor:middle}.t{fill:#e9edf1}.compute{fill:#2a66c8}.collective{fill:url(#spin)}.data_wait{fill:url(#data)}
.host_wait{fill:url(#host)}.o{fill:#c05621}.q{fill:#fbe3cf}.g{fill:none;stroke:#5b6773}
@media(prefers-color-scheme:dark){.bg{fill:#14191f;stroke:#3a444f}text{fill:#e8edf2}.m{fill:#a3b0bc}.t{fill:#232b34}
.compute{fill:#5b96f5}.o{fill:#e8914f}.q{fill:#4a2f1c}.g{stroke:#a3b0bc}}"""
_PATTERNS = """<defs>
<pattern id="spin" width="4" height="4" patternUnits="userSpaceOnUse"><path class="q" d="M0 0h4v4h-4z"/>\
<path class="o" d="M0 0h2v4h-2z"/></pattern>
<pattern id="data" width="6" height="6" patternUnits="userSpaceOnUse"><path class="t" d="M0 0h6v6h-6z"/>\
<path class="g" d="M3 1v3"/></pattern>
<pattern id="host" width="8" height="6" patternUnits="userSpaceOnUse"><path class="t" d="M0 0h8v6h-8z"/>\
<path class="g" d="M0 3h4"/></pattern>
</defs>"""


class _Box(NamedTuple):
    """One phase of one device, over columns in which it takes the same part of the height. Pixels."""

    x: int
    y: int
    width: int
    height: int


def describe(summary: RunSummary) -> str:
    """What a run's picture shows, in words: devices that read alike are named together."""
    time = f", {summary.device_s:.3g} s of device time" if summary.device_s is not None else ""
    kind = "emulated devices, no GPU used" if summary.device_kind == "emulated" else "GPUs"
    ran = f"{summary.demo}, {summary.variant}, on {summary.devices} {kind}{time}"
    said = [f"A recorded run of {ran}; a row a device."]
    readings = [_reading(summary, device) for device in range(summary.devices)]
    for text, group in groupby(range(summary.devices), key=readings.__getitem__):
        devices = list(group)
        joined = "and" if len(devices) == 2 else "to"
        who = f"Device {devices[0]}" if len(devices) == 1 else f"Devices {devices[0]} {joined} {devices[-1]}"
        said.append(f"{who}: {text}.")
    if summary.outcome != "completed":
        said.append(f"The run ends {summary.outcome}.")
    return visible(" ".join(said))


def _reading(summary: RunSummary, device: int) -> str:
    parts = []
    for meter in PHASES:
        stat = _stat(summary, meter, device)
        if stat is not None and (meter == "compute" or round(100 * stat.mean) > 0):
            parts.append(f"{_MEANS.get(meter, meter)} {100 * stat.mean:.0f} %")
    util = _stat(summary, "util", device)
    if util is not None:
        parts.append(f"nvidia-smi would read {100 * util.mean:.0f} %")
        if util.longest_zero_s and util.longest_zero_s >= 0.1:
            parts.append(f"at zero for up to {util.longest_zero_s:.1f} s")
    return ", ".join(parts) or "nothing measured"


def _stat(summary: RunSummary, meter: str, device: int) -> MeterStat | None:
    values = summary.meters.get(meter)
    return values[device] if values else None


def draw(recording: Recording) -> str:
    """The recording as an SVG document, without anything of when or where it was made."""
    summary = summarise_lines(recording.marked())
    samples = [line for line in recording.lines if isinstance(line, Sample)]
    rows = min(summary.devices, _MOST_ROWS)
    boxes = _boxes(samples, rows, summary.devices)
    floor = _TOP + rows * _ROW
    height = floor + 82
    title = escape(visible(f"{summary.demo}, {summary.variant}: {summary.devices} devices"))
    emulated = summary.device_kind == "emulated"
    conditions = "a recorded run, emulated: no GPU used" if emulated else "a recorded run on GPUs"
    params = escape(visible(", ".join(f"{name}={value}" for name, value in summary.params.items())))
    tracks = "".join(f"M{_LEFT} {_TOP + row * _ROW}h{_PLOT}v{_BAR}h-{_PLOT}z" for row in range(rows))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" role="img" aria-labelledby="run-title run-description">',
        f'<title id="run-title">{title}</title>',
        f'<desc id="run-description">{escape(describe(summary))}</desc>',
        f"<style>{_STYLE}</style>",
        _PATTERNS,
        f'<rect class="bg" x="0.5" y="0.5" width="{_WIDTH - 1}" height="{height - 1}" rx="8"/>',
        f'<text class="b" x="20" y="30">{title}</text>',
        f'<text class="m e" x="700" y="30">{conditions}</text>',
        f'<text class="m" x="20" y="50">{params[:100]}</text>',
        f'<text class="m e" x="630" y="{_TOP - 10}">util</text>',
        f'<text class="m e" x="700" y="{_TOP - 10}">compute</text>',
        f'<path class="t" d="{tracks}"/>',
    ]
    for phase in PHASES:
        if boxes[phase]:
            path = "".join(f"M{b.x} {b.y}h{b.width}v{b.height}h-{b.width}z" for b in boxes[phase])
            lines.append(f'<path class="{phase}" d="{path}"/>')
    for row in range(rows):
        y = _TOP + row * _ROW + 13
        lines.append(f'<text x="20" y="{y}">{"emu" if emulated else "gpu"}{row}</text>')
        for meter, x in (("util", 630), ("compute", 700)):
            stat = _stat(summary, meter, row)
            number = "–" if stat is None else f"{100 * stat.mean:.0f} %"
            lines.append(f'<text class="e" x="{x}" y="{y}">{number}</text>')
    lines += _axis(samples[-1].t_s if samples else 0.0, floor)
    lines += _legend([phase for phase in PHASES if boxes[phase]], floor + 42)
    if rows < summary.devices:
        more = f"{summary.devices - rows} more devices not shown"
        lines.append(f'<text class="m e" x="700" y="{floor + 42}">{more}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def _boxes(samples: Sequence[Sample], rows: int, devices: int) -> dict[str, list[_Box]]:
    """Boxes by phase. Shares become whole pixels, so that equal neighbours merge and the file stays small."""
    boxes: dict[str, list[_Box]] = {phase: [] for phase in PHASES}
    if not samples:
        return boxes
    count = min(_PLOT // _COLUMN, max(1, len(samples)))
    edges = [_LEFT + round(_PLOT * column / count) for column in range(count + 1)]
    columns = _columns(samples, rows, devices, count)
    for row in range(rows):
        for phase_number, phase in enumerate(PHASES):
            for (low, high), run in groupby(
                range(count), key=lambda c: _place(columns[c][row], phase_number)
            ):
                place = list(run)
                if high > low:
                    x, end = edges[place[0]], edges[place[-1] + 1]
                    boxes[phase].append(_Box(x, _TOP + row * _ROW + _BAR - high, end - x, high - low))
    return boxes


def _place(shares: Sequence[float], phase: int) -> tuple[int, int]:
    """From which to which pixel of the bar a phase reaches, counted from the bottom."""
    below = sum(shares[:phase])
    return round(_BAR * min(1.0, below)), round(_BAR * min(1.0, below + shares[phase]))


def _columns(samples: Sequence[Sample], rows: int, devices: int, count: int) -> list[list[tuple[float, ...]]]:
    """For each column and device the share of each phase, weighted by time; what isn't measured is 0."""
    end_s = max(sample.t_s for sample in samples) or 1.0
    sums = [[[0.0] * len(PHASES) for _ in range(rows)] for _ in range(count)]
    weights = [0.0] * count
    for sample in samples:
        first = max(0.0, (sample.t_s - sample.window_s) / end_s * count)
        last = min(float(count), sample.t_s / end_s * count)
        readings = [sample.reading(phase, devices) for phase in PHASES]
        for column in range(int(first), min(count, int(last) + 1)):
            overlap = min(last, column + 1) - max(first, column)
            if overlap <= 1e-9:
                continue
            weights[column] += overlap
            for row in range(rows):
                for number, reading in enumerate(readings):
                    sums[column][row][number] += overlap * (reading[row] or 0.0)
    return [
        [tuple(value / weight if weight else 0.0 for value in device) for device in column]
        for column, weight in zip(sums, weights, strict=True)
    ]


def _axis(end_s: float, floor: int) -> list[str]:
    """Six ticks or fewer at round device seconds."""
    lines = [f'<path class="g" d="M{_LEFT} {floor + 2.5}h{_PLOT}"/>']
    if end_s <= 0:
        return lines
    step_s = next(
        step * 10.0**power for power in range(-4, 9) for step in (1, 2, 5) if step * 10.0**power >= end_s / 6
    )
    number = 0
    while number * step_s <= end_s * (1 + 1e-9):
        x = _LEFT + round(_PLOT * number * step_s / end_s)
        lines.append(f'<path class="g" d="M{x + 0.5} {floor + 2}v5"/>')
        lines.append(f'<text class="m k" x="{x}" y="{floor + 20}">{number * step_s:g}</text>')
        number += 1
    lines.append(f'<text class="m" x="{_LEFT + _PLOT + 12}" y="{floor + 20}">device seconds</text>')
    return lines


def _legend(phases: Sequence[str], y: int) -> list[str]:
    lines, x = [], 20
    for phase in phases:
        lines.append(f'<path class="{phase}" d="M{x} {y}h22v14h-22z"/>')
        lines.append(f'<text class="m" x="{x + 28}" y="{y + 12}">{PHASES[phase]}</text>')
        x += round(28 + 6.3 * len(PHASES[phase]) + 16)
    return lines
