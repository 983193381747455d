"""An exam on screen: its clock, its marks, its end; and nothing told before that."""

from __future__ import annotations

from pathlib import Path

import pytest
from tui_fakes import SIGNS
from tui_grid import check, grid, rows, until

from quizapp.store.sitting import Sitting
from quizapp.tui.app import QuizApp
from quizapp.tui.desk import Desk
from quizapp.tui.screens.confirm import ConfirmScreen
from quizapp.tui.screens.overview import OverviewScreen
from quizapp.tui.screens.picker import PickerScreen
from quizapp.tui.screens.question import QuestionScreen
from quizapp.tui.screens.results import ResultsScreen

SIZE = (80, 24)


@pytest.fixture
def bank(tmp_path: Path, desk: Desk) -> Path:
    """The bank of signs with a time limit of half an hour, the only one to pick."""
    folder = tmp_path / "quizzes"
    folder.mkdir()
    text = SIGNS.read_text()
    path = folder / "signs.yaml"
    path.write_text(text.replace("take: {", "take: {time_limit: 30m, "))
    desk._bank_folders = [Path("quizzes")]
    return path


@pytest.fixture
def left_s(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What is left of the time, for the tests to set."""
    left = [1800.0]
    running = Sitting.remaining_s.fget  # type: ignore[attr-defined]
    monkeypatch.setattr(
        Sitting,
        "remaining_s",
        property(lambda sitting: None if running(sitting) is None else left[0]),
    )
    return left


@pytest.fixture
def exam(desk: Desk, bank: Path, left_s: list[float]) -> QuizApp:
    desk.begin(bank, fresh=True, mode="exam")
    return QuizApp(desk, "sitting")


async def test_a_question_of_an_exam(exam: QuizApp, left_s: list[float]) -> None:
    left_s[0] = 754
    async with exam.run_test(size=SIZE) as pilot:
        await pilot.press("m")
        await pilot.pause()
        check(exam, "exam-question-80x24")
        assert "demo" not in grid(exam)


async def test_the_clock_of_a_question_goes_on(exam: QuizApp, left_s: list[float]) -> None:
    async with exam.run_test(size=SIZE) as pilot:
        await pilot.pause()
        before = rows(exam)[0]
        left_s[0] = 754
        screen = exam.screen
        assert isinstance(screen, QuestionScreen)
        screen.tick()
        await pilot.pause()
        assert rows(exam)[0] != before
        assert "12:34" in rows(exam)[0]


async def test_enter_keeps_the_response_and_goes_on_and_it_can_be_changed(exam: QuizApp) -> None:
    async with exam.run_test(size=SIZE) as pilot:
        taking = exam.desk.taking
        assert taking is not None
        await pilot.press("2", "enter")
        assert isinstance(exam.screen, QuestionScreen)
        assert taking.index == 1
        before = taking.sitting.response(0)
        await pilot.press("left_square_bracket", "1")
        assert not taking.sitting.response(0).blank
        assert taking.sitting.response(0) != before
        assert taking.sitting.score(0) is None


@pytest.mark.parametrize("key", ["r", "t", "exclamation_mark"])
async def test_no_key_opens_what_comes_after_the_exam(exam: QuizApp, key: str) -> None:
    async with exam.run_test(size=SIZE, notifications=True) as pilot:
        taking = exam.desk.taking
        assert taking is not None
        await pilot.press("1", key)
        assert isinstance(exam.screen, QuestionScreen)
        state = taking.state(0)
        for opens in (exam.reveal, exam.open_lab, exam.test_key, exam.appeal):
            opens(taking, state)
            await pilot.pause()
            assert isinstance(exam.screen, QuestionScreen)
            assert "after the exam" in grid(exam)


async def test_the_list_tells_what_is_open_and_what_is_marked(exam: QuizApp) -> None:
    async with exam.run_test(size=SIZE) as pilot:
        await pilot.press("1", "enter", "m", "l")
        await pilot.pause()
        assert isinstance(exam.screen, OverviewScreen)
        check(exam, "exam-overview-80x24")


async def test_turning_in_asks_first(exam: QuizApp) -> None:
    async with exam.run_test(size=SIZE) as pilot:
        taking = exam.desk.taking
        assert taking is not None
        await pilot.press("1", "enter", "m", "l", "t")
        await pilot.pause()
        assert isinstance(exam.screen, ConfirmScreen)
        check(exam, "exam-turn-in-80x24")
        await pilot.press("enter")
        assert not taking.sitting.finished
        await pilot.press("t", "y")
        await pilot.pause()
        assert taking.sitting.finished
        assert isinstance(exam.screen, ResultsScreen)


async def test_the_last_question_leads_to_the_list_and_not_to_the_end(exam: QuizApp) -> None:
    async with exam.run_test(size=SIZE) as pilot:
        taking = exam.desk.taking
        assert taking is not None
        for _ in range(taking.total):
            taking.sitting.show(taking.index)
            await pilot.press("1", "enter")
        await pilot.pause()
        assert isinstance(exam.screen, OverviewScreen)
        assert not taking.sitting.finished


async def test_the_clock_warns_near_the_end_and_then_ends_the_exam(
    exam: QuizApp, left_s: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quizapp.tui.app.TICK_S", 0.01)
    async with exam.run_test(size=SIZE, notifications=True) as pilot:
        taking = exam.desk.taking
        assert taking is not None
        await pilot.press("1")
        left_s[0] = 179.5
        await until(pilot, lambda: "! 3:00 left" in rows(exam)[0])
        await pilot.press("l", "t")
        left_s[0] = 0
        await until(pilot, lambda: isinstance(exam.screen, ResultsScreen))
        assert taking.sitting.finished
        assert taking.sitting.submitted(0)
        await until(pilot, lambda: any("time is up" in note.message for note in exam._notifications))


async def test_a_response_after_the_time_ends_the_exam(exam: QuizApp, left_s: list[float]) -> None:
    async with exam.run_test(size=SIZE) as pilot:
        taking = exam.desk.taking
        assert taking is not None
        left_s[0] = 0
        await pilot.press("1")
        await until(pilot, lambda: isinstance(exam.screen, ResultsScreen))
        assert taking.sitting.response(0).blank


async def test_an_exam_whose_time_ran_out_opens_with_its_results(
    desk: Desk, bank: Path, left_s: list[float]
) -> None:
    desk.begin(bank, fresh=True, mode="exam")
    left_s[0] = 0
    desk.begin(bank, fresh=False)
    app = QuizApp(desk, "sitting")
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await pilot.pause()
        assert isinstance(app.screen, ResultsScreen)
        assert "is up" in grid(app)


async def test_an_exam_begins_in_the_list_of_banks_after_a_question(
    desk: Desk, bank: Path, left_s: list[float]
) -> None:
    app = QuizApp(desk, "picker")
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("e")
        await pilot.pause()
        check(app, "exam-begin-80x24")
        await pilot.press("y")
        await pilot.pause()
        assert isinstance(app.screen, QuestionScreen)
        assert "30:00 left" in rows(app)[0]
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(app.screen, PickerScreen)
        assert "exam open, at Q1" in grid(app)
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, QuestionScreen)
        assert "exam" in rows(app)[0]
