"""What a demo imports: the lab that starts its ranks, and the names that its training loop uses.

def main(lab):
    plan = lab.plan(lab.params.model)
    lab.launch(train, ranks=lab.devices, plan=plan, sequences=8, length=2048)

def train(rank):
    model = DistributedDataParallel(rank.gpt().to(rank.device))
    ...
    for batch in rank.steps(loader):
        ...
        rank.finish_step(loss)
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any, Union

import torch
import torch._dynamo  # DDP imports it, 2 s of CPU, in every rank that doesn't inherit it

from quizapp.lab.charge import StandIn
from quizapp.lab.merge import Merger
from quizapp.lab.plan import Plan
from quizapp.lab.rank import EmulatedRank, Job
from quizapp.lab.ranks import Hosting, Ranks, started
from quizapp.lab.shape import SIZES

if TYPE_CHECKING:
    from quizapp.lab.cuda_rank import CudaRank

Expected = Callable[[int], dict[str, Any]]
AnyRank = Union[EmulatedRank, "CudaRank"]
Train = Callable[[Any], None]
Predict = Callable[[], dict[str, Any]]

NOTICE = (
    "Emulated devices: no GPU was used. Control flow and gradients are real; kernel, transfer and decode "
    "durations come from this demo's plan."
)


class Lab:
    """One run of a demo: its parameters, and the way to start its ranks."""

    def __init__(self, demo: str, spec: Mapping[str, Any], declared: Mapping[str, Any], out_fd: int) -> None:
        self.demo = demo
        self.spec = spec
        self.variant = str(spec.get("variant", "fault"))
        self.devices = int(spec["devices"])
        self.device_kind = str(spec.get("device_kind", "emulated"))
        self.seed: int | None = spec.get("seed")
        self.speed: float | None = spec.get("speed")
        self.window_s = float(spec.get("window_s") or 0.1)
        self.seconds = float(spec.get("seconds") or declared["seconds"])
        self.values = {
            name: param.get(self.variant, param["default"]) for name, param in declared["params"].items()
        } | dict(spec.get("params") or {})
        self.params = SimpleNamespace(
            **{name.replace("-", "_"): value for name, value in self.values.items()}
        )
        self.status = 1
        self._out_fd = out_fd
        self._began = time.monotonic()

    def plan(self, model: str) -> Plan:
        """The planned durations for a model of a named size on this run's devices, perturbed by its seed."""
        return Plan.of(SIZES[model], self.devices).perturbed(self.seed)

    def predict_memory(
        self, model: str, *, sequences: int, length: int, checkpointing: bool = False
    ) -> dict[str, Any]:
        """The peak memory of one rank's step by category, in bytes, found without allocating it."""
        from quizapp.lab.memory import predict_cached

        prediction = predict_cached(
            SIZES[model], sequences, length, checkpointing=checkpointing, ranks=self.devices
        )
        return prediction.as_json()

    def launch(
        self,
        train: Train,
        *,
        ranks: int,
        plan: Plan,
        sequences: float,
        length: float,
        decode_s: float = 0.0,
        checkpointing: bool = False,
        layers: int = 2,
        hosting: Hosting = "processes",
        expected: Expected | None = None,
        predict: Predict | None = None,
    ) -> None:
        """Run `train` in `ranks` processes, as torchrun does, and report what they measure.

        `sequences` and `length` are a device's typical batch, for the plan that is shown; `layers` is how
        many blocks really run. A rank that is hosted "alone" drives all devices by itself. `expected` is the
        closed form, given the number of steps; `predict` is worked out meanwhile, in a process of its own.
        """
        on_cuda = self.device_kind == "cuda"
        if on_cuda and hosting == "threads":
            hosting = "processes"
        job = Job(
            plan=plan,
            devices=self.devices,
            ranks=ranks,
            alone=hosting == "alone",
            params=self.params,
            seconds=self.seconds,
            steps=self.spec.get("steps"),
            window_s=self.window_s,
            speed=None if on_cuda else self.speed,
            stand_in=StandIn(layers),
            checkpointing=checkpointing,
            memory_fraction=float(self.spec.get("memory_fraction") or 1.0),
            zero_s=time.time(),
            parameters_to=self.spec.get("parameters_to"),
        )
        zero_monotonic_s = time.monotonic() if on_cuda else None
        body = partial(_run_rank, job, train, on_cuda)
        backend = "nccl" if on_cuda else "gloo"
        with started(body, ranks, hosting, backend=backend, beside=predict) as running:
            plan_lines = {} if on_cuda else plan.described(sequences, length, decode_s=decode_s)
            self._start(job, plan_lines, running.pids[:ranks])
            merger = Merger(self.devices, ranks, zero_monotonic_s)
            told = _Told(ranks, one_process=hosting != "processes", predicting=predict is not None)
            show = _Pacer(self.emit, job.speed)
            self._follow(running, merger, told, show)
        show.emit_all()
        if told.error is not None and not told.error["out_of_memory"]:
            return
        if told.error is None and len(told.finished) < ranks:
            print("a rank ended without a word", file=sys.stderr)
            return
        self._outcome(told, None if on_cuda else expected)

    def _start(self, job: Job, plan: dict[str, dict[str, float | str]], pids: list[int]) -> None:
        on_cuda = self.device_kind == "cuda"
        # Emulated jobs number their processes as ranks: those that host them here are no part of the job.
        numbers = pids if on_cuda else list(range(job.ranks))
        name = "cuda" if on_cuda else f"emulated {job.plan.hardware.name}"
        self.emit(
            {
                "v": 1,
                "type": "start",
                "demo": self.demo,
                "variant": self.variant,
                "device_kind": self.device_kind,
                "devices": self.devices,
                "device_names": [name] * self.devices,
                "params": self.values,
                "processes": job.ranks,
                "pids": [[numbers[0 if job.alone else device]] for device in range(self.devices)],
                "seed": None if on_cuda else self.seed,
                "window_s": self.window_s,
                "torch": torch.__version__,
                "plan": plan,
                "notice": "" if on_cuda else NOTICE,
            }
        )

    def _follow(self, running: Ranks, merger: Merger, told: _Told, show: _Pacer) -> None:
        for message in running.messages(show.due_s):
            show.emit_due()
            if message is None:
                continue
            if message["kind"] == "windows":
                rows = {int(device): windows for device, windows in message["rows"].items()}
                merger.add(
                    message["rank"],
                    message["first"],
                    message["spans"],
                    rows,
                    message["steps"],
                    message["warmup"],
                )
                for sample in merger.samples():
                    show.add(sample)
            elif told.hear(message):
                return

    def _outcome(self, heard: _Told, expected: Expected | None) -> None:
        error = heard.error
        told = error if error is not None else heard.finished[0]
        ends_s = told["ends_s"]
        measured_s = ends_s[-1] - ends_s[0] if len(ends_s) > 1 else 0.0
        self.emit(
            {
                "v": 1,
                "type": "outcome",
                "outcome": "out-of-memory" if error else "completed",
                "error": {key: error[key] for key in ("type", "message", "rank")} if error else None,
                "steps": len(ends_s),
                "device_s": round(told["device_s"], 6),
                "wall_s": round(time.monotonic() - self._began, 3),
                "steps_per_s": round((len(ends_s) - 1) / measured_s, 6) if measured_s else None,
                "expected": expected(len(ends_s)) if expected and len(ends_s) > 1 else {},
                "memory_prediction": heard.predicted,
                "final": {"loss": told["loss"], "parameters_digest": told["parameters_digest"]},
            }
        )
        self.status = 0

    def emit(self, line: Mapping[str, Any]) -> None:
        """Write one line of the protocol."""
        rest = memoryview(json.dumps(line, separators=(",", ":")).encode() + b"\n")
        while rest:
            rest = rest[os.write(self._out_fd, rest) :]


