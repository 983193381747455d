"""What a bank of 10,000 questions costs when it is seen for the first time."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness import Measurement, Row, Spent, cpu_ratio
from synthetic import write_bank

QUESTIONS = 10_000
HERE = Path(__file__).resolve().parent
PEER = str(HERE / "yaml_and_pydantic.py")
LOAD = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from peak_memory import peak_bytes
from quizapp.bank.load import load_bank
assert load_bank(Path(sys.argv[1])).bank.questions
print(peak_bytes())
"""


@contextlib.contextmanager
def _bank() -> Iterator[tuple[str, dict[str, str]]]:
    """A bank in a folder of its own, and the environment that keeps caches and attempts there."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_bank(folder / "bank.yaml", QUESTIONS)
        yield (
            str(folder / "bank.yaml"),
            {
                "QUIZAPP_CACHE_DIR": str(folder / "cache"),
                # An installed program is compiled; so is this one, by the warm-up.
                "PYTHONDONTWRITEBYTECODE": "",
            },
        )


def _cold_cpu() -> Measurement:
    with _bank() as (bank, env):
        return cpu_ratio(
            [sys.executable, "-c", LOAD, bank, str(HERE)], [sys.executable, PEER, bank], runs=5, env=env
        )


def _cold_memory() -> Measurement:
    def peak(spent: Spent) -> float:
        return int(spent.stdout) / 1024**2

    with _bank() as (bank, env):
        command = [sys.executable, "-c", LOAD, bank, str(HERE)]
        return cpu_ratio(command, [sys.executable, PEER, bank], runs=1, env=env, figure=peak)


ROWS = [
    Row("bank of 10,000, first time, against yaml.load + pydantic", 0.3, "× CPU", _cold_cpu, tags=("bank",)),
    Row(
        "bank of 10,000, first time, against yaml.load + pydantic",
        0.5,
        "× peak",
        _cold_memory,
        tags=("bank",),
    ),
]
