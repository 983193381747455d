"""Compiled banks in the cache folder, one SQLite file each: read when they are fresh and whole, else ignored.

A bank is found by its path, and fresh when its file's size and times are those of the compilation. Where they
are not, or where the file was written so shortly before that its times prove nothing, its content decides.
Every row carries a checksum. Nothing here is needed: whoever asks loads the bank when there is no answer.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from quizapp import __version__
from quizapp.bank.compiled import FileStamp, FreshBank, QuestionRow, stamp_of

VERSION = (
    f"{__version__}/5"  # the second number is raised when this layout, or what compilation makes, changes
)
APPLICATION_ID = 0x51424B31  # "QBK1"
TICK_NS = 2_000_000_000  # the coarsest clock of a file system that people use (FAT)

_TABLES = """
CREATE TABLE bank (version TEXT, path TEXT, size INT, mtime_ns INT, ctime_ns INT, checked_ns INT,
                   hash TEXT, facts TEXT, ids TEXT, checksum INT);
CREATE TABLE question (position INTEGER PRIMARY KEY, id TEXT, kind TEXT, objective TEXT, revision INT,
                       points REAL, hash TEXT, option_ids TEXT, pins TEXT, demos INT, target_time_s REAL,
                       rule TEXT, checksum INT);
CREATE TABLE body (position INTEGER PRIMARY KEY, json TEXT, checksum INT);
"""


class CacheDamaged(Exception):
    """What was read is not what was written."""


class CachedBank:
    """A compiled bank in its file, as a CompiledBank; rows and bodies are read when asked for.

    Reading raises CacheDamaged where a checksum does not hold.
    """

    def __init__(
        self, connection: sqlite3.Connection, hash: str, facts: Mapping[str, Any], ids: Sequence[str]
    ) -> None:
        self._connection = connection
        self.hash = hash
        self.facts: Mapping[str, Any] = facts
        self.ids: Sequence[str] = ids

    def row(self, index: int) -> QuestionRow:
        return next(iter(self._rows("WHERE position = ?", (index,))))

    def rows(self) -> Iterable[QuestionRow]:
        rows = self._rows("ORDER BY position", ())
        if [row.id for row in rows] != self.ids:
            raise CacheDamaged
        return rows

    def body(self, index: int) -> str:
        found = self._select("SELECT json, checksum FROM body WHERE position = ?", (index,))
        if len(found) != 1 or _checksum(found[0][:1]) != found[0][1]:
            raise CacheDamaged
        return str(found[0][0])

    def _rows(self, which: str, values: tuple[int, ...]) -> list[QuestionRow]:
        rows = []
        for stored in self._select(f"SELECT * FROM question {which}", values):  # noqa: S608 (two constants)
            if _checksum(stored[:-1]) != stored[-1]:
                raise CacheDamaged
            option_ids, pins = stored[7:9]
            rows.append(
                QuestionRow._make(
                    (*stored[1:7], tuple(option_ids.split()), json.loads(pins) if pins else {}, *stored[9:12])
                )
            )
        if not rows:
            raise CacheDamaged
        return rows

    def _select(self, statement: str, values: tuple[int, ...]) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(statement, values).fetchall()
        except (sqlite3.Error, UnicodeError):
            raise CacheDamaged from None


def cache_file(folder: Path, path: Path) -> Path:
    """The file in `folder` that holds the compiled form of the bank at `path`."""
    absolute = os.path.abspath(path)
    return folder / "banks" / f"{path.stem[:40]}-{zlib.crc32(os.fsencode(absolute)):08x}.sqlite"


def read(folder: Path, path: Path) -> CachedBank | None:
    """The compiled bank, when it is there, whole and fresh. Never raises for what the cache holds."""
    file = cache_file(folder, path)
    try:
        connection = _connect(file, "ro")
    except sqlite3.Error:
        return None
    bank = None
    with contextlib.suppress(sqlite3.Error, ValueError, OSError, CacheDamaged):
        bank = _read(connection, file, path)
    if bank is None:
        connection.close()
    return bank


def _read(connection: sqlite3.Connection, file: Path, path: Path) -> CachedBank | None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        return None
    found = connection.execute("SELECT * FROM bank").fetchall()
    if len(found) != 1 or found[0][0] != VERSION or _checksum(found[0][:-1]) != found[0][-1]:
        return None
    _, stored_path, size, mtime_ns, ctime_ns, checked_ns, digest, facts, ids, _ = found[0]
    if stored_path != os.path.abspath(path):
        return None
    stamp = stamp_of(str(path))
    proven = max(mtime_ns, ctime_ns) + TICK_NS < checked_ns
    if stamp != (size, mtime_ns, ctime_ns) or not proven:
        import hashlib

        if stamp[0] != size or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            return None
        if max(stamp[1:]) + TICK_NS < time.time_ns():
            _stamp_again(file, found[0], stamp)
    told = json.loads(facts)
    for name, was in told["beside"].items():
        # A recording that was changed about when it was read may have been read before the change.
        if list(stamp_of(str(path.parent / name))) != was or max(was[1:]) + TICK_NS >= checked_ns:
            return None
    return CachedBank(connection, digest, told, ids.split("\n"))


def _stamp_again(file: Path, stored: tuple[Any, ...], stamp: FileStamp) -> None:
    """Note that this content was seen under this stamp, so that the next start needn't read it."""
    version, path, _, _, _, _, digest, facts, ids, _ = stored
    row = (version, path, *stamp, time.time_ns(), digest, facts, ids)
    with (
        contextlib.suppress(sqlite3.Error),
        contextlib.closing(_connect(file, "rw")) as connection,
        connection,
    ):
        connection.execute(
            "UPDATE bank SET size = ?, mtime_ns = ?, ctime_ns = ?, checked_ns = ?, checksum = ?",
            (*row[2:6], _checksum(row)),
        )


