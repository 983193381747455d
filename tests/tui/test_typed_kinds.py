"""Questions whose response is typed: letters are text while the entry has the focus, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from textual.pilot import Pilot
from tui_grid import check, grid

from quizapp.store.store import Store
from quizapp.tui.app import QuizApp
from quizapp.tui.screens.question import QuestionScreen
from quizapp.tui.screens.reveal import RevealScreen

KINDS = Path(__file__).resolve().parent.parent / "banks" / "good" / "kinds.yaml"
NUMBER, WORDS, CITY, TRUE_FALSE = 0, 3, 4, 5
SIZE = (80, 24)
Take = Callable[[Path], QuizApp]


async def go_to(pilot: Pilot[object], index: int) -> None:
    assert isinstance(pilot.app, QuizApp)
    taking = pilot.app.desk.taking
    assert taking is not None
    pilot.app.go_to(taking, index)
    await pilot.pause()


def kept(app: QuizApp, index: int) -> str:
    """What is on disk by now."""
    taking = app.desk.taking
    assert taking is not None
    store = Store.open(app.desk.store.path.parent)
    record = store.show(taking.sitting.attempt_id)
    store.close()
    return record.attempt.items[index].response.text


async def test_a_number_is_typed_kept_and_submitted(take: Take) -> None:
    app = take(KINDS)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        check(app, "typed-empty-80x24")
        await pilot.press(*"84", "space", *"GB")
        await pilot.pause()
        assert kept(app, NUMBER) == "84 GB"
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, RevealScreen)
        assert "✗ INCORRECT  -0.5/2  ·  you: 84 GB  ·  key: 112 GB ± 2%" in grid(app)
        assert "AdamW keeps two moments." in grid(app)
        await pilot.press("4")
        await pilot.pause()
        check(app, "typed-response-80x24")


async def test_what_is_no_number_is_said_and_stays_to_be_mended(take: Take) -> None:
    app = take(KINDS)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press(*"1,5", "enter")
        await pilot.pause()
        assert isinstance(app.screen, QuestionScreen)
        assert "Write the number without separators" in grid(app)
        assert "1,5" in grid(app)
        await pilot.press("backspace", "backspace", *"12", "enter")
        await pilot.pause()
        assert "✓ CORRECT  2/2  ·  you: 112" in grid(app)


async def test_letters_are_text_until_escape_gives_them_back(take: Take) -> None:
    app = take(KINDS)
    async with app.run_test(size=SIZE) as pilot:
        await go_to(pilot, WORDS)
        await pilot.press(*"qnml]")
        await pilot.pause()
        assert kept(app, WORDS) == "qnml]"
        await pilot.press("escape", "x")
        await pilot.pause()
        assert kept(app, WORDS) == ""
        await pilot.press("space", *"torchrun", "escape", "right_square_bracket")
        await pilot.pause()
        taking = app.desk.taking
        assert taking is not None
        assert (taking.index, kept(app, WORDS)) == (CITY, "torchrun")
        await pilot.press("escape", "left_square_bracket")
        await pilot.pause()
        assert "torchrun" in grid(app)
        await pilot.press("enter")
        await pilot.pause()
        assert "✓ CORRECT" in grid(app)


async def test_an_empty_entry_is_not_submitted(take: Take) -> None:
    app = take(KINDS)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("enter")
        await pilot.pause()
        assert "Nothing is typed yet; Esc and then ] skips." in grid(app)


async def test_control_characters_that_are_pasted_are_shown_as_signs(take: Take) -> None:
    app = take(KINDS)
    async with app.run_test(size=SIZE) as pilot:
        await go_to(pilot, WORDS)
        screen = app.screen
        assert isinstance(screen, QuestionScreen)
        assert screen._entry is not None
        screen._entry.value = "a\x1b[31mb"
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert "\x1b" not in grid(app)
        assert "a␛[31mb" in grid(app)


async def test_true_and_false_are_two_options_in_their_places(take: Take) -> None:
    app = take(KINDS)
    async with app.run_test(size=SIZE) as pilot:
        await go_to(pilot, TRUE_FALSE)
        rows = grid(app)
        assert rows.index("A  True") < rows.index("B  Not so")
        await pilot.press("b", "enter")
        await pilot.pause()
        assert "✓ CORRECT  1/1  ·  you: B  ·  key: B" in grid(app)


async def test_a_narrow_and_short_terminal_keeps_the_entry(take: Take) -> None:
    app = take(KINDS)
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.press(*"84")
        await pilot.pause()
        assert "84" in grid(app)
        await pilot.resize_terminal(140, 40)
        await pilot.pause()
        assert "84" in grid(app)
