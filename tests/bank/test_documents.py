"""Parsed Markdown that is remembered on disk."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

import pytest

from quizapp.bank import documents
from quizapp.bank.documents import Documents
from quizapp.bank.markdown import Document, parse

TEXT = "Some *emphasis* and `code`"


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that the Markdown parser was asked for."""
    seen: list[str] = []

    def counted(text: str) -> Document:
        seen.append(text)
        return parse(text)

    monkeypatch.setattr(documents, "parse", counted)
    return seen


def test_a_text_is_parsed_once_and_for_the_next_process_too(tmp_path: Path, parsed: list[str]) -> None:
    first = Documents(tmp_path)
    assert first.parse(TEXT) == first.parse(TEXT) == parse(TEXT)
    first.close()
    assert Documents(tmp_path).parse(TEXT) == parse(TEXT)
    assert parsed == [TEXT]


def test_plain_text_takes_no_room(tmp_path: Path) -> None:
    assert Documents(tmp_path).parse("Just words.") == parse("Just words.")
    assert not (tmp_path / "documents.sqlite").exists()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE document SET json = '[]'",
        "UPDATE document SET json = replace(json, 'code', 'cody')",
        'UPDATE document SET json = \'[{"kind": 3, "nonsense": 4}]\', checksum = 1',
        "UPDATE document SET json = 7",
        "DROP TABLE document",
    ],
)
def test_damage_is_noticed_and_mended(tmp_path: Path, statement: str) -> None:
    first = Documents(tmp_path)
    first.parse(TEXT)
    first.close()
    with contextlib.closing(sqlite3.connect(tmp_path / "documents.sqlite")) as connection, connection:
        connection.execute(statement)
    for _ in range(2):
        again = Documents(tmp_path)
        assert again.parse(TEXT) == parse(TEXT)
        again.close()


def test_another_file_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "documents.sqlite").write_bytes(b"not a database, " * 100)
    assert Documents(tmp_path).parse(TEXT) == parse(TEXT)
    (tmp_path / "file").touch()
    assert Documents(tmp_path / "file").parse(TEXT) == parse(TEXT)


def test_a_cache_that_another_process_holds_is_left_alone(tmp_path: Path) -> None:
    first = Documents(tmp_path)
    first.parse(TEXT)
    first.close()
    with contextlib.closing(
        sqlite3.connect(tmp_path / "documents.sqlite", isolation_level=None)
    ) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        assert Documents(tmp_path).parse(TEXT) == parse(TEXT)
        assert Documents(tmp_path).parse("*other*") == parse("*other*")
        connection.execute("ROLLBACK")
        assert connection.execute("SELECT count(*) FROM document").fetchone() == (1,)


def test_a_cache_that_has_grown_too_large_starts_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Documents(tmp_path)
    first.parse(TEXT)
    first.close()
    monkeypatch.setattr(documents, "MAX_BYTES", 10)
    Documents(tmp_path).parse("*other*")
    with contextlib.closing(sqlite3.connect(tmp_path / "documents.sqlite")) as connection:
        assert connection.execute("SELECT count(*) FROM document").fetchone() == (1,)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to every folder")
def test_a_folder_that_can_only_be_read(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        assert Documents(tmp_path).parse(TEXT) == parse(TEXT)
    finally:
        tmp_path.chmod(0o700)


def test_texts_that_no_file_can_hold(tmp_path: Path) -> None:
    text = "*a* \udc80"
    assert Documents(tmp_path).parse(text) == parse(text)
