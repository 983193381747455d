"""The lab: how soon a demo shows something, what it weighs, and whether its diagnosis is right."""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar

from harness import QUIZAPP, Measurement, Row, ratio, run
from quizapp.content import content_dir
from quizapp.lab.catalogue import Catalogue
from quizapp.lab.protocol import Outcome, Sample
from quizapp.lab.request import RunRequest
from quizapp.lab.run import Run
from quizapp.lab.runner import Lab
from quizapp.lab.summary import RunSummary, summarise

T = TypeVar("T")

FROM_NOTHING = [*QUIZAPP, "demo", "dp-sync", "--devices", "8", "--device", "emulated", "--json"]
IMPORTS = [sys.executable, "-c", "import torch, torch._dynamo"]
SEEDS = (1, 2, 3, 4, 5)
COUNTS = (2, 4, 8)


@dataclass(frozen=True)
class Case:
    """A demo whose diagnosis is known."""

    demo: str
    variant: str
    diagnosis: str
    params: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return " ".join([self.demo, *(f"{key}={value}" for key, value in self.params.items())])


CASES = (
    Case("healthy", "fix", "healthy"),
    Case("dp-sync", "fault", "imbalance"),
    # The fault that the demo names is the uneven split: with it taken away, nothing is left to be found.
    Case("dp-sync", "fault", "healthy", {"split": "even"}),
    Case("cpu-bottleneck", "fault", "input-bound"),
    Case("tiny-model", "fault", "launch-bound"),
    Case("oom", "fault", "out-of-memory"),
    Case("straggler", "fault", "imbalance"),
    Case("input-skew", "fault", "input-bound"),
    Case("host-barrier", "fault", "imbalance"),
)


@cache
def demos() -> Catalogue:
    return Catalogue.load([content_dir("demos")])


def request(case: Case, devices: int, seed: int | None = None) -> RunRequest:
    return RunRequest(
        demo=demos().find(case.demo),
        variant=case.variant,
        devices=devices,
        device="emulated",
        params=case.params,
        seed=seed,
    )


def with_lab(work: Callable[[Lab], Awaitable[T]]) -> T:
    """What `work` gives, with a lab that is warm before it begins."""

    async def main() -> T:
        async with Lab() as lab:
            await lab.warm()
            return await work(lab)

    return asyncio.run(main())


def from_nothing(figure: str) -> Measurement:
    """A whole demo in a fresh process against importing what it needs, in turn."""
    run(IMPORTS)
    pairs = []
    for _ in range(5):
        mine, floor = run(FROM_NOTHING), run(IMPORTS)
        pairs.append((getattr(mine, figure), getattr(floor, figure)))
    mine_s, floor_s = (statistics.median(side) for side in zip(*pairs, strict=True))
    return ratio(pairs, f"{mine_s:.2f} s against {floor_s:.2f} s")


def first_sample(case: Case) -> Measurement:
    """Seconds from asking a warm lab for a run of eight devices to its first sample."""

    async def work(lab: Lab) -> list[float]:
        took = []
        for _ in range(6):
            began = time.monotonic()
            started = await lab.start(request(case, 8))
            async for line in started.lines():
                if isinstance(line, Sample):
                    took.append(time.monotonic() - began)
                    break
            await started.stop()
        return took[1:]

    took = with_lab(work)
    return Measurement(statistics.median(took), min(took), max(took), f"{len(took)} runs")


def peak_pss() -> Measurement:
    """Highest proportional memory of a demo's whole process group, in MiB, over all demos on 8 devices."""

    async def work(lab: Lab) -> dict[str, float]:
        return {case.name: await _peak_of(lab, case) for case in CASES}

    peaks = with_lab(work)
    worst = max(peaks, key=lambda name: peaks[name])
    detail = ", ".join(f"{name} {peak:.0f}" for name, peak in peaks.items())
    return Measurement(peaks[worst], min(peaks.values()), peaks[worst], f"MiB: {detail}")


