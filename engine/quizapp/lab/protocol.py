"""The lines between a demo and the lab: JSON, one object a line, versioned.

Everything that reaches `decode` was written by a program that nobody vouches for. A line that isn't exactly
what it says to be is the demo's log, with the reason; nothing in it is trusted, and no text in it keeps its
control characters.

Times are seconds: `t_s` and `device_s` of device time (emulated devices have a logical clock), `wall_s` of
the wall clock. Utilisation, compute, collective and waits are shares of a window, 0 to 1.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, cast

from quizapp.bank.text import visible

VERSION = 1
LONGEST_LINE_BYTES = 256 * 1024
LONGEST_LOG_CHARS = 2000
MOST_DEVICES = 1024
_DEEPEST = 8
_LONGEST_TEXT = 2000
_LARGEST_NUMBER = 1e18
_SHOWN_CHARS = 200

SHARES = ("util", "compute", "collective", "data_wait", "host_wait", "sm_active")
METERS = ("util", "compute", "collective", "data_wait", "host_wait", "memory_bytes")
CUDA_METERS = ("sm_active", "power_w", "clock_mhz")

DeviceKind = Literal["emulated", "cuda"]
OutcomeName = Literal["completed", "out-of-memory", "crashed", "timed-out", "stopped"]
OUTCOMES: tuple[OutcomeName, ...] = ("completed", "out-of-memory", "crashed", "timed-out", "stopped")
CHILD_OUTCOMES = ("completed", "out-of-memory")

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Reading = tuple[float | None, ...]
"""One number a device; None where it is not available."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What runs, on what: the first line of a run."""

    demo: str
    variant: str
    device_kind: DeviceKind
    devices: int
    device_names: tuple[str, ...] = ()
    params: Mapping[str, Json] = field(default_factory=dict)
    processes: int | None = None
    """Distinct processes that drive devices."""
    pids: tuple[tuple[int, ...], ...] = ()
    """For each device, the processes on it."""
    seed: int | None = None
    """Of the perturbation of planned durations; None: as planned."""
    window_s: float
    torch: str = ""
    plan: Mapping[str, Json] = field(default_factory=dict)
    notice: str = ""
    """What must be shown with every number of this run."""
    replayed: str = ""
    """Where these lines come from, when they are a replay and no run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What the devices did in one window of device time."""

    t_s: float
    """Device time at the window's end."""
    window_s: float
    step: int = 0
    """Last step that every rank has finished."""
    warmup: bool = False
    meters: Mapping[str, Reading] = field(default_factory=dict)
    monotonic_s: float | None = None
    """The system's monotonic clock at the window's end, on cuda devices, to line up with NVML."""

    def reading(self, meter: str, devices: int) -> Reading:
        """The meter's value on each device; None for each where it is not available."""
        return self.meters.get(meter, (None,) * devices)


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoError:
    """The error that ended a run."""

    type: str
    message: str = ""
    rank: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a run ended: its last line, exactly one of them."""

    outcome: OutcomeName
    error: DemoError | None = None
    steps: int | None = None
    device_s: float | None = None
    wall_s: float | None = None
    steps_per_s: float | None = None
    expected: Mapping[str, Json] = field(default_factory=dict)
    """The closed form: `steps_per_s` and meters, worked out from the plan apart from the run."""
    memory_prediction: Mapping[str, Json] | None = None
    final: Mapping[str, Json] = field(default_factory=dict)
    log_tail: tuple[str, ...] = ()
    """Last lines of the demo's log, when it didn't end by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """Anything else: what a demo printed, or what the lab has to say about the run."""

    text: str
    source: Literal["demo", "lab"] = "demo"


Line = Start | Sample | Outcome | Log


class _Malformed(ValueError):
    pass


def decode(line: bytes | str, *, devices: int | None = None) -> Line:
    """The line as what it says to be, or as a Log. `devices`: how many the run's Start said, once it did."""
    if isinstance(line, bytes):
        if len(line) > LONGEST_LINE_BYTES:
            return log_line(line[: 4 * LONGEST_LOG_CHARS].decode("utf-8", "replace"))
        text = line.decode("utf-8", "replace")
    else:
        text = line
    if not text.lstrip().startswith("{"):
        return log_line(text)
    try:
        raw = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return log_line(text)
    if not isinstance(raw, dict) or "v" not in raw or not isinstance(raw.get("type"), str):
        return log_line(text)
    try:
        return _read(raw, devices)
    except _Malformed as error:
        return log_line(f"not understood ({error}): {text[:_SHOWN_CHARS]}", source="lab")


def log_line(text: str, *, source: Literal["demo", "lab"] = "demo") -> Log:
    """A Log whose text is one line of bounded length without control characters."""
    # A progress bar redraws its line with carriage returns: a terminal would show what follows the last one.
    text = text.rstrip("\r\n").rpartition("\r")[2]
    if len(text) > LONGEST_LOG_CHARS:
        text = text[:LONGEST_LOG_CHARS] + " … (cut)"
    return Log(text=visible(text).replace("\n", "␊"), source=source)


