"""Run by test_unavailable.py in a mount namespace of its own: fills a small disk while an attempt is taken.

Prints one JSON object: the responses that were acknowledged, those that are stored, and what was said.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from quizapp.assess.response import Response
from quizapp.store.begin import begin
from quizapp.store.database import StoreUnavailable
from quizapp.store.store import Store
from sample_bank import MemoryBank, multiple

FOLDER = Path(sys.argv[1])
BANK = MemoryBank([multiple()])


def main() -> None:
    sitting = begin(Store.open(FOLDER), BANK, "ada").sitting
    sitting.show(0)
    acknowledged, said = 0, ""
    choices = [Response(("key-0",)), Response(("key-1",))]
    ballast = FOLDER / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass
    for number in range(2000):
        try:
            sitting.respond(0, choices[number % 2])
        except StoreUnavailable as error:
            said = str(error)
            break
        acknowledged += 1
    kept_in_hand = sitting.response(0).selected
    sitting.close()
    os.unlink(ballast)
    again = begin(Store.open(FOLDER), BANK, "ada").sitting
    changes = [event for _, event in again._events if type(event).__name__ == "ResponseChanged"]
    result = {
        "acknowledged": acknowledged,
        "stored": len(changes),
        "said": said,
        "in_hand": kept_in_hand,
        "resumed": again.response(0).selected,
        "same": again.attempt_id == sitting.attempt_id,
        "goes_on": again.saved,
    }
    again.respond(0, Response(("no-0",)))
    print(json.dumps(result))


main()
