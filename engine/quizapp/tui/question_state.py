"""One question while it is answered: the cursor, the choice, what a key does to them. No Textual."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quizapp.assess.response import Response
from quizapp.assess.scoring import TYPED, key_in_words, problem

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
        self.text = response.text
        """What was typed, where a text is asked for."""
        self.submitted = submitted
        self.score = score
        self.cursor = next((i for i, option in enumerate(self.options) if option.id in self.chosen), 0)

    @property
    def multiple(self) -> bool:
        """True when several options may be chosen."""
        return self.question.kind == "multiple-choice"

    @property
    def typed(self) -> bool:
        """True when a text is asked for instead of a choice."""
        return self.question.kind in TYPED

    @property
    def focused(self) -> Option | None:
        """The option under the cursor; None where there are none."""
        return self.options[self.cursor] if self.options else None

    @property
    def blank(self) -> bool:
        """True when nothing is chosen or typed."""
        return self.response.blank

    @property
    def fault(self) -> str:
        """Why what is typed is no response to this question, in words; "" when it is one."""
        return problem(self.question, self.response)

    @property
    def response(self) -> Response:
        """The choice, in the order of presentation, or what was typed."""
        if self.typed:
            return Response(text=self.text)
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

    @property
    def given_in_words(self) -> str:
        """The response as it is told after the submission; "" for none."""
        return self.text.strip() if self.typed else self.letters(self.chosen)

    @property
    def key_in_words(self) -> str:
        """The key as it is told: letters, or the number or words that are right."""
        return key_in_words(self.question, {o.id: self.letter(i) for i, o in enumerate(self.options)})

    def index_of_key(self, key: str) -> int | None:
        """The option that a pressed key (`1`…`9`, `a`…`h`) stands for."""
        if len(key) != 1:
            return None
        index = int(key) - 1 if key in "123456789" else LETTERS.find(key.lower())
        return index if 0 <= index < len(self.options) else None

    def move(self, steps: int) -> bool:
        """Move the cursor; it stays at the ends. True when it moved."""
        target = max(min(self.cursor + steps, len(self.options) - 1), 0)
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
        if self.submitted or self.blank:
            return False
        self.chosen, self.text = set(), ""
        return True

    def type(self, text: str) -> bool:
        """Take in what stands in the entry. True when it differs, and is a response or blank."""
        if self.submitted or text == self.text:
            return False
        self.text = text
        return not self.fault

    def instruction(self) -> str:
        """What is asked of the learner, and how much of it is done."""
        if self.submitted:
            return "submitted"
        if self.question.kind == "numeric":
            units = [unit for unit in (self.question.unit, *self.question.units) if unit]
            return f"type a number, in {' or '.join(units)}" if units else "type a number"
        if self.typed:
            return "type a word or a few"
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
