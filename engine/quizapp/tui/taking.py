"""What the screens ask of a sitting: states of questions, what comes next, an overview. No Textual."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from quizapp.tui.question_state import QuestionState

if TYPE_CHECKING:
    from quizapp.assess.scoring import Score
    from quizapp.store.sitting import Sitting


class OverviewRow(NamedTuple):
    """One question in the list of all: its number from 1, how it stands in a word, its first words."""

    number: int
    status: str
    marked: bool
    words: str


class Taking:
    """One sitting on screen; the sitting keeps the record, this keeps the place."""

    def __init__(self, sitting: Sitting) -> None:
        self.sitting = sitting
        self.index = min(max(sitting.position, 0), max(sitting.total - 1, 0))

    @property
    def total(self) -> int:
        """Number of questions."""
        return self.sitting.total

    def enter(self, index: int) -> QuestionState:
        """Go to a question: recorded as shown, and returned as it stands."""
        self.index = index
        if not self.sitting.finished:
            self.sitting.show(index)
        return self.state(index)

    def state(self, index: int) -> QuestionState:
        """A question as it stands."""
        sitting = self.sitting
        question, response, score = sitting.question(index), sitting.response(index), sitting.score(index)
        submitted = sitting.submitted(index) or sitting.finished
        if question.kind == "reading":
            from quizapp.tui.reading_state import ReadingState

            return ReadingState(question, response, submitted=submitted, score=score)
        order = sitting.option_order(index)
        return QuestionState(
            question, order, response, submitted=submitted, score=score, demos=not sitting.concealed
        )

    def respond(self, state: QuestionState) -> None:
        """Put the response on record."""
        if state.blank:
            self.sitting.clear(self.index)
        else:
            self.sitting.respond(self.index, state.response)

    def submit(self, state: QuestionState) -> Score:
        """Hand the choice in; the state knows its score afterwards."""
        state.score = self.sitting.submit(self.index)
        state.submitted = True
        return state.score

    def toggle_mark(self, index: int) -> bool:
        """Mark a question to come back to, or take the mark away. True when it is marked now."""
        self.sitting.mark(index, not self.sitting.marked(index))
        return self.sitting.marked(index)

    def marked_count(self) -> int:
        """Number of marked questions."""
        return sum(item.marked for item in self.sitting.attempt.touched)

    def next_open(self) -> int | None:
        """The next open question, from here on and around; None: all done."""
        around = (*range(self.index + 1, self.total), *range(self.index + 1))
        return next((index for index in around if self.sitting.is_open(index)), None)

    def open_count(self) -> int:
        """Number of open questions."""
        return self.total - self.sitting.attempt.answered

    def row(self, index: int) -> OverviewRow:
        """A question in the list of all."""
        sitting = self.sitting
        score = sitting.score(index)
        if score is not None:
            status = str(score.verdict)
        elif sitting.submitted(index):
            status = "submitted"
        elif not sitting.response(index).blank:
            status = "answered" if sitting.concealed else "chosen, not submitted"
        else:
            status = "open"
        return OverviewRow(
            index + 1, status, sitting.marked(index), first_words(sitting.question(index).stem)
        )


def first_words(markdown: str) -> str:
    """The first words of a stem, its commonest marks taken off; for lists, where a line must do."""
    for line in markdown.splitlines():
        words = line.strip().lstrip("#>*- ").replace("**", "").replace("`", "")
        if words:
            return words
    return ""
