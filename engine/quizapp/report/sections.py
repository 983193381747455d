"""Sections of reports that were made before, in the cache folder, by the hash of all that went into them.

As with banks and documents, what the cache holds is checked and never needed.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import zlib
from pathlib import Path

from quizapp.bank.cache import VERSION
from quizapp.content import cache_dir

FILE_NAME = "report-sections.sqlite"
LAYOUT = 1
"""Raised whenever the HTML of a section changes: what was kept of an older layout is not shown again."""

MAX_BYTES = 256 * 1024 * 1024


def forget_pages(folder: Path | None = None) -> None:
    """Delete what is remembered of pages: it holds responses. A file that can't be deleted is left."""
    file = (cache_dir() if folder is None else folder) / FILE_NAME
    for name in (FILE_NAME, f"{FILE_NAME}-wal", f"{FILE_NAME}-shm", f"{FILE_NAME}-journal"):
        with contextlib.suppress(OSError):
            file.with_name(name).unlink()


class Sections:
    """Remembers the HTML of sections; new ones are written by `keep`, all at once."""

    def __init__(self, folder: Path | None = None) -> None:
        self._file = (cache_dir() if folder is None else folder) / FILE_NAME
        self._new: dict[bytes, str] = {}
        self._connection = self._open()

    @staticmethod
    def key(*parts: object) -> bytes:
        """What a section is found by: equal only where all the parts are."""
        return hashlib.sha256(repr((VERSION, LAYOUT, parts)).encode("utf-8", "surrogatepass")).digest()

    def get(self, key: bytes) -> str | None:
        """The section of this key, when it is there and whole."""
        if self._connection is None:
            return None
        try:
            row = self._connection.execute(
                "SELECT html, checksum FROM section WHERE key = ?", (key,)
            ).fetchone()
            if row is None or zlib.crc32(row[0]) != row[1]:
                return None
            return zlib.decompress(row[0]).decode("utf-8")
        except (sqlite3.Error, zlib.error, ValueError, TypeError):
            return None

    def put(self, key: bytes, html: str) -> None:
        """Remembers a section, to be written by `keep`."""
        self._new[key] = html

    def keep(self) -> None:
        """Writes what is new, if it can, and lets go of the file."""
        if self._connection is None:
            return
        with contextlib.suppress(sqlite3.Error, UnicodeError), self._connection:
            packed = ((key, zlib.compress(html.encode("utf-8"), 1)) for key, html in self._new.items())
            self._connection.executemany(
                "INSERT OR REPLACE INTO section VALUES (?, ?, ?)",
                ((key, html, zlib.crc32(html)) for key, html in packed),
            )
        self._connection.close()
        self._connection = None
        self._new.clear()

    def _open(self) -> sqlite3.Connection | None:
        for _ in range(2):
            connection = None
            try:
                self._file.parent.mkdir(parents=True, exist_ok=True)
                if self._file.exists() and self._file.stat().st_size > MAX_BYTES:
                    self._file.unlink()
                connection = sqlite3.connect(self._file, timeout=0.05)
                connection.execute("PRAGMA synchronous = OFF")
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS section"
                    " (key BLOB PRIMARY KEY, html BLOB, checksum INT) WITHOUT ROWID"
                )
                return connection
            except sqlite3.OperationalError:
                # Locked, or a folder that can't be written: this report is made without it.
                if connection is not None:
                    connection.close()
                return None
            except sqlite3.Error:
                if connection is not None:
                    connection.close()
                with contextlib.suppress(OSError):
                    self._file.unlink()
            except OSError:
                return None
        return None
