"""Answering questions with the keyboard and the mouse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tui_fakes import SIGNS
from tui_grid import check, grid, rows

from quizapp.assess.response import Response
from quizapp.store.database import StoreUnavailable
from quizapp.store.store import Store
from quizapp.tui.app import QuizApp
from quizapp.tui.desk import Desk
from quizapp.tui.screens.confirm import ConfirmScreen
from quizapp.tui.screens.overview import OverviewScreen
from quizapp.tui.screens.picker import PickerScreen
from quizapp.tui.screens.question import QuestionScreen
from quizapp.tui.screens.reveal import RevealScreen

SIZE = (80, 24)


def on_question(app: QuizApp) -> QuestionScreen:
    assert isinstance(app.screen, QuestionScreen), app.screen
    return app.screen


@pytest.mark.parametrize("size", [(80, 24), (140, 40), (40, 10)])
async def test_the_question_as_it_stands(sitting_app: QuizApp, size: tuple[int, int]) -> None:
    async with sitting_app.run_test(size=size, notifications=True) as pilot:
        await pilot.pause()
        check(sitting_app, f"question-{size[0]}x{size[1]}")


@pytest.mark.parametrize(("key", "chosen"), [("2", "oom"), ("c", "cpu"), ("4", "tiny")])
async def test_numbers_and_letters_choose(sitting_app: QuizApp, key: str, chosen: str) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await pilot.press(key)
        assert sitting_app.desk.taking is not None
        assert sitting_app.desk.taking.sitting.response(0) == Response((chosen,))


async def test_a_choice_is_on_disk_before_the_next_key(sitting_app: QuizApp, tmp_path: Path) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await pilot.press("2")
        other = Store.open(tmp_path / "state")
        [summary] = other.attempts("anna")
        assert other.show(summary.id).attempt.items[0].response == Response(("oom",))
        other.close()


async def test_arrows_and_space_choose_and_change(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await pilot.press("down", "j", "space")
        taking = sitting_app.desk.taking
        assert taking is not None
        assert taking.sitting.response(0) == Response(("cpu",))
        await pilot.press("up", "space")
        assert taking.sitting.response(0) == Response(("oom",))
        await pilot.press("x")
        assert taking.sitting.response(0).blank


async def test_several_can_be_chosen_and_taken_back(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await pilot.press("right_square_bracket", "1", "2", "3", "2")
        assert "2 chosen, choose all that apply" in grid(sitting_app)
        taking = sitting_app.desk.taking
        assert taking is not None
        assert taking.sitting.response(1) == Response(("p", "n"))


async def test_a_click_chooses(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        row = next(y for y, text in enumerate(rows(sitting_app)) if "run out of memory" in text)
        await pilot.click(offset=(20, row))
        taking = sitting_app.desk.taking
        assert taking is not None
        assert taking.sitting.response(0) == Response(("oom",))


async def test_a_click_on_the_key_bar_presses_the_key(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        place = rows(sitting_app)[23].index("List")
        await pilot.click(offset=(place, 23))
        await pilot.pause()
        assert isinstance(sitting_app.screen, OverviewScreen)


async def test_enter_submits_only_what_was_chosen(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await pilot.press("enter")
        assert "Nothing is chosen yet" in grid(sitting_app)
        taking = sitting_app.desk.taking
        assert taking is not None
        assert not taking.sitting.submitted(0)
        await pilot.press("1", "enter")
        await pilot.pause()
        assert taking.sitting.submitted(0)
        assert isinstance(sitting_app.screen, RevealScreen)


async def test_what_is_submitted_stays(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await pilot.press("2", "enter")
        await pilot.pause()
        await pilot.press("escape")
        await pilot.pause()
        assert "wrong, you chose it" in grid(sitting_app)
        await pilot.press("1", "x")
        taking = sitting_app.desk.taking
        assert taking is not None
        assert taking.sitting.response(0) == Response(("oom",))
        check(sitting_app, "question-submitted-80x24")


async def test_skipping_and_coming_back_keeps_the_choice(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await pilot.press("3", "right_square_bracket")
        assert "Q2/3" in grid(sitting_app)
        await pilot.press("left_square_bracket")
        assert "Q1/3" in grid(sitting_app)
        assert "C chosen" in grid(sitting_app)
        await pilot.press("left_square_bracket")
        assert "This is the first question." in grid(sitting_app)


async def test_past_the_last_question_stands_the_list(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await pilot.press("m", "2", *["right_square_bracket"] * 3)
        await pilot.pause()
        assert isinstance(sitting_app.screen, OverviewScreen)
        check(sitting_app, "overview-80x24")
        await pilot.press("home", "enter")
        await pilot.pause()
        assert on_question(sitting_app).taking.index == 0
        assert "marked" in grid(sitting_app)


async def test_turning_in_asks_when_something_is_open(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await pilot.press("l", "t")
        await pilot.pause()
        assert isinstance(sitting_app.screen, ConfirmScreen)
        await pilot.press("enter")
        await pilot.pause()
        taking = sitting_app.desk.taking
        assert taking is not None
        assert not taking.sitting.finished
        await pilot.press("t", "y")
        await pilot.pause()
        assert taking.sitting.finished
        assert "NOT PASSED" in grid(sitting_app)


async def test_escape_leaves_for_the_banks_and_the_attempt_can_be_resumed(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await pilot.press("2", "right_square_bracket", "escape")
        await pilot.pause()
        assert isinstance(sitting_app.screen, PickerScreen)
        assert "resume at Q2" in grid(sitting_app)
        await pilot.press("enter")
        await pilot.pause()
        assert on_question(sitting_app).taking.index == 1


@pytest.mark.parametrize("key", ["q", "ctrl+c", "ctrl+q"])
async def test_leaving_at_any_moment_says_how_to_go_on(sitting_app: QuizApp, key: str) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await pilot.press("1", key)
    assert sitting_app.return_value == 0
    [farewell] = sitting_app.farewell
    assert farewell.startswith("3 of 3 questions are open. Go on with: quizapp take ")


async def test_a_long_stem_says_that_there_is_more(take: Callable[[Path], QuizApp], tmp_path: Path) -> None:
    text = SIGNS.read_text().replace(
        "What is the most likely cause", "\n\n      ".join(f"Sign {n}." for n in range(20)) + "\n\n      What"
    )
    bank = tmp_path / "long.yaml"
    bank.write_text(text)
    app = take(bank)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        assert "more lines: PgDn" in grid(app)
        assert "demo" in grid(app)
        for _ in range(20):
            await pilot.press("pagedown")
        assert "more lines" not in grid(app)
        assert "and what should be done?" in grid(app)


async def test_when_the_store_fails_the_learner_may_go_on_unsaved(
    sitting_app: QuizApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await pilot.press("1")

        def full(*_: object, **__: object) -> None:
            raise StoreUnavailable("The disk is full.", hint="Make room.")

        monkeypatch.setattr(Store, "append", full)
        await pilot.press("2")
        await pilot.pause()
        assert isinstance(sitting_app.screen, ConfirmScreen)
        assert "The disk is full." in grid(sitting_app)
        await pilot.press("y")
        await pilot.pause()
        assert "not saved" in grid(sitting_app)
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(sitting_app.screen, RevealScreen)
        assert "INCORRECT" in grid(sitting_app)


async def test_the_first_sight_is_replaced_by_the_whole_text(desk: Desk) -> None:
    desk.begin(SIGNS, fresh=True)
    app = QuizApp(desk, "sitting")
    assert app.pages._hurried
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await pilot.pause()
        assert not app.pages._hurried
        assert "**" not in grid(app)
        assert "two GPUs at 98 %" in grid(app)


async def test_the_theme_is_quizapps_own_unless_another_is_asked_for(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from quizapp.tui.app import THEME

    desk.begin(SIGNS, fresh=True)
    app = QuizApp(desk, "sitting")
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        assert app.theme == "quizapp"
        assert app.screen.styles.background.hex.lower() == THEME.background
    monkeypatch.setenv("TEXTUAL_THEME", "textual-light")
    desk.begin(SIGNS, fresh=True)
    assert QuizApp(desk, "sitting").theme != "quizapp"