def encode(line: Line) -> str:
    """The line as JSON, without a newline; `decode` gives it back (a Log through `decode_any`)."""
    body: dict[str, object]
    if isinstance(line, Start):
        body = {"type": "start", **_fields(line)}
    elif isinstance(line, Sample):
        body = {"type": "sample", **_fields(line)}
        if line.monotonic_s is None:
            body.pop("monotonic_s")
    elif isinstance(line, Outcome):
        body = {"type": "outcome", **_fields(line)}
        body["error"] = _fields(line.error) if line.error else None
    else:
        body = {"type": "log", **_fields(line)}
    return json.dumps({"v": VERSION, **body}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _fields(line: Line | DemoError) -> dict[str, object]:
    return {name: getattr(line, name) for name in line.__dataclass_fields__}


def decode_any(line: bytes | str, *, devices: int | None = None) -> Line:
    """As `decode`, for lines that the lab itself wrote: a log line is a line, and any outcome is allowed.

    Raises ValueError for a line that is none.
    """
    if len(line) > LONGEST_LINE_BYTES:
        raise ValueError(f"longer than {LONGEST_LINE_BYTES} bytes")
    try:
        text = line.decode("utf-8") if isinstance(line, bytes) else line
        raw = json.loads(text, parse_constant=_refuse_constant)
        if not isinstance(raw, dict):
            raise _Malformed("no JSON object")
        return _read(raw, devices, ours=True)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def with_wall(outcome: Outcome, wall_s: float) -> Outcome:
    """The outcome with the wall time that the lab measured."""
    return replace(outcome, wall_s=wall_s)


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _read(raw: dict[str, object], devices: int | None, *, ours: bool = False) -> Line:
    if raw.get("v") != VERSION or isinstance(raw["v"], bool):
        raise _Malformed(f"version {_short(raw.get('v'))}, this lab speaks {VERSION}")
    kind = raw.get("type")
    if kind == "start":
        return _read_start(raw, ours)
    if kind == "sample":
        if devices is None:
            raise _Malformed("sample before start")
        return _read_sample(raw, devices)
    if kind == "outcome":
        return _read_outcome(raw, ours)
    if kind == "log" and ours:
        text = raw.get("text")
        if not isinstance(text, str):
            raise _Malformed("log: text must be a string")
        return log_line(text, source="lab" if raw.get("source") == "lab" else "demo")
    raise _Malformed(f"unknown type {_short(kind)}")


def _read_start(raw: dict[str, object], ours: bool) -> Start:
    devices = _whole(raw, "devices", low=1, high=MOST_DEVICES)
    kind = raw.get("device_kind")
    if kind not in ("emulated", "cuda"):
        raise _Malformed("start: device_kind must be emulated or cuda")
    names = raw.get("device_names", [])
    if not isinstance(names, list) or len(names) not in (0, devices):
        raise _Malformed(f"start: device_names must have {devices} names")
    pids = raw.get("pids", [])
    if not isinstance(pids, list) or len(pids) not in (0, devices):
        raise _Malformed(f"start: pids must have {devices} entries")
    window_s = _number(raw, "window_s")
    if not 0 < window_s <= 3600:
        raise _Malformed("start: window_s must be above 0")
    return Start(
        demo=_text(raw, "demo", 100),
        variant=_text(raw, "variant", 100),
        device_kind=kind,
        devices=devices,
        device_names=tuple(_clean_text(name, 200) for name in names),
        params=_mapping(raw, "params"),
        processes=None if raw.get("processes") is None else _whole(raw, "processes", low=1, high=1 << 22),
        pids=tuple(_pids(entry) for entry in pids),
        seed=None if raw.get("seed") is None else _whole(raw, "seed", low=0, high=1 << 63),
        window_s=window_s,
        torch=_text(raw, "torch", 100, default=""),
        plan=_mapping(raw, "plan"),
        notice=_text(raw, "notice", _LONGEST_TEXT, default=""),
        replayed=_text(raw, "replayed", _LONGEST_TEXT, default="") if ours else "",
    )


def _pids(entry: object) -> tuple[int, ...]:
    ids = entry if isinstance(entry, list) else [entry]
    if len(ids) > MOST_DEVICES or not all(type(pid) is int and 0 <= pid < 1 << 32 for pid in ids):
        raise _Malformed("start: pids must be process ids")
    return tuple(ids)


def _read_sample(raw: dict[str, object], devices: int) -> Sample:
    meters = raw.get("meters")
    if not isinstance(meters, dict) or len(meters) > 32:
        raise _Malformed("sample: meters must be an object")
    window_s = _number(raw, "window_s")
    if not 0 < window_s <= 3600:
        raise _Malformed("sample: window_s must be above 0")
    warmup = raw.get("warmup", False)
    if not isinstance(warmup, bool):
        raise _Malformed("sample: warmup must be true or false")
    read: dict[str, Reading] = {}
    for name, values in meters.items():
        if name not in METERS and name not in CUDA_METERS:
            raise _Malformed(f"sample: unknown meter {_short(name)}")
        read[name] = _reading(name, values, devices)
    t_s = _number(raw, "t_s")
    if t_s < 0:
        raise _Malformed("sample: t_s must not be negative")
    return Sample(
        t_s=t_s,
        window_s=window_s,
        step=_whole(raw, "step", low=0, high=1 << 53, default=0),
        warmup=warmup,
        meters=read,
        monotonic_s=None if raw.get("monotonic_s") is None else _number(raw, "monotonic_s"),
    )


def _reading(name: str, values: object, devices: int) -> Reading:
    if values is None:
        return (None,) * devices
    if not isinstance(values, list) or len(values) != devices:
        count = len(values) if isinstance(values, list) else "no"
        raise _Malformed(f"sample: {name} has {count} readings for {devices} devices")
    read: list[float | None] = []
    for value in values:
        if value is None:
            read.append(None)
            continue
        number = _finite(value, f"sample: {name}")
        if name in SHARES:
            # Sums of window fractions may miss the ends by rounding.
            if not -1e-6 <= number <= 1 + 1e-6:
                raise _Malformed(f"sample: {name} must lie between 0 and 1")
            number = min(max(0.0, float(number)), 1.0)  # this way round, -0.0 becomes 0.0
        elif number < 0:
            raise _Malformed(f"sample: {name} must not be negative")
        read.append(number)
    return tuple(read)


def _read_outcome(raw: dict[str, object], ours: bool) -> Outcome:
    name = raw.get("outcome")
    if name not in (OUTCOMES if ours else CHILD_OUTCOMES):
        raise _Malformed(f"outcome: {_short(name)} is not one that a demo can state")
    error = raw.get("error")
    if error is not None and not isinstance(error, dict):
        raise _Malformed("outcome: error must be an object or null")
    prediction = raw.get("memory_prediction")
    tail = raw.get("log_tail", []) if ours else []
    if not isinstance(tail, list) or len(tail) > 1000:
        raise _Malformed("outcome: log_tail must be a list")
    return Outcome(
        outcome=cast(OutcomeName, name),
        error=None if error is None else _read_error(error),
        steps=None if raw.get("steps") is None else _whole(raw, "steps", low=0, high=1 << 53),
        device_s=_optional_number(raw, "device_s"),
        wall_s=_optional_number(raw, "wall_s"),
        steps_per_s=_optional_number(raw, "steps_per_s"),
        expected=_mapping(raw, "expected"),
        memory_prediction=None if prediction is None else _mapping(raw, "memory_prediction"),
        final=_mapping(raw, "final"),
        log_tail=tuple(_clean_text(entry, LONGEST_LOG_CHARS + 20) for entry in tail),
    )


def _read_error(raw: dict[str, object]) -> DemoError:
    return DemoError(
        type=_text(raw, "type", 200),
        message=_text(raw, "message", _LONGEST_TEXT, default=""),
        rank=None if raw.get("rank") is None else _whole(raw, "rank", low=0, high=1 << 20),
    )


def _mapping(raw: dict[str, object], key: str) -> dict[str, Json]:
    value = raw.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _Malformed(f"{key} must be an object")
    return cast(dict[str, Json], _clean(value, key, 0))


def _clean(value: object, where: str, depth: int) -> Json:
    """JSON with bounded depth, finite numbers and visible text."""
    if depth > _DEEPEST:
        raise _Malformed(f"{where} is nested too deeply")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return _finite(value, where)
    if isinstance(value, str):
        return _clean_text(value, _LONGEST_TEXT)
    if isinstance(value, list):
        return [_clean(entry, where, depth + 1) for entry in value]
    if isinstance(value, dict):
        return {_clean_text(k, 200): _clean(entry, where, depth + 1) for k, entry in value.items()}
    raise _Malformed(f"{where} holds what JSON can't")


def _clean_text(value: object, longest: int) -> str:
    if not isinstance(value, str):
        raise _Malformed("a string is expected")
    if any("\ud800" <= character <= "\udfff" for character in value):
        value = value.encode("utf-8", "replace").decode()
    return visible(value if len(value) <= longest else value[:longest] + "…")


def _text(raw: dict[str, object], key: str, longest: int, *, default: str | None = None) -> str:
    value = raw.get(key, default)
    if not isinstance(value, str):
        raise _Malformed(f"{key} must be a string")
    return _clean_text(value, longest)


def _finite(value: object, where: str) -> int | float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _Malformed(f"{where} must be a number")
    if (isinstance(value, float) and not math.isfinite(value)) or abs(value) > _LARGEST_NUMBER:
        raise _Malformed(f"{where} must be a finite number")
    return value


def _number(raw: dict[str, object], key: str) -> float:
    return float(_finite(raw.get(key), key))


def _optional_number(raw: dict[str, object], key: str) -> float | None:
    if raw.get(key) is None:
        return None
    number = _number(raw, key)
    if number < 0:
        raise _Malformed(f"{key} must not be negative")
    return number


def _whole(raw: dict[str, object], key: str, *, low: int, high: int, default: int | None = None) -> int:
    value = raw.get(key, default)
    if type(value) is not int or not low <= value <= high:
        raise _Malformed(f"{key} must be a whole number from {low} to {high}")
    return value


def _short(value: object) -> str:
    text = repr(value)
    return visible(text if len(text) <= 40 else text[:40] + "…")