@dataclass
class _Told:
    """What the ranks of a run told, windows aside."""

    ranks: int
    one_process: bool
    predicting: bool
    finished: dict[int, dict[str, Any]] = field(default_factory=dict)
    error: dict[str, Any] | None = None
    predicted: dict[str, Any] | None = None
    _stopped: dict[int, dict[str, Any]] = field(default_factory=dict)
    _dead: bool = False

    def hear(self, message: dict[str, Any]) -> bool:
        """Take a message in; whether there is nothing more to wait for."""
        kind = message["kind"]
        if kind == "done":
            self.finished[message["rank"]] = message
        elif kind == "stopped":
            self._stopped[message["rank"]] = message
        elif kind == "error" and self.error is None:
            self.error = message | self._stopped.get(message["rank"], {})
        elif kind == "beside":
            self.predicted = message["result"]
            self.predicting = False
        elif kind == "ended":
            self._ended(message["process"])
        over = len(self.finished) == self.ranks or self.error is not None
        return self._dead or (over and not self.predicting)

    def _ended(self, process: int) -> None:
        if process == (1 if self.one_process else self.ranks):
            self.predicting = False
        elif self.error is None:
            alive = len(self.finished) == self.ranks if self.one_process else process in self.finished
            # A rank that dies leaves the others waiting for it.
            self._dead = not alive


