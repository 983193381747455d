"""Demos and their runs as plain lines of text, 80 columns wide."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from quizapp.lab.catalogue import Catalogue
from quizapp.lab.meters import MeterStat
from quizapp.lab.protocol import Json, Sample, Start
from quizapp.lab.summary import RunSummary

WIDTH = 80
_SHARES = (
    ("compute", "compute"),
    ("collective", "collective"),
    ("data_wait", "data wait"),
    ("host_wait", "host wait"),
)


def list_lines(catalogue: Catalogue, width: int = WIDTH) -> list[str]:
    """The demos: name, what is seen, device seconds, whether a GPU is needed."""
    name_width = max([len(name) for name in catalogue] + [4]) + 2
    tail_width = 19
    text_width = max(20, width - name_width - tail_width)
    lines = ["demo".ljust(name_width) + "what you will see".ljust(text_width) + "seconds  needs GPU?"]
    for demo in catalogue.values():
        wrapped = textwrap.wrap(demo.summary, text_width - 2) or [""]
        tail = f"{demo.seconds:7g}  {'yes' if demo.needs_gpu else 'no'}"
        lines.append(demo.name.ljust(name_width) + wrapped[0].ljust(text_width) + tail)
        lines += [" " * name_width + line for line in wrapped[1:]]
    lines += [f"broken: {broken}" for broken in catalogue.broken]
    return lines


def head_lines(start: Start, width: int = WIDTH) -> list[str]:
    """What runs, on what."""
    processes = "" if start.processes is None else f", {_counted(start.processes, 'process', 'processes')}"
    title = (
        f"{start.demo}, {start.variant}, {_counted(start.devices, 'device')}: {start.device_kind}{processes}"
    )
    lines = [title]
    names = sorted(set(start.device_names))
    if names:
        lines += textwrap.wrap("devices: " + ", ".join(names), width)
    if start.params:
        lines += textwrap.wrap(
            "with " + ", ".join(f"{k}={_value(v)}" for k, v in start.params.items()), width
        )
    for notice in (start.replayed, start.notice):
        lines += textwrap.wrap(notice, width)
    return lines


class SampleLines:
    """Turns samples into two lines a second of device time: compute, and what nvidia-smi would show."""

    def __init__(self, devices: int, every_s: float = 1.0) -> None:
        self._devices = devices
        self._every_s = every_s
        self._held: list[Sample] = []

    def feed(self, sample: Sample) -> list[str]:
        """The lines that this sample completes."""
        self._held.append(sample)
        if sum(held.window_s for held in self._held) < self._every_s - 1e-6:
            return []
        held, self._held = self._held, []
        mark = " (warm-up)" if any(one.warmup for one in held) else ""
        compute = (
            f"{sample.t_s:7.1f} s  {'compute':<14}{self._row(held, 'compute')}  step {sample.step}{mark}"
        )
        return [compute, f"{'':11}{'as nvidia-smi':<14}{self._row(held, 'util')}"]

    def _row(self, held: Sequence[Sample], meter: str) -> str:
        cells = []
        for i in range(self._devices):
            known = [v for one in held if (v := one.reading(meter, self._devices)[i]) is not None]
            cells.append("n/a" if not known else f"{100 * sum(known) / len(known):.0f}")
        return " ".join(cell.rjust(3) for cell in cells) + " %"


def summary_lines(summary: RunSummary, width: int = WIDTH) -> list[str]:
    """A run's meters by device, its outcome and diagnosis, with the notice that belongs to the numbers."""
    lines = []
    for notice in (summary.replayed, summary.notice):
        lines += textwrap.wrap(notice, width)
    lines += _meter_lines(summary)
    rate = ""
    if summary.steps_per_s is not None:
        rate = f", {summary.steps_per_s:.3g} steps per second"
        expected = summary.expected.get("steps_per_s")
        if isinstance(expected, (int, float)):
            rate += f" (closed form {expected:.3g})"
    device = "" if summary.device_s is None else f" after {summary.device_s:.1f} s of device time"
    wall = "" if summary.wall_s is None else f", {summary.wall_s:.1f} s on the clock"
    lines += textwrap.wrap(f"outcome: {summary.outcome}{device}{wall}{rate}", width, subsequent_indent="  ")
    if summary.error is not None:
        rank = "" if summary.error.rank is None else f" (rank {summary.error.rank})"
        lines += textwrap.wrap(
            f"error{rank}: {summary.error.type}: {summary.error.message}", width, subsequent_indent="  "
        )
    if summary.memory_prediction:
        lines.append("memory predicted:")
        for label, text in memory_words(summary.memory_prediction):
            lines += textwrap.wrap(
                f"{label}: {text}".rstrip(), width, initial_indent="  ", subsequent_indent="    "
            )
    lines += textwrap.wrap(f"diagnosis: {summary.diagnosis}: {summary.reason}", width, subsequent_indent="  ")
    if summary.log_tail:
        lines.append("last lines of its log:")
        lines += ["  " + text for text in summary.log_tail]
    return lines


def _meter_lines(summary: RunSummary) -> list[str]:
    head = "device".ljust(7) + "util".rjust(6) + "".join(label.rjust(11) for _, label in _SHARES)
    lines = [head + "peak memory".rjust(13) + "at zero".rjust(9)]
    for i in range(summary.devices):
        cells = [_share(_at(summary, "util", i)).rjust(6)]
        cells += [_share(_at(summary, name, i)).rjust(11) for name, _ in _SHARES]
        memory, util = _at(summary, "memory_bytes", i), _at(summary, "util", i)
        cells.append(("n/a" if memory is None else f"{memory.max / 2**30:.2f} GiB").rjust(13))
        cells.append(("n/a" if util is None else f"{util.longest_zero_s:.1f} s").rjust(9))
        lines.append(str(i).ljust(7) + "".join(cells))
    return lines


def _at(summary: RunSummary, meter: str, device: int) -> MeterStat | None:
    stats = summary.meters.get(meter, [])
    return stats[device] if device < len(stats) else None


def _share(stat: MeterStat | None) -> str:
    return "n/a" if stat is None else f"{100 * stat.mean:.0f} %"


def memory_words(prediction: Mapping[str, Json]) -> list[tuple[str, str]]:
    """A predicted peak as labels and values, the parts of a group indented; sizes in GiB."""
    words: list[tuple[str, str]] = []
    for name, value in prediction.items():
        label = name.removesuffix("_bytes").replace("_", " ")
        if isinstance(value, dict):
            words.append((label, ""))
            # By category a prediction holds nothing but sizes, named by what they hold.
            sizes = {f"{part}_bytes" if _is_size(size) else part: size for part, size in value.items()}
            words += [(f"  {part}", text) for part, text in memory_words(sizes)]
        elif name.endswith("_bytes") and isinstance(value, (int, float)):
            words.append((label, f"{value / 2**30:.2f} GiB"))
        elif isinstance(value, bool):
            words.append((label, "yes" if value else "no"))
        else:
            words.append((label, _value(value)))
    return words


def _is_size(value: Json) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _value(value: Json) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return ", ".join(_value(entry) for entry in value)
    return "none" if value is None else str(value)


def _counted(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
