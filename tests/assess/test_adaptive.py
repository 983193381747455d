"""Adaptive testing: the ability agrees with numerical integration, and half the questions are enough."""

from __future__ import annotations

import json
import math
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special, stats

from quizapp.assess.adaptive import (
    AMONG,
    Estimate,
    Parameters,
    Plan,
    Rule,
    ability_in_words,
    ability_of,
    choose,
    end_in_words,
    estimate,
    information,
)
from quizapp.assess.attempt import (
    Attempt,
    Scored,
    Selected,
    Shown,
    Started,
    Submitted,
    event_from_json,
    event_to_json,
)
from quizapp.assess.scoring import Verdict

PARAMETERS = st.builds(Parameters, st.floats(0.2, 4), st.floats(-4, 4))


def chance(question: Parameters, ability: float) -> float:
    return float(1 / (1 + math.exp(-question.discrimination * (ability - question.difficulty))))


# Where the integrand may be steep.
POINTS = [place / 2 for place in range(-16, 17)]


def integrated(given: list[tuple[Parameters, bool]]) -> Estimate:
    """The posterior's mean and deviation by adaptive quadrature."""

    def density(ability: float) -> float:
        value = float(stats.norm.pdf(ability))
        for question, right in given:
            sign = 1 if right else -1  # what is left of 1 beside a chance near 1 would be rounding
            value *= float(special.expit(sign * question.discrimination * (ability - question.difficulty)))
        return value

    def moment(weigh: object) -> float:
        return float(integrate.quad(weigh, -12, 12, points=POINTS, epsrel=1e-12, limit=400)[0])  # type: ignore[call-overload]

    total = moment(density)
    mean = moment(lambda x: x * density(x)) / total
    return Estimate(mean, math.sqrt(moment(lambda x: (x - mean) ** 2 * density(x)) / total))


def test_before_any_response_the_ability_is_the_priors() -> None:
    assert tuple(estimate([])) == pytest.approx((0, 1), abs=1e-12)


@given(st.lists(st.tuples(PARAMETERS, st.booleans()), min_size=1, max_size=12))
def test_an_ability_agrees_with_numerical_integration(given: list[tuple[Parameters, bool]]) -> None:
    assert tuple(estimate(given)) == pytest.approx(tuple(integrated(given)), abs=1e-9)


@given(PARAMETERS, st.floats(-5, 5))
def test_information_is_the_slope_of_the_chance_squared_over_its_variance(
    question: Parameters, ability: float
) -> None:
    step = 1e-5
    slope = (chance(question, ability + step) - chance(question, ability - step)) / (2 * step)
    one = chance(question, ability)
    assert information(question, ability) == pytest.approx(slope**2 / (one * (1 - one)), rel=1e-4, abs=1e-9)


def test_abilities_far_outside_overflow_nowhere() -> None:
    assert information(Parameters(10, 20), -1000) < 1e-300
    assert estimate([(Parameters(10, 20), False)] * 50).ability < 1
    assert math.isfinite(estimate([(Parameters(10, -20), False)] * 500).ability)


BANK = {f"q{number}": Parameters(1 + number % 3 / 2, number / 10 - 2) for number in range(41)}

# What seeds have meant since adaptive attempts were first released.
GOLDEN = {
    0: "q26 q35 q29 q31 q23 q38",
    1: "q23 q35 q29 q26 q25 q32",
    42: "q23 q20 q17 q22 q26 q29",
}


def asked(seed: int, count: int = 6) -> list[str]:
    """The questions that a learner gets who is right and wrong in turn."""
    chosen: list[str] = []
    for number in range(count):
        known = estimate([(BANK[each], place % 2 == 0) for place, each in enumerate(chosen)])
        found = choose(BANK, [each for each in BANK if each not in chosen], known.ability, seed, number)
        assert found is not None
        chosen.append(found)
    return chosen


def test_the_same_seed_asks_the_same_questions_everywhere() -> None:
    assert {seed: " ".join(asked(seed)) for seed in GOLDEN} == GOLDEN


def test_the_best_question_wears_out_no_faster_than_its_neighbours() -> None:
    first = Counter(asked(seed, 1)[0] for seed in range(1000))
    best = sorted(BANK, key=lambda each: (-information(BANK[each], 0), each))[:AMONG]
    assert sorted(first) == sorted(best)
    assert max(first.values()) < 1.35 * 1000 / AMONG


def test_without_a_question_left_none_comes() -> None:
    assert choose(BANK, [], 0.0, 1, 3) is None
    assert choose(BANK, ["q7"], 0.0, 1, 3) == "q7"


