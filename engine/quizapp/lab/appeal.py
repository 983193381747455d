"""A learner's appeal: "the experiment disagrees", as a file that the bank's author can use.

Everything in it that comes from a bank, a demo or a store is quoted: no text can pass for the report's own,
and no control character reaches the reader's terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quizapp.assess.scoring import TYPED, given_in_words, key_in_words
from quizapp.bank.text import visible
from quizapp.errors import QuizappError
from quizapp.lab.evidence import FORMAT, summary_of
from quizapp.lab.finding import option_command
from quizapp.lab.finding_words import finding_words
from quizapp.lab.symptom import evaluate

if TYPE_CHECKING:
    from datetime import datetime

    from quizapp.bank.model import Question
    from quizapp.lab.ground import Ground
    from quizapp.lab.summary import RunSummary
    from quizapp.store.sitting import Sitting

_LONGEST_NAME = 60
_MOST_OF_A_NAME = 100


def report(sitting: Sitting, place: int, ground: Ground | None, now: datetime) -> str:
    """The appeal against the key of one question, in Markdown. `ground` None: nothing is known of it.

    `now`: an aware time. The learner is not named.
    """
    question = sitting.question(place)
    parts = [
        _head(sitting, place, question, now),
        _words_of_the_learner(),
        _asked(sitting, place, question),
        _given(sitting, place, question),
        _runs(sitting, place, question),
        _found(ground, sitting.letters(place)),
    ]
    return visible("\n".join(line for part in parts for line in part).rstrip() + "\n")


def write_report(folder: Path, bank_id: str, question_id: str, text: str, now: datetime) -> Path:
    """Put an appeal into a new file of this folder, never over another; raises QuizappError."""
    stamp = now.strftime("%Y-%m-%dT%H%M%SZ")
    stem = f"quizapp-appeal-{_safe(bank_id)}-{_safe(question_id)}-{stamp}"
    path = folder / f"{stem}.md"
    for number in range(2, _MOST_OF_A_NAME):
        try:
            with path.open("x", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
        except FileExistsError:
            path = folder / f"{stem}-{number}.md"
            continue
        except OSError as error:
            raise QuizappError(
                f"{path}: {error.strerror}: the appeal was not written",
                hint="start quizapp in a folder that you can write to",
            ) from error
        return path
    raise QuizappError(f"{path}: there are too many appeals of this name")


def _safe(name: str) -> str:
    """A name with nothing in it that means something in a path or to a shell."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in name)
    return kept[:_LONGEST_NAME].strip("-") or "unnamed"


def _head(sitting: Sitting, place: int, question: Question, now: datetime) -> Iterator[str]:
    from quizapp import __version__
    from quizapp.bank.snapshot import content_hash, question_to_json
    from quizapp.lab.evidence import installed_torch

    item = sitting.attempt.item(sitting.question_id(place))
    yield "# Appeal: the experiment disagrees"
    yield ""
    yield f"- bank: {_code(sitting.bank_id)}, {_code(sitting.bank_title)}"
    yield f"- question: {_code(question.id)}"
    yield f"- revision: {item.revision or question.revision}"
    yield f"- content hash: {_code(item.snapshot or content_hash(question_to_json(question)))}"
    yield f"- attempt: {_code(sitting.attempt_id)}"
    yield f"- written: {now.strftime('%Y-%m-%d %H:%M:%S UTC')}"
    yield f"- with: quizapp {__version__}, torch {installed_torch() or 'not installed'}"
    yield ""


def _words_of_the_learner() -> Iterator[str]:
    yield "## Why the key is wrong"
    yield ""
    yield "(Say it here in your words, then send this file to the bank's author.)"
    yield ""


def _asked(sitting: Sitting, place: int, question: Question) -> Iterator[str]:
    yield "## The question as it was shown"
    yield ""
    yield from _fenced(question.stem)
    letters = sitting.letters(place)
    options = {option.id: option for option in question.options}
    for option_id, letter in letters.items():
        option = options[option_id]
        key = ", the key" if option.correct else ""
        yield f"- {letter} {_code(option_id)}{key}:"
        yield ""
        yield from _fenced(option.text, "  ")
        command = option_command(option)
        yield f"  {f'demo: {_code(command)}' if command else 'no demo'}"
        yield ""
    if question.symptom is not None:
        yield f"Its signs, on {question.symptom.devices} devices:"
        yield ""
        for predicate in question.symptom.where:
            yield f"- {_code(predicate.says)}"
        yield ""


