"""What the stored attempts say of a bank, as an HTML page: points, and how each question went.

The first finished attempt of each learner counts. Questions are told apart by their revisions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from quizapp.assess.intervals import of_mean, wilson
from quizapp.assess.response_rows import ResponseRow
from quizapp.assess.scoring import points_in_words
from quizapp.report.page import bars, page, said, table

SMALLEST_N = 30
"""Shares of fewer responses are not shown unless the caller says otherwise: they are mostly chance."""

_COMMONEST = 4


class Sat(NamedTuple):
    """One finished attempt, with its points."""

    attempt: str
    learner: str
    points: float
    max_points: float
    passed: bool | None


def bank_page(
    title: str, bank_id: str, sat: Sequence[Sat], rows: Iterable[ResponseRow], *, min_n: int = SMALLEST_N
) -> str:
    """The page of one bank; `sat` are the attempts that count, and `rows` their responses."""
    parts = [f"<h1>{said(title)}</h1>", *_head(bank_id, sat, min_n), *_points(sat), *_questions(rows, min_n)]
    return page(f"{title}: all attempts", "en", "\n".join(parts))


def _head(bank_id: str, sat: Sequence[Sat], min_n: int) -> Iterator[str]:
    rows = [["Bank", bank_id], ["Learners", f"{len(sat)}; the first finished attempt of each counts"]]
    judged = [one.passed for one in sat if one.passed is not None]
    if judged:
        rows.append(["Passed", f"{sum(judged)} of {len(judged)}"])
    if min_n > 1:
        rows.append(["Shown from", f"{min_n} responses to a question"])
    yield table("These attempts", ["", ""], rows)


def _points(sat: Sequence[Sat]) -> Iterator[str]:
    """How many attempts got which share of their points, in tenths."""
    if not sat:
        return
    counts = [0] * 10
    for one in sat:
        share = max(0.0, one.points / one.max_points) if one.max_points else 0.0
        # The tenth that a share opens: a sum of thirds must not fall short of it.
        counts[min(9, math.floor(share * 10 + 1e-9))] += 1
    most = max(counts)
    yield "<h2>Points</h2>"
    yield bars(
        "Attempts by share of the points",
        [
            (
                f"{tenth * 10} % to {'below ' if tenth < 9 else ''}{tenth * 10 + 10} %",
                count / most,
                f"{count} {'attempt' if count == 1 else 'attempts'}",
            )
            for tenth, count in enumerate(counts)
        ],
    )


def _questions(rows: Iterable[ResponseRow], min_n: int) -> Iterator[str]:
    by_question: dict[tuple[str, int], list[ResponseRow]] = {}
    for row in rows:
        if row.points is not None and row.max_points:
            by_question.setdefault((row.question, row.revision), []).append(row)
    told = []
    for (question, revision), given in sorted(by_question.items()):
        cells = [f"{question} (revision {revision})", str(len(given))]
        told.append([*cells, *(_figures(given) if len(given) >= min_n else ["too few", "", "", ""])])
    yield "<h2>Questions</h2>"
    if not told:
        yield "<p>No question was scored yet.</p>"
        return
    head = ["question", "n", "mean share of points", "95 % interval", "median time", "commonest responses"]
    yield table("Each question in each revision", head, told, numbers=(1, 2, 3, 4))
    yield (
        "<p class=muted>Intervals: Wilson where each response got nothing or all, else mean ± 1.96 standard"
        " errors. Time is from the first showing to the submission. Not submitted in time, or not at all:"
        " counted, with no time.</p>"
    )


def _figures(given: Sequence[ResponseRow]) -> list[str]:
    shares = [(row.points or 0.0) / (row.max_points or 1.0) for row in given]
    n, mean = len(shares), math.fsum(shares) / len(shares)
    if all(share in (0.0, 1.0) for share in shares):
        interval = wilson(sum(shares), n)
    else:
        deviations = math.fsum((share - mean) ** 2 for share in shares)
        interval = of_mean(mean, math.sqrt(deviations / (n - 1)) if n > 1 else 0.0, n, (-1.0, 1.0))
    times = sorted(row.time_s for row in given if row.time_s is not None)
    counts: dict[str, int] = {}
    for row in given:
        counts[row.response] = counts.get(row.response, 0) + 1
    commonest = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:_COMMONEST]
    return [
        f"{mean:.0%}",
        f"{interval[0]:.0%} to {interval[1]:.0%}" if interval else "",
        f"{points_in_words(round(_median(times), 1))} s" if times else "",
        "; ".join(f"{_short(label) or 'blank'}: {count}" for label, count in commonest),
    ]


def _median(ordered: Sequence[float]) -> float:
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _short(label: str) -> str:
    return label if len(label) <= 40 else f"{label[:39]}…"
