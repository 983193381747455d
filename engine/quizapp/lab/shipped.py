"""Evidence in a file: exported from this machine's store, or shipped beside a bank as its author's claim."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from quizapp.errors import QuizappError

FORMAT = 1
LARGEST_BYTES = 64 << 20


def evidence_file(bank: Path) -> Path:
    """Where a bank's shipped evidence lies: `multi-gpu.yaml` has `multi-gpu.evidence.json` beside it."""
    return bank.with_suffix(".evidence.json")


def read_evidence(path: Path) -> dict[str, dict[str, Any]]:
    """The records of an evidence file by key, none of them trusted; raises QuizappError for another file."""
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise QuizappError(f"{path}: more than {LARGEST_BYTES >> 20} MiB, no evidence file is that large")
        raw = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise QuizappError(f"{path}: can't be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise QuizappError(
            f"{path}: no JSON: {error}", hint="quizapp verify BANK --export makes it"
        ) from error
    records = raw.get("records") if isinstance(raw, dict) else None
    if not isinstance(records, dict) or raw.get("format") != FORMAT:
        raise QuizappError(f"{path}: no evidence file", hint="quizapp verify BANK --export makes it")
    return {key: record for key, record in records.items() if isinstance(record, dict)}


def read_shipped(bank: Path) -> dict[str, dict[str, Any]]:
    """The evidence beside a bank; empty when there is none."""
    path = evidence_file(bank)
    return read_evidence(path) if path.exists() else {}


def write_evidence(path: Path, bank_id: str, records: Mapping[str, Mapping[str, Any]]) -> None:
    """Write an evidence file whole or not at all: JSON, a record a line, in the order of their keys."""
    lines = []
    for key, record in sorted(records.items()):
        body = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        lines.append(f" {json.dumps(key)}: {body}")
    head = f'{{"format": {FORMAT}, "bank": {json.dumps(bank_id)}, "records": {{\n'
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("w", encoding="utf-8") as file:
            file.write(head + ",\n".join(lines) + "\n}}\n")
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise QuizappError(f"{path}: can't be written: {error.strerror}") from error
