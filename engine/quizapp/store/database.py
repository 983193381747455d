"""Opens the SQLite file of the store, and says in words what is wrong with it."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from quizapp.errors import QuizappError
from quizapp.store.schema import APPLICATION_ID, MIGRATIONS, VERSION

FILE_NAME = "attempts.sqlite3"
# Longest wait for other writers: one at a time takes a disk flush, eight at once were seen to take seconds.
BUSY_S = 30.0
_PAUSE_S = 0.0005
_SMALLEST_BYTES = 4096
# A store has its tables and columns, and text in them: what says otherwise was torn from it.
_SIGNS_OF_DAMAGE = ("no such table", "no such column", "Could not decode to UTF-8")


class StoreUnavailable(QuizappError):
    """Attempts can't be read or kept; what was kept before is untouched."""


def open_database(folder: Path) -> sqlite3.Connection:
    """The store's database in this folder, created or brought up to date. Raises StoreUnavailable."""
    path = folder / FILE_NAME
    with explained(path):
        # Only a folder that is made here is closed to others: a folder that the user chose is the user's.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _make_private(path)
        _refuse_stump(path)
        db = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, factory=_Database)
        try:
            db.turn = _open_turn(path)
            _prepare(db, path)
        except BaseException:
            db.close()
            raise
    return db


class _Database(sqlite3.Connection):
    """A connection that waits for its turn to write; `turn` is the lock's file descriptor, -1 without one."""

    turn = -1

    def close(self) -> None:
        super().close()
        if self.turn >= 0:
            os.close(self.turn)
            self.turn = -1

    def __del__(self) -> None:
        if self.turn >= 0:
            os.close(self.turn)
            self.turn = -1


def _open_turn(path: Path) -> int:
    # A file of its own: closing the database's own file would drop SQLite's locks on it.
    name = path.with_name(path.name + "-turn")
    try:
        return os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return -1


def memory_database() -> sqlite3.Connection:
    """A database that ends with the process."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    _migrate(db)
    return db


@contextmanager
def explained(path: Path | None) -> Iterator[None]:
    """Turns what SQLite and the system say about the store into StoreUnavailable."""
    try:
        yield
    except sqlite3.Error as error:
        raise _in_words(error, path) from error
    except UnicodeDecodeError as error:
        # SQLite quotes what is damaged in its message, and Python can't read that either.
        raise _damaged(str(path) if path else "memory", str(error)) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreUnavailable(
            f"Attempts can't be kept in {path.parent if path else 'memory'}: {reason}.",
            hint="Make the folder writable, or name another one in QUIZAPP_STATE_DIR.",
        ) from error


@contextmanager
def in_turn(db: sqlite3.Connection) -> Iterator[None]:
    """Waits until no other quizapp writes: SQLite's own waiting sleeps ever longer, and starves some."""
    file = db.turn if isinstance(db, _Database) else -1
    held = file >= 0 and _take_turn(file)
    try:
        yield
    finally:
        if held:
            fcntl.flock(file, fcntl.LOCK_UN)


def _take_turn(file: int) -> bool:
    """False when the turn does not come, or can't be had here: then SQLite's lock alone decides."""
    deadline = time.monotonic() + BUSY_S
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            # A blocking call would wait for ever on a holder that was stopped.
            if time.monotonic() > deadline:
                return False
            time.sleep(_PAUSE_S)
        except OSError:
            return False


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All of it is on disk when this ends, or nothing of it."""
    with in_turn(db):
        # IMMEDIATE: a transaction that reads first and then writes can't wait for another writer, it fails.
        db.execute("BEGIN IMMEDIATE")
        try:
            yield
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise


def _make_private(path: Path) -> None:
    # SQLite gives its -wal and -shm files the permissions of the database. An existing file is not opened for
    # this: closing it would drop the locks of every connection that this process has to it, and another
    # process would then take the log away from under them.
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        status = os.stat(path)
        if status.st_mode & 0o077 and status.st_uid == os.geteuid():
            os.chmod(path, 0o600)


def _refuse_stump(path: Path) -> None:
    # SQLite takes what is left of a file cut to less than a page for an empty database, and would begin anew.
    wal = path.with_name(path.name + "-wal")
    if 0 < path.stat().st_size < _SMALLEST_BYTES and not (wal.exists() and wal.stat().st_size):
        raise _damaged(str(path), "cut short")


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    # In this order: what is empty may become a store between the two looks, and a store is never empty.
    empty = _is_empty(db)
    application_id, version = _identity(db)
    if application_id != APPLICATION_ID and not empty:
        raise StoreUnavailable(
            f"{path} is not a quizapp store: it belongs to another program.",
            hint="Move it away, or name another folder in QUIZAPP_STATE_DIR.",
        )
    if version > VERSION:
        raise StoreUnavailable(
            f"{path} was written by a newer quizapp (store version {version}, this one knows {VERSION}).",
            hint="Update quizapp, or name another folder in QUIZAPP_STATE_DIR.",
        )
    _use_wal(db)
    db.execute("PRAGMA synchronous=FULL")
    if version < VERSION:
        _migrate(db)


def _identity(db: sqlite3.Connection) -> tuple[int, int]:
    application_id = db.execute("PRAGMA application_id").fetchone()[0]
    return int(application_id), int(db.execute("PRAGMA user_version").fetchone()[0])


def _is_empty(db: sqlite3.Connection) -> bool:
    return not db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()


def _use_wal(db: sqlite3.Connection) -> None:
    # SQLite does not wait when two processes switch a new file at once.
    deadline = time.monotonic() + BUSY_S
    while True:
        try:
            db.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.005)


def _migrate(db: sqlite3.Connection) -> None:
    for version in range(VERSION):
        with transaction(db):
            # Another process may have been faster.
            if _identity(db)[1] > version:
                continue
            for statement in _statements(MIGRATIONS[version]):
                db.execute(statement)
            db.execute(f"PRAGMA application_id={APPLICATION_ID}")
            db.execute(f"PRAGMA user_version={version + 1}")


def _statements(script: str) -> Iterator[str]:
    # executescript would commit our transaction first.
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _in_words(error: sqlite3.Error, path: Path | None) -> StoreUnavailable:
    where = str(path) if path else "memory"
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and path and _disk_is_full(path)):
        return StoreUnavailable(
            f"The disk under {where} is full.",
            hint="What was saved before is safe. Free some space, or name another folder in "
            "QUIZAPP_STATE_DIR.",
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
        return StoreUnavailable(
            f"{where} can't be written ({error}).",
            hint="Make the folder and the file writable, or name another folder in QUIZAPP_STATE_DIR.",
        )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or str(error).startswith(_SIGNS_OF_DAMAGE):
        return _damaged(where, str(error))
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreUnavailable(
            f"{where} was held by another program for more than {BUSY_S:.0f} seconds.",
            hint="End that program and try again; nothing is lost.",
        )
    return StoreUnavailable(
        f"{where} failed: {error}.", hint="Try again, or name a folder in QUIZAPP_STATE_DIR."
    )


def _damaged(where: str, how: str) -> StoreUnavailable:
    return StoreUnavailable(
        f"{where} is damaged ({how}).",
        hint="Move it away (with its -wal and -shm files) to begin a new one. `sqlite3 FILE .recover` "
        "may bring back what it held.",
    )


def _disk_is_full(path: Path) -> bool:
    # A full disk can show as a failed extension of the -shm file, which SQLite reports as an I/O error.
    try:
        status = os.statvfs(path.parent)
    except OSError:
        return False
    return status.f_bavail * status.f_frsize < 65536
