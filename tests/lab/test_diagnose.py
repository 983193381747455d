from __future__ import annotations

import pytest

from lab_lines import samples, steady
from quizapp.lab.diagnose import THRESHOLDS, Diagnosis, diagnose
from quizapp.lab.protocol import DemoError, Outcome

COMPLETED = Outcome(outcome="completed")


def diagnosed(
    compute: list[list[float | None]],
    data_wait: list[list[float | None]] | None = None,
    outcome: Outcome = COMPLETED,
) -> Diagnosis:
    meters = {"compute": compute} | ({} if data_wait is None else {"data_wait": data_wait})
    return diagnose(samples(meters), outcome, len(compute))


def waves(devices: int, share: float) -> list[list[float | None]]:
    return [[1.0 if i % 10 < share * 10 else 0.0 for i in range(40)] for _ in range(devices)]


def test_devices_that_all_compute_are_healthy() -> None:
    found = diagnosed(steady([0.97, 0.95, 0.97, 0.96]), steady([0.0] * 4))
    assert found.name == "healthy"
    assert "95%" in found.reason
    assert found.margin == pytest.approx(0.10)


@pytest.mark.parametrize("devices", [2, 4, 8])
def test_devices_that_differ_are_an_imbalance(devices: int) -> None:
    found = diagnosed(steady([0.98] + [0.3] * (devices - 1)), steady([0.0] * devices))
    assert found.name == "imbalance"
    assert "98%" in found.reason
    assert "30%" in found.reason


def test_all_waiting_for_data_is_input_bound() -> None:
    assert diagnosed(waves(8, 0.3), steady([0.7] * 8, 40)).name == "input-bound"


def test_the_rank_that_waits_most_for_its_loader_tells() -> None:
    assert diagnosed(steady([0.3] * 4), steady([0.05, 0.05, 0.05, 0.6])).name == "input-bound"


def test_all_low_and_steady_without_waiting_is_launch_bound() -> None:
    assert diagnosed(steady([0.16] * 8), steady([0.0] * 8)).name == "launch-bound"


def test_without_a_data_wait_meter_waves_tell_input_from_launches() -> None:
    assert diagnosed(waves(8, 0.3)).name == "input-bound"
    assert diagnosed(steady([0.16] * 8)).name == "launch-bound"
    assert diagnosed(waves(8, 0.3), steady([0.0] * 8, 40)).name == "inconclusive"


def test_out_of_memory_is_what_the_demo_reports() -> None:
    error = DemoError(type="torch.OutOfMemoryError", message="tried to allocate 10 GiB")
    found = diagnosed(steady([0.97]), outcome=Outcome(outcome="out-of-memory", error=error))
    assert found.name == "out-of-memory"
    assert "10 GiB" in found.reason


@pytest.mark.parametrize("outcome", ["crashed", "timed-out"])
def test_a_run_that_broke_is_inconclusive(outcome: str) -> None:
    ended = Outcome(outcome=outcome, error=DemoError(type="exit", message="exit code 3"))  # type: ignore[arg-type]
    found = diagnosed(steady([0.97] * 2), outcome=ended)
    assert found.name == "inconclusive"
    assert "exit code 3" in found.reason


def test_a_stopped_run_is_diagnosed_by_what_it_measured() -> None:
    assert diagnosed(steady([0.97] * 2), outcome=Outcome(outcome="stopped")).name == "healthy"


def test_too_little_measured_is_inconclusive_and_says_how_much() -> None:
    found = diagnose(samples({"compute": steady([0.97] * 2, 12)}, warmup=5), COMPLETED, 2)
    assert found.name == "inconclusive"
    assert "0.7 s were measured" in found.reason


def test_utilisation_alone_is_not_enough() -> None:
    found = diagnose(samples({"util": steady([1.0] * 2)}), COMPLETED, 2)
    assert found.name == "inconclusive"
    assert "compute share is not available" in found.reason
    partly = diagnosed(steady([0.97, None]))
    assert partly.name == "inconclusive"


@pytest.mark.parametrize("compute", [[0.7, 0.7], [0.85, 0.70], [0.62, 0.40], [0.60, 0.30]])
def test_what_no_rule_fits_is_inconclusive_with_its_shares(compute: list[float | None]) -> None:
    found = diagnosed(steady(compute), steady([0.0, 0.0]))
    assert found.name == "inconclusive"
    assert found.margin is None
    assert found.readings["most"] == pytest.approx(max(value or 0 for value in compute))


def test_the_rules_exclude_each_other() -> None:
    assert THRESHOLDS.healthy_least > THRESHOLDS.starved_most
    assert THRESHOLDS.healthy_spread < THRESHOLDS.imbalance_spread
    assert THRESHOLDS.starved_spread < THRESHOLDS.imbalance_spread
    assert THRESHOLDS.steady < THRESHOLDS.wave
