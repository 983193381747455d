"""Lines that widgets paint themselves are those that Textual would paint, cell by cell, colour by colour."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from rich.style import Style
from textual.filter import Monochrome
from textual.geometry import Region
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget
from tui_fakes import SIGNS

from quizapp.tui.app import QuizApp
from quizapp.tui.desk import Desk
from quizapp.tui.widgets.key_bar import KeyBar
from quizapp.tui.widgets.listing import Listing
from quizapp.tui.widgets.painted import MOST_PAINTED, Backdrop, Painted, is_plain
from quizapp.tui.widgets.sheet import Sheet

SIZES = [(80, 24), (140, 40), (60, 15)]


def cells(strip: Strip) -> list[tuple[object, ...]]:
    """Each character with what is seen of its style; the offsets for the mouse are not seen."""
    shown: list[tuple[object, ...]] = []
    for text, style, _ in strip:
        look = style or Style.null()
        for char in text:
            lines = bool(look.reverse), bool(look.underline), look.bgcolor
            # Nothing is seen of a blank's ink.
            shown.append((char, *lines, *((look.color, bool(look.bold)) if char != " " else ())))
    return shown


def assert_as_textual_paints(widget: Widget) -> None:
    region = Region(0, 0, *widget.outer_size)
    for crop in (region, Region(1, 1, max(1, region.width - 3), max(1, region.height - 2))):
        crop = crop.intersection(region)
        mine = widget.render_lines(crop)
        widget._styles_cache.clear()
        theirs = widget._styles_cache.render_widget(widget, crop)
        assert [cells(strip) for strip in mine] == [cells(strip) for strip in theirs], widget
        assert all(strip.cell_length == crop.width for strip in mine)


def painted_widgets(app: QuizApp) -> list[Widget]:
    widgets = [
        widget
        for widget in app.screen.walk_children(with_self=True)
        if isinstance(widget, Painted | Backdrop) and widget.region.area and is_plain(widget)
    ]
    if not app.screen.is_modal:
        assert any(isinstance(widget, Sheet) for widget in widgets)
        assert any(isinstance(widget, KeyBar) for widget in widgets)
    return widgets


@pytest.mark.parametrize("size", SIZES)
async def test_every_screen_is_painted_as_textual_paints_it(
    desk: Desk, size: tuple[int, int], take: Callable[[Path], QuizApp]
) -> None:
    app = take(SIGNS)
    async with app.run_test(size=size) as pilot:
        seen = [type(app.screen).__name__]
        for key in (
            "down",
            "1",
            "enter",
            "2",
            "3",
            "4",
            "r",
            "s",
            "escape",
            "escape",
            "l",
            "end",
            "t",
            "y",
            "escape",
        ):
            for widget in painted_widgets(app):
                assert_as_textual_paints(widget)
            await pilot.press(key)
            await pilot.pause()
            seen.append(type(app.screen).__name__)
        for widget in painted_widgets(app):
            assert_as_textual_paints(widget)
    assert list(dict.fromkeys(seen)) == [
        "QuestionScreen",
        "RevealScreen",
        "PredictionScreen",
        "LabScreen",
        "OverviewScreen",
        "ConfirmScreen",
        "ResultsScreen",
        "PickerScreen",
    ]


@pytest.mark.parametrize("size", SIZES)
async def test_without_colours_lines_are_painted_as_textual_paints_them(
    sitting_app: QuizApp, size: tuple[int, int]
) -> None:
    async with sitting_app.run_test(size=size) as pilot:
        sitting_app._filters.append(Monochrome())
        sitting_app.refresh()
        await pilot.pause()
        for widget in painted_widgets(sitting_app):
            assert_as_textual_paints(widget)
            for strip in widget.render_lines(Region(0, 0, *widget.outer_size)):
                for _, style, _ in strip:
                    color = style.color.triplet if style and style.color and style.color.triplet else None
                    assert color is None or color.red == color.green == color.blue


async def test_what_was_selected_with_the_mouse_is_marked_and_copied(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=(80, 24)) as pilot:
        stem = sitting_app.screen.query_one("#stem", Sheet)
        before = [cells(strip) for strip in stem.render_lines(Region(0, 0, *stem.outer_size))]
        row = next(y for y, line in enumerate(stem.lines) if line) + stem.styles.padding.top
        await pilot.mouse_down(stem, offset=(1, row))
        await pilot.hover(stem, offset=(6, row))
        await pilot.mouse_up(stem, offset=(6, row))
        await pilot.pause()
        assert isinstance(stem.text_selection, Selection)
        after = [cells(strip) for strip in stem.render_lines(Region(0, 0, *stem.outer_size))]
        assert [y for y in range(len(after)) if after[y] != before[y]] == [row]
        text = "".join(text for text, _ in stem.lines[row - stem.styles.padding.top])
        copied = sitting_app.screen.get_selected_text()
        assert copied
        assert text.startswith(copied)
        assert_as_textual_paints(stem)


async def test_a_line_that_stays_keeps_its_strip_and_one_that_changes_does_not(desk: Desk) -> None:
    app = QuizApp(desk, "picker")
    async with app.run_test(size=(80, 24)) as pilot:
        listing = Listing(app.glyphs)
        await app.screen.mount(listing)
        words = ["one", "two", "three"]
        listing.show_rows(3, lambda index, width: [(words[index], "")], cursor=0)
        await pilot.pause()
        region = Region(0, 0, *listing.outer_size)
        before = listing.render_lines(region)
        words[1] = "other"
        after = listing.render_lines(region)
        assert after[0] is before[0]
        assert "two" in before[1].text
        assert "other" in after[1].text
        assert after[2] is before[2]


async def test_scrolling_through_ten_thousand_rows_keeps_a_bounded_number_of_them(desk: Desk) -> None:
    app = QuizApp(desk, "picker")
    async with app.run_test(size=(80, 24)) as pilot:
        listing = Listing(app.glyphs)
        await app.screen.mount(listing)
        listing.show_rows(10_000, lambda index, width: [(f"row {index}", "")], cursor=0)
        await pilot.pause()
        region = Region(0, 0, *listing.outer_size)
        for top in range(0, 9_000, region.height):
            listing.scroll_to(y=top, animate=False, immediate=True)
            assert f"row {top + 1}" in listing.render_lines(region)[1].text
        assert len(listing.frame().painted) <= MOST_PAINTED


@pytest.mark.parametrize("theme", ["textual-light", "ansi-dark"])
async def test_another_theme_and_another_ground_are_painted_at_once(sitting_app: QuizApp, theme: str) -> None:
    async with sitting_app.run_test(size=(140, 40)) as pilot:
        sitting_app.theme = theme
        await pilot.pause()
        for widget in painted_widgets(sitting_app):
            assert_as_textual_paints(widget)
        body, stem = sitting_app.screen.query_one("#body"), sitting_app.screen.query_one("#stem")
        body.styles.background = "darkred"
        await pilot.pause()
        above = Region(0, 0, stem.outer_size.width, stem.styles.padding.top)
        assert above.height
        stem._styles_cache.clear()
        theirs = stem._styles_cache.render_widget(stem, above)
        assert [cells(strip) for strip in stem.render_lines(above)] == [cells(strip) for strip in theirs]
        body.styles.opacity = 0.5
        await pilot.pause()
        assert not is_plain(stem)
        assert_as_textual_paints(stem)


async def test_a_border_a_tint_and_opacity_are_left_to_textual(sitting_app: QuizApp) -> None:
    async with sitting_app.run_test(size=(80, 24)) as pilot:
        stem = sitting_app.screen.query_one("#stem", Sheet)
        for rule, value in (
            ("border", ("round", "red")),
            ("outline", ("heavy", "red")),
            ("tint", "red 40%"),
            ("opacity", 0.5),
            ("text_opacity", 0.5),
            ("border_right", ("vkey", "red")),
        ):
            assert is_plain(stem)
            setattr(stem.styles, rule, value)
            await pilot.pause()
            assert not is_plain(stem), rule
            assert_as_textual_paints(stem)
            stem.styles.clear_rule(rule)
            for side in ("top", "right", "bottom", "left"):
                for kind in ("border", "outline"):
                    stem.styles.clear_rule(f"{kind}_{side}")
            await pilot.pause()
