"""The strip of a `reading` question: what a recording of the lab shows of each device, window by window.

It becomes part of the question, so that an attempt keeps what it showed when the recording is gone. A
recording is untrusted: of a bounded file only numbers of a bounded strip are taken, and no text.
"""

from __future__ import annotations

import json
import math
import os
import stat
from pathlib import Path
from typing import Any, Literal

from quizapp.bank.record import Record, record

LARGEST_BYTES = 2 << 20
MOST_DEVICES = 64
MOST_WINDOWS = 1200
VERSION = 1
"""Of the recordings that are read."""

_MISSING = "--"
_HINT = "`quizapp demo NAME --record FILE` makes one"

StripMeter = Literal["compute", "util"]
METERS: tuple[StripMeter, ...] = ("compute", "util")


class StripError(ValueError):
    """A file that is no recording, or one that is too large to be asked about; message and hint, by `; `."""


@record
class Strip(Record):
    """Shares of each window on each device, in percent, as two hexadecimal digits a window, `--` for none."""

    device_kind: str
    """`emulated` or `cuda`."""
    window_s: float
    compute: tuple[str, ...]
    """A text a device: the share of useful work."""
    util: tuple[str, ...]
    """The same of what nvidia-smi counts: a kernel that waits is busy, too."""

    @property
    def devices(self) -> int:
        """How many there are."""
        return len(self.compute)

    @property
    def windows(self) -> int:
        """How many windows each device has."""
        return len(self.compute[0]) // 2

    @property
    def duration_s(self) -> float:
        """Device seconds from the first window's beginning to the last one's end."""
        return round(self.windows * self.window_s, 9)

    def shares(self, meter: StripMeter, device: int) -> list[float | None]:
        """The share, 0 to 1, in each window; None where it was not measured."""
        text = self.compute[device] if meter == "compute" else self.util[device]
        pairs = (text[place : place + 2] for place in range(0, len(text), 2))
        return [None if pair == _MISSING else int(pair, 16) / 100 for pair in pairs]


def strip_from_plain(data: dict[str, Any]) -> Strip:
    """The strip out of a question's JSON."""
    return Strip(**{**data, "compute": tuple(data["compute"]), "util": tuple(data["util"])})


def read_strip(folder: Path, name: str) -> Strip:
    """The strip of the recording `name` in `folder` or below it. Raises StripError in words for an author."""
    lines = _lines(folder, name)
    header = _object(lines[0] if lines else b"", name, 1)
    if header.get("type") != "recording" or header.get("v") != VERSION:
        raise StripError(f"{name} is no recording of version {VERSION}; {_HINT}")
    start: dict[str, Any] = {}
    window_s, devices, kind = 0.0, 0, ""
    sums: dict[str, list[list[float]]] = {meter: [] for meter in METERS}
    weights: dict[str, list[list[float]]] = {meter: [] for meter in METERS}
    whole = False
    for number, text in enumerate(lines[1:], 2):
        line = _object(text, name, number)
        if line.get("type") == "start" and not start:
            start = line
            window_s, devices, kind = _start(line, name, number)
        elif line.get("type") == "sample" and start:
            for meter in METERS:
                _add(sums[meter], weights[meter], line, meter, window_s, devices, f"{name}:{number}")
        whole = line.get("type") == "outcome"
    if not start or not whole:
        raise StripError(f"{name} ends before the run's outcome; record it again")
    windows = len(sums["compute"])
    if not any(any(row) for row in weights["compute"]):
        raise StripError(f"{name} holds no reading of compute; {_HINT}")
    texts = {
        meter: tuple(
            "".join(_written(sums[meter][at][device], weights[meter][at][device]) for at in range(windows))
            for device in range(devices)
        )
        for meter in METERS
    }
    return Strip(device_kind=kind, window_s=window_s, compute=texts["compute"], util=texts["util"])


def _lines(folder: Path, name: str) -> list[bytes]:
    path = folder / name
    try:
        if not path.resolve().is_relative_to(folder.resolve()):
            raise StripError(f"{name} leads out of the bank's folder; copy it there")
        # Not blocking: a pipe without a writer would hold the open for ever.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        raise StripError(f"there is no file {name}; {_HINT}") from None
    except (OSError, ValueError, RuntimeError) as error:
        raise StripError(f"{name} can't be read ({error}); check its permissions") from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise StripError(f"{name} is no regular file; {_HINT}")
        content = file.read(LARGEST_BYTES + 1)
    if len(content) > LARGEST_BYTES:
        hint = "record a shorter run, with --seconds"
        raise StripError(f"{name} has more than {LARGEST_BYTES >> 20} MiB; {hint}")
    return content.splitlines()


def _object(text: bytes, name: str, number: int) -> dict[str, Any]:
    try:
        line = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        line = None
    if not isinstance(line, dict):
        raise StripError(f"{name}:{number} is no line of a recording; {_HINT}")
    return line


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no number")


def _start(line: dict[str, Any], name: str, number: int) -> tuple[float, int, str]:
    devices, window_s, kind = line.get("devices"), _finite(line.get("window_s")), line.get("device_kind")
    if type(devices) is not int or window_s is None or window_s <= 0 or kind not in ("emulated", "cuda"):
        raise StripError(f"{name}:{number} is no start of a run; {_HINT}")
    if not 1 <= devices <= MOST_DEVICES:
        raise StripError(f"{name} has {devices} devices; a question shows {MOST_DEVICES} at most")
    return window_s, devices, str(kind)


def _add(
    sums: list[list[float]],
    weights: list[list[float]],
    line: dict[str, Any],
    meter: str,
    window_s: float,
    devices: int,
    where: str,
) -> None:
    """Take one sample in: its share counts in each window by how much of it the sample covers."""
    meters = line.get("meters")
    values = meters.get(meter) if isinstance(meters, dict) else None
    end_s, length_s = _finite(line.get("t_s")), _finite(line.get("window_s"))
    if end_s is None or length_s is None or length_s <= 0 or end_s < 0:
        raise StripError(f"{where} is no sample; {_HINT}")
    if end_s / window_s > MOST_WINDOWS + 0.5:
        hint = "record a shorter run, with --seconds"
        raise StripError(f"{where} is past {MOST_WINDOWS} windows of {window_s:g} s; {hint}")
    if values is None:
        values = [None] * devices
    if not isinstance(values, list) or len(values) != devices:
        raise StripError(f"{where} has not one {meter} for each of {devices} devices; {_HINT}")
    begin_s = max(0.0, end_s - length_s)
    last = max(1, math.ceil(end_s / window_s - 1e-6))
    while len(sums) < last:
        sums.append([0.0] * devices)
        weights.append([0.0] * devices)
    for device, value in enumerate(values):
        share = _finite(value)
        if value is not None and (share is None or not -1e-6 <= share <= 1 + 1e-6):
            raise StripError(f"{where}: {meter} must lie between 0 and 1; {_HINT}")
        for at in range(int(begin_s / window_s + 1e-6), last) if share is not None else ():
            covered_s = min(end_s, (at + 1) * window_s) - max(begin_s, at * window_s)
            if covered_s > 0 and share is not None:
                sums[at][device] += share * covered_s
                weights[at][device] += covered_s


def _written(total: float, weight: float) -> str:
    return f"{min(100, max(0, round(100 * total / weight))):02x}" if weight else _MISSING


def _finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)
