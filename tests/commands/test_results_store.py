"""`quizapp results export`, `merge` and `delete-learner`, as users call them."""

from __future__ import annotations

import csv
import io
import json
from datetime import datetime
from pathlib import Path

import pytest
from command_line import CommandLine

pq = pytest.importorskip("pyarrow.parquet", reason="Parquet is tested where pyarrow is installed")
DOCS = Path(__file__).parent.parent.parent / "docs" / "results.md"


def documented() -> set[str]:
    lines = DOCS.read_text(encoding="utf-8").split("## The columns")[1].split("## Merging")[0].splitlines()
    cells = [line.split("|")[1].strip() for line in lines if line.startswith("| ")]
    return {name for cell in cells if cell != "column" for name in cell.split(", ")}


def test_every_format_says_the_same(quizapp: CommandLine) -> None:
    quizapp("take", "small", "--learner", "=HYPERLINK(1)", lines="b\na b\n")
    quizapp("take", "small", lines="a\n")
    for suffix in ("csv", "json", "jsonl", "parquet"):
        done = quizapp("results", "export", f"out.{suffix}")
        assert (done.returncode, done.stdout) == (0, "")
        assert "of 2 attempts" in done.stderr
    text = (quizapp.folder / "out.csv").read_text(encoding="utf-8")
    from_csv = list(csv.DictReader(io.StringIO(text)))
    assert set(from_csv[0]) == documented()
    assert from_csv[0]["learner"] == "'=HYPERLINK(1)"
    rows = json.loads((quizapp.folder / "out.json").read_text(encoding="utf-8"))
    lines = (quizapp.folder / "out.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == rows
    assert rows[0]["learner"] == "=HYPERLINK(1)"
    given = [(row["question"], row["response"], row["verdict"], row["points"]) for row in rows[:2]]
    assert given == [("first", "beta", "incorrect", 0.0), ("second", "alpha beta", "correct", 1.0)]
    for cells, row in zip(from_csv, rows, strict=True):
        for name, value in row.items():
            if name != "learner":
                assert cells[name] == ("" if value is None else str(value))
    table = pq.read_table(quizapp.folder / "out.parquet").to_pylist()
    for cells, row in zip(table, rows, strict=True):
        for name, value in row.items():
            told = datetime.fromisoformat(value) if name.endswith("_at") and value else value
            assert cells[name] == told, name


def test_a_file_that_is_there_is_kept_unless_forced(quizapp: CommandLine) -> None:
    quizapp("take", "small", lines="b\na b\n")
    there = quizapp.folder / "out.csv"
    there.write_text("mine", encoding="utf-8")
    done = quizapp("results", "export", "out.csv")
    assert done.returncode == 2
    assert "--force" in done.stderr
    assert there.read_text(encoding="utf-8") == "mine"
    assert quizapp("results", "export", "out.csv", "--force").returncode == 0
    assert there.read_text(encoding="utf-8").startswith("attempt,")
    assert "no format" in quizapp("results", "export", "out.xlsx").stderr
    assert quizapp("results", "export", "-").stdout == there.read_text(encoding="utf-8")
    assert not list(quizapp.folder.glob(".*.part"))


def test_a_store_is_merged_once(quizapp: CommandLine) -> None:
    quizapp("take", "small", "--learner", "bob", lines="b\na b\n")
    quizapp.state.rename(quizapp.folder / "bobs")
    quizapp("take", "small", lines="a\na b\n")
    first = quizapp("results", "merge", "bobs", "--json")
    assert (first.returncode, json.loads(first.stdout)[0]["attempts"]) == (0, 1)
    again = quizapp("results", "merge", "bobs")
    assert "0 attempts taken in" in again.stderr
    assert len(quizapp("results").stdout.splitlines()) == 2


def test_a_learner_is_deleted_only_when_told(quizapp: CommandLine) -> None:
    quizapp("take", "small", lines="a\na b\n")
    asked = quizapp("results", "delete-learner", "ada")
    assert asked.returncode == 2
    assert "--yes" in asked.stderr
    assert len(quizapp("results").stdout.splitlines()) == 1
    attempt = quizapp("results").stdout.split()[0]
    assert quizapp("report", attempt, "--html", "page.html").returncode == 0
    assert list(quizapp.cache.rglob("report-sections*"))
    done = quizapp("results", "delete-learner", "ada", "--yes", "--json")
    assert list(quizapp.cache.rglob("report-sections*")) == []
    assert json.loads(done.stdout)["attempts"] == 1
    assert quizapp("results").stdout == ""
    assert quizapp("results", "delete-learner", "ada", "--yes").returncode == 2
