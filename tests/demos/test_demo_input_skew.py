"""input-skew: a few ranks spin in the all-reduce, and the starved ones at 0 % hold the job up."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from forked_demo import run
from one_process import assert_all_end_alike

torch = pytest.importorskip("torch", reason="needs torch")


@pytest.mark.parametrize("devices", [2, 4, 8])
def test_a_quarter_spins_and_the_rest_reads_zero_for_seconds_waiting_for_data(devices: int) -> None:
    ran = run("input-skew", "fault", devices=devices, seed=devices)
    fed = math.ceil(devices / 4)
    util = ran.mean("util")
    assert min(util[:fed]) >= 0.95
    assert max(util[fed:]) <= 0.4
    assert min(ran.mean("collective")[:fed]) >= 0.6
    assert max(ran.mean("data_wait")[:fed]) < 0.01
    for device in range(fed, devices):
        assert ran.longest_zero_s(device) >= 1
        assert ran.mean("data_wait")[device] >= 0.9 * (1 - util[device])
    # Those that read 100 % do no more than those that read next to nothing.
    compute = ran.mean("compute")
    assert max(compute) - min(compute) < 0.01
    assert ran.start["processes"] == devices


def test_the_job_is_as_fast_as_its_slowest_loader() -> None:
    rates = [
        run("input-skew", "fault", params={"slow-decode-ms": slow}, steps=4).outcome["steps_per_s"]
        for slow in (400.0, 200.0)
    ]
    assert rates[1] == pytest.approx(2 * rates[0], rel=0.02)


@pytest.mark.parametrize("devices", [2, 8])
def test_take_the_slow_storage_away_and_the_diagnosis_goes(devices: int) -> None:
    ran = run("input-skew", "fault", devices=devices, params={"slow-decode-ms": 10.0}, steps=6, seed=3)
    assert ran.diagnosis == "healthy"


def test_the_same_work_at_the_same_memory() -> None:
    fault, fix = (run("input-skew", variant, devices=4, steps=3) for variant in ("fault", "fix"))
    assert fault.largest_memory() == fix.largest_memory()


def test_fault_and_fix_end_with_the_parameters_of_one_process(tmp_path: Path) -> None:
    assert_all_end_alike("input-skew", {"fault": {}, "fix": {}}, tmp_path)
