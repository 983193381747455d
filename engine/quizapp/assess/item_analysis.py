"""What is told of each question: its figures with their intervals, its responses, and flags in words.

Needs numpy (the extra `stats`), as what it calls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from quizapp.assess import intervals
from quizapp.assess.intervals import Interval
from quizapp.assess.response_table import BLANK, OTHER, QuestionId, ResponseTable
from quizapp.assess.statistics import ItemStatistics, Reliability, analyse

if TYPE_CHECKING:
    from quizapp.assess.irt import Calibration
    from quizapp.bank.model import Question

SMALLEST_N = 30
"""Figures of fewer learners are not shown unless the caller says otherwise."""
METHODS = {
    "facility": "mean share of the points; 95 % by Wilson, or of a mean where points are partial",
    "discrimination": "correlation of the score with the rest score; 95 % by Fisher's z",
    "rest": "mean share of the points that the choosers got on their other questions",
    "alpha": "Cronbach's alpha (KR-20 where scores are nothing or all); 95 % by Bonett (2002)",
    "time": "median; 95 % by order statistics",
}

KEY_BEATEN = "key beaten by a distractor"
NEGATIVE = "negative discrimination"
DEAD = "dead distractor"
TOO_EASY = "too easy"
TOO_HARD = "too hard"
MISFIT = "misfit"
SUSPECT_KEY = (KEY_BEATEN, NEGATIVE)
"""Flags under which a key that stands on an experiment is to be verified anew."""

# Haladyna and Downing (1993): a distractor that fewer than 5 % choose does not function.
_DEAD_SHARE = 0.05
_EASY = 0.95
_HARD = 0.2
# OECD (2017), PISA 2015 Technical Report, chapter 9: more than 0.12 is misfit.
_MISFIT_RMSD = 0.12
_FEWEST_CHOOSERS = 5


class Choice(NamedTuple):
    """One option, or one response to a question that asks for something else.

    `share` is of the learners who were asked; `rest` is the choosers' mean rest score, 0 to 1, None of none.
    """

    label: str
    key: bool
    choosers: int
    share: float
    share_interval: Interval | None
    rest: float | None


class Flag(NamedTuple):
    """What is wrong, in the words of this module, and the figures that say so."""

    name: str
    why: str


class Difficulty(NamedTuple):
    """By item response theory, in logits of ability; `discrimination` is 1 for all in a Rasch model.

    `difficulty` is None where the question does not tell abilities apart.
    """

    difficulty: float | None
    difficulty_se: float | None
    discrimination: float
    discrimination_se: float | None
    misfit: float


class QuestionFigures(NamedTuple):
    """Of one question in one revision. All but `n` and `blank` are None or empty when suppressed."""

    question: QuestionId
    kind: str
    verified_by: str
    n: int
    blank: int
    suppressed: bool
    facility: float | None
    facility_interval: Interval | None
    discrimination: float | None
    discrimination_interval: Interval | None
    time_s: float | None
    time_interval: Interval | None
    choices: tuple[Choice, ...]
    difficulty: Difficulty | None
    flags: tuple[Flag, ...]


class BankFigures(NamedTuple):
    """Of all questions. `reliability` is None unless all attempts saw the same set, and n is large enough."""

    attempts: int
    min_n: int
    same_set: bool
    reliability: Reliability | None
    questions: tuple[QuestionFigures, ...]


def canonical_label(question: Question | None, label: str) -> str:
    """Labels that mean the same response made equal: choices in any order, numbers in any spelling."""
    if question is None:
        return label
    match question.kind:
        case "single-choice" | "multiple-choice" | "true-false":
            return " ".join(sorted(label.split()))
        case "numeric":
            from quizapp.assess.number import read_number

            try:
                return str(read_number(question, label).normalize())
            except (ValueError, ArithmeticError):
                return label
        case "short-text":
            return " ".join(label.casefold().split())
        case _:
            return label


def figures(
    table: ResponseTable,
    question_of: Callable[[QuestionId], Question | None],
    *,
    min_n: int = SMALLEST_N,
    calibration: Calibration | None = None,
) -> BankFigures:
    """The figures of a table. `question_of` gives the question as it is scored now; None: not known any more.

    `calibration` must be of this table's questions, in their order.
    """
    if not table.questions:
        return BankFigures(len(table.points), min_n, True, None, ())
    found = analyse(table.points, table.codes, levels=table.levels, max_points=table.max_points)
    same_set = not bool(np.isnan(table.points).any())
    enough = len(table.points) >= min_n
    return BankFigures(
        attempts=len(table.points),
        min_n=min_n,
        same_set=same_set,
        reliability=found.reliability if enough else None,
        questions=tuple(
            _question(table, found, place, question_of(key), min_n, calibration)
            for place, key in enumerate(table.questions)
        ),
    )


def _question(
    table: ResponseTable,
    found: ItemStatistics,
    place: int,
    question: Question | None,
    min_n: int,
    calibration: Calibration | None,
) -> QuestionFigures:
    n = int(found.n[place])
    choices = _choices(table, found, place, question)
    suppressed = n < min_n
    times = np.sort(table.times_s[:, place])
    times = times[~np.isnan(times)].tolist()
    shown = None if suppressed or not times else times
    difficulty = None if suppressed or calibration is None else _difficulty(calibration, place)
    figures = QuestionFigures(
        question=table.questions[place],
        kind=question.kind if question else "",
        verified_by=question.verified_by if question else "",
        n=n,
        blank=int(found.chosen[place, 0]) if not suppressed else 0,
        suppressed=suppressed,
        facility=None if suppressed else float(found.facility[place]),
        facility_interval=None if suppressed else found.facility_interval(place),
        discrimination=None if suppressed else _number(found.discrimination[place]),
        discrimination_interval=None if suppressed else found.discrimination_interval(place),
        time_s=float(np.median(shown)) if shown else None,
        time_interval=intervals.of_median(shown) if shown else None,
        choices=() if suppressed else choices,
        difficulty=difficulty,
        flags=(),
    )
    if suppressed:
        return figures
    return figures._replace(flags=tuple(_flags(figures, float(found.rest_sd[place]), question)))


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _choices(
    table: ResponseTable, found: ItemStatistics, place: int, question: Question | None
) -> tuple[Choice, ...]:
    """Choosers of each option; of the commonest responses where there are no options to choose from."""
    n = int(found.n[place])
    by_label = {
        label: (int(found.chosen[place, code]), float(found.chosen_rest[place, code]))
        for code, label in enumerate(table.labels[place])
    }
    if question is not None and question.kind in ("single-choice", "multiple-choice", "true-false"):
        keys = {option.id: bool(option.correct) for option in question.options}
        groups: dict[str, list[tuple[int, float]]] = {option_id: [] for option_id in keys}
        for label, what in by_label.items():
            for option_id in label.split() if label not in (BLANK, OTHER) else ():
                groups.setdefault(option_id, []).append(what)
    else:
        keys = {}
        commonest = [label for label in table.labels[place] if label not in (BLANK, OTHER)][:8]
        groups = {label: [by_label[label]] for label in commonest}
        if question is not None:
            keys = {label: _is_key(question, label) for label in commonest}
    choices = []
    for label, parts in groups.items():
        count = sum(part[0] for part in parts)
        rest = _number(sum(part[0] * part[1] for part in parts if part[0]) / count) if count else None
        share = count / n if n else 0.0
        choices.append(Choice(label, keys.get(label, False), count, share, intervals.wilson(count, n), rest))
    return tuple(choices)


def _is_key(question: Question, label: str) -> bool:
    from quizapp.assess.scoring import TYPED, is_right

    try:
        return question.kind in TYPED and is_right(question, label)
    except ValueError:
        return False


def _difficulty(calibration: Calibration, place: int) -> Difficulty | None:
    if not math.isfinite(calibration.rmsd[place]):
        return None
    return Difficulty(
        _number(calibration.difficulty[place]),
        _number(calibration.difficulty_se[place]),
        float(calibration.discrimination[place]),
        _number(calibration.discrimination_se[place]),
        float(calibration.rmsd[place]),
    )


def _flags(figures: QuestionFigures, rest_sd: float, question: Question | None) -> list[Flag]:
    flags = []
    facility = figures.facility or 0.0
    with_options = question is not None and bool(question.options) and any(c.key for c in figures.choices)
    if with_options:
        flags += _beaten(figures, rest_sd)
    if figures.discrimination is not None and figures.discrimination < 0:
        interval = figures.discrimination_interval
        sure = "" if interval and interval[1] < 0 else ", though its interval reaches above 0"
        flags.append(
            Flag(
                NEGATIVE,
                f"who does better on the rest does worse here (r {figures.discrimination:.2f}{sure})",
            )
        )
    if facility > _EASY:
        flags.append(Flag(TOO_EASY, f"{facility:.0%} of the points were got, more than {_EASY:.0%}"))
    elif with_options:
        # Where nearly all are right, no distractor can be chosen.
        flags += [
            Flag(DEAD, f"{choice.label}: {choice.share:.0%} chose it, fewer than {_DEAD_SHARE:.0%}")
            for choice in figures.choices
            if not choice.key and choice.share < _DEAD_SHARE
        ]
    chance = 1 / len(question.options) if question is not None and _guessable(question) else 0.0
    if facility < max(_HARD, chance):
        below = "less than guessing gets" if facility < chance else f"less than {_HARD:.0%}"
        flags.append(Flag(TOO_HARD, f"{facility:.0%} of the points were got, {below}"))
    fit = figures.difficulty
    if fit is not None and fit.misfit > _MISFIT_RMSD:
        flags.append(
            Flag(
                MISFIT,
                f"what was got departs from the model by {fit.misfit:.2f} (RMSD), more than {_MISFIT_RMSD}",
            )
        )
    return flags


def _guessable(question: Question) -> bool:
    return question.kind in ("single-choice", "true-false") and bool(question.options)


def _beaten(figures: QuestionFigures, rest_sd: float) -> list[Flag]:
    """Distractors whose choosers do better on the rest than the key's, by more than chance would have it."""
    flags = []
    keys = [choice for choice in figures.choices if choice.key and choice.rest is not None]
    if not keys:
        return []
    # Of several keys, the one with the weakest choosers is the suspect.
    key = min(keys, key=lambda choice: choice.rest or 0.0)
    for choice in figures.choices:
        if choice.key or choice.rest is None or min(choice.choosers, key.choosers) < _FEWEST_CHOOSERS:
            continue
        more = choice.rest - (key.rest or 0.0)
        error = rest_sd * math.sqrt(1 / choice.choosers + 1 / key.choosers)
        if more > intervals.Z * error:
            flags.append(
                Flag(
                    KEY_BEATEN,
                    f"{choice.label}: its {choice.choosers} choosers got {choice.rest:.0%} of the rest, "
                    f"the {key.choosers} of {key.label} got {key.rest or 0:.0%}",
                )
            )
    return flags


def flag_counts(figures: BankFigures) -> Mapping[str, int]:
    """How many questions have each flag."""
    counts: dict[str, int] = {}
    for question in figures.questions:
        for name in {flag.name for flag in question.flags}:
            counts[name] = counts.get(name, 0) + 1
    return counts
