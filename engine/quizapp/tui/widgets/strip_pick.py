"""The recording of a question, to pick from. Loaded for the first question that shows one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.message import Message

from quizapp.tui.glyphs import Glyphs
from quizapp.tui.reading_view import StripPage, strip_page
from quizapp.tui.render import Line
from quizapp.tui.widgets.sheet import Sheet

if TYPE_CHECKING:
    from quizapp.tui.reading_state import ReadingState


class StripPick(Sheet):
    """Draws a ReadingState; the screen changes the state and calls `redraw`."""

    class DevicePressed(Message):
        """A device's row was clicked."""

        def __init__(self, device: int) -> None:
            super().__init__()
            self.device = device

    class TimePressed(Message):
        """The mouse went down, or up again, at a moment of device time."""

        def __init__(self, moment_s: float, *, released: bool) -> None:
            super().__init__()
            self.moment_s = moment_s
            self.released = released

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._state: ReadingState | None = None
        self._page: StripPage | None = None
        self._down_at: float | None = None

    def show_state(self, state: ReadingState) -> None:
        """Show this recording."""
        self._state = state
        self.show(self._draw)

    def redraw(self) -> None:
        """Show the state as it is now; the lines keep their number."""
        self._laid_out = None
        self.refresh()
        if self._state is not None and not self._state.in_time and self._page is not None:
            place = self._page.rows[self._state.cursor]
            self.bring_into_view(0 if self._state.cursor == 0 else place, place)

    def _draw(self, width: int) -> list[Line]:
        if self._state is None:
            return []
        self._page = strip_page(self._state, width, self._glyphs, active=True)
        return self._page.lines

    def _moment_at(self, event: events.MouseEvent) -> float | None:
        offset = event.get_content_offset_capture(self)
        state, page = self._state, self._page
        if state is None or page is None or not state.in_time:
            return None
        return max(0, min(page.columns - 1, offset.x - page.left)) * state.step_s

    def on_mouse_down(self, event: events.MouseDown) -> None:
        moment_s = self._moment_at(event)
        if moment_s is not None:
            self._down_at = moment_s
            self.capture_mouse()
            self.post_message(self.TimePressed(moment_s, released=False))

    def on_mouse_up(self, event: events.MouseUp) -> None:
        moment_s, down_at = self._moment_at(event), self._down_at
        self._down_at = None
        self.release_mouse()
        if moment_s is not None and down_at is not None and moment_s != down_at:
            self.post_message(self.TimePressed(moment_s, released=True))

    def on_click(self, event: events.Click) -> None:
        page = self._page
        if page is None or self._state is None or self._state.in_time:
            return
        number = self.line_at(event.get_content_offset_capture(self))
        if number in page.rows:
            self.post_message(self.DevicePressed(page.rows.index(number)))
