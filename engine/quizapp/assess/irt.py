"""Item response theory: difficulties of questions and abilities of learners on one scale.

Marginal maximum likelihood by EM (Bock and Aitkin 1981) over a grid of abilities. The Rasch model has one
discrimination for all questions, the two-parameter model (2PL) one for each. Needs numpy (the extra `stats`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from quizapp.assess.statistics import NOT_SEEN

Array = npt.NDArray[Any]
Model = Literal["rasch", "2pl"]

_NODES = np.linspace(-5.0, 5.0, 31)
_PRIOR = np.exp(-(_NODES**2) / 2) / np.exp(-(_NODES**2) / 2).sum()
_ROWS = 4096
_ROWS_IN_CACHE = 1024
_STEEPEST = 4.0
_FARTHEST = 12.0
_LONGEST_STEP = 16.0
# Below this slope a question tells abilities so little apart that its difficulty is anywhere.
_FLATTEST = 0.1


class Calibration(NamedTuple):
    """What a model says of each question, and of each learner.

    A learner of ability θ gets a question right with probability 1 / (1 + exp(-a (θ - b))): a is
    `discrimination`, b `difficulty`, `*_se` their standard errors, NaN where the responses can't tell (all
    right, all wrong, no discrimination). 2PL: abilities have mean 0 and SD 1. Rasch: a is 1, abilities have
    mean 0 and SD `ability_sd`. `ability` is the mean of each learner's posterior (EAP), `ability_se` its
    standard deviation. `rmsd` is the root mean square distance between the shares that were right and those
    the model expects, over abilities.
    """

    model: Model
    difficulty: Array
    difficulty_se: Array
    discrimination: Array
    discrimination_se: Array
    rmsd: Array
    ability: Array
    ability_se: Array
    ability_sd: float
    iterations: int
    converged: bool


def calibrate(
    right: Array, model: Model = "2pl", *, tolerance: float = 2e-4, most_iterations: int = 300
) -> Calibration:
    """Fits a model to a matrix of learners by questions: uint8, 1 right, 0 not, NOT_SEEN not asked.

    Ends when no parameter moves by more than `tolerance`, or after `most_iterations` (`converged` tells).
    """
    if right.max(initial=0) != NOT_SEEN:
        got, asked = _column_sums(right), np.full(right.shape[1], len(right))
    else:
        seen = right != NOT_SEEN
        got, asked = np.where(seen, right, 0).sum(axis=0, dtype=np.float64), seen.sum(axis=0)
    usable = np.flatnonzero((got > 0) & (got < asked))
    if not len(usable):
        raise ValueError("no question was answered right by some learners and wrong by others")
    used = right if len(usable) == right.shape[1] else np.ascontiguousarray(right[:, usable])
    share = got[usable] / asked[usable]
    start = np.ones(len(usable)), np.log(share / (1 - share))
    fitted = (_rasch if model == "rasch" else _two_parameters)(used, start, tolerance, most_iterations)
    slope, intercept = fitted.slope, fitted.intercept
    return _calibration(
        model,
        (right.shape[1], usable),
        (slope, intercept),
        _covariance(fitted.products, model, len(right)),
        _rmsd(fitted.expected, slope, intercept),
        (fitted.ability, fitted.ability_se),
        (fitted.iterations, fitted.converged),
    )


class _Fitted(NamedTuple):
    """What a model gave: parameters of the questions, and what follows from them with all responses."""

    slope: Array
    intercept: Array
    iterations: int
    converged: bool
    expected: _Expected
    ability: Array
    ability_se: Array
    products: Array
    """The sum of products of the learners' gradients: of (slopes, intercepts), or (the slope, intercepts)."""


def _two_parameters(right: Array, start: tuple[Array, Array], tolerance: float, most: int) -> _Fitted:
    fit = _Fit(right)
    slope, intercept, iterations, converged = fit.two_parameters(*start, tolerance, most)
    expected = fit.expect(slope, intercept)
    return _Fitted(slope, intercept, iterations, converged, expected, *fit.learners(slope, intercept))


