"""A store of finished exams, written as the program writes one: four events a response."""

from __future__ import annotations

import json
import random
from pathlib import Path

from quizapp.store.answer_sheets import sheet_of
from quizapp.store.database import transaction
from quizapp.store.store import Store


def write_store(folder: Path, *, learners: int, questions: int) -> None:
    """Finished exams of so many learners on all questions of the bank `synthetic`."""
    store = Store.open(folder)
    draw = random.Random(0)
    ids = [f"question-{number:03}" for number in range(questions)]
    dump = json.JSONEncoder(separators=(",", ":")).encode
    snapshot = "0" * 64
    shown = [
        dump(
            {
                "question_id": name,
                "revision": 1,
                "option_order": ["alpha", "beta", "gamma", "delta"],
                "snapshot": snapshot,
            }
        )
        for name in ids
    ]
    given = [
        {
            option: dump({"question_id": name, "response": {"selected": [option]}})
            for option in ("alpha", "beta", "gamma", "delta")
        }
        for name in ids
    ]
    submitted = [dump({"question_id": name}) for name in ids]
    scored = [
        {
            right: dump(
                {
                    "question_id": name,
                    "verdict": "correct" if right else "incorrect",
                    "points": float(right),
                    "max_points": 1.0,
                    "rule": "all-or-nothing",
                    "objective": None,
                    "reason": "",
                }
            )
            for right in (True, False)
        }
        for name in ids
    ]
    with transaction(store.db):
        for learner in range(1, learners + 1):
            store.db.execute("INSERT INTO learners VALUES (?, ?, 0)", (f"id{learner}", f"learner {learner}"))
            store.db.execute(
                "INSERT INTO attempts (key, id, learner_id, bank_id, bank_path, bank_title, bank_hash, mode,"
                " seed, started_us, state, finished_us, position, answered, total, points, max_points)"
                " VALUES (?, ?, ?, 'synthetic', '', '', '', 'exam', 0, 0, 'finished', 1, 0, ?, ?, 50, ?)",
                (learner, f"{learner:012x}", f"id{learner}", questions, questions, questions),
            )
            events = [("started", dump({"question_ids": " ".join(ids)}))]
            level = draw.random()
            rights: list[bool] = []
            for number in range(questions):
                right = draw.random() < level
                rights.append(right)
                option = "alpha" if right else draw.choice(("beta", "gamma", "delta"))
                events += [("shown", shown[number]), ("response-changed", given[number][option])]
            for number in range(questions):
                events += [("submitted", submitted[number]), ("scored", scored[number][rights[number]])]
            events.append(("finished", "{}"))
            rows = [(learner, seq, 1_000_000 * seq, kind, body) for seq, (kind, body) in enumerate(events)]
            store.db.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", rows)
            # As the end of an exam keeps it.
            sheet = sheet_of((at_us, kind, json.loads(body)) for _, _, at_us, kind, body in rows)
            store.db.execute("INSERT INTO answer_sheets VALUES (?, ?, ?)", (learner, len(rows) - 1, sheet))
    store.close()
