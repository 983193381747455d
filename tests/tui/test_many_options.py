"""As many options as there are letters, and options longer than the screen: all can be read and chosen."""

from __future__ import annotations

import string
from collections.abc import Callable
from pathlib import Path

import pytest
from tui_grid import check, grid, rows

from quizapp.assess.response import Response
from quizapp.tui.app import QuizApp

SIZE = (80, 24)
Take = Callable[[Path], QuizApp]


def bank(tmp_path: Path, *, kind: str, options: list[str]) -> Path:
    lines = ["format: 1", "title: Many", "questions:", "  - id: many", f"    kind: {kind}"]
    lines += ["    stem: Which of these?", "    explanation: {short: Those.}"]
    if kind == "ordering":
        lines += ["    rationale: So.", "    items:"]
        lines += [f"      - {{id: o{n}, text: {text!r}}}" for n, text in enumerate(options)]
    else:
        lines.append("    options:")
        lines += [
            f"      - {{id: o{n}, text: {text!r}, correct: {str(n == 0).lower()}, rationale: So.}}"
            for n, text in enumerate(options)
        ]
    path = tmp_path / "many.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


LETTERS = [f"The letter {letter} of twenty-six" for letter in string.ascii_lowercase]
LONG = [f"{name}: " + " ".join(f"word{n}" for n in range(400)) for name in ("first", "second")]


def given(app: QuizApp) -> Response:
    taking = app.desk.taking
    assert taking is not None
    return taking.sitting.response(0)


async def test_the_options_past_the_screen_are_told_and_paged_to(take: Take, tmp_path: Path) -> None:
    app = take(bank(tmp_path, kind="multiple-choice", options=LETTERS))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        assert "7 more below: ↓ PgDn" in grid(app)
        await pilot.press("pagedown", "space")
        await pilot.pause()
        check(app, "many-options-paged-80x24")
        assert "more below" not in grid(app)
        await pilot.press("pagedown", "space")
        assert given(app).selected[-1] == "o25"
        await pilot.press("pageup", "pageup", "space")
        assert "o0" in given(app).selected


async def test_home_and_end_go_to_the_ends(take: Take, tmp_path: Path) -> None:
    app = take(bank(tmp_path, kind="single-choice", options=LETTERS))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("end", "space")
        assert given(app) == Response(("o25",))
        assert "letter z" in grid(app)
        await pilot.press("home", "space")
        assert given(app) == Response(("o0",))


async def test_every_option_past_nine_is_reached_by_arrows(take: Take, tmp_path: Path) -> None:
    app = take(bank(tmp_path, kind="multiple-choice", options=LETTERS))
    async with app.run_test(size=SIZE) as pilot:
        for _ in LETTERS:
            await pilot.press("space", "down")
        assert len(given(app).selected) == 26


async def test_letters_past_the_keys_stay_commands(take: Take, tmp_path: Path) -> None:
    app = take(bank(tmp_path, kind="single-choice", options=LETTERS))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("h")
        assert given(app) == Response(("o7",))
        await pilot.press("m")
        await pilot.pause()
        assert "marked" in grid(app)
        assert given(app) == Response(("o7",))


async def test_an_option_longer_than_the_screen_is_read_by_arrows(take: Take, tmp_path: Path) -> None:
    app = take(bank(tmp_path, kind="single-choice", options=LONG))
    async with app.run_test(size=SIZE) as pilot:
        seen = ""
        for _ in range(10):
            await pilot.pause()
            seen += grid(app)
            await pilot.press("down")
        assert all(f"word{n}" in seen for n in range(400))
        assert "B  second: word0" in seen
        await pilot.press("space")
        before = rows(app)
        await pilot.press("space")
        await pilot.pause()
        assert rows(app)[3:22] == before[3:22]  # choosing leaves the place where it is read


async def test_an_item_that_is_held_is_carried_a_page(take: Take, tmp_path: Path) -> None:
    app = take(bank(tmp_path, kind="ordering", options=LETTERS))
    async with app.run_test(size=SIZE) as pilot:
        taking = app.desk.taking
        assert taking is not None
        first = taking.sitting.option_order(0)[0]
        await pilot.press("space", "end", "space")
        assert given(app).selected[-1] == first


@pytest.mark.parametrize("size", [(40, 10), (140, 40)])
async def test_paging_ends_at_the_ends_at_every_size(
    take: Take, tmp_path: Path, size: tuple[int, int]
) -> None:
    app = take(bank(tmp_path, kind="single-choice", options=LETTERS))
    async with app.run_test(size=size) as pilot:
        await pilot.press(*["pagedown"] * 30, "space")
        assert given(app) == Response(("o25",))
        await pilot.press(*["pageup"] * 30, "space")
        assert given(app) == Response(("o0",))