def test_half_the_questions_of_a_fixed_test_reach_its_standard_error() -> None:
    """Out of a bank of 200, against fixed tests of 40 of its questions."""
    draw = random.Random(20)
    bank = {
        f"q{number}": Parameters(min(3.0, draw.lognormvariate(0.2, 0.3)), draw.gauss(0, 1.2))
        for number in range(200)
    }
    lengths, fixed_errors, adaptive_misses, fixed_misses = [], [], [], []
    for learner in range(150):
        ability = draw.gauss(0, 1)
        right = {each: draw.random() < chance(bank[each], ability) for each in bank}
        fixed = estimate([(bank[each], right[each]) for each in draw.sample(sorted(bank), 40)])
        fixed_errors.append(fixed.se)
        fixed_misses.append((fixed.ability - ability) ** 2)
        given: list[tuple[Parameters, bool]] = []
        left, known = set(bank), Estimate(0, 1)
        while known.se > fixed.se and left:
            found = choose(bank, left, known.ability, learner, len(given))
            assert found is not None
            left.remove(found)
            given.append((bank[found], right[found]))
            known = estimate(given)
        lengths.append(len(given))
        adaptive_misses.append((known.ability - ability) ** 2)
    assert sum(lengths) / len(lengths) <= 20
    # And the error that is claimed is the one that is made, as far as 150 learners can tell.
    made = math.sqrt(sum(adaptive_misses) / len(adaptive_misses))
    claimed = sum(fixed_errors) / len(fixed_errors)
    assert made == pytest.approx(claimed, rel=0.25)
    assert made < 1.25 * math.sqrt(sum(fixed_misses) / len(fixed_misses))


# In an attempt.

PLAN = Plan(Rule(0.5, 3), "2pl", 500, {"a": Parameters(1, 0), "b": Parameters(1, 1), "c": Parameters(2, -1)})
STARTED = Started("bank", "A bank", "0", "ada", "adaptive", 7, (), (), None, {}, adaptive=PLAN)


def answered(attempt: Attempt, question_id: str, verdict: Verdict) -> None:
    attempt.apply(Selected(question_id, 0.0, 1.0))
    attempt.apply(Shown(question_id, 1, (), "0"))
    attempt.apply(Submitted(question_id))
    attempt.apply(Scored(question_id, verdict, 0.0, 1.0, "net-correct", None))


def test_an_attempt_has_the_questions_that_were_chosen() -> None:
    attempt = Attempt([STARTED])
    assert attempt.question_ids == ()
    answered(attempt, "b", Verdict.CORRECT)
    answered(attempt, "a", Verdict.PARTIAL)
    assert attempt.question_ids == ("b", "a")
    assert attempt.position == 1
    assert [item.question_id for item in attempt.items] == ["b", "a"]
    with pytest.raises(ValueError, match="chosen before"):
        attempt.apply(Selected("a", 0.0, 1.0))
    with pytest.raises(ValueError, match="can't be chosen"):
        attempt.apply(Selected("other", 0.0, 1.0))
    with pytest.raises(ValueError, match="not drawn"):
        attempt.apply(Shown("c", 1, (), "0"))


def test_what_is_partly_right_counts_as_it_did_in_the_calibration() -> None:
    attempt = Attempt([STARTED])
    answered(attempt, "b", Verdict.CORRECT)
    answered(attempt, "a", Verdict.PARTIAL)
    found = ability_of(attempt)
    assert found is not None
    right = [(PLAN.parameters["b"], True), (PLAN.parameters["a"], False)]
    assert (found.ability, found.se) == tuple(estimate(right))
    assert (found.answered, found.model, found.attempts, found.stopped) == (2, "2pl", 500, "")


@pytest.mark.parametrize(
    ("rule", "stopped"),
    [(Rule(0.1, 2), "length"), (Rule(0.99, 9), "standard error"), (Rule(0.1, 9), ""), (Rule(0.1, 3), "")],
)
def test_an_attempt_stops_by_its_rule(rule: Rule, stopped: str) -> None:
    attempt = Attempt([STARTED._replace(adaptive=PLAN._replace(rule=rule))])
    answered(attempt, "b", Verdict.CORRECT)
    answered(attempt, "a", Verdict.INCORRECT)
    found = ability_of(attempt)
    assert found is not None
    assert found.stopped == stopped
    assert bool(end_in_words(found)) == bool(stopped)


def test_an_attempt_stops_when_nothing_is_left() -> None:
    attempt = Attempt([STARTED._replace(adaptive=PLAN._replace(rule=Rule(0.1, 9)))])
    for each in "abc":
        answered(attempt, each, Verdict.CORRECT)
    found = ability_of(attempt)
    assert found is not None
    assert found.stopped == "pool"


def test_the_plan_and_what_was_chosen_are_stored() -> None:
    for event in (STARTED, Selected("a", 0.25, 0.75)):
        name, body = event_to_json(event)
        assert event_from_json(name, json.loads(json.dumps(body))) == event
    name, body = event_to_json(STARTED)
    for damaged in ({"rule": [1]}, {}, {"rule": [0.4, 20], "parameters": {"a": ["x", 1]}}):
        with pytest.raises(ValueError, match=r"\S"):
            event_from_json(name, {**body, "adaptive": damaged})


def test_an_ability_is_told_with_its_error() -> None:
    attempt = Attempt([STARTED])
    answered(attempt, "a", Verdict.CORRECT)
    found = ability_of(attempt)
    assert found is not None
    words = ability_in_words(found._replace(ability=0.4, se=0.5))
    assert words == "ability +0.40, standard error 0.50 (95 %: -0.58 to +1.38), by 1 question"
