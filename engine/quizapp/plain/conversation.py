"""Takes an attempt in lines: one line, one answer.

Someone at a terminal is given time to read: after a reveal, Enter goes on. Out of a pipe each line answers
the next question, so that answers can be written beforehand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from quizapp.assess.response import Response
from quizapp.assess.scoring import TYPED, problem
from quizapp.plain import view
from quizapp.plain.talk import Talk
from quizapp.store.database import StoreUnavailable

if TYPE_CHECKING:
    from quizapp.lab.ground import Grounds
    from quizapp.plain.answers import Said
    from quizapp.plain.demo import Demos
    from quizapp.store.sitting import Sitting

PASSED, BELOW_MARK, INPUT_ENDED, INTERRUPTED = 0, 1, 3, 130


class Left(Exception):
    """The conversation ends before the attempt does; carries the exit status."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def take(
    sitting: Sitting,
    *,
    stdin: TextIO,
    stdout: TextIO,
    stderr: TextIO,
    as_json: bool = False,
    width: int = 76,
    interactive: bool = False,
    demos: Callable[[], Demos] | None = None,
    grounds: Callable[[], Grounds] | None = None,
    again: Callable[[list[str]], Sitting] | None = None,
    notices: tuple[str, ...] = (),
) -> int:
    """Takes the attempt to its end and closes it; 0: passed or no mark, 1: below it, 3: left early.

    `again` begins an attempt on the questions of these ids, for redoing the wrong ones. `grounds` is asked
    for only once a question is revealed whose signs can be measured.
    """
    talk = Talk(stdin, stderr if as_json else stdout, width=width, interactive=interactive)
    for notice in notices:
        talk.say(notice)
    while True:
        conversation = _conversation(sitting, talk, demos, grounds)
        try:
            code = conversation.run()
            redo = conversation.after_the_end() if interactive and again else []
        except Left as left:
            code, redo = left.code, []
        except KeyboardInterrupt:
            conversation.say_how_to_go_on("Interrupted")
            code, redo = INTERRUPTED, []
        finally:
            sitting.close()
        if not redo or again is None:
            break
        sitting = again(redo)
    talk.flush()
    if as_json:
        import json

        stdout.write(json.dumps(view.as_json(sitting)) + "\n")
        stdout.flush()
    return code


def _conversation(
    sitting: Sitting,
    talk: Talk,
    demos: Callable[[], Demos] | None,
    grounds: Callable[[], Grounds] | None,
) -> Conversation:
    if sitting.mode != "exam":
        return Conversation(sitting, talk, demos, grounds)
    from quizapp.plain.exam import ExamConversation

    return ExamConversation(sitting, talk, demos, grounds)


