from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psutil
import pytest

from demo_programs import FAKE_KIT, demo
from fake_nvml import FakeGpu, FakeNvml, NVMLError
from quizapp.errors import QuizappError
from quizapp.lab import run as one_run
from quizapp.lab import runner
from quizapp.lab.nvml import GpusOccupied, NoGpu, start_nvml
from quizapp.lab.protocol import Line, Log, Outcome, Sample, Start
from quizapp.lab.request import RunRequest
from quizapp.lab.run import Run
from quizapp.lab.runner import Lab, demo_environment
from run_processes import assert_gone, group, no_shared_memory_left

TESTS = Path(__file__).resolve().parent.parent

FINE = """
lab.start()
for i in range(1, 31):
    lab.sample(i / 10)
lab.outcome()
"""
HANGS = """
import time
lab.start()
print("up", flush=True)
while True:
    time.sleep(3600)
"""


@pytest.fixture(autouse=True)
def workdirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where runs have their working directories; nothing is left there, nor in shared memory."""
    folder = tmp_path / "workdirs"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    with no_shared_memory_left():
        yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture
async def lab(workdirs: Path) -> AsyncIterator[Lab]:
    async with Lab(kit=FAKE_KIT, preload=()) as running:
        yield running


def asked(folder: Path, body: str, **fields: object) -> RunRequest:
    given = {"devices": 2, "device": "emulated", "demo": demo(folder, body), **fields}
    return RunRequest(**given)  # type: ignore[arg-type]


async def ran(lab: Lab, request: RunRequest) -> tuple[Run, list[Line]]:
    """The run and its lines, after the checks that hold for every run."""
    run = await lab.start(request)
    lines = [line async for line in run.lines()]
    outcomes = [line for line in lines if isinstance(line, Outcome)]
    assert len(outcomes) == 1
    assert lines[-1] is outcomes[0]
    assert outcomes[0].wall_s is not None
    assert run.pgid is not None
    assert_gone(group(run.pgid))
    return run, lines


async def outcome_of(lab: Lab, request: RunRequest) -> Outcome:
    _, lines = await ran(lab, request)
    assert isinstance(lines[-1], Outcome)
    return lines[-1]


async def until_log(run: Run, text: str) -> AsyncIterator[Line]:
    """The run's lines from the log line that starts with `text`, that line first."""
    lines = run.lines()
    async for line in lines:
        if isinstance(line, Log) and line.text.startswith(text):
            yield line
            break
    async for line in lines:
        yield line


# -- good runs


async def test_a_run_is_its_start_its_samples_its_log_and_one_outcome(lab: Lab, tmp_path: Path) -> None:
    run, lines = await ran(lab, asked(tmp_path, 'print("epoch 1")\n' + FINE, seed=7, seconds=5.0))
    assert isinstance(run.start_line, Start)
    assert run.start_line.seed == 7
    assert run.start_line.params == {"size": 2, "rate": 1.0, "split": "uneven", "cache": False}
    assert sum(isinstance(line, Sample) for line in lines) == 30
    assert Log(text="epoch 1") in lines
    assert isinstance(lines[-1], Outcome)
    assert lines[-1].outcome == "completed"
    assert run.outcome is lines[-1]


async def test_the_demo_gets_what_was_asked_for(lab: Lab, tmp_path: Path) -> None:
    body = "import json; print(json.dumps(lab.spec)); lab.start(); lab.outcome()"
    _, lines = await ran(lab, asked(tmp_path, body, seconds=2.5, speed=4.0, params={"size": "9"}))
    (printed,) = [line.text for line in lines if isinstance(line, Log)]
    for part in (
        '"seconds": 2.5',
        '"speed": 4.0',
        '"size": 9',
        '"device_kind": "emulated"',
        '"window_s": 0.1',
    ):
        assert part in printed


async def test_runs_follow_each_other_and_run_beside_each_other(lab: Lab, tmp_path: Path) -> None:
    request = asked(tmp_path, FINE)
    first, second = await asyncio.gather(outcome_of_only(lab, request), outcome_of_only(lab, request))
    assert (first, second, await outcome_of_only(lab, request)) == ("completed",) * 3


async def outcome_of_only(lab: Lab, request: RunRequest) -> str:
    return (await (await lab.start(request)).wait()).outcome


