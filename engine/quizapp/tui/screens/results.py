"""What became of a sitting: the score, by objective, question by question; and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from quizapp.assess.result import interval_in_words
from quizapp.assess.scoring import points_in_words
from quizapp.bank.text import visible
from quizapp.tui.render import Line, fit, width_of, wrap
from quizapp.tui.results_state import ResultsState
from quizapp.tui.screens.base import QuizScreen, cut
from quizapp.tui.widgets.body import Body
from quizapp.tui.widgets.listing import Listing
from quizapp.tui.widgets.one_line import OneLine
from quizapp.tui.widgets.sheet import Sheet

if TYPE_CHECKING:
    from quizapp.tui.taking import Taking

_MOST_OBJECTIVES = 6


class ResultsScreen(QuizScreen):
    """The end of a sitting, and the door to its review."""

    HELP_TITLE = "Results"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", tooltip="Move among the questions.", id="result-up"),
        Binding("down,j", "move(1)", "Down", tooltip="Move among the questions.", id="result-down"),
        Binding("pageup", "page(-1)", "Page up", tooltip="Move by a page.", id="result-page-up"),
        Binding("pagedown", "page(1)", "Page down", tooltip="Move by a page.", id="result-page-down"),
        Binding(
            "enter", "review", "Review", tooltip="Review the question under the cursor.", id="result-review"
        ),
        Binding(
            "r",
            "review_all",
            "Review all",
            tooltip="Review all questions from the first.",
            id="result-review-all",
        ),
        Binding(
            "w", "redo", "Redo wrong", tooltip="Take the questions that went wrong again.", id="result-redo"
        ),
        Binding("o", "save", "Save report", tooltip="Save the report to a file.", id="result-save"),
        Binding("y", "copy", "Copy", tooltip="Copy the report.", id="result-copy"),
        Binding(
            "p",
            "print",
            "Print on exit",
            tooltip="Print the report once quizapp has ended.",
            id="result-print",
        ),
    ]

    def __init__(self, taking: Taking) -> None:
        super().__init__()
        self.taking = taking
        self.state = ResultsState(taking)

    def compose(self) -> ComposeResult:
        yield self.title_line
        yield Sheet(self._headline, id="headline")
        with Body(id="body"):
            yield Sheet(self._objectives, id="objectives")
            yield OneLine(self._rule, id="rule")
            with Body(id="right"):
                yield Listing(self.glyphs, id="list")
                yield Sheet(id="chosen")
        yield self.key_bar

    def on_mount(self) -> None:
        state = self.state
        dot = f" {self.glyphs.dot} "
        self.show_title([(state.title, "strong")], [(f"results{dot}seed {state.seed}", "muted")])
        self.query_one(Listing).show_rows(state.count, self._row)
        self._show_chosen()
        redo = [("w", "w", "Redo wrong")] if self.taking.sitting.wrong_items() else []
        self.show_keys(
            ("enter", self.glyphs.enter, "Review"),
            *redo,
            ("o", "o", "Save report"),
            ("p", "p", "Print on exit"),
            ("escape", "Esc", "Banks"),
            ("q", "q", "Quit"),
        )

    def _headline(self, width: int) -> list[Line]:
        state, glyphs = self.state, self.glyphs
        passed = state.result.passed
        sign, role = (
            (glyphs.filled, "strong")
            if passed is None
            else (glyphs.right, "right")
            if passed
            else (glyphs.wrong, "wrong")
        )
        counts = ", ".join(f"{count} {verdict}" for verdict, count in state.result.counts.items() if count)
        first: Line = [(f"{sign} {state.headline()}", role), (f"  {state.score_words()}", "")]
        return [
            cut(first, width, glyphs),
            *(line for words in state.ability_words() for line in wrap([(words, "")], width, [("  ", "")])),
            cut([(f"  {counts} {glyphs.dot} {state.demo_words()}", "muted")], width, glyphs),
        ]

    def _objectives(self, width: int) -> list[Line]:
        glyphs = self.glyphs
        parts = self.state.result.by_objective
        lines: list[Line] = []
        for part in parts if self.wide else parts[:_MOST_OBJECTIVES]:
            points = f"{points_in_words(part.points)}/{points_in_words(part.max_points)}".rjust(7)
            bar = 10 if width < 60 else 16
            full = round(bar * part.points / part.max_points) if part.max_points else 0
            interval = interval_in_words(part.interval).replace("–", glyphs.dash).rjust(10)
            room = max(8, width - bar - 9 - len(interval))
            title = fit(part.title or "no objective", room - 1, glyphs)
            lines.append(
                [
                    (title + " " * max(1, room - width_of(title)), ""),
                    (glyphs.meter_full * full, "accent"),
                    (glyphs.meter_empty * (bar - full), "frame"),
                    (f" {points}{interval}", "muted"),
                ]
            )
        if parts:
            lines.append([("95 % intervals of the share, Wilson's method".rjust(width - 1), "muted")])
        if len(parts) > _MOST_OBJECTIVES and not self.wide:
            lines.append([(f"and {len(parts) - _MOST_OBJECTIVES} more objectives", "muted")])
        return lines

    def _rule(self, width: int) -> list[Line]:
        return [[(self.glyphs.rule * width, "frame")]]

    def _row(self, index: int, width: int) -> Line:
        row, glyphs = self.state.row(index), self.glyphs
        sign, role = {
            "correct": (glyphs.right, "right"),
            "partial": (glyphs.partial, "partial"),
            "open": (glyphs.open, "muted"),
            "unanswered": (glyphs.open, "muted"),
        }.get(row.verdict, (glyphs.wrong, "wrong"))
        number = f"Q{index + 1}".ljust(len(str(self.state.count)) + 2)
        line: Line = [
            (f"{sign} ", role),
            (number, "strong"),
            (f"{row.verdict:<11}", role),
            (f"{row.points:>6}  ", ""),
        ]
        if width >= 60:
            most = 9 if width < 100 else 20  # a typed response may be long; its review tells it in full
            given, key = fit(visible(row.given), most, glyphs), fit(visible(row.key), most, glyphs)
            line.append((f"you {given:<5} key {key:<5} ", "muted"))
        if row.predictions and width >= 80:
            line.append((f"{row.predictions}  ", "accent"))
        used = sum(width_of(text) for text, _ in line)
        return [*line, (fit(row.words, width - used - 1, glyphs), "")]

    def action_move(self, steps: int) -> None:
        """Move the cursor."""
        self.query_one(Listing).move(steps)

    def action_page(self, pages: int) -> None:
        """Move by pages."""
        self.query_one(Listing).page(pages)

    def on_listing_moved(self, message: Listing.Moved) -> None:
        self._show_chosen()

    def on_resize(self, event: events.Resize) -> None:
        self._show_chosen()

    def _show_chosen(self) -> None:
        """Where there is room, the explanation of the question under the cursor."""
        sheet = self.query_one("#chosen", Sheet)
        sheet.display = self.wide and self.state.count > 0
        if sheet.display:
            question = self.taking.state(self.query_one(Listing).cursor)
            sheet.show(self.quiz.pages.short(question))

    def on_listing_opened(self, message: Listing.Opened) -> None:
        self.action_review()

    def action_review(self) -> None:
        """Review one question."""
        self.quiz.review(self.taking, self.query_one(Listing).cursor)

    def action_review_all(self) -> None:
        """Review from the first."""
        self.quiz.review(self.taking, 0)

    def action_redo(self) -> None:
        """A new sitting on what went wrong."""
        self.quiz.redo_wrong(self.taking, self.state.wrong_ids())

    def _report(self) -> str:
        from datetime import UTC, datetime

        from quizapp.store.clock import on_screen

        return self.state.report(on_screen(datetime.now(UTC)))

    def action_save(self) -> None:
        """Save the report."""
        self.quiz.save_text("report", self._report())

    def action_copy(self) -> None:
        """Copy the report."""
        self.quiz.offer_copy(self._report())

    def action_print(self) -> None:
        """Print the report at the end."""
        self.quiz.print_on_exit(self._report())

    def action_back(self) -> None:
        """To the banks."""
        self.quiz.to_picker()
