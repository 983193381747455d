from __future__ import annotations

import importlib.util
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from html import escape
from pathlib import Path

import psutil
import pytest
from command_line import CommandLine

from demo_programs import DECLARATION, FAKE_KIT, write_demo
from lab_lines import samples, start, steady
from quizapp.cli import main
from quizapp.commands import demo_lines
from quizapp.lab.confirmed import confirm
from quizapp.lab.protocol import Outcome
from quizapp.lab.recording import Recorder
from quizapp.lab.runner import Lab
from run_processes import assert_gone

KEYS = [
    "demo",
    "variant",
    "device_kind",
    "devices",
    "params",
    "outcome",
    "diagnosis",
    "wall_s",
    "device_s",
    "processes",
    "meters",
]
IMBALANCED = """
lab.start()
n = lab.spec["devices"]
if lab.spec["variant"] == "fault" and lab.spec["params"]["split"] == "uneven":
    compute = [0.98] + [0.1] * (n - 1)
else:
    compute = [0.95] * n
for i in range(1, 31):
    lab.sample(i / 10, util=compute, compute=compute)
print("done [/x] \\x1b[31m")
lab.outcome(expected={"steps_per_s": 3.3, "compute": compute})
"""
HEALTHY = """{
    "title": "Control",
    "seconds": 3.0,
    "expects": {"fix": "healthy"},
    "params": {"split": {"type": "choice", "choices": ["even"], "default": "even"}},
}"""
NEEDS_TORCH = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="needs PyTorch: pip install 'quizapp-lab[torch]'"
)


class Demo:
    """`quizapp demo` in this process, with a lab whose demos speak the protocol by themselves."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys
        self.out = self.err = ""

    def __call__(self, *arguments: str) -> int:
        confirm(self.folder, lambda question: True)
        with pytest.raises(SystemExit) as caught:
            main(["demo", "--demos", str(self.folder), *arguments])
        self.out, self.err = self._capsys.readouterr()
        assert "\x1b" not in self.out + self.err
        assert isinstance(caught.value.code, int)
        return caught.value.code


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Demo:
    monkeypatch.setenv("QUIZAPP_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setattr(demo_lines, "Lab", lambda: Lab(kit=FAKE_KIT, preload=()))
    folder = tmp_path / "demos"
    folder.mkdir()
    write_demo(folder, IMBALANCED)
    return Demo(folder, capsys)


# -- without running anything


def test_the_demos_are_listed_with_what_will_be_seen(demo: Demo) -> None:
    assert demo() == 0
    for name in ("healthy", "dp-sync", "cpu-bottleneck", "tiny-model", "oom", "tested"):
        assert name in demo.out
    assert "needs GPU?" in demo.out
    assert max(len(line) for line in demo.out.splitlines()) <= 80
    assert demo("--json") == 0
    listed = json.loads(demo.out)["demos"]
    assert {"demo", "summary", "seconds", "needs_gpu", "variants", "params"} <= set(listed[0])


def test_a_broken_demo_is_listed_as_broken(demo: Demo) -> None:
    write_demo(demo.folder, "pass", name="bad", declaration="{}")
    assert demo() == 1
    assert "bad.py:" in demo.out


def test_the_source_is_the_program(demo: Demo) -> None:
    assert demo("tested", "--source") == 0
    assert demo.out == (demo.folder / "tested.py").read_text()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["tsted"], "did you mean 'tested'"),
        (["tested", "--set", "sise=4"], "did you mean 'size'"),
        (["tested", "--set", "size=400"], "a whole number from 1 to 64 (layers)"),
        (["tested", "--set", "size"], "is not KEY=VALUE"),
        (["tested", "--set", "size=3", "--set", "size=4"], "set twice"),
        (["tested", "--devices", "0"], "0"),
        (["tested", "--devices", "65"], "runs on 1 to 64 devices"),
        (["tested", "--device", "tpu"], "tpu"),
        (["tested", "--seconds", "0"], "0"),
        (["tested", "--seconds", "nan"], "seconds must be above 0"),
        (["tested", "--speed", "-1"], "-1"),
        (["tested", "--variant", "cure"], "cure"),
        (["healthy", "--variant", "fault"], "no variant 'fault'"),
        (["tested", "--replay", "x"], "--replay shows a recording"),
        (["--record", "x"], "Which demo?"),
        (["--compare"], "Which demo?"),
        (["tested", "--compare", "--record", "x"], "--record keeps one run"),
        (["--replay", "missing"], "no such recording"),
        (["tested", "--record", "missing/x"], "can't be written"),
    ],
)
def test_what_cannot_be_is_a_usage_error(demo: Demo, arguments: list[str], says: str) -> None:
    assert demo(*arguments) == 2
    assert says in demo.err
    assert demo.out == ""


def test_a_folder_of_demos_is_refused_until_it_is_confirmed_in_a_terminal(
    quizapp: CommandLine, tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    write_demo(folder, "pass")
    refused = quizapp("demo", "--demos", str(folder))
    assert refused.returncode == 2
    assert "nobody has confirmed" in refused.stderr
    assert in_terminal(quizapp, "demo", "--demos", str(folder), answer=b"n\n") == 2
    assert in_terminal(quizapp, "demo", "--demos", str(folder), answer=b"y\n") == 0
    assert "tested" in quizapp("demo", "--demos", str(folder)).stdout


def in_terminal(quizapp: CommandLine, *arguments: str, answer: bytes) -> int:
    """Run with stdin and stderr on a terminal that the answer is typed into."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "quizapp.cli", *arguments],
        stdin=theirs,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env=quizapp.environment,
    )
    os.close(theirs)
    asked = b""
    while b"[y/N]" not in asked:
        asked += os.read(ours, 1000)
    os.write(ours, answer)
    code = process.wait()
    os.close(ours)
    return code


