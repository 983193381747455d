"""Lines of styled text that scroll: every text of a screen stands on a sheet."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.geometry import Offset, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from quizapp.tui.render import Line, plain_lines, width_of
from quizapp.tui.widgets.painted import Painted

if TYPE_CHECKING:
    from textual.selection import Selection

Build = Callable[[int], list[Line]]


class Sheet(Painted, ScrollView, can_focus=False):
    """Shows what `build(width)` returns: laid out when the width changes, drawn by the line as needed."""

    class Scrolled(Message):
        """The part in view changed."""

    def __init__(
        self, build: Build | None = None, *, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._build: Build = build or (lambda width: [])
        self._laid_out: tuple[int, list[Line]] | None = None

    def show(self, build: Build, *, keep_place: bool = False) -> None:
        """Show other lines, from their top unless the place is to be kept."""
        self._build = build
        self._laid_out = None
        if not keep_place:
            self.set_reactive(Widget.scroll_y, 0.0)
            self.set_reactive(Widget.scroll_target_y, 0.0)
        if not self.size.width:
            return  # not laid out yet, so it will be
        before = self.virtual_size
        self._measure(self.size.width)
        grows = self.styles.height is not None and self.styles.height.is_auto
        if grows and self.virtual_size != before:
            self.refresh(layout=True)
        else:
            # Where the height is given from outside, other lines need no layout: one paint in place of two.
            self._scroll_update(self.virtual_size)
            self.refresh()

    def lines_at(self, width: int) -> list[Line]:
        """The lines for a content width, of which the last column is kept free for the scrollbar."""
        if self._laid_out is None or self._laid_out[0] != width:
            self._laid_out = (width, self._build(max(1, width - 1)))
        return self._laid_out[1]

    @property
    def lines(self) -> list[Line]:
        """The lines as they stand."""
        return self.lines_at(self.size.width)

    @property
    def hidden_below(self) -> int:
        """Number of lines below what is in view."""
        return max(0, len(self.lines) - self.size.height - int(self.scroll_offset.y))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.post_message(self.Scrolled())

    def scroll_pages(self, pages: float) -> None:
        """Scroll by a share of the height in view."""
        self.scroll_to(y=self.scroll_offset.y + pages * max(1, self.size.height - 1), animate=False)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.lines_at(width))

    def _measure(self, width: int) -> None:
        self.set_reactive(Widget.virtual_size, Size(width, len(self.lines_at(width))))

    def _size_updated(
        self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True
    ) -> bool:
        # The height of the text is known before the widget is told its size, so one layout is enough.
        self._measure((size - self.styles.gutter.totals).width)
        return super()._size_updated(size, virtual_size, container_size, layout)

    def first_line(self) -> int:
        return int(self.scroll_offset.y)

    def content_lines(self, numbers: range, width: int) -> list[Line]:
        lines = self.lines_at(width)
        asked = lines[numbers.start : numbers.stop]
        asked += [[]] * (len(numbers) - len(asked))
        selection = self.text_selection
        if selection is not None:
            for place, number in enumerate(numbers):
                if (span := selection.get_span(number)) is not None:
                    asked[place] = _selected(asked[place], *span)
        return asked

    def render_line(self, y: int) -> Strip:
        # By these Textual finds the character under the mouse.
        return super().render_line(y).apply_offsets(0, self.first_line() + y)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selection.extract("\n".join(plain_lines(self.lines))), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    def bring_into_view(self, first: int, last: int) -> None:
        """Scroll as little as needed to show the lines `first` to `last`."""
        top = int(self.scroll_offset.y)
        height = self.size.height
        if first < top or last - first >= height:
            self.scroll_to(y=first, animate=False)
        elif last >= top + height:
            self.scroll_to(y=last - height + 1, animate=False)

    def line_at(self, offset: Offset) -> int:
        """Number of the line under a place in the widget."""
        return offset.y + int(self.scroll_offset.y)


def _selected(line: Line, start: int, end: int) -> Line:
    """The line with the characters from `start` to `end` (-1: to its end) marked."""
    marked: Line = []
    position = 0
    for text, roles in line:
        first = min(max(start - position, 0), len(text))
        last = len(text) if end == -1 else min(max(end - position, 0), len(text))
        for piece, role in (
            (text[:first], roles),
            (text[first:last], f"{roles} selection"),
            (text[last:], roles),
        ):
            if piece:
                marked.append((piece, role))
        position += len(text)
    return marked


def filled(line: Line, width: int, role: str) -> Line:
    """The line with `role` on all of it, blanks up to `width` included."""
    line = [(text, f"{roles} {role}".strip()) for text, roles in line]
    gap = width - sum(width_of(text) for text, _ in line)
    if gap > 0:
        line.append((" " * gap, role))
    return line
