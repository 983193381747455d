"""Planned durations: named, explained, and perturbed name by name."""

from __future__ import annotations

import pytest

from quizapp.lab.plan import PERTURBATION, Plan
from quizapp.lab.shape import SIZES

PLAN = Plan.of(SIZES["760M"], 4)


def test_every_duration_says_how_it_came_about() -> None:
    for entry in PLAN.described(8, 2048, decode_s=0.1).values():
        assert float(entry["seconds"]) > 0
        assert str(entry["from"])


def test_a_perturbation_scales_each_named_duration_within_its_bounds_and_apart_from_the_others() -> None:
    factors = {}
    for seed in range(200):
        perturbed = PLAN.perturbed(seed)
        for name in PLAN.described(8, 2048):
            factor = perturbed.factor(name)
            assert 1 - PERTURBATION <= factor <= 1 + PERTURBATION
            factors.setdefault(name, []).append(factor)
    for values in factors.values():
        assert min(values) < 0.75
        assert max(values) > 1.25
    assert len({tuple(values) for values in factors.values()}) == len(factors)


def test_a_seed_always_gives_the_same_durations_and_none_gives_the_plan() -> None:
    assert PLAN.perturbed(3).described(8, 2048) == PLAN.perturbed(3).described(8, 2048)
    assert PLAN.perturbed(3).optimizer_s() != PLAN.perturbed(4).optimizer_s()
    assert PLAN.perturbed(3).perturbed(None).described(8, 2048) == PLAN.described(8, 2048)


def test_the_described_seconds_are_those_that_a_run_is_charged() -> None:
    plan = PLAN.perturbed(11)
    described = plan.described(8, 2048, decode_s=0.1)
    layers = plan.shape.layers
    assert described["block-forward"]["seconds"] == pytest.approx(layers * plan.block_forward_s(8, 2048))
    assert described["optimizer"]["seconds"] == plan.optimizer_s()
    assert described["decode"]["seconds"] == plan.decode_s(0.1)
