"""Runs demos without a screen: data on stdout, progress and remarks on stderr."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from quizapp.lab.printed import WIDTH, SampleLines, head_lines, summary_lines
from quizapp.lab.protocol import Line, Log, Outcome, Sample, Start
from quizapp.lab.run import Run
from quizapp.lab.runner import Lab, LabState
from quizapp.lab.summary import summarise

if TYPE_CHECKING:
    from quizapp.lab.compare import Comparison, PlannedRun
    from quizapp.lab.request import RunRequest
    from quizapp.lab.summary import RunSummary

COMPARISON_LEGEND = (
    "Shares are means over the devices. Closed form: worked out from the plan, apart from the run; the "
    "percentage is of the device furthest off, ! means more than 5 %. Ratios: measured (closed form)."
)
PROGRESS_EVERY_S = 5.0
"""Device time between two lines of progress, where the samples themselves aren't shown."""


@dataclass
class Ran:
    """What was run, in order, and the signal that ended it early, if one did."""

    summaries: list[RunSummary] = field(default_factory=list)
    signal: int = 0


class Report:
    """Prints a run as it goes. With `as_json` stdout is kept for the one object at the end."""

    def __init__(self, *, as_json: bool, quiet: bool = False) -> None:
        self._as_json = as_json
        self._quiet = quiet
        self._samples: SampleLines | None = None
        self._next_s = PROGRESS_EVERY_S

    def talk(self, text: str) -> None:
        """A remark, on stderr."""
        print(text, file=sys.stderr, flush=True)

    def line(self, line: Line) -> None:
        """Show one line of a run."""
        if isinstance(line, Start):
            self._samples = SampleLines(line.devices)
            self._next_s = PROGRESS_EVERY_S
            for text in () if self._quiet else head_lines(line):
                self._tell(text)
        elif isinstance(line, Sample):
            if self._as_json or self._quiet:
                if line.t_s >= self._next_s:
                    self.talk(f"{line.t_s:7.1f} s of device time, step {line.step}")
                    self._next_s = line.t_s + PROGRESS_EVERY_S
            elif self._samples is not None:
                for text in self._samples.feed(line):
                    self._tell(text)
        elif isinstance(line, Log):
            self.talk(line.text if line.source == "lab" else f"  | {line.text}")

    def summary(self, summary: RunSummary, difference: str) -> None:
        """Show how a run ended, and whether that is what its variant declares."""
        for text in summary_lines(summary):
            self._tell(text)
        self._tell(f"not as declared: {difference}" if difference else "as declared")

    def comparison(self, comparison: Comparison, differences: Sequence[str]) -> None:
        """Show runs side by side."""
        if self._as_json:
            self.print_json(comparison.as_json() | {"not_as_declared": list(differences)})
            return
        from quizapp.lab.compare import table

        for text in comparison.notices:
            self._tell(textwrap.fill(text, WIDTH))
        for text in table(comparison, WIDTH):
            self._tell(text)
        self._tell(textwrap.fill(COMPARISON_LEGEND, WIDTH))
        for text in (*(f"not as declared: {d}" for d in differences), *comparison.off):
            self._tell(text)

    def print_json(self, value: object) -> None:
        """The one object on stdout."""
        print(json.dumps(value, ensure_ascii=False, allow_nan=False), flush=True)

    def _tell(self, text: str) -> None:
        print(text, file=sys.stderr if self._as_json else sys.stdout, flush=True)


def run_all(
    planned: Sequence[PlannedRun], report: Report, record: Path | None, lab: Lab | None = None
) -> Ran:
    """Run everything that is planned, one after the other.

    A first SIGINT or SIGTERM stops the run that is on, whose outcome is then `stopped`, and drops the rest; a
    second one ends at once.
    """
    ran = Ran()
    with contextlib.suppress(asyncio.CancelledError):
        asyncio.run(_run_all(planned, report, record, lab or Lab(), ran))
    if ran.signal == signal.SIGINT and not ran.summaries:
        raise KeyboardInterrupt
    return ran


async def _run_all(
    planned: Sequence[PlannedRun], report: Report, record: Path | None, lab: Lab, ran: Ran
) -> None:
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    current: list[Run] = []

    def stop(number: int) -> None:
        again, ran.signal = ran.signal, number
        if again or not current:
            if task is not None:
                task.cancel()
        else:
            current[-1].end("stopped")

    # What is ignored from the outside (nohup, a job in the background) stays ignored.
    wanted = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    handled = [number for number in wanted if signal.getsignal(number) is not signal.SIG_IGN]
    for number in handled:
        # Only the main thread may; elsewhere whoever owns the thread sees to signals.
        with contextlib.suppress(ValueError, RuntimeError):
            loop.add_signal_handler(number, stop, number)
    try:
        async with lab:
            lab.on_state(lambda state, _: _say_state(report, state))
            for plan in planned:
                if len(planned) > 1:
                    report.talk(f"running {plan.label}: {plan.request.demo.name}, {plan.request.variant}")
                run = await lab.start(plan.request)
                current.append(run)
                ran.summaries.append(await _run_one(run, plan.request, report, record))
                if ran.signal:
                    return
    finally:
        for number in handled:
            with contextlib.suppress(ValueError, RuntimeError):
                loop.remove_signal_handler(number)


def _say_state(report: Report, state: LabState) -> None:
    if state == "warming":
        report.talk("importing PyTorch …")


async def _run_one(run: Run, request: RunRequest, report: Report, record: Path | None) -> RunSummary:
    from quizapp.lab.recording import Recorder

    start: Start | None = None
    samples: list[Sample] = []
    outcome: Outcome | None = None
    with contextlib.ExitStack() as stack:
        recorder = stack.enter_context(Recorder(record)) if record is not None else None
        stack.callback(run.end, "stopped")
        async for line in run.lines():
            if recorder is not None:
                recorder.write(line)
            report.line(line)
            if isinstance(line, Start):
                start = line
            elif isinstance(line, Sample):
                samples.append(line)
            elif isinstance(line, Outcome):
                outcome = line
    if outcome is None:
        raise RuntimeError("a run ended without an outcome")
    return summarise(start, samples, outcome, run.asked)
