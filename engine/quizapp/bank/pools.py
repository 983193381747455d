"""From which questions each section of an attempt is drawn, and whether there are enough of them.

Pools never overlap, so that whether a draw can be made depends on the bank alone and on no seed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from quizapp.bank.findings import Where
    from quizapp.bank.model import Section


class Drawable(Protocol):
    """What a draw asks of a question: its row will do."""

    @property
    def id(self) -> str: ...
    @property
    def objective(self) -> str | None: ...
    @property
    def target_time_s(self) -> float | None: ...


class Pool(NamedTuple):
    """A section and the questions that it is drawn from, in the bank's order."""

    section: Section
    questions: tuple[Drawable, ...]


class Shortage(NamedTuple):
    """Why no draw can be made, or not a fair one: where, a code, and words."""

    where: Where
    code: str
    message: str
    hint: str


def pools_of(sections: Sequence[Section], questions: Iterable[Drawable]) -> list[Pool]:
    """The pool of each section. A question goes to the first section that names its objective."""
    owner: dict[str | None, int] = {}
    rest: int | None = None
    for index, section in enumerate(sections):
        for objective in section.objectives:
            owner.setdefault(objective, index)
        if not section.objectives and rest is None:
            rest = index
    found: list[list[Drawable]] = [[] for _ in sections]
    for question in questions:
        index_of = owner.get(question.objective, rest)
        if index_of is not None:
            found[index_of].append(question)
    return [Pool(section, tuple(pool)) for section, pool in zip(sections, found, strict=True)]


def shortages(
    sections: Sequence[Section], questions: Iterable[Drawable], objectives: Iterable[str]
) -> Iterator[Shortage]:
    """Everything that keeps the sections from being drawn; nothing when every seed can be."""
    yield from _contradictions(sections, frozenset(objectives))
    for index, pool in enumerate(pools_of(sections, questions)):
        section = pool.section
        name = f"section {section.title or index + 1}"
        there = len(pool.questions)
        if section.time_budget_s is not None:
            yield from _too_little_time(index, name, section.time_budget_s, pool)
        elif section.count is not None and section.count > there:
            message = f"{name} draws {_questions(section.count)}, and its pool has {there}"
            yield Shortage(
                _at(index, "count"), "small-pool", message, f"write {there} at most, or add questions"
            )
        elif not there:
            message = f"{name} draws from 0 questions, and 1 at least is needed"
            yield Shortage(_at(index), "small-pool", message, "add questions, or drop it")


def _contradictions(sections: Sequence[Section], objectives: frozenset[str]) -> Iterator[Shortage]:
    named: dict[str, int] = {}
    rest: int | None = None
    for index, section in enumerate(sections):
        if section.count is not None and section.time_budget_s is not None:
            message = "a section has a count and a time_budget"
            yield Shortage(_at(index, "time_budget"), "bad-section", message, "keep one of them")
        for objective in section.objectives:
            if objective not in objectives:
                listed = ", ".join(sorted(objectives)) or "none"
                message = f"{objective} is no objective of this bank"
                yield Shortage(
                    _at(index, "objectives"), "unknown-objective", message, f"objectives lists {listed}"
                )
            elif objective in named:
                message = f"the objective {objective} stands in section {named[objective] + 1}, too"
                yield Shortage(
                    _at(index, "objectives"), "bad-section", message, "draw from it in one section"
                )
            named.setdefault(objective, index)
        if not section.objectives:
            if rest is not None:
                message = f"this section and section {rest + 1} name no objectives"
                yield Shortage(_at(index), "bad-section", message, "name them in all but one")
            rest = index if rest is None else rest


def _too_little_time(index: int, name: str, budget_s: float, pool: Pool) -> Iterator[Shortage]:
    times = [question.target_time_s for question in pool.questions if question.target_time_s is not None]
    untimed = len(pool.questions) - len(times)
    if untimed:
        message = (
            f"{untimed} of the {len(pool.questions)} questions that {name} draws from have no target_time"
        )
        yield Shortage(
            _at(index, "time_budget"), "untimed-pool", message, "add it: such questions are never drawn"
        )
    if sum(times) < budget_s:
        message = f"{name} draws {_time(budget_s)}, and its pool has {_time(sum(times))}"
        yield Shortage(_at(index, "time_budget"), "small-pool", message, "ask for less, or add questions")
    elif min(times) > budget_s:
        message = f"{name} draws {_time(budget_s)}, and the shortest question takes {_time(min(times))}"
        yield Shortage(_at(index, "time_budget"), "small-pool", message, "ask for more, or add shorter ones")


def _at(index: int, *field: str) -> Where:
    return ("take", "sections", index, *field)


def _questions(count: int) -> str:
    return "1 question" if count == 1 else f"{count} questions"


def _time(seconds: float) -> str:
    return f"{seconds / 60:g} min" if seconds >= 120 else f"{seconds:g} s"