async def _peak_of(lab: Lab, case: Case) -> float:
    started = await lab.start(request(case, 8))
    ended = asyncio.create_task(started.wait())
    peak = 0.0
    while not ended.done():
        peak = max(peak, await asyncio.to_thread(_pss_mib, started))
        await asyncio.sleep(0.05)
    await ended
    return peak


def _pss_mib(started: Run) -> float:
    import psutil

    if started.pgid is None:
        return 0.0
    total = 0
    with contextlib.suppress(psutil.Error):
        guard = psutil.Process(started.pgid)
        for process in [guard, *guard.children(recursive=True)]:
            with contextlib.suppress(psutil.Error):
                total += process.memory_full_info().pss
    return total / 2**20


@contextlib.contextmanager
def burning_core() -> Iterator[None]:
    """Another process keeps a core busy."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def diagnoses() -> Measurement:
    """How many of the perturbed runs are diagnosed right; prints the confusion matrix and the margins."""

    async def work(lab: Lab) -> list[tuple[Case, RunSummary]]:
        results = []
        for case in CASES:
            for devices in COUNTS:
                for seed in SEEDS:
                    results.append((case, await _summary(lab, request(case, devices, seed))))
        return results

    with burning_core():
        results = with_lab(work)
    right = sum(case.diagnosis == got.diagnosis for case, got in results)
    for line in confusion_lines(results):
        print(f"     {line}")
    return Measurement(right, right, right, f"of {len(results)}, every planned duration ± 30 %")


async def _summary(lab: Lab, asked: RunRequest) -> RunSummary:
    started = await lab.start(asked)
    lines = [line async for line in started.lines()]
    samples = [line for line in lines if isinstance(line, Sample)]
    (outcome,) = [line for line in lines if isinstance(line, Outcome)]
    return summarise(started.start_line, samples, outcome, started.asked)


def confusion_lines(results: list[tuple[Case, RunSummary]]) -> list[str]:
    """For each case what it was taken for, with the smallest margin; then each run that was told wrong."""
    found = sorted({got.diagnosis for _, got in results})
    lines = [" " * 22 + "".join(name.rjust(15) for name in found) + "margin".rjust(9)]
    for case in dict.fromkeys(case.name for case, _ in results):
        mine = [got for asked, got in results if asked.name == case]
        counts = Counter(got.diagnosis for got in mine)
        margins = [got.margin for got in mine if got.margin is not None]
        least = f"{min(margins):.2f}" if margins else "n/a"
        lines.append(
            case.ljust(22) + "".join(str(counts[name] or "·").rjust(15) for name in found) + least.rjust(9)
        )
    lines += [
        f"wrong: {case.name}, {got.devices} devices, seed {got.seed}: {got.diagnosis}: {got.reason}"
        for case, got in results
        if got.diagnosis != case.diagnosis
    ]
    return lines


ROWS = [
    Row(
        "demo dp-sync on 8 devices, from nothing to its outcome, against importing torch and _dynamo",
        4,
        "× wall",
        lambda: from_nothing("wall_s"),
        tags=("lab",),
    ),
    Row(
        "the same in CPU time of all of its processes",
        4,
        "× CPU",
        lambda: from_nothing("cpu_s"),
        tags=("lab",),
    ),
    Row(
        "warm Run to first sample, DataParallel on 8 devices",
        1,
        "s",
        lambda: first_sample(CASES[1]),
        tags=("lab",),
    ),
    Row(
        "warm Run to first sample, 8 ranks as threads",
        1,
        "s",
        lambda: first_sample(CASES[4]),
        tags=("lab",),
    ),
    Row(
        "warm Run to first sample, 8 gloo processes",
        3.5,
        "s",
        lambda: first_sample(CASES[0]),
        tags=("lab",),
    ),
    Row("peak PSS of a demo's process group", 700, "MiB", peak_pss, tags=("lab",)),
    Row(
        "right diagnoses while another process burns a core",
        len(CASES) * len(COUNTS) * len(SEEDS),
        "runs",
        diagnoses,
        at_least=True,
        tags=("lab", "diagnoses"),
    ),
]
