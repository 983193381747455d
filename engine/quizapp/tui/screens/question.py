"""The question: stem, options, status. All can be changed until it is submitted, and nothing is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Size

from quizapp.bank.text import visible
from quizapp.tui.render import Line, line_width
from quizapp.tui.screens.base import SHORT
from quizapp.tui.screens.picking import LEAST_STEM, PickingScreen
from quizapp.tui.title_facts import clock, place_words, points_of, progress, verdict_role
from quizapp.tui.widgets.body import Body
from quizapp.tui.widgets.one_line import OneLine
from quizapp.tui.widgets.options import Options
from quizapp.tui.widgets.sheet import Sheet

if TYPE_CHECKING:
    from textual.widgets import Input

    from quizapp.tui.taking import Taking
    from quizapp.tui.widgets.entry import Entry

_LONGEST_TYPED = 500
_SPACE = {
    "numeric": "Type",
    "short-text": "Type",
    "ordering": "Take",
    "matching": "Next match",
    "reading": "Pick",
}
_NOTHING_YET = {
    "ordering": "Nothing is in order yet: Space takes an item, arrows move it, Space drops it.",
    "matching": "Nothing is matched yet: a letter matches the one under the cursor, ] skips.",
}


class QuestionScreen(PickingScreen):
    """Shows one question of a sitting after the other, in the same widgets."""

    CSS_PATH = None
    HELP_TITLE = "Question"
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(
                key,
                f"pick('{key}')",
                "Choose",
                tooltip="Choose the option of that number or letter.",
                id=f"pick-{key}",
            )
            for key in "0123456789abcdefgh"
        ),
        Binding("up,k", "move(-1)", "Up", tooltip="Move among the options.", id="option-up"),
        Binding("down,j", "move(1)", "Down", tooltip="Move among the options.", id="option-down"),
        Binding(
            "space",
            "pick_focused",
            "Choose",
            tooltip="Choose the option under the cursor; go on typing.",
            id="pick",
        ),
        Binding(
            "enter",
            "submit",
            "Submit",
            tooltip="Submit the response, or see its explanation; in an exam, go on.",
            id="submit",
        ),
        Binding("x,backspace", "clear", "Clear", tooltip="Take the choice back.", id="clear"),
        Binding(
            "r", "run_demo", "Run demo", tooltip="Run the demo behind the option under the cursor.", id="run"
        ),
        Binding("left_square_bracket", "go(-1)", "Previous", tooltip="Previous question.", id="previous"),
        Binding(
            "right_square_bracket,n",
            "go(1)",
            "Next",
            tooltip="Next question; this one stays open.",
            id="next",
        ),
        Binding("m", "mark", "Mark", tooltip="Mark this question to come back to.", id="mark"),
        Binding("l", "overview", "List", tooltip="List all questions, and finish from there.", id="overview"),
        Binding(
            "pageup",
            "scroll_stem(-1)",
            "Scroll",
            tooltip="Scroll the stem, and then the options.",
            id="stem-up",
        ),
        Binding(
            "pagedown",
            "scroll_stem(1)",
            "Scroll",
            tooltip="Scroll the stem, and then the options.",
            id="stem-down",
        ),
        Binding("home", "move(-1000)", "First", tooltip="To the first option.", id="option-first"),
        Binding("end", "move(1000)", "Last", tooltip="To the last option.", id="option-last"),
    ]

    def __init__(self, taking: Taking) -> None:
        super().__init__()
        self.taking = taking
        self._notice = ""
        self._shown_submitted = False
        self._shared_for: Size | None = None
        self._entry: Entry | None = None
        self._warned = False

    def compose(self) -> ComposeResult:
        yield self.title_line
        with Body(id="body"):
            yield Sheet(id="stem")
            yield OneLine(self._rule, id="rule")
            yield Options(self.glyphs, id="options")
        yield OneLine(self._status, id="status")
        yield self.key_bar

    def on_mount(self) -> None:
        # Before the first layout, so that there is only one.
        self.quiz.guarded(lambda: self.show_question(self.taking.index))

    def action_back(self) -> None:
        """Esc: to the banks; the attempt stays open."""
        self.quiz.to_picker()

    def show_question(self, index: int) -> None:
        """Show a question in place."""
        self.state = self.taking.enter(index)
        self._notice = ""
        self._warned = False
        self._shown_submitted = self.state.submitted
        page = self.quiz.pages.question(self.state)
        options = self.query_one(Options)
        self.query_one("#stem", Sheet).show(page.stem)
        options.show_options(self.state, page.options, page.pairs)
        self._show_entry()
        self.show_strip()
        self._share_height()
        self.show_frame()

    def _show_entry(self) -> None:
        """The line to type into, where a text is asked for; what was typed once it is handed in."""
        state = self.state
        asked = state is not None and state.typed and not state.submitted
        self.query_one(Options).display = not asked
        if state is None or not asked:
            if self._entry is not None:
                self._entry.display = False
                self.set_focus(None)
            return
        if self._entry is None:
            from quizapp.tui.widgets.entry import Entry

            self._entry = Entry(max_length=_LONGEST_TYPED, id="entry")
            self.query_one("#body").mount(self._entry)
        with self._entry.prevent(self._entry.Changed):
            self._entry.value = state.text
        self._entry.placeholder = state.instruction()
        self._entry.cursor_position = len(state.text)
        self._entry.display = True
        self.set_focus(self._entry)

    def on_input_changed(self, event: Input.Changed) -> None:
        state = self.state
        if state is None:
            return
        self._notice = ""
        if state.type(event.value):
            self.quiz.guarded(lambda: self.taking.respond(state))
        self.show_frame()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.action_submit()

    def on_descendant_focus(self) -> None:
        self.show_frame()

    def on_descendant_blur(self) -> None:
        self.show_frame()

    def on_screen_resume(self) -> None:
        """Back from an explanation: only now is there somebody to see what became of each option."""
        if self.state is not None and self.state.submitted != self._shown_submitted:
            self.show_submitted()

    def show_submitted(self) -> None:
        """The response was handed in: mark what became of each option."""
        self._notice = ""
        self._shown_submitted = self.state is not None and self.state.submitted
        options = self.query_one(Options)
        options.show_again()
        self._show_entry()
        self.show_strip()
        self._share_height()
        self.show_frame()

    def read_in_full(self) -> None:
        """Show the texts anew, now that there is time to read them properly."""
        if self.state is not None:
            page = self.quiz.pages.question(self.state)
            self.query_one("#stem", Sheet).show(page.stem, keep_place=True)
            self.query_one(Options).show_options(self.state, page.options, page.pairs)
            self._share_height()

    def refresh_question(self) -> None:
        """Show the current question as it stands on record."""
        self.show_question(self.taking.index)

    def show_frame(self) -> None:
        state, taking, glyphs = self.state, self.taking, self.glyphs
        if state is None:
            return
        right: Line = [
            *clock(taking, glyphs),
            (f"{place_words(taking)} ", "strong"),
            *progress(taking, glyphs),
        ]
        sitting = taking.sitting
        facts = [f"{points_of(state.question.points)}", sitting.mode]
        if not sitting.saved:
            facts.append("not saved")
        right.append((f" {glyphs.dot} ".join(["", *facts]), "muted"))
        self.show_title([(sitting.bank_title, "strong")], right)
        self.query_one("#status", OneLine).refresh()
        concealed = sitting.concealed
        on_enter = "Explanation" if state.submitted else "Next" if concealed else "Submit"
        submit = ("enter", glyphs.enter, on_enter)
        run = [("r", "r", "Run demo")] if state.focused and state.focused.demo and state.demos else []
        run = [("m", "m", "Mark")] if concealed else run
        if self._typing:
            self.show_keys(submit, ("escape", "Esc", "Other keys"))
            return
        choose = _SPACE.get(state.question.kind, "Choose")
        reading = self.reading
        meter = [("u", "u", "Meter")] if reading is not None else []
        self.show_keys(
            submit,
            *run,
            *meter,
            *([] if state.submitted else [("space", "Space", choose)]),
            ("right_square_bracket", "]", "Next" if state.submitted else "Skip"),
            ("l", "l", "List"),
            ("escape", "Esc", "Leave"),
        )

    @property
    def _typing(self) -> bool:
        """Whether letters go into the entry."""
        return self._entry is not None and self.focused is self._entry

    def _status(self, width: int) -> list[Line]:
        state = self.state
        if state is None:
            return [[]]
        if self._notice:
            return [[(self._notice, "warning")]]
        line: Line = [(state.instruction(), "muted")]
        if state.submitted:
            line = [
                (state.verdict() or "submitted", verdict_role(state)),
                ("  the response is handed in", "muted"),
            ]
        if self.taking.sitting.marked(self.taking.index):
            line = [(f"{self.glyphs.marked} marked  ", "accent"), *line]
        below = self.query_one(Options).rows_below
        if below:
            hint = f"{below} more below: {self.glyphs.down} PgDn"
            gap = width - line_width(line) - len(hint)
            line += [(" " * gap, ""), (hint, "muted")] if gap > 1 else []
        return [line]

    def _rule(self, width: int) -> list[Line]:
        hidden = self.query_one("#stem", Sheet).hidden_below if not self.side_by_side else 0
        if hidden:
            hint = f" {hidden} more lines: PgDn "
            return [
                [
                    (self.glyphs.rule * (width - len(hint) - 2), "frame"),
                    (hint, "muted"),
                    (self.glyphs.rule * 2, "frame"),
                ]
            ]
        return [[(self.glyphs.rule * width, "frame")]]

    def on_resize(self, event: events.Resize) -> None:
        if self.state is not None and event.size != self._shared_for:
            self._share_height()

    def _share_height(self) -> None:
        """Room to spare goes between the options. Where stem and options don't both fit, the options get what
        they need, up to two thirds, and both scroll.
        """
        stem, options = self.query_one("#stem", Sheet), self.query_one(Options)
        self._shared_for = self.app.size
        if self.side_by_side or self.state is None:
            options.set_airy(self.side_by_side)
            for sheet in (stem, options):
                sheet.styles.clear_rule("height")
                sheet.styles.clear_rule("padding")
            return
        # Title, rule, status and keys take a line each; a short screen goes without the rule.
        height = self.app.size.height - (4 if self.app.size.height >= SHORT else 3)
        width = self.app.size.width
        options.set_airy(False)
        if self._entry is not None and self._entry.display:
            # A line above the entry and one below it.
            stem.styles.padding = (0, 0, 0, 1)
            stem.styles.height = max(1, min(len(stem.lines_at(width - 1)), height - 3))
            return
        if self.share_with_recording(stem, height, width):
            return
        wanted_stem, wanted_options = len(stem.lines_at(width - 1)), len(options.lines_at(width))
        spare = height - wanted_stem - wanted_options
        between = max(0, self.state.rows - 1)
        if airy := spare >= between:
            options.set_airy(True)
            wanted_options += between
            spare -= between
        above, below = airy and spare >= 1, airy and spare >= 2
        stem.styles.padding = (int(above), 0, 0, 1)
        options.styles.padding = (int(below), 0, 0, 0)
        if spare < 0:
            room = max(height - wanted_stem, height * 2 // 3)
            wanted_options = max(1, min(wanted_options, room, height - min(LEAST_STEM, wanted_stem)))
            wanted_stem = max(1, height - wanted_options)
        stem.styles.height = wanted_stem + above
        options.styles.height = wanted_options + below

    def on_sheet_scrolled(self, message: Sheet.Scrolled) -> None:
        self.query_one("#rule", OneLine).refresh()
        self.query_one("#status", OneLine).refresh()

    def on_options_picked(self, message: Options.Picked) -> None:
        state = self.state
        if state is not None and state.question.kind == "matching" and message.index >= state.rows:
            self.after_change(state.match(message.index - state.rows))
        else:
            self.pick(message.index)

    def action_pick(self, key: str) -> None:
        """Choose the option of a number or letter."""
        index = self.state.index_of_key(key) if self.state is not None else None
        if self.state is None or index is None:
            return
        if self.state.question.kind == "matching" and not key.isdecimal():
            self.after_change(self.state.match(index))
        else:
            self.pick(index)

    def action_pick_focused(self) -> None:
        """Space."""
        if self.pick_in_recording():
            return
        if self.state is not None and self.state.question.kind == "matching":
            self.after_change(self.state.match_next())
        elif self.state is not None and self.state.options:
            self.pick(self.state.cursor)
        elif self._entry is not None and self._entry.display:
            self.set_focus(self._entry)

    def pick(self, index: int) -> None:
        if self.state is not None:
            changed = self.state.pick(index)
            self.after_change(changed)

    def action_clear(self) -> None:
        """Take the response back."""
        if self.state is not None:
            self.after_change(self.state.clear())
            if self.state.typed:
                self._show_entry()

    def after_change(self, changed: bool) -> None:
        self._notice = ""
        if changed and self.state is not None:
            state = self.state
            self.quiz.guarded(lambda: self.taking.respond(state))
        self.redraw()

    def action_submit(self) -> None:
        """Submit, or show the explanation again."""
        state = self.state
        if state is None:
            return
        reading = self.reading
        if state.submitted:
            self.quiz.reveal(self.taking, state)
        elif reading is not None and reading.anchor_s is not None:
            self.after_change(reading.mark_time())
        elif reading is not None and reading.blank:
            self._say("Nothing is picked yet: Space or a click picks, ] skips.")
        elif state.blank and state.typed:
            self._say("Nothing is typed yet; Esc and then ] skips.")
        elif state.blank and state.question.kind in _NOTHING_YET:
            self._say(_NOTHING_YET[state.question.kind])
        elif state.question.kind == "matching" and len(state.matched) < state.rows and not self._warned:
            self._warned = True
            self._say(f"{state.rows - len(state.matched)} not matched yet; Enter again submits all the same.")
        elif state.blank:
            self._say("Nothing is chosen yet: a number, a letter or Space chooses, ] skips.")
        elif state.fault:
            self._say(visible(f"{state.fault[0].upper()}{state.fault[1:]}."))
        elif self.taking.sitting.concealed:
            self.action_go(1)
        elif self.quiz.guarded(lambda: self.taking.submit(state)):
            self.quiz.submitted(self.taking, state)

    def action_run_demo(self) -> None:
        """Open the lab on the option under the cursor."""
        if self.state is not None:
            if not self.state.demos:
                self._say("Demos come after the exam.")
            elif self.state.focused is None or self.state.focused.demo is None:
                self._say("No demo speaks to this option.")
            else:
                self.quiz.open_lab(self.taking, self.state)

    def action_go(self, steps: int) -> None:
        """Previous or next question; past the last one stands the list of all."""
        target = self.taking.index + steps
        if 0 <= target < self.taking.total:
            self.quiz.go_to(self.taking, target)
        elif steps > 0:
            self.quiz.past_the_last(self.taking)
        else:
            self._say("This is the first question.")

    def action_mark(self) -> None:
        """Mark the question."""
        self.quiz.guarded(lambda: self.taking.toggle_mark(self.taking.index))
        self._notice = ""
        self.query_one("#status", OneLine).refresh()

    def action_overview(self) -> None:
        """List all questions."""
        self.quiz.show_overview(self.taking)

    def tick(self) -> None:
        """The clock goes on."""
        self.show_frame()

    def _say(self, text: str) -> None:
        self._notice = text
        self.query_one("#status", OneLine).refresh()
