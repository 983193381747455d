"""A demo out of a plain attempt: predicted first, then run, then both side by side, and kept."""

from __future__ import annotations

import io
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from demo_programs import FAKE_KIT, write_demo
from quizapp.bank.model import DemoLink, Explanation, SingleChoice
from quizapp.lab.runner import Lab
from quizapp.plain import take
from quizapp.plain.demo import Demos
from quizapp.store.begin import begin
from quizapp.store.sitting import Sitting
from quizapp.store.store import Store
from run_processes import no_shared_memory_left
from sample_bank import MemoryBank, multiple, option

BODY = """
lab.start()
print("log [/x] \\x1b[31m", flush=True)
for i in range(1, 31):
    lab.sample(i / 10)
lab.outcome()
"""
HANGS = """
import os, signal, time
lab.start()
os.kill(int(os.environ["QUIZAPP_STATE_DIR"]), signal.SIGINT)
while True:
    time.sleep(3600)
"""


@pytest.fixture(autouse=True)
def workdirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    folder = tmp_path / "workdirs"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    with no_shared_memory_left():
        yield


class Desk:
    def __init__(self, folder: Path, body: str = BODY, **params: str) -> None:
        demos = folder / "demos"
        demos.mkdir()
        write_demo(demos, body, name="tested-here")
        question = SingleChoice(
            kind="single-choice",
            id="asked",
            stem="Which?",
            options=(
                option(
                    "with", correct=True, demo=DemoLink(name="tested-here", params={"devices": "2", **params})
                ),
                option("without"),
                option("nowhere", demo=DemoLink(name="tested-hree")),
            ),
            explanation=Explanation(short="Because."),
        )
        self.demos = Demos([demos], "emulated", make_lab=lambda: Lab(kit=FAKE_KIT, preload=()))
        self.store = Store.open(folder / "state")
        self.bank = MemoryBank([question, multiple()])
        self.out = ""

    def types(self, *lines: str) -> Sitting:
        sitting = begin(self.store, self.bank, "ada").sitting  # type: ignore[arg-type]
        out = io.StringIO()
        try:
            take(
                sitting,
                stdin=io.StringIO("".join(line + "\n" for line in lines)),
                stdout=out,
                stderr=io.StringIO(),
                demos=lambda: self.demos,
            )
        finally:
            self.demos.close()
        self.out = out.getvalue()
        return sitting


def test_prediction_and_measurement_stand_side_by_side_and_are_kept(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    sitting = desk.types("demo a", "9", "imbalance", "a")
    assert "What will tested-here, fault show?" in desk.out
    assert "'9' is none of them." in desk.out
    assert "as nvidia-smi" in desk.out
    assert "Emulated devices" in desk.out
    assert "  | log [/x] ␛[31m" in desk.out
    assert "Predicted: imbalance. Measured: healthy." in desk.out
    record = desk.store.show(sitting.attempt_id)
    state = record.attempt.item("asked")
    assert state.predictions == [("with", "imbalance")]
    option_id, summary = state.runs[0]
    assert (option_id, summary["diagnosis"], summary["devices"]) == ("with", "healthy", 2)
    assert summary["device_kind"] == "emulated"
    assert state.submitted


def test_a_demo_runs_after_the_answer_too_and_without_a_prediction(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    sitting = desk.types("a", "back", "d a", "", "q")
    assert "Predicted: nothing. Measured: healthy." in desk.out
    assert desk.store.show(sitting.attempt_id).attempt.item("asked").predictions == []


def test_a_prediction_that_comes_true_is_said_to_have(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.types("demo with", "1")
    assert "Predicted: healthy. Measured: healthy (as predicted)." in desk.out


def test_options_without_a_demo_and_demos_that_are_not_there(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.types("demo b", "demo c", "a")
    assert "No demo speaks to this option." in desk.out
    assert "did you mean 'tested-here'" in desk.out
    assert "Right: 1 of 1 point." in desk.out


def test_parameters_that_the_demo_does_not_know_are_said(tmp_path: Path) -> None:
    desk = Desk(tmp_path, szie="3")
    desk.types("demo a", "a")
    assert "did you mean 'size'?" in desk.out
    assert "Right: 1 of 1 point." in desk.out


def test_a_lab_that_can_not_start_is_said_and_the_attempt_goes_on(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.demos = Demos(
        [tmp_path / "demos"], "emulated", make_lab=lambda: Lab(kit=FAKE_KIT, preload=("no_such_module",))
    )
    desk.types("demo a", "", "a")
    assert "no_such_module" in desk.out
    assert "Right: 1 of 1 point." in desk.out


def test_ctrl_c_stops_the_demo_and_not_the_attempt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The demo itself presses Ctrl-C in this process as soon as it runs; its pid travels in a variable that
    # demos are given.
    monkeypatch.setenv("QUIZAPP_STATE_DIR", str(os.getpid()))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    desk = Desk(tmp_path, HANGS)
    sitting = desk.types("demo a", "", "a")
    assert "Stopped; nothing of this run is kept." in desk.out
    assert "Right: 1 of 1 point." in desk.out
    assert desk.store.show(sitting.attempt_id).attempt.item("asked").runs == []
