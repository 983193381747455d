"""The demo's parameters: typed, with their ranges; what is not allowed is said at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import Binding, BindingType

from quizapp.bank.text import visible
from quizapp.tui.render import Line, wrap
from quizapp.tui.screens.window import Window
from quizapp.tui.widgets.sheet import filled

if TYPE_CHECKING:
    from quizapp.lab.catalogue import DemoDeclaration


class ParametersScreen(Window["dict[str, str] | None"]):
    """Gives the parameters that differ from the variant's own, or None when nothing is to change."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Up", id="param-up"),
        Binding("down,tab", "move(1)", "Down", id="param-down"),
        Binding("left", "turn(-1)", "Less", id="param-less"),
        Binding("right", "turn(1)", "More", id="param-more"),
        Binding("enter", "run", "Run", id="param-run"),
        Binding("escape", "back", "Back", id="param-back"),
    ]

    def __init__(self, demo: DemoDeclaration, variant: str, params: Mapping[str, str]) -> None:
        super().__init__()
        real = variant if variant in demo.variants else demo.variants[0]
        self._demo = demo
        self._own = {name: _text(value) for name, value in demo.resolve(real, {}).items()}
        self._texts = {name: params.get(name, own) for name, own in self._own.items()}
        self._names = list(self._texts)
        self._cursor = 0
        self._rows: list[tuple[int, int]] = []

    def heading_lines(self, width: int) -> list[Line]:
        return [[(f"Parameters of {self._demo.name}", "strong")], []]

    def text_lines(self, width: int) -> list[Line]:
        if not self._names:
            return wrap([("This demo has no parameters.", "muted")], width)
        lines: list[Line] = []
        self._rows = []
        column = max(len(name) for name in self._names) + 2
        for number, name in enumerate(self._names):
            declaration = self._demo.params[name]
            focused = number == self._cursor
            start = len(lines)
            edge = (self.glyphs.cursor if focused else " ", "accent")
            text = visible(self._texts[name]) + ("_" if focused else "")
            changed = self._texts[name] != self._own[name]
            unit = f" {declaration.unit}" if declaration.unit and declaration.type in ("int", "float") else ""
            row: list[Line] = [
                [
                    edge,
                    (name.ljust(column), ""),
                    (text, "key" if changed else "strong"),
                    (visible(unit), "muted"),
                ]
            ]
            if focused:
                rest: Line = [edge, (" " * 2, "")]
                row += wrap([(visible(declaration.help), "muted")], width, rest) if declaration.help else []
                row += wrap([(visible(f"allowed: {declaration.allowed()}"), "muted")], width, rest)
                problem = self._demo.check_param(name, self._texts[name])
                row += wrap([(visible(problem), "wrong")], width, rest) if problem else []
            lines += [filled(line, width, "row") if focused else line for line in row]
            self._rows.append((start, len(lines) - 1))
        return lines

    def hints(self) -> list[tuple[str, str]]:
        turn = "left right" if self.glyphs.enter == "Enter" else "← →"
        return [("0-9 a-z", "type a value"), (turn, "choose"), (self.glyphs.enter, "run"), ("Esc", "back")]

    def _redraw(self) -> None:
        self.redraw()
        if self._rows:
            self.text.bring_into_view(*self._rows[self._cursor])

    def on_key(self, event: events.Key) -> None:
        if not self._names:
            return
        name = self._names[self._cursor]
        if event.key == "backspace":
            self._texts[name] = self._texts[name][:-1]
        elif event.character is not None and event.is_printable and len(self._texts[name]) < 60:
            self._texts[name] += event.character
        else:
            return
        event.stop()
        event.prevent_default()
        self._redraw()

    def action_move(self, steps: int) -> None:
        """Move among the parameters."""
        self._cursor = min(max(self._cursor + steps, 0), max(len(self._names) - 1, 0))
        self._redraw()

    def action_turn(self, steps: int) -> None:
        """The next allowed value."""
        if not self._names:
            return
        name = self._names[self._cursor]
        declaration = self._demo.params[name]
        text = self._texts[name]
        if declaration.type in ("choice", "bool"):
            values = list(declaration.choices) if declaration.type == "choice" else ["false", "true"]
            place = values.index(text) if text in values else 0
            self._texts[name] = values[(place + steps) % len(values)]
        elif declaration.type == "int":
            turned = str(int(text) + steps) if text.lstrip("-").isdecimal() else text
            if self._demo.check_param(name, turned):
                return
            self._texts[name] = turned
        self._redraw()

    def action_run(self) -> None:
        """Run with these values."""
        wrong = next((name for name in self._names if self._demo.check_param(name, self._texts[name])), None)
        if wrong is not None:
            self._cursor = self._names.index(wrong)
            self._redraw()
            return
        self.dismiss({name: text for name, text in self._texts.items() if text != self._own[name]})

    def action_back(self) -> None:
        """Change nothing."""
        self.dismiss(None)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
