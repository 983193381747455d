"""The app: it owns the sitting on screen and the lab, and decides what follows what."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.theme import Theme

from quizapp.bank.text import visible
from quizapp.errors import QuizappError
from quizapp.tui.glyphs import Glyphs, glyphs_for
from quizapp.tui.pages import Pages

if TYPE_CHECKING:
    from pathlib import Path

    from quizapp.lab.runner import Lab
    from quizapp.store.store import AttemptSummary
    from quizapp.tui.desk import Desk
    from quizapp.tui.lab_state import LabOrder
    from quizapp.tui.question_state import QuestionState
    from quizapp.tui.screens.base import QuizScreen
    from quizapp.tui.screens.question import QuestionScreen
    from quizapp.tui.screens.reveal import RevealScreen
    from quizapp.tui.taking import Taking

_Value = TypeVar("_Value")
First = Literal["picker", "sitting", "lab"]
"""The screen to begin with."""

WARM_AFTER_S = 0.3
TICK_S = 1.0

# One hue, for what can be done and for how busy a device is; green and red are left to verdicts.
THEME = Theme(
    name="quizapp",
    dark=True,
    primary="#5fb0f0",
    accent="#5fb0f0",
    foreground="#d5dbe3",
    background="#0f1317",
    surface="#171d24",
    panel="#1f2831",
    success="#79c98a",
    error="#ec7f86",
    warning="#e3b866",
)


class QuizApp(App[int]):
    """The screens of quizapp. `run` returns the exit code: 1 when the attempt on screen failed its mark."""

    TITLE = "quizapp"
    BINDINGS: ClassVar[list[BindingType]] = [
        # Textual answers ctrl+c with a hint; here it leaves, as it does everywhere else.
        Binding("ctrl+c,ctrl+q", "leave", "Quit", show=False),
    ]

    def __init__(self, desk: Desk, first: First, order: LabOrder | None = None) -> None:
        # The style of a screen is read when the screen is pushed, which the first one is not.
        super().__init__(css_path="app.tcss" if first == "sitting" else ["app.tcss", "later.tcss"])
        if "TEXTUAL_THEME" not in os.environ:
            self._registered_themes[THEME.name] = THEME
            # Not by assignment: nothing is styled yet that would have to be styled anew.
            self.set_reactive(App.theme, THEME.name)
            self.stylesheet.set_variables(self.get_css_variables())
        self.desk = desk
        self.glyphs: Glyphs = glyphs_for(getattr(sys.__stdout__, "encoding", None))
        self.pages = Pages(self.glyphs, hurried=first == "sitting")
        self.farewell: list[str] = []
        """Texts to be printed once the screen is given back."""
        self._first = first
        self._order = order
        self._lab: Lab | None = None
        self._reveal: RevealScreen | None = None
        self.lab_result = 0
        """Exit code of a demo that is run alone."""

    # Start and end.

    def get_default_screen(self) -> Screen[Any]:
        if self._first == "sitting" and self.desk.taking is not None:
            if self.desk.taking.sitting.finished:
                from quizapp.tui.screens.results import ResultsScreen

                return ResultsScreen(self.desk.taking)
            return self._new_question_screen(self.desk.taking)
        if self._first == "lab" and self._order is not None:
            from quizapp.tui.screens.lab import LabScreen

            return LabScreen(self._order)
        from quizapp.tui.screens.picker import PickerScreen

        return PickerScreen()

    def on_ready(self) -> None:
        # Only now, with the first screen painted, does anything else begin.
        gc.enable()
        self.call_after_refresh(self._settle)
        self.tell_notices()
        self._start_clock()
        if self._first == "sitting":
            self.set_timer(WARM_AFTER_S, self._warm_lab)

    def _start_clock(self) -> None:
        """Count an exam's time down, and end the exam with it."""
        taking = self.desk.taking
        if taking is None or taking.sitting.remaining_s is None:
            return
        warned = False

        def tick() -> None:
            nonlocal warned
            left_s, limit_s = taking.sitting.remaining_s, taking.sitting.time_limit_s
            if left_s is None or limit_s is None or self.desk.taking is not taking:
                timer.stop()
            elif taking.sitting.time_up:
                timer.stop()
                self.time_up(taking)
            else:
                if not warned and is_near(left_s, limit_s):
                    warned = True
                    self.tell(f"{in_words(left_s)} left.", severity="warning")
                if isinstance(self.screen, QuizScreen):
                    self.screen.tick()

        from quizapp.assess.exam_clock import in_words, is_near
        from quizapp.tui.screens.base import QuizScreen

        timer = self.set_interval(TICK_S, tick)

    def time_up(self, taking: Taking) -> None:
        """The exam is over: what was given is submitted, and told."""
        if not taking.sitting.finished:
            self._finish(taking)
            self.tell("The time is up. What you gave is submitted.", severity="warning")

    def _settle(self) -> None:
        if self.pages.settle() and (screen := self.question_screen) is not None:
            screen.read_in_full()

    @property
    def lab(self) -> Lab:
        """The lab; one for as long as the app lives."""
        if self._lab is None:
            self._lab = self.desk.lab()
        return self._lab

    def _warm_lab(self) -> None:
        """Have torch imported in a process of its own while the question is read."""
        bank = self.desk.bank
        taking = self.desk.taking
        if bank is not None and bank.demos and not (taking is not None and taking.sitting.concealed):
            self.run_worker(self._warm(), group="warm", exit_on_error=False)

    async def _warm(self) -> None:
        # The lab's screen says why it can't, to those who open it.
        with suppress(QuizappError):
            await self.lab.warm()

    async def action_leave(self) -> None:
        """Ctrl-C, Ctrl-Q."""
        self.leave()

    def leave(self) -> None:
        """End the app. Everything is saved already; demos end with it."""
        taking = self.desk.taking
        if taking is not None and not taking.sitting.finished and self.desk.bank is not None:
            saved = taking.sitting.saved
            ref = self.desk.bank.path if self.desk.bank.path.parent.name != "quizzes" else self.desk.bank.id
            left = taking.open_count()
            open_ = f"{left} of {taking.total} questions " + ("is open." if left == 1 else "are open.")
            how = f"Go on with: quizapp take {ref}" if saved else "Nothing of it was saved."
            left_s = taking.sitting.remaining_s
            if left_s is not None and saved:
                from quizapp.assess.exam_clock import in_words

                how += f"\nThe exam's clock runs on: {in_words(left_s)} left."
            self.farewell.append("\n".join(map(visible, f"{open_} {how}".split("\n"))))
        self.exit(self._exit_code())

    def _exit_code(self) -> int:
        """1 when the attempt failed its mark, or the demo that was run alone did not do as it declares."""
        if self._first == "lab":
            return self.lab_result
        taking = self.desk.taking
        return (
            1
            if taking is not None and taking.sitting.finished and taking.sitting.result().passed is False
            else 0
        )

    async def on_unmount(self) -> None:
        if self._lab is not None:
            await self._lab.close()
        self.desk.leave_sitting()

    # Saying things. No text is ever read as markup.

    def tell(
        self,
        text: str,
        *,
        title: str = "",
        severity: Literal["information", "warning", "error"] = "information",
    ) -> None:
        """A toast."""
        self.notify(visible(text), title=visible(title), severity=severity, markup=False)

    def tell_notices(self) -> None:
        """What the desk has to say to the learner."""
        notices, self.desk.notices = self.desk.notices, []
        for notice in notices:
            self.tell(notice, severity="warning")

    def show_text(self, title: str, text: str) -> None:
        """A text in a window."""
        from quizapp.tui.render import wrap
        from quizapp.tui.screens.text import TextScreen

        shown = visible(text)
        self.push_screen(TextScreen(visible(title), lambda width: wrap([(shown, "")], width), plain=shown))

    def show_errors(self, name: str, path: Path) -> None:
        """Everything that is wrong with a bank."""
        self.show_text(f"Errors in {name}", self.desk.errors(path))

    def show_keys_of(self, screen: QuizScreen) -> None:
        """The cheat sheet."""
        from quizapp.tui.screens.keys import keys_screen

        self.push_screen(keys_screen(screen))

    def offer_copy(self, text: str) -> None:
        """Ask the terminal to copy; it never says whether it did."""
        self.copy_to_clipboard(text)
        self.tell("Sent to the terminal's clipboard. tmux and ssh may drop it: p prints it on exit.")

    def print_on_exit(self, text: str) -> None:
        """Print a text once the screen is given back."""
        if text not in self.farewell:
            self.farewell.append(text)
        self.tell("Will be printed when quizapp ends.")

    def save_text(self, kind: str, text: str) -> None:
        """Write a text to a new file in the current folder."""
        from datetime import datetime
        from pathlib import Path

        bank = self.desk.bank.id if self.desk.bank is not None else "quizapp"
        stamp = datetime.now().astimezone().strftime("%Y-%m-%dT%H%M%S")
        path = Path.cwd() / f"quizapp-{kind}-{bank}-{stamp}.txt"
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text if text.endswith("\n") else text + "\n")
        except OSError as error:
            self.tell(
                f"{path}: {error.strerror}. p prints it on exit instead.", title="Not saved", severity="error"
            )
            return
        self.tell(f"Saved: {path}")

    def guarded(self, act: Callable[[], object]) -> bool:
        """Do what may fail for a reason that the user can act on; False when it did, and was told."""
        from quizapp.store.database import StoreUnavailable
        from quizapp.store.sitting import TimeUp

        try:
            act()
        except TimeUp:
            if self.desk.taking is not None:
                self.time_up(self.desk.taking)
            return False
        except StoreUnavailable as error:
            self._offer_unsaved(act, error)
            return False
        except QuizappError as error:
            from quizapp.store.history import NothingDue

            if isinstance(error, NothingDue):
                self.tell(str(error))
            else:
                self.tell(str(error), title="That did not work", severity="error")
            return False
        return True

    def guarded_value(self, make: Callable[[], _Value]) -> _Value | None:
        """What `make` gives; None when it fails and the user was told."""
        try:
            return make()
        except QuizappError as error:
            self.tell(str(error), title="That did not work", severity="error")
            return None

    def _offer_unsaved(self, act: Callable[[], object], error: QuizappError) -> None:
        from quizapp.tui.screens.confirm import ConfirmScreen

        def answered(go_on: bool | None) -> None:
            taking = self.desk.taking
            if go_on and taking is not None:
                taking.sitting.keep_unsaved()
                self.guarded(act)
                screen = self.question_screen
                if screen is not None:
                    screen.refresh_question()

        text = f"{error}\n\nWhat you did before is safe. Go on, with nothing saved from here on?"
        self.push_screen(
            ConfirmScreen("This can't be saved", text, yes="Go on without saving", no="Back, and try again"),
            answered,
        )

    # What follows what.

    @property
    def question_screen(self) -> QuestionScreen | None:
        """The question screen nearest to the top of the stack."""
        from quizapp.tui.screens.question import QuestionScreen

        stack = reversed(self.screen_stack)
        return next((screen for screen in stack if isinstance(screen, QuestionScreen)), None)

    def _new_question_screen(self, taking: Taking) -> QuestionScreen:
        from quizapp.tui.screens.question import QuestionScreen

        return QuestionScreen(taking)

    def go_back(self) -> None:
        """One screen back; from the first one to the banks."""
        if len(self.screen_stack) > 1:
            self.pop_screen()
        elif self._first == "lab":
            self.leave()
        else:
            self.to_picker()

    def _pop_to(self, kind: type[Screen[Any]]) -> bool:
        """Pop until a screen of this kind is on top; False when there is none."""
        if not any(isinstance(screen, kind) for screen in self.screen_stack):
            return False
        while not isinstance(self.screen, kind):
            self.pop_screen()
        return True

    def _replace(self, screen: Screen[Any]) -> None:
        """Put a screen in the place of the one on top; the one at the bottom can only be covered."""
        if len(self.screen_stack) > 1:
            self.switch_screen(screen)
        else:
            self.push_screen(screen)

    def take(self, path: Path, *, fresh: bool, mode: str | None = None) -> None:
        """Take a bank out of the list."""
        desk = self.desk
        if self.guarded(lambda: desk.begin(path, fresh=fresh, mode=mode)) and desk.taking is not None:
            if desk.taking.sitting.finished:
                from quizapp.tui.screens.results import ResultsScreen

                self.push_screen(ResultsScreen(desk.taking))
            else:
                self.push_screen(self._new_question_screen(desk.taking))
            self.tell_notices()
            self._start_clock()
            self.set_timer(WARM_AFTER_S, self._warm_lab)

    def to_picker(self) -> None:
        """Let the sitting go, and show the banks."""
        from quizapp.tui.screens.picker import PickerScreen

        self.desk.leave_sitting()
        if not self._pop_to(PickerScreen):
            while len(self.screen_stack) > 1:
                self.pop_screen()
            self._replace(PickerScreen())

    def discard(self, attempt: AttemptSummary, then: Callable[[], None]) -> None:
        """Give an open attempt up, once the user has said so."""
        from quizapp.tui.screens.confirm import ConfirmScreen

        def answered(yes: bool | None) -> None:
            if yes and self.guarded(lambda: self.desk.store.discard(attempt.id)):
                then()

        text = (
            f"{attempt.answered} of {attempt.total} questions are submitted: {visible(attempt.bank_title)}. "
            "A discarded attempt is kept in the list of results, and can't be resumed."
        )
        self.push_screen(ConfirmScreen("Discard this attempt?", text, yes="Discard", no="Keep"), answered)

    def go_to(self, taking: Taking, index: int) -> None:
        """Show another question of the sitting."""
        from quizapp.tui.screens.question import QuestionScreen

        if taking.sitting.finished:
            self.review(taking, index)
        elif (screen := self.question_screen) is not None and self.guarded(
            lambda: screen.show_question(index)
        ):
            # What it shows is changed before it comes up again, so that it is painted once.
            self._pop_to(QuestionScreen)

    def submitted(self, taking: Taking, state: QuestionState) -> None:
        """A response was handed in: practice shows at once what became of it."""
        self.reveal(taking, state)

    def reveal(self, taking: Taking, state: QuestionState) -> None:
        """Show the explanation of a question."""
        if self._too_early(taking):
            return
        from quizapp.tui.screens.reveal import RevealScreen

        if self._reveal is None:
            self._reveal = RevealScreen(taking, state)
            # Installed, it stays mounted while it is not shown: mounting costs more than all of its text.
            self.install_screen(self._reveal, "reveal")
        else:
            self._reveal.show_reveal(taking, state)
        if self.screen is not self._reveal:
            self.push_screen(self._reveal)

    def after_reveal(self, taking: Taking) -> None:
        """The next question that is open, the next one of a review, or the results."""
        if taking.sitting.finished:
            if taking.index + 1 < taking.total:
                self.review(taking, taking.index + 1)
            else:
                self.go_back()
        elif (target := taking.next_open()) is None:
            self._finish(taking)
        else:
            self.go_to(taking, target)

    def past_the_last(self, taking: Taking) -> None:
        """Beyond the last question: the results when nothing is open, else the list of all."""
        if taking.open_count() == 0 and not taking.sitting.concealed:
            self._finish(taking)
        else:
            self.show_overview(taking)

    def _too_early(self, taking: Taking) -> bool:
        """Whether an exam is open, of which nothing may be told yet; the learner is told that."""
        if taking.sitting.concealed:
            self.tell("That comes after the exam.")
        return taking.sitting.concealed

    def show_overview(self, taking: Taking) -> None:
        """The list of all questions."""
        from quizapp.tui.screens.overview import OverviewScreen

        self.push_screen(OverviewScreen(taking))

    def turn_in(self, taking: Taking) -> None:
        """Finish, after a question when something is still open."""
        exam = taking.sitting.concealed
        if taking.sitting.finished or (taking.open_count() == 0 and not exam):
            self._finish(taking)
            return
        from quizapp.tui.screens.confirm import ConfirmScreen

        def answered(yes: bool | None) -> None:
            if yes:
                self._finish(taking)

        count = taking.open_count()
        what = "1 question is open" if count == 1 else f"{count or 'No'} questions are open"
        marked = taking.marked_count()
        if exam and marked:
            what += f", {marked} " + ("is marked" if marked == 1 else "are marked")
        text = (
            f"{what}. What is chosen will be submitted, the rest counts as unanswered. "
            "This can't be taken back."
        )
        thing = "exam" if exam else "attempt"
        self.push_screen(ConfirmScreen(f"Turn the {thing} in?", text, yes="Turn in", no="Go on"), answered)

    def _finish(self, taking: Taking) -> None:
        if self.guarded(taking.sitting.finish):
            from quizapp.tui.screens.results import ResultsScreen

            while len(self.screen_stack) > 1 and not self._is_picker(self.screen_stack[-2]):
                self.pop_screen()
            self._replace(ResultsScreen(taking))

    @staticmethod
    def _is_picker(screen: Screen[Any]) -> bool:
        from quizapp.tui.screens.picker import PickerScreen

        return isinstance(screen, PickerScreen)

    def review(self, taking: Taking, index: int) -> None:
        """Show the explanation of a question of a finished sitting."""
        taking.index = index
        self.reveal(taking, taking.state(index))

    def redo_wrong(self, taking: Taking, question_ids: list[str]) -> None:
        """A new sitting on what went wrong."""
        if not question_ids:
            self.tell("Nothing went wrong: there is nothing to redo.")
            return
        desk = self.desk
        if self.guarded(lambda: desk.redo(question_ids)) and desk.taking is not None:
            self._replace(self._new_question_screen(desk.taking))

    def show_links(self, state: QuestionState) -> None:
        """Addresses to read on, those of the picture included."""
        from quizapp.tui.pages import letters_of
        from quizapp.tui.screens.links import LinksScreen

        self.push_screen(LinksScreen("Read on", self.pages.links(state.question, letters_of(state))))

    def show_picture(self, state: QuestionState) -> None:
        """Where the picture is."""
        from quizapp.tui.screens.links import LinksScreen

        figure = state.question.explanation.figure
        if figure is None:
            self.tell("This question has no picture.")
            return
        where = self.desk.picture(figure.src)
        self.push_screen(LinksScreen("The picture, to open in a browser or viewer", [("", where)]))

    def open_lab(self, taking: Taking, state: QuestionState) -> None:
        """The lab, on the option under the cursor."""
        if self._too_early(taking):
            return
        from quizapp.tui.lab_state import order_for

        order = self.guarded_value(lambda: order_for(taking, state, self.desk.catalogue, self.desk.device))
        if order is not None:
            from quizapp.tui.screens.lab import LabScreen

            self.push_screen(LabScreen(order))

    def test_key(self, taking: Taking, state: QuestionState) -> None:
        """The test of a question's key, on this machine."""
        if self._too_early(taking):
            return
        from quizapp.lab.key_test import KeyTest
        from quizapp.tui.screens.key_test import KeyTestScreen

        grounds = self.guarded_value(lambda: self.desk.grounds)
        ground = None if grounds is None else self.guarded_value(lambda: grounds.of(state.question))
        if grounds is None or ground is None:
            return
        if not ground.testable:
            self.tell(f"This key can't be tested: {ground.reason or 'no experiment speaks to it'}.")
            return
        test = self.guarded_value(lambda: KeyTest(state.question, grounds))
        if test is not None:
            self.push_screen(KeyTestScreen(taking, state, grounds, test))

    def appeal(self, taking: Taking, state: QuestionState) -> None:
        """Write a report to the bank's author, and say where it is."""
        if self._too_early(taking):
            return
        from datetime import UTC, datetime
        from pathlib import Path

        from quizapp.lab.appeal import report, write_report

        ground = None
        if state.question.symptom is not None:
            ground = self.guarded_value(lambda: self.desk.grounds.of(state.question))
        now = datetime.now(UTC)
        sitting, index = taking.sitting, taking.index
        text = report(sitting, index, ground, now)
        path = self.guarded_value(
            lambda: write_report(Path.cwd(), sitting.bank_id, state.question.id, text, now)
        )
        if path is not None:
            evidence = ground is not None and ground.finding is not None
            held = "" if evidence else "It holds no evidence: t tests the key here, then appeal again.\n\n"
            self.show_text(
                "Your appeal is written",
                f"{path}\n\n{held}Say in it why the key is wrong, and send it to the bank's author.",
            )

    # The command palette.

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        from quizapp.tui.commands import commands_for

        yield from commands_for(self, screen)
        yield SystemCommand("Theme", "Change the colours", self.action_change_theme)
        yield SystemCommand("Quit", "Leave quizapp; everything is saved", self.leave)
