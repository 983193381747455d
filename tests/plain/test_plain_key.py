"""The ground of a key in lines: said, tested here, stopped, appealed against."""

from __future__ import annotations

import io
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from demo_programs import FAKE_KIT, write_demo
from quizapp.bank.model import DemoLink, Explanation, Predicate, Range, SingleChoice, Symptom
from quizapp.lab.catalogue import Catalogue
from quizapp.lab.ground import Grounds
from quizapp.lab.runner import Lab
from quizapp.plain import take
from quizapp.plain.demo import Demos
from quizapp.store.begin import begin
from quizapp.store.store import Store
from run_processes import no_shared_memory_left
from sample_bank import MemoryBank, multiple, option

BODY = """
lab.start()
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
KEY = BODY.replace("lab.sample(i / 10)", "lab.sample(i / 10, util=[1.0, 0.0])")


@pytest.fixture(autouse=True)
def workdirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    folder = tmp_path / "workdirs"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.chdir(tmp_path)
    with no_shared_memory_left():
        yield


class Desk:
    def __init__(self, folder: Path, *, key: str = KEY, other: str = BODY) -> None:
        demos = folder / "demos"
        demos.mkdir()
        write_demo(demos, BODY, name="healthy")
        write_demo(demos, key, name="half-idle")
        write_demo(demos, other, name="all-busy")
        question = SingleChoice(
            kind="single-choice",
            id="asked",
            stem="One of two is idle.",
            symptom=Symptom(
                devices=2, where=(Predicate(says="is idle", meter="util", devices=1, mean=Range(max=0.1)),)
            ),
            options=(
                option("half", correct=True, demo=DemoLink(name="half-idle")),
                option("all", demo=DemoLink(name="all-busy")),
            ),
            explanation=Explanation(short="Because."),
            verified_by="experiment",
        )
        self.demos = Demos((), "emulated", make_lab=lambda: Lab(kit=FAKE_KIT, preload=()))
        self.demos._catalogue = Catalogue.load([demos])
        self.store = Store.open(folder / "state")
        self.bank = MemoryBank([question, multiple()])
        self.asked_for_grounds = 0

    def _grounds(self) -> Grounds:
        self.asked_for_grounds += 1
        return Grounds(self.demos.catalogue, self.store)

    def types(self, *lines: str) -> str:
        sitting = begin(self.store, self.bank, "ada").sitting  # type: ignore[arg-type]
        out = io.StringIO()
        try:
            take(
                sitting,
                stdin=io.StringIO("".join(line + "\n" for line in lines)),
                stdout=out,
                stderr=io.StringIO(),
                interactive=True,
                demos=lambda: self.demos,
                grounds=self._grounds,
            )
        finally:
            self.demos.close()
        return " ".join(out.getvalue().split())


def test_the_key_is_tested_and_the_finding_says_why(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    out = desk.types("b", "test", "r", "", "q")
    assert "The ground of the key: said to be by experiment, not tested here." in out
    assert "run 1 of 9: " in out
    assert "s left: " in out
    assert "✔ supported: in 3 of 3 repeats the key shows 1 of 1 signs" in out
    assert "✔ key A, half (half-idle --variant fault): shows every sign, 3 of 3 repeats" in out
    assert "“is idle” devices with utilisation mean ≤ 10 %: wanted 1, measured 0, 80 points off" in out
    assert "Emulated devices" in out
    assert "9 of 9 runs are made here: 3 repeats, 2 emulated devices" in out
    assert "The ground of the key: tested here: supported (3 repeats, 2 emulated devices" in out


def test_what_is_known_is_not_run_again(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    out = desk.types("b", "t", "t", "q")
    assert out.count("run 1 of 9") == 1
    assert out.count("✔ supported") == 2


def test_a_key_that_does_not_show_it_is_contradicted(tmp_path: Path) -> None:
    out = Desk(tmp_path, key=BODY, other=KEY).types("b", "test", "q")
    assert "✘ contradicted: the key half does not show it" in out


def test_ctrl_c_stops_the_test_and_keeps_what_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The last demo to be run itself presses Ctrl-C in this process; see test_plain_demo.
    monkeypatch.setenv("QUIZAPP_STATE_DIR", str(os.getpid()))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    desk = Desk(tmp_path, other=HANGS)
    out = desk.types("b", "test", "r", "", "b", "", "q")
    assert "Stopped; the runs that have ended are kept" in out
    assert "inconclusive: half: not run: stopped" in out
    assert "The ground of the key: tested here in part, 2 of 9 runs: inconclusive" in out


def test_a_lab_that_can_not_start_is_said_and_the_attempt_goes_on(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.demos._make_lab = lambda: Lab(kit=FAKE_KIT, preload=("no_such_module",))
    out = desk.types("a", "test", "", "a b", "")
    assert "no_such_module" in out
    assert "points (100%)" in out


def test_an_appeal_is_written_and_its_place_said(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    out = desk.types("b", "appeal", "test", "!", "q")
    first, second = sorted(
        tmp_path.glob("quizapp-appeal-sample-asked-*.md"), key=lambda p: p.stat().st_mtime_ns
    )
    assert f"Your appeal is in {first}" in out
    assert f"Your appeal is in {second}" in out
    assert out.count("It holds no evidence") == 1
    assert "There is no evidence" in first.read_text()
    assert "supported: in 3 of 3 repeats" in second.read_text()


def test_before_the_answer_nothing_is_tested_nor_told(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    out = desk.types("test", "appeal", "q")
    assert out.count("That comes after your answer.") == 2
    assert desk.asked_for_grounds == 0
    assert list(tmp_path.glob("*.md")) == []


def test_a_key_without_an_experiment_can_not_be_tested(tmp_path: Path) -> None:
    out = Desk(tmp_path).types("b", "", "a b", "test", "")
    assert "The ground of the key: by judgement: its author's experience." in out
    assert "The key can't be tested: no experiment speaks to it." in out
