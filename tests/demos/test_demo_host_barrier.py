"""host-barrier: a few ranks evaluate, and those that wait for them on the host read 0 %."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from types import SimpleNamespace

import pytest

from forked_demo import DEMOS, run
from one_process import assert_all_end_alike

torch = pytest.importorskip("torch", reason="needs torch")


@pytest.mark.parametrize("devices", [2, 4, 8])
def test_a_quarter_computes_and_the_rest_reads_zero_for_seconds_waiting_on_the_host(devices: int) -> None:
    ran = run("host-barrier", "fault", devices=devices, seed=devices)
    few = math.ceil(devices / 4)
    util = ran.mean("util")
    assert min(ran.mean("compute")[:few]) >= 0.95
    assert max(ran.mean("host_wait")[:few]) < 0.01
    for device in range(few, devices):
        assert util[device] <= 0.6
        assert ran.longest_zero_s(device) >= 1
        assert ran.mean("host_wait")[device] >= 0.9 * (1 - util[device])
        assert ran.mean("data_wait")[device] < 0.01
    assert ran.start["processes"] == devices


def test_a_barrier_that_is_reached_together_costs_nothing() -> None:
    fix = run("host-barrier", "fix", devices=4, seed=1)
    assert max(fix.mean("host_wait")) < 0.001


def test_sharing_the_evaluation_makes_the_job_faster() -> None:
    fault, fix = (run("host-barrier", variant, devices=8, steps=9) for variant in ("fault", "fix"))
    assert fix.outcome["steps_per_s"] > 1.5 * fault.outcome["steps_per_s"]


@pytest.mark.parametrize("devices", [2, 8])
def test_take_the_uneven_evaluation_away_and_the_diagnosis_goes(devices: int) -> None:
    ran = run("host-barrier", "fault", devices=devices, params={"evaluate": "all"}, steps=9, seed=3)
    assert ran.diagnosis == "healthy"


@pytest.mark.parametrize("devices", range(1, 17))
def test_the_same_samples_are_evaluated_by_few_or_by_all(devices: int) -> None:
    spec = importlib.util.spec_from_file_location("host_barrier_under_test", DEMOS / "host_barrier.py")
    assert spec is not None
    assert spec.loader is not None
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    few = math.ceil(devices / 4)
    shares = {}
    for who in ("few", "all"):
        params = SimpleNamespace(evaluate=who, held_out=192)
        shares[who] = [program.share(params, rank, devices) for rank in range(devices)]
    everything = sorted(-1 - sample for sample in range(192 * few))
    for dealt in shares.values():
        assert sorted(sample for share in dealt for sample in share) == everything
    assert [len(share) for share in shares["few"]] == [192] * few + [0] * (devices - few)
    sizes = [len(share) for share in shares["all"]]
    assert max(sizes) - min(sizes) <= 1


def test_evaluating_keeps_no_activations() -> None:
    fault = run("host-barrier", "fault", devices=4, steps=9)
    few, *rest = fault.largest_memory()
    assert set(rest) == {few}


def test_fault_and_fix_end_with_the_parameters_of_one_process(tmp_path: Path) -> None:
    every_step = {"evaluate-every": 1, "held-out": 32}
    assert_all_end_alike("host-barrier", {"fault": every_step, "fix": every_step}, tmp_path)
