"""The screens: how soon the first one stands, and what the next question costs."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Sequence
from pathlib import Path

from harness import QUIZAPP, Measurement, Row, ratio
from synthetic import write_bank

COLUMNS, LINES = 120, 40
MINIMAL = """
from textual.app import App
from textual.widgets import Static

class Minimal(App):
    def compose(self):
        yield Static("first paint stands")

Minimal().run()
"""
PAINT_LIMIT_S = 60.0


def first_paint(command: Sequence[str], marker: bytes, env: dict[str, str]) -> tuple[float, float]:
    """CPU and wall seconds until the marker is on a terminal of 120 × 40; the process is killed then."""
    started = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(env | {"TERM": "xterm-256color", "COLORTERM": "truecolor"})
        # An installed program is compiled; so is this one, by the warm-up.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.execv(command[0], list(command))  # noqa: S606
    try:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        seen = b""
        while marker not in seen:
            if time.perf_counter() - started > PAINT_LIMIT_S:
                raise RuntimeError(f"{list(command)} painted no {marker!r}: {seen[-500:]!r}")
            if select.select([terminal], [], [], 1.0)[0]:
                try:
                    seen += os.read(terminal, 1 << 16)
                except OSError as error:
                    raise RuntimeError(f"{list(command)} ended: {seen[-500:]!r}") from error
        wall_s = time.perf_counter() - started
        # Nanoseconds on the CPU of each thread; none has ended, this early.
        cpu_ns = sum(
            int((task / "schedstat").read_text().split()[0]) for task in Path(f"/proc/{pid}/task").iterdir()
        )
        return cpu_ns / 1e9, wall_s
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def paint_ratio(questions: int | None, *, wall: bool = False, runs: int = 9) -> Measurement:
    """`quizapp take` on a bank seen before (`questions` None: the one that ships), against the minimum."""
    with tempfile.TemporaryDirectory() as scratch:
        env = {"QUIZAPP_STATE_DIR": f"{scratch}/state", "QUIZAPP_CACHE_DIR": f"{scratch}/cache"}
        bank = "multi-gpu"
        if questions is not None:
            bank = f"{scratch}/bank.yaml"
            write_bank(Path(bank), questions)
        mine = [*QUIZAPP, "take", bank, "--new", "--seed", "1"]
        minimal = Path(scratch) / "minimal.py"
        minimal.write_text(MINIMAL)
        peer = [sys.executable, str(minimal)]
        first_paint(mine, b"Keys", env)
        first_paint(peer, b"stands", env)
        figure = 1 if wall else 0
        pairs = []
        for _ in range(runs):
            a, b = first_paint(mine, b"Keys", env), first_paint(peer, b"stands", env)
            pairs.append((a[figure], b[figure]))
        middle = [statistics.median(pair[i] for pair in pairs) for i in (0, 1)]
        return ratio(pairs, f"{middle[0]:.3f} against {middle[1]:.3f} s")


async def _serve_next_question(rounds: int, turn: Turn) -> None:
    """From one explanation to the next question and its explanation, a round a turn."""
    from quizapp.store.store import Store
    from quizapp.tui.app import QuizApp
    from quizapp.tui.desk import Desk

    with tempfile.TemporaryDirectory() as scratch:
        bank = Path(scratch) / "bank.yaml"
        write_bank(bank, rounds + 5)
        os.environ["QUIZAPP_CACHE_DIR"] = f"{scratch}/cache"
        desk = Desk(Store.open(Path(scratch)), "bench", seed=1)
        taking = desk.begin(bank, fresh=True)
        app = QuizApp(desk, "sitting")
        async with app.run_test(size=(COLUMNS, LINES)) as pilot:
            await pilot.press("1", "enter")
            await pilot.pause()
            for _ in range(rounds):
                with turn:
                    app.after_reveal(taking)
                    await pilot.pause()
                    screen = app.question_screen
                    assert screen is not None
                    assert screen.state is not None
                    screen.state.pick(0)
                    taking.respond(screen.state)
                    taking.submit(screen.state)
                    app.submitted(taking, screen.state)
                    await pilot.pause()
            assert taking.open_count() == 4
            desk.leave_sitting()


async def _serve_markdown(rounds: int, turn: Turn) -> None:
    """The Markdown widget's update with an explanation, a round a turn."""
    from textual.app import App, ComposeResult
    from textual.widgets import Markdown

    class Peer(App[None]):
        def compose(self) -> ComposeResult:
            yield Markdown("")

    app = Peer()
    async with app.run_test(size=(COLUMNS, LINES)) as pilot:
        widget = app.query_one(Markdown)
        for number in range(rounds):
            with turn:
                await widget.update(f"{EXPLANATION}\n{number}\n")
                await pilot.pause()


