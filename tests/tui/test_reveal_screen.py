"""What became of a response, and why."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from tui_fakes import BANKS
from tui_grid import check, grid, until

from quizapp.tui.app import QuizApp
from quizapp.tui.screens.links import LinksScreen
from quizapp.tui.screens.question import QuestionScreen
from quizapp.tui.screens.results import ResultsScreen
from quizapp.tui.screens.reveal import RevealScreen

SIZE = (80, 24)


async def revealed(pilot: Pilot[object], *keys: str) -> None:
    """Submit, and wait for the explanation and for what is known of the key."""
    await pilot.press(*keys, "enter")
    await pilot.pause()
    screen = pilot.app.screen
    assert isinstance(screen, RevealScreen)
    if screen.state.question.symptom is not None:
        await until(pilot, lambda: screen.ground is not None)
        await pilot.pause()


@pytest.mark.parametrize(
    ("view", "name"), [("1", "short"), ("2", "picture"), ("3", "full"), ("4", "per-option")]
)
async def test_the_views(sitting_app: QuizApp, view: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(BANKS)  # the picture's path is shown as it is typed from here
    async with sitting_app.run_test(size=SIZE, notifications=True) as pilot:
        await revealed(pilot, "2")
        await pilot.press(view)
        await pilot.pause()
        check(sitting_app, f"reveal-{name}-80x24")


async def test_side_by_side_where_there_is_room(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=(140, 40)) as pilot:
        await revealed(pilot, "2")
        await pilot.press("3")
        await pilot.pause()
        check(sitting_app, "reveal-full-140x40")


@pytest.mark.parametrize(
    ("keys", "verdict"),
    [
        (["1"], "✓ CORRECT  1/1  ·  you: A  ·  key: A"),
        (["2"], "✗ INCORRECT  0/1  ·  you: B  ·  key: A"),
        (["right_square_bracket", "1"], "◐ PARTIAL  1/2  ·  you: A  ·  key: A, B  ·  net-correct"),
    ],
)
async def test_the_verdict_is_in_words(sitting_app: QuizApp, keys: list[str], verdict: str) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await revealed(pilot, *keys)
        assert verdict in grid(sitting_app)


async def test_a_view_is_built_when_it_is_opened(
    sitting_app: QuizApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    blocks = sitting_app.pages.blocks
    monkeypatch.setattr(
        sitting_app.pages, "blocks", lambda text, letters: asked.append(text) or blocks(text, letters)
    )
    async with sitting_app.run_test(size=SIZE) as pilot:
        await revealed(pilot, "2")
        taking = sitting_app.desk.taking
        assert taking is not None
        full = taking.sitting.question(0).explanation.full
        assert full not in asked
        await pilot.press("3")
        await pilot.pause()
        assert full in asked


async def test_next_goes_to_what_is_open_and_then_to_the_results(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await pilot.press("right_square_bracket")
        await revealed(pilot, "1", "2")
        await pilot.press("n")
        await pilot.pause()
        assert "Q3/3" in grid(sitting_app)
        await revealed(pilot, "1")
        await pilot.press("n")
        await pilot.pause()
        assert "Q1/3" in grid(sitting_app)
        await revealed(pilot, "1")
        assert "n Results" in grid(sitting_app)
        await pilot.press("n")
        await pilot.pause()
        assert isinstance(sitting_app.screen, ResultsScreen)
        assert "PASSED  4 of 4 points, 100%" in grid(sitting_app)


async def test_back_to_the_question_and_again_to_its_explanation(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await revealed(pilot, "1")
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(sitting_app.screen, QuestionScreen)
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(sitting_app.screen, RevealScreen)


async def test_the_demo_of_any_option_can_be_opened(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await revealed(pilot, "2")
        assert "r Run demo B" in grid(sitting_app)
        await pilot.press("4", "down")
        assert "r Run demo C" in grid(sitting_app)
        await pilot.press("r")
        await pilot.pause()
        assert "cpu-bottleneck" in grid(sitting_app)


async def test_addresses_are_shown_copied_and_saved(sitting_app: QuizApp, tmp_path: Path) -> None:
    async with sitting_app.run_test(size=SIZE, notifications=True) as pilot:
        await revealed(pilot, "2")
        await pilot.press("u")
        await pilot.pause()
        assert isinstance(sitting_app.screen, LinksScreen)
        check(sitting_app, "links-80x24")
        await pilot.press("y")
        assert sitting_app.clipboard == "https://pytorch.org/docs/stable/generated/torch.nn.DataParallel.html"
        await pilot.press("s", "p")
        await pilot.pause()
        [saved] = tmp_path.glob("quizapp-links-signs-*.txt")
        assert "https://pytorch.org/docs/stable/notes/cuda.html" in saved.read_text()
        assert any("notes/cuda.html" in text for text in sitting_app.farewell)


async def test_the_picture_can_be_found(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=SIZE) as pilot:
        await revealed(pilot, "2")
        await pilot.press("o")
        await pilot.pause()
        assert "figures/dp-sync.svg" in grid(sitting_app).replace("\n", "")
