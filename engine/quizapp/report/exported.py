"""Responses in a file: CSV, JSON, JSON lines or Parquet, a row a question of an attempt.

The columns are those of docs/results.md, the same in every format.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import IO, Any

from quizapp.assess.response_rows import ResponseRow, guarded
from quizapp.errors import QuizappError

COLUMNS = tuple(name.removesuffix("_us") + "_at" * name.endswith("_us") for name in ResponseRow._fields)
"""As they stand in files: times end in `_at`, and are ISO 8601 in UTC."""

_BATCH_ROWS = 20_000
_INTEGERS = ("seed", "revision")
_FLOATS = ("points", "max_points", "time_s")


def _cells(row: ResponseRow) -> Iterator[Any]:
    for name, value in zip(ResponseRow._fields, row, strict=True):
        yield _moment(int(value)).isoformat() if name.endswith("_us") and value is not None else value


def _moment(at_us: int) -> datetime:
    return datetime.fromtimestamp(at_us // 1_000_000, UTC).replace(microsecond=at_us % 1_000_000)


def _csv(rows: Iterable[ResponseRow], out: IO[bytes]) -> int:
    import io

    text = io.TextIOWrapper(out, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    count = 0
    for count, row in enumerate(rows, 1):  # noqa: B007 (the last number)
        writer.writerow([guarded(cell) if isinstance(cell, str) else cell for cell in _cells(row)])
    text.detach()
    return count


def _objects(rows: Iterable[ResponseRow]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(dict(zip(COLUMNS, _cells(row), strict=True)), ensure_ascii=False)


def _json(rows: Iterable[ResponseRow], out: IO[bytes]) -> int:
    count = 0
    out.write(b"[")
    for count, line in enumerate(_objects(rows), 1):
        out.write(b"\n" if count == 1 else b",\n")
        out.write(line.encode("utf-8", "replace"))
    out.write(b"\n]\n")
    return count


def _json_lines(rows: Iterable[ResponseRow], out: IO[bytes]) -> int:
    count = 0
    for count, line in enumerate(_objects(rows), 1):  # noqa: B007
        out.write(line.encode("utf-8", "replace") + b"\n")
    return count


def _parquet(rows: Iterable[ResponseRow], out: IO[bytes]) -> int:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise QuizappError(
            "Parquet needs pyarrow, which is not installed.",
            hint="pip install 'quizapp-lab[stats]', or export CSV or JSON lines.",
        ) from error
    kinds = dict.fromkeys(_INTEGERS, pyarrow.int64()) | dict.fromkeys(_FLOATS, pyarrow.float64())
    moment = pyarrow.timestamp("us", tz="UTC")
    schema = pyarrow.schema(
        (column, moment if name.endswith("_us") else kinds.get(name, pyarrow.string()))
        for name, column in zip(ResponseRow._fields, COLUMNS, strict=True)
    )
    count = 0
    with parquet.ParquetWriter(out, schema) as writer:
        for batch in _batches(rows):
            count += len(batch)
            columns = zip(*batch, strict=True)
            arrays = [pyarrow.array(c, field.type) for c, field in zip(columns, schema, strict=True)]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))
    return count


def _batches(rows: Iterable[ResponseRow]) -> Iterator[list[ResponseRow]]:
    batch: list[ResponseRow] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _BATCH_ROWS:
            yield batch
            batch = []
    if batch:
        yield batch


FORMATS: dict[str, Callable[[Iterable[ResponseRow], IO[bytes]], int]] = {
    "csv": _csv,
    "json": _json,
    "jsonl": _json_lines,
    "parquet": _parquet,
}
"""Writes rows to a binary file and returns how many there were, by the suffix of the format."""
