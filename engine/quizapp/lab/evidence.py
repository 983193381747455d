"""The record of one run as evidence: what ran, on what, what was measured; and the key that finds it again.

The key covers everything that can change a run's figures, and nothing else: a mended typo in a bank, or in a
module that only shows results, makes no evidence stale.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from quizapp.bank.text import visible
from quizapp.lab.catalogue import DemoDeclaration
from quizapp.lab.meters import MeterStat
from quizapp.lab.params import Value
from quizapp.lab.protocol import CUDA_METERS, METERS, OUTCOMES, DemoError
from quizapp.lab.summary import RunSummary

FORMAT = 1

SHOWS_ONLY = frozenset(
    {
        "appeal",
        "compare",
        "confirmed",
        "evidence",
        "figure",
        "finding",
        "finding_words",
        "ground",
        "key_test",
        "printed",
        "recording",
        "shipped",
        "symptom",
        "verify",
    }
)
"""Modules of the lab that read, judge or show runs: no run's figures depend on them."""


@dataclass(frozen=True, slots=True)
class RunKey:
    """What a run depends on. Two runs with equal keys show the same figures, on emulated devices."""

    demo: str
    variant: str
    params: tuple[tuple[str, Value], ...]
    devices: int
    device_kind: str
    seconds: float
    seed: int | None
    demo_source: str
    lab_source: str
    torch: str
    on: tuple[str, ...] = ()
    """Names of the real devices and their driver; empty for emulated ones."""

    @property
    def text(self) -> str:
        """The key under which the run's evidence is kept."""
        body = {field.name: getattr(self, field.name) for field in fields(self)}
        return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def run_key(
    demo: DemoDeclaration,
    variant: str,
    params: Mapping[str, str],
    *,
    devices: int,
    seed: int | None,
    device_kind: str = "emulated",
    on: tuple[str, ...] = (),
) -> RunKey:
    """The key of a run that may or may not have been made yet; raises ParamError for a wrong parameter."""
    return RunKey(
        demo=demo.name,
        variant=variant,
        params=tuple(sorted(demo.resolve(variant, params).items())),
        devices=devices,
        device_kind=device_kind,
        seconds=demo.seconds,
        seed=seed,
        demo_source=demo.source_hash,
        lab_source=lab_source(),
        torch=installed_torch(),
        on=on,
    )


@cache
def lab_source() -> str:
    """One hash over the lab's modules and device files that a run's figures depend on."""
    here = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted([*here.glob("*.py"), *(here / "hardware").glob("*.json")]):
        if path.stem not in SHOWS_ONLY:
            content = path.read_bytes()
            digest.update(f"{path.name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


@cache
def installed_torch() -> str:
    """The installed torch's version without importing it; "" when there is none."""
    import sys

    for folder in map(Path, sys.path):
        found = next(folder.glob("torch-*.dist-info"), None) if folder.is_dir() else None
        if found is not None:
            return found.name.removeprefix("torch-").removesuffix(".dist-info")
    return ""


def record_of(key: RunKey, summary: RunSummary, made_at: str) -> dict[str, Any]:
    """The evidence of one run, as it is stored and exported. `made_at`: UTC, ISO 8601."""
    return {
        "format": FORMAT,
        "key": key.text,
        "made_at": made_at,
        "ran": {field.name: _plain(getattr(key, field.name)) for field in fields(key)},
        "on": {
            "device_names": list(summary.device_names),
            "torch": summary.torch,
            "python": platform.python_version(),
            "system": platform.system(),
        },
        "measured": _rounded(summary.record()),
    }


def _rounded(value: Any) -> Any:
    """Numbers to a millionth: more digits than any reading has, and half the size of a file of records."""
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        return {name: _rounded(inner) for name, inner in value.items()}
    return [_rounded(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def _plain(value: object) -> object:
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def summary_of(record: Mapping[str, Any]) -> RunSummary:
    """The summary in a record, which may come from anyone; raises ValueError when it is none."""
    measured = record.get("measured")
    if record.get("format") != FORMAT or not isinstance(measured, dict):
        raise ValueError("no evidence that this version reads")
    devices, outcome = measured.get("devices"), measured.get("outcome")
    kind = measured.get("device_kind")
    if type(devices) is not int or not 1 <= devices <= 1024:
        raise ValueError("devices must be a number from 1 to 1024")
    if outcome not in OUTCOMES or kind not in ("emulated", "cuda"):
        raise ValueError("no known outcome or kind of device")
    meters = measured.get("meters")
    if not isinstance(meters, dict):
        raise ValueError("meters are missing")
    error = measured.get("error")
    params = measured.get("params")
    return RunSummary(
        demo=_text(measured, "demo"),
        variant=_text(measured, "variant"),
        device_kind=kind,
        devices=devices,
        params=params if isinstance(params, dict) else {},
        outcome=outcome,
        diagnosis=_text(measured, "diagnosis"),
        reason=_text(measured, "reason"),
        margin=_number(measured.get("margin")),
        wall_s=_number(measured.get("wall_s")),
        device_s=_number(measured.get("device_s")),
        processes=measured["processes"] if type(measured.get("processes")) is int else None,
        meters={
            name: [_stat(stat) for stat in stats]
            for name, stats in meters.items()
            if name in (*METERS, *CUDA_METERS) and isinstance(stats, list) and len(stats) == devices
        },
        steps=measured["steps"] if type(measured.get("steps")) is int else None,
        steps_per_s=_number(measured.get("steps_per_s")),
        error=DemoError(type=_text(error, "type"), message=_text(error, "message"))
        if isinstance(error, dict)
        else None,
        device_names=tuple(visible(str(name)) for name in (measured.get("device_names") or ())[:devices]),
        seed=measured["seed"] if type(measured.get("seed")) is int else None,
        torch=_text(measured, "torch"),
        notice=_text(measured, "notice"),
    )


def _text(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name) or ""
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a string")
    return visible(value[:2000])


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _stat(raw: object) -> MeterStat | None:
    if raw is None:
        return None
    if not isinstance(raw, dict):
        raise ValueError("a meter's reading must be an object")
    numbers = {name: _number(raw.get(name)) for name in ("mean", "min", "max", "longest_zero_s")}
    if None in numbers.values():
        raise ValueError("a meter's reading must have mean, min, max and longest_zero_s")
    return MeterStat(**{name: float(number or 0.0) for name, number in numbers.items()})
