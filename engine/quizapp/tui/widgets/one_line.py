"""A line of the frame around the content: title, rule, status."""

from __future__ import annotations

from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from quizapp.tui.widgets.sheet import Build, Looks


class OneLine(Widget, can_focus=False):
    """Shows the first line of what `build(width)` returns."""

    def __init__(
        self, build: Build | None = None, *, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._build: Build = build or (lambda width: [])
        self._looks = Looks()

    def show(self, build: Build) -> None:
        """Show another line."""
        self._build = build
        self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return 1

    def render_line(self, y: int) -> Strip:
        lines = self._build(self.size.width) if y == 0 else []
        base = self._looks.style(self, "")
        return Strip(self._looks.segments(self, lines[0] if lines else [])).adjust_cell_length(
            self.size.width, base
        )
