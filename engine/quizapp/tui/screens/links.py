"""The addresses of a question: shown whole, to copy or to save, never opened on the machine that runs quizapp."""

from __future__ import annotations

from typing import ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.screen import ModalScreen

from quizapp.tui.render import Line, wrap
from quizapp.tui.widgets.sheet import Sheet, filled

Link = tuple[str, str]  # title, address


class LinksScreen(ModalScreen[None]):
    """Links with a cursor."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "Close", id="links-close"),
        Binding("up,k", "move(-1)", "Up", id="links-up"),
        Binding("down,j", "move(1)", "Down", id="links-down"),
        Binding("y,enter", "copy", "Copy", id="links-copy"),
        Binding("s", "save", "Save to a file", id="links-save"),
        Binding("p", "print", "Print on exit", id="links-print"),
    ]

    def __init__(self, title: str, links: list[Link], *, start_at: int = 0) -> None:
        super().__init__()
        self._title, self._links = title, links
        self._cursor = start_at
        self._rows: list[tuple[int, int]] = []

    def compose(self) -> ComposeResult:
        from quizapp.tui.app import QuizApp

        self._glyphs = cast(QuizApp, self.app).glyphs
        dot = self._glyphs.dot
        hint = f"y copy {dot} s save to a file {dot} p print on exit {dot} Esc close"
        with Container(classes="window -large"):
            yield Sheet(lambda width: [[(self._title, "strong")], []], id="heading")
            yield Sheet(self._build, id="text")
            yield Sheet(lambda width: [[], *wrap([(hint, "muted")], width)], id="hint")

    def _build(self, width: int) -> list[Line]:
        if not self._links:
            return wrap([("This question names no addresses.", "muted")], width)
        lines: list[Line] = []
        self._rows = []
        for number, (title, address) in enumerate(self._links):
            focused = number == self._cursor
            start = len(lines)
            edge = (self._glyphs.cursor if focused else " ", "accent")
            head: Line = [edge, (f"{number + 1} ".rjust(4), "muted")]
            rest: Line = [edge, ("    ", "")]
            row = wrap([(title, "")], width, head, rest) if title else []
            row += wrap([(address, "address")], width, head if not title else rest, rest)
            lines += [filled(line, width, "row") if focused else line for line in row]
            self._rows.append((start, len(lines) - 1))
        return lines

    def action_move(self, steps: int) -> None:
        """Move among the links."""
        target = self._cursor + steps
        if 0 <= target < len(self._links):
            self._cursor = target
            sheet = self.query_one("#text", Sheet)
            sheet.show(self._build, keep_place=True)
            sheet.bring_into_view(*self._rows[target])

    def _all(self) -> str:
        return "\n".join(f"{title}  {address}".strip() for title, address in self._links)

    def action_close(self) -> None:
        """Close."""
        self.dismiss(None)

    def action_copy(self) -> None:
        """Copy the address under the cursor."""
        from quizapp.tui.app import QuizApp

        if self._links:
            cast(QuizApp, self.app).offer_copy(self._links[self._cursor][1])

    def action_save(self) -> None:
        """Write all addresses to a file."""
        from quizapp.tui.app import QuizApp

        if self._links:
            cast(QuizApp, self.app).save_text("links", self._all())

    def action_print(self) -> None:
        """Print all addresses once the screen is given back."""
        from quizapp.tui.app import QuizApp

        if self._links:
            cast(QuizApp, self.app).print_on_exit(self._all())
