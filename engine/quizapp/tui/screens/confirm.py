"""A question to the user, and a text to be read: the two modal screens that everything else uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.screen import ModalScreen

from quizapp.tui.render import Line, wrap
from quizapp.tui.widgets.sheet import Build, Sheet

if TYPE_CHECKING:
    from quizapp.tui.app import QuizApp


class ConfirmScreen(ModalScreen[bool]):
    """Asks; `y` or Enter on a harmless question says yes, Esc and `n` say no."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes", id="yes"),
        Binding("n,escape,q", "answer(False)", "No", id="no"),
        Binding("enter", "enter", "OK", id="ok"),
        Binding("up,k", "scroll(-1)", "Scroll", id="confirm-up"),
        Binding("down,j", "scroll(1)", "Scroll", id="confirm-down"),
    ]

    def __init__(self, title: str, text: str, *, yes: str, no: str, harmless: bool = False) -> None:
        super().__init__()
        self._title, self._text, self._yes, self._no = title, text, yes, no
        self._harmless = harmless

    def compose(self) -> ComposeResult:
        with Container(classes="window -small"):
            yield Sheet(self._build, id="text")

    def _build(self, width: int) -> list[Line]:
        lines = wrap([(self._title, "strong")], width)
        lines += [[], *wrap([(self._text, "")], width), []]
        if self._no:
            lines += wrap([("y", "key"), (f" {self._yes}    ", ""), ("Esc", "key"), (f" {self._no}", "")], width)
        else:
            lines.append([("Esc", "key"), (f" {self._yes}", "")])
        return lines

    def action_answer(self, answer: bool) -> None:
        """The answer."""
        self.dismiss(answer)

    def action_enter(self) -> None:
        """Enter says yes only where nothing can be lost by it."""
        if self._harmless or not self._no:
            self.dismiss(True)

    def action_scroll(self, lines: int) -> None:
        """Scroll a long text."""
        sheet = self.query_one(Sheet)
        sheet.scroll_to(y=sheet.scroll_offset.y + lines, animate=False)


class TextScreen(ModalScreen[None]):
    """A text that fills most of the screen: a program's source, a bank's errors, the keys."""

    AUTO_FOCUS = ""
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

    def compose(self) -> ComposeResult:
        window = Container(classes="window -large")
        glyphs = cast("QuizApp", self.app).glyphs
        hint = f"{glyphs.up_down} PgUp PgDn scroll"
        if self._plain:
            hint += f" {glyphs.dot} y copy {glyphs.dot} p print on exit"
        with window:
            yield Sheet(lambda width: [[(self._title, "strong")], []], id="heading")
            yield Sheet(self._build, id="text")
            yield Sheet(lambda width: [[], [(f"{hint} {glyphs.dot} Esc close", "muted")]], id="hint")

    def action_close(self) -> None:
        """Close."""
        self.dismiss(None)

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        sheet = self.query_one("#text", Sheet)
        sheet.scroll_to(y=sheet.scroll_offset.y + lines, animate=False)

    def action_page(self, pages: int) -> None:
        """Scroll by pages."""
        self.query_one("#text", Sheet).scroll_pages(pages)

    def action_copy(self) -> None:
        """Copy the text."""
        if self._plain:
            cast("QuizApp", self.app).offer_copy(self._plain)

    def action_print(self) -> None:
        """Print the text once the screen is given back."""
        if self._plain:
            cast("QuizApp", self.app).print_on_exit(self._plain)
