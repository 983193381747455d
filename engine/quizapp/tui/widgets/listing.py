"""A list of one-line rows with a cursor; only the rows in view are ever built."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from quizapp.tui.glyphs import Glyphs
from quizapp.tui.render import Line
from quizapp.tui.widgets.sheet import Sheet, filled

Row = Callable[[int, int], Line]


class Listing(Sheet):
    """Rows come from `row(index, width)`; headings are rows that the cursor skips."""

    class Moved(Message):
        """The cursor stands on another row."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    class Opened(Message):
        """A row was clicked twice, or once under the cursor."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._count = 0
        self._row: Row = lambda index, width: []
        self.cursor = 0

    @property
    def count(self) -> int:
        """Number of rows."""
        return self._count

    def show_rows(self, count: int, row: Row, *, cursor: int = 0) -> None:
        """Show other rows."""
        self._count, self._row = count, row
        self.cursor = min(max(cursor, 0), max(count - 1, 0))
        if self.size.width:
            self._measure(self.size.width)
            self._scroll_update(self.virtual_size)
            self.refresh()
            self.bring_into_view(self.cursor, self.cursor)

    def move(self, steps: int) -> None:
        """Move the cursor; it stays at the ends."""
        target = min(max(self.cursor + steps, 0), max(self._count - 1, 0))
        if target != self.cursor:
            self.cursor = target
            self.refresh()
            self.bring_into_view(target, target)
            self.post_message(self.Moved(target))

    def page(self, pages: int) -> None:
        """Move the cursor by the rows in view."""
        self.move(pages * max(1, self.size.height - 1))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._count

    @property
    def hidden_below(self) -> int:
        return max(0, self._count - self.size.height - int(self.scroll_offset.y))

    def _measure(self, width: int) -> None:
        self.set_reactive(Widget.virtual_size, Size(width, self._count))

    def on_resize(self) -> None:
        if self._count:
            self.bring_into_view(self.cursor, self.cursor)

    def line_of(self, index: int, width: int) -> Line:
        """One row as it is drawn."""
        focused = index == self.cursor
        edge = self._glyphs.cursor if focused else " "
        line: Line = [(edge, "accent"), *self._row(index, width - 1)]
        return filled(line, width, "row") if focused else line

    def content_lines(self, numbers: range, width: int) -> list[Line]:
        return [self.line_of(number, width - 1) if number < self._count else [] for number in numbers]

    def on_click(self, event: events.Click) -> None:
        index = self.line_at(event.get_content_offset_capture(self))
        if index >= self._count:
            return
        if index == self.cursor:
            self.post_message(self.Opened(index))
        else:
            self.move(index - self.cursor)
