"""A line of the frame around the content: title, rule, status."""

from __future__ import annotations

from textual.geometry import Size

from quizapp.tui.render import Line
from quizapp.tui.widgets.painted import Painted
from quizapp.tui.widgets.sheet import Build


class OneLine(Painted, can_focus=False):
    """Shows the first line of what `build(width)` returns."""

    def __init__(
        self, build: Build | None = None, *, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._build: Build = build or (lambda width: [])

    def show(self, build: Build) -> None:
        """Show another line."""
        self._build = build
        self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return 1

    def content_lines(self, numbers: range, width: int) -> list[Line]:
        lines = self._build(width) if 0 in numbers else []
        return [lines[0] if lines and number == 0 else [] for number in numbers]