def _rasch(right: Array, start: tuple[Array, Array], tolerance: float, most: int) -> _Fitted:
    if right.max(initial=0) != NOT_SEEN:
        by_score = _by_score(right)
        slope, intercept, iterations, converged = _squarem(by_score.step, start, tolerance, most)
        return _Fitted(
            slope, intercept, iterations, converged, *by_score.learners(float(slope[0]), intercept)
        )
    fit = _Fit(right)
    slope, intercept, iterations, converged = _squarem(fit.rasch_step, start, tolerance, most)
    expected = fit.expect(slope, intercept)
    ability, ability_se, products = fit.learners(slope, intercept)
    return _Fitted(
        slope, intercept, iterations, converged, expected, ability, ability_se, _of_one_slope(products)
    )


class _Expected(NamedTuple):
    """Over questions by nodes: expected numbers of learners at an ability, and of those who were right."""

    right: Array
    asked: Array


def _chances(slope: Array, intercept: Array) -> Array:
    return 1 / (1 + np.exp(-(slope[:, None] * _NODES + intercept[:, None])))


def _in_float(right: Array, rows: Array | None = None) -> Iterator[tuple[int, Array]]:
    """Blocks of a matrix of bytes as floats, and where each begins; one buffer holds them in turn.

    A copy of the whole would be four times as large, and making room for it takes longer than adding it up.
    """
    buffer = np.empty((_ROWS_IN_CACHE, right.shape[1]), np.float32)
    for start in range(0, len(right), _ROWS_IN_CACHE):
        end = start + _ROWS_IN_CACHE
        block = right[start:end] if rows is None else right[rows[start:end]]
        x = buffer[: len(block)]
        x[...] = block
        yield start, x


def _column_sums(right: Array) -> Array:
    sums = np.zeros(right.shape[1])
    for _, x in _in_float(right):
        sums += np.ones(len(x), np.float32) @ x
    return sums


