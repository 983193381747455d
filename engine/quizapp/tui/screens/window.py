"""Windows over a screen: a heading, a text that scrolls, a line of hints that is always in view."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeVar, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.screen import ModalScreen

from quizapp.tui.render import Line, wrap
from quizapp.tui.widgets.sheet import Sheet

if TYPE_CHECKING:
    from quizapp.tui.app import QuizApp
    from quizapp.tui.glyphs import Glyphs

Answer = TypeVar("Answer")

_LEAST_TEXT = 3


class Window(ModalScreen[Answer]):
    """A modal window; subclasses give its three parts and its keys."""

    AUTO_FOCUS = ""
    CSS_PATH = "../later.tcss"
    SIZE: ClassVar[str] = "-large"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "app.leave", "Quit", show=False),
    ]

    def compose(self) -> ComposeResult:
        with Container(classes=f"window {self.SIZE}"):
            yield Sheet(self.heading_lines, id="heading")
            yield Sheet(self.text_lines, id="text")
            yield Sheet(self._hint_lines, id="hint")

    @property
    def quiz(self) -> QuizApp:
        """The app, typed."""
        return cast("QuizApp", self.app)

    @property
    def glyphs(self) -> Glyphs:
        """The signs that this terminal can show."""
        return self.quiz.glyphs

    @property
    def text(self) -> Sheet:
        """The part that scrolls."""
        return self.query_one("#text", Sheet)

    def heading_lines(self, width: int) -> list[Line]:
        """What stands on top."""
        raise NotImplementedError

    def text_lines(self, width: int) -> list[Line]:
        """What can be scrolled."""
        raise NotImplementedError

    def hints(self) -> list[tuple[str, str]]:
        """Keys and what they do, for the last line."""
        return []

    def _hint_lines(self, width: int) -> list[Line]:
        line: Line = []
        for key, words in self.hints():
            line += [(f"{key} ", "key"), (f"{words}   ", "muted")]
        return [[], *wrap(line, width)] if line else []

    def on_resize(self, event: events.Resize) -> None:
        self.fit()

    def fit(self) -> None:
        """The text gets what heading and hints leave of the screen."""
        window = self.query_one(".window")
        window.set_class(self.app.size.height < 16, "-tight")
        frame = 2 if window.has_class("-tight") else 4
        around = sum(len(self.query_one(f"#{name}", Sheet).lines) for name in ("heading", "hint"))
        self.text.styles.max_height = max(_LEAST_TEXT, self.app.size.height - frame - around)

    def redraw(self) -> None:
        """Lay the text out anew, where it stands."""
        self.text.show(self.text_lines, keep_place=True)
