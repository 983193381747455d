"""The tables, and how an older store becomes a current one.

Events are the truth and are only ever appended. The columns of `attempts` past its identity are their
projection, written in the same transaction, so that lists need not read events.
"""

from __future__ import annotations

# "qzap": says that a SQLite file is ours before anything is written to it.
APPLICATION_ID = 0x717A6170

# One script a version, oldest first; a store of version n gets every script after the n-th, each in its own
# transaction. Scripts that were released are never edited.
MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE learners (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        created_us INTEGER NOT NULL
    );
    CREATE TABLE attempts (
        key INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        learner_id TEXT NOT NULL REFERENCES learners (id),
        bank_id TEXT NOT NULL,
        bank_path TEXT NOT NULL,
        bank_title TEXT NOT NULL,
        bank_hash TEXT NOT NULL,
        mode TEXT NOT NULL,
        seed INTEGER NOT NULL,
        started_us INTEGER NOT NULL,
        state TEXT NOT NULL,
        finished_us INTEGER,
        position INTEGER NOT NULL,
        answered INTEGER NOT NULL,
        total INTEGER NOT NULL,
        points REAL NOT NULL,
        max_points REAL NOT NULL,
        passed INTEGER
    );
    CREATE INDEX attempts_of_bank ON attempts (bank_id, learner_id, state);
    CREATE TABLE events (
        attempt INTEGER NOT NULL REFERENCES attempts (key),
        seq INTEGER NOT NULL,
        at_us INTEGER NOT NULL,
        type TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (attempt, seq)
    ) WITHOUT ROWID;
    CREATE TRIGGER events_are_appended BEFORE UPDATE ON events
    BEGIN SELECT RAISE (ABORT, 'events are never changed'); END;
    CREATE TABLE snapshots (hash TEXT PRIMARY KEY, question TEXT NOT NULL);
    CREATE TABLE leases (
        attempt INTEGER PRIMARY KEY REFERENCES attempts (key),
        pid INTEGER NOT NULL,
        process TEXT NOT NULL,
        token TEXT NOT NULL,
        taken_us INTEGER NOT NULL
    );
    CREATE TABLE evidence (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL,
        made_us INTEGER NOT NULL,
        record TEXT NOT NULL
    );
    CREATE INDEX evidence_by_key ON evidence (key);
    """,
    # What statistics read in place of events; made from them, and made again when there are more. And keys
    # that statistics have put in doubt.
    """
    CREATE TABLE answer_sheets (
        attempt INTEGER PRIMARY KEY REFERENCES attempts (key),
        events INTEGER NOT NULL,
        sheet TEXT NOT NULL
    );
    CREATE TABLE verify_queue (
        bank_id TEXT NOT NULL,
        question_id TEXT NOT NULL,
        revision INTEGER NOT NULL,
        reason TEXT NOT NULL,
        queued_us INTEGER NOT NULL,
        PRIMARY KEY (bank_id, question_id)
    ) WITHOUT ROWID;
    """,
)
VERSION = len(MIGRATIONS)
