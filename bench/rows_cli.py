"""How much a command costs before it does anything."""

from __future__ import annotations

from harness import BARE_PYTHON, QUIZAPP, Row, cpu_ratio

ROWS = [
    Row(
        "quizapp --help against bare Python",
        6,
        "× CPU",
        lambda: cpu_ratio([*QUIZAPP, "--help"], BARE_PYTHON, runs=15),
    ),
]
