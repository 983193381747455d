"""Classical statistics of questions, out of a matrix of learners by questions.

The matrix is read in blocks of rows: beside it, a few megabytes are enough for a million learners. Sums are
exact integers or float64. Needs numpy (the extra `stats`).

A learner's rest score on a question is the share of the points that the learner got on the other questions
of the same attempt. Where all saw the same questions, its correlation with the score is the item-rest
correlation of the textbooks.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quizapp.assess import intervals
from quizapp.assess.intervals import Interval

Array = npt.NDArray[Any]
NOT_SEEN = 255
"""In a matrix of whole scores: the learner was not asked this question."""

_ROWS = 1024
# Up to so many different responses a question, counts come from power sums (see _Powers); beyond, by
# bincount.
_LEVELS_BY_POWERS = 5
_EXACT_FLOAT32 = 2**24


class Reliability(NamedTuple):
    """Of the sum of all scores, in points. `sem` is the standard error of measurement of one such sum.

    `name` is KR-20 where every score is nothing or all, else alpha.
    """

    name: str
    alpha: float
    alpha_interval: Interval | None
    sem: float
    mean: float
    sd: float
    n: int


class ItemStatistics(NamedTuple):
    """Arrays over the questions; NaN where it is not defined.

    `n` counts the learners who were asked (this question and, where not all saw the same, another one that
    gives a rest). `facility` is the mean share of the points, `sd` its standard deviation (n - 1),
    `discrimination` the item-rest correlation, `rest_sd` the standard deviation of the rest scores.
    `chosen[j, c]` counts the learners with response code c at question j, `chosen_rest[j, c]` is their mean
    rest score. `whole[j]` is True where each score is nothing or all. `reliability` is None unless everybody
    was asked all questions.
    """

    n: Array
    facility: Array
    sd: Array
    discrimination: Array
    rest_sd: Array
    whole: Array
    chosen: Array
    chosen_rest: Array
    reliability: Reliability | None

    def facility_interval(self, question: int) -> Interval | None:
        """95 %: Wilson where scores are nothing or all, else of a mean within 0 to 1."""
        n, share = int(self.n[question]), float(self.facility[question])
        if self.whole[question]:
            return intervals.wilson(share * n, n)
        return intervals.of_mean(share, float(self.sd[question]), n, (0.0, 1.0))

    def discrimination_interval(self, question: int) -> Interval | None:
        """95 %, by Fisher's z."""
        return intervals.of_correlation(float(self.discrimination[question]), int(self.n[question]))


def analyse(
    scores: Array,
    responses: Array | None = None,
    *,
    levels: int = 0,
    max_points: Array | None = None,
    keys: Array | None = None,
) -> ItemStatistics:
    """Statistics of a matrix of scores, one row a learner, one column a question.

    `scores`: uint8 (whole points; NOT_SEEN where not asked) or floats (points; NaN where not asked).
    `responses`: unsigned integers below `levels`, of the same shape; what was chosen, in any coding.
    `max_points`: the points to be had, one a question; 1 unless given. `keys`: the response code of the key,
    one a question; where the scores are 1 for it and 0 for the rest, a third of the work is saved.
    ValueError when shapes differ.
    """
    rows, questions = scores.shape
    if responses is not None and (responses.shape != scores.shape or levels < 1):
        raise ValueError("responses must have the shape of the scores, and a number of levels")
    best = np.ones(questions) if max_points is None else np.asarray(max_points, dtype=np.float64)
    if best.shape != (questions,) or not (best > 0).all():
        raise ValueError("max_points must be one positive number a question")
    whole_numbers = scores.dtype == np.uint8
    if keys is not None and responses is not None and whole_numbers and levels <= _LEVELS_BY_POWERS:
        by_key = _by_keys(scores, responses, levels, best, np.asarray(keys))
        if by_key is not None:
            return _finish(by_key, best, rows)
    highest, seen_by_all = _extremes(scores, whole_numbers)
    if seen_by_all:
        sums = _complete(scores, responses, levels, best, highest if whole_numbers else None)
    else:
        sums = _incomplete(scores, responses, levels, best)
    return _finish(sums, best, rows)


