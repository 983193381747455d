"""The live strip on screen: a row a device, numbers in the row, the time axis below."""

from __future__ import annotations

from quizapp.tui.glyphs import Glyphs
from quizapp.tui.render import Line, width_of
from quizapp.tui.strip_state import SHOWN_IN_A_WORD, SHOWN_IN_WORDS, StripState, axis, row
from quizapp.tui.widgets.sheet import Sheet

GIB = 1 << 30
_MIN_COLUMNS = 8

_Number = tuple[str, int]  # heading, cells


class StripView(Sheet):
    """Draws a StripState; the screen calls `redraw` a few times a second."""

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._state: StripState | None = None
        self._label = "dev"
        self._cuda = False

    def show_state(self, state: StripState, *, cuda: bool, known: bool) -> None:
        """Show a run's strip. Emulated and real devices never share a label."""
        changed = self._state is None or self._state.devices != state.devices
        self._state = state
        self._cuda = cuda
        self._label = "GPU" if cuda else "emu" if known else "dev"
        if changed:
            self.show(self._draw)
        else:
            self.redraw()

    def redraw(self) -> None:
        """Draw what has come since."""
        self._laid_out = None
        self.refresh()

    def _numbers(self, width: int) -> list[_Number]:
        numbers: list[_Number] = [("now%", 5), ("mean%", 6), ("zero s", 7), ("GiB", 6), ("W", 5)]
        dropped = ["zero s", "mean%", "W", "GiB"]
        while sum(cells for _, cells in numbers) + 6 + 2 * _MIN_COLUMNS > width and dropped:
            name = dropped.pop(0)
            numbers = [number for number in numbers if number[0] != name]
        return numbers

    def _draw(self, width: int) -> list[Line]:
        state, glyphs = self._state, self._glyphs
        if state is None:
            return []
        numbers = self._numbers(width)
        label_width = width_of(f"{self._label}{state.devices - 1} ")
        columns = max(_MIN_COLUMNS, width - label_width - sum(cells for _, cells in numbers) - 1)
        per_column = state.seconds_per_column(columns)
        words = SHOWN_IN_WORDS[state.shown]
        if len(words) > columns:
            words = SHOWN_IN_A_WORD[state.shown]
        head = f"{'':{label_width}}{words}"
        lines: list[Line] = [
            [
                (head[: label_width + columns].ljust(label_width + columns + 1), "strong"),
                *((name.rjust(cells), "muted") for name, cells in numbers),
            ]
        ]
        for device, values in enumerate(state.columns(columns)):
            line: Line = [(f"{self._label}{device}".ljust(label_width), "")]
            line += row(values, glyphs)
            line.append((" ", ""))
            line += [(self._number(name, device).rjust(cells), "") for name, cells in numbers]
            lines.append(line)
        caption = f" device s, {per_column:g} a column"
        room = max(0, width - label_width - columns)
        lines.append(
            [
                (" " * label_width, ""),
                (axis(columns, per_column, glyphs), "frame"),
                (caption if len(caption) <= room else " device s"[:room], "muted"),
            ]
        )
        return lines

    def _number(self, name: str, device: int) -> str:
        state = self._state
        if state is None:
            return ""
        missing = self._glyphs.dash
        if name == "now%":
            return _percent(state.now(device), missing)
        if name == "mean%":
            return _percent(state.mean(device), missing)
        if name == "zero s":
            zero = state.longest_zero_s(device)
            return missing if zero is None else f"{zero:.1f}"
        if name == "GiB":
            memory = state.memory_bytes[device]
            return missing if memory is None else f"{memory / GIB:.1f}"
        power = state.power_w[device]
        return missing if power is None else f"{power:.0f}"


def _percent(value: float | None, missing: str) -> str:
    return missing if value is None else f"{value * 100:.0f}"
