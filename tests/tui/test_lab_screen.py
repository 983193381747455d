"""The lab with a lab that plays scripts: what the learner sees, and what is kept of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tui_fakes import FailingLab, FakeLab, catalogue_of, script_of, start_of
from tui_grid import check, grid, until

from quizapp.lab.compare import PlannedRun
from quizapp.lab.protocol import DemoError, Line, Outcome
from quizapp.lab.request import RunRequest
from quizapp.tui.app import QuizApp
from quizapp.tui.desk import Desk
from quizapp.tui.lab_state import NOT_SAID
from quizapp.tui.screens.lab import LabScreen
from quizapp.tui.screens.parameters import ParametersScreen
from quizapp.tui.screens.prediction import PredictionScreen
from quizapp.tui.screens.question import QuestionScreen
from quizapp.tui.screens.text import TextScreen

SIZE = (80, 24)


def on_lab(app: QuizApp) -> LabScreen:
    assert isinstance(app.screen, LabScreen), app.screen
    return app.screen


async def run_demo(app: QuizApp, pilot: object, *keys: str) -> LabScreen:
    """From the question through the prediction to the end of the run."""
    await pilot.press("r")  # type: ignore[attr-defined]
    await pilot.pause()  # type: ignore[attr-defined]
    assert isinstance(app.screen, PredictionScreen)
    await pilot.press(*keys)  # type: ignore[attr-defined]
    await until(pilot, lambda: isinstance(app.screen, LabScreen) and app.screen.state.phase == "ended")
    await pilot.pause()  # type: ignore[attr-defined]
    return on_lab(app)


async def test_the_prediction_is_asked_for_before_anything_runs(sitting_app: QuizApp, lab: FakeLab) -> None:
    async with sitting_app.run_test(size=SIZE, notifications=True) as pilot:
        await pilot.press("r")
        await pilot.pause()
        check(sitting_app, "lab-prediction-80x24")
        assert lab.runs == []
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(sitting_app.screen, QuestionScreen)
        assert lab.runs == []


async def test_predicted_and_measured_stand_side_by_side(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=SIZE, notifications=True) as pilot:
        await run_demo(sitting_app, pilot, "2")
        shown = grid(sitting_app)
        assert "Predicted  imbalance" in shown
        assert "Measured   imbalance  ✓ as predicted" in shown
        assert "EMULATED, no GPU used" in shown
        check(sitting_app, "lab-done-80x24")


async def test_the_lab_where_there_is_room(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=(140, 40), notifications=True) as pilot:
        await run_demo(sitting_app, pilot, "1")
        shown = grid(sitting_app)
        assert "✗ not as predicted" in shown
        assert "step 1 loss 3.2 A[m][k] [/x]" in shown
        check(sitting_app, "lab-done-140x40")


async def test_the_signs_of_the_question_are_read_one_by_one(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=(140, 40)) as pilot:
        screen = await run_demo(sitting_app, pilot, "2")
        assert screen.state.readings is not None
        assert [reading.holds for reading in screen.state.readings] == [True, True, True, True]
        assert "This run shows what the question describes: 4 of 4 signs" in grid(sitting_app)
        await pilot.press("v")
        await until(pilot, lambda: screen.state.variant == "fix" and screen.state.phase == "ended")
        await pilot.pause()
        assert "This run does not show what the question describes" in grid(sitting_app)


async def test_prediction_and_run_are_kept(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await run_demo(sitting_app, pilot, "2")
        taking = sitting_app.desk.taking
        assert taking is not None
        assert taking.sitting.predictions(0) == [("dp-sync", "imbalance")]
        [(option_id, record)] = taking.sitting.runs(0)
        assert option_id == "dp-sync"
        assert record["diagnosis"] == "imbalance"
        assert record["device_kind"] == "emulated"


async def test_an_earlier_prediction_stands(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await run_demo(sitting_app, pilot, "s")
        await pilot.press("escape", "r")
        await until(pilot, lambda: isinstance(sitting_app.screen, LabScreen))
        assert on_lab(sitting_app).state.prediction == NOT_SAID


async def test_the_meter_is_toggled_and_named(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await run_demo(sitting_app, pilot, "s")
        assert "compute, the useful work" in grid(sitting_app)
        await pilot.press("u")
        assert "as nvidia-smi sees it" in grid(sitting_app)


async def test_emulated_and_real_devices_have_different_labels(sitting_app: QuizApp, lab: FakeLab) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        screen = await run_demo(sitting_app, pilot, "s")
        assert "emu0" in grid(sitting_app)
        assert "GPU0" not in grid(sitting_app)
        plain = lab.script
        lab.script = lambda request: [start_of(request, "cuda"), *plain(request)[1:]]
        await pilot.press("r")
        await until(pilot, lambda: screen.state.emulated is False and screen.state.phase == "ended")
        await pilot.pause()
        assert "GPU0" in grid(sitting_app)
        assert "emu0" not in grid(sitting_app)
        assert "EMULATED" not in grid(sitting_app)


async def test_stop_ends_the_run_and_keeps_nothing_of_it(sitting_app: QuizApp, lab: FakeLab) -> None:
    lab.hold = asyncio.Event()
    async with sitting_app.run_test(size=SIZE) as pilot:
        await pilot.press("r", "s")
        await until(
            pilot,
            lambda: (
                isinstance(sitting_app.screen, LabScreen) and on_lab(sitting_app).state.phase == "running"
            ),
        )
        await pilot.press("x")
        await until(pilot, lambda: on_lab(sitting_app).state.phase == "ended")
        await pilot.pause()
        assert "STOPPED" in grid(sitting_app)
        taking = sitting_app.desk.taking
        assert taking is not None
        assert taking.sitting.runs(0) == []


@pytest.mark.parametrize("key", ["escape", "q", "ctrl+c"])
async def test_leaving_ends_the_run(sitting_app: QuizApp, lab: FakeLab, key: str) -> None:
    lab.hold = asyncio.Event()
    async with sitting_app.run_test(size=SIZE) as pilot:
        await pilot.press("r", "s")
        await until(pilot, lambda: bool(lab.runs) and bool(on_lab(sitting_app).state.samples))
        await pilot.press(key)
        await until(pilot, lambda: bool(lab.runs[0].ended))
    assert lab.closed


async def test_warming_is_shown_until_the_lab_is_ready(sitting_app: QuizApp, lab: FakeLab) -> None:
    lab.warming = asyncio.Event()
    async with sitting_app.run_test(size=SIZE) as pilot:
        await pilot.press("r", "s")
        await until(pilot, lambda: isinstance(sitting_app.screen, LabScreen) and lab.state == "warming")
        await pilot.pause()
        assert "WARMING  importing torch" in grid(sitting_app)
        lab.warming.set()
        await until(pilot, lambda: on_lab(sitting_app).state.phase == "ended")


async def test_without_torch_the_reason_and_the_way_out_are_said(sitting_app: QuizApp, lab: FakeLab) -> None:
    lab.unavailable = "torch is not installed"
    async with sitting_app.run_test(size=SIZE, notifications=True) as pilot:
        await pilot.press("r", "s")
        await until(
            pilot,
            lambda: isinstance(sitting_app.screen, LabScreen) and on_lab(sitting_app).state.phase == "failed",
        )
        await pilot.pause()
        assert "torch is not installed" in grid(sitting_app)
        assert "pip install 'quizapp-lab[torch]'" in grid(sitting_app)
        await pilot.press("escape", "1", "enter")
        await pilot.pause()
        assert "CORRECT" in grid(sitting_app)


async def test_a_crash_shows_the_last_lines_of_the_log(sitting_app: QuizApp, lab: FakeLab) -> None:
    def crash(request: RunRequest) -> list[object]:
        error = DemoError(type="exit", message="the demo ended before its outcome: exit code 3")
        tail = ("Traceback [/x]", "ValueError: \x1b[31mred")
        return [start_of(request), Outcome(outcome="crashed", error=error, wall_s=0.1, log_tail=tail)]

    lab.script = crash  # type: ignore[assignment]
    async with sitting_app.run_test(size=(80, 30), notifications=True) as pilot:
        await run_demo(sitting_app, pilot, "s")
        shown = grid(sitting_app)
        assert "CRASHED" in shown
        assert "exit code 3" in shown
        assert "Traceback [/x]" in shown
        assert "\x1b" not in shown


async def test_a_refused_run_can_be_tried_again(desk: Desk) -> None:
    from tui_fakes import SIGNS

    desk._make_lab = FailingLab  # type: ignore[assignment]
    desk.begin(SIGNS, fresh=True)
    app = QuizApp(desk, "sitting")
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await pilot.press("r", "s")
        await until(pilot, lambda: isinstance(app.screen, LabScreen) and on_lab(app).state.phase == "failed")
        await pilot.pause()
        assert "GPU 0 is in use by another process" in grid(app)
        assert "r Run again" in grid(app)


async def test_parameters_are_typed_and_checked(sitting_app: QuizApp, lab: FakeLab) -> None:
    async with sitting_app.run_test(size=SIZE, notifications=True) as pilot:
        screen = await run_demo(sitting_app, pilot, "s")
        await pilot.press("p")
        await pilot.pause()
        assert isinstance(sitting_app.screen, ParametersScreen)
        check(sitting_app, "lab-parameters-80x24")
        await pilot.press("9", "enter")
        await pilot.pause()
        assert isinstance(sitting_app.screen, ParametersScreen)
        assert "'19' is not allowed" in grid(sitting_app)
        await pilot.press("backspace", "backspace", "2", "down", "right", "enter")
        await until(pilot, lambda: len(lab.runs) == 2 and screen.state.phase == "ended")
        assert lab.runs[1].request.params == {"workers": "2", "split": "even"}


async def test_compare_runs_control_fault_and_fix(sitting_app: QuizApp, lab: FakeLab) -> None:
    async with sitting_app.run_test(size=(100, 40), notifications=True) as pilot:
        await run_demo(sitting_app, pilot, "s")
        await pilot.press("o")
        await until(pilot, lambda: isinstance(sitting_app.screen, TextScreen))
        await pilot.pause()
        assert [(run.request.demo.name, run.request.variant) for run in lab.runs[1:]] == [
            ("healthy", "fault"),
            ("dp-sync", "fault"),
            ("dp-sync", "fix"),
        ]
        shown = grid(sitting_app)
        assert "control" in shown
        assert "steps per second" in shown


async def test_source_and_story_are_shown_as_written(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=(80, 40), notifications=True) as pilot:
        await run_demo(sitting_app, pilot, "s")
        await pilot.press("s")
        await pilot.pause()
        assert "A[m][k] * B[k][n] and [/INST]" in grid(sitting_app)
        await pilot.press("escape", "i")
        await pilot.pause()
        assert "What it shows" in grid(sitting_app)
        assert "block: seconds 0.25" in grid(sitting_app)


async def test_every_device_has_a_row_with_its_numbers(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await run_demo(sitting_app, pilot, "s")
        numbers = [
            row.split()[-5:] for row in grid(sitting_app).split("\n") if row.lstrip().startswith("emu")
        ]
        assert numbers[0] == ["98", "98", "0.0", "20.0", "–"]
        assert numbers[7] == ["0", "0", "4.0", "20.0", "–"]


async def test_a_demo_alone_has_no_prediction(desk: Desk, lab: FakeLab, tmp_path: object) -> None:
    from quizapp.tui.start import order_of

    demo = desk.catalogue["oom"]
    app = QuizApp(desk, "lab", order_of([PlannedRun("fault", RunRequest(demo=demo, devices=2))], None))
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await until(pilot, lambda: on_lab(app).state.phase == "ended")
        await pilot.pause()
        shown = grid(app)
        assert "OUT OF MEMORY" in shown
        assert "Predicted" not in shown
        assert "emu1" in shown
        assert "emu2" not in shown
        await pilot.press("escape")
        await pilot.pause()
    assert app.return_value == 0
    assert catalogue_of is not None


def left_column(app: QuizApp) -> str:
    """The findings beside the log, as running text."""
    return " ".join(" ".join(row.split("▏")[0] for row in grid(app).split("\n")).split())


async def test_the_conditions_stand_beside_the_numbers(sitting_app: QuizApp, lab: FakeLab) -> None:
    async with sitting_app.run_test(size=(140, 40)) as pilot:
        screen = await run_demo(sitting_app, pilot, "s")
        shown = left_column(sitting_app)
        assert "Conditions 8 emulated devices, torch 2.13, durations as planned, 2027-01-15 08:00," in shown
        assert "workers=1, split=uneven" in shown
        plain = lab.script
        lab.script = lambda request: [
            replace(start_of(request, "cuda"), device_names=("NVIDIA H200",) * 8, seed=3, notice=""),
            *plain(request)[1:],
        ]
        await pilot.press("r")
        await until(pilot, lambda: screen.state.emulated is False and screen.state.phase == "ended")
        await pilot.pause()
        shown = left_column(sitting_app)
        assert "Conditions 8 × NVIDIA H200, torch 2.13, seed 3, 2027-01-15 08:00," in shown


async def test_the_comparison_lists_the_parameters_that_differ(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=(100, 40), notifications=True) as pilot:
        await run_demo(sitting_app, pilot, "s")
        await pilot.press("o")
        await until(pilot, lambda: isinstance(sitting_app.screen, TextScreen))
        await pilot.pause()
        rows = [row.split("│")[1].split() for row in grid(sitting_app).split("\n") if "│" in row]
        assert ["parameters", "that", "differ"] in rows
        assert ["workers", "1", "1", "4"] in rows
        assert ["split", "uneven", "uneven", "even"] in rows


RELATIVE = """
format: 1
title: Relative
questions:
  - id: slower
    kind: single-choice
    stem: It is slower than it should be.
    symptom: {where: [{says: slower, meter: steps_per_s, value: {max: 0.8}, relative_to: control}]}
    options:
      - {id: sync, text: Sync, correct: true, rationale: Yes., demo: {name: dp-sync}}
      - {id: oom, text: Memory, rationale: No., demo: {name: oom}}
    explanation: {short: It is.}
    verified_by: experiment
