"""A synthetic bank of any size: about 2.5 kB of YAML a question, as hand-written ones have."""

from __future__ import annotations

import random
import sys
from pathlib import Path

_WORDS = """
device gradient batch loader kernel stream rank bucket all-reduce memory host wait idle step shard
replica module forward backward optimizer worker queue copy pinned barrier collective utilisation
profile trace tensor sequence padding checkpoint activation overlap synchronise launch throughput
""".split()  # noqa: SIM905


def write_bank(path: Path, questions: int, *, seed: int = 0) -> int:
    """Write a valid bank of so many questions; its size in bytes. The same seed gives the same bytes."""
    draw = random.Random(seed)
    parts = [
        'format: 1\ntitle: "Synthetic: bank"\nobjectives: {waits: Tell waits apart, memory: Budget memory}\n'
        "take: {shuffle: [questions, options], pass_mark: 70%}\nquestions:\n"
    ]
    parts += [_question(draw, number) for number in range(questions)]
    path.write_text("".join(parts), encoding="utf-8")
    return path.stat().st_size


def _question(draw: random.Random, number: int) -> str:
    key = draw.randrange(4)
    signs = _text(draw, 3)
    options = "".join(_option(draw, number, letter, index == key) for index, letter in enumerate("abcd"))
    return (
        f"  - id: question-{number}\n"
        f"    revision: {draw.randint(1, 9)}\n"
        "    kind: single-choice\n"
        f"    objective: {draw.choice(['waits', 'memory'])}\n"
        "    target_time: 90s\n"
        f"    stem: |\n      {signs} {_text(draw, 42)}?\n\n      {_text(draw, 12)}\n"
        "    symptom:\n"
        "      devices: 8\n"
        "      where:\n"
        f'        - {{says: "{signs}", meter: util, devices: 2, mean: {{min: 0.95}}}}\n'
        f"    options:\n{options}"
        f"    explanation:\n      short: {_text(draw, 20)}\n"
        f"      full: |\n        {_text(draw, 40)}\n\n"
        f"        - {_text(draw, 10)}\n        - {_text(draw, 10)}\n"
        f"    references:\n      - {{title: {_text(draw, 3)}, url: https://example.org/{number}}}\n"
        "    verified_by: judgement\n"
    )


def _option(draw: random.Random, number: int, letter: str, correct: bool) -> str:
    return (
        f"      - id: {letter}\n"
        f"        text: {_text(draw, 9)} {number}{letter}\n"
        f"        correct: {str(correct).lower()}\n"
        f"        rationale: >\n          {_text(draw, 14)}\n"
        "        demo: {name: dp-sync, variant: fault, params: {devices: 8}}\n"
    )


def _text(draw: random.Random, words: int) -> str:
    return " ".join(draw.choice(_WORDS) for _ in range(words))


if __name__ == "__main__":
    print(write_bank(Path(sys.argv[1]), int(sys.argv[2])), "bytes")
