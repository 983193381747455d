"""How hard a bank's questions are, in a file: `quizapp stats --calibrate` writes it, adaptive mode reads it.

It lies beside the bank: `multi-gpu.yaml` has `multi-gpu.calibration.json`. It is untrusted, as a bank is.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from quizapp.assess.adaptive import Parameters, Plan, Rule
from quizapp.errors import QuizappError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quizapp.bank.library import OpenBank

FORMAT = 1
LARGEST_BYTES = 16 << 20
STEEPEST, FARTHEST = 10.0, 20.0
"""Bounds of a discrimination and of a difficulty, in standard deviations of ability."""


class Calibrated(NamedTuple):
    """One question of a revision, and how it was found to be."""

    question_id: str
    revision: int
    parameters: Parameters
    difficulty_se: float


class Calibration(NamedTuple):
    """What a calibration file says."""

    model: str
    attempts: int
    questions: tuple[Calibrated, ...]


def calibration_file(bank: Path) -> Path:
    """Where a bank's calibration is looked for."""
    return bank.with_suffix(".calibration.json")


def plan_of(bank: OpenBank, rule: Rule, path: Path | None = None) -> tuple[Plan, str]:
    """The plan of an adaptive attempt, and what the learner is to be told of it ("" for nothing).

    Questions of another revision than the calibrated one are not asked. QuizappError without a calibration.
    """
    path = path or calibration_file(bank.path)
    if not path.exists():
        raise QuizappError(
            f"How hard the questions of {bank.title!r} are is not known: there is no {path.name}.",
            hint=f"`quizapp stats {bank.id} --calibrate {path}` makes it from enough exams;"
            " without it nothing can be adapted. Practice and exam need none.",
        )
    calibration = read_calibration(path)
    revisions = {row.id: row.revision for row in bank.rows}
    usable = {
        each.question_id: each.parameters
        for each in calibration.questions
        if revisions.get(each.question_id) == each.revision
    }
    if not usable:
        raise QuizappError(
            f"{path} calibrates none of the questions that {bank.title!r} has now.",
            hint=f"`quizapp stats {bank.id} --calibrate {path}` makes it anew.",
        )
    missing = len(revisions) - len(usable)
    told = ""
    if missing:
        told = f"{len(usable)} of {len(revisions)} questions are calibrated; the others are not asked."
    return Plan(rule, calibration.model, calibration.attempts, usable), told


def read_calibration(path: Path) -> Calibration:
    """A calibration file, every number checked. QuizappError for any other file."""
    hint = "quizapp stats BANK --calibrate FILE makes it"
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise QuizappError(f"{path}: more than {LARGEST_BYTES >> 20} MiB, no calibration is that large")
        raw = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise QuizappError(f"{path}: can't be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise QuizappError(f"{path}: no JSON: {error}", hint=hint) from error
    try:
        if raw["format"] != FORMAT:
            raise ValueError(f"format {raw['format']!r} is not known")
        attempts = raw["attempts"]
        if type(attempts) is not int or attempts < 1:
            raise ValueError(f"{attempts!r} attempts")
        questions = tuple(_question(each) for each in raw["questions"])
        if len({each.question_id for each in questions}) < len(questions):
            raise ValueError("a question stands twice")
        return Calibration(_text(raw["model"]), attempts, questions)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        why = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
        raise QuizappError(f"{path}: no calibration: {why}", hint=hint) from error


def write_calibration(
    path: Path, bank_id: str, model: str, attempts: int, questions: Sequence[Calibrated]
) -> None:
    """Writes a calibration file whole or not at all, a question a line. QuizappError where it can't."""
    lines = [
        json.dumps(
            {
                "id": each.question_id,
                "revision": each.revision,
                "discrimination": round(each.parameters.discrimination, 6),
                "difficulty": round(each.parameters.difficulty, 6),
                "difficulty_se": round(each.difficulty_se, 6) if math.isfinite(each.difficulty_se) else None,
            }
        )
        for each in questions
    ]
    head = {"format": FORMAT, "bank": bank_id, "model": model, "attempts": attempts}
    text = f'{json.dumps(head)[:-1]}, "questions": [\n  ' + ",\n  ".join(lines) + "\n]}\n"
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise QuizappError(f"{path}: can't be written: {error.strerror}") from error


def _question(raw: dict[str, Any]) -> Calibrated:
    revision = raw["revision"]
    if type(revision) is not int or revision < 1:
        raise ValueError(f"revision {revision!r}")
    slope, place = _number(raw["discrimination"]), _number(raw["difficulty"])
    if not 0 < slope <= STEEPEST or abs(place) > FARTHEST:
        raise ValueError(f"discrimination {slope:g}, difficulty {place:g} of {raw['id']!r}")
    se = raw.get("difficulty_se")
    return Calibrated(
        _text(raw["id"]), revision, Parameters(slope, place), math.nan if se is None else _number(se)
    )


def _number(value: object) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):  # type: ignore[arg-type]
        raise ValueError(f"{value!r} is no number")
    return float(value)  # type: ignore[arg-type]


def _text(value: object) -> str:
    if not isinstance(value, str) or not value or value.split() != [value]:
        raise ValueError(f"{value!r} is no name")
    return value