def _given(sitting: Sitting, place: int, question: Question) -> Iterator[str]:
    letters = sitting.letters(place)
    score = sitting.score(place)
    response = sitting.response(place)
    chosen = [f"{letters[one]} {_code(one)}" for one in response.selected if one in letters]
    keys = [f"{letters[o.id]} {_code(o.id)}" for o in question.options if o.correct and o.id in letters]
    if question.kind in (*TYPED, "ordering", "matching", "reading"):
        chosen = [] if response.blank else [_code(given_in_words(question, response, letters))]
        keys = [_code(key_in_words(question, letters))]
    yield "## The response"
    yield ""
    yield f"- response: {', '.join(chosen) or 'none'}"
    yield f"- key: {', '.join(keys)}"
    if score is None:
        yield "- verdict: not scored"
    else:
        yield f"- verdict: {score.verdict}, {score.points:g} of {score.max_points:g} points ({score.rule})"
    yield ""


def _runs(sitting: Sitting, place: int, question: Question) -> Iterator[str]:
    yield "## What the learner ran"
    yield ""
    runs = sitting.runs(place)
    if not runs:
        yield "No demo of this question was run by the learner."
        yield ""
        return
    predictions = dict(reversed(sitting.predictions(place)))
    letters = sitting.letters(place)
    control = _control_among(runs)
    for option_id, record in runs:
        summary = _read(record)
        if summary is None:
            yield f"- {_code(option_id)}: a run whose record can't be read"
            continue
        settings = "".join(f" {name}={value}" for name, value in summary.params.items())
        what = _code(f"{summary.demo} {summary.variant}{settings}")
        yield f"- {letters.get(option_id, '')} {_code(option_id)}: {what}"
        seed = "no seed" if summary.seed is None else f"seed {summary.seed}"
        names = f" ({', '.join(summary.device_names)})" if summary.device_kind == "cuda" else ""
        yield (
            f"  - on {summary.devices} {_code(summary.device_kind)} devices{_code(names) if names else ''}, "
            f"torch {_code(summary.torch or 'unknown')}, {seed}"
        )
        yield f"  - predicted: {_code(predictions.get(option_id, 'nothing'))}"
        yield f"  - measured: {_code(summary.diagnosis)}, {_code(summary.outcome)}; {_code(summary.reason)}"
        if question.symptom is not None and summary.outcome in ("completed", "out-of-memory"):
            for reading in evaluate(question.symptom, summary, control):
                sign = "holds" if reading.holds else "does not hold"
                yield f"  - {_code(reading.predicate.says)} {sign}: {reading}"
    yield ""


def _control_among(runs: list[tuple[str, dict[str, Any]]]) -> RunSummary | None:
    from quizapp.lab.catalogue import CONTROL

    read = (_read(record) for _, record in runs)
    return next((summary for summary in read if summary is not None and summary.demo == CONTROL), None)


def _read(record: Mapping[str, Any]) -> RunSummary | None:
    try:
        return summary_of({"format": FORMAT, "measured": record})
    except (ValueError, TypeError, KeyError):
        return None


def _found(ground: Ground | None, letters: Mapping[str, str]) -> Iterator[str]:
    yield "## What the key stands on"
    yield ""
    if ground is None:
        yield "Nothing could be found out about it on this machine."
        return
    yield _code(str(ground))
    yield ""
    if ground.finding is None:
        yield "There is no evidence: no experiment was made here, and none that fits came with the bank."
        return
    for said in finding_words(ground.finding, letters):
        yield f"{'  ' * said.depth}- {_code(said.text)}"
    yield ""
    for notice in ground.finding.notices:
        yield _code(notice)
        yield ""
    yield "Evidence, by the key under which it is kept:"
    yield ""
    for piece in ground.evidence:
        when = piece.made_at.strftime("%Y-%m-%d %H:%M:%S %Z") if piece.made_at else "at an unknown time"
        whose = "the author's claim" if piece.claimed else "made here"
        yield f"- {_code(piece.key)} {_code(piece.run)}, {whose}, {when}"


def _longest_run(text: str) -> int:
    """Length of the longest run of backticks."""
    return max((len(run) for run in "".join(c if c == "`" else " " for c in text).split()), default=0)


def _code(text: str) -> str:
    """One line that Markdown leaves as it is."""
    line = " ".join(text.split()) or "(empty)"
    if "`" not in line:
        return f"`{line}`"
    ticks = "`" * (_longest_run(line) + 1)
    return f"{ticks} {line} {ticks}"


def _fenced(text: str, indent: str = "") -> Iterator[str]:
    """A text of several lines that Markdown leaves as it is."""
    fence = "`" * max(3, _longest_run(text) + 1)
    yield f"{indent}{fence}text"
    yield from (f"{indent}{line}" for line in visible(text).rstrip("\n").split("\n"))
    yield f"{indent}{fence}"
    yield ""