async def test_out_of_memory_is_an_outcome_whatever_the_exit_code(lab: Lab, tmp_path: Path) -> None:
    body = 'lab.start(); lab.outcome("out-of-memory", error={"type": "torch.OutOfMemoryError"}); return 1'
    outcome = await outcome_of(lab, asked(tmp_path, body))
    assert outcome.outcome == "out-of-memory"
    assert outcome.error is not None


async def test_a_demo_sees_an_allow_list_of_the_environment(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    body = """
    import os, sys
    print("ENV", sorted(os.environ))
    print("TTY", os.isatty(0), os.isatty(1), os.isatty(2), repr(sys.stdin.read()))
    print("FDS", sorted(int(fd) for fd in os.listdir("/dev/fd")))
    print("CWD", os.getcwd() == os.environ["TMPDIR"])
    lab.start(); lab.outcome()
    """
    _, lines = await ran(lab, asked(tmp_path, body))
    log = "\n".join(line.text for line in lines if isinstance(line, Log))
    assert "SECRET_TOKEN" not in log
    assert "'KINETO_LOG_LEVEL'" in log
    assert "TTY False False False ''" in log
    assert "CWD True" in log
    # In, out, err, protocol, and the listing itself: no pipe of the app or of another run.
    assert "FDS [0, 1, 2, " in log
    assert log.split("FDS ")[1].splitlines()[0].count(",") == 4


def test_the_environment_passed_on_is_small() -> None:
    passed = demo_environment(
        {"PATH": "/bin", "AWS_SECRET_ACCESS_KEY": "x", "HF_TOKEN": "y", "LD_PRELOAD": "z"}
    )
    assert set(passed) - set(runner.ALWAYS_SET) == {"PATH"}


# -- bad runs


async def test_a_crash_is_an_outcome_with_the_last_lines(lab: Lab, tmp_path: Path) -> None:
    run, lines = await ran(lab, asked(tmp_path, 'lab.start(); print("before"); raise ValueError("boom")'))
    outcome = lines[-1]
    assert isinstance(outcome, Outcome)
    assert outcome.outcome == "crashed"
    assert outcome.error is not None
    assert "exit code 1" in outcome.error.message
    assert outcome.log_tail[-1] == "ValueError: boom"
    assert run.log_tail[0] == "before"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("pass", "exit code 0"),
        ("lab.start(); raise SystemExit(3)", "exit code 3"),
        ('lab.start(); raise SystemExit("no")', "exit code 1"),
        ("import os; lab.start(); os._exit(9)", "exit code 9"),
        ("import os, signal; lab.start(); os.kill(os.getpid(), signal.SIGKILL)", "killed by SIGKILL"),
        ("import os, signal; lab.start(); os.kill(os.getpid(), signal.SIGSEGV)", "killed by SIGSEGV"),
        ("lab.start(); lab.outcome(); return 5", "after its outcome: exit code 5"),
        ("import os; lab.start(); os.close(lab.out); os._exit(0)", "exit code 0"),
    ],
)
async def test_an_end_without_an_outcome_says_how(lab: Lab, tmp_path: Path, body: str, says: str) -> None:
    outcome = await outcome_of(lab, asked(tmp_path, body))
    assert outcome.outcome == "crashed"
    assert outcome.error is not None
    assert says in outcome.error.message


async def test_a_demo_that_hangs_is_timed_out(lab: Lab, tmp_path: Path) -> None:
    outcome = await outcome_of(lab, asked(tmp_path, HANGS, timeout_s=0.3))
    assert outcome.outcome == "timed-out"
    assert outcome.error is not None
    assert "0.3 s" in outcome.error.message
    assert outcome.log_tail == ("up",)


async def test_a_demo_that_ignores_every_signal_is_ended(lab: Lab, tmp_path: Path) -> None:
    body = """
    import signal
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    """
    body = textwrap.dedent(body)
    assert (await outcome_of(lab, asked(tmp_path, body + HANGS, timeout_s=0.3))).outcome == "timed-out"