class Conversation:
    """One attempt, from its first open question to its end."""

    TOO_EARLY = "That comes after your answer."

    def __init__(
        self,
        sitting: Sitting,
        talk: Talk,
        demos: Callable[[], Demos] | None,
        grounds: Callable[[], Grounds] | None,
    ) -> None:
        self._sitting, self._talk, self._demos, self._grounds = sitting, talk, demos, grounds

    def run(self) -> int:
        """From the first open question to the result; raises Left when the learner or the input goes."""
        sitting, talk = self._sitting, self._talk
        talk.say(sitting.bank_title)
        if sitting.finished:
            return self._end()
        if sitting.resumed:
            done = sitting.total - len(sitting.open_items())
            talk.say(
                f"Going on with your attempt: {done} of {sitting.total} answered. (--new begins another.)"
            )
        talk.say("Type the letter of your answer; ? tells what else can be typed.")
        place: int | None = self._next_open(sitting.position - 1)
        while place is not None:
            place = self._visit(place)
        return self._end()

    def _end(self) -> int:
        sitting, talk = self._sitting, self._talk
        self._keep(sitting.finish)
        got = sitting.result()
        view.result(talk, sitting, got)
        if sitting.saved:
            talk.say(
                f"Saved as {sitting.attempt_id}; `quizapp results show {sitting.attempt_id}` shows it again."
            )
        return BELOW_MARK if got.passed is False else PASSED

    def after_the_end(self) -> list[str]:
        """Looks at questions again; returns the ids of the wrong ones when they are to be redone."""
        sitting, talk = self._sitting, self._talk
        while True:
            wrong = sitting.wrong_items()
            redo = "`wrong` redoes the wrong ones, " if wrong else ""
            line = talk.ask(f"A question's number reviews it, {redo}Enter ends:")
            if line is None or line.lower() in ("", "q", "quit"):
                return []
            if line.isdecimal() and 1 <= int(line) <= sitting.total:
                self._review(int(line) - 1)
            elif wrong and line.lower() in ("w", "wrong"):
                return [sitting.question_id(place) for place in wrong]
            else:
                talk.say(f"{line!r} is no question's number.")

    def say_how_to_go_on(self, how: str) -> None:
        """What has become of the attempt that is being left."""
        sitting, talk = self._sitting, self._talk
        if sitting.finished:
            talk.say()
            talk.say(f"{how}; the attempt is finished.")
        elif sitting.saved:
            done = sitting.total - len(sitting.open_items())
            talk.say()
            talk.say(f"{how}. Saved: {done} of {sitting.total} answered. Take the bank again to go on.")
        else:
            talk.say()
            talk.say(f"{how}. This attempt could not be saved.")

    def _visit(self, place: int) -> int | None:
        """Shows a question until it is left; returns where to go, None to finish."""
        self._keep(lambda: self._sitting.show(place))
        if self._sitting.submitted(place):
            view.question(self._talk, self._sitting, place)
            self._reveal(place)
            return self._look(place)
        view.question(self._talk, self._sitting, place)
        return self._answer(place)

    def _answer(self, place: int) -> int | None:
        sitting, talk = self._sitting, self._talk
        letters = sitting.letters(place)
        kind = sitting.question(place).kind
        several = kind in ("multiple-choice", "ordering")
        typed = kind if kind in (*TYPED, "matching", "reading") else ""
        last = list(letters.values())[-1] if letters and not typed else ""
        prompt = f"Answer (A-{last}, ? for help):" if last else "Answer (? for help):"
        while True:
            said = self._read(prompt, letters, several=several, answering=True, typed=typed)
            match said.command:
                case "answer":
                    response, fault = self._response_to(place, said)
                    fault = fault or problem(sitting.question(place), response)
                    if not fault:
                        self._respond(place, response)
                        return self._submit(place)
                    talk.say(f"{fault[0].upper()}{fault[1:]}.")
                case "submit" if sitting.response(place).blank:
                    talk.say("There is no answer to submit yet.")
                case "submit":
                    return self._submit(place)
                case "skip":
                    return self._next(place)
                case "clear":
                    self._keep(lambda: sitting.clear(place))
                    talk.say("Cleared.")
                case "again":
                    view.question(talk, sitting, place)
                case "full" | "wrong" | "test" | "appeal":
                    talk.say(self.TOO_EARLY)
                case _:
                    to = self._common(said, place)
                    if to is not None:
                        return to.place

    def _response_to(self, place: int, said: Said) -> tuple[Response, str]:
        """What a line answers, and why it is no answer, "" when it is one."""
        question = self._sitting.question(place)
        if question.kind == "reading":
            from quizapp.assess.reading import read_pick

            try:
                return read_pick(question, said.text), ""
            except ValueError as error:
                return Response(), str(error)
        if question.kind != "matching":
            return Response(said.options, said.text), ""
        from quizapp.plain.answers import parse_pairs

        pairs = parse_pairs(said.text, [pair.id for pair in question.pairs], self._sitting.letters(place))
        return Response(pairs=pairs or ()), "" if pairs else "give each number a letter, such as: 1b 2a"

    def _respond(self, place: int, response: Response) -> None:
        self._keep(lambda: self._sitting.respond(place, response))

    def _submit(self, place: int) -> int | None:
        self._keep(lambda: self._sitting.submit(place))
        self._reveal(place)
        return self._look(place) if self._talk.interactive else self._next(place)

    def _look(self, place: int) -> int | None:
        """The prompt of an answered question."""
        letters = self._sitting.letters(place)
        while True:
            said = self._read(
                "Enter goes on (f: full explanation, d A: run the demo of A, t: test the key, ?: help):",
                letters,
                several=False,
                answering=False,
            )
            match said.command:
                case "skip":
                    return self._next(place)
                case "again":
                    self._reveal(place)
                case "full":
                    view.full_explanation(self._talk, self._sitting, place)
                case "test":
                    self._test(place)
                case "appeal":
                    self._appeal(place)
                case "submit" | "clear" | "wrong":
                    self._talk.say("This question is answered; its response stands.")
                case _:
                    to = self._common(said, place)
                    if to is not None:
                        return to.place

    def _review(self, place: int) -> None:
        talk, sitting = self._talk, self._sitting
        self._keep(lambda: sitting.show(place))
        view.question(talk, sitting, place)
        self._reveal(place)
        while True:
            said = self._read(
                "Enter goes back (f: full explanation, d A: run the demo of A, t: test the key):",
                sitting.letters(place),
                several=False,
                answering=False,
            )
            match said.command:
                case "skip" | "quit" | "back" | "finish":
                    return
                case "full":
                    view.full_explanation(talk, sitting, place)
                case "again":
                    self._reveal(place)
                case "demo":
                    self._demo(place, said.options[0])
                case "test":
                    self._test(place)
                case "appeal":
                    self._appeal(place)
                case _:
                    _help(talk, answering=False, typed=False)

    def _common(self, said: Said, place: int) -> To | None:
        """What every prompt understands; where to go, or None to stay."""
        match said.command:
            case "quit":
                self.say_how_to_go_on("Left")
                raise Left(INPUT_ENDED)
            case "finish":
                return To(None)
            case "back" if place > 0:
                return To(place - 1)
            case "back":
                self._talk.say("This is the first question.")
            case "go" if 1 <= int(said.text) <= self._sitting.total:
                return To(int(said.text) - 1)
            case "go":
                self._talk.say(f"There are {self._sitting.total} questions.")
            case "list":
                view.overview(self._talk, self._sitting)
            case "mark":
                marked = not self._sitting.marked(place)
                self._keep(lambda: self._sitting.mark(place, marked))
                self._talk.say("Marked." if marked else "Not marked any more.")
            case "demo":
                self._demo(place, said.options[0])
            case _:
                typed = self._sitting.question(place).kind in (*TYPED, "matching", "reading")
                _help(self._talk, answering=not self._sitting.submitted(place), typed=typed)
        return None

    def _next(self, place: int) -> int | None:
        """The next open question; after the last one, what the learner wants to do about the open ones."""
        ahead = self._next_open(place)
        if ahead is not None and ahead > place:
            return ahead
        if ahead is None:
            return None
        count = len(self._sitting.open_items())
        what = "1 question is" if count == 1 else f"{count} questions are"
        while True:
            said = self._read(
                f"{what} open. Enter goes there, `finish` ends:", {}, several=False, answering=False
            )
            if said.command == "skip":
                return ahead
            to = self._common(said, place)
            if to is not None:
                return to.place

    def _next_open(self, place: int) -> int | None:
        """The first open question after a place, else the first of all; None when none is open."""
        places = self._sitting.open_items()
        return next((ahead for ahead in places if ahead > place), places[0] if places else None)

    def _read(
        self, prompt: str, letters: dict[str, str], *, several: bool, answering: bool, typed: str = ""
    ) -> Said:
        while True:
            line = self._ask(prompt)
            if line is None:
                self.say_how_to_go_on("The input has ended")
                raise Left(INPUT_ENDED)
            # Not needed to show the first question, and so not loaded for it.
            from quizapp.plain.answers import parse

            said = parse(line, letters, several=several, answering=answering, typed=typed)
            if said.command != "unclear":
                return said
            self._talk.say(f"{said.why} Type ? for help.")

    def _ask(self, prompt: str) -> str | None:
        return self._talk.ask(prompt)

    def _demo(self, place: int, option_id: str) -> None:
        if self._demos is None:
            self._talk.say("Demos can't be run from here.")
        else:
            self._demos().run(self._talk, self._sitting, place, option_id, self._keep)

    def _reveal(self, place: int) -> None:
        from quizapp.plain.key import ground_words

        view.reveal(self._talk, self._sitting, place, ground_words(self._sitting, place, self._grounds))

    def _test(self, place: int) -> None:
        if self._demos is None or self._grounds is None:
            self._talk.say("Keys can't be tested from here.")
            return
        from quizapp.plain.key import test_here

        test_here(self._talk, self._sitting, place, self._grounds, self._demos)

    def _appeal(self, place: int) -> None:
        from quizapp.plain.key import appeal

        appeal(self._talk, self._sitting, place, self._grounds)

    def _keep(self, record: Callable[[], object]) -> None:
        """Records; when the store fails, says so once and goes on without it."""
        try:
            record()
        except StoreUnavailable as error:
            self._talk.say()
            self._talk.say(f"From here on nothing is saved. {error.message} {error.hint}")
            self._sitting.keep_unsaved()
            record()


