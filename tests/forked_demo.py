"""Runs demos as the app does: each forked from one process that has imported torch, without pacing."""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ENGINE = Path(__file__).resolve().parent.parent / "engine"
DEMOS = ENGINE.parent / "demos"
TIMEOUT_S = 120

# Reads a request a line, forks, and answers with the child's status.
SERVER = """
import json, os, sys, traceback
from pathlib import Path
import torch
torch.set_num_threads(1)
from quizapp.lab import kit
print("ready", flush=True)
for line in sys.stdin:
    request = json.loads(line)
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.setpgid(0, 0)
            log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(log, 1), os.dup2(log, 2)
            out = os.open(request["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            status = kit.run_demo(Path(request["path"]), request["spec"], out)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    _, status = os.waitpid(pid, 0)
    print(json.dumps(os.waitstatus_to_exitcode(status)), flush=True)
"""


@dataclass
class Ran:
    """One finished run: its lines by type, its exit status, and what it printed."""

    status: int
    log: str
    lines: list[dict[str, Any]] = field(default_factory=list)

    @property
    def start(self) -> dict[str, Any]:
        return next(line for line in self.lines if line["type"] == "start")

    @property
    def outcome(self) -> dict[str, Any]:
        return next(line for line in self.lines if line["type"] == "outcome")

    @property
    def samples(self) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["type"] == "sample"]

    @property
    def measured(self) -> list[dict[str, Any]]:
        return [sample for sample in self.samples if not sample["warmup"]]

    def mean(self, meter: str) -> list[float]:
        """The meter of each device over the measured windows, each counted by its length."""
        total = sum(sample["window_s"] for sample in self.measured)
        return [
            sum(sample["meters"][meter][device] * sample["window_s"] for sample in self.measured) / total
            for device in range(self.start["devices"])
        ]

    @property
    def diagnosis(self) -> str:
        """What the lab says of this run."""
        from quizapp.lab.diagnose import diagnose
        from quizapp.lab.protocol import Outcome, Sample, decode

        devices = self.start["devices"]
        decoded = [decode(json.dumps(line), devices=devices) for line in self.lines]
        outcome = next(line for line in decoded if isinstance(line, Outcome))
        return diagnose([line for line in decoded if isinstance(line, Sample)], outcome, devices).name

    def longest_zero_s(self, device: int) -> float:
        """Longest stretch of measured time in which the device's utilisation reads zero."""
        longest = current = 0.0
        for sample in self.measured:
            zero = sample["meters"]["util"][device] < 0.005
            current = current + sample["window_s"] if zero else 0.0
            longest = max(longest, current)
        return longest

    def largest_memory(self) -> list[int]:
        return [
            max(sample["meters"]["memory_bytes"][device] for sample in self.measured)
            for device in range(self.start["devices"])
        ]


@functools.cache
def _server() -> tuple[subprocess.Popen[str], str]:
    folder = tempfile.mkdtemp(prefix="quizapp-test-")
    environment = os.environ | {"PYTHONPATH": str(ENGINE), "QUIZAPP_CACHE_DIR": folder}
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(server.kill)
    assert server.stdout is not None
    assert server.stdout.readline() == "ready\n"
    return server, folder


def run(
    demo: str,
    variant: str = "fault",
    *,
    devices: int = 2,
    params: Mapping[str, Any] | None = None,
    path: Path | None = None,
    **spec: Any,
) -> Ran:
    """Run a demo of the checkout, or the program at `path`; `spec` as the lab's runner gives it."""
    server, folder = _server()
    out, log = Path(folder, "out"), Path(folder, "log")
    request = {
        "path": str(path or DEMOS / f"{demo.replace('-', '_')}.py"),
        "out": str(out),
        "log": str(log),
        "spec": {
            "demo": demo,
            "variant": variant,
            "devices": devices,
            "device_kind": "emulated",
            "seconds": None,
            "speed": None,
            "params": dict(params or {}),
            "seed": None,
            "window_s": 0.1,
            **spec,
        },
    }
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(request) + "\n")
    server.stdin.flush()
    status = int(server.stdout.readline())
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    return Ran(status, log.read_text(errors="replace"), lines)


Run = Callable[..., Ran]
