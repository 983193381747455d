"""One question while it is answered: the cursor, the choice, what a key does to them. No Textual."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quizapp.assess.response import Response

if TYPE_CHECKING:
    from quizapp.assess.scoring import Score
    from quizapp.bank.model import Option, Question

LETTERS = "abcdefgh"


class QuestionState:
    """The options in the order of presentation, the cursor, and the choice until it is submitted."""

    def __init__(
        self,
        question: Question,
        order: tuple[str, ...],
        response: Response,
        *,
        submitted: bool = False,
        score: Score | None = None,
    ) -> None:
        by_id = {option.id: option for option in question.options}
        self.question = question
        self.options: tuple[Option, ...] = tuple(
            by_id[option_id] for option_id in order if option_id in by_id
        )
        self.chosen: set[str] = set(response.selected)
        self.submitted = submitted
        self.score = score
        self.cursor = next((i for i, option in enumerate(self.options) if option.id in self.chosen), 0)

    @property
    def multiple(self) -> bool:
        """True when several options may be chosen."""
        return self.question.kind == "multiple-choice"

    @property
    def focused(self) -> Option:
        """The option under the cursor."""
        return self.options[self.cursor]

    @property
    def response(self) -> Response:
        """The choice, in the order of presentation."""
        return Response(tuple(option.id for option in self.options if option.id in self.chosen))

    def letter(self, index: int) -> str:
        """The letter that stands before an option."""
        return chr(ord("A") + index)

    def letters(self, option_ids: set[str] | frozenset[str]) -> str:
        """The letters of some options: `A, C`; "" for none."""
        return ", ".join(self.letter(i) for i, option in enumerate(self.options) if option.id in option_ids)

    @property
    def key(self) -> frozenset[str]:
        """Ids of the options that are right."""
        return frozenset(option.id for option in self.options if option.correct)

    def index_of_key(self, key: str) -> int | None:
        """The option that a pressed key (`1`…`9`, `a`…`h`) stands for."""
        if len(key) != 1:
            return None
        index = int(key) - 1 if key in "123456789" else LETTERS.find(key.lower())
        return index if 0 <= index < len(self.options) else None

    def move(self, steps: int) -> bool:
        """Move the cursor; it stays at the ends. True when it moved."""
        target = min(max(self.cursor + steps, 0), len(self.options) - 1)
        moved = target != self.cursor
        self.cursor = target
        return moved

    def pick(self, index: int) -> bool:
        """Choose an option, or take it back where several may be chosen. True when the choice changed."""
        self.cursor = index
        if self.submitted:
            return False
        option_id = self.options[index].id
        if self.multiple:
            self.chosen ^= {option_id}
            return True
        changed = self.chosen != {option_id}
        self.chosen = {option_id}
        return changed

    def clear(self) -> bool:
        """Take every choice back. True when there was one."""
        if self.submitted or not self.chosen:
            return False
        self.chosen = set()
        return True

    def instruction(self) -> str:
        """What is asked of the learner, and how much of it is done."""
        if self.submitted:
            return "submitted"
        if self.multiple:
            return (
                f"{len(self.chosen)} chosen, choose all that apply"
                if self.chosen
                else "choose all that apply"
            )
        return f"{self.letters(self.chosen)} chosen" if self.chosen else "choose one"

    def verdict(self) -> str:
        """The verdict in words, in capitals; "" before the submission."""
        return str(self.score.verdict).upper() if self.score else ""

    def note_on(self, index: int) -> str:
        """What an option turned out to be, in words, once the response is submitted.

        A distractor that was left alone needs none beside its sign.
        """
        option = self.options[index]
        if not self.submitted:
            return ""
        if option.correct:
            if option.id in self.chosen:
                return "right, you chose it"
            return "right, you missed it" if self.multiple else "the key"
        if option.id in self.chosen:
            return "wrong, you chose it"
        return ""
