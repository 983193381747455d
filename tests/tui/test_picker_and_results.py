"""The list of banks, and the results at the end."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tui_fakes import SIGNS
from tui_grid import check, grid, until

from quizapp.assess.adaptive import Parameters, Rule
from quizapp.store.begin import Adapt
from quizapp.store.calibration import Calibrated, write_calibration
from quizapp.tui.app import QuizApp
from quizapp.tui.desk import Desk
from quizapp.tui.screens.confirm import ConfirmScreen
from quizapp.tui.screens.picker import PickerScreen
from quizapp.tui.screens.question import QuestionScreen
from quizapp.tui.screens.results import ResultsScreen
from quizapp.tui.screens.reveal import RevealScreen
from quizapp.tui.screens.text import TextScreen

SIZE = (80, 24)


@pytest.fixture
def banks(tmp_path: Path, desk: Desk) -> Path:
    folder = tmp_path / "quizzes"
    folder.mkdir()
    (folder / "signs.yaml").write_text(SIGNS.read_text())
    (folder / "waits.yaml").write_text(SIGNS.read_text().replace("Signs of a sick job", "Waits [/x]"))
    (folder / "broken.yaml").write_text(
        "format: 1\ntitle: Broken\nquestions: [{id: a, kind: single-choise}]\n"
    )
    desk._bank_folders = [Path("quizzes")]
    return folder


async def test_the_banks(desk: Desk, banks: Path) -> None:
    app = QuizApp(desk, "picker")
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await pilot.pause()
        check(app, "picker-80x24")


async def test_a_filter_narrows_the_list(desk: Desk, banks: Path) -> None:
    app = QuizApp(desk, "picker")
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("slash", *"waits")
        assert "Waits [/x]" in grid(app)
        assert "Signs" not in grid(app)
        await pilot.press("enter", "enter")
        await pilot.pause()
        assert isinstance(app.screen, QuestionScreen)
        assert "Waits [/x]" in grid(app)


async def test_nothing_fits_and_escape_shows_all(desk: Desk, banks: Path) -> None:
    app = QuizApp(desk, "picker")
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("slash", *"zzz")
        assert "No bank fits the filter" in grid(app)
        await pilot.press("escape")
        assert "Signs of a sick job" in grid(app)


async def test_no_bank_at_all_says_how_to_get_one(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    desk._bank_folders = [tmp_path / "none"]
    app = QuizApp(desk, "picker")
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        assert "quizapp new my-bank" in grid(app)
        await pilot.press("enter", "n", "x", "v", "down")
        assert isinstance(app.screen, PickerScreen)


async def test_a_broken_bank_shows_its_errors(desk: Desk, banks: Path) -> None:
    app = QuizApp(desk, "picker")
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("end", "down", "down", "enter")
        await pilot.pause()
        assert isinstance(app.screen, TextScreen)
        assert "did you mean single-choice?" in grid(app)


async def test_an_open_attempt_is_resumed_begun_anew_or_discarded(desk: Desk, banks: Path) -> None:
    app = QuizApp(desk, "picker")
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("enter", "2", "right_square_bracket", "escape")
        await pilot.pause()
        assert "resume at Q2" in grid(app)
        await pilot.press("n")
        await pilot.pause()
        assert "Q1/3" in grid(app)
        await pilot.press("escape", "x")
        await pilot.pause()
        assert isinstance(app.screen, ConfirmScreen)
        await pilot.press("escape")
        await pilot.pause()
        assert len(desk.store.attempts("anna", "signs", state="open")) == 2
        await pilot.press("x", "y")
        await pilot.pause()
        assert len(desk.store.attempts("anna", "signs", state="open")) == 1


async def test_an_attempt_held_elsewhere_is_said_and_a_new_one_can_be_begun(desk: Desk, banks: Path) -> None:
    from quizapp.store.store import Store

    other = Desk(Store.open(), "anna", seed=1, bank_folders=[Path("quizzes")])
    other.begin(banks / "signs.yaml", fresh=True)
    app = QuizApp(desk, "picker")
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, PickerScreen)
        assert "another window" in " ".join(grid(app).split())
        await pilot.press("n")
        await pilot.pause()
        assert isinstance(app.screen, QuestionScreen)
    other.leave_sitting()


async def test_a_review_counts_what_is_due_asks_it_and_then_says_when_there_is_more(
    desk: Desk, banks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = QuizApp(desk, "picker")
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await pilot.press("r")
        await pilot.pause()
        assert isinstance(app.screen, QuestionScreen)
        await finish(pilot)
        assert isinstance(app.screen, ResultsScreen)
        await pilot.press("escape")
        await until(pilot, lambda: "Nothing is due for review; next on" in grid(app))
        await pilot.press("r")
        await pilot.pause()
        assert isinstance(app.screen, PickerScreen)
        assert "The next review is on" in " ".join(grid(app).split())
    in_a_year = datetime.now(UTC) + timedelta(days=365)
    monkeypatch.setattr("quizapp.store.history._now", lambda: in_a_year)
    later = QuizApp(desk, "picker")
    async with later.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: "Review today: 3 due, 0 new (r)." in grid(later))
        assert "done, 3 due" in grid(later)


async def finish(pilot: object) -> None:
    await pilot.press("1", "enter", "n", "1", "enter", "n", "2", "enter", "n")  # type: ignore[attr-defined]
    await pilot.pause()  # type: ignore[attr-defined]


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_the_results(sitting_app: QuizApp, size: tuple[int, int]) -> None:
    async with sitting_app.run_test(size=size, notifications=True) as pilot:
        await finish(pilot)
        check(sitting_app, f"results-{size[0]}x{size[1]}")


async def test_below_the_mark_is_exit_code_1(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await finish(pilot)
        await pilot.press("q")
    assert sitting_app.return_value == 1
    assert sitting_app.farewell == []


async def test_review_all_goes_from_question_to_question(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await finish(pilot)
        await pilot.press("r")
        await pilot.pause()
        assert isinstance(sitting_app.screen, RevealScreen)
        assert "Q1/3" in grid(sitting_app)
        await pilot.press("n", "n")
        await pilot.pause()
        assert "Q3/3" in grid(sitting_app)
        await pilot.press("n")
        await pilot.pause()
        assert isinstance(sitting_app.screen, ResultsScreen)


async def test_the_list_of_a_finished_attempt_leads_to_its_explanations(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await finish(pilot)
        await pilot.press("enter", "l", "down", "enter")
        await pilot.pause()
        assert isinstance(sitting_app.screen, RevealScreen)
        assert "Q2/3" in grid(sitting_app)


async def test_redo_asks_only_what_went_wrong(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await finish(pilot)
        await pilot.press("w")
        await pilot.pause()
        assert isinstance(sitting_app.screen, QuestionScreen)
        taking = sitting_app.desk.taking
        assert taking is not None
        assert [taking.sitting.question_id(place) for place in range(taking.total)] == ["second", "third"]


async def test_the_report_is_saved_and_printed_on_exit(sitting_app: QuizApp, tmp_path: Path) -> None:
    async with sitting_app.run_test(size=SIZE, notifications=True) as pilot:
        await finish(pilot)
        await pilot.press("o", "p")
        await pilot.pause()
    [saved] = tmp_path.glob("quizapp-report-signs-*.txt")
    text = saved.read_text()
    assert "NOT PASSED: 2 of 4 points, 50% (pass mark 70%)" in text
    assert "Q3 INCORRECT 0/1  you: B  key: A" in text
    assert sitting_app.farewell == [text]


async def test_an_adaptive_attempt_shows_how_many_may_come_and_the_ability(
    desk: Desk, tmp_path: Path
) -> None:
    ids = ("six-of-eight-idle", "second", "third")
    path = tmp_path / "signs.calibration.json"
    questions = [Calibrated(each, 1, Parameters(1.0, 0.0), 0.1) for each in ids]
    write_calibration(path, "signs", "2pl", 240, questions)
    desk.adapt = Adapt(Rule(0.05, 2), path)
    desk.begin(SIGNS, fresh=True, mode="adaptive")
    app = QuizApp(desk, "sitting")
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        assert "Q1 of 2 at most" in grid(app)
        await pilot.press("a", "enter")
        await pilot.pause()
        assert "Q1 of 2 at most explained" in grid(app)
        await pilot.press("enter")
        await pilot.pause()
        assert "Q2 of 2 at most" in grid(app)
        await pilot.press("a", "enter")
        await pilot.pause()
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ResultsScreen))
        await pilot.pause()
        shown = grid(app)
        assert "FINISHED" in shown
        assert "standard error 0." in shown
        assert "0 is the mean of the 240 attempts" in shown
        assert "It ended at its greatest length." in " ".join(shown.split())
