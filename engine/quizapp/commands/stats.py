"""`quizapp stats`: how good the questions of a bank are, by the responses to them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from quizapp.assess.irt import Calibration, Model
    from quizapp.assess.item_analysis import BankFigures
    from quizapp.assess.response_table import AttemptRow, QuestionId, ResponseTable
    from quizapp.bank.library import OpenBank
    from quizapp.bank.model import Question
    from quizapp.store.answer_sheets import AnswerSheet
    from quizapp.store.store import Store

Attempts = Literal["first", "last", "best", "all"]

FEWEST_FOR_MODELS = {"rasch": 100, "2pl": 500}
"""Attempts below which a model is not fitted: its difficulties would be noise."""


@click.command(name="stats")
@click.argument("bank")
@click.option(
    "--from",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Responses of another system: .csv, .jsonl or .parquet (docs/statistics.md).",
)
@click.option(
    "--attempts",
    type=click.Choice(["first", "last", "best", "all"]),
    default="first",
    show_default=True,
    help="Which attempts of each learner count.",
)
@click.option("--practice", is_flag=True, help="Count practice attempts beside exams.")
@click.option(
    "--min-n",
    type=click.IntRange(2),
    default=30,
    show_default=True,
    help="Show no figures of fewer learners than this.",
)
@click.option(
    "--model",
    type=click.Choice(["none", "rasch", "2pl"]),
    default="rasch",
    show_default=True,
    help="Item response theory: one discrimination for all, or one for each question.",
)
@click.option(
    "--calibrate",
    "calibration_out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write how hard the questions are, for `quizapp take --mode adaptive`: to BANK.calibration.json"
    " beside the bank, where it is looked for, or elsewhere.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    bank: str,
    file: Path | None,
    attempts: Attempts,
    practice: bool,
    min_n: int,
    model: str,
    calibration_out: Path | None,
    as_json: bool,
) -> None:
    """Say how good the questions of BANK are: too easy, too hard, misleading, with a doubtful key.

    Counts finished exams in the store, the first of each learner; each revision of a question by itself. A
    suspicious key that stands on an experiment is queued for `quizapp verify BANK --queued`.
    """
    _need_numpy()
    from quizapp.assess.item_analysis import canonical_label, figures
    from quizapp.assess.response_table import response_table
    from quizapp.bank.library import find_bank, open_bank
    from quizapp.errors import QuizappError
    from quizapp.store.store import Store

    opened = open_bank(find_bank(bank))
    store = Store.open_if_there()
    question_of = _questions(opened, store)
    if file is None:
        rows = _from_store(store, opened.id, attempts, practice)
    else:
        rows = _from_file(file, question_of, attempts)
    try:
        table = response_table(rows, lambda key, label: canonical_label(question_of(key), label))
    except ValueError as error:
        raise QuizappError(
            f"{error}.", hint="Statistics of parts of the bank are possible by a file."
        ) from error
    calibration, why_not = _calibration(table, model)
    if calibration_out is not None:
        _calibrate(calibration_out, opened.id, table, calibration, why_not, min_n)
    found = figures(table, question_of, min_n=min_n, calibration=calibration)
    queued = _queue(opened, found)
    _show(opened, found, calibration, as_json=as_json)
    if file is None and not found.attempts:
        _say(_none_yet(store, opened.id, practice))
    if why_not and found.attempts >= min_n:
        _say(why_not)
    if queued:
        _say(f"{queued} suspicious {'key' if queued == 1 else 'keys'} queued: quizapp verify {bank} --queued")


def _need_numpy() -> None:
    from quizapp.errors import QuizappError

    # Products of small blocks gain nothing from a second thread, and lose much beside other work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        import numpy  # noqa: F401
    except ImportError as error:
        raise QuizappError(
            "Statistics need numpy, which is not installed.", hint="pip install 'quizapp-lab[stats]'"
        ) from error


def _questions(bank: OpenBank, store: Store) -> Callable[[QuestionId], Question | None]:
    """The question in a revision: as the bank has it, else as it was presented last; None if neither is."""
    from quizapp.store.answer_sheets import last_presented

    known: dict[QuestionId, Question | None] = {}
    ids = frozenset(bank.ids)

    def question_of(key: QuestionId) -> Question | None:
        if key not in known:
            question = bank.question(key.question_id) if key.question_id in ids else None
            if question is None or question.revision != key.revision:
                question = last_presented(store, bank.id, key.question_id, key.revision)
            known[key] = question
        return known[key]

    return question_of


def _from_store(store: Store, bank_id: str, attempts: Attempts, practice: bool) -> list[AttemptRow]:
    from quizapp.assess.response_table import AttemptRow, QuestionId
    from quizapp.store.answer_sheets import answer_sheets

    sheets = answer_sheets(store, bank_id, ("exam", "practice") if practice else ("exam",))
    sets: dict[str, tuple[QuestionId, ...]] = {}
    rows = []
    for sheet in _chosen(sheets, attempts):
        questions = sets.get(sheet.questions)
        if questions is None:
            parts = (part.rpartition("#") for part in sheet.questions.split())
            questions = sets[sheet.questions] = tuple(QuestionId(name, int(rev)) for name, _, rev in parts)
        rows.append(AttemptRow(questions, sheet.points, sheet.max_points, sheet.responses, sheet.times_s))
    return rows


def _chosen(sheets: list[AnswerSheet], attempts: Attempts) -> Iterable[AnswerSheet]:
    if attempts == "all":
        return sheets
    chosen: dict[str, AnswerSheet] = {}
    for sheet in sheets:
        before = chosen.get(sheet.learner_id)
        if before is None or attempts == "last" or (attempts == "best" and sheet.share > before.share):
            chosen[sheet.learner_id] = sheet
    return chosen.values()


def _from_file(
    path: Path, question_of: Callable[[QuestionId], Question | None], attempts: Attempts
) -> list[AttemptRow]:
    from quizapp.assess.response_table import AttemptRow, QuestionId
    from quizapp.store.response_file import FileUnreadable, response_rows

    by_attempt: dict[tuple[str, str], dict[QuestionId, tuple[float, float, str, float]]] = {}
    for row in response_rows(path):
        key = QuestionId(row.question, row.revision)
        given = by_attempt.setdefault((row.learner, row.attempt), {})
        if key in given:
            raise FileUnreadable(
                f"{path}:{row.line}: a second response of {row.learner!r} to {row.question!r}.",
                hint="Number the attempts of a learner in a column `attempt`.",
            )
        points, best = row.points, row.max_points or 1.0
        if points is None:
            question = question_of(key)
            if question is None:
                raise FileUnreadable(
                    f"{path}:{row.line}: the bank has no question {row.question!r} of revision {row.revision}"
                    " to score this response by.",
                    hint="Give points, or the id and revision that the bank has.",
                )
            try:
                points, best = _scored(question, row.response)
            except ValueError as error:
                raise FileUnreadable(
                    f"{path}:{row.line}: {error}.", hint="Responses are option ids."
                ) from error
        given[key] = (points, best, row.response, row.time_s)
    by_learner: dict[str, list[AttemptRow]] = {}
    for (learner, _), given in by_attempt.items():
        columns = zip(*given.values(), strict=True)
        by_learner.setdefault(learner, []).append(
            AttemptRow(tuple(given), *(list(column) for column in columns))
        )
    return [row for rows in by_learner.values() for row in _of_file(rows, attempts)]


def _of_file(rows: list[AttemptRow], attempts: Attempts) -> list[AttemptRow]:
    def share(row: AttemptRow) -> float:
        return sum(row.points) / sum(row.max_points)

    match attempts:
        case "first":
            return rows[:1]
        case "last":
            return rows[-1:]
        case "best":
            return [max(rows, key=share)]
        case _:
            return rows


def _scored(question: Question, label: str) -> tuple[float, float]:
    from quizapp.assess.response import Response
    from quizapp.assess.scoring import TYPED, score

    if question.kind in TYPED:
        response = Response(text=label)
    elif question.kind == "matching":
        pairs = (part.partition("=") for part in label.split())
        response = Response(pairs=tuple((left, right) for left, _, right in pairs))
    else:
        response = Response(selected=tuple(label.split()))
    given = score(question, response)
    return given.points, given.max_points


def _calibration(table: ResponseTable, model: str) -> tuple[Calibration | None, str]:
    import numpy as np

    from quizapp.assess.irt import calibrate
    from quizapp.assess.statistics import NOT_SEEN

    if model == "none":
        return None, ""
    fewest = FEWEST_FOR_MODELS[model]
    if len(table.points) < fewest:
        return (
            None,
            f"No difficulties: the {model} model needs {fewest} attempts, there are {len(table.points)}.",
        )
    asked = ~np.isnan(table.points)
    right = np.where(asked, np.nan_to_num(table.points) >= table.max_points - 1e-9, NOT_SEEN).astype(np.uint8)
    chosen: Model = "rasch" if model == "rasch" else "2pl"
    try:
        return calibrate(right, chosen), ""
    except ValueError as error:
        return None, f"No difficulties: {error}."


def _calibrate(
    path: Path,
    bank_id: str,
    table: ResponseTable,
    calibration: Calibration | None,
    why_not: str,
    min_n: int,
) -> None:
    import numpy as np

    from quizapp.assess.adaptive import Parameters
    from quizapp.errors import QuizappError
    from quizapp.store.calibration import FARTHEST, STEEPEST, Calibrated, write_calibration

    if calibration is None:
        raise QuizappError(
            f"Nothing is calibrated: {why_not or 'no model was asked for.'}",
            hint="Responses of another system can be read with --from FILE; --model rasch needs the fewest.",
        )
    # Abilities in standard deviations: the Rasch model has them in logits.
    sd = calibration.ability_sd
    asked = (~np.isnan(table.points)).sum(axis=0)
    questions = []
    for place, key in enumerate(table.questions):
        slope, difficulty = calibration.discrimination[place] * sd, calibration.difficulty[place] / sd
        if asked[place] >= min_n and 0 < slope <= STEEPEST and abs(difficulty) <= FARTHEST:
            parameters = Parameters(float(slope), float(difficulty))
            se = float(calibration.difficulty_se[place] / sd)
            questions.append(Calibrated(key.question_id, key.revision, parameters, se))
    newest = {each.question_id: each.revision for each in questions}
    kept = [each for each in questions if newest[each.question_id] == each.revision]
    if not kept:
        raise QuizappError("Nothing is calibrated: no question tells abilities apart.")
    write_calibration(path, bank_id, calibration.model, len(table.points), kept)
    count = len({key.question_id for key in table.questions})
    _say(f"{path}: {len(kept)} of {count} questions calibrated by {len(table.points)} attempts")


def _queue(bank: OpenBank, found: BankFigures) -> int:
    from quizapp.assess.item_analysis import SUSPECT_KEY
    from quizapp.store.answer_sheets import queue_for_verify
    from quizapp.store.clock import now_us
    from quizapp.store.store import Store

    suspects = []
    ids = frozenset(bank.ids)
    for one in found.questions:
        flags = [flag for flag in one.flags if flag.name in SUSPECT_KEY]
        key = one.question
        # Only what can be run now: the revision that the bank has, with a symptom to test.
        if flags and one.verified_by == "experiment" and key.question_id in ids:
            question = bank.question(key.question_id)
            if question.revision == key.revision and question.symptom is not None:
                why = "; ".join(f"{flag.name}: {flag.why}" for flag in flags)
                suspects.append((key.question_id, key.revision, why))
    return queue_for_verify(Store.open(), bank.id, suspects, now_us()) if suspects else 0


def _show(bank: OpenBank, found: BankFigures, calibration: Calibration | None, *, as_json: bool) -> None:
    from quizapp.commands.stats_lines import figures_as_json, figures_lines

    if as_json:
        import json

        body = {"bank": bank.id, "title": bank.title, **figures_as_json(found, calibration)}
        click.echo(json.dumps(body, indent=2, ensure_ascii=False, allow_nan=False))
        return
    from quizapp.bank.text import visible

    for line in figures_lines(bank.title, found, calibration):
        click.echo(visible(line))


def _none_yet(store: Store, bank_id: str, practice: bool) -> str:
    done = [one for one in store.attempts(bank_id=bank_id, state="finished") if one.mode == "practice"]
    if done and not practice:
        return f"No finished exam on {bank_id} yet; {len(done)} practice attempts count with --practice."
    return f"No finished exam on {bank_id} yet. Responses of another system are read with --from FILE."


def _say(text: str) -> None:
    from quizapp.bank.text import visible

    print(visible(text), file=sys.stderr)
