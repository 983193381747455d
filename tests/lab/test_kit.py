"""The kit: what a demo is given, and what of its run reaches the parent."""

from __future__ import annotations

from pathlib import Path

import pytest

from forked_demo import run
from quizapp.lab import closed_form
from quizapp.lab.plan import Plan
from quizapp.lab.protocol import Outcome, Sample, Start, decode
from quizapp.lab.shape import SIZES

PROGRAM = '''
"""A demo."""
import os, signal, sys, time
import torch
from torch.nn.parallel import DistributedDataParallel
from quizapp.lab import kit

DEMO = {"seconds": 1.0, "params": {"batch-size": {"type": "int", "default": 2, "fix": 4}}}

def main(lab):
    lab.launch(train, ranks=lab.devices, plan=lab.plan("760M"), sequences=2, length=2048, layers=1)

def train(rank):
    model = DistributedDataParallel(rank.gpt().to(rank.device), bucket_cap_mb=rank.bucket_cap_mb)
    optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
    rank.watch(model, optimizer)
    loader = rank.loader(rank.corpus([2048]), batch_size=rank.params.batch_size)
    for tokens, _, _ in rank.steps(loader):
        loss = model(tokens).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        rank.finish_step(loss)
        # HERE
'''


@pytest.fixture
def program(tmp_path: Path):
    def write(here: str = "pass") -> Path:
        path = tmp_path / "some_demo.py"
        path.write_text(PROGRAM.replace("# HERE", here))
        return path

    return write


def test_every_line_is_one_of_the_protocol_in_its_order(program) -> None:
    import json

    ran = run("some-demo", path=program(), devices=3)
    lines = [decode(json.dumps(line), devices=3) for line in ran.lines]
    assert isinstance(lines[0], Start)
    assert isinstance(lines[-1], Outcome)
    assert all(isinstance(line, Sample) for line in lines[1:-1])
    assert ran.status == 0


def test_the_start_says_what_runs_on_what(program) -> None:
    start = run("some-demo", "fix", path=program(), devices=3, seed=5).start
    assert start["device_kind"] == "emulated"
    assert "no GPU was used" in start["notice"]
    assert start["params"] == {"batch-size": 4}
    assert start["processes"] == 3
    assert start["pids"] == [[0], [1], [2]]
    assert start["seed"] == 5
    assert all(entry["from"] for entry in start["plan"].values())


def test_a_parameter_given_wins_over_the_variant_s(program) -> None:
    assert run("some-demo", "fix", path=program(), params={"batch-size": 3}).start["params"] == {
        "batch-size": 3
    }


def test_the_warm_up_is_the_first_step_exactly(program) -> None:
    ran = run("some-demo", path=program())
    ends = [sample["t_s"] for sample in ran.samples if sample["warmup"]]
    step_s = 1 / ran.outcome["steps_per_s"]
    assert ends[-1] == pytest.approx(step_s, rel=0.05)
    assert ran.measured[0]["t_s"] - ran.measured[0]["window_s"] == pytest.approx(ends[-1], abs=1e-5)
    assert ran.measured[-1]["t_s"] == pytest.approx(ran.outcome["device_s"], abs=1e-5)


def test_an_exception_in_the_loop_is_a_crash_with_its_traceback_in_the_log(program) -> None:
    ran = run("some-demo", path=program("if rank.index: raise ValueError('wrong shape')"))
    assert ran.status == 1
    assert "ValueError: wrong shape" in ran.log
    assert not [line for line in ran.lines if line["type"] == "outcome"]


def test_a_killed_rank_is_a_crash_and_no_rank_is_left(program) -> None:
    ran = run(
        "some-demo", path=program("print(os.getpid(), flush=True); rank.index and os.kill(os.getpid(), 9)")
    )
    assert ran.status == 1
    assert not [line for line in ran.lines if line["type"] == "outcome"]
    for pid in {int(word) for word in ran.log.split() if word.isdigit()}:
        assert not Path(f"/proc/{pid}").exists()


def test_what_a_demo_prints_is_no_line_of_the_protocol(program) -> None:
    ran = run("some-demo", path=program("""print('{"v": 1, "type": "sample"}', flush=True)"""))
    assert ran.outcome["outcome"] == "completed"
    assert '"type": "sample"' in ran.log
    assert all("meters" in sample for sample in ran.samples)


def test_a_paced_run_takes_its_device_time_divided_by_the_speed(program) -> None:
    ran = run("some-demo", path=program(), speed=2.0, seconds=1.0)
    assert ran.outcome["wall_s"] >= 0.9 * ran.outcome["device_s"] / 2
    assert ran.samples == run("some-demo", path=program(), seconds=1.0).samples


def test_launches_of_threads_that_share_an_interpreter_slow_each_other() -> None:
    from quizapp.lab.driver import Driver

    def refuse(message: str):
        raise MemoryError(message)

    driver = Driver(Plan.of(SIZES["tiny"], 4), range(4), 0.1, refuse)
    driver.fork(range(4), contention=4)
    for index in range(4):
        driver.launch(index, 0.001, 10)
    assert driver.clock(0).now_s == pytest.approx(40 * driver.plan.launch_s())
    driver.launch(0, 0.001, 100)
    driver.join()
    assert driver.host.now_s == pytest.approx(440 * driver.plan.launch_s())
    assert driver.devices[1].blocked  # it ran dry while the process still launched for another


def test_the_closed_form_of_a_starved_loop_is_its_decoding() -> None:
    plan = Plan.of(SIZES["760M"], 4)
    expected = closed_form.even_ranks(plan, 8, 2048, decode_s=0.5, workers=2)(10)
    assert expected["steps_per_s"] == pytest.approx(0.5)
    fed = closed_form.even_ranks(plan, 8, 2048, decode_s=0.5, workers=1000)(10)
    assert min(fed["compute"]) > 0.95
