"""One question while it is answered: the cursor, the choice, what a key does to them. No Textual."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quizapp.assess.response import Response
from quizapp.assess.scoring import TYPED, given_in_words, key_in_words, problem

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
        demos: bool = True,
    ) -> None:
        by_id = {option.id: option for option in question.options}
        self.question = question
        self.options: tuple[Option, ...] = tuple(
            by_id[option_id] for option_id in order if option_id in by_id
        )
        self.chosen: set[str] = set(response.selected)
        self.text = response.text
        """What was typed, where a text is asked for."""
        self.matched: dict[str, str] = dict(response.pairs)
        """Pair id -> choice id, where matches are asked for."""
        self.placed = question.kind == "ordering" and bool(response.selected)
        """Whether the items stand as the learner wants them, and not only as they were presented."""
        self.held = False
        """Whether arrows move the item under the cursor."""
        self._letters = {option.id: chr(ord("A") + place) for place, option in enumerate(self.options)}
        if self.placed:
            self.options = tuple(by_id[option_id] for option_id in response.selected)
        self.submitted = submitted
        self.score = score
        self.demos = demos
        """False while demos would tell too much."""
        self.cursor = 0
        if question.kind != "ordering":
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
        """The option under the cursor; None where there is none under it."""
        return self.options[self.cursor] if self.options and self.question.kind != "matching" else None

    @property
    def rows(self) -> int:
        """How many places the cursor has."""
        return len(self.question.pairs) if self.question.kind == "matching" else len(self.options)

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
        if self.question.kind == "matching":
            return Response(pairs=tuple(sorted(self.matched.items())))
        if self.question.kind == "ordering":
            return Response(tuple(option.id for option in self.options) if self.placed else ())
        return Response(tuple(option.id for option in self.options if option.id in self.chosen))

    def letter(self, index: int) -> str:
        """The letter that stands before an option: of its place when it was presented."""
        return self._letters[self.options[index].id]

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
        return given_in_words(self.question, self.response, self._letters)

    @property
    def key_in_words(self) -> str:
        """The key as it is told: letters, or the number or words that are right."""
        return key_in_words(self.question, self._letters)

    def index_of_key(self, key: str) -> int | None:
        """The option that a pressed key (`1`…`9`, `a`…`h`) stands for."""
        if len(key) != 1:
            return None
        if key in "123456789":
            index = int(key) - 1
            return index if index < self.rows else None
        return next((i for i in range(len(self.options)) if self.letter(i) == key.upper()), None)

    def move(self, steps: int) -> bool:
        """Move the cursor; it stays at the ends. True when it moved."""
        target = max(min(self.cursor + steps, self.rows - 1), 0)
        moved = target != self.cursor
        if moved and self.held:
            self._put(target)
        self.cursor = target
        return moved

    def _put(self, place: int) -> None:
        """Put the item under the cursor into another place."""
        items = list(self.options)
        items.insert(place, items.pop(self.cursor))
        self.options, self.placed = tuple(items), True

    def match(self, choice: int) -> bool:
        """Match the pair under the cursor with a choice, and go on to the next. True when that is new."""
        if self.submitted:
            return False
        pair_id, choice_id = self.question.pairs[self.cursor].id, self.options[choice].id  # type: ignore[union-attr]
        changed = self.matched.get(pair_id) != choice_id
        self.matched[pair_id] = choice_id
        self.move(1)
        return changed

    def match_next(self) -> bool:
        """Match the pair under the cursor with the choice after its present one."""
        if self.submitted:
            return False
        pair_id = self.question.pairs[self.cursor].id  # type: ignore[union-attr]
        ids = [option.id for option in self.options]
        place = ids.index(self.matched[pair_id]) + 1 if pair_id in self.matched else 0
        self.matched[pair_id] = ids[place % len(ids)]
        return True

    def hold(self, index: int) -> bool:
        """Take the item at a place, or drop the one that is held there. True when the order is new."""
        if self.submitted:
            self.cursor = index
            return False
        if not self.held:
            self.cursor, self.held = index, True
            return False
        was = self.response
        if index != self.cursor:
            self._put(index)
        self.cursor, self.held, self.placed = index, False, True
        return self.response != was

    def pick(self, index: int) -> bool:
        """Choose an option, or take it back where several may be chosen. True when the choice changed."""
        if self.question.kind == "ordering":
            return self.hold(index)
        if self.question.kind == "matching":
            self.cursor = index
            return False
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
        self.chosen, self.text, self.matched = set(), "", {}
        self.held = self.placed = False
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
        if self.question.kind == "ordering":
            if self.held:
                return "arrows move it, Space drops it"
            return f"your order: {self.given_in_words}" if self.placed else "Space takes an item to move it"
        if self.question.kind == "matching":
            done = f"{len(self.matched)} of {self.rows} matched"
            return f"{done}; a letter matches the one under the cursor"
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
