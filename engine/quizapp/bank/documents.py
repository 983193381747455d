"""Parsed Markdown, remembered: in this process, and in the cache folder.

A text that was shown before costs no import of the Markdown parser. As with banks, what the cache holds is
checked and never needed.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import zlib
from pathlib import Path

from quizapp.bank.cache import VERSION
from quizapp.bank.markdown import Document, document_from_json, document_to_json, is_markdown, parse
from quizapp.content import cache_dir

MAX_BYTES = 64 * 1024 * 1024
_REMEMBERED = 512


class Documents:
    """Parses each text once. `folder` is the cache folder (default: the user's)."""

    def __init__(self, folder: Path | None = None) -> None:
        self._file = (cache_dir() if folder is None else folder) / "documents.sqlite"
        self._connection: sqlite3.Connection | None = None
        self._usable = True
        self._remembered: dict[str, Document] = {}

    def parse(self, text: str) -> Document:
        """The document that `text` is, as `markdown.parse` gives it."""
        if text in self._remembered:
            return self._remembered[text]
        if is_markdown(text):
            key = f"{VERSION}\n{text}"
            document = self._read(key)
            if document is None:
                document = parse(text)
                self._write(key, document)
        else:
            document = parse(text)
        if len(self._remembered) >= _REMEMBERED:
            self._remembered.clear()
        self._remembered[text] = document
        return document

    def known(self, text: str) -> Document | None:
        """The document that `text` is, if that costs no import of the parser; else None."""
        if text in self._remembered or not is_markdown(text):
            return self.parse(text)
        return self._read(f"{VERSION}\n{text}")

    def close(self) -> None:
        """Let go of the cache's file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _read(self, key: str) -> Document | None:
        connection = self._open()
        if connection is None:
            return None
        try:
            found = connection.execute(
                "SELECT json, checksum FROM document WHERE text = ?", (key,)
            ).fetchone()
            if found is None:
                return None
            if zlib.crc32(found[0].encode()) == found[1]:
                return document_from_json(found[0])
        except (sqlite3.OperationalError, UnicodeError):
            return None  # held by another process just now, or a text that no file can hold
        except (sqlite3.Error, ValueError, KeyError, TypeError, AttributeError):
            pass
        self._start_over()
        return None

    def _write(self, key: str, document: Document) -> None:
        connection = self._open()
        if connection is None:
            return
        text = document_to_json(document)
        with contextlib.suppress(sqlite3.Error, UnicodeError):
            connection.execute(
                "INSERT OR REPLACE INTO document VALUES (?, ?, ?)", (key, text, zlib.crc32(text.encode()))
            )

    def _open(self) -> sqlite3.Connection | None:
        if self._connection is None and self._usable:
            try:
                self._connection = self._connect()
            except (sqlite3.Error, OSError):
                self._start_over()
        return self._connection

    def _connect(self) -> sqlite3.Connection | None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        if self._file.exists() and self._file.stat().st_size > MAX_BYTES:
            self._file.unlink()
        # Autocommit, and no waiting: another process that writes just now is no reason to stand still.
        connection = sqlite3.connect(self._file, isolation_level=None, timeout=0.05, check_same_thread=False)
        try:
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS document"
                " (text TEXT PRIMARY KEY, json TEXT, checksum INT) WITHOUT ROWID"
            )
        except sqlite3.OperationalError:
            # Locked, or a folder that can't be written: reading may do all the same.
            return connection
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _start_over(self) -> None:
        """Drop a file that holds something else than documents, once; then do without."""
        self.close()
        self._usable = False
        with contextlib.suppress(OSError):
            os.unlink(self._file)


_shared: Documents | None = None


def document(text: str) -> Document:
    """`markdown.parse`, remembered in this process and in the user's cache folder."""
    return _documents().parse(text)


def known_document(text: str) -> Document | None:
    """`document(text)` if it was seen before or needs no parser; else None."""
    return _documents().known(text)


def _documents() -> Documents:
    global _shared
    if _shared is None:
        _shared = Documents()
    return _shared