class _ByScore(NamedTuple):
    """All that the Rasch model needs of complete responses: the same number right is the same to it."""

    scores: Array
    counts: Array
    """Learners, by score."""
    group: Array
    """The place of each learner's score in `scores`."""
    got: Array
    """Right responses, by score and question."""
    together: Array
    """Learners who had both right, by question and question."""

    def step(self, at: Array) -> Array:
        """One E step and one Newton step, of (slope, intercepts)."""
        common, intercept = float(at[0]), at[1:]
        weights = self._weights(common, intercept)
        weights *= self.counts[:, None]
        asked = np.broadcast_to(weights.sum(axis=0), (len(intercept), len(_NODES)))
        return _rasch_step(at, asked, self.got.sum(axis=0), float(self.scores @ (weights @ _NODES)))

    def _weights(self, common: float, intercept: Array) -> Array:
        """The posterior over abilities, by score."""
        misses = np.logaddexp(0, common * _NODES + intercept[:, None]).sum(axis=0)
        weights = np.log(_PRIOR) - misses + common * np.outer(self.scores, _NODES)
        weights = np.exp(weights - weights.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        return np.asarray(weights)

    def learners(self, common: float, intercept: Array) -> tuple[_Expected, Array, Array, Array]:
        """What the model expects; EAP and SD of each learner; the sum of products of gradients."""
        weights = self._weights(common, intercept)
        chance = _chances(np.full(len(intercept), common), intercept)
        mean = weights @ _NODES
        deviation = np.sqrt(np.maximum(weights @ _NODES**2 - mean**2, 0))
        right = self.got.T @ weights
        asked = np.broadcast_to(self.counts @ weights, right.shape)
        # The sum of (x - e)(x - e)ᵀ, where what is expected, e, is the same for a score.
        expected = weights @ chance.T
        crossed = expected.T @ self.got
        of_intercepts = self.together - crossed - crossed.T + (expected.T * self.counts) @ expected
        by_slope = self.scores * mean - ((weights * _NODES) @ chance.T).sum(axis=1)
        edge = by_slope @ (self.got - self.counts[:, None] * expected)
        products = np.block(
            [[np.array([[self.counts @ by_slope**2]]), edge[None, :]], [edge[:, None], of_intercepts]]
        )
        return _Expected(right, asked), mean[self.group], deviation[self.group], products


def _by_score(right: Array) -> _ByScore:
    questions = right.shape[1]
    # Whole numbers of two bytes are sorted by their digits, in a tenth of the time.
    totals = np.empty(len(right), np.uint16 if questions < 1 << 16 else np.uint32)
    for start, x in _in_float(right):
        totals[start : start + len(x)] = x @ np.ones(questions, np.float32)
    counts = np.bincount(totals)
    group = (np.cumsum(counts > 0) - 1)[totals]
    scores = np.flatnonzero(counts)
    order = np.argsort(totals, kind="stable")
    got, together = np.zeros((len(scores), questions)), np.zeros((questions, questions))
    for start, x in _in_float(right, order):
        together += x.T @ x
        groups = group[order[start : start + len(x)]]
        # In order of their scores, a block holds few of them.
        here = slice(groups[0], groups[-1] + 1)
        got[here] += (np.arange(here.start, here.stop)[:, None] == groups).astype(np.float32) @ x
    return _ByScore(scores.astype(np.float64), counts[scores], group, got, together)


def _squarem(
    step: Callable[[Array], Array], start: tuple[Array, Array], tolerance: float, most: int
) -> tuple[Array, Array, int, bool]:
    """Slopes, intercepts, steps taken, and whether they settled, of one slope for all.

    EM closes in by a steady share, which SQUAREM sums up (Varadhan and Roland 2008, scheme S3).
    """
    at = np.concatenate([start[0][:1], start[1]])
    taken, converged = 0, False
    while not converged and taken < most:
        first = step(at)
        second = step(first)
        taken += 2
        converged = bool(np.abs(second - first).max() < tolerance)
        change = first - at
        bend = second - first - change
        length = float(np.linalg.norm(change)) / max(float(np.linalg.norm(bend)), 1e-12)
        length = min(max(1.0, length), _LONGEST_STEP)
        at = second if converged else _inside(at + 2 * length * change + length**2 * bend)
    return np.full(len(at) - 1, at[0]), at[1:], taken, converged


def _rasch_step(at: Array, asked: Array, got: Array, score_by_ability: float) -> Array:
    """One Newton step of (slope, intercepts), by the learners that are expected at each question and ability.

    `score_by_ability` is the sum over learners of their number right times their expected ability.
    """
    common, intercept = float(at[0]), at[1:]
    chance = _chances(np.full(len(got), common), intercept)
    expected = asked * chance
    information = expected * (1 - chance)
    of_intercept = got - expected.sum(axis=1)
    of_slope = score_by_ability - float((expected @ _NODES).sum())
    # The block arrow of this Newton step: one slope beside a diagonal of intercepts.
    diagonal, edge = information.sum(axis=1), information @ _NODES
    corner = float((information @ _NODES**2).sum()) - float((edge**2 / diagonal).sum())
    step = float(
        np.clip((of_slope - float((edge * of_intercept / diagonal).sum())) / max(corner, 1e-9), -1, 1)
    )
    moved = np.clip((of_intercept - edge * step) / diagonal, -1, 1)
    return _inside(np.concatenate([[common + step], intercept + moved]))


class _Fit:
    """A model on responses one by one, in blocks of learners."""

    def __init__(self, right: Array) -> None:
        complete = right.max(initial=0) != NOT_SEEN
        self._mask = None if complete else (right != NOT_SEEN).astype(np.float32)
        x = right if complete else np.where(right != NOT_SEEN, right, 0)
        # Row by row, as the blocks are taken.
        self._x = x.astype(np.float32, order="C")

    def expect(self, slope: Array, intercept: Array) -> _Expected:
        """The E step: blocks of learners, weighed by their posterior over abilities."""
        questions = self._x.shape[1]
        right = np.zeros((questions, len(_NODES)))
        asked = np.zeros((1 if self._mask is None else questions, len(_NODES)))
        for x, mask, weights in self._posteriors(slope, intercept):
            right += x.T @ weights
            asked += weights.sum(axis=0, dtype=np.float64) if mask is None else mask.T @ weights
        return _Expected(right, np.broadcast_to(asked, right.shape))

    def _posteriors(self, slope: Array, intercept: Array) -> Any:
        logits = slope[:, None] * _NODES + intercept[:, None]
        misses = np.logaddexp(0, logits)
        base = np.log(_PRIOR)
        by_right = logits.astype(np.float32)
        if self._mask is None:
            base = base - misses.sum(axis=0)
        by_asked = misses.astype(np.float32)
        base = base.astype(np.float32)
        for start in range(0, len(self._x), _ROWS):
            x = self._x[start : start + _ROWS]
            mask = None if self._mask is None else self._mask[start : start + _ROWS]
            weights = x @ by_right
            weights += base
            if mask is not None:
                weights -= mask @ by_asked
            weights -= weights.max(axis=1, keepdims=True)
            # What is next to nothing would be a denormal number, which a processor takes long over.
            np.maximum(weights, -70, out=weights)
            np.exp(weights, out=weights)
            weights /= weights.sum(axis=1, keepdims=True)
            yield x, mask, weights

    def two_parameters(
        self, slope: Array, intercept: Array, tolerance: float, most: int
    ) -> tuple[Array, Array, int, bool]:
        for iteration in range(1, most + 1):
            expected = self.expect(slope, intercept)
            new_slope, new_intercept = slope, intercept
            for _ in range(3):
                new_slope, new_intercept = _newton(expected, new_slope, new_intercept)
            moved = max(np.abs(new_slope - slope).max(), np.abs(new_intercept - intercept).max())
            slope, intercept = new_slope, new_intercept
            if moved < tolerance:
                return slope, intercept, iteration, True
        return slope, intercept, most, False

    def rasch_step(self, at: Array) -> Array:
        """One E step and one Newton step, of (slope, intercepts), where not all were asked the same."""
        common, intercept = float(at[0]), at[1:]
        asked = np.zeros((len(intercept), len(_NODES)))
        score_by_ability = 0.0
        for x, mask, weights in self._posteriors(np.full(len(intercept), common), intercept):
            asked += weights.sum(axis=0) if mask is None else mask.T @ weights
            score_by_ability += float(x.sum(axis=1) @ (weights @ _NODES))
        return _rasch_step(at, asked, self._x.sum(axis=0, dtype=np.float64), score_by_ability)

    def learners(self, slope: Array, intercept: Array) -> tuple[Array, Array, Array]:
        """EAP and SD of each learner; the sum of products of the learners' gradients (slopes, intercepts)."""
        questions = len(slope)
        means, deviations = np.empty(len(self._x)), np.empty(len(self._x))
        products = np.zeros((2 * questions, 2 * questions))
        chance = _chances(slope, intercept)
        start = 0
        for x, mask, weights in self._posteriors(slope, intercept):
            mean = weights @ _NODES
            rows = slice(start, start + len(x))
            means[rows] = mean
            deviations[rows] = np.sqrt(np.maximum(weights @ _NODES**2 - mean**2, 0))
            gradient = np.empty((len(x), 2 * questions), dtype=np.float32)
            gradient[:, :questions] = x * mean[:, None] - (weights * _NODES) @ chance.T
            gradient[:, questions:] = x - weights @ chance.T
            if mask is not None:
                # x is 0 where nothing was asked, and so must be what was expected.
                gradient[:, :questions] *= mask
                gradient[:, questions:] *= mask
            products += gradient.T @ gradient
            start += len(x)
        return means, deviations, products


def _inside(at: Array) -> Array:
    """(slope, intercepts) within the bounds of both."""
    return np.concatenate([np.clip(at[:1], 0.01, _STEEPEST), np.clip(at[1:], -_FARTHEST, _FARTHEST)])


def _newton(expected: _Expected, slope: Array, intercept: Array) -> tuple[Array, Array]:
    """One step of a logistic regression on the nodes, for each question at once."""
    chance = _chances(slope, intercept)
    residual = expected.right - expected.asked * chance
    information = expected.asked * chance * (1 - chance)
    by_slope, by_intercept = residual @ _NODES, residual.sum(axis=1)
    aa, ad, dd = information @ _NODES**2, information @ _NODES, information.sum(axis=1)
    determinant = np.maximum(aa * dd - ad**2, 1e-9)
    step = (dd * by_slope - ad * by_intercept) / determinant
    other = (aa * by_intercept - ad * by_slope) / determinant
    return (
        np.clip(slope + np.clip(step, -1, 1), -_STEEPEST, _STEEPEST),
        np.clip(intercept + np.clip(other, -1, 1), -_FARTHEST, _FARTHEST),
    )


def _covariance(products: Array, model: Model, learners: int) -> Array:
    """Of (slopes, intercepts), or of (the slope, intercepts), by the inverse of the gradients' products.

    With few learners for so many parameters the whole matrix is of low rank: then each question by itself.
    """
    questions = len(products) // 2
    if learners < 4 * len(products):
        kept = np.zeros(products.shape, dtype=bool)
        np.fill_diagonal(kept, True)
        if model == "2pl":
            places = np.arange(questions)
            kept[places, places + questions] = kept[places + questions, places] = True
        products = np.where(kept, products, 0)
    try:
        # Fails for what is not positive definite, and costs a tenth of finding all eigenvalues.
        np.linalg.cholesky(products)
        return np.asarray(np.linalg.inv(products))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(products, hermitian=True))


