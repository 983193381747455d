"""dp-sync: one process on all devices, uneven sequences, and what DDP does and doesn't change about it."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from types import ModuleType

import pytest

from forked_demo import DEMOS, run

torch = pytest.importorskip("torch", reason="needs torch")

CELLS = [("dp", "uneven"), ("dp", "even"), ("ddp", "uneven"), ("ddp", "even")]


@pytest.fixture(scope="module")
def program() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dp_sync_under_test", DEMOS / "dp_sync.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("devices", [2, 4, 8])
def test_a_quarter_stays_busy_and_the_rest_reads_zero_for_seconds_waiting_on_the_host(devices: int) -> None:
    ran = run("dp-sync", "fault", devices=devices, seed=devices)
    long_ones = math.ceil(devices / 4)
    util = ran.mean("util")
    assert min(util[:long_ones]) >= 0.95
    assert max(util[long_ones:]) <= 0.3
    for device in range(long_ones, devices):
        assert ran.longest_zero_s(device) >= 1
        idle = 1 - util[device]
        assert ran.mean("host_wait")[device] >= 0.9 * idle
        assert ran.mean("data_wait")[device] < 0.01


def test_one_process_is_on_all_devices_and_the_first_holds_the_most_memory() -> None:
    ran = run("dp-sync", "fault", devices=4)
    assert ran.start["processes"] == 1
    assert len({pid for pids in ran.start["pids"] for pid in pids}) == 1
    memory = ran.largest_memory()
    assert memory[0] > max(memory[1:]) * 1.1


def test_fed_evenly_the_first_device_alone_is_privileged() -> None:
    ran = run("dp-sync", "fault", devices=8, params={"split": "even"}, steps=4)
    compute, memory = ran.mean("compute"), ran.largest_memory()
    assert compute[0] > max(compute[1:]) + 0.02
    assert max(compute[1:]) - min(compute[1:]) < 0.01
    assert memory[0] > max(memory[1:]) + 5 * 2**30
    assert ran.mean("host_wait")[0] < 0.01 < min(ran.mean("host_wait")[1:])


def test_ddp_fed_unevenly_is_busy_everywhere_and_computes_on_a_few() -> None:
    ran = run("dp-sync", "fix", devices=4, params={"split": "uneven"})
    assert min(ran.mean("util")) >= 0.99
    assert ran.mean("compute")[0] >= 0.9
    assert max(ran.mean("compute")[1:]) <= 0.1
    assert ran.start["processes"] == 4
    assert ran.diagnosis == "imbalance"


def test_going_over_to_ddp_alone_gains_nothing_while_the_split_is_uneven() -> None:
    steps_per_s = {
        cell: run(
            "dp-sync", "fault", devices=4, steps=3, params={"parallel": cell[0], "split": cell[1]}
        ).outcome["steps_per_s"]
        for cell in CELLS
    }
    assert steps_per_s["ddp", "uneven"] == pytest.approx(steps_per_s["dp", "uneven"], rel=0.05)
    assert steps_per_s["dp", "even"] > 1.5 * steps_per_s["dp", "uneven"]
    assert steps_per_s["ddp", "even"] > steps_per_s["dp", "even"]


@pytest.mark.parametrize("devices", [2, 4, 8])
@pytest.mark.parametrize(("parallel", "split"), CELLS)
def test_take_the_uneven_split_away_and_the_diagnosis_goes(parallel: str, split: str, devices: int) -> None:
    ran = run(
        "dp-sync", "fault", devices=devices, steps=5, seed=7, params={"parallel": parallel, "split": split}
    )
    assert ran.diagnosis == ("imbalance" if split == "uneven" else "healthy")
    assert ran.outcome["steps_per_s"] == pytest.approx(ran.outcome["expected"]["steps_per_s"], rel=0.05)
    assert ran.mean("compute") == pytest.approx(ran.outcome["expected"]["compute"], rel=0.05)


@pytest.mark.parametrize("devices", range(1, 17))
def test_the_same_samples_are_dealt_unevenly_or_evenly(program: ModuleType, devices: int) -> None:
    lengths = program.sample_lengths(24, devices)
    tokens = {}
    for split in ("uneven", "even"):
        hands = program.deal(split, devices)
        assert sorted(sample for hand in hands for sample in hand) == list(range(len(lengths)))
        tokens[split] = [sum(lengths[sample] for sample in hand) for hand in hands]
    assert len(set(tokens["even"])) == 1
    if devices > 1:
        busiest = max(tokens["uneven"])
        assert tokens["uneven"].count(busiest) == math.ceil(devices / 4)
        assert busiest > 20 * min(tokens["uneven"])


@pytest.mark.parametrize("devices", [3, 4])
def test_all_four_cells_train_as_one_process_does(program: ModuleType, tmp_path: Path, devices: int) -> None:
    steps = 3
    reference = single_process(program, devices, steps)
    for parallel, split in CELLS:
        path = tmp_path / f"{parallel}-{split}"
        run(
            "dp-sync",
            "fault",
            devices=devices,
            steps=steps,
            params={"parallel": parallel, "split": split},
            parameters_to=str(path),
        )
        for ours, theirs in zip(torch.load(path), reference, strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-8, atol=1e-10)


def single_process(program: ModuleType, devices: int, steps: int) -> list[object]:
    """The same steps on the same samples without any parallelism."""
    from quizapp.lab.charge import StandIn
    from quizapp.lab.gpt import GPT
    from quizapp.lab.loader import Corpus, collate

    torch.set_num_threads(1)
    shape = StandIn(layers=1)
    torch.manual_seed(0)
    model = GPT(shape.layers, shape.width, shape.heads, shape.vocabulary).double()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    lengths = program.sample_lengths(program.DEMO["params"]["long-ratio"]["default"], devices)
    corpus = Corpus([round(length / shape.tokens_each) for length in lengths], shape.vocabulary)
    batch = len(lengths)
    for step in range(steps):
        tokens, sequence_lengths, _ = collate([corpus[step * batch + i] for i in range(batch)])
        model(tokens, sequence_lengths).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    return [parameter.detach() for parameter in model.parameters()]
