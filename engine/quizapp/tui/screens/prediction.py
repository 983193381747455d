"""What will the demo show? Asked before it runs, so that there is something to be surprised by."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.screen import ModalScreen

from quizapp.tui.lab_state import DIAGNOSES, NOT_SAID
from quizapp.tui.render import Line, wrap
from quizapp.tui.widgets.sheet import Sheet, filled

if TYPE_CHECKING:
    from quizapp.tui.app import QuizApp


class PredictionScreen(ModalScreen[str]):
    """Gives a diagnosis, NOT_SAID, or "" when the lab is to be left."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(number + 1), f"say({number})", "Predict", id=f"predict-{number + 1}") for number in range(len(DIAGNOSES))),
        Binding("up,k", "move(-1)", "Up", id="predict-up"),
        Binding("down,j", "move(1)", "Down", id="predict-down"),
        Binding("enter,space", "say_focused", "Predict", id="predict"),
        Binding("s", "skip", "Skip", id="predict-skip"),
        Binding("escape", "back", "Back", id="predict-back"),
    ]

    def __init__(self, what: str) -> None:
        super().__init__()
        self._what = what
        self._cursor = 0
        self._rows: list[tuple[int, int]] = []

    def compose(self) -> ComposeResult:
        with Container(classes="window -small"):
            yield Sheet(self._build, id="text")

    def _build(self, width: int) -> list[Line]:
        glyphs = cast("QuizApp", self.app).glyphs
        lines = wrap([(f"What will {self._what} show?", "strong")], width)
        lines.append([])
        self._rows = []
        for number, (name, words) in enumerate(DIAGNOSES.items()):
            focused = number == self._cursor
            start = len(lines)
            edge = (glyphs.cursor if focused else " ", "accent")
            head: Line = [edge, (f"{number + 1} ", "key")]
            rest: Line = [edge, ("  ", "")]
            row = wrap([(f"{name:<14}", "strong"), (words, "muted")], width, head, [*rest, (" " * 14, "")])
            lines += [filled(line, width, "row") if focused else line for line in row]
            self._rows.append((start, len(lines) - 1))
        lines.append([])
        lines += wrap(
            [(glyphs.enter, "key"), (" predict   ", "muted"), ("s", "key"), (" skip   ", "muted"), ("Esc", "key"), (" back", "muted")],
            width,
        )
        return lines

    def action_move(self, steps: int) -> None:
        """Move the cursor."""
        self._cursor = min(max(self._cursor + steps, 0), len(DIAGNOSES) - 1)
        sheet = self.query_one(Sheet)
        sheet.show(self._build, keep_place=True)
        sheet.bring_into_view(*self._rows[self._cursor])

    def on_click(self, event: events.Click) -> None:
        sheet = self.query_one(Sheet)
        if event.widget is not sheet:
            return
        number = sheet.line_at(event.get_content_offset_capture(sheet))
        for index, (first, last) in enumerate(self._rows):
            if first <= number <= last:
                self.action_say(index)

    def action_say(self, number: int) -> None:
        """Predict."""
        self.dismiss(list(DIAGNOSES)[number])

    def action_say_focused(self) -> None:
        """Predict what is under the cursor."""
        self.action_say(self._cursor)

    def action_skip(self) -> None:
        """Run without a prediction."""
        self.dismiss(NOT_SAID)

    def action_back(self) -> None:
        """Leave the lab."""
        self.dismiss("")