def write(folder: Path, path: Path, bank: FreshBank, stamp: FileStamp) -> None:
    """Keep a compiled bank; `stamp` was taken before its file was read. Does nothing where it can't."""
    file = cache_file(folder, path)
    unfinished = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        unfinished.unlink(missing_ok=True)
        with contextlib.closing(_connect(unfinished, "rwc")) as connection:
            _write(connection, path, bank, stamp)
        os.replace(unfinished, file)
    except (sqlite3.Error, OSError, UnicodeError):
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)


def _write(connection: sqlite3.Connection, path: Path, bank: FreshBank, stamp: FileStamp) -> None:
    # A file that isn't finished is never read, so it needs neither journal nor sync.
    connection.executescript(
        f"PRAGMA page_size = 16384; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
        f"PRAGMA application_id = {APPLICATION_ID};{_TABLES}"
    )
    facts = json.dumps(bank.facts, ensure_ascii=False)
    row = (VERSION, os.path.abspath(path), *stamp, time.time_ns(), bank.hash, facts, "\n".join(bank.ids))
    with connection:
        connection.execute("INSERT INTO bank VALUES (?,?,?,?,?,?,?,?,?,?)", (*row, _checksum(row)))
        connection.executemany(
            "INSERT INTO question VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (_with_checksum(_stored(position, row)) for position, row in enumerate(bank.index)),
        )
        connection.executemany(
            "INSERT INTO body VALUES (?,?,?)",
            ((position, body, _checksum((body,))) for position, body in enumerate(bank.bodies)),
        )


def _stored(position: int, row: QuestionRow) -> tuple[Any, ...]:
    pins = json.dumps(row.pins) if row.pins else ""
    time_s = None if row.target_time_s is None else float(row.target_time_s)
    head = (position, row.id, row.kind, row.objective, row.revision, float(row.points), row.hash)
    return (*head, " ".join(row.option_ids), pins, row.demos, time_s, row.rule)


def _with_checksum(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*values, _checksum(values))


def _checksum(values: tuple[Any, ...]) -> int:
    return zlib.crc32(repr(values).encode("utf-8", "surrogatepass"))


def _connect(file: Path, mode: str) -> sqlite3.Connection:
    name = str(file).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return sqlite3.connect(f"file:{name}?mode={mode}", uri=True, timeout=1.0, check_same_thread=False)
