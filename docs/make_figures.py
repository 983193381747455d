"""Makes a bank's recorded figures anew: the demo behind each key is run, recorded, and drawn.

    python docs/make_figures.py BANK

A question whose figure lies in `figures/runs/` gets the run of its first key that has a demo, or its own
recording. Prints what
each picture shows, to be taken for its alternative text. Runs are emulated: every machine draws the same.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = "figures/runs/"


def quizapp(*words: str) -> str:
    """The output of a quizapp command; SystemExit with its errors when it fails."""
    command = [sys.executable, "-c", "from quizapp.cli import main; main()", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    # 1 is a result: an oom that runs out of memory on purpose has it as well as one that does not.
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr or f"quizapp {' '.join(words)} ended with {done.returncode}")
    return done.stdout


def main(arguments: list[str]) -> None:
    """Command line."""
    if len(arguments) != 1:
        raise SystemExit(__doc__)
    from quizapp.bank.load import load_bank
    from quizapp.bank.model import Reading

    path = Path(arguments[0])
    with tempfile.TemporaryDirectory() as scratch:
        for question in load_bank(path).bank.questions:
            figure = question.explanation.figure
            if figure is None or not figure.src.startswith(RUNS):
                continue
            record, out = Path(scratch) / "run.jsonl", path.parent / figure.src
            if isinstance(question, Reading):
                record = path.parent / question.recording
            else:
                demo = next((o.demo for o in question.options if o.correct and o.demo), None)
                if demo is None:
                    raise SystemExit(f"{question.id}: no key has a demo to draw")
                sets = [word for name, value in demo.params.items() for word in ("--set", f"{name}={value}")]
                quizapp("demo", demo.name, "--variant", demo.variant, "--device", "emulated",
                        *sets, "--json", "--record", str(record))  # fmt: skip
            out.parent.mkdir(parents=True, exist_ok=True)
            print(f"{out}: {quizapp('demo', '--replay', str(record), '--figure', str(out))}")


if __name__ == "__main__":
    main(sys.argv[1:])
