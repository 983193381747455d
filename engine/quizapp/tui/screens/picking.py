"""Moving on the question screen: among options and by pages, and in a recording that is picked from."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.binding import Binding, BindingType

from quizapp.tui.screens.base import QuizScreen
from quizapp.tui.widgets.options import Options
from quizapp.tui.widgets.sheet import Sheet

if TYPE_CHECKING:
    from quizapp.tui.question_state import QuestionState
    from quizapp.tui.reading_state import ReadingState
    from quizapp.tui.widgets.strip_pick import StripPick

LEAST_STEM = 3


class PickingScreen(QuizScreen):
    """A screen whose question may be about a recording; what becomes of a pick is its subclass's."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "sideways(-1)", "Left", tooltip="Previous question, or earlier in time.", id="left"),
        Binding("right", "sideways(1)", "Right", tooltip="Next question, or later in time.", id="right"),
        Binding(
            "shift+left,ctrl+left",
            "sideways(-10)",
            "Far left",
            tooltip="In a recording: ten columns earlier.",
            id="far-left",
        ),
        Binding(
            "shift+right,ctrl+right",
            "sideways(10)",
            "Far right",
            tooltip="In a recording: ten columns later.",
            id="far-right",
        ),
        Binding("u", "meter", "Meter", tooltip="Show the other meter of a recording.", id="meter"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.state: QuestionState | None = None
        self._strip: StripPick | None = None

    def pick(self, index: int) -> None:
        """Choose the option or device at a place."""
        raise NotImplementedError

    def after_change(self, changed: bool) -> None:
        """Put a changed response on record, and show it."""
        raise NotImplementedError

    def action_go(self, steps: int) -> None:
        """Another question."""
        raise NotImplementedError

    def show_frame(self) -> None:
        """Show title, status and keys anew."""
        raise NotImplementedError

    @property
    def reading(self) -> ReadingState | None:
        """The state where a recording is shown."""
        if self.state is None or self.state.question.kind != "reading":
            return None
        return cast("ReadingState", self.state)

    @property
    def side_by_side(self) -> bool:
        """True when the stem stands beside the options; a recording has the whole width."""
        return self.wide and self.reading is None

    def show_strip(self) -> None:
        """The recording, where the question is about one."""
        state = self.reading
        self.set_class(state is not None, "-stacked")
        if state is None:
            if self._strip is not None:
                self._strip.display = False
            return
        self.query_one(Options).display = False
        if self._strip is None:
            from quizapp.tui.widgets.strip_pick import StripPick

            self._strip = StripPick(self.glyphs, id="strip-pick")
            self.query_one("#body").mount(self._strip)
        self._strip.display = True
        self._strip.show_state(state)

    def on_strip_pick_device_pressed(self, message: StripPick.DevicePressed) -> None:
        self.pick(message.device)

    def on_strip_pick_time_pressed(self, message: StripPick.TimePressed) -> None:
        state = self.reading
        if state is not None:
            state.go_to_s(message.moment_s)
            self.after_change(state.mark_time())

    def action_sideways(self, steps: int) -> None:
        """Left and right: in time where a stretch of it is asked for, else among the questions."""
        state = self.reading
        if state is not None and state.in_time:
            if state.move_in_time(steps):
                self.redraw()
        elif abs(steps) == 1:
            self.action_go(steps)

    def action_meter(self) -> None:
        """Show the other meter."""
        if self.reading is not None and self._strip is not None:
            self.reading.strip.toggle()
            self._strip.redraw()

    def redraw(self) -> None:
        if self._strip is not None and self._strip.display:
            self._strip.redraw()
        else:
            self.query_one(Options).redraw()
        self.show_frame()

    def pick_in_recording(self) -> bool:
        """Space, where the question is about a recording: False where it is not."""
        state = self.reading
        if state is None:
            return False
        if state.in_time:
            self.after_change(state.mark_time())
        else:
            self.pick(state.cursor)
        return True

    def page_recording(self, pages: int) -> None:
        """Move among the devices by as many as are in view."""
        state, strip = self.reading, self._strip
        if state is not None and strip is not None:
            if state.in_time:
                strip.scroll_pages(pages)
            elif state.move(pages * max(1, strip.size.height - 2)):
                self.redraw()

    def share_with_recording(self, stem: Sheet, height: int, width: int) -> bool:
        """Give the recording the lines that it needs, and the stem the rest; False without a recording."""
        if self._strip is None or not self._strip.display:
            return False
        wanted, lines = len(self._strip.lines_at(width - 1)), len(stem.lines_at(width - 1))
        stem_height = max(1, min(LEAST_STEM, lines, height - 1), min(lines, height - wanted))
        above = int(stem_height + wanted < height)
        stem.styles.padding = (above, 0, 0, 1)
        stem.styles.height = stem_height + above
        self._strip.styles.height = max(1, min(wanted, height - stem_height - above))
        return True

    def action_move(self, steps: int) -> None:
        """Move the cursor; through a long option by its lines."""
        options = self.query_one(Options)
        if abs(steps) == 1 and options.display and not self._held and options.scroll_within(steps):
            return
        if self.state is not None and self.state.move(steps):
            self.after_change(self._held)

    def action_scroll_stem(self, pages: int) -> None:
        """Scroll the stem by a page; past its end the options or the recording."""
        stem, options = self.query_one("#stem", Sheet), self.query_one(Options)
        if pages > 0 and stem.hidden_below:
            stem.scroll_pages(pages)
        elif self.reading is not None:
            self.page_recording(pages)
        elif self.state is not None and options.display and (row := options.page(pages)) is not None:
            if self.state.move(row - self.state.cursor):
                self.after_change(self._held)
        elif pages < 0:
            stem.scroll_pages(pages)

    @property
    def _held(self) -> bool:
        return self.state is not None and self.state.held
