"""A question with variables as it is asked in one attempt: its numbers drawn from the attempt's seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quizapp.assess.draw import draw_places
from quizapp.bank.snapshot import question_from_json
from quizapp.bank.variables import BadDraw, filled, places, value_at
from quizapp.errors import QuizappError

if TYPE_CHECKING:
    from quizapp.bank.model import Question

MOST_DRAWS = 100
"""Draws after which a question has none that makes sense."""


def instance_of(question_json: str, seed: int) -> str:
    """The JSON of a question as the attempt of this seed asks it.

    A draw that makes no sense (no number, one out of its bounds, two options that read the same) is followed
    by the next one; `quizapp check --samples` tells the author of each. QuizappError after `MOST_DRAWS`.
    """
    question = question_from_json(question_json)
    why = ""
    for number in range(MOST_DRAWS):
        try:
            asked = filled(question_json, question.variables, values_of(question, seed, number))
        except BadDraw as error:
            why = str(error)
            continue
        texts = [option.text for option in question_from_json(asked).options]
        if len(set(texts)) == len(texts):
            return asked
        why = "two options read the same"
    raise QuizappError(
        f"No draw of the variables of {question.id} makes sense: {why}.",
        hint="`quizapp check --samples 100` shows its author which.",
    )


def values_of(question: Question, seed: int, number: int = 0) -> dict[str, str]:
    """What the seed draws for each variable that is no formula; `number` counts the draws."""
    drawn = {name: variable for name, variable in question.variables.items() if not variable.formula}
    counts = {name: places(variable) for name, variable in drawn.items()}
    chosen = draw_places(question.id, counts, seed, number)
    return {name: value_at(variable, chosen[name]) for name, variable in drawn.items()}
