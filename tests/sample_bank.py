"""A bank in memory, and the questions that the tests of attempts ask."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from quizapp.bank.model import (
    DemoLink,
    Explanation,
    Figure,
    MultipleChoice,
    Option,
    Question,
    Reference,
    SingleChoice,
    Take,
)
from quizapp.bank.snapshot import content_hash, question_to_json


class Row(NamedTuple):
    id: str
    kind: str
    objective: str | None
    revision: int
    points: float
    hash: str
    option_ids: tuple[str, ...]
    pins: Mapping[str, str]
    demos: int = 0
    target_time_s: float | None = None
    rule: str = ""


class MemoryBank:
    """Stands where an opened bank stands, without a file."""

    def __init__(
        self,
        questions: list[Question],
        *,
        bank_id: str = "sample",
        title: str = "A sample bank",
        take: Take | None = None,
        path: str = "/banks/sample.yaml",
        objectives: dict[str, str] | None = None,
    ) -> None:
        self.id, self.title, self.path = bank_id, title, Path(path)
        self.language, self.description = "en", ""
        self.take = take or Take(pass_mark=0.5)
        self.objectives = {"reading": "Read the signs"} if objectives is None else objectives
        self._questions = {question.id: question for question in questions}
        self._json = {question.id: question_to_json(question) for question in questions}
        self.hash = hashlib.sha256("".join(self._json.values()).encode()).hexdigest()
        self.rows = tuple(
            Row(
                question.id,
                question.kind,
                question.objective,
                question.revision,
                question.points,
                content_hash(self._json[question.id]),
                tuple(option.id for option in question.options),
                {option.id: option.pin for option in question.options if option.pin},
            )
            for question in questions
        )

        self.ids = tuple(row.id for row in self.rows)

    def row(self, question_id: str) -> Row:
        return self.rows[self.ids.index(question_id)]

    def question(self, question_id: str) -> Question:
        return self._questions[question_id]

    def question_json(self, question_id: str) -> str:
        return self._json[question_id]


def option(
    option_id: str,
    *,
    correct: bool = False,
    text: str = "",
    pin: str | None = None,
    demo: DemoLink | None = None,
) -> Option:
    return Option(
        id=option_id,
        text=text or f"Text of {option_id}",
        correct=correct,
        rationale=f"Why {option_id} is {'right' if correct else 'wrong'}",
        pin=pin,  # type: ignore[arg-type]
        demo=demo,
    )


def single(question_id: str = "one", *, stem: str = "Which cause?", points: float = 1.0) -> SingleChoice:
    return SingleChoice(
        kind="single-choice",
        id=question_id,
        stem=stem,
        points=points,
        objective="reading",
        options=(
            option("loader"),
            option("sync", correct=True),
            option("memory"),
            option("none-of-these", pin="last"),
        ),
        explanation=Explanation(
            short=f"Short story of {question_id}",
            full=f"Full story of {question_id}",
            figure=Figure(src="figures/f.svg", alt="A picture of waits"),
        ),
        references=(Reference(title="The manual", url="https://example.org/manual"),),
        verified_by="reference",
    )


def multiple(question_id: str = "many", *, keys: int = 2, distractors: int = 2) -> MultipleChoice:
    return MultipleChoice(
        kind="multiple-choice",
        id=question_id,
        stem="Which changes help?",
        options=(
            *(option(f"key-{number}", correct=True) for number in range(keys)),
            *(option(f"no-{number}") for number in range(distractors)),
        ),
        explanation=Explanation(short=f"Short story of {question_id}"),
    )


def three_questions() -> list[Question]:
    return [single("first"), multiple("second"), single("third")]
