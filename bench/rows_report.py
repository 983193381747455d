"""What a report costs that was made before."""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
from pathlib import Path

from harness import QUIZAPP, Measurement, Row, ratio, run

QUESTIONS = 10_000


def second_report() -> Measurement:
    """`report` of an attempt on all questions of a synthetic bank: again, and with an empty cache; CPU."""
    from quizapp.assess.response import Response
    from quizapp.bank.library import open_bank
    from quizapp.store.store import Store
    from synthetic import write_bank

    with tempfile.TemporaryDirectory(dir=os.environ.get("QUIZAPP_BENCH_DIR")) as name:
        folder = Path(name)
        write_bank(folder / "bank.yaml", QUESTIONS)
        store = Store.open(folder / "state")
        sitting = store.start(open_bank(folder / "bank.yaml", cache=folder / "made"), "bench", seed=1)
        for place in range(QUESTIONS):
            sitting.show(place)
            sitting.respond(place, Response((sitting.option_order(place)[0],)))
            sitting.submit(place)
        sitting.finish()
        sitting.close()
        store.close()
        cache = folder / "cache"
        env = {"QUIZAPP_STATE_DIR": str(folder / "state"), "QUIZAPP_CACHE_DIR": str(cache)}
        command = [*QUIZAPP, "report", sitting.attempt_id, "--html", str(folder / "out.html"), "--force"]
        pairs = []
        for _ in range(3):
            shutil.rmtree(cache, ignore_errors=True)
            first = run(command, env=env).cpu_s
            pairs.append((run(command, env=env).cpu_s, first))
    again, first = (statistics.median(side) for side in zip(*pairs, strict=True))
    return ratio(pairs, f"{again:.2f} against {first:.2f} s")


ROWS = [
    Row(f"a second report of {QUESTIONS:,} questions, against the first", 0.2, "× CPU", second_report),
]
