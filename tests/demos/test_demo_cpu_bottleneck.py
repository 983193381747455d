"""cpu-bottleneck: too few workers starve all devices alike, and change nothing but the time."""

from __future__ import annotations

from pathlib import Path

import pytest

from forked_demo import run

torch = pytest.importorskip("torch", reason="needs torch")


def test_all_devices_dip_together_and_wait_for_data() -> None:
    ran = run("cpu-bottleneck", "fault", devices=4)
    assert min(ran.mean("data_wait")) >= 0.35
    assert max(ran.mean("host_wait")) < 0.01
    for sample in ran.measured:
        compute = sample["meters"]["compute"]
        assert max(compute) - min(compute) < 0.05
    assert min(ran.longest_zero_s(device) for device in range(4)) >= 0.3


def test_steps_grow_with_the_workers_until_the_devices_are_the_limit() -> None:
    rates = [
        run("cpu-bottleneck", "fault", params={"workers": workers}, steps=9).outcome["steps_per_s"]
        for workers in (1, 2, 8)
    ]
    assert rates[1] == pytest.approx(2 * rates[0], rel=0.05)
    assert rates[2] < 4 * rates[0]


def test_take_the_slow_decoding_away_and_the_diagnosis_goes() -> None:
    assert run("cpu-bottleneck", "fault", params={"decode-ms": 10.0}).diagnosis == "healthy"


def test_the_same_work_at_the_same_memory() -> None:
    fault, fix = (run("cpu-bottleneck", variant, seconds=3.0) for variant in ("fault", "fix"))
    assert fault.largest_memory() == fix.largest_memory()


def test_fault_and_fix_end_with_the_parameters_of_one_process(tmp_path: Path) -> None:
    from quizapp.lab.charge import StandIn
    from quizapp.lab.gpt import GPT
    from quizapp.lab.loader import Corpus, collate

    torch.set_num_threads(1)
    devices, batch, steps, shape = 2, 8, 3, StandIn(layers=2)
    torch.manual_seed(0)
    model = GPT(shape.layers, shape.width, shape.heads, shape.vocabulary).double()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    corpus = Corpus([2048 // shape.tokens_each], shape.vocabulary)
    for step in range(steps):
        samples = range(step * batch * devices, (step + 1) * batch * devices)
        tokens, _, _ = collate([corpus[sample] for sample in samples])
        model(tokens).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    ended = {}
    for variant in ("fault", "fix"):
        path = tmp_path / variant
        run("cpu-bottleneck", variant, devices=devices, steps=steps, parameters_to=str(path))
        ended[variant] = torch.load(path)
        for ours, theirs in zip(ended[variant], model.parameters(), strict=True):
            torch.testing.assert_close(ours, theirs.detach(), rtol=1e-8, atol=1e-10)
    for fault, fix in zip(ended["fault"], ended["fix"], strict=True):
        assert torch.equal(fault, fix)
