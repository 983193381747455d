"""The banks: pick one, go on where you left, begin anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from quizapp.bank.text import visible
from quizapp.errors import QuizappError
from quizapp.tui.render import Line, fit, width_of, wrap
from quizapp.tui.screens.base import QuizScreen
from quizapp.tui.widgets.body import Body
from quizapp.tui.widgets.listing import Listing
from quizapp.tui.widgets.one_line import OneLine
from quizapp.tui.widgets.sheet import Sheet

if TYPE_CHECKING:
    from quizapp.assess.review import Today
    from quizapp.tui.picker_state import PickerRow, PickerState


_REVIEWS_AFTER_S = 0.1


class PickerScreen(QuizScreen):
    """A list of banks, what is known of the one under the cursor, and a filter."""

    HELP_TITLE = "Banks"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", tooltip="Move in the list.", id="bank-up"),
        Binding("down,j", "move(1)", "Down", tooltip="Move in the list.", id="bank-down"),
        Binding("pageup", "page(-1)", "Page up", tooltip="Move by a page.", id="bank-page-up"),
        Binding("pagedown", "page(1)", "Page down", tooltip="Move by a page.", id="bank-page-down"),
        Binding(
            "enter", "take", "Take", tooltip="Take the bank: go on where you left, or begin.", id="bank-take"
        ),
        Binding(
            "n", "fresh", "Start anew", tooltip="Begin a new attempt, whatever is open.", id="bank-fresh"
        ),
        Binding(
            "e",
            "exam",
            "Exam",
            tooltip="Take the bank as an exam: nothing is told before its end.",
            id="bank-exam",
        ),
        Binding("r", "review", "Review", tooltip="Ask what is due today, and some new.", id="bank-review"),
        Binding("x", "discard", "Discard", tooltip="Give the open attempt up.", id="bank-discard"),
        Binding("v", "error", "Errors", tooltip="Show what is wrong with a broken bank.", id="bank-error"),
        Binding(
            "slash", "filter", "Filter", tooltip="Filter the banks by words of their title.", id="bank-filter"
        ),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.state: PickerState | None = None
        self._typing = False

    def compose(self) -> ComposeResult:
        yield self.title_line
        yield OneLine(self._filter_line, id="filter")
        with Body(id="body"):
            yield Listing(self.glyphs, id="list")
            yield OneLine(self._rule, id="rule")
            yield Sheet(self._details, id="details")
        yield self.key_bar

    def on_mount(self) -> None:
        self.load()

    def on_screen_resume(self) -> None:
        """Back from a sitting: its score belongs in the list."""
        if self.state is not None:
            self.load()

    def load(self) -> None:
        """Read the banks and the attempts anew."""
        from quizapp.tui.picker_state import PickerState

        before = self.state
        desk = self.quiz.desk
        self.state = PickerState(
            self.quiz.guarded_value(desk.entries) or [], self.quiz.guarded_value(desk.attempts) or []
        )
        if before is not None:
            self.state.filter = before.filter
            self.state.cursor = before.cursor
        self._show()
        if any(row.attempted and not row.broken for row in self.state.rows):
            # After the list stands: scheduling takes longer than showing it.
            self.set_timer(_REVIEWS_AFTER_S, self._show_reviews)

    def _show_reviews(self) -> None:
        """Count what is due, and say so in the list."""
        state = self.state
        if state is None:
            return
        for row in state.rows:
            if row.attempted and not row.broken:
                try:
                    state.today[row.path] = self.quiz.desk.review_today(row.path)
                except QuizappError:
                    continue  # taking the bank says what is wrong with it
        self._show()

    def _show(self) -> None:
        state = self.state
        if state is None:
            return
        shown = state.shown
        count = len(state.rows)
        self.show_title(
            [
                ("quizapp", "strong"),
                (f" {self.glyphs.dot} {count} bank" + ("" if count == 1 else "s"), "muted"),
            ],
            [(f"learner: {fit(self.quiz.desk.learner, 20, self.glyphs)}", "muted")],
        )
        self.query_one(Listing).show_rows(len(shown), self._row, cursor=state.cursor)
        self._show_details()

    def _show_details(self) -> None:
        self.query_one("#details", Sheet).show(self._details)
        self.query_one("#filter", OneLine).refresh()
        glyphs, row = self.glyphs, self.state.focused if self.state else None
        if self._typing:
            self.show_keys(("enter", glyphs.enter, "Keep"), ("escape", "Esc", "Show all"))
            return
        keys = []
        if row is not None and row.broken:
            keys = [("v", "v", "Errors")]
        elif row is not None and row.open_attempt is not None:
            keys = [("enter", glyphs.enter, "Resume"), ("n", "n", "Start anew"), ("x", "x", "Discard")]
        elif row is not None:
            keys = [("enter", glyphs.enter, "Start"), ("r", "r", "Review"), ("e", "e", "Exam")]
        self.show_keys(*keys, ("slash", "/", "Filter"), ("q", "q", "Quit"))

    def _filter_line(self, width: int) -> list[Line]:
        state = self.state
        if state is None or (not state.filter and not self._typing):
            return [[("Pick a bank.", "muted")]]
        cursor = (
            [("_", "key")] if self._typing else [(f"   {len(state.shown)} of {len(state.rows)}", "muted")]
        )
        return [[("Filter: ", "muted"), (fit(state.filter, width - 12, self.glyphs), ""), *cursor]]

    def _rule(self, width: int) -> list[Line]:
        return [[(self.glyphs.rule * width, "frame")]]

    def _row(self, index: int, width: int) -> Line:
        shown = self.state.shown if self.state else []
        if index >= len(shown):
            return []
        row, glyphs = shown[index], self.glyphs
        entry = row.entry
        if row.broken:
            sign, role = glyphs.wrong, "wrong"
        elif row.open_attempt is not None:
            sign, role = glyphs.partial, "accent"
        elif row.finished:
            sign, role = (glyphs.right, "right") if row.passed else (glyphs.filled, "muted")
        else:
            sign, role = glyphs.open, "muted"
        facts = "" if row.broken else f"{entry.questions:>4} q {_demos(entry.demos):>9} "
        best = (
            "" if row.broken else f"{'best ' + format(row.best, '.0%') if row.best is not None else '':>10}"
        )
        today = self.state.today.get(row.path) if self.state else None
        status = fit(row.status(today), 17, glyphs)
        tail = f"{facts}{best}  {status:<17}" if width >= 66 else f"  {status:<17}"
        name = entry.title or f"{entry.id}.yaml"
        room = max(8, width - 3 - width_of(tail))
        shown_name = fit(name, room, glyphs)
        return [
            (f"{sign} ", role),
            (shown_name, "" if not row.broken else "muted"),
            (" " * max(0, room - width_of(shown_name)), ""),
            (tail, "muted"),
        ]

    def _details(self, width: int) -> list[Line]:
        state = self.state
        row = state.focused if state else None
        if state is None:
            return []
        if row is None:
            return self._empty(width)
        entry, glyphs = row.entry, self.glyphs
        lines = wrap([(visible(entry.title or entry.id), "strong")], width)
        if row.broken:
            first = entry.error.strip().splitlines()[0]
            return [
                *lines,
                *wrap([(visible(first), "warning")], width),
                *wrap([("v shows every error.", "muted")], width),
            ]
        facts = [
            f"{entry.questions} question" + ("" if entry.questions == 1 else "s"),
            _demos(entry.demos) or "no demos",
        ]
        if entry.time_limit_s:
            facts.append(f"{entry.time_limit_s / 60:g} min")
        if entry.pass_mark is not None:
            facts.append(f"pass mark {entry.pass_mark:.0%}")
        lines += wrap([(f" {glyphs.dot} ".join(facts), "muted")], width)
        lines += wrap([(self._history(row), "")], width)
        if (today := state.today.get(row.path)) is not None:
            lines += wrap([(_review_words(today), "")], width)
        lines += wrap([(visible(str(row.path)), "address")], width)
        return lines

    def _history(self, row: PickerRow) -> str:
        if row.open_attempt is not None:
            attempt = row.open_attempt
            from quizapp.store.clock import on_screen

            return (
                f"An attempt of {on_screen(attempt.started_at)} is open: "
                f"{attempt.answered} of {attempt.total} "
                + ("answered. It is an exam." if attempt.mode == "exam" else "submitted.")
            )
        if row.finished:
            times = "once" if row.finished == 1 else f"{row.finished} times"
            best = f", best {row.best:.0%}" if row.best is not None else ""
            return f"Finished {times}{best}."
        return "Not taken yet."

    def _empty(self, width: int) -> list[Line]:
        if self.state is not None and self.state.rows:
            return wrap([("No bank fits the filter. Esc shows all.", "muted")], width)
        text = "There is no bank here. `quizapp new my-bank` writes one; `quizapp take FILE` takes any file."
        return wrap([(text, "")], width)

    # Keys. While the filter is typed, every printable key goes into it.

    def on_key(self, event: events.Key) -> None:
        if not self._typing or self.state is None:
            return
        if event.key == "enter":
            self._typing = False
        elif event.key == "escape":
            self._typing = False
            self.state.set_filter("")
        elif event.key == "backspace":
            self.state.set_filter(self.state.filter[:-1])
        elif event.character is not None and event.is_printable:
            self.state.set_filter(self.state.filter + event.character)
        else:
            return
        event.stop()
        event.prevent_default()
        self._show()

    def action_filter(self) -> None:
        """Begin to type a filter."""
        self._typing = True
        self._show_details()

    def action_move(self, steps: int) -> None:
        """Move the cursor."""
        self.query_one(Listing).move(steps)

    def action_page(self, pages: int) -> None:
        """Move by pages."""
        self.query_one(Listing).page(pages)

    def on_listing_moved(self, message: Listing.Moved) -> None:
        if self.state is not None:
            self.state.cursor = message.index
            self._show_details()

    def on_listing_opened(self, message: Listing.Opened) -> None:
        self.action_take()

    def action_take(self) -> None:
        """Take the bank under the cursor."""
        row = self.state.focused if self.state else None
        if row is not None and row.broken:
            self.action_error()
        elif row is not None:
            self.quiz.take(row.path, fresh=False)

    def action_fresh(self) -> None:
        """A new attempt."""
        row = self.state.focused if self.state else None
        if row is not None and not row.broken:
            self.quiz.take(row.path, fresh=True)

    def action_review(self) -> None:
        """What is due today; an open review goes on."""
        row = self.state.focused if self.state else None
        if row is not None and not row.broken:
            self.quiz.take(row.path, fresh=False, mode="review")

    def action_exam(self) -> None:
        """An exam, after a question; an open one goes on at once."""
        row = self.state.focused if self.state else None
        if row is None or row.broken:
            return
        if row.open_attempt is not None and row.open_attempt.mode == "exam":
            self.quiz.take(row.path, fresh=False)
            return
        from quizapp.tui.screens.confirm import ConfirmScreen

        path, limit_s = row.path, row.entry.time_limit_s
        clock = (
            f"You have {limit_s / 60:g} minutes, and the clock runs on while quizapp is closed."
            if limit_s
            else "There is no time limit."
        )
        text = f"{clock} Keys, explanations and demos come at the end. Responses can be changed until then."

        def answered(yes: bool | None) -> None:
            if yes:
                self.quiz.take(path, fresh=False, mode="exam")

        self.quiz.push_screen(ConfirmScreen("Begin the exam?", text, yes="Begin", no="Not now"), answered)

    def action_discard(self) -> None:
        """Give the open attempt up, after a question."""
        row = self.state.focused if self.state else None
        if row is not None and row.open_attempt is not None:
            self.quiz.discard(row.open_attempt, self.load)

    def action_error(self) -> None:
        """What is wrong with a broken bank."""
        row = self.state.focused if self.state else None
        if row is not None and row.broken:
            self.quiz.show_errors(row.entry.id, row.path)

    def action_back(self) -> None:
        """Esc: the filter first, then the way out."""
        if self.state is not None and self.state.filter:
            self.state.set_filter("")
            self._show()
        else:
            self.quiz.leave()


def _review_words(today: Today) -> str:
    if today.ask:
        return f"Review today: {today.due} due, {today.new} new (r)."
    if today.next_day is None:
        return "Nothing is due for review."
    return f"Nothing is due for review; next on {today.next_day.isoformat()}."


def _demos(count: int) -> str:
    return f"{count} demo" + ("" if count == 1 else "s") if count else ""
