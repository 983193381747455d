"""Item response theory: difficulties of questions and abilities of learners on one scale.

Marginal maximum likelihood by EM (Bock and Aitkin 1981) over a grid of abilities. The Rasch model has one
discrimination for all questions, the two-parameter model (2PL) one for each. Needs numpy (the extra `stats`).
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from quizapp.assess.statistics import NOT_SEEN

Array = npt.NDArray[Any]
Model = Literal["rasch", "2pl"]

_NODES = np.linspace(-5.0, 5.0, 31)
_PRIOR = np.exp(-(_NODES**2) / 2) / np.exp(-(_NODES**2) / 2).sum()
_ROWS = 4096
_STEEPEST = 4.0
_FARTHEST = 12.0
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
    complete = right.max(initial=0) != NOT_SEEN
    if complete:
        x = right.astype(np.float32, order="C")
        asked, got = np.full(right.shape[1], len(right)), np.ones(len(right), np.float32) @ x
    else:
        seen = right != NOT_SEEN
        x = np.where(seen, right, 0).astype(np.float32, order="C")
        asked, got = seen.sum(axis=0), x.sum(axis=0)
    usable = np.flatnonzero((got > 0) & (got < asked))
    if not len(usable):
        raise ValueError("no question was answered right by some learners and wrong by others")
    # Row by row, as the blocks are taken.
    x = x if len(usable) == x.shape[1] else np.ascontiguousarray(x[:, usable])
    mask = None if complete else np.ascontiguousarray(seen[:, usable], dtype=np.float32)
    share = got[usable] / asked[usable]
    slope, intercept = np.ones(len(usable)), np.log(share / (1 - share))
    fit = _Fit(x, mask)
    if model == "rasch":
        slope, intercept, iterations, converged = fit.rasch(slope, intercept, tolerance, most_iterations)
    else:
        slope, intercept, iterations, converged = fit.two_parameters(
            slope, intercept, tolerance, most_iterations
        )
    if model == "rasch" and complete:
        last, ability, ability_se, products = fit.rasch_learners(slope, intercept)
    else:
        last = fit.expect(slope, intercept)
        ability, ability_se, products = fit.learners(slope, intercept)
        products = _of_one_slope(products) if model == "rasch" else products
    return _calibration(
        model,
        (right.shape[1], usable),
        (slope, intercept),
        _covariance(products, model, len(x)),
        _rmsd(last, slope, intercept),
        (ability, ability_se),
        (iterations, converged),
    )


class _Expected(NamedTuple):
    """Over questions by nodes: expected numbers of learners at an ability, and of those who were right."""

    right: Array
    asked: Array


def _chances(slope: Array, intercept: Array) -> Array:
    return 1 / (1 + np.exp(-(slope[:, None] * _NODES + intercept[:, None])))


class _Fit:
    def __init__(self, x: Array, mask: Array | None) -> None:
        self._x, self._mask = x, mask

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

    def rasch(
        self, slope: Array, intercept: Array, tolerance: float, most: int
    ) -> tuple[Array, Array, int, bool]:
        """One slope for all: the number right is all that matters, so learners go by groups."""
        totals = self._x @ np.ones(self._x.shape[1], np.float32)
        got = (np.ones(len(self._x), np.float32) @ self._x).astype(np.float64)
        scores, counts = np.unique(totals, return_counts=True)
        common = float(slope[0])
        for iteration in range(1, most + 1):
            asked, score_by_ability = self._rasch_expected(common, intercept, (totals, scores, counts))
            new_common, new_intercept = common, intercept
            for _ in range(2 if iteration < 4 else 1):
                chance = _chances(np.full(len(got), new_common), new_intercept)
                information = asked * chance * (1 - chance)
                of_intercept = got - (asked * chance).sum(axis=1)
                of_slope = score_by_ability - float(((asked * chance) @ _NODES).sum())
                # The block arrow of this Newton step: one slope beside a diagonal of intercepts.
                diagonal, edge = information.sum(axis=1), information @ _NODES
                corner = float((information @ _NODES**2).sum()) - float((edge**2 / diagonal).sum())
                step = (of_slope - float((edge * of_intercept / diagonal).sum())) / max(corner, 1e-9)
                new_common = float(np.clip(new_common + np.clip(step, -1, 1), 0.01, _STEEPEST))
                new_intercept = np.clip(
                    new_intercept + np.clip((of_intercept - edge * step) / diagonal, -1, 1),
                    -_FARTHEST,
                    _FARTHEST,
                )
            moved = max(abs(new_common - common), np.abs(new_intercept - intercept).max())
            common, intercept = new_common, new_intercept
            if moved < tolerance:
                return np.full(len(got), common), intercept, iteration, True
        return np.full(len(got), common), intercept, most, False

    def _rasch_expected(
        self, common: float, intercept: Array, groups: tuple[Array, Array, Array]
    ) -> tuple[Array, float]:
        """Expected learners by question and ability; the sum of number right times expected ability."""
        totals, scores, counts = groups
        if self._mask is None:
            misses = np.logaddexp(0, common * _NODES + intercept[:, None]).sum(axis=0)
            weights = np.log(_PRIOR) - misses + common * np.outer(scores, _NODES)
            weights = np.exp(weights - weights.max(axis=1, keepdims=True))
            weights *= (counts / weights.sum(axis=1))[:, None]
            asked = np.broadcast_to(weights.sum(axis=0), (len(intercept), len(_NODES)))
            return asked, float(scores @ (weights @ _NODES))
        asked = np.zeros((len(intercept), len(_NODES)))
        score_by_ability, start = 0.0, 0
        for x, mask, weights in self._posteriors(np.full(len(intercept), common), intercept):
            asked += mask.T @ weights
            score_by_ability += float(totals[start : start + len(x)] @ (weights @ _NODES))
            start += len(x)
        return asked, score_by_ability

    def rasch_learners(self, slope: Array, intercept: Array) -> tuple[_Expected, Array, Array, Array]:
        """As `expect` and `learners`, by groups of the same number right: all else follows from that."""
        totals = self._x @ np.ones(self._x.shape[1], np.float32)
        order = np.argsort(totals, kind="stable")
        scores, starts, group, counts = np.unique(
            totals[order], return_index=True, return_inverse=True, return_counts=True
        )
        group = group[np.argsort(order)]
        chance = _chances(slope, intercept)
        weights = np.log(_PRIOR) + np.log1p(-chance).sum(axis=0) + slope[0] * np.outer(scores, _NODES)
        weights = np.exp(weights - weights.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        mean = weights @ _NODES
        deviation = np.sqrt(np.maximum(weights @ _NODES**2 - mean**2, 0))
        got = np.add.reduceat(self._x[order], starts, axis=0).astype(np.float64)
        right = got.T @ weights
        asked = np.broadcast_to(counts @ weights, right.shape)
        # The sum of (x - e)(x - e)ᵀ, where what is expected, e, is the same in a group.
        expected = weights @ chance.T
        crossed = expected.T @ got
        of_intercepts = self._x.T @ self._x - crossed - crossed.T + (expected.T * counts) @ expected
        by_slope = scores * mean - ((weights * _NODES) @ chance.T).sum(axis=1)
        edge = by_slope @ (got - counts[:, None] * expected)
        products = np.block(
            [[np.array([[counts @ by_slope**2]]), edge[None, :]], [edge[:, None], of_intercepts]]
        )
        return _Expected(right, asked), mean[group], deviation[group], products

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
