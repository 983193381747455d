"""From the explanation: what the key stands on, testing it here, and the appeal against it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from textual.pilot import Pilot
from tui_fakes import FakeLab, samples_of, script_of, start_of
from tui_grid import grid, until

from quizapp.lab.protocol import DemoError, Line, Outcome
from quizapp.lab.request import RunRequest
from quizapp.tui.app import QuizApp
from quizapp.tui.screens.key_test import KeyTestScreen
from quizapp.tui.screens.reveal import RevealScreen
from quizapp.tui.screens.text import TextScreen

SIZE = (80, 24)


async def revealed(app: QuizApp, pilot: Pilot[object], key: str = "2") -> RevealScreen:
    await pilot.press(key, "enter")
    await pilot.pause()
    screen = app.screen
    assert isinstance(screen, RevealScreen)
    await until(pilot, lambda: screen.ground is not None)
    await pilot.pause()
    return screen


async def begun(app: QuizApp, pilot: Pilot[object]) -> KeyTestScreen:
    await revealed(app, pilot)
    await pilot.press("t")
    await until(pilot, lambda: isinstance(app.screen, KeyTestScreen))
    screen = app.screen
    assert isinstance(screen, KeyTestScreen)
    return screen


async def ended(app: QuizApp, pilot: Pilot[object]) -> KeyTestScreen:
    screen = await begun(app, pilot)
    await until(pilot, lambda: not screen.running)
    await pilot.pause()
    return screen


async def test_the_ground_stands_on_the_explanation(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await revealed(sitting_app, pilot)
        assert "Key  said to be by experiment, not tested here" in grid(sitting_app)
        assert "t Test key" in grid(sitting_app)


async def test_a_key_without_an_experiment_says_so_and_offers_no_test(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=SIZE, notifications=True) as pilot:
        await pilot.press("right_square_bracket", "1", "enter")
        await pilot.pause()
        assert "Key  by judgement: its author's experience" in grid(sitting_app)
        assert "Test key" not in grid(sitting_app)
        await pilot.press("t")
        await pilot.pause()
        assert "can't be tested" in grid(sitting_app)
        assert isinstance(sitting_app.screen, RevealScreen)


async def test_the_key_is_tested_and_the_finding_says_why_each_distractor_fails(
    sitting_app: QuizApp, lab: FakeLab
) -> None:
    async with sitting_app.run_test(size=(100, 50), notifications=True) as pilot:
        screen = await ended(sitting_app, pilot)
        shown = " ".join(grid(sitting_app).split())
        assert "✓ SUPPORTED" in shown
        assert "EMULATED, no GPU used" in shown
        assert "Conditions 3 repeats, 8 emulated devices, torch 2.13" in shown
        assert "key A, dp-sync (dp-sync --variant fault): shows every sign, 3 of 3 repeats" in shown
        assert (
            "✗ “two GPUs at 98 %” devices with utilisation mean ≥ 95 %: wanted 2, measured 0, 65 points off"
            in shown
        )
        assert len(lab.runs) == len(screen.test.needed)
        assert {run.request.seed for run in lab.runs} == {1, 2, 3}
        await pilot.press("escape")
        await until(pilot, lambda: "tested here: supported" in grid(sitting_app))


async def test_a_contradicted_key_is_said_to_be_one(sitting_app: QuizApp, lab: FakeLab) -> None:
    # Every demo shows the same picture: that of the key.
    def same(request: RunRequest) -> list[Line]:
        from dataclasses import replace

        named = replace(request, demo=replace(request.demo, name="dp-sync"), variant="fault")
        outcome = Outcome(outcome="completed", steps=8, device_s=4.0, wall_s=1.0, steps_per_s=2.0)
        return [start_of(request), *samples_of(named, 4.0), outcome]

    lab.script = same
    async with sitting_app.run_test(size=SIZE) as pilot:
        await ended(sitting_app, pilot)
        assert "✗ CONTRADICTED" in grid(sitting_app)
        await pilot.press("escape")
        await until(pilot, lambda: "tested here: contradicted" in grid(sitting_app))


async def test_what_is_tested_already_is_shown_without_a_run(sitting_app: QuizApp, lab: FakeLab) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        screen = await ended(sitting_app, pilot)
        count = len(lab.runs)
        await pilot.press("escape", "t")
        await until(pilot, lambda: isinstance(sitting_app.screen, KeyTestScreen))
        await pilot.pause()
        assert "✓ SUPPORTED" in grid(sitting_app)
        assert len(lab.runs) == count
        await pilot.press("r")
        await until(pilot, lambda: len(lab.runs) == count + len(screen.test.needed))


async def test_progress_says_what_runs_and_the_screen_stays_usable(
    sitting_app: QuizApp, lab: FakeLab
) -> None:
    lab.hold = asyncio.Event()
    async with sitting_app.run_test(size=SIZE) as pilot:
        await begun(sitting_app, pilot)
        await until(pilot, lambda: "TESTING  run 1 of" in grid(sitting_app))
        assert "x Stop" in grid(sitting_app)
        await pilot.press("down", "question_mark")
        await until(pilot, lambda: isinstance(sitting_app.screen, TextScreen))
        await pilot.press("escape")
        lab.hold.set()
        await until(pilot, lambda: "SUPPORTED" in grid(sitting_app))


@pytest.mark.parametrize("key", ["escape", "x"])
async def test_stopping_ends_the_run_and_keeps_what_has_ended(
    sitting_app: QuizApp, lab: FakeLab, key: str
) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await revealed(sitting_app, pilot)

        def held_at_the_third(request: RunRequest) -> list[Line]:
            if len(lab.runs) == 2:
                lab.hold = asyncio.Event()
            return script_of(request)

        lab.script = held_at_the_third
        await pilot.press("t")
        await until(pilot, lambda: len(lab.runs) == 3)
        await pilot.press(key)
        await until(pilot, lambda: bool(lab.runs[2].ended))
        await pilot.pause()
        if key == "x":
            assert "INCONCLUSIVE" in grid(sitting_app)
            assert "not run: stopped" in " ".join(grid(sitting_app).split())
            assert "r Go on" in grid(sitting_app)
        else:
            assert isinstance(sitting_app.screen, RevealScreen)
        lab.hold = None
        lab.script = script_of
        await pilot.press("r" if key == "x" else "t")
        await until(pilot, lambda: "SUPPORTED" in grid(sitting_app))
        screen = sitting_app.screen
        assert isinstance(screen, KeyTestScreen)
        # The two that had ended were not made again.
        assert len(lab.runs) == 3 + len(screen.test.needed) - 2


async def test_a_run_that_crashes_is_no_evidence(sitting_app: QuizApp, lab: FakeLab) -> None:
    def crash(request: RunRequest) -> list[Line]:
        if request.demo.name != "oom":
            return script_of(request)
        error = DemoError(type="exit", message="exit code 3 [/x]")
        return [start_of(request), Outcome(outcome="crashed", error=error, wall_s=0.1)]

    lab.script = crash
    async with sitting_app.run_test(size=(100, 50)) as pilot:
        screen = await ended(sitting_app, pilot)
        shown = " ".join(grid(sitting_app).split())
        assert "INCONCLUSIVE" in shown
        assert "the run crashed: exit code 3 [/x]" in shown
        assert len(screen.test.todo) == 3


async def test_without_a_lab_the_reason_is_said(sitting_app: QuizApp, lab: FakeLab) -> None:
    lab.unavailable = "torch is not installed"
    async with sitting_app.run_test(size=SIZE) as pilot:
        await ended(sitting_app, pilot)
        assert "ENDED EARLY" in grid(sitting_app)
        assert "pip install 'quizapp-lab[torch]'" in grid(sitting_app)


async def test_an_appeal_with_evidence(sitting_app: QuizApp, tmp_path: Path) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await ended(sitting_app, pilot)
        await pilot.press("exclamation_mark")
        await until(pilot, lambda: isinstance(sitting_app.screen, TextScreen))
        await pilot.pause()
        [path] = tmp_path.glob("quizapp-appeal-*.md")
        assert path.name in "".join(row.strip(" │") for row in grid(sitting_app).split("\n"))
        text = path.read_text()
        assert "- response: B `oom`" in text
        assert "key A, dp-sync" in text
        assert "made here" in text
        assert "no evidence" not in grid(sitting_app)


async def test_an_appeal_without_evidence_says_that_there_is_none(
    sitting_app: QuizApp, tmp_path: Path
) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await revealed(sitting_app, pilot)
        await pilot.press("exclamation_mark")
        await until(pilot, lambda: isinstance(sitting_app.screen, TextScreen))
        await pilot.pause()
        assert "It holds no evidence" in grid(sitting_app)
        [path] = tmp_path.glob("quizapp-appeal-*.md")
        assert "There is no evidence" in path.read_text()


async def test_an_appeal_that_can_not_be_written_says_why(
    sitting_app: QuizApp, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with sitting_app.run_test(size=SIZE, notifications=True) as pilot:
        await revealed(sitting_app, pilot)
        monkeypatch.setattr("pathlib.Path.cwd", lambda: tmp_path / "gone")
        await pilot.press("exclamation_mark")
        await until(pilot, lambda: any("not written" in told.message for told in sitting_app._notifications))
        assert isinstance(sitting_app.screen, RevealScreen)
