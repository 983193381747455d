"""After a response: the verdict in words, and why, in four views that are built when they are opened."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from quizapp.bank.basis import BASES
from quizapp.bank.text import visible
from quizapp.errors import QuizappError
from quizapp.tui.pages import letters_of
from quizapp.tui.render import Line, line_width, wrap
from quizapp.tui.screens.base import QuizScreen, cut
from quizapp.tui.title_facts import place_words
from quizapp.tui.widgets.body import Body
from quizapp.tui.widgets.one_line import OneLine
from quizapp.tui.widgets.sheet import Build, Sheet, filled

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from quizapp.lab.ground import Ground
    from quizapp.tui.question_state import QuestionState
    from quizapp.tui.taking import Taking

VIEWS = ("Short", "Picture", "Full", "Per option")
PER_OPTION = 3


class RevealScreen(QuizScreen):
    """Shows what became of one response after the other, in the same widgets."""

    HELP_TITLE = "Explanation"
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(
                str(number + 1),
                f"view({number})",
                view,
                tooltip=f"{view}: a view of the explanation.",
                id=f"view-{number + 1}",
            )
            for number, view in enumerate(VIEWS)
        ),
        Binding("tab", "next_view", "Next view", tooltip="The next view.", id="view-next"),
        Binding("up,k", "move(-1)", "Up", tooltip="Scroll, or move among the options.", id="reveal-up"),
        Binding("down,j", "move(1)", "Down", tooltip="Scroll, or move among the options.", id="reveal-down"),
        Binding("pageup", "page(-1)", "Page up", tooltip="Scroll by a page.", id="reveal-page-up"),
        Binding("pagedown,space", "page(1)", "Page down", tooltip="Scroll by a page.", id="reveal-page-down"),
        Binding(
            "n,enter,right_square_bracket,right",
            "next",
            "Next",
            tooltip="Next open question, or the results.",
            id="reveal-next",
        ),
        Binding(
            "left_square_bracket,left",
            "previous",
            "Previous",
            tooltip="Previous question.",
            id="reveal-previous",
        ),
        Binding(
            "r",
            "run_demo",
            "Run demo",
            tooltip="Run the demo behind the option under the cursor.",
            id="reveal-run",
        ),
        Binding(
            "t",
            "test_key",
            "Test the key here",
            tooltip="Test the key by experiment, on this machine; show what is found.",
            id="reveal-test",
        ),
        Binding(
            "exclamation_mark",
            "appeal",
            "Appeal",
            tooltip="The experiment disagrees: write a report to the bank's author.",
            id="reveal-appeal",
        ),
        Binding("u", "links", "Links", tooltip="Addresses to read on: show, copy, save.", id="reveal-links"),
        Binding(
            "o",
            "picture",
            "Picture",
            tooltip="Show where the picture is, to open it elsewhere.",
            id="reveal-picture",
        ),
        Binding("m", "mark", "Mark", tooltip="Mark this question to come back to.", id="reveal-mark"),
        Binding("l", "overview", "List", tooltip="List all questions.", id="reveal-overview"),
    ]

    def __init__(self, taking: Taking, state: QuestionState) -> None:
        super().__init__()
        self.taking = taking
        self.state = state
        self.view = 0
        self.ground: Ground | None = None
        """Of the key; None until it is worked out, which takes longer than the screen may."""
        self._rows: list[tuple[int, int]] = []

    def compose(self) -> ComposeResult:
        yield self.title_line
        yield OneLine(self._verdict, id="verdict")
        yield OneLine(self._ground_line, id="ground")
        yield OneLine(self._tabs, id="tabs")
        with Body(id="body"):
            yield Sheet(id="per-option")
            yield Sheet(id="view")
        yield self.key_bar

    def on_mount(self) -> None:
        self._turn_to(self.taking, self.state)
        self._show_views()

    def show_reveal(self, taking: Taking, state: QuestionState) -> None:
        """Show another question's explanation in place."""
        self._turn_to(taking, state)
        if self.is_mounted:
            self._show_views()
            if self.app.screen is self:
                self._look_up_ground()

    def _turn_to(self, taking: Taking, state: QuestionState) -> None:
        self.taking, self.state = taking, state
        self.view = 0
        self.ground = None
        if not (state.focused and state.focused.demo):
            with_demo = (i for i, option in enumerate(state.options) if option.demo and option.correct)
            state.cursor = next(with_demo, state.cursor)

    def on_screen_resume(self) -> None:
        # The key may have been tested meanwhile.
        self._look_up_ground()

    def _look_up_ground(self) -> None:
        if self.state.question.symptom is not None:
            # Only once what is known already is painted.
            self.call_after_refresh(self._begin_to_find_ground)

    def _begin_to_find_ground(self) -> None:
        # Not a coroutine but what makes one: a worker may be replaced before it begins.
        find: Callable[[], Awaitable[None]] = self._find_ground
        self.run_worker(find, group="ground", exclusive=True, exit_on_error=False)

    async def _find_ground(self) -> None:
        from asyncio import to_thread

        desk, state = self.quiz.desk, self.state
        # Demos and evidence are read beside the screen; the store belongs to this thread.
        with suppress(QuizappError):
            grounds = await to_thread(lambda: desk.grounds)
            ground = grounds.of(state.question)
            if state is self.state:
                self.ground = ground
                self.query_one("#ground", OneLine).refresh()
                self._show_frame()

    def _show_views(self) -> None:
        self._show_frame()
        per_option, view = self.query_one("#per-option", Sheet), self.query_one("#view", Sheet)
        alone = self.view == PER_OPTION and not self.wide
        per_option.display = alone or self.wide
        view.display = not alone
        if per_option.display:
            per_option.show(self._per_option)
        if view.display:
            view.show(self._build_view())
        self.query_one("#tabs", OneLine).refresh()
        self.query_one("#verdict", OneLine).refresh()
        self.query_one("#ground", OneLine).refresh()

    def _build_view(self) -> Build:
        pages = self.quiz.pages
        if self.view == 1:
            return pages.picture(self.state, self.quiz.desk.picture_from_here)
        if self.view == 2:
            return pages.full(self.state)
        return pages.short(self.state)

    def _show_frame(self) -> None:
        taking, glyphs = self.taking, self.glyphs
        mark = f"{glyphs.marked} " if taking.sitting.marked(taking.index) else ""
        right: Line = [
            (f"{mark}{place_words(taking)}", "strong"),
            (" explained", "muted"),
        ]
        self.show_title([(taking.sitting.bank_title, "strong")], right)
        following = "Results" if taking.next_open() is None else "Next"
        if taking.sitting.finished:
            following = "Next"
        run = (
            [("r", "r", f"Run demo {self.state.letter(self.state.cursor)}")]
            if self.state.focused and self.state.focused.demo
            else []
        )
        testable = self.ground is not None and self.ground.testable
        # There is room for seven; the list of all is under `?`, too.
        test = ("t", "t", "Test key") if testable else ("l", "l", "List")
        self.show_keys(
            ("n", "n", following),
            *run,
            test,
            ("tab", "1-4", "Views"),
            ("u", "u", "Links"),
            ("escape", "Esc", "Back"),
        )

    def _verdict(self, width: int) -> list[Line]:
        state, glyphs = self.state, self.glyphs
        score = state.score
        if score is None:
            return [[("not scored", "muted")]]
        sign, role = {
            "correct": (glyphs.right, "right"),
            "partial": (glyphs.partial, "partial"),
        }.get(str(score.verdict), (glyphs.wrong, "wrong"))
        from quizapp.assess.scoring import points_in_words

        points = f"{points_in_words(score.points)}/{points_in_words(score.max_points)}"
        you, key = visible(state.given_in_words) or "nothing", visible(state.key_in_words)
        parts = f"  {points}  {glyphs.dot}  you: {you}  {glyphs.dot}  key: {key}"
        line: Line = [(f"{sign} {state.verdict()}", role), (parts, "")]
        if state.multiple or state.question.kind == "reading":
            rule = f"  {glyphs.dot}  {score.rule}"
            if line_width(line) + len(rule) <= width:
                line.append((rule, "muted"))
        return [cut(line, width, glyphs)]

    def _ground_line(self, width: int) -> list[Line]:
        words = str(self.ground) if self.ground is not None else BASES[self.state.question.verified_by]
        if self.ground is not None and len(words) + len("Key  ") > width:
            words = self.ground.brief
        return [cut([("Key  ", "muted"), (visible(words), "")], width, self.glyphs)]

    def _tabs(self, width: int) -> list[Line]:
        line: Line = []
        choices = self.state.question.kind in ("single-choice", "multiple-choice", "true-false")
        last = VIEWS[PER_OPTION] if choices else "Response"
        views = VIEWS[:PER_OPTION] if self.wide else (*VIEWS[:PER_OPTION], last)
        for number, view in enumerate(views):
            chosen = number == self.view
            text = f"[{number + 1} {view}]" if chosen else f" {number + 1} {view} "
            line.append((text, "key" if chosen else "muted"))
            line.append((" ", ""))
        if self.wide:
            indent = max(0, self.query_one("#view", Sheet).region.x - 1)
            line = [(last.ljust(indent), "strong"), *line]
        return [line]

    def _per_option(self, width: int) -> list[Line]:
        state, glyphs, pages = self.state, self.glyphs, self.quiz.pages
        letters = letters_of(state)
        lines: list[Line] = []
        self._rows = []
        if not state.options:
            return pages.typed(state)(width)
        if state.question.kind == "ordering" or state.question.kind == "matching":
            return pages.parts(state)(width)
        for index, option in enumerate(state.options):
            if index:
                lines.append([])
            start = len(lines)
            focused = index == state.cursor
            edge = (glyphs.cursor if focused else " ", "accent")
            sign, role = (glyphs.right, "right") if option.correct else (glyphs.wrong, "wrong")
            head: Line = [edge, (f"{sign} ", role), (f"{state.letter(index)}  ", "strong")]
            rest: Line = [edge, (" " * 5, "")]
            tail: Line = [(f" {glyphs.play} demo", "accent")] if option.demo else []
            room = width - 6
            body = pages.text(option.text, letters)(room - 7)
            row: list[Line] = [
                [*(rest if number else head), *line] for number, line in enumerate(body or [[]])
            ]
            row[0] = [*row[0], (" " * max(0, width - line_width(row[0]) - line_width(tail)), ""), *tail]
            if note := state.note_on(index):
                row += wrap([(note, "em strong" if option.id in state.chosen else "em muted")], width, rest)
            why = pages.text(option.rationale, letters)(room - 2)
            row += [
                [*rest, (f"{glyphs.arrow} " if not number else "  ", "muted"), *line]
                for number, line in enumerate(why)
            ]
            lines += [filled(line, width, "row") if focused else line for line in row]
            self._rows.append((start, len(lines) - 1))
        return lines

    def on_resize(self, event: events.Resize) -> None:
        if self.wide and self.view == PER_OPTION:
            self.view = 0
        self._show_views()

    def action_view(self, number: int) -> None:
        """Open a view."""
        if number == PER_OPTION and self.wide:
            return
        self.view = number
        self._show_views()

    def action_next_view(self) -> None:
        """The next view, around."""
        self.action_view((self.view + 1) % (PER_OPTION if self.wide else len(VIEWS)))

    def action_move(self, steps: int) -> None:
        """Scroll, or move among the options where they are in view."""
        if self.view == PER_OPTION or self.wide:
            if self.state.move(steps):
                sheet = self.query_one("#per-option", Sheet)
                sheet.show(self._per_option, keep_place=True)
                sheet.bring_into_view(*self._rows[self.state.cursor])
                self._show_frame()
            return
        view = self.query_one("#view", Sheet)
        view.scroll_to(y=view.scroll_offset.y + steps, animate=False)

    def action_page(self, pages: int) -> None:
        """Scroll by a page."""
        sheet = self.query_one("#per-option" if self.view == PER_OPTION else "#view", Sheet)
        sheet.scroll_pages(pages)

    def action_next(self) -> None:
        """Next open question, or the results."""
        self.quiz.after_reveal(self.taking)

    def action_previous(self) -> None:
        """Previous question."""
        if self.taking.index > 0:
            self.quiz.go_to(self.taking, self.taking.index - 1)

    def action_run_demo(self) -> None:
        """Open the lab on the option under the cursor."""
        if self.state.focused is None or self.state.focused.demo is None:
            self.quiz.tell("No demo speaks to this option.")
        else:
            self.quiz.open_lab(self.taking, self.state)

    def action_test_key(self) -> None:
        """Test the key here."""
        self.quiz.test_key(self.taking, self.state)

    def action_appeal(self) -> None:
        """Write to the author."""
        self.quiz.appeal(self.taking, self.state)

    def action_links(self) -> None:
        """Show the addresses."""
        self.quiz.show_links(self.state)

    def action_picture(self) -> None:
        """Show where the picture is."""
        self.quiz.show_picture(self.state)

    def action_mark(self) -> None:
        """Mark the question."""
        self.taking.toggle_mark(self.taking.index)
        self._show_frame()

    def action_overview(self) -> None:
        """List all questions."""
        self.quiz.show_overview(self.taking)