class _Sums(NamedTuple):
    """Sums over learners, each an array over questions: of scores, rest scores and responses."""

    n: Array
    score: Array
    score_squared: Array
    rest: Array
    rest_squared: Array
    score_rest: Array
    whole: Array
    chosen: Array
    chosen_rest: Array
    total: float | None
    total_squared: float


def _extremes(scores: Array, whole_numbers: bool) -> tuple[int, bool]:
    highest, complete = 0, True
    for start in range(0, len(scores), 64 * _ROWS):
        block = scores[start : start + 64 * _ROWS]
        if whole_numbers:
            highest = max(highest, int(block.max(initial=0)))
        elif np.isnan(block).any():
            complete = False
    return highest, complete and highest < NOT_SEEN


def _by_keys(scores: Array, responses: Array, levels: int, best: Array, keys: Array) -> _Sums | None:
    """As _complete, where each score is 1 for the key and 0 for the rest; None as soon as one is not."""
    rows, questions = scores.shape
    powers = _Powers(levels)
    block_rows = min(_ROWS, _EXACT_FLOAT32 // (max(1, questions) * powers.reach))
    if block_rows < 64 or not (best == 1).all():
        return None
    powers.prepare(block_rows, questions, np.float32)
    weights: Array = np.ones((2, block_rows), np.float32)
    ones: Array = np.ones(questions, np.float32)
    # Whole rows of keys: comparing row by row with one of them takes four times as long.
    codes = np.tile(keys.astype(responses.dtype), (block_rows, 1))
    right: Array = np.empty((block_rows, questions), np.bool_)
    total = total_squared = 0.0
    for start in range(0, rows, block_rows):
        part, chosen = scores[start : start + block_rows], responses[start : start + block_rows]
        size = len(part)
        np.equal(chosen, codes[:size], out=right[:size])
        if (right[:size].view(np.uint8) != part).any():
            return None
        np.dot(powers.as_floats(part), ones, out=weights[1, :size])
        row_totals = weights[1, :size].astype(np.float64)
        total += float(row_totals.sum())
        total_squared += float(row_totals @ row_totals)
        powers.add(chosen, weights[:, :size])
    counts, totals = powers.counts(rows, total)
    at_key = np.arange(questions), keys
    score, product = counts[at_key].astype(np.float64), totals[at_key].copy()
    totals[at_key] -= score
    return _complete_sums(
        rows,
        best,
        (score, score, product),
        np.ones(questions, dtype=bool),
        (counts, totals),
        (total, total_squared),
    )


def _complete(
    scores: Array,
    responses: Array | None,
    levels: int,
    best: Array,
    highest: int | None,
) -> _Sums:
    """Everybody was asked everything: the rest is the total less the score, so a few products do it all."""
    rows, questions = scores.shape
    # What a block can sum up to decides whether float32 holds it exactly.
    top = questions * max(1, highest or 1)
    powers = _Powers(levels) if responses is not None and levels <= _LEVELS_BY_POWERS else None
    reach = powers.reach if powers else 1
    block_rows = _ROWS
    exact = highest is not None and _EXACT_FLOAT32 // (top * max(reach, highest or 1)) >= 64
    if exact:
        block_rows = min(_ROWS, _EXACT_FLOAT32 // (top * max(reach, highest or 1)))
    kind: type = np.float32 if exact else np.float64
    by_row: Array = np.ones((2, block_rows), kind)
    ones: Array = np.ones(questions, kind)
    block: Array = np.empty((block_rows, questions), kind)
    spare = np.empty_like(block)
    score_and_product = np.zeros((2, questions))
    squared = np.zeros(questions)
    whole = np.ones(questions, dtype=bool)
    total = total_squared = 0.0
    if powers:
        powers.prepare(block_rows, questions, kind)
    counts = np.zeros((questions, levels), dtype=np.int64)
    totals = np.zeros((questions, levels))
    binary = highest is not None and highest <= 1
    for start in range(0, rows, block_rows):
        part = scores[start : start + block_rows]
        size = len(part)
        x, weights = block[:size], by_row[:, :size]
        np.copyto(x, part)
        np.dot(x, ones, out=weights[1])
        score_and_product += weights @ x
        row_totals = weights[1].astype(np.float64)
        total += float(row_totals.sum())
        total_squared += float(row_totals @ row_totals)
        if not binary:
            np.multiply(x, x, out=spare[:size])
            squared += spare[:size].sum(axis=0, dtype=np.float64)
            whole &= ((x == 0) | (x == best)).all(axis=0)
        if responses is not None:
            chosen = responses[start : start + block_rows]
            if powers:
                powers.add(chosen, weights)
            else:
                _add_up(chosen, None, counts)
                _add_up(chosen, np.broadcast_to(row_totals[:, None], chosen.shape), totals)
    if powers:
        counts, totals = powers.counts(rows, total)
    score, product = score_and_product
    if binary:
        squared, whole = score.copy(), best == 1
    if responses is not None:
        for start in range(0, rows, _ROWS):
            block_of = slice(start, start + _ROWS)
            _add_up(responses[block_of], -scores[block_of].astype(np.float64), totals)
    return _complete_sums(
        rows, best, (score, squared, product), whole, (counts, totals), (total, total_squared)
    )


def _complete_sums(
    rows: int,
    best: Array,
    of_scores: tuple[Array, Array, Array],
    whole: Array,
    of_responses: tuple[Array, Array],
    of_totals: tuple[float, float],
) -> _Sums:
    """`of_scores`: sums of scores, of their squares, and of score times total."""
    score, squared, product = of_scores
    total, total_squared = of_totals
    rest_best = best.sum() - best
    with np.errstate(divide="ignore", invalid="ignore"):
        return _Sums(
            n=np.full(len(best), rows),
            score=score,
            score_squared=squared,
            rest=(total - score) / rest_best,
            rest_squared=(total_squared - 2 * product + squared) / rest_best**2,
            score_rest=(product - squared) / rest_best,
            whole=whole,
            chosen=of_responses[0],
            chosen_rest=of_responses[1] / rest_best[:, None],
            total=total,
            total_squared=total_squared,
        )


def _incomplete(scores: Array, responses: Array | None, levels: int, best: Array) -> _Sums:
    """Learners were asked different questions: each has a rest of its own."""
    questions = scores.shape[1]
    sums = np.zeros((6, questions))
    whole = np.ones(questions, dtype=bool)
    counts = np.zeros((questions, levels), dtype=np.int64)
    totals = np.zeros((questions, levels))
    for start in range(0, len(scores), _ROWS):
        part = scores[start : start + _ROWS]
        seen = part != NOT_SEEN if part.dtype == np.uint8 else ~np.isnan(part)
        x = np.where(seen, part, 0).astype(np.float64)
        left = (seen @ best)[:, None] - best
        # Whoever was asked nothing else has no rest, and tells nothing about this question.
        seen &= left > 0
        x *= seen
        rest = np.where(seen, (x.sum(axis=1)[:, None] - x) / np.where(left > 0, left, 1), 0)
        for row, values in enumerate((seen, x, x * x, rest, rest * rest, x * rest)):
            sums[row] += values.sum(axis=0)
        whole &= ((x == 0) | (x == best)).all(axis=0)
        if responses is not None:
            chosen = responses[start : start + _ROWS]
            _add_up(chosen, seen.astype(np.float64), counts)
            _add_up(chosen, rest, totals)
    n, score, squared, rest, rest_squared, product = sums
    return _Sums(n, score, squared, rest, rest_squared, product, whole, counts, totals, None, 0.0)


def _add_up(codes: Array, values: Array | None, into: Array) -> None:
    """Adds the values of each question by response code: `into[question, code]`."""
    questions, levels = into.shape
    for question in range(questions):
        weights = None if values is None else values[:, question]
        found = np.bincount(codes[:, question], weights, minlength=levels)
        into[question] += found if into.dtype == found.dtype else np.rint(found).astype(into.dtype)


class _Powers:
    """Counts of few response codes, and totals of those who gave them, out of sums of powers of the code.

    A power is one multiplication of bytes and one product over a block that is at hand anyway, where a
    histogram would take each response by itself. The codes are small integers, so the equations have an
    exact solution.
    """

    def __init__(self, levels: int) -> None:
        self._levels = levels
        # Centred codes keep the powers small: at most 16, so that bytes hold them.
        self._middle = (levels - 1) // 2
        self._codes = np.arange(levels) - self._middle
        self.reach = int(max(abs(int(code)) for code in self._codes) ** max(1, levels - 1))

    def prepare(self, rows: int, questions: int, kind: type) -> None:
        self._sums = np.zeros((self._levels, 2, questions))
        self._code: Array = np.empty((rows, questions), np.int8)
        self._power: Array = np.empty((rows, questions), np.int8)
        self._block: Array = np.empty((rows, questions), kind)

    def as_floats(self, block: Array) -> Array:
        """The block in this one's float buffer, good until `add` is called."""
        np.copyto(self._block[: len(block)], block)
        return self._block[: len(block)]

    def add(self, chosen: Array, weights: Array) -> None:
        size = len(chosen)
        code, power, block = self._code[:size], self._power[:size], self._block[:size]
        np.subtract(chosen, self._middle, out=code, dtype=np.int8, casting="unsafe")
        for exponent in range(1, self._levels):
            if exponent > 1:
                np.multiply(power if exponent > 2 else code, code, out=power)
            np.copyto(block, power if exponent > 1 else code)
            self._sums[exponent] += weights @ block

    def counts(self, rows: int, total: float) -> tuple[Array, Array]:
        """Per question and code: how many learners, and the sum of their total scores."""
        self._sums[0, 0], self._sums[0, 1] = rows, total
        powers = np.vander(self._codes.astype(np.float64), increasing=True).T
        counts, totals = (np.linalg.solve(powers, self._sums[:, row]).T for row in (0, 1))
        return np.rint(counts).astype(np.int64), totals


def _finish(sums: _Sums, best: Array, rows: int) -> ItemStatistics:
    n = np.asarray(sums.n, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = (sums.score_squared - sums.score**2 / n) / (n - 1)
        rest_variance = (sums.rest_squared - sums.rest**2 / n) / (n - 1)
        together = (sums.score_rest - sums.score * sums.rest / n) / (n - 1)
        # What is left of a constant after rounding is no variance.
        varies = (variance > 1e-12 * best**2) & (rest_variance > 1e-12)
        scale = np.sqrt(np.where(varies, variance * rest_variance, np.nan))
        chosen_rest = sums.chosen_rest / np.where(sums.chosen, sums.chosen, np.nan)
        return ItemStatistics(
            n=n.astype(np.int64),
            facility=sums.score / n / best,
            sd=np.sqrt(np.maximum(variance, 0)) / best,
            discrimination=np.clip(together / scale, -1, 1),
            rest_sd=np.sqrt(np.maximum(rest_variance, 0)),
            whole=sums.whole,
            chosen=sums.chosen,
            chosen_rest=chosen_rest,
            reliability=_reliability(sums, variance, rows),
        )


def _reliability(sums: _Sums, variances: Array, rows: int) -> Reliability | None:
    questions = len(variances)
    if sums.total is None or rows < 2 or questions < 2:
        return None
    variance = (sums.total_squared - sums.total**2 / rows) / (rows - 1)
    if not variance > 0:
        return None
    alpha = questions / (questions - 1) * (1 - float(variances.sum()) / variance)
    return Reliability(
        "KR-20" if bool(sums.whole.all()) else "alpha",
        alpha,
        intervals.of_alpha(alpha, rows, questions),
        math.sqrt(variance * max(0.0, 1 - alpha)),
        sums.total / rows,
        math.sqrt(variance),
        rows,
    )