def _run_rank(
    job: Job, train: Train, on_cuda: bool, index: int, send: Callable[[dict[str, Any]], None]
) -> None:
    rank: AnyRank
    if on_cuda:
        from quizapp.lab.cuda_rank import CudaRank

        rank = CudaRank(job, index, send)
    else:
        rank = EmulatedRank(job, index, send)
    try:
        with rank.in_use():
            train(rank)
            rank.report(cut=True)
    except torch.OutOfMemoryError:
        rank.report()
        send({"kind": "stopped", **rank.summary()})
        raise
    if job.parameters_to and index == 0:
        torch.save(rank.parameters(), job.parameters_to)
    send({"kind": "done", **rank.summary()})


class _Pacer:
    """Shows samples when their time has come: device time, `speed` device seconds to one of the wall's."""

    def __init__(self, emit: Callable[[dict[str, Any]], None], speed: float | None) -> None:
        self.emit = emit
        self.speed = speed
        self._waiting: deque[dict[str, Any]] = deque()
        self._zero_s: float | None = None

    def add(self, sample: dict[str, Any]) -> None:
        if self.speed is None:
            self.emit(sample)
            return
        if self._zero_s is None:
            self._zero_s = time.monotonic() - float(sample["t_s"]) / self.speed
        self._waiting.append(sample)

    def due_s(self) -> float | None:
        """Seconds until the next sample is due; None when none waits."""
        if not self._waiting or self.speed is None or self._zero_s is None:
            return None
        due_s = self._zero_s + float(self._waiting[0]["t_s"]) / self.speed
        return max(0.0, due_s - time.monotonic())

    def emit_due(self) -> None:
        while self._waiting and self.due_s() == 0.0:
            self.emit(self._waiting.popleft())

    def emit_all(self) -> None:
        while self._waiting:
            time.sleep(self.due_s() or 0.0)
            self.emit_due()


def run_demo(path: Path, spec: Mapping[str, Any], out_fd: int) -> int:
    """Run the demo at `path` as `spec` says, writing the protocol's lines to `out_fd`; returns the exit
    status.
    """
    module = _load(path)
    lab = Lab(str(spec.get("demo") or path.stem.replace("_", "-")), spec, module.DEMO, out_fd)
    module.main(lab)
    return lab.status


def run_directly(path: str) -> None:
    """Run a demo from its own file, `python demos/dp_sync.py [DEVICES] [VARIANT]`: protocol lines on
    stdout.
    """
    torch.set_num_threads(1)
    devices = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    variant = sys.argv[2] if len(sys.argv) > 2 else None
    spec: dict[str, Any] = {"devices": devices}
    if variant:
        spec["variant"] = variant
    sys.exit(run_demo(Path(path), spec, sys.stdout.fileno()))


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"quizapp_demo_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"can't load {path}")
    module = importlib.util.module_from_spec(spec)
    # A dataclass or a worker's pickle looks its module up by name.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
