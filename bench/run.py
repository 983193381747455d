"""Measure every promise in one go: `python bench/run.py [WORD…] [--json FILE] [--list]`.

Each row is a ratio against a peer or a floor that is measured in the same run, so it holds on a slow or noisy
machine. With words: only rows whose name or tag holds one of them. Exit status 1 when a promise is broken.
"""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from harness import Row  # noqa: E402


def all_rows() -> list[Row]:
    rows: list[Row] = []
    for path in sorted(HERE.glob("rows_*.py")):
        rows += importlib.import_module(path.stem).ROWS
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*")
    parser.add_argument("--json", type=Path, default=HERE / "results" / "latest.json")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    rows = [
        row
        for row in all_rows()
        if not options.words or any(word in row.name or word in row.tags for word in options.words)
    ]
    if options.list:
        for row in rows:
            print(f"{'≥' if row.at_least else '≤'} {row.limit:g} {row.unit:8} {row.name}")
        return 0
    results = []
    broken = 0
    print(f"{'':4} {'measured':>9} {'min':>8} {'max':>8} {'limit':>9}  row")
    for row in rows:
        started = time.monotonic()
        got = row.measure()
        good = row.holds(got.value)
        broken += not good
        state, sign = "ok" if good else "OVER", "≥" if row.at_least else "≤"
        figures = f"{got.value:9.3g} {got.low:8.3g} {got.high:8.3g} {sign}{row.limit:8g}"
        print(f"{state:4} {figures}  {row.name} [{row.unit}] {got.detail}", flush=True)
        results.append(
            {
                "row": row.name,
                "unit": row.unit,
                "limit": row.limit,
                "at_least": row.at_least,
                "value": got.value,
                "min": got.low,
                "max": got.high,
                "detail": got.detail,
                "holds": good,
                "took_s": round(time.monotonic() - started, 1),
            }
        )
    options.json.parent.mkdir(parents=True, exist_ok=True)
    machine = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "system": platform.system(),
    }
    options.json.write_text(json.dumps({"machine": machine, "rows": results}, indent=1) + "\n")
    print(f"{len(rows) - broken} of {len(rows)} promises hold; figures in {options.json}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
