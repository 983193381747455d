"""Item response theory: known parameters come back from simulated responses, and girth agrees."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from quizapp.assess.irt import calibrate
from quizapp.assess.statistics import NOT_SEEN


def simulated(learners: int, questions: int, seed: int, *, spread: float = 0.3):
    draw = np.random.default_rng(seed)
    ability = draw.normal(size=learners)
    difficulty = draw.normal(size=questions)
    discrimination = np.exp(draw.normal(scale=spread, size=questions))
    chance = 1 / (1 + np.exp(-discrimination * (ability[:, None] - difficulty)))
    return (draw.random(chance.shape) < chance).astype(np.uint8), ability, difficulty, discrimination


def rmse(found: np.ndarray, true: np.ndarray) -> float:
    return float(np.sqrt(np.mean((found - true) ** 2)))


def test_two_parameters_come_back_as_near_as_by_girth() -> None:
    right, ability, difficulty, discrimination = simulated(1500, 30, 7)
    found = calibrate(right, "2pl")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from girth import twopl_mml

        peer = twopl_mml(right.T.astype(int))
    assert found.converged
    assert rmse(found.difficulty, difficulty) <= 1.02 * rmse(peer["Difficulty"], difficulty)
    assert rmse(found.discrimination, discrimination) <= 1.02 * rmse(peer["Discrimination"], discrimination)
    np.testing.assert_allclose(found.difficulty, peer["Difficulty"], atol=0.03)
    assert np.corrcoef(found.ability, ability)[0, 1] > 0.9


def test_rasch_difficulties_come_back_as_near_as_by_girth() -> None:
    ours, theirs = [], []
    # girth is told that abilities have an SD of 1, and here that is estimated: on data whose SD happens to be
    # 1 % off that shows, so several are looked at together.
    for seed in range(8, 16):
        right, _, difficulty, _ = simulated(10_000, 100, seed, spread=0)
        found = calibrate(right, "rasch")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from girth import rasch_mml

            peer = rasch_mml(right.T.astype(int))
        assert found.converged
        assert found.ability_sd == pytest.approx(1, abs=0.04)
        assert set(found.discrimination) == {1.0}
        ours.append(found.difficulty - difficulty)
        theirs.append(peer["Difficulty"] - difficulty)
    assert rmse(np.array(ours), np.zeros(100)) <= 1.02 * rmse(np.array(theirs), np.zeros(100))


@pytest.mark.parametrize("model", ["rasch", "2pl"])
def test_standard_errors_are_those_of_repeated_samples(model: str) -> None:
    draw = np.random.default_rng(21)
    difficulty = np.linspace(-1.5, 1.5, 12)
    slopes = np.ones(12) if model == "rasch" else np.linspace(0.7, 1.6, 12)
    estimates, errors = [], []
    for _ in range(60):
        ability = draw.normal(size=(800, 1))
        chance = 1 / (1 + np.exp(-slopes * (ability - difficulty)))
        found = calibrate((draw.random(chance.shape) < chance).astype(np.uint8), model)
        estimates.append(found.difficulty)
        errors.append(found.difficulty_se)
    ratio = np.median(errors, axis=0) / np.std(estimates, axis=0)
    assert 0.9 < ratio.mean() < 1.1


def test_the_error_of_an_ability_is_as_large_as_it_says() -> None:
    right, ability, _, _ = simulated(4000, 40, 3)
    found = calibrate(right, "2pl")
    assert rmse(found.ability, ability) == pytest.approx(np.sqrt(np.mean(found.ability_se**2)), rel=0.05)


@pytest.mark.parametrize("model", ["rasch", "2pl"])
def test_learners_who_were_asked_different_questions(model: str) -> None:
    right, _, difficulty, _ = simulated(6000, 30, 12, spread=0 if model == "rasch" else 0.3)
    hidden = np.random.default_rng(1).random(right.shape) < 0.5
    found = calibrate(np.where(hidden, NOT_SEEN, right).astype(np.uint8), model)
    assert rmse(found.difficulty, difficulty) < 0.12
    nothing_hidden = calibrate(right, model)
    assert (found.difficulty_se > nothing_hidden.difficulty_se).all()


def test_complete_data_are_the_same_with_and_without_groups() -> None:
    right, _, _, _ = simulated(900, 15, 4, spread=0)
    one_more = np.vstack([right, np.full((1, 15), NOT_SEEN, dtype=np.uint8)])
    by_groups, one_by_one = calibrate(right, "rasch"), calibrate(one_more, "rasch")
    np.testing.assert_allclose(by_groups.difficulty, one_by_one.difficulty, atol=2e-3)


def test_a_question_that_breaks_the_model_stands_out() -> None:
    right, ability, _, _ = simulated(3000, 25, 9)
    # The middle gets it, the weak and the strong do not.
    right[:, 4] = np.abs(ability) < 0.7
    found = calibrate(right, "2pl")
    others = np.delete(found.rmsd, 4)
    assert found.rmsd[4] > 0.12 > others.max()


def test_what_all_get_right_has_no_difficulty() -> None:
    right, _, _, _ = simulated(400, 10, 2)
    right[:, 0], right[:, 1] = 1, 0
    for model in ("rasch", "2pl"):
        found = calibrate(right, model)
        assert np.isnan(found.difficulty[:2]).all()
        assert np.isfinite(found.difficulty[2:]).all()
    with pytest.raises(ValueError, match="no question"):
        calibrate(np.ones((50, 3), dtype=np.uint8))