class To:
    """A place to go to; None: the end."""

    def __init__(self, place: int | None) -> None:
        self.place = place


def _help(talk: Talk, *, answering: bool, typed: bool) -> None:
    rows = [
        ("? or help", "this"),
        ("Enter, s or skip", "go on; a question left open comes again" if answering else "go on"),
        ("p or back", "the question before"),
        ("go 3", "question 3"),
        ("l or list", "which questions are open, and which are marked"),
        ("m or mark", "mark this question to come back to, or take the mark away"),
        ("demo a", "run the demo behind option A"),
        ("r or again", "show this again"),
        ("finish", "end the attempt; open questions count as unanswered"),
        ("q or quit", "leave; everything is saved, taking the bank again goes on"),
    ]
    if typed:
        rows = [row for row in rows if row[0] != "demo a"]
    if answering:
        by_letters = ("a   a c   b,d", "answer by letters, or by the options' ids")
        answer = ("…", "what you type is the answer") if typed else by_letters
        rows.insert(0, answer)
        rows[8:8] = [("x or clear", "take the answer back"), ("submit", "let a kept answer stand")]
    else:
        rows[7:7] = [
            ("f or full", "the full explanation"),
            ("t or test", "test the key by experiment, on this machine"),
            ("! or appeal", "write to the bank's author that the experiment disagrees"),
        ]
    for words, does in rows:
        talk.say(f"  {words:18}{does}")
    if answering and typed:
        talk.say("  :b is the command b in any case, where b alone would be an answer.")
    elif answering:
        talk.say("  A letter that stands before an option is an answer; :b is the command b in any case.")