async def test_a_demo_that_hangs_after_its_outcome_has_it_all_the_same(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(one_run, "EXIT_GRACE_S", 0.2)
    _, lines = await ran(lab, asked(tmp_path, "import time; lab.start(); lab.outcome(); time.sleep(3600)"))
    assert isinstance(lines[-1], Outcome)
    assert lines[-1].outcome == "completed"
    assert "did not exit" in str(lines[-2])


async def test_stopping_ends_the_run_and_all_of_its_processes(lab: Lab, tmp_path: Path) -> None:
    run = await lab.start(asked(tmp_path, HANGS))
    rest = until_log(run, "up")
    await anext(rest)
    assert run.pgid is not None
    processes = group(run.pgid)
    assert len(processes) == 2
    await run.stop()
    assert_gone(processes, within_s=1)
    (last,) = [line async for line in rest]
    assert isinstance(last, Outcome)
    assert last.outcome == "stopped"
    assert last.log_tail == ("up",)


async def test_leaving_the_lines_or_cancelling_their_reader_stops_the_run(lab: Lab, tmp_path: Path) -> None:
    run = await lab.start(asked(tmp_path, HANGS))
    up = asyncio.Event()

    async def read() -> None:
        async for _ in run.lines():
            up.set()
        up.set()

    reader = asyncio.create_task(read())
    await up.wait()
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    await run.stop()
    assert run.outcome is not None
    assert run.outcome.outcome == "stopped"
    assert run.pgid is not None
    assert_gone(group(run.pgid), within_s=1)


FAMILY = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
lab.start()
pids = []
r, w = os.pipe()
for kind in ("child", "own session", "orphan"):
    if os.fork() == 0:
        if kind == "own session":
            os.setsid()
        if kind == "orphan" and os.fork() != 0:
            os._exit(0)
        os.write(w, f"{os.getpid()}\\n".encode())
        time.sleep(3600)
ids = b""
while ids.count(b"\\n") < 3:
    ids += os.read(r, 100)
print("up", *ids.decode().split(), flush=True)
"""


@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux lets a process adopt its orphaned descendants"
)
@pytest.mark.parametrize("end", ["time.sleep(3600)", "lab.outcome(); return 0", "os._exit(7)"])
async def test_grandchildren_orphans_and_other_sessions_go_too(lab: Lab, tmp_path: Path, end: str) -> None:
    run = await lab.start(asked(tmp_path, FAMILY + end))
    rest = until_log(run, "up")
    line = await anext(rest)
    assert isinstance(line, Log)
    family = [psutil.Process(int(pid)) for pid in line.text.split()[1:] if psutil.pid_exists(int(pid))]
    if "sleep" in end:
        assert len(family) == 3
        run.end("stopped")
    assert isinstance([one async for one in rest][-1], Outcome)
    await run.stop()
    assert_gone(family)


async def test_a_stopped_guard_is_killed_with_its_group(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(one_run, "END_GRACE_S", 0.3)
    run = await lab.start(asked(tmp_path, HANGS))
    rest = until_log(run, "up")
    await anext(rest)
    assert run.pgid is not None
    processes = group(run.pgid)
    os.kill(run.pgid, signal.SIGSTOP)
    await run.stop()
    assert_gone(processes)


@pytest.mark.parametrize("victim", ["guard", "demo", "warm"])
async def test_killing_any_process_of_the_lab_leaves_one_outcome_and_nothing_else(
    lab: Lab, tmp_path: Path, victim: str
) -> None:
    run = await lab.start(asked(tmp_path, HANGS))
    rest = until_log(run, "up")
    await anext(rest)
    assert run.pgid is not None
    assert lab.pid is not None
    processes = group(run.pgid)
    (main,) = [process for process in processes if process.pid != run.pgid]
    os.kill({"guard": run.pgid, "demo": main.pid, "warm": lab.pid}[victim], signal.SIGKILL)
    if victim == "warm":
        lost = asyncio.Event()
        lab.on_state(lambda state, reason: lost.set())
        if lab.state != "cold":
            await lost.wait()
        await run.stop()  # a run outlives the warm parent, until it is stopped
    (last,) = [line async for line in rest]
    assert isinstance(last, Outcome)
    assert last.outcome == ("stopped" if victim == "warm" else "crashed")
    assert_gone(processes)
    # and the next run works
    assert (await outcome_of(lab, asked(tmp_path, FINE))).outcome == "completed"


# -- hostile output


async def test_junk_on_the_protocol_is_log_and_hurts_nothing(lab: Lab, tmp_path: Path) -> None:
    body = r"""
    lab.raw(b"\xff\xfe\x00 not json\n{\n[]\n\x1b[2J\n")
    lab.sample(0.1)
    lab.start()
    lab.start()
    lab.say("sample", t_s=0.1, window_s=0.1, meters={"util": [0.5] * 99})
    lab.say("sample", t_s=float("nan"), window_s=0.1, meters={})
    lab.say("outcome", outcome="won")
    lab.sample(0.2)
    lab.outcome()
    lab.outcome("out-of-memory")
    lab.sample(0.3)
    lab.raw(b"no newline at the end")
    """
    _, lines = await ran(lab, asked(tmp_path, body))
    assert sum(isinstance(line, Start) for line in lines) == 1
    assert [line.t_s for line in lines if isinstance(line, Sample)] == [0.2]
    assert isinstance(lines[-1], Outcome)
    assert lines[-1].outcome == "completed"
    log = "\n".join(line.text for line in lines if isinstance(line, Log))
    assert "\x1b" not in log
    assert "a second start line" in log
    assert "99 readings for 2 devices" in log


async def test_what_looks_like_protocol_on_stdout_is_only_log(lab: Lab, tmp_path: Path) -> None:
    body = """
    lab.start()
    print('{"v": 1, "type": "outcome", "outcome": "completed"}')
    """
    assert (await outcome_of(lab, asked(tmp_path, body))).outcome == "crashed"


async def test_a_gigabyte_of_output_neither_grows_memory_nor_stops_the_demo(lab: Lab, tmp_path: Path) -> None:
    body = """
    import os
    lab.start()
    block = (b"x" * 99 + b"\\n") * 10_000
    for _ in range(1000):
        rest = block
        while rest:
            rest = rest[os.write(1, rest):]
    print("the end", flush=True)
    lab.outcome()
    """
    process = psutil.Process()
    await lab.warm()
    before = process.memory_info().rss
    run, lines = await ran(lab, asked(tmp_path, body))
    assert isinstance(lines[-1], Outcome)
    assert lines[-1].outcome == "completed"
    assert run.log_tail[-1] == "the end"
    assert sum(isinstance(line, Log) for line in lines) <= one_run.MOST_LOG_LINES + 1
    assert any("prints more than is shown" in line.text for line in lines if isinstance(line, Log))
    assert process.memory_info().rss - before < 64 << 20


async def test_endless_lines_without_an_end_are_cut(lab: Lab, tmp_path: Path) -> None:
    body = """
    import os
    lab.start()
    for _ in range(100):
        lab.raw(b"y" * 100_000)
        os.write(1, b"z" * 1_000)
    lab.raw(b"\\n")
    lab.sample(0.1)
    lab.outcome()
    """
    _, lines = await ran(lab, asked(tmp_path, body))
    assert any(isinstance(line, Sample) for line in lines)
    assert max(len(line.text) for line in lines if isinstance(line, Log)) < 2100


async def test_a_slow_reader_makes_the_demo_wait_and_loses_no_sample(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(one_run, "MOST_WAITING_LINES", 50)
    body = """
    lab.start()
    for i in range(1, 5001):
        lab.sample(i / 10)
    lab.outcome()
    """
    run = await lab.start(asked(tmp_path, body))
    most, count = 0, 0
    async for line in run.lines():
        count += isinstance(line, Sample)
        most = max(most, len(run._queue))
        await asyncio.sleep(0)
    assert count == 5000
    # At most what one read of the pipe holds beyond the limit.
    assert most < 50 + (1 << 16) // 100


async def test_a_flood_of_samples_ends_the_run(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(one_run, "MOST_PROTOCOL_BYTES", 1 << 20)
    outcome = await outcome_of(lab, asked(tmp_path, "lab.start()\nwhile True: lab.sample(0.1)"))
    assert outcome.outcome == "crashed"
    assert outcome.error is not None
    assert outcome.error.type == "flood"


async def test_waiting_for_the_outcome_alone_needs_no_reader(lab: Lab, tmp_path: Path) -> None:
    body = "lab.start()\nfor i in range(1, 9001): lab.sample(i / 10)\nlab.outcome()"
    run = await lab.start(asked(tmp_path, body))
    assert (await run.wait()).outcome == "completed"


# -- what is refused before it runs


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"params": {"siz": "3"}}, "no parameter 'siz'"),
        ({"params": {"size": "300"}}, "not allowed"),
        ({"devices": 65}, "runs on 1 to 64 devices"),
        ({"variant": "other"}, "no variant"),
        ({"seconds": -1.0}, "seconds must be above 0"),
        ({"seconds": float("nan")}, "seconds must be above 0"),
        ({"speed": 0.0}, "speed must be above 0"),
        ({"seconds": 1e6}, "an hour"),
    ],
)
async def test_a_request_that_cannot_be_is_refused(
    tmp_path: Path, fields: dict[str, object], says: str
) -> None:
    async with Lab(kit=FAKE_KIT, preload=()) as lab:
        with pytest.raises(QuizappError, match=says):
            await lab.start(asked(tmp_path, FINE, **fields))
        assert lab.state == "cold"


async def test_a_demo_that_changed_since_it_was_listed_does_not_run(lab: Lab, tmp_path: Path) -> None:
    request = asked(tmp_path, FINE)
    request.demo.path.write_text(request.demo.path.read_text() + "\n")
    with pytest.raises(QuizappError, match="has changed"):
        await lab.start(request)
    request.demo.path.unlink()
    with pytest.raises(QuizappError, match="can't be read"):
        await lab.start(request)


async def test_a_lines_iterator_can_be_had_once(lab: Lab, tmp_path: Path) -> None:
    run, _ = await ran(lab, asked(tmp_path, FINE))
    with pytest.raises(RuntimeError, match="once"):
        await anext(run.lines())


# -- GPUs


async def test_a_run_on_gpus_is_filled_with_nvmls_readings(tmp_path: Path) -> None:
    fake = FakeNvml([FakeGpu(util=100), FakeGpu(util=50), FakeGpu(processes=[(5, 1)])])
    body = """
    import os, time
    print("SEES", os.environ["CUDA_VISIBLE_DEVICES"], lab.spec["memory_fraction"])
    lab.start()
    lab.sample(0.1, util=None)
    lab.outcome()
    """
    async with Lab(kit=FAKE_KIT, preload=(), open_nvml=lambda: start_nvml(fake)) as lab:
        await lab.warm()
        lab.cuda = "12.8"
        _, lines = await ran(lab, asked(tmp_path, body, device="auto"))
        assert any("SEES GPU-00000000,GPU-00000001 0.9" in str(line) for line in lines)
        (start,) = [line for line in lines if isinstance(line, Start)]
        assert start.device_kind == "cuda"
        (sample,) = [line for line in lines if isinstance(line, Sample)]
        assert set(sample.meters) >= {"util", "power_w", "clock_mhz", "memory_bytes"}
        with pytest.raises(GpusOccupied):
            await lab.start(asked(tmp_path, body, device="cuda", devices=3))
        few = await lab.start(asked(tmp_path, FINE, device="cuda", devices=4))
        assert few.device_kind == "emulated"
        assert "4 GPUs were asked for" in few.notices[0]
        told = [line async for line in few.lines()]
        assert told[0] == Log(text=few.notices[0], source="lab")
    assert fake.open == 0


async def test_nvml_that_goes_away_before_the_run_is_said(tmp_path: Path) -> None:
    fakes = iter([FakeNvml([FakeGpu()]), FakeNvml([], init_error=NVMLError("gone"))])
    async with Lab(kit=FAKE_KIT, preload=(), open_nvml=lambda: start_nvml(next(fakes))) as lab:
        await lab.warm()
        lab.cuda = "12.8"
        _, lines = await ran(lab, asked(tmp_path, FINE, device="cuda", devices=1))
    assert any("NVML can't be read" in line.text for line in lines if isinstance(line, Log))


async def test_without_gpus_auto_means_emulated(tmp_path: Path) -> None:
    def none() -> FakeNvml:
        raise NoGpu("no driver")

    async with Lab(kit=FAKE_KIT, preload=(), open_nvml=none) as lab:
        await lab.warm()
        lab.cuda = "12.8"
        run, _ = await ran(lab, asked(tmp_path, FINE, device="auto"))
        assert run.device_kind == "emulated"
        assert run.notices == ("emulated devices are used: no driver",)


# -- the app's end


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_apps_death_ends_every_process(tmp_path: Path, end: signal.Signals) -> None:
    body = FAMILY + "time.sleep(3600)"
    path = demo(tmp_path, body).path
    app = subprocess.Popen(
        [sys.executable, str(TESTS / "lab_app.py"), str(path), "running"], stdout=subprocess.PIPE, text=True
    )
    assert app.stdout is not None
    ids = [int(part) for part in app.stdout.readline().split()]
    processes = [psutil.Process(pid) for pid in ids] + group(ids[1])
    assert len({process.pid for process in processes}) >= 6
    app.send_signal(end)
    app.wait()
    app.stdout.close()
    assert_gone(processes)


async def test_the_lab_cannot_be_had_after_its_end(tmp_path: Path) -> None:
    async with Lab(kit=FAKE_KIT, preload=()) as lab:
        run = await lab.start(asked(tmp_path, HANGS))
        await lab.close()
        assert lab.state == "cold"
        assert run.outcome is not None
        assert run.outcome.outcome == "stopped"
