"""Responses out of a file of another system: CSV, JSON lines or Parquet, one response a row.

The columns are documented in docs/statistics.md. Every error names the line.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from quizapp.errors import QuizappError, nearest

COLUMNS = ("learner", "attempt", "question", "revision", "response", "points", "max_points", "time_s")
_LONGEST_LINE = 1_000_000


class FileUnreadable(QuizappError):
    """A file of responses is not what it should be."""


class FileRow(NamedTuple):
    """One response; `points` is None where the file leaves scoring to the bank, `time_s` NaN if unknown."""

    line: int
    learner: str
    attempt: str
    question: str
    revision: int
    response: str
    points: float | None
    max_points: float | None
    time_s: float


def response_rows(path: Path) -> Iterator[FileRow]:
    """The rows of a file, by the ending of its name. Raises FileUnreadable, with the line."""
    readers: dict[str, Callable[[Path], Iterator[tuple[int, Mapping[str, Any]]]]] = {
        ".csv": _csv,
        ".jsonl": _json_lines,
        ".ndjson": _json_lines,
        ".parquet": _parquet,
    }
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise FileUnreadable(
            f"{path} is of no kind that can be read.",
            hint="Responses come as .csv, .jsonl or .parquet; docs/statistics.md has the columns.",
        )
    try:
        for line, row in reader(path):
            yield _row(path, line, row)
    except OSError as error:
        raise FileUnreadable(f"{path} can't be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise FileUnreadable(f"{path} is not UTF-8 ({error.reason} at byte {error.start}).") from error


def _csv(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        try:
            _check_columns(path, 1, list(reader.fieldnames or ()))
            for row in reader:
                if None in row:
                    raise _fault(path, reader.line_num, "has more cells than the first line has names")
                yield reader.line_num, row
        except csv.Error as error:
            raise _fault(path, reader.line_num, f"is no CSV ({error})") from error


def _json_lines(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    with path.open(encoding="utf-8-sig") as file:
        number = 0
        while text := file.readline(_LONGEST_LINE):
            number += 1
            if not text.strip():
                continue
            try:
                row = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise _fault(path, number, f"is no JSON ({error})") from error
            if not isinstance(row, dict):
                raise _fault(path, number, "is no JSON object")
            _check_columns(path, number, list(row))
            yield number, row


def _parquet(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise FileUnreadable(
            f"{path} can't be read without pyarrow.", hint="pip install 'quizapp-lab[stats]'"
        ) from error
    try:
        file = pyarrow.parquet.ParquetFile(path)
        _check_columns(path, 1, list(file.schema_arrow.names))
        number = 0
        for batch in file.iter_batches(batch_size=65536):
            for row in batch.to_pylist():
                number += 1
                yield number, row
    except pyarrow.ArrowException as error:
        raise FileUnreadable(f"{path} is no Parquet file that can be read ({error}).") from error


def _check_columns(path: Path, line: int, names: list[str]) -> None:
    for name in names:
        if name not in COLUMNS:
            near = nearest(str(name), list(COLUMNS))
            hint = f"did you mean {near!r}?" if near else f"columns are {', '.join(COLUMNS)}"
            raise _fault(path, line, f"has an unknown column {name!r}", hint)
    if len(set(names)) < len(names):
        raise _fault(path, line, "names a column twice")
    for name in ("learner", "question"):
        if name not in names:
            raise _fault(path, line, f"has no column {name!r}")
    if "points" not in names and "response" not in names:
        raise _fault(path, line, "has neither points nor a response to score")


def _row(path: Path, line: int, row: Mapping[str, Any]) -> FileRow:
    learner, question = _text(row.get("learner")), _text(row.get("question")).strip()
    if not learner.strip() or not question:
        raise _fault(path, line, "needs a learner and a question")
    if any(space in question for space in " #\t\n"):
        raise _fault(path, line, f"has a question id with a space or '#' in it: {question!r}")
    points, best = (_number(path, line, name, row.get(name)) for name in ("points", "max_points"))
    if best is not None and best <= 0:
        raise _fault(path, line, "has max_points that are not above 0")
    if points is not None and points > (1.0 if best is None else best):
        raise _fault(path, line, f"has more points ({points:g}) than max_points ({best or 1:g})")
    revision = _number(path, line, "revision", row.get("revision"))
    if revision is not None and (revision < 1 or revision != int(revision)):
        raise _fault(path, line, "has a revision that is no whole number from 1")
    time_s = _number(path, line, "time_s", row.get("time_s"))
    if time_s is not None and time_s < 0:
        raise _fault(path, line, "has a negative time_s")
    return FileRow(
        line,
        learner,
        _text(row.get("attempt")),
        question,
        int(revision or 1),
        _response(row.get("response")),
        points,
        best,
        math.nan if time_s is None else time_s,
    )


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _response(value: object) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value))
    return _text(value).strip()


def _number(path: Path, line: int, name: str, value: object) -> float | None:
    if value is None or value == "":
        return None
    try:
        number = float(value) if isinstance(value, int | float | str) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise _fault(path, line, f"has {name} {_text(value)[:40]!r}, which is no number")
    return number


def _fault(
    path: Path, line: int, what: str, hint: str = "docs/statistics.md has the columns."
) -> FileUnreadable:
    return FileUnreadable(f"{path}:{line}: this line {what}.", hint=hint)
