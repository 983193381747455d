"""Statistics of questions: what they cost beside reading the responses at all, and beside girth."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import Measurement, Row, ratio

HERE = str(Path(__file__).resolve().parent)
# One thread each: two that fight over two cores measure the machine, not the work.
ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"}

MATRIX = """
import time
import numpy as np
from pathlib import Path
from quizapp.assess.statistics import analyse
draw = np.random.default_rng(0)
rows, questions = 1_000_000, 100
keys = draw.integers(0, 4, questions).astype(np.uint8)
chosen = draw.integers(0, 4, (rows, questions), dtype=np.uint8)
scores = np.empty_like(chosen)
for start in range(0, rows, 10_000):
    scores[start:start + 10_000] = chosen[start:start + 10_000] == keys

def kib(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))

def cpu(work):
    began = time.process_time()
    work()
    return time.process_time() - began

def touch():
    for matrix in (scores, chosen):
        np.bitwise_or.reduce(matrix.reshape(-1).view(np.uint64))

def work():
    return analyse(scores, chosen, levels=4, keys=keys)

touch()
# 5: the peak of resident memory begins anew.
Path("/proc/self/clear_refs").write_text("5")
before = kib("VmRSS")
work()
more = (kib("VmHWM") - before) / 1024
pairs = [(cpu(work), cpu(touch)) for _ in range(9)]
import json
print(json.dumps({"pairs": pairs, "more_mb": more}))
"""

IRT = """
import json, sys, time, warnings
import numpy as np
from quizapp.assess.irt import calibrate
warnings.simplefilter("ignore")
from girth import rasch_mml, twopl_mml
model = sys.argv[1]
draw = np.random.default_rng(2026)
ability, difficulty = draw.normal(size=(10_000, 1)), draw.normal(size=100)
slope = np.exp(draw.normal(scale=0.3, size=100)) if model == "2pl" else np.ones(100)
right = (draw.random((10_000, 100)) < 1 / (1 + np.exp(-slope * (ability - difficulty)))).astype(np.uint8)

def timed(work):
    began = time.process_time()
    found = work()
    return time.process_time() - began, found

def rmse(found):
    return float(np.sqrt(np.mean((found - difficulty) ** 2)))

calibrate(right[:500], model)
peer = right.T.astype(int)
theirs, girth = timed(lambda: twopl_mml(peer) if model == "2pl" else rasch_mml(peer))
pairs = []
for number in range(5):
    mine, found = timed(lambda: calibrate(right, model))
    if number and model == "rasch":
        theirs, girth = timed(lambda: rasch_mml(peer))
    pairs.append((theirs, mine))
print(json.dumps({"pairs": pairs, "errors": [rmse(found.difficulty), rmse(girth["Difficulty"])]}))
"""

STORED = """
import json, os, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[2])
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
from synthetic_store import write_store
from quizapp.assess.item_analysis import figures
from quizapp.assess.response_table import response_table
from quizapp.commands.stats import _from_store
from quizapp.store.store import Store
folder = Path(sys.argv[1])
write_store(folder, learners=10_000, questions=100)
store = Store.open(folder)

def cpu(work):
    began = time.process_time()
    work()
    return time.process_time() - began

def statistics():
    table = response_table(_from_store(store, "synthetic", "first", False))
    found = figures(table, lambda key: None)
    assert found.attempts == 10_000 and found.reliability is not None

def fetch():
    rows = store.db.execute("SELECT attempt, seq, at_us, type, body FROM events").fetchall()
    assert len(rows) > 3_000_000

pairs = [(cpu(statistics), cpu(fetch)) for _ in range(3)]
print(json.dumps({"pairs": pairs}))
"""


def _run(code: str, *arguments: str) -> dict:
    import os

    environment = os.environ | ENVIRONMENT | {"PATH": os.environ.get("PATH", "")}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=environment, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout)


def _matrix() -> Measurement:
    return ratio(_run(MATRIX)["pairs"], "CPU of all figures with distractors, against one look at each byte")


def _matrix_memory() -> Measurement:
    more = _run(MATRIX)["more_mb"]
    return Measurement(more, more, more, "peak above the two matrices")


def _stored() -> Measurement:
    with tempfile.TemporaryDirectory() as name:
        found = _run(STORED, name, HERE)
    fetch = found["pairs"][0][1]
    return ratio(
        found["pairs"],
        f"{found['pairs'][0][0]:.2f} s the first time, against {fetch:.2f} s for all events",
    )


def _girth(model: str, figure: str) -> Measurement:
    found = _run(IRT, model)
    mine, theirs = found["errors"]
    if figure == "error":
        return Measurement(
            mine / theirs, mine / theirs, mine / theirs, f"RMSE {mine:.4f} against {theirs:.4f}"
        )
    return ratio(found["pairs"], f"{found['pairs'][0][0]:.2f} s by girth, {found['pairs'][0][1]:.3f} here")


ROWS = [
    Row("statistics of 1,000,000 × 100 responses, against touching them", 15, "× CPU", _matrix),
    Row("statistics of 1,000,000 × 100 responses, memory", 10, "MB", _matrix_memory),
    Row("statistics of 1,000,000 stored responses, against fetchall", 0.35, "× CPU", _stored),
    Row("2PL of 10,000 × 100, against girth", 50, "× faster", lambda: _girth("2pl", "time"), at_least=True),
    Row("2PL of 10,000 × 100, error against girth", 1.02, "× RMSE", lambda: _girth("2pl", "error")),
    Row(
        "Rasch of 10,000 × 100, against girth",
        10,
        "× faster",
        lambda: _girth("rasch", "time"),
        at_least=True,
    ),
    Row("Rasch of 10,000 × 100, error against girth", 1.02, "× RMSE", lambda: _girth("rasch", "error")),
]
