"""What stands on the screen, as text: compared with a file, without colours and fonts.

QUIZAPP_UPDATE_SNAPSHOTS=1 pytest tests/tui      writes the files anew; look at the diff before it is kept
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from textual.app import App
from textual.pilot import Pilot

FOLDER = Path(__file__).resolve().parent / "snapshots"


def grid(app: App[object]) -> str:
    """The screen on top with the windows over it, a line a row, blanks at the end of lines left out."""
    height = app.size.height
    rows = ["".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips()]
    assert len(rows) == height
    return "\n".join(row.rstrip() for row in rows) + "\n"


def rows(app: App[object]) -> list[str]:
    """The same, as a list."""
    return grid(app).split("\n")


def widths(app: App[object]) -> list[int]:
    """Cells of each row as drawn."""
    return [strip.cell_length for strip in app.screen._compositor.render_strips()]


async def until(pilot: Pilot[object], condition: Callable[[], bool]) -> None:
    """Let the app work until the condition holds; a test's time limit is pytest's."""
    for _ in range(1000):
        if condition():
            return
        await pilot.pause(0.01)
    raise AssertionError("the condition never came to hold")


def check(app: App[object], name: str) -> None:
    """The screen is as it was when somebody last looked at it."""
    shown = grid(app)
    path = FOLDER / f"{name}.txt"
    if os.environ.get("QUIZAPP_UPDATE_SNAPSHOTS"):
        path.write_text(shown, encoding="utf-8")
    assert path.exists(), f"{path} is missing: see tests/tui/tui_grid.py"
    assert shown == path.read_text(encoding="utf-8"), f"{name} has changed: see tests/tui/tui_grid.py"
