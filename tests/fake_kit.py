"""Stands in for the kit: a demo's main is given what it needs to write protocol lines by itself."""

from __future__ import annotations

import json
import os
import runpy
from pathlib import Path
from typing import Any


class FakeLab:
    def __init__(self, spec: dict[str, Any], out: int) -> None:
        self.spec = spec
        self.out = out

    def raw(self, data: bytes) -> None:
        while data:
            data = data[os.write(self.out, data) :]

    def say(self, kind: str, **fields: Any) -> None:
        self.raw(json.dumps({"v": 1, "type": kind, **fields}).encode() + b"\n")

    def start(self) -> None:
        spec = self.spec
        self.say(
            "start",
            demo=spec["demo"],
            variant=spec["variant"],
            device_kind=spec["device_kind"],
            devices=spec["devices"],
            params=spec["params"],
            processes=1,
            window_s=spec["window_s"],
            seed=spec["seed"],
            notice="Emulated devices: no GPU was used.",
        )

    def sample(self, t_s: float, **meters: list[float | None] | None) -> None:
        n = self.spec["devices"]
        own = {"util": [0.9] * n, "compute": [0.9] * n, "data_wait": [0.0] * n, "host_wait": [0.0] * n}
        self.say(
            "sample", t_s=t_s, window_s=self.spec["window_s"], step=int(t_s * 10), meters={**own, **meters}
        )

    def outcome(self, name: str = "completed", **fields: Any) -> None:
        self.say("outcome", outcome=name, steps=10, device_s=3.0, wall_s=0.1, steps_per_s=3.3, **fields)


def run_demo(path: Path, spec: dict[str, Any], out_fd: int) -> int:
    return int(runpy.run_path(str(path))["main"](FakeLab(spec, out_fd)) or 0)
