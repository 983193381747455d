"""A question before something is lost."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from quizapp.tui.render import Line, wrap
from quizapp.tui.screens.window import Window


class ConfirmScreen(Window[bool]):
    """Only `y` says yes; Esc, `n` and Enter keep everything as it is."""

    SIZE = "-small"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes", id="yes"),
        Binding("n,escape,q,enter", "answer(False)", "No", id="no"),
        Binding("up,k", "scroll(-1)", "Scroll", id="confirm-up"),
        Binding("down,j", "scroll(1)", "Scroll", id="confirm-down"),
    ]

    def __init__(self, title: str, text: str, *, yes: str, no: str) -> None:
        super().__init__()
        self._title, self._words, self._yes, self._no = title, text, yes, no

    def heading_lines(self, width: int) -> list[Line]:
        return [*wrap([(self._title, "strong")], width), []]

    def text_lines(self, width: int) -> list[Line]:
        return wrap([(self._words, "")], width)

    def hints(self) -> list[tuple[str, str]]:
        return [("y", self._yes), ("Esc", self._no)]

    def action_answer(self, answer: bool) -> None:
        """The answer."""
        self.dismiss(answer)

    def action_scroll(self, lines: int) -> None:
        """Scroll a long text."""
        self.text.scroll_to(y=self.text.scroll_offset.y + lines, animate=False)