# -- runs


def test_a_run_in_plain_lines(demo: Demo) -> None:
    assert demo("tested", "--devices", "4") == 0
    assert "no GPU was used" in demo.out.replace("\n", " ")
    assert demo.out.count("as nvidia-smi") == 3
    assert "diagnosis: imbalance" in demo.out
    assert demo.out.rstrip().endswith("as declared")
    assert max(len(line) for line in demo.out.splitlines()) <= 80
    assert "done [/x] ␛[31m" in demo.err
    assert "importing PyTorch" in demo.err


def test_json_is_one_object_with_exactly_the_promised_keys(demo: Demo) -> None:
    assert demo("tested", "--json", "--set", "size=7") == 0
    told = json.loads(demo.out)
    assert list(told) == KEYS
    assert told["params"] == {"size": 7, "rate": 1.0, "split": "uneven", "cache": False}
    assert (told["demo"], told["variant"], told["device_kind"], told["devices"]) == (
        "tested",
        "fault",
        "emulated",
        8,
    )
    assert (told["outcome"], told["diagnosis"], told["processes"]) == ("completed", "imbalance", 1)
    assert len(told["meters"]["util"]) == 8
    assert told["meters"]["collective"] == [None] * 8
    assert "no GPU was used" in demo.err.replace("\n", " ")


@pytest.mark.parametrize(
    ("arguments", "code"), [((), 0), (("--variant", "fix"), 0), (("--set", "split=even"), 1)]
)
def test_the_exit_code_says_whether_the_run_is_as_declared(
    demo: Demo, arguments: tuple[str, ...], code: int
) -> None:
    assert demo("tested", *arguments) == code
    assert ("not as declared: the diagnosis is healthy" in demo.out) == bool(code)


def test_a_crash_exits_1_and_shows_the_last_lines(demo: Demo) -> None:
    write_demo(demo.folder, "lab.start(); raise ValueError('boom')", name="crashing")
    assert demo("crashing", "--json") == 1
    told = json.loads(demo.out)
    assert (told["outcome"], told["diagnosis"]) == ("crashed", "inconclusive")
    assert "ValueError: boom" in demo.err


