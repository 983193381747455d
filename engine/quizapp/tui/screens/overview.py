"""All questions of a sitting: which are open, which are marked, how the others went."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from quizapp.tui.render import Line, fit
from quizapp.tui.screens.base import QuizScreen
from quizapp.tui.title_facts import clock
from quizapp.tui.widgets.listing import Listing

if TYPE_CHECKING:
    from collections.abc import Callable

    from quizapp.tui.taking import Taking


class OverviewScreen(QuizScreen):
    """A list to go on from; turning the attempt in starts here, too."""

    HELP_TITLE = "All questions"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", tooltip="Move in the list.", id="list-up"),
        Binding("down,j", "move(1)", "Down", tooltip="Move in the list.", id="list-down"),
        Binding("pageup", "page(-1)", "Page up", tooltip="Move by a page.", id="list-page-up"),
        Binding("pagedown", "page(1)", "Page down", tooltip="Move by a page.", id="list-page-down"),
        Binding("home", "page(-1000)", "First", tooltip="Move to the first question.", id="list-home"),
        Binding("end", "page(1000)", "Last", tooltip="Move to the last question.", id="list-end"),
        Binding("enter", "choose", "Go to", tooltip="Go to the question under the cursor.", id="list-choose"),
        Binding(
            "o", "next_open", "Next open", tooltip="Move to the next open question.", id="list-next-open"
        ),
        Binding(
            "m",
            "next_marked",
            "Next marked",
            tooltip="Move to the next marked question.",
            id="list-next-marked",
        ),
        Binding("t", "turn_in", "Turn in", tooltip="Finish the attempt and see the results.", id="turn-in"),
    ]

    def __init__(self, taking: Taking) -> None:
        super().__init__()
        self.taking = taking

    def compose(self) -> ComposeResult:
        yield self.title_line
        yield Listing(self.glyphs, id="list")
        yield self.key_bar

    def on_mount(self) -> None:
        taking = self.taking
        self.tick()
        self.query_one(Listing).show_rows(taking.total, self._row, cursor=taking.index)
        self.show_keys(
            ("enter", self.glyphs.enter, "Go to"),
            ("o", "o", "Next open"),
            *([("m", "m", "Next marked")] if taking.marked_count() else []),
            ("t", "t", "Turn in"),
            ("escape", "Esc", "Back"),
        )

    def tick(self) -> None:
        """What is open, what is marked, and what is left of an exam's time."""
        taking = self.taking
        left, marked = taking.open_count(), taking.marked_count()
        done = "answered" if taking.sitting.concealed else "submitted"
        state = f"{left} of {taking.total} open" if left else f"all {taking.total} {done}"
        if marked:
            state += f" {self.glyphs.dot} {marked} marked"
        self.show_title(
            [(taking.sitting.bank_title, "strong")], [*clock(taking, self.glyphs), (state, "muted")]
        )

    def _row(self, index: int, width: int) -> Line:
        row = self.taking.row(index)
        glyphs = self.glyphs
        sign, role = {
            "correct": (glyphs.right, "right"),
            "partial": (glyphs.partial, "partial"),
            "incorrect": (glyphs.wrong, "wrong"),
            "unanswered": (glyphs.wrong, "wrong"),
        }.get(row.status, (glyphs.open if row.status == "open" else glyphs.filled, "muted"))
        number = f"Q{row.number}".rjust(len(str(self.taking.total)) + 1)
        mark = glyphs.marked if row.marked else " "
        status = f"{sign} {row.status}".ljust(24)
        head: Line = [(f" {number} ", "strong"), (f"{mark} ", "accent"), (status, role)]
        used = sum(len(text) for text, _ in head)
        return [*head, (fit(row.words, width - used - 1, glyphs), "")]

    def action_move(self, steps: int) -> None:
        """Move the cursor."""
        self.query_one(Listing).move(steps)

    def action_page(self, pages: int) -> None:
        """Move by pages."""
        self.query_one(Listing).page(pages)

    def action_choose(self) -> None:
        """Go to the question under the cursor."""
        self.quiz.go_to(self.taking, self.query_one(Listing).cursor)

    def on_listing_opened(self, message: Listing.Opened) -> None:
        self.quiz.go_to(self.taking, message.index)

    def action_next_open(self) -> None:
        """Move to the next open question."""
        self._move_to(self.taking.sitting.is_open)

    def action_next_marked(self) -> None:
        """Move to the next marked question."""
        self._move_to(self.taking.sitting.marked)

    def _move_to(self, wanted: Callable[[int], bool]) -> None:
        listing = self.query_one(Listing)
        around = [(listing.cursor + step) % self.taking.total for step in range(1, self.taking.total + 1)]
        target = next(filter(wanted, around), None)
        if target is not None:
            listing.move(target - listing.cursor)

    def action_turn_in(self) -> None:
        """Finish the attempt."""
        self.quiz.turn_in(self.taking)
