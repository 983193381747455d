"""Verification: what it costs beyond its runs, and what a second call costs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import BARE_PYTHON, QUIZAPP, Measurement, Row, cpu_ratio, ratio, run

QUESTION = "six-of-eight-idle"
"""Four options, four demos, eight devices."""


def _environment(folder: str) -> dict[str, str]:
    return {"QUIZAPP_STATE_DIR": f"{folder}/state", "QUIZAPP_CACHE_DIR": f"{folder}/cache"}


def one_question() -> Measurement:
    """Wall time of `verify` against the wall time that its demos take in one warm lab, and one import."""
    with tempfile.TemporaryDirectory() as folder:
        env = _environment(folder)
        run([*QUIZAPP, "list"], env=env)
        whole = run(
            [*QUIZAPP, "verify", "multi-gpu", QUESTION, "--json", "--export", f"{folder}/e.json"], env=env
        )
        imported = run([sys.executable, "-c", "import torch, torch._dynamo"])
        records = json.loads(Path(f"{folder}/e.json").read_text())["records"].values()
        own_s = sum(record["measured"]["wall_s"] for record in records)
        runs = f"{own_s:.1f} s of {len(records)} runs"
        detail = f"{whole.wall_s:.1f} s against {runs} and {imported.wall_s:.1f} s of import"
        return ratio([(whole.wall_s, own_s + imported.wall_s)], detail)


def unique_runs() -> Measurement:
    """How many runs are started for the whole bank, as a multiple of the distinct ones that it needs."""
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | _environment(folder)
        command = [*QUIZAPP, "verify", "multi-gpu", "--repeats", "1", "--export", f"{folder}/e.json"]
        began = time.monotonic()
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise RuntimeError(done.stderr[-2000:])
        started = re.findall(r"^run \d+ of \d+.*?: (.*)$", done.stderr, re.MULTILINE)
        records = json.loads(Path(f"{folder}/e.json").read_text())["records"]
        detail = f"{len(started)} runs, {len(records)} distinct, {time.monotonic() - began:.0f} s"
        value = len(started) / len(records)
        return Measurement(value, value, value, detail)


def nothing_stale() -> Measurement:
    with tempfile.TemporaryDirectory() as folder:
        env = _environment(folder)
        command = [*QUIZAPP, "verify", "multi-gpu", QUESTION]
        run(command, env=env)
        return cpu_ratio(command, BARE_PYTHON, env=env, runs=11)


ROWS = [
    Row(
        "verify of one question with four demos against its runs' own time and one torch import",
        3,
        "× wall",
        one_question,
        tags=("verify",),
    ),
    Row("verify of the whole bank makes each distinct run once", 1, "×", unique_runs, tags=("verify",)),
    Row("verify with nothing stale against bare Python", 12, "× CPU", nothing_stale, tags=("verify",)),
]
