"""Run by rows_store.py: one of several processes that record responses at once; prints how long each took."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from quizapp.assess.response import Response
from quizapp.bank.library import open_bank
from quizapp.store.store import Store
from rows_store import RESPONSES_EACH


def main(folder: Path, number: str) -> None:
    sitting = Store.open(folder / "state").start(
        open_bank(folder / "bank.yaml", cache=folder), f"writer {number}"
    )
    sitting.show(0)
    order = sitting.option_order(0)
    print("ready", flush=True)
    sys.stdin.read()
    waits = []
    for turn in range(RESPONSES_EACH):
        began = time.perf_counter()
        sitting.respond(0, Response((order[turn % 2],)))
        waits.append(time.perf_counter() - began)
    sitting.close()
    print(*waits, sep="\n", flush=True)


main(Path(sys.argv[1]), sys.argv[2])
