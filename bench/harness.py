"""What the benchmark rows share: a row, and paired measurements whose ratios survive a noisy machine."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Measurement:
    """One figure with its spread; `detail` says what was run, in words."""

    value: float
    low: float
    high: float
    detail: str = ""


@dataclass(frozen=True)
class Row:
    """One promise: `measure()` must come out at most (or, with `at_least`, at least) `limit`."""

    name: str
    limit: float
    unit: str
    measure: Callable[[], Measurement]
    at_least: bool = False
    tags: tuple[str, ...] = field(default=())

    def holds(self, value: float) -> bool:
        return value >= self.limit if self.at_least else value <= self.limit


@dataclass(frozen=True)
class Spent:
    """What one finished process used: CPU and wall seconds, peak memory of the largest process."""

    cpu_s: float
    wall_s: float
    peak_bytes: int
    stdout: bytes


def run(
    command: Sequence[str],
    *,
    env: dict[str, str] | None = None,
    stdin: bytes = b"",
    expect: tuple[int, ...] = (0,),
) -> Spent:
    """Run a command to its end and account for it and the children that it waited for.

    Raises RuntimeError with its stderr when it exits with a code that is not expected.
    """
    # Compiled bytecode is what users have from the second start on, and what is measured here.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    process = subprocess.Popen(
        list(command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment | (env or {}),
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out, err = process.communicate(stdin)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode not in expect:
        raise RuntimeError(
            f"{list(command)} exited with {process.returncode}: {err.decode(errors='replace')[-2000:]}"
        )
    cpu_s = (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)
    return Spent(cpu_s, time.perf_counter() - started, after.ru_maxrss * 1024, out)


def ratio(pairs: Sequence[tuple[float, float]], detail: str = "") -> Measurement:
    """Median of pairwise ratios a/b, with their extremes."""
    ratios = [a / b for a, b in pairs]
    return Measurement(statistics.median(ratios), min(ratios), max(ratios), detail)


def cpu_ratio(
    command: Sequence[str],
    peer: Sequence[str],
    *,
    runs: int = 7,
    env: dict[str, str] | None = None,
    stdin: bytes = b"",
    expect: tuple[int, ...] = (0,),
    figure: Callable[[Spent], float] = lambda spent: spent.cpu_s,
) -> Measurement:
    """Ratio of a figure (CPU seconds by default) of two commands run in turn, after one warm-up each."""
    run(command, env=env, stdin=stdin, expect=expect)
    run(peer, env=env)
    pairs = []
    for _ in range(runs):
        a = run(command, env=env, stdin=stdin, expect=expect)
        b = run(peer, env=env)
        pairs.append((figure(a), figure(b)))
    mine = statistics.median(a for a, _ in pairs)
    theirs = statistics.median(b for _, b in pairs)
    return ratio(pairs, f"{mine:.3f} against {theirs:.3f}")


BARE_PYTHON = (sys.executable, "-c", "pass")
QUIZAPP = (str(Path(sys.executable).parent / "quizapp"),)
