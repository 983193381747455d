"""straggler: low clocks on one device, full utilisation everywhere, and the shortest collective tells who."""

from __future__ import annotations

from pathlib import Path

import pytest

from forked_demo import run
from one_process import assert_all_end_alike

torch = pytest.importorskip("torch", reason="needs torch")


@pytest.mark.parametrize("devices", [2, 4, 8])
def test_all_read_full_and_the_culprit_has_the_shortest_collective(devices: int) -> None:
    ran = run("straggler", "fault", devices=devices, seed=devices)
    slow = devices // 2
    assert min(ran.mean("util")) >= 0.98
    compute, collective = ran.mean("compute"), ran.mean("collective")
    assert compute[slow] >= 0.95
    assert max(share for device, share in enumerate(compute) if device != slow) <= 0.65
    assert collective.index(min(collective)) == slow
    assert min(share for device, share in enumerate(collective) if device != slow) >= 0.3
    assert max(ran.mean("data_wait") + ran.mean("host_wait")) < 0.01


def test_utilisation_as_nvidia_smi_counts_it_does_not_tell_fault_from_fix() -> None:
    fault, fix = (run("straggler", variant, devices=4, steps=5) for variant in ("fault", "fix"))
    assert fault.mean("util") == pytest.approx(fix.mean("util"), abs=0.02)
    assert fault.outcome["steps_per_s"] < 0.6 * fix.outcome["steps_per_s"]


def test_the_longer_the_slow_device_takes_the_longer_the_others_wait() -> None:
    waits = [
        run("straggler", "fault", params={"slowdown": slowdown}, steps=4).mean("collective")[0]
        for slowdown in (1.25, 2.0, 4.0)
    ]
    assert waits == sorted(waits)
    assert waits == pytest.approx([1 - 1 / 1.25, 1 / 2, 3 / 4], abs=0.05)


@pytest.mark.parametrize("devices", [2, 8])
def test_take_the_slow_device_away_and_the_diagnosis_goes(devices: int) -> None:
    ran = run("straggler", "fault", devices=devices, params={"slowdown": 1.0}, seed=3)
    assert ran.diagnosis == "healthy"


def test_the_same_work_at_the_same_memory() -> None:
    fault, fix = (run("straggler", variant, devices=4, steps=3) for variant in ("fault", "fix"))
    assert fault.largest_memory() == fix.largest_memory()


def test_fault_and_fix_end_with_the_parameters_of_one_process(tmp_path: Path) -> None:
    assert_all_end_alike("straggler", {"fault": {}, "fix": {}}, tmp_path)
