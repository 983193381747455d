"""A bank made ready to be taken: a narrow index of all questions, apart from their bodies."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from typing import Protocol

    from quizapp.bank.load import LoadedBank

    class CompiledBank(Protocol):
        """Where an open bank's questions come from. Indices are positions in the file."""

        hash: str
        """sha256 of the file, in hex."""
        facts: Mapping[str, Any]
        """title, language, description, license, objectives, take, demos (names), points (sum), and beside:
        the recordings that are part of the bank, with their stamps."""
        ids: Sequence[str]

        def row(self, index: int) -> QuestionRow: ...

        def rows(self) -> Iterable[QuestionRow]: ...

        def body(self, index: int) -> str:
            """The question as JSON."""
            ...


class QuestionRow(NamedTuple):
    """What is known of a question without reading its body."""

    id: str
    kind: str
    objective: str | None
    revision: int
    points: float
    hash: str
    """Content hash: what was shown."""
    option_ids: tuple[str, ...]
    pins: Mapping[str, str]
    """Option id -> first or last."""
    demos: int
    """Options with a demo."""
    target_time_s: float | None
    rule: str = ""
    """The scoring rule that the question names, "" for its kind's own."""


class FreshBank:
    """A bank that was just loaded, as a CompiledBank."""

    def __init__(self, loaded: LoadedBank) -> None:
        from quizapp.bank.snapshot import content_hash, question_to_json, take_to_plain

        bank = loaded.bank
        self.hash = loaded.hash
        self.ids: Sequence[str] = [question.id for question in bank.questions]
        self.bodies = [question_to_json(question) for question in bank.questions]
        self.index = [
            QuestionRow(
                id=question.id,
                kind=question.kind,
                objective=question.objective,
                revision=question.revision,
                points=question.points,
                hash=content_hash(body),
                option_ids=tuple(option.id for option in question.options),
                pins={option.id: option.pin for option in question.options if option.pin},
                demos=sum(option.demo is not None for option in question.options),
                target_time_s=question.target_time_s,
                rule=question.scoring.rule or "",
            )
            for question, body in zip(bank.questions, self.bodies, strict=True)
        ]
        demos = {
            option.demo.name for question in bank.questions for option in question.options if option.demo
        }
        self.facts: Mapping[str, Any] = {
            "title": bank.title,
            "language": bank.language,
            "description": bank.description,
            "license": bank.license,
            "objectives": dict(bank.objectives),
            "take": take_to_plain(bank.take),
            "demos": sorted(demos),
            "points": sum(row.points for row in self.index),
            "beside": dict(loaded.beside),
        }

    def row(self, index: int) -> QuestionRow:
        return self.index[index]

    def rows(self) -> Iterable[QuestionRow]:
        return self.index

    def body(self, index: int) -> str:
        return self.bodies[index]


FileStamp = tuple[int, int, int]
"""Size, and times of the last change of content and of anything, in ns: a changed file has another one,
except within the clock's tick."""


def stamp_of(path: str) -> FileStamp:
    """What the file system says of a file without reading it. Raises OSError."""
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns
