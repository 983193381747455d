"""oom: the rank with the long batch runs out of memory; checkpointing makes the same training fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from forked_demo import run

torch = pytest.importorskip("torch", reason="needs torch")

GIB = 2**30


@pytest.mark.parametrize("devices", [1, 2, 4])
def test_the_rank_with_the_long_batch_fails_after_good_steps(devices: int) -> None:
    ran = run("oom", "fault", devices=devices)
    assert ran.status == 0
    assert ran.outcome["outcome"] == "out-of-memory"
    error = ran.outcome["error"]
    assert error["type"] == "torch.OutOfMemoryError"
    assert error["rank"] == devices // 2
    assert "Tried to allocate" in error["message"]
    assert f"Emulated GPU {devices // 2}" in error["message"]
    assert ran.outcome["steps"] == 5


def test_the_prediction_names_what_does_not_fit_and_agrees_with_the_run() -> None:
    fault, fix = (run("oom", variant) for variant in ("fault", "fix"))
    predicted = fault.outcome["memory_prediction"]
    assert not predicted["fits"]
    assert predicted["peak_bytes"] > predicted["capacity_bytes"]
    assert sum(predicted["categories"].values()) == predicted["peak_bytes"]
    assert max(predicted["categories"], key=predicted["categories"].get) == "activations"
    assert fix.outcome["memory_prediction"]["fits"]
    assert max(fix.largest_memory()) == pytest.approx(
        fix.outcome["memory_prediction"]["peak_bytes"], rel=0.05
    )


def test_a_7b_model_fails_at_once_and_no_checkpoint_helps() -> None:
    for variant in ("fault", "fix"):
        ran = run("oom", variant, params={"model": "7B"})
        assert ran.outcome["outcome"] == "out-of-memory"
        assert ran.outcome["steps"] == 0
        predicted = ran.outcome["memory_prediction"]
        assert not predicted["fits"]
    # Checkpointing leaves what the weights need, and that alone is too much.
    state = sum(predicted["categories"][name] for name in ("parameters", "gradients", "optimizer"))
    assert state > predicted["capacity_bytes"]


def test_take_the_long_batch_s_size_away_and_it_fits() -> None:
    ran = run("oom", "fault", params={"batch": 4})
    assert ran.outcome["outcome"] == "completed"
    assert ran.outcome["memory_prediction"]["fits"]


def test_checkpointing_changes_no_result(tmp_path: Path) -> None:
    ended = []
    for variant in ("fault", "fix"):
        path = tmp_path / variant
        ran = run("oom", variant, params={"batch": 4}, steps=7, parameters_to=str(path))
        assert ran.outcome["outcome"] == "completed"
        ended.append(torch.load(path))
    for without, with_checkpoints in zip(*ended, strict=True):
        assert torch.equal(without, with_checkpoints)