def _of_one_slope(products: Array) -> Array:
    """Products of gradients when all slopes are one parameter."""
    questions = len(products) // 2
    one = np.zeros((questions + 1, 2 * questions))
    one[0, :questions] = 1
    one[1:, questions:] = np.eye(questions)
    return one @ products @ one.T


def _rmsd(expected: _Expected, slope: Array, intercept: Array) -> Array:
    asked = np.maximum(expected.asked, 1e-12)
    apart = expected.right / asked - _chances(slope, intercept)
    return np.asarray(np.sqrt((asked * apart**2).sum(axis=1) / asked.sum(axis=1)))


def _calibration(
    model: Model,
    columns: tuple[int, Array],
    parameters: tuple[Array, Array],
    covariance: Array,
    rmsd: Array,
    abilities: tuple[Array, Array],
    ran: tuple[int, bool],
) -> Calibration:
    questions, usable = columns
    slope, intercept = parameters
    ability, ability_se = abilities
    scale = 1.0
    variance = np.diag(covariance)
    if model == "rasch":
        # Intercepts are in logits already; abilities are put into logits with them.
        scale = float(slope[0])
        difficulty, difficulty_se = -intercept, np.sqrt(variance[1:])
        discrimination, discrimination_se = np.ones(len(slope)), np.full(len(slope), np.nan)
    else:
        count = len(slope)
        places = np.arange(count)
        flat = np.abs(slope) < _FLATTEST
        divisor = np.where(flat, np.nan, slope)
        difficulty = -intercept / divisor
        # Delta method of b = -d / a.
        spread = (
            variance[count:]
            + difficulty**2 * variance[:count]
            + 2 * difficulty * covariance[places, places + count]
        )
        difficulty_se = np.sqrt(np.maximum(spread, 0)) / np.abs(divisor)
        discrimination, discrimination_se = slope, np.sqrt(variance[:count])

    def spread_out(values: Array) -> Array:
        every = np.full(questions, np.nan)
        every[usable] = values
        return every

    return Calibration(
        model,
        spread_out(difficulty),
        spread_out(difficulty_se),
        spread_out(discrimination),
        spread_out(discrimination_se),
        spread_out(rmsd),
        ability * scale,
        ability_se * scale,
        scale,
        *ran,
    )
