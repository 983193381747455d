"""The keys that matter now, at most seven, on the last line of a screen."""

from __future__ import annotations

from textual import events
from textual.geometry import Size

from quizapp.tui.render import Line, width_of
from quizapp.tui.widgets.painted import Painted

MOST_KEYS = 7

Key = tuple[str, str, str]  # key to press, how it is written, what it does


class KeyBar(Painted, can_focus=False):
    """Shows keys with what they do; a click presses the key.

    Keys that find no room are dropped from the right, except the last one, which tells all the others.
    """

    def __init__(self) -> None:
        super().__init__()
        self._keys: tuple[Key, ...] = ()
        self._places: list[tuple[int, int, str]] = []

    @property
    def keys(self) -> tuple[Key, ...]:
        """The keys as given."""
        return self._keys

    def show(self, *keys: Key) -> None:
        """Show these keys, the most useful first, the one that explains the rest last."""
        if len(keys) > MOST_KEYS:
            raise ValueError(f"a key bar shows {MOST_KEYS} keys at most")
        if keys != self._keys:
            self._keys = keys
            self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return 1

    def content_lines(self, numbers: range, width: int) -> list[Line]:
        return [self._line(width) if number == 0 else [] for number in numbers]

    def _line(self, width: int) -> Line:
        gap = 3 if sum(_size(key) for key in self._keys) + 3 * len(self._keys) <= width else 2
        shown = list(self._keys)
        while len(shown) > 1 and sum(_size(key) for key in shown) + gap * (len(shown) - 1) > width:
            del shown[-2]
        line: Line = []
        self._places = []
        used = 0
        for key, sign, label in shown:
            if line:
                line.append((" " * gap, ""))
                used += gap
            line += [(f"{sign} ", "key"), (label, "")]
            self._places.append((used, used + width_of(f"{sign} {label}"), key))
            used += width_of(f"{sign} {label}")
        return line

    def on_click(self, event: events.Click) -> None:
        for start, end, key in self._places:
            if start <= event.x - self.styles.padding.left < end:
                event.stop()
                self.app.simulate_key(key)


def _size(key: Key) -> int:
    return width_of(f"{key[1]} {key[2]}")
