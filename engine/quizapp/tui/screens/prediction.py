"""What will the demo show? Asked before it runs, so that there is something to be surprised by."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType

from quizapp.tui.lab_state import DIAGNOSES, NOT_SAID
from quizapp.tui.render import Line, wrap
from quizapp.tui.screens.window import Window
from quizapp.tui.widgets.sheet import filled

_NAME_WIDTH = 15


class PredictionScreen(Window[str]):
    """Gives a diagnosis, NOT_SAID, or "" when the lab is to be left."""

    SIZE = "-small"
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(str(number + 1), f"say({number})", "Predict", id=f"predict-{number + 1}")
            for number in range(len(DIAGNOSES))
        ),
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

    def heading_lines(self, width: int) -> list[Line]:
        return [*wrap([(f"What will {self._what} show?", "strong")], width), []]

    def text_lines(self, width: int) -> list[Line]:
        lines: list[Line] = []
        self._rows = []
        for number, (name, words) in enumerate(DIAGNOSES.items()):
            focused = number == self._cursor
            start = len(lines)
            edge = (self.glyphs.cursor if focused else " ", "accent")
            head: Line = [edge, (f"{number + 1} ", "key"), (name.ljust(_NAME_WIDTH), "strong")]
            rest: Line = [edge, (" " * (2 + _NAME_WIDTH), "")]
            row = wrap([(words, "muted")], width, head, rest)
            lines += [filled(line, width, "row") if focused else line for line in row]
            self._rows.append((start, len(lines) - 1))
        return lines

    def hints(self) -> list[tuple[str, str]]:
        return [(self.glyphs.enter, "predict"), ("s", "skip"), ("Esc", "back")]

    def action_move(self, steps: int) -> None:
        """Move the cursor."""
        self._cursor = min(max(self._cursor + steps, 0), len(DIAGNOSES) - 1)
        self.redraw()
        self.text.bring_into_view(*self._rows[self._cursor])

    def on_click(self, event: events.Click) -> None:
        if event.widget is not self.text:
            return
        number = self.text.line_at(event.get_content_offset_capture(self.text))
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
