"""Deletes a learner: the name, every attempt, and what of it might still stand in the file."""

from __future__ import annotations

import sqlite3

from quizapp.store.database import explained, transaction


def forget(db: sqlite3.Connection, learner_id: str) -> int:
    """Delete a learner's attempts and the learner; the number of attempts that were deleted.

    What was deleted is overwritten and the file is written anew, so that nothing of it stays in free pages or
    in the write-ahead log. Copies and backups are the user's.
    """
    with explained(None):
        db.execute("PRAGMA secure_delete = ON")
        with transaction(db):
            keys = [
                row[0] for row in db.execute("SELECT key FROM attempts WHERE learner_id = ?", (learner_id,))
            ]
            for table in _tables_of_attempts(db):
                db.executemany(f"DELETE FROM {table} WHERE attempt = ?", ((key,) for key in keys))  # noqa: S608
            db.execute("DELETE FROM attempts WHERE learner_id = ?", (learner_id,))
            db.execute("DELETE FROM learners WHERE id = ?", (learner_id,))
        db.execute("VACUUM")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return len(keys)


def _tables_of_attempts(db: sqlite3.Connection) -> list[str]:
    """Every table with a column that names an attempt: a later version's, too."""
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return [
        table
        for table in tables
        if any(column[1] == "attempt" for column in db.execute(f"PRAGMA table_info({table})"))
    ]
