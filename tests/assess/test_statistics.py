"""The classical figures against plain formulas of numpy and scipy, to 1e-9."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from quizapp.assess import intervals
from quizapp.assess.statistics import NOT_SEEN, ItemStatistics, analyse


def simulated(rows: int = 3000, questions: int = 12, options: int = 4, seed: int = 5):
    draw = np.random.default_rng(seed)
    ability = draw.normal(size=(rows, 1))
    difficulty = np.linspace(-2, 2, questions)
    right = draw.random((rows, questions)) < 1 / (1 + np.exp(difficulty - ability))
    keys = draw.integers(0, options, questions)
    other = (keys + draw.integers(1, options, (rows, questions))) % options
    return right.astype(np.uint8), np.where(right, keys, other).astype(np.uint8), keys


def assert_agrees(found: ItemStatistics, scores: np.ndarray, best: np.ndarray) -> None:
    """`scores` are floats with NaN where a question was not asked."""
    for question in range(scores.shape[1]):
        asked = ~np.isnan(scores[:, question])
        x = scores[asked, question]
        others = np.delete(scores[asked], question, axis=1)
        room = np.where(np.isnan(others), 0, np.delete(best, question)).sum(axis=1)
        rest = np.nansum(others, axis=1) / room
        r = scipy_stats.pearsonr(x, rest)
        assert found.n[question] == len(x)
        assert found.facility[question] == pytest.approx(x.mean() / best[question], abs=1e-9)
        assert found.sd[question] == pytest.approx(x.std(ddof=1) / best[question], abs=1e-9)
        assert found.discrimination[question] == pytest.approx(r.statistic, abs=1e-9)
        low, high = r.confidence_interval(0.95)
        assert found.discrimination_interval(question) == pytest.approx((low, high), abs=1e-9)


def assert_distractors(
    found: ItemStatistics, scores: np.ndarray, codes: np.ndarray, best: np.ndarray
) -> None:
    for question in range(scores.shape[1]):
        asked = ~np.isnan(scores[:, question])
        others = np.delete(scores, question, axis=1)
        room = np.where(np.isnan(others), 0, np.delete(best, question)).sum(axis=1)
        rest = np.nansum(others, axis=1) / room
        for code in range(found.chosen.shape[1]):
            who = asked & (codes[:, question] == code)
            assert found.chosen[question, code] == who.sum()
            if who.any():
                assert found.chosen_rest[question, code] == pytest.approx(rest[who].mean(), abs=1e-9)
            else:
                assert math.isnan(found.chosen_rest[question, code])


def test_whole_scores_agree_with_scipy() -> None:
    scores, codes, keys = simulated()
    best = np.ones(scores.shape[1])
    for found in (
        analyse(scores, codes, levels=4, keys=keys),
        analyse(scores, codes, levels=4),
        analyse(scores, codes, levels=9),
        analyse(scores.astype(np.float64), codes, levels=4),
    ):
        assert_agrees(found, scores.astype(float), best)
        assert_distractors(found, scores.astype(float), codes, best)


def test_a_key_from_which_the_scores_do_not_follow_is_not_believed() -> None:
    scores, codes, keys = simulated()
    scores[1500:1600, 3] = 1  # a question that everybody got by a later decision
    assert_distractors(
        analyse(scores, codes, levels=4, keys=keys), scores.astype(float), codes, np.ones(scores.shape[1])
    )


@pytest.mark.parametrize("levels", [1, 2, 3, 4, 5, 6, 26])
def test_any_number_of_options(levels: int) -> None:
    draw = np.random.default_rng(levels)
    scores = draw.integers(0, 2, (2500, 7)).astype(np.uint8)
    codes = draw.integers(0, levels, scores.shape).astype(np.uint8)
    found = analyse(scores, codes, levels=levels)
    assert_distractors(found, scores.astype(float), codes, np.ones(7))


def test_partial_points_and_unequal_questions() -> None:
    draw = np.random.default_rng(3)
    best = np.array([1.0, 2.0, 0.5, 3.0, 1.0])
    scores = draw.integers(0, 4, (1777, 5)) / 3 * best
    scores[:, 0] = np.where(scores[:, 1] > 1, 1, scores[:, 0])
    codes = draw.integers(0, 4, scores.shape).astype(np.uint8)
    found = analyse(scores, codes, levels=4, max_points=best)
    assert_agrees(found, scores, best)
    assert_distractors(found, scores, codes, best)
    reliability = found.reliability
    assert reliability is not None
    assert reliability.name == "alpha"
    total = scores.sum(axis=1)
    alpha = 5 / 4 * (1 - scores.var(axis=0, ddof=1).sum() / total.var(ddof=1))
    assert reliability.alpha == pytest.approx(alpha, abs=1e-9)
    assert reliability.sem == pytest.approx(total.std(ddof=1) * math.sqrt(1 - alpha), abs=1e-9)


def test_whole_points_above_one() -> None:
    draw = np.random.default_rng(11)
    scores = draw.integers(0, 4, (5000, 20)).astype(np.uint8)
    best = np.full(20, 3.0)
    codes = draw.integers(0, 5, scores.shape).astype(np.uint8)
    found = analyse(scores, codes, levels=5, max_points=best)
    assert_agrees(found, scores.astype(float), best)
    assert_distractors(found, scores.astype(float), codes, best)


def test_kr20_is_its_own_formula() -> None:
    scores, _, _ = simulated()
    reliability = analyse(scores).reliability
    assert reliability is not None
    p = scores.mean(axis=0)
    k, total = scores.shape[1], scores.sum(axis=1)
    kr20 = k / (k - 1) * (1 - (p * (1 - p)).sum() / total.var())
    assert reliability.name == "KR-20"
    assert reliability.alpha == pytest.approx(kr20, abs=1e-9)


@pytest.mark.parametrize("whole", [True, False])
def test_learners_who_were_asked_different_questions(whole: bool) -> None:
    scores, codes, _ = simulated(rows=2100)
    hidden = np.random.default_rng(8).random(scores.shape) < 0.4
    hidden[:, :2] = False  # two questions each at least
    as_floats = np.where(hidden, np.nan, scores)
    found = analyse(
        np.where(hidden, NOT_SEEN, scores).astype(np.uint8) if whole else as_floats, codes, levels=4
    )
    assert_agrees(found, as_floats, np.ones(scores.shape[1]))
    assert_distractors(found, as_floats, codes, np.ones(scores.shape[1]))
    assert found.reliability is None


def test_what_never_varies_has_no_discrimination() -> None:
    scores, _, _ = simulated()
    scores[:, 2] = 1
    found = analyse(scores)
    assert math.isnan(found.discrimination[2])
    assert found.facility[2] == 1
    assert found.discrimination_interval(2) is None


def test_intervals_agree_with_scipy() -> None:
    for count, n in ((0, 12), (7, 12), (12, 12), (431, 1000)):
        low, high = scipy_stats.binomtest(count, n).proportion_ci(method="wilson")
        assert intervals.wilson(count, n) == pytest.approx((low, high), abs=1e-9)
    assert pytest.approx(scipy_stats.norm.ppf(0.975), abs=1e-12) == intervals.Z


def test_the_interval_of_alpha_covers_it() -> None:
    draw = np.random.default_rng(1)
    inside = 0
    # Ten parallel questions whose true alpha is 10 r / (1 + 9 r) at r = 0.25.
    for _ in range(400):
        scores = math.sqrt(0.25) * draw.normal(size=(80, 1)) + math.sqrt(0.75) * draw.normal(size=(80, 10))
        reliability = analyse(scores).reliability
        assert reliability is not None
        assert reliability.alpha_interval is not None
        low, high = reliability.alpha_interval
        inside += low <= 2.5 / 3.25 <= high
    assert 0.92 <= inside / 400 <= 0.98


def test_the_interval_of_a_median_covers_it() -> None:
    draw = np.random.default_rng(2)
    inside = 0
    for _ in range(1000):
        low, high = intervals.of_median(sorted(draw.exponential(size=41))) or (0, 0)
        inside += low <= math.log(2) <= high
    assert inside / 1000 >= 0.93


def test_shapes_that_do_not_fit_are_refused() -> None:
    scores, codes, _ = simulated(rows=20)
    with pytest.raises(ValueError, match="shape"):
        analyse(scores, codes[:, :3], levels=4)
    with pytest.raises(ValueError, match="positive"):
        analyse(scores, max_points=np.zeros(scores.shape[1]))
