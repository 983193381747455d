"""Items to be put in order and pairs to be matched, by keyboard and mouse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from textual.pilot import Pilot
from tui_grid import check, grid, rows

from quizapp.assess.response import Response
from quizapp.tui.app import QuizApp

KINDS = Path(__file__).resolve().parent.parent / "banks" / "good" / "kinds.yaml"
ORDERING, MATCHING = 7, 8
SIZE = (80, 24)
Take = Callable[[Path], QuizApp]


async def go_to(pilot: Pilot[object], index: int) -> None:
    assert isinstance(pilot.app, QuizApp)
    taking = pilot.app.desk.taking
    assert taking is not None
    pilot.app.go_to(taking, index)
    await pilot.pause()


def response(app: QuizApp) -> Response:
    taking = app.desk.taking
    assert taking is not None
    return taking.sitting.response(taking.index)


def presented(app: QuizApp) -> list[str]:
    taking = app.desk.taking
    assert taking is not None
    return list(taking.sitting.option_order(taking.index))


def row_of(app: QuizApp, text: str) -> int:
    return next(number for number, row in enumerate(rows(app)) if text in row)


async def test_an_item_is_taken_moved_and_dropped(take: Take) -> None:
    app = take(KINDS)
    async with app.run_test(size=SIZE) as pilot:
        await go_to(pilot, ORDERING)
        first, second, third, fourth = presented(app)
        assert response(app).blank
        await pilot.press("space", "down", "down")
        await pilot.pause()
        assert "arrows move it, Space drops it" in grid(app)
        assert response(app) == Response((second, third, first, fourth))
        await pilot.press("space", "up")
        await pilot.pause()
        assert response(app) == Response((second, third, first, fourth))
        assert "your order: B, C, A, D" in grid(app)


async def test_the_order_as_presented_is_a_response_once_it_is_taken_as_one(take: Take) -> None:
    app = take(KINDS)
    async with app.run_test(size=SIZE) as pilot:
        await go_to(pilot, ORDERING)
        await pilot.press("enter")
        await pilot.pause()
        assert "Nothing is in order yet" in grid(app)
        await pilot.press("space", "space")
        await pilot.pause()
        assert list(response(app).selected) == presented(app)
        await pilot.press("x")
        await pilot.pause()
        assert response(app).blank


async def test_the_right_order_is_found_by_keys_and_explained_item_by_item(take: Take) -> None:
    app = take(KINDS)
    async with app.run_test(size=SIZE) as pilot:
        await go_to(pilot, ORDERING)
        for place, item in enumerate(("forward", "backward", "all-reduce", "optimizer")):
            current = list(response(app).selected) or presented(app)
            # A number takes the item in that place, or drops the held one there.
            await pilot.press(str(current.index(item) + 1), str(place + 1))
            await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert "✓ CORRECT  1/1" in grid(app)
        await pilot.press("4")
        await pilot.pause()
        assert "✓  1" in grid(app)
        assert "Buckets are reduced while the backward pass goes on" in grid(app)


async def test_clicks_take_and_drop_an_item(take: Take) -> None:
    app = take(KINDS)
    async with app.run_test(size=SIZE) as pilot:
        await go_to(pilot, ORDERING)
        first, *rest = presented(app)
        await pilot.click(offset=(12, row_of(app, "1   A")))
        await pilot.click(offset=(12, row_of(app, "4   D")))
        await pilot.pause()
        assert list(response(app).selected) == [*rest, first]


async def test_letters_match_and_go_on_to_the_next(take: Take) -> None:
    app = take(KINDS)
    async with app.run_test(size=SIZE) as pilot:
        await go_to(pilot, MATCHING)
        letters = dict(zip(presented(app), "abc", strict=True))
        await pilot.press(letters["dp"], letters["ddp"])
        await pilot.pause()
        assert response(app) == Response(pairs=(("ddp", "ddp"), ("dp", "dp")))
        assert "2 of 3 matched" in grid(app)
        await pilot.press("enter")
        await pilot.pause()
        assert "1 not matched yet; Enter again submits all the same." in grid(app)
        await pilot.press(letters["none"], "1", "2", "3", letters["ddp"], "enter")
        await pilot.pause()
        assert "✓ CORRECT  3/3" in grid(app)
        await pilot.press("4")
        await pilot.pause()
        assert "Threads drive the devices." in grid(app)


async def test_space_goes_through_the_choices_and_clicks_match(take: Take) -> None:
    app = take(KINDS)
    async with app.run_test(size=SIZE) as pilot:
        await go_to(pilot, MATCHING)
        first, second, _ = presented(app)
        await pilot.press("space", "space")
        await pilot.pause()
        assert response(app).pairs == (("dp", second),)
        await pilot.click(offset=(12, row_of(app, "FSDP")))
        await pilot.click(offset=(8, row_of(app, "     A  ")))
        await pilot.pause()
        assert response(app).pairs == (("dp", second), ("fsdp", first))


async def test_what_was_given_is_there_again(take: Take) -> None:
    app = take(KINDS)
    async with app.run_test(size=SIZE) as pilot:
        await go_to(pilot, MATCHING)
        await pilot.press("c", "left_square_bracket")
        await pilot.pause()
        await pilot.press("space", "down", "space", "right_square_bracket")
        await pilot.pause()
        assert "[C]" in grid(app)
        await pilot.press("left_square_bracket")
        await pilot.pause()
        assert "your order: B, A, C, D" in grid(app)


async def test_the_two_as_they_are_drawn(take: Take) -> None:
    app = take(KINDS)
    async with app.run_test(size=SIZE) as pilot:
        await go_to(pilot, ORDERING)
        await pilot.press("space", "down")
        await pilot.pause()
        check(app, "ordering-held-80x24")
        await go_to(pilot, MATCHING)
        await pilot.press("a", "b")
        await pilot.pause()
        check(app, "matching-80x24")
