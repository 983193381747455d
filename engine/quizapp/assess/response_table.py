"""Many attempts as matrices: what the statistics are made of. Needs numpy (the extra `stats`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

LARGEST_CELLS = 200_000_000
"""Learners times questions that are held at once."""
BLANK = ""
"""The label of a response that was left blank."""
OTHER = "(other responses)"
# Of so many different responses to one question, the commonest are kept apart.
_LABELS = 60


class QuestionId(NamedTuple):
    """A question in one of its revisions: each is a question by itself."""

    question_id: str
    revision: int


class AttemptRow(NamedTuple):
    """What one attempt gave to the questions that it presented; all sequences run along `questions`.

    `responses` are labels, "" for blank ones; `times_s` are seconds on the question, NaN where unknown.
    """

    questions: tuple[QuestionId, ...]
    points: Sequence[float]
    max_points: Sequence[float]
    responses: Sequence[str]
    times_s: Sequence[float]


class ResponseTable(NamedTuple):
    """Attempts by questions. `points` and `times_s` hold NaN where a question was not asked.

    `codes[i, j]` is the place of a response in `labels[j]`. `max_points` has one value a question.
    """

    questions: tuple[QuestionId, ...]
    points: Array
    max_points: Array
    codes: Array
    labels: tuple[tuple[str, ...], ...]
    times_s: Array

    @property
    def levels(self) -> int:
        """The most labels that a question has."""
        return max((len(labels) for labels in self.labels), default=1)


def response_table(
    attempts: Iterable[AttemptRow],
    canonical: Callable[[QuestionId, str], str] = lambda question, label: label,
) -> ResponseTable:
    """The table of these attempts; `canonical` makes labels that mean the same equal.

    ValueError when it would hold more than LARGEST_CELLS.
    """
    rows = list(attempts)
    columns = {key: place for place, key in enumerate(sorted({q for row in _sets(rows) for q in row}))}
    if len(rows) * len(columns) > LARGEST_CELLS:
        raise ValueError(f"{len(rows):,} attempts on {len(columns):,} questions are too many at once")
    points = np.full((len(rows), len(columns)), np.nan)
    times = np.full(points.shape, np.nan, dtype=np.float32)
    codes = np.zeros(points.shape, dtype=np.uint32)
    best = np.zeros(len(columns))
    known: dict[str, int] = {BLANK: 0}
    places: dict[tuple[QuestionId, ...], Array] = {}
    for number, row in enumerate(rows):
        where = places.get(row.questions)
        if where is None:
            where = places[row.questions] = np.array([columns[key] for key in row.questions], dtype=np.intp)
        points[number, where] = row.points
        times[number, where] = row.times_s
        # A question whose points were changed between revisions' scorings is measured by the larger.
        best[where] = np.maximum(best[where], row.max_points)
        try:
            codes[number, where] = [known[label] for label in row.responses]
        except KeyError:
            codes[number, where] = [known.setdefault(label, len(known)) for label in row.responses]
    small, labels = _labelled(codes, ~np.isnan(points), tuple(columns), list(known), canonical)
    return ResponseTable(tuple(columns), points, np.where(best > 0, best, 1.0), small, labels, times)


def _sets(rows: list[AttemptRow]) -> set[tuple[QuestionId, ...]]:
    return {row.questions for row in rows}


def _labelled(
    codes: Array,
    asked: Array,
    questions: tuple[QuestionId, ...],
    names: list[str],
    canonical: Callable[[QuestionId, str], str],
) -> tuple[Array, tuple[tuple[str, ...], ...]]:
    """Codes by question in place of codes of the whole table, the commonest labels first after blank."""
    small = np.zeros(codes.shape, dtype=np.uint8)
    all_labels = []
    for column, question in enumerate(questions):
        found, inverse, counts = np.unique(
            codes[asked[:, column], column], return_inverse=True, return_counts=True
        )
        totals: dict[str, int] = {BLANK: 0}
        meant = [canonical(question, names[code]) if names[code] else BLANK for code in found]
        for label, count in zip(meant, counts, strict=True):
            totals[label] = totals.get(label, 0) + int(count)
        labels = [
            BLANK,
            *sorted((label for label in totals if label), key=lambda name: (-totals[name], name)),
        ]
        if len(labels) > _LABELS:
            labels = [*labels[:_LABELS], OTHER]
        place = {label: number for number, label in enumerate(labels)}
        by_code = np.array([place.get(label, len(labels) - 1) for label in meant], dtype=np.uint8)
        small[asked[:, column], column] = by_code[inverse] if len(by_code) else 0
        all_labels.append(tuple(labels))
    return small, tuple(all_labels)
