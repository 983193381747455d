"""A run's summary as lines of plain text."""

from __future__ import annotations

from lab_lines import steady, summary
from quizapp.lab.printed import memory_words, summary_lines
from quizapp.lab.protocol import Outcome

PREDICTION = {
    "peak_bytes": 3 << 30,
    "capacity_bytes": 2 << 30,
    "fits": False,
    "phase": "backward",
    "categories": {"parameters": 1 << 30, "gradient buckets": 1 << 29},
    "by": "a long sentence that says how the peak was predicted, and goes on beyond the width of a terminal",
}


def test_a_predicted_peak_is_told_in_gib_by_category() -> None:
    assert memory_words(PREDICTION)[:7] == [
        ("peak", "3.00 GiB"),
        ("capacity", "2.00 GiB"),
        ("fits", "no"),
        ("phase", "backward"),
        ("categories", ""),
        ("  parameters", "1.00 GiB"),
        ("  gradient buckets", "0.50 GiB"),
    ]


def test_the_summary_stays_within_a_terminal() -> None:
    outcome = Outcome(outcome="out-of-memory", memory_prediction=PREDICTION)
    lines = summary_lines(summary({"util": steady([1.0, 1.0])}, outcome=outcome))
    assert "    gradient buckets: 0.50 GiB" in lines
    assert max(map(len, lines)) <= 80
