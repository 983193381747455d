"""Widgets that paint their own lines, so that a line that has not changed is not put together again.

Textual frames every line of a widget anew at each refresh: padding, border, tint, opacity. Here the frame is
worked out once for a size and a look, and a line keeps its strip as long as its runs stay. What has more
around its content than padding and an edge on its left is left to Textual.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual._border import get_box  # there is no public way to a border's segment
from textual.color import Color
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from quizapp.bank.text import visible
from quizapp.tui.render import Line, joined
from quizapp.tui.roles import ROLES

if TYPE_CHECKING:
    from textual.geometry import Region, Size

Ground = tuple[Color, Color, float]  # colour beneath, background, opacity

MOST_PAINTED = 500
"""Lines that a widget keeps painted: some screens full, however long what is scrolled through."""


@dataclass
class Frame:
    """What stands around the lines of a widget, for one size and look of it, and the lines painted so far."""

    look: Style
    size: Size
    ground: Ground
    plain: bool
    """Whether there is nothing around and over the content but padding and an edge on its left."""
    rows: range
    """Of the widget: those with content."""
    width: int
    """Of the content, in cells."""
    left: list[Segment]
    right: list[Segment]
    blank: Strip
    """A row without content."""
    base: RichStyle
    styles: dict[str, RichStyle] = field(default_factory=dict)
    painted: dict[int, tuple[Line, Strip]] = field(default_factory=dict)


class Painted(Widget):
    """A widget that says what the lines of its content are."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._frame: Frame | None = None

    def content_lines(self, numbers: range, width: int) -> list[Line]:
        """The lines of these numbers, for a content of `width` cells; [] where there is none."""
        raise NotImplementedError

    def first_line(self) -> int:
        """Number of the content's line in the first row."""
        return 0

    def frame(self) -> Frame:
        """The frame for the size and the look that the widget has now."""
        frame, look, size = self._frame, self.visual_style, self.outer_size
        # Textual keeps the same style object as long as nothing of the widget's own look changes;
        # what it stands on may change without.
        beneath, background = self.background_colors
        ground = (beneath, background, self.opacity)
        if frame is None or frame.look is not look or frame.size != size or frame.ground != ground:
            frame = self._frame = framed(self, look, size, ground)
        return frame

    def render_line(self, y: int) -> Strip:
        frame, width = self.frame(), self.size.width
        number = self.first_line() + y
        [line] = self.content_lines(range(number, number + 1), width)
        return self._content(line, width, frame)

    def render_lines(self, crop: Region) -> list[Strip]:
        frame = self.frame()
        if not frame.plain:
            return super().render_lines(crop)
        rows, first = crop.line_range, self.first_line() - frame.rows.start
        filled = range(max(rows.start, frame.rows.start), min(rows.stop, frame.rows.stop))
        strips = [frame.blank] * len(rows)
        if filled:
            numbers = range(first + filled.start, first + filled.stop)
            lines = self.content_lines(numbers, frame.width)
            strips[filled.start - rows.start : filled.stop - rows.start] = [
                self._paint(number, line, frame) for number, line in zip(numbers, lines, strict=True)
            ]
        if filters := self.get_line_filters():
            background = self.background_colors[1]
            for line_filter in filters:
                strips = [strip.apply_filter(line_filter, background) for strip in strips]
        if crop.column_span != (0, frame.size.width):
            strips = [strip.crop(*crop.column_span) for strip in strips]
        return strips

    def _paint(self, number: int, line: Line, frame: Frame) -> Strip:
        if not line:
            return frame.blank
        known = frame.painted.get(number)
        if known is not None and known[0] == line:
            return known[1]
        strip = Strip([*frame.left, *self._content(line, frame.width, frame), *frame.right], frame.size.width)
        if len(frame.painted) >= MOST_PAINTED:
            frame.painted.clear()
        frame.painted[number] = (line, strip)
        return strip

    def _content(self, line: Line, width: int, frame: Frame) -> Strip:
        segments = [
            # The last guard before the terminal: no control character passes, whoever built the line.
            Segment(
                text if text.isprintable() else visible(text).replace("\n", " "),
                frame.styles.get(roles) or self._style(roles, frame),
            )
            for text, roles in joined(list(line))
        ]
        return Strip(segments).adjust_cell_length(width, frame.base)

    def _style(self, roles: str, frame: Frame) -> RichStyle:
        look, parse = frame.look, self.app.stylesheet.parse_style
        for role in roles.split():
            if role in ROLES:
                look = look + parse(ROLES[role])
        style = frame.styles[roles] = look.rich_style
        return style


class Backdrop(Widget):
    """A widget of which only the background is seen, between others."""

    def render_lines(self, crop: Region) -> list[Strip]:
        if not is_plain(self) or self.styles.border_left[0]:
            return super().render_lines(crop)
        strip = Strip.blank(crop.width, self.visual_style.rich_style)
        for line_filter in self.get_line_filters():
            strip = strip.apply_filter(line_filter, self.background_colors[1])
        return [strip] * crop.height


def framed(widget: Widget, look: Style, size: Size, ground: Ground) -> Frame:
    """The frame of a widget of that look and size."""
    beneath, background, _ = ground
    styles = widget.styles
    top, right, bottom, left = styles.padding
    inner = Style(background=beneath + background)
    kind, color = styles.border_left
    edge: list[Segment] = []
    if kind:
        boxes = get_box(kind, inner, Style(background=beneath), Style(foreground=beneath + color))
        edge = [boxes[1][0]]
    width = size.width - left - right - len(edge)
    blank = inner.rich_style
    return Frame(
        look,
        size,
        ground,
        plain=is_plain(widget) and width > 0,
        rows=range(top, size.height - bottom),
        width=width,
        left=[*edge, *_blank(left, blank)],
        right=_blank(right, blank),
        blank=Strip([*edge, *_blank(size.width - len(edge), blank)], size.width),
        base=look.rich_style,
    )


def is_plain(widget: Widget) -> bool:
    """Whether there is nothing around and over a widget's content but padding and an edge on its left."""
    styles = widget.styles
    edges = styles.border
    return not (
        edges.top[0]
        or edges.right[0]
        or edges.bottom[0]
        or any(kind for kind, _ in styles.outline)
        or styles.tint.a
        or (styles.has_rule("hatch") and styles.hatch != "none")
        or styles.text_opacity != 1.0
        or widget.opacity != 1.0
    )


def _blank(width: int, style: RichStyle) -> list[Segment]:
    return [Segment(" " * width, style)] if width > 0 else []
