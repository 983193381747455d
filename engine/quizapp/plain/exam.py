"""Takes an exam in lines: nothing is told until it ends, and it ends when the learner or the clock does."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from quizapp.assess.exam_clock import in_words
from quizapp.plain import view
from quizapp.plain.answers import Said
from quizapp.plain.conversation import INPUT_ENDED, Conversation, Left, To
from quizapp.store.sitting import TimeUp


class ExamConversation(Conversation):
    """One exam. What was given when the time is up is submitted."""

    TOO_EARLY = "That comes after the exam."

    def run(self) -> int:
        """From the first open question to the result; raises Left when the learner or the input goes."""
        sitting, talk = self._sitting, self._talk
        if sitting.finished:
            return super().run()
        talk.say(sitting.bank_title)
        talk.wrapped(f"Exam: {self._terms()}. Keys and explanations come at its end; `finish` ends it.")
        if sitting.resumed:
            talk.say("Going on with your exam. (--new begins another.)")
            view.overview(talk, sitting)
        talk.say("Type the letter of your answer; ? tells what else can be typed.")
        try:
            place: int | None = self._next_open(sitting.position - 1)
            place = sitting.position if place is None else place
            while place is not None:
                place = self._visit(place)
        except TimeUp:
            talk.say()
            talk.say("The time is up. What you gave is submitted.")
        return self._end()

    def _terms(self) -> str:
        sitting = self._sitting
        count = "1 question" if sitting.total == 1 else f"{sitting.total} questions"
        left = sitting.remaining_s
        return count if left is None else f"{count}, {in_words(left)} left"

    def _submit(self, place: int) -> int | None:
        return self._next(place)  # all are submitted together

    def _common(self, said: Said, place: int) -> To | None:
        match said.command:
            case "demo" | "full" | "wrong" | "test" | "appeal":
                self._talk.say(self.TOO_EARLY)
            case "finish":
                return To(None) if self._may_end() else None
            case _:
                return super()._common(said, place)
        return None

    def _next(self, place: int) -> int | None:
        """The question after this one, answered or not; after the last one, what the learner wants to do."""
        if place + 1 < self._sitting.total:
            return place + 1
        while True:
            view.overview(self._talk, self._sitting)
            said = self._read(
                "That was the last question. `finish` ends the exam, `go 3` goes to question 3, "
                "Enter to the first open one:",
                {},
                several=False,
                answering=False,
            )
            if said.command == "skip":
                ahead = self._next_open(-1)
                return place if ahead is None else ahead
            to = self._common(said, place)
            if to is not None:
                return to.place

    def _may_end(self) -> bool:
        """Asks first when something is open; what is open counts as unanswered."""
        count = len(self._sitting.open_items())
        if not count:
            return True
        what = "1 question is" if count == 1 else f"{count} questions are"
        line = self._ask(f"{what} open, and will count as unanswered. End the exam? (yes, or Enter to go on)")
        if line is None:
            self.say_how_to_go_on("The input has ended")
            raise Left(INPUT_ENDED)
        return line.lower() in ("y", "yes", "finish")

    def say_how_to_go_on(self, how: str) -> None:
        """What has become of the exam that is being left."""
        super().say_how_to_go_on(how)
        left = self._sitting.remaining_s
        if left is not None and self._sitting.saved:
            self._talk.say(f"The clock runs on: {in_words(left)} left.")

    def _ask(self, prompt: str) -> str | None:
        left = self._sitting.remaining_s
        if left is None:
            return super()._ask(prompt)
        with _until(left):
            line = super()._ask(f"[{in_words(left)} left] {prompt}")
        if self._sitting.time_up:
            raise TimeUp
        return line


@contextmanager
def _until(seconds: float) -> Iterator[None]:
    """Raises TimeUp in the body once the time has passed, where the system can wake a reader."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield  # noticed with the next line
        return

    def wake(number: int, frame: object) -> None:
        raise TimeUp

    before = signal.signal(signal.SIGALRM, wake)
    try:
        # Not before the time has passed by the exam's own clock.
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001) + 0.01)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
