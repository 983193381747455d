"""The addresses of a question: shown whole, to copy or to save, never opened on this machine."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from quizapp.tui.render import Line, wrap
from quizapp.tui.screens.window import Window
from quizapp.tui.widgets.sheet import filled

Link = tuple[str, str]  # title, address


class LinksScreen(Window[None]):
    """Links with a cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "Close", id="links-close"),
        Binding("up,k", "move(-1)", "Up", id="links-up"),
        Binding("down,j", "move(1)", "Down", id="links-down"),
        Binding("y,enter", "copy", "Copy", id="links-copy"),
        Binding("s", "save", "Save to a file", id="links-save"),
        Binding("p", "print", "Print on exit", id="links-print"),
    ]

    def __init__(self, title: str, links: list[Link]) -> None:
        super().__init__()
        self._title, self._links = title, links
        self._cursor = 0
        self._rows: list[tuple[int, int]] = []

    def heading_lines(self, width: int) -> list[Line]:
        return [[(self._title, "strong")], []]

    def text_lines(self, width: int) -> list[Line]:
        if not self._links:
            return wrap([("This question names no addresses.", "muted")], width)
        lines: list[Line] = []
        self._rows = []
        for number, (title, address) in enumerate(self._links):
            focused = number == self._cursor
            start = len(lines)
            edge = (self.glyphs.cursor if focused else " ", "accent")
            head: Line = [edge, (f"{number + 1} ".rjust(4), "muted")]
            rest: Line = [edge, ("    ", "")]
            row = wrap([(title, "")], width, head, rest) if title else []
            row += wrap([(address, "address")], width, head if not title else rest, rest)
            lines += [filled(line, width, "row") if focused else line for line in row]
            self._rows.append((start, len(lines) - 1))
        return lines

    def hints(self) -> list[tuple[str, str]]:
        return [("y", "copy"), ("s", "save to a file"), ("p", "print on exit"), ("Esc", "close")]

    def action_move(self, steps: int) -> None:
        """Move among the links."""
        target = self._cursor + steps
        if 0 <= target < len(self._links):
            self._cursor = target
            self.redraw()
            self.text.bring_into_view(*self._rows[target])

    def _all(self) -> str:
        return "\n".join(f"{title}  {address}".strip() for title, address in self._links)

    def action_close(self) -> None:
        """Close."""
        self.dismiss(None)

    def action_copy(self) -> None:
        """Copy the address under the cursor."""
        if self._links:
            self.quiz.offer_copy(self._links[self._cursor][1])

    def action_save(self) -> None:
        """Write all addresses to a file."""
        if self._links:
            self.quiz.save_text("links", self._all())

    def action_print(self) -> None:
        """Print all addresses once the screen is given back."""
        if self._links:
            self.quiz.print_on_exit(self._all())
