"""Lines of made-up runs, for tests of what is concluded from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quizapp.lab.protocol import Outcome, Sample, Start
from quizapp.lab.summary import RunSummary, summarise

WINDOW_S = 0.1


def start(devices: int = 2, **fields: object) -> Start:
    given = {
        "demo": "dp-sync",
        "variant": "fault",
        "device_kind": "emulated",
        "processes": 1,
        "window_s": WINDOW_S,
        **fields,
    }
    return Start(devices=devices, **given)  # type: ignore[arg-type]


def samples(meters: Mapping[str, Sequence[Sequence[float | None]]], *, warmup: int = 0) -> list[Sample]:
    """`meters`: for each meter, for each device, its windows. The first `warmup` windows are marked so."""
    count = len(next(iter(meters.values()))[0])
    return [
        Sample(
            t_s=round((i + 1) * WINDOW_S, 6),
            window_s=WINDOW_S,
            step=i,
            warmup=i < warmup,
            meters={name: tuple(device[i] for device in devices) for name, devices in meters.items()},
        )
        for i in range(count)
    ]


def steady(values: Sequence[float | None], windows: int = 30) -> list[list[float | None]]:
    return [[value] * windows for value in values]


def summary(
    meters: Mapping[str, Sequence[Sequence[float | None]]],
    *,
    outcome: Outcome | None = None,
    **fields: object,
) -> RunSummary:
    devices = len(next(iter(meters.values())))
    ended = outcome or Outcome(outcome="completed", steps=10, device_s=3.0, wall_s=1.0, steps_per_s=4.0)
    return summarise(start(devices, **fields), samples(meters), ended)
