"""The cheat sheet: every key of the screen it was asked on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quizapp.tui.render import Line, width_of, wrap
from quizapp.tui.screens.text import TextScreen

if TYPE_CHECKING:
    from quizapp.tui.screens.base import QuizScreen


def keys_screen(screen: QuizScreen) -> TextScreen:
    """The keys of a screen, in a window of their own."""
    rows = screen.key_rows()

    def build(width: int) -> list[Line]:
        column = min(max(width_of(keys) for keys, _ in rows), max(8, width // 2))
        lines: list[Line] = []
        for keys, text in rows:
            lines += wrap([(text, "")], width, [(keys.ljust(column), "key"), ("  ", "")])
        return lines

    return TextScreen(f"Keys {screen.glyphs.dash} {screen.HELP_TITLE}", build)
