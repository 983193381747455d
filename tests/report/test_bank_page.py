"""The report of a bank: its figures are those of the responses, and few responses make none."""

from __future__ import annotations

import re
from html import unescape

from quizapp.assess.intervals import wilson
from quizapp.assess.response_rows import ResponseRow
from quizapp.report.bank import Sat, bank_page


def row(
    number: int, points: float | None, response: str, time_s: float | None, revision: int = 1
) -> ResponseRow:
    return ResponseRow(
        f"{number:012x}", "id", f"learner {number}", "small", "hash", "exam", "finished", 1, 1, 2,
        "first", revision, "snap", "single-choice", "", "a b", response,
        "correct", points, None if points is None else 1.0, "all-or-nothing", 1, 2, time_s,
    )  # fmt: skip


def sat(number: int, points: float) -> Sat:
    return Sat(f"{number:012x}", f"learner {number}", points, 10.0, points >= 5)


def test_figures_are_those_of_the_responses() -> None:
    rows = [row(number, 1.0, "a", 10.0) for number in range(30)]
    rows += [row(number, 0.0, "<b>", 20.0) for number in range(30, 40)]
    rows += [row(99, 1.0, "a", 5.0, revision=2), row(100, None, "a", None)]
    html = bank_page("A <bank>", "small", [sat(1, 10), sat(2, 7), sat(3, 2)], rows)
    assert "<b>" not in html
    text = " ".join(unescape(re.sub("<[^>]*>", " ", html)).split())
    low, high = wilson(30, 40) or (0, 0)
    assert f"first (revision 1) 40 75% {low:.0%} to {high:.0%} 10 s a: 30; <b>: 10" in text
    assert "first (revision 2) 1 too few" in text
    assert "Passed 2 of 3" in text
    for share in (
        "20 % to below 30 %: 1 attempt;",
        "70 % to below 80 %: 1 attempt;",
        "90 % to 100 %: 1 attempt",
    ):
        assert share in text


def test_a_bank_nobody_finished_says_so() -> None:
    assert "No question was scored yet." in bank_page("Bank", "small", [], [])
