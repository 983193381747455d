"""A lab that plays scripts in place of demos, and the demos that the bank of signs names."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from quizapp.errors import QuizappError
from quizapp.lab.catalogue import Catalogue
from quizapp.lab.protocol import Line, Log, Outcome, Sample, Start
from quizapp.lab.request import LabUnavailable, RunRequest

BANKS = Path(__file__).resolve().parent / "banks"
SIGNS = BANKS / "signs.yaml"
WINDOW_S = 0.1
GIB = 1 << 30

SHARES = {
    "healthy": [0.95] * 8,
    "dp-sync": [0.98, 0.98, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    "cpu-bottleneck": [0.3] * 8,
    "tiny-model": [0.15] * 8,
    "oom": [0.95] * 8,
}
PROGRAM = '''"""{title}

What it shows
    {title}, with A[m][k] * B[k][n] and [/INST] in its text.

Why
    Because.

Try
    --set workers=2

Fix
    Do otherwise.

References
    https://example.org/
"""

DEMO = {{
    "title": "{title}",
    "summary": "what {name} does",
    "seconds": 4.0,
    "expects": {{"fault": "{diagnosis}", "fix": "healthy"}},
    "outcomes": {{"fault": "{outcome}", "fix": "completed"}},
    "params": {{
        "workers": {{
            "type": "int", "range": [1, 8], "default": 4, "fault": 1, "fix": 4, "help": "loader workers",
        }},
        "split": {{"type": "choice", "choices": ["even", "uneven"], "default": "even", "fault": "uneven"}},
    }},
}}


def main(lab):
    pass
'''


def catalogue_of(folder: Path) -> Catalogue:
    """The demos of the bank of signs, as declared by files that nothing ever runs."""
    demos = folder / "made-up-demos"
    demos.mkdir(exist_ok=True)
    for name, diagnosis in (
        ("healthy", "healthy"),
        ("dp-sync", "imbalance"),
        ("cpu-bottleneck", "input-bound"),
        ("tiny-model", "launch-bound"),
        ("oom", "out-of-memory"),
    ):
        outcome = "out-of-memory" if name == "oom" else "completed"
        program = PROGRAM.format(title=f"The {name} demo", name=name, diagnosis=diagnosis, outcome=outcome)
        (demos / f"{name.replace('-', '_')}.py").write_text(program)
    catalogue = Catalogue.load([demos])
    assert not catalogue.broken, catalogue.broken
    return catalogue


def start_of(request: RunRequest, kind: str = "emulated") -> Start:
    return Start(
        demo=request.demo.name,
        variant=request.variant,
        device_kind=kind,  # type: ignore[arg-type]
        devices=request.devices,
        params=request.demo.resolve(request.variant, request.params),
        processes=1,
        window_s=WINDOW_S,
        torch="2.13",
        plan={"block": {"seconds": 0.25, "from": "4 kernels"}},
        notice="Emulated devices: no GPU was used.",
    )


def samples_of(request: RunRequest, seconds: float) -> list[Sample]:
    shares = SHARES[request.demo.name] if request.variant == "fault" else SHARES["healthy"]
    shares = [shares[device % len(shares)] for device in range(request.devices)]
    waits = [0.6 if request.demo.name == "cpu-bottleneck" and request.variant == "fault" else 0.0] * len(
        shares
    )
    return [
        Sample(
            t_s=round((number + 1) * WINDOW_S, 6),
            window_s=WINDOW_S,
            step=number // 5,
            meters={
                "util": tuple(shares),
                "compute": tuple(shares),
                "collective": (0.0,) * len(shares),
                "data_wait": tuple(waits),
                "host_wait": (0.0,) * len(shares),
                "memory_bytes": (20.0 * GIB,) * len(shares),
            },
        )
        for number in range(int(seconds / WINDOW_S))
    ]


def script_of(request: RunRequest) -> list[Line]:
    """What a run of a demo says, from its first line to its outcome."""
    seconds = request.seconds or request.demo.seconds
    outcome = request.demo.outcomes[request.variant]
    return [
        start_of(request),
        Log(text="step 1 loss 3.2 A[m][k] [/x]"),
        *samples_of(request, seconds),
        Outcome(outcome=outcome, steps=8, device_s=seconds, wall_s=1.0, steps_per_s=8 / seconds),
    ]


class FakeRun:
    """Plays a script; `hold` keeps it from going on at a line until it is released."""

    def __init__(self, request: RunRequest, script: Sequence[Line], hold: asyncio.Event | None) -> None:
        self.request = request
        self.ended = ""
        self.asked = start_of(request)
        self._script = script
        self._hold = hold
        self._stopped = asyncio.Event()

    async def lines(self) -> AsyncIterator[Line]:
        try:
            for line in self._script:
                if isinstance(line, Outcome) and self._hold is not None:
                    held = asyncio.ensure_future(self._hold.wait())
                    stopped = asyncio.ensure_future(self._stopped.wait())
                    await asyncio.wait({held, stopped}, return_when=asyncio.FIRST_COMPLETED)
                    for waiting in (held, stopped):
                        waiting.cancel()
                if self._stopped.is_set():
                    yield Outcome(outcome="stopped", wall_s=0.5)
                    return
                yield line
        finally:
            self.end("stopped")

    def end(self, why: str) -> None:
        self.ended = self.ended or why
        self._stopped.set()

    async def stop(self) -> None:
        self.end("stopped")


class FakeLab:
    """Stands where the lab stands. `script` may be replaced; `hold` keeps runs from ending."""

    def __init__(self) -> None:
        self.state = "cold"
        self.reason = ""
        self.script: Callable[[RunRequest], Sequence[Line]] = script_of
        self.hold: asyncio.Event | None = None
        self.warming: asyncio.Event | None = None
        self.unavailable = ""
        self.runs: list[FakeRun] = []
        self.closed = False

    def on_state(self, callback: Callable[[str, str], None]) -> Callable[[], None]:
        return lambda: None

    async def warm(self) -> None:
        if self.unavailable:
            self.state = "unavailable"
            raise LabUnavailable(self.unavailable, hint="pip install 'quizapp-lab[torch]'")
        self.state = "warming"
        if self.warming is not None:
            await self.warming.wait()
        self.state = "ready"

    async def start(self, request: RunRequest) -> FakeRun:
        request.check()
        await self.warm()
        run = FakeRun(request, self.script(request), self.hold)
        self.runs.append(run)
        return run

    async def close(self) -> None:
        for run in self.runs:
            run.end("closed")
        self.closed = True


class FailingLab(FakeLab):
    """Every run is refused."""

    async def start(self, request: RunRequest) -> FakeRun:
        raise QuizappError("GPU 0 is in use by another process", hint="--force uses it all the same")
