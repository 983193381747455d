"""What keeping an attempt costs: a response on disk, and the way to the first question without a screen."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from harness import BARE_PYTHON, QUIZAPP, Measurement, Row, ratio, run

RESPONSES = 600
WRITERS = 8
RESPONSES_EACH = 200
LONGEST_WAIT = 4000  # each waits for seven others, and sleeps half a millisecond between looks
QUESTIONS = 10_000


def response_against_fdatasync(percentile: int) -> Measurement:
    """A recorded response against fdatasync of 4 kB on the same disk, in turn; wall time."""
    from quizapp.assess.response import Response
    from quizapp.bank.library import open_bank
    from quizapp.store.store import Store
    from synthetic import write_bank

    with tempfile.TemporaryDirectory(dir=os.environ.get("QUIZAPP_BENCH_DIR")) as name:
        folder = Path(name)
        write_bank(folder / "bank.yaml", 20)
        store = Store.open(folder / "state")
        sitting = store.start(open_bank(folder / "bank.yaml", cache=folder), "bench", seed=1)
        sitting.show(0)
        order = sitting.option_order(0)
        file = os.open(folder / "floor", os.O_RDWR | os.O_CREAT)
        block = b"x" * 4096
        # The floor flushes a file that has its size already, as a write-ahead log in use has.
        os.pwrite(file, block * 64, 0)
        os.fsync(file)

        def flush(number: int) -> None:
            os.pwrite(file, block, number % 64 * 4096)
            os.fdatasync(file)

        def respond(number: int) -> None:
            sitting.respond(0, Response((order[number % 2],)))

        ratios, theirs, ours = [], [], []
        for _ in range(5):
            floor, mine = [], []
            for number in range(RESPONSES):
                floor.append(_seconds(flush, number))
                mine.append(_seconds(respond, number))
            theirs.append(statistics.quantiles(floor, n=100)[percentile - 1])
            ours.append(statistics.quantiles(mine, n=100)[percentile - 1])
            ratios.append(ours[-1] / theirs[-1])
        os.close(file)
        sitting.close()
        store.close()
    detail = f"{1e6 * statistics.median(ours):.0f} against {1e6 * statistics.median(theirs):.0f} µs"
    return Measurement(statistics.median(ratios), min(ratios), max(ratios), detail)


def eight_writers() -> Measurement:
    """The longest wait for one recorded response while eight processes record, in medians of fdatasync.

    A median is of an idle disk, and each writer has seven before it: the floor of the worst wait is 8.
    RuntimeError when a response is lost or a writer fails: an error "database is locked" would be one.
    """
    from quizapp.store.store import Store
    from synthetic import write_bank

    worst, p99, told = [], [], ""
    for _ in range(3):
        with tempfile.TemporaryDirectory(dir=os.environ.get("QUIZAPP_BENCH_DIR")) as name:
            folder = Path(name)
            write_bank(folder / "bank.yaml", 20)
            floor_s = _fdatasync_s(folder / "floor")
            command = [sys.executable, str(Path(__file__).parent / "one_writer.py"), str(folder)]
            writers = [
                subprocess.Popen([*command, str(number)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                for number in range(WRITERS)
            ]
            for writer in writers:
                assert writer.stdout is not None
                writer.stdout.readline()  # it is ready
            for writer in writers:
                assert writer.stdin is not None
                writer.stdin.close()
            waits: list[float] = []
            for writer in writers:
                assert writer.stdout is not None
                waits += [float(line) for line in writer.stdout]
                if writer.wait() != 0:
                    raise RuntimeError(f"a writer ended with {writer.returncode}")
            store = Store.open(folder / "state")
            kept = sum(
                type(event).__name__ == "ResponseChanged"
                for summary in store.attempts()
                for _, event in store.show(summary.id).events
            )
            store.close()
            lost = WRITERS * RESPONSES_EACH - kept
            if lost:
                raise RuntimeError(f"{lost} responses were lost")
            worst.append(max(waits) / floor_s)
            p99.append(statistics.quantiles(waits, n=100)[98] / floor_s)
            told = f"{kept} kept, 0 lost; worst {1e3 * max(waits):.0f} ms, p99 {p99[-1]:.0f} ×"
    return Measurement(statistics.median(worst), min(worst), max(worst), told)


def _fdatasync_s(path: Path) -> float:
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    os.pwrite(file, bytes(4096 * 64), 0)
    os.fsync(file)
    taken = []
    for number in range(300):
        began = time.perf_counter()
        os.pwrite(file, b"x" * 4096, number % 64 * 4096)
        os.fdatasync(file)
        taken.append(time.perf_counter() - began)
    os.close(file)
    return statistics.median(taken)


def _seconds(work: Callable[[int], None], number: int) -> float:
    began = time.perf_counter()
    work(number)
    return time.perf_counter() - began


def first_question(*, resumed: bool) -> Measurement:
    """`take --plain` on a bank that was seen before, from its start until it waits for the first answer."""
    from synthetic import write_bank

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_bank(folder / "bank.yaml", QUESTIONS)
        env = {
            "QUIZAPP_STATE_DIR": str(folder / "state"),
            "QUIZAPP_CACHE_DIR": str(folder / "cache"),
            # Users have their modules compiled: where writing them is switched off, this would measure that.
            "PYTHONDONTWRITEBYTECODE": "",
        }
        command = [*QUIZAPP, "take", str(folder / "bank.yaml"), "--plain", *([] if resumed else ["--new"])]
        cpu_to_prompt(command, env)
        pairs = [(cpu_to_prompt(command, env), run(BARE_PYTHON).cpu_s) for _ in range(15)]
    mine, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
    return ratio(pairs, f"{mine:.3f} against {theirs:.3f} s")


def cpu_to_prompt(command: list[str], env: dict[str, str]) -> float:
    """CPU seconds that a process has used when it asks for an answer. Linux only."""
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | env, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("Answer ("):
            break
    # Whatever it does after the prompt, it does while the learner reads.
    spent_ns = int(Path(f"/proc/{process.pid}/schedstat").read_text().split()[0])
    process.communicate("")
    assert process.returncode == 3, process.returncode
    return spent_ns / 1e9


ROWS = [
    Row("a response on disk, p50, against fdatasync", 1.3, "× wall", lambda: response_against_fdatasync(50)),
    Row("a response on disk, p99, against fdatasync", 2, "× wall", lambda: response_against_fdatasync(99)),
    Row(
        f"{WRITERS} processes record at once, none lost, the longest wait for one, against fdatasync",
        LONGEST_WAIT,
        "× wall",
        eight_writers,
    ),
    Row(
        f"take --plain, {QUESTIONS:,} questions seen before, a new attempt's first question",
        7,
        "× CPU",
        lambda: first_question(resumed=False),
    ),
    Row(
        f"take --plain, {QUESTIONS:,} questions seen before, going on",
        7,
        "× CPU",
        lambda: first_question(resumed=True),
    ),
]
