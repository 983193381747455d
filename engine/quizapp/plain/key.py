"""The ground of a key in lines: what it stands on, the test of it, and the appeal against it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from quizapp.errors import QuizappError

if TYPE_CHECKING:
    from quizapp.lab.finding import Finding
    from quizapp.lab.ground import Ground, Grounds
    from quizapp.plain.demo import Demos
    from quizapp.plain.talk import Talk
    from quizapp.store.sitting import Sitting


def ground_of(sitting: Sitting, place: int, grounds: Callable[[], Grounds] | None) -> Ground | None:
    """The ground of a question's key; None where nothing is known but what the bank says of it."""
    question = sitting.question(place)
    if grounds is None or question.symptom is None:
        return None
    try:
        return grounds().of(question)
    except QuizappError:
        return None


def ground_words(sitting: Sitting, place: int, grounds: Callable[[], Grounds] | None) -> str:
    """The same, in a line."""
    ground = ground_of(sitting, place, grounds)
    if ground is not None:
        return str(ground)
    from quizapp.bank.basis import BASES

    return BASES[sitting.question(place).verified_by]


def test_here(
    talk: Talk,
    sitting: Sitting,
    place: int,
    the_grounds: Callable[[], Grounds],
    demos: Callable[[], Demos],
) -> None:
    """Makes the runs that are missing, and says what they show. What goes wrong is said, never raised."""
    from quizapp.lab.key_test import KeyTest

    question = sitting.question(place)
    try:
        grounds = the_grounds()
        ground = grounds.of(question)
        if not ground.testable:
            talk.say(f"The key can't be tested: {ground.reason or 'no experiment speaks to it'}.")
            return
        test = KeyTest(question, grounds)
    except QuizappError as error:
        talk.say(str(error))
        return
    why = demos().make_missing(talk, test) if test.todo else ""
    _say_finding(talk, test.finding(why), sitting.letters(place))
    made = len(test.needed) - len(test.todo)
    now = grounds.of(question)
    on = f": {now.conditions}" if now.conditions is not None else ""
    talk.wrapped(f"{made} of {len(test.needed)} runs are made here{on}.")
    talk.say("`appeal` writes a report to the bank's author.")


def _say_finding(talk: Talk, finding: Finding, letters: dict[str, str]) -> None:
    import textwrap

    from quizapp.lab.finding_words import finding_words

    signs = {True: "✔", False: "✘", None: " "}
    talk.say()
    for said in finding_words(finding, letters):
        indent = "  " * said.depth
        sign = f"{signs[said.good]} " if said.depth != 1 or said.good is not None else ""
        talk.say(
            textwrap.fill(
                said.text,
                talk.width,
                initial_indent=indent + sign,
                subsequent_indent=indent + "    ",
                break_long_words=False,
            )
        )
    for notice in finding.notices:
        talk.wrapped(notice)


def appeal(talk: Talk, sitting: Sitting, place: int, grounds: Callable[[], Grounds] | None) -> None:
    """Writes the report into the current folder, and says where it is."""
    from datetime import UTC, datetime
    from pathlib import Path

    from quizapp.lab.appeal import report, write_report

    now = datetime.now(UTC)
    ground = ground_of(sitting, place, grounds)
    text = report(sitting, place, ground, now)
    try:
        path = write_report(Path.cwd(), sitting.bank_id, sitting.question_id(place), text, now)
    except QuizappError as error:
        talk.say(str(error))
        return
    talk.say(f"Your appeal is in {path}")
    if ground is None or ground.finding is None:
        talk.say("It holds no evidence: `test` tests the key here, then appeal again.")
    talk.say("Say in it why the key is wrong, and send it to the bank's author.")