class Turn:
    """A round: begins when the parent says so, and tells it the CPU seconds that it took."""

    def __enter__(self) -> None:
        sys.__stdin__.readline()
        self._started = time.process_time()

    def __exit__(self, *_: object) -> None:
        sys.__stdout__.write(f"{time.process_time() - self._started}\n")
        sys.__stdout__.flush()


def next_question_ratio(rounds: int = 24) -> Measurement:
    """The next question and its explanation against the Markdown widget's update with one of 1 kB.

    The two are processes that take turns, so that the noise of a machine hits both.
    """
    workers = [
        subprocess.Popen(
            [sys.executable, __file__, role, str(rounds), str(COLUMNS), str(LINES)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for role in ("next-question", "markdown")
    ]
    pairs = []
    for _ in range(rounds):
        spent = []
        for worker in workers:
            assert worker.stdin is not None
            assert worker.stdout is not None
            worker.stdin.write("\n")
            worker.stdin.flush()
            spent.append(float(worker.stdout.readline()))
        pairs.append((spent[0], spent[1]))
    for worker in workers:
        worker.communicate()
    counted = pairs[4:]
    middle = [statistics.median(pair[i] for pair in counted) for i in (0, 1)]
    return ratio(counted, f"{middle[0] * 1e3:.1f} against {middle[1] * 1e3:.1f} ms")


EXPLANATION = """\
## What happens in a step

1. The batch is *scattered* over the devices, a piece each.
2. The parameters are **replicated** to every device, at every forward.
3. Each device runs its piece; the host waits for the slowest.
4. Outputs are gathered on device 0, where the loss is computed.
5. Gradients are *summed* into device 0, and the optimizer steps there alone.

`DataParallel` is one process, so every wait is on the host: a device that finished early has no kernel to run
and reads 0 %. Under `DistributedDataParallel` it would wait inside NCCL, and read 100 %.

```python
model = DistributedDataParallel(model, device_ids=[rank])
sampler = DistributedSampler(dataset, shuffle=True)
```

| device | sequences | busy |
|:--|--:|--:|
| 0, 1 | long | 98 % |
| 2 to 7 | short | 8 % |

> A GPU that waits inside a collective reads 100 %, and is cool.

Give every device the same work, and the six come back.
"""

ROWS = [
    Row("take to first paint against a minimal Textual app", 1.3, "× CPU", lambda: paint_ratio(None)),
    Row(
        "take to first paint against a minimal Textual app",
        1.3,
        "× wall",
        lambda: paint_ratio(None, wall=True),
    ),
    Row(
        "take to first paint, 10,000 questions, against a minimal Textual app",
        1.3,
        "× CPU",
        lambda: paint_ratio(10_000),
    ),
    Row("next question with its explanation against Markdown.update", 0.25, "× CPU", next_question_ratio),
]

if __name__ == "__main__":
    COLUMNS, LINES = int(sys.argv[3]), int(sys.argv[4])
    serve = {"next-question": _serve_next_question, "markdown": _serve_markdown}[sys.argv[1]]
    asyncio.run(serve(int(sys.argv[2]), Turn()))