def test_a_demo_that_ends_before_it_starts_still_gives_an_object(demo: Demo) -> None:
    write_demo(demo.folder, "return 3", name="mute")
    assert demo("mute", "--json", "--devices", "2") == 1
    told = json.loads(demo.out)
    assert list(told) == KEYS
    assert told["meters"]["util"] == [None, None]


def test_cuda_without_gpus_says_so_and_is_emulated(demo: Demo) -> None:
    assert demo("tested", "--device", "cuda", "--json") == 0
    assert json.loads(demo.out)["device_kind"] == "emulated"
    assert "emulated devices are used:" in demo.err


def test_a_recording_is_replayed_and_says_that_it_is_one(demo: Demo, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    assert demo("tested", "--record", str(path)) == 0
    recorded = demo.out
    assert demo("--replay", str(path)) == 0
    assert "Replay of a run recorded on" in demo.out
    assert "nothing runs now" in demo.out.replace("\n", " ")
    figures = [line for line in recorded.splitlines() if line.endswith("GiB") or "compute" in line]
    assert [line for line in demo.out.splitlines() if line in figures] == figures
    assert demo("--replay", str(path), "--json") == 0
    told = json.loads(demo.out)
    assert list(told) == [*KEYS, "replayed"]


def test_a_recording_is_drawn_and_said_in_words(demo: Demo, tmp_path: Path) -> None:
    path, figure = tmp_path / "run.jsonl", tmp_path / "run.svg"
    assert demo("tested", "--record", str(path)) == 0
    assert demo("--replay", str(path), "--figure", str(figure)) == 0
    assert demo.out.startswith("A recorded run of tested, fault, on ")
    assert escape(demo.out.strip()) in figure.read_text(encoding="utf-8")


def test_a_figure_needs_a_recording_and_a_place(demo: Demo, tmp_path: Path) -> None:
    assert demo("tested", "--figure", str(tmp_path / "run.svg")) == 2
    path = tmp_path / "run.jsonl"
    assert demo("tested", "--record", str(path)) == 0
    assert demo("--replay", str(path), "--figure", str(tmp_path / "no" / "run.svg")) == 2
    assert "can't be written" in demo.err


def test_a_recording_of_a_demo_that_is_not_here_is_shown_all_the_same(
    demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "elsewhere.jsonl"
    with Recorder(path) as recorder:
        for line in [
            start(2, demo="elsewhere"),
            *samples({"compute": steady([0.9, 0.9])}),
            Outcome(outcome="completed"),
        ]:
            recorder.write(line)
    assert demo("--replay", str(path)) == 0
    # On a terminal as well, where the screen would tell the demo's story.
    monkeypatch.setattr("quizapp.commands.demo._on_screen", lambda as_json: True)
    assert demo("--replay", str(path)) == 0
    assert "elsewhere, fault, 2 devices" in demo.out
    path.write_bytes(path.read_bytes()[:-30])
    assert demo("--replay", str(path)) == 2
    assert "cut off" in demo.err


@pytest.fixture
def compared(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> Demo:
    """With a control of its own, and one cell beyond fault and fix."""
    write_demo(demo.folder, IMBALANCED, name="healthy", declaration=HEALTHY)
    cells = (
        '"comparison": [{"label": "DataParallel, even", "variant": "fault", "params": {"split": "even"}}],'
    )
    write_demo(demo.folder, IMBALANCED, declaration=DECLARATION.replace('"params"', cells + '"params"', 1))
    monkeypatch.setattr("quizapp.lab.confirmed.content_dir", lambda name: demo.folder)
    return demo


def test_a_comparison_shows_control_fault_fix_and_more_side_by_side(compared: Demo) -> None:
    assert compared("tested", "--compare", "--devices", "2") == 0, compared.err
    for text in ("control", "fault", "fix", "DataParallel", "closed form", "× control", "no GPU was used"):
        assert text in compared.out
    assert max(len(line) for line in compared.out.splitlines()) <= 80
    assert compared("tested", "--compare", "--json") == 0
    told = json.loads(compared.out)
    assert [cell["label"] for cell in told["cells"]] == ["control", "fault", "fix", "DataParallel, even"]
    assert told["cells"][1]["figures"]["compute"]["ratio"] == pytest.approx((0.98 + 7 * 0.1) / 8 / 0.95)
    assert told["off"] == []


def test_a_closed_form_that_is_missed_is_flagged_and_exits_1(compared: Demo) -> None:
    body = IMBALANCED.replace('"compute": compute}', '"compute": [c * 1.2 for c in compute]}')
    for name, declaration in (("tested", DECLARATION), ("healthy", HEALTHY)):
        write_demo(compared.folder, body, name=name, declaration=declaration)
    assert compared("tested", "--compare") == 1
    assert " !" in compared.out
    assert "compute is -16.7% off its closed form" in compared.out


# -- being stopped


def started(quizapp: CommandLine, folder: Path, *arguments: str) -> tuple[subprocess.Popen[str], list[int]]:
    """A run of the real command whose demo hangs; the ids are its lab's and its demo's processes."""
    code = (
        "import sys; from quizapp.commands import demo_lines; from quizapp.lab.runner import Lab; "
        f"demo_lines.Lab = lambda: Lab(kit={FAKE_KIT!r}, preload=()); "
        "from quizapp.cli import main; main(sys.argv[1:])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, "demo", "--demos", str(folder), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=quizapp.environment,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "up " in line:
            return process, [int(part) for part in line.split("up ")[1].split()]
    raise AssertionError(f"ended early: {process.wait()}")


HANGS = """
import os, time
lab.start()
lab.sample(0.1)
print("up", os.getppid(), os.getpid(), flush=True)
time.sleep(3600)
"""


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_stops_the_run_and_its_object_says_so(
    quizapp: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, code: int
) -> None:
    folder = tmp_path / "demos"
    folder.mkdir()
    write_demo(folder, HANGS, name="hanging")
    confirm(folder, lambda question: True, state=quizapp.state)
    process, ids = started(quizapp, folder, "hanging", "--json")
    left = [psutil.Process(pid) for pid in ids]
    process.send_signal(number)
    out, err = process.communicate()
    assert process.returncode == code
    assert "Traceback" not in err
    told = json.loads(out)
    assert told["outcome"] == "stopped"
    assert list(told) == KEYS
    assert_gone(left)


def test_a_reader_that_goes_away_ends_the_run(quizapp: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "demos"
    folder.mkdir()
    body = HANGS.replace("time.sleep(3600)", "for i in range(2, 40000): lab.sample(i / 10)\ntime.sleep(3600)")
    write_demo(folder, body, name="hanging")
    confirm(folder, lambda question: True, state=quizapp.state)
    process, ids = started(quizapp, folder, "hanging")
    left = [psutil.Process(pid) for pid in ids]
    assert process.stdout is not None
    process.stdout.close()
    process.wait()
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()
    process.stderr.close()
    assert_gone(left)


# -- with PyTorch


@NEEDS_TORCH
def test_the_command_runs_a_real_demo_to_its_declared_end(quizapp: CommandLine) -> None:
    done = quizapp("demo", "tiny-model", "--devices", "2", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert list(told) == KEYS
    assert told["diagnosis"] == "launch-bound"
    assert all(stat is not None for stat in told["meters"]["compute"])


def test_without_torch_the_command_says_how_to_install_it(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    find: Callable[..., object] = importlib.util.find_spec
    monkeypatch.setattr(demo_lines, "Lab", Lab)
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "torch" else find(name, *rest)
    )
    assert demo("tested") == 1
    assert "pip install 'quizapp-lab[torch]'" in demo.err
    assert demo.out == ""
