"""The test of a question's key, here: its runs one after the other, and what they show so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from quizapp.errors import QuizappError
from quizapp.tui.finding_lines import badge_lines, finding_lines, headline
from quizapp.tui.pages import letters_of
from quizapp.tui.render import Line, plain_lines
from quizapp.tui.screens.base import QuizScreen, cut
from quizapp.tui.widgets.body import Body
from quizapp.tui.widgets.one_line import OneLine
from quizapp.tui.widgets.sheet import Sheet

if TYPE_CHECKING:
    from textual.worker import Worker

    from quizapp.lab.finding import Finding
    from quizapp.lab.ground import Grounds
    from quizapp.lab.key_test import KeyTest
    from quizapp.lab.verify import Progress
    from quizapp.tui.question_state import QuestionState
    from quizapp.tui.taking import Taking

_COPY_WIDTH = 100


class KeyTestScreen(QuizScreen):
    """Makes the runs that are missing. Leaving stops the one under way; what has ended is kept."""

    HELP_TITLE = "Test of the key"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "stop", "Stop", tooltip="Stop; the runs that have ended are kept.", id="test-stop"),
        Binding(
            "r",
            "run",
            "Run",
            tooltip="Make the runs that are missing; with none missing, make them all again.",
            id="test-run",
        ),
        Binding(
            "exclamation_mark",
            "appeal",
            "Appeal",
            tooltip="The experiment disagrees: write a report to the bank's author.",
            id="test-appeal",
        ),
        Binding("y", "copy", "Copy", tooltip="Copy the finding.", id="test-copy"),
        Binding("p", "print", "Print on exit", tooltip="Print the finding on exit.", id="test-print"),
        Binding("up,k", "scroll(-1)", "Up", tooltip="Scroll.", id="test-up"),
        Binding("down,j", "scroll(1)", "Down", tooltip="Scroll.", id="test-down"),
        Binding("pageup", "page(-1)", "Page up", tooltip="Scroll by a page.", id="test-page-up"),
        Binding("pagedown,space", "page(1)", "Page down", tooltip="Scroll by a page.", id="test-page-down"),
    ]

    def __init__(self, taking: Taking, state: QuestionState, grounds: Grounds, test: KeyTest) -> None:
        super().__init__()
        self.taking, self.state = taking, state
        self.test = test
        self._grounds = grounds
        self._index = taking.index
        self._progress: Progress | None = None
        self._why_not = "not run"
        self._trouble = ""
        self._worker: Worker[None] | None = None
        self._finding: Finding = test.finding()
        self._conditions = ""

    def compose(self) -> ComposeResult:
        yield self.title_line
        yield OneLine(self._headline, id="headline-test")
        yield OneLine(self._rule, id="rule-test")
        with Body(id="body"):
            yield Sheet(self._lines, id="finding")
        yield self.key_bar

    def on_mount(self) -> None:
        if self.test.todo:
            self.action_run()
        else:
            self._show(top=True)

    @property
    def running(self) -> bool:
        """Whether runs are being made."""
        return self._worker is not None

    def action_run(self) -> None:
        """Make what is missing, or everything again."""
        if self.running:
            return
        if not self.test.todo:
            from quizapp.lab.key_test import KeyTest

            self.test = KeyTest(self.test.question, self._grounds, fresh=True)
        self._trouble, self._progress = "", None
        self._worker = self.run_worker(self._make(), group="key-test", exclusive=True, exit_on_error=False)
        self._show(top=True)

    async def _make(self) -> None:
        self._why_not = "not run yet"
        try:
            await self.test.run(self.quiz.lab, self._progressed)
            self._why_not = "not run"
        except QuizappError as error:
            self._why_not = "not run: the test ended early"
            self._trouble = str(error)
        finally:
            # Reached on being stopped, too; a screen that is being left shows nothing any more.
            self._worker = None
            self._progress = None
            if self._why_not == "not run yet":
                self._why_not = "not run: stopped"
            if self.is_attached:
                self._show(top=not self.test.todo)

    def _progressed(self, progress: Progress) -> None:
        self._progress = progress
        self._show()

    # What is on screen.

    def _show(self, *, top: bool = False) -> None:
        self._finding = self.test.finding(self._why_not)
        if not self.running:
            with_conditions = self.quiz.guarded_value(lambda: self._grounds.of(self.state.question))
            if with_conditions is not None and with_conditions.conditions is not None:
                self._conditions = str(with_conditions.conditions)
        if not self.is_mounted:
            return
        self.query_one("#finding", Sheet).show(self._lines, keep_place=not top)
        self.query_one("#headline-test", OneLine).refresh()
        self.show_title(
            [
                ("Test of the key", "strong"),
                (f" {self.glyphs.dot} Q{self._index + 1} ", ""),
                (self.state.question.id, "muted"),
            ],
            [(f"{len(self.test.needed) - len(self.test.todo)} of {len(self.test.needed)} runs", "muted")],
        )
        first = ("x", "x", "Stop") if self.running else ("r", "r", "Run again")
        if not self.running and self.test.todo:
            first = ("r", "r", "Go on")
        self.show_keys(
            first, ("exclamation_mark", "!", "Appeal"), ("y", "y", "Copy"), ("escape", "Esc", "Back")
        )

    def _headline(self, width: int) -> list[Line]:
        line = headline(
            self._finding,
            self._progress,
            running=self.running,
            trouble=bool(self._trouble),
            glyphs=self.glyphs,
        )
        return [cut(line, width, self.glyphs)]

    def _rule(self, width: int) -> list[Line]:
        return [[(self.glyphs.rule * width, "frame")]]

    def _lines(self, width: int) -> list[Line]:
        lines = badge_lines(self._finding, self._conditions, self._trouble, width)
        return lines + finding_lines(
            self._finding, letters_of(self.state), width, self.glyphs, running=self.running
        )

    def on_resize(self, event: events.Resize) -> None:
        self._show()

    # Keys.

    def action_stop(self) -> None:
        """Stop."""
        if self._worker is not None:
            self._worker.cancel()

    def action_back(self) -> None:
        """Stop, and go back."""
        self.action_stop()
        self.quiz.go_back()

    def action_appeal(self) -> None:
        """Write to the author."""
        self.quiz.appeal(self.taking, self.state)

    def _plain(self) -> str:
        return "\n".join(plain_lines(self._lines(_COPY_WIDTH)))

    def action_copy(self) -> None:
        """Copy the finding."""
        self.quiz.offer_copy(self._plain())

    def action_print(self) -> None:
        """Print the finding once the screen is given back."""
        self.quiz.print_on_exit(self._plain())

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        sheet = self.query_one("#finding", Sheet)
        sheet.scroll_to(y=sheet.scroll_offset.y + lines, animate=False)

    def action_page(self, pages: int) -> None:
        """Scroll by pages."""
        self.query_one("#finding", Sheet).scroll_pages(pages)
