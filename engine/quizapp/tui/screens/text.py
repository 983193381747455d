"""A text that fills most of the screen: a program's source, a bank's errors, a comparison, the keys."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from quizapp.tui.render import Line, wrap
from quizapp.tui.screens.window import Window
from quizapp.tui.widgets.sheet import Build


class TextScreen(Window[None]):
    """`plain` is the same text to copy or to print; without it, there is only reading."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,enter", "close", "Close", id="close"),
        Binding("up,k", "scroll(-1)", "Up", id="text-up"),
        Binding("down,j", "scroll(1)", "Down", id="text-down"),
        Binding("pageup", "page(-1)", "Page up", id="text-page-up"),
        Binding("pagedown,space", "page(1)", "Page down", id="text-page-down"),
        Binding("home", "page(-9999)", "Top", id="text-home"),
        Binding("end", "page(9999)", "End", id="text-end"),
        Binding("y", "copy", "Copy", id="text-copy"),
        Binding("p", "print", "Print on exit", id="text-print"),
    ]

    def __init__(self, title: str, build: Build, *, plain: str = "") -> None:
        super().__init__()
        self._title, self._build, self._plain = title, build, plain

    def heading_lines(self, width: int) -> list[Line]:
        return [*wrap([(self._title, "strong")], width), []]

    def text_lines(self, width: int) -> list[Line]:
        return self._build(width)

    def hints(self) -> list[tuple[str, str]]:
        keys = [(self.glyphs.up_down, "scroll")]
        if self._plain:
            keys += [("y", "copy"), ("p", "print on exit")]
        return [*keys, ("Esc", "close")]

    def action_close(self) -> None:
        """Close."""
        self.dismiss(None)

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self.text.scroll_to(y=self.text.scroll_offset.y + lines, animate=False)

    def action_page(self, pages: int) -> None:
        """Scroll by pages."""
        self.text.scroll_pages(pages)

    def action_copy(self) -> None:
        """Copy the text."""
        if self._plain:
            self.quiz.offer_copy(self._plain)

    def action_print(self) -> None:
        """Print the text once the screen is given back."""
        if self._plain:
            self.quiz.print_on_exit(self._plain)
