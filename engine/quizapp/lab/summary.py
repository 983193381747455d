"""One run summed up: what was run, how it ended, what each meter of each device read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from quizapp.lab.catalogue import DemoDeclaration
from quizapp.lab.diagnose import Diagnosis, diagnose
from quizapp.lab.meters import MeterStat, stats
from quizapp.lab.protocol import (
    CUDA_METERS,
    METERS,
    DemoError,
    DeviceKind,
    Json,
    Line,
    Log,
    Outcome,
    OutcomeName,
    Sample,
    Start,
)

EMULATED_NOTICE = (
    "Emulated devices: no GPU was used. Control flow and gradients are real; "
    "kernel, transfer and decode durations come from the demo's plan."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """A run as it is shown, compared and stored. Meters have one entry a device; None: not available."""

    demo: str
    variant: str
    device_kind: DeviceKind
    devices: int
    params: Mapping[str, Json]
    outcome: OutcomeName
    diagnosis: str
    reason: str = ""
    """Why this diagnosis."""
    margin: float | None = None
    """Distance to the nearest threshold that decided the diagnosis."""
    wall_s: float | None = None
    device_s: float | None = None
    processes: int | None = None
    meters: Mapping[str, list[MeterStat | None]] = field(default_factory=dict)
    steps: int | None = None
    steps_per_s: float | None = None
    expected: Mapping[str, Json] = field(default_factory=dict)
    memory_prediction: Mapping[str, Json] | None = None
    error: DemoError | None = None
    log_tail: tuple[str, ...] = ()
    device_names: tuple[str, ...] = ()
    seed: int | None = None
    torch: str = ""
    final: Mapping[str, Json] = field(default_factory=dict)
    notice: str = ""
    """To be shown with the numbers; never empty for emulated devices."""
    replayed: str = ""

    def as_json(self) -> dict[str, object]:
        """What `quizapp demo --json` prints."""
        return {
            "demo": self.demo,
            "variant": self.variant,
            "device_kind": self.device_kind,
            "devices": self.devices,
            "params": dict(self.params),
            "outcome": self.outcome,
            "diagnosis": self.diagnosis,
            "wall_s": self.wall_s,
            "device_s": self.device_s,
            "processes": self.processes,
            "meters": {
                name: [None if stat is None else stat.as_json() for stat in self.meters[name]]
                for name in METERS
            },
        }

    def record(self) -> dict[str, object]:
        """Everything, for the store."""
        meters = {
            name: [None if stat is None else stat.as_json() for stat in values]
            for name, values in self.meters.items()
        }
        return self.as_json() | {
            "meters": meters,
            "reason": self.reason,
            "margin": self.margin,
            "steps": self.steps,
            "steps_per_s": self.steps_per_s,
            "expected": dict(self.expected),
            "memory_prediction": self.memory_prediction,
            "error": None
            if self.error is None
            else {"type": self.error.type, "message": self.error.message, "rank": self.error.rank},
            "log_tail": list(self.log_tail),
            "device_names": list(self.device_names),
            "seed": self.seed,
            "torch": self.torch,
            "final": dict(self.final),
            "notice": self.notice,
            "replayed": self.replayed,
        }


def summarise(
    start: Start | None, samples: Sequence[Sample], outcome: Outcome, demo: Start | None = None
) -> RunSummary:
    """The summary of a run. `start` None: it ended before it began, and `demo` says what was asked for."""
    told = start or demo
    if told is None:
        raise ValueError("a run that never started needs to know what was asked for")
    names = METERS + (CUDA_METERS if told.device_kind == "cuda" else ())
    diagnosis: Diagnosis = diagnose(samples, outcome, told.devices)
    device_s = outcome.device_s
    if device_s is None and samples:
        device_s = max(sample.t_s for sample in samples)
    return RunSummary(
        demo=told.demo,
        variant=told.variant,
        device_kind=told.device_kind,
        devices=told.devices,
        params=told.params,
        outcome=outcome.outcome,
        diagnosis=diagnosis.name,
        reason=diagnosis.reason,
        margin=diagnosis.margin,
        wall_s=outcome.wall_s,
        device_s=device_s,
        processes=told.processes,
        meters={name: stats(_counting(name, samples), name, told.devices) for name in names},
        steps=outcome.steps,
        steps_per_s=outcome.steps_per_s,
        expected=outcome.expected,
        memory_prediction=outcome.memory_prediction,
        error=outcome.error,
        log_tail=outcome.log_tail,
        device_names=told.device_names,
        seed=told.seed,
        torch=told.torch,
        final=outcome.final,
        notice=told.notice or (EMULATED_NOTICE if told.device_kind == "emulated" else ""),
        replayed=told.replayed,
    )


def _counting(meter: str, samples: Sequence[Sample]) -> Sequence[Sample]:
    """Memory runs out in the first steps: its peak counts from the beginning."""
    return [replace(sample, warmup=False) for sample in samples] if meter == "memory_bytes" else samples


def summarise_lines(lines: Sequence[Line], demo: Start | None = None) -> RunSummary:
    """The summary of a run's lines, as they were read or replayed."""
    starts = [line for line in lines if isinstance(line, Start)]
    outcomes = [line for line in lines if isinstance(line, Outcome)]
    samples = [line for line in lines if isinstance(line, Sample)]
    return summarise(starts[0] if starts else None, samples, outcomes[-1], demo)


def as_declared(demo: DemoDeclaration, summary: RunSummary) -> str:
    """How the run differs from what its variant declares, in words; "" when it doesn't."""
    outcome, diagnosis = demo.outcomes[summary.variant], demo.expects[summary.variant]
    differences = []
    if summary.outcome != outcome:
        differences.append(f"the outcome is {summary.outcome}, the demo declares {outcome}")
    if summary.diagnosis != diagnosis:
        differences.append(f"the diagnosis is {summary.diagnosis}, the demo declares {diagnosis}")
    return "; ".join(differences)


def log_texts(lines: Sequence[Line]) -> list[str]:
    """What was printed during a run."""
    return [line.text for line in lines if isinstance(line, Log)]