"""


async def test_signs_relative_to_the_control_are_read_once_it_has_run(
    take: Callable[[Path], QuizApp], lab: FakeLab, tmp_path: Path
) -> None:
    def script(request: RunRequest) -> list[Line]:
        *lines, outcome = script_of(request)
        assert isinstance(outcome, Outcome)
        return [*lines, replace(outcome, steps_per_s=4.0 if request.demo.name == "healthy" else 2.0)]

    lab.script = script
    (tmp_path / "relative.yaml").write_text(RELATIVE)
    app = take(tmp_path / "relative.yaml")
    async with app.run_test(size=(100, 40)) as pilot:
        screen = await run_demo(app, pilot, "2")
        await until(pilot, lambda: bool(screen.state.readings) and screen.state.readings[0].available)
        await pilot.pause()
        shown = grid(app)
        assert [run.request.demo.name for run in lab.runs] == ["dp-sync", "healthy"]
        assert "Predicted  imbalance" in shown
        assert "steps per second relative to the control: wanted ≤ 0.8 ×, measured 0.5 ×" in shown
        await pilot.press("r")
        await until(pilot, lambda: len(lab.runs) == 3 and screen.state.phase == "ended")
        # The control stands until parameters change.
        assert [run.request.demo.name for run in lab.runs] == ["dp-sync", "healthy", "dp-sync"]


async def test_who_chose_the_option_expects_every_sign_of_its_demo(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=(140, 40)) as pilot:
        await pilot.press("2")
        await run_demo(sitting_app, pilot, "s")
        shown = grid(sitting_app)
        assert "Q1 option B" in shown
        assert "This run does not show what the question describes" in shown
        assert "✗ You chose B, so you expect every sign of it." in shown
        await pilot.press("escape", "1")
        await run_demo(sitting_app, pilot, "s")
        assert "✓ You chose A, so you expect every sign of it." in grid(sitting_app)
