"""Ranks: started, heard, and ended, whatever becomes of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from forked_demo import ENGINE, run

torch = pytest.importorskip("torch", reason="needs torch")

# Each case runs in a process of its own: ranks are forked from one without other threads.
PRELUDE = """
import json, os, signal, sys, threading, time
import torch
torch.set_num_threads(1)
import torch.distributed as dist
from quizapp.lab import ranks

def listen(body, count, hosting, beside=None, until=("error", "ended")):
    heard = []
    with ranks.started(body, count, hosting, beside=beside) as running:
        for message in running.messages(lambda: None):
            heard.append(message)
            if message["kind"] in until:
                break
        pids = running.pids
    left = [pid for pid in pids if os.path.exists(f"/proc/{pid}")]
    print(json.dumps({"heard": heard, "left": left, "folder": running.rendezvous.exists()}))
"""


def listen(code: str) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + code],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ENGINE)},
        check=True,
    )
    heard: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return heard


SUM = """
def body(rank, send):
    value = torch.tensor([float(rank)])
    dist.all_reduce(value)
    if rank == 1:
        send({"kind": "sum", "value": value.item(), "ranks": dist.get_world_size()})
"""


@pytest.mark.parametrize("hosting", ["processes", "threads"])
def test_ranks_reduce_over_all_of_them_as_processes_and_as_threads(hosting: str) -> None:
    heard = listen(SUM + f"listen(body, 3, {hosting!r}, until=['sum'])")
    assert {"rank": 1, "kind": "sum", "value": 3.0, "ranks": 3} in heard["heard"]
    assert heard["left"] == []
    assert not heard["folder"]


def test_an_error_is_told_and_the_others_are_ended_with_it() -> None:
    code = """
def body(rank, send):
    if rank == 1:
        raise torch.OutOfMemoryError("Tried to allocate 2.00 GiB.")
    dist.barrier()
"""
    heard = listen(code + "listen(body, 3, 'processes')")
    assert heard["heard"][-1] == {
        "rank": 1,
        "kind": "error",
        "out_of_memory": True,
        "type": "torch.OutOfMemoryError",
        "message": "Tried to allocate 2.00 GiB.",
    }
    assert heard["left"] == []


def test_a_killed_rank_is_noticed_at_once_and_the_others_are_ended() -> None:
    code = """
def body(rank, send):
    if rank == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    dist.barrier()
"""
    heard = listen(code + "listen(body, 3, 'processes')")
    assert heard["heard"] == [{"kind": "ended", "process": 2}]
    assert heard["left"] == []


def test_work_beside_the_ranks_is_told_too() -> None:
    heard = listen("listen(lambda rank, send: time.sleep(60), 1, 'alone', beside=lambda: {'answer': 42})")
    assert heard["heard"][0] == {"kind": "beside", "result": {"answer": 42}}
    assert heard["left"] == []


def test_ranks_as_threads_and_as_processes_train_alike(tmp_path: Path) -> None:
    """The same program, hosted both ways: the same samples and, bit for bit, the same parameters."""
    source = (ENGINE.parent / "demos" / "tiny_model.py").read_text()
    assert 'hosting="threads"' in source
    program = tmp_path / "tiny_model.py"
    program.write_text(source.replace('hosting="threads"', 'hosting="processes"'))
    threads = run("tiny-model", steps=5, parameters_to=str(tmp_path / "threads"))
    processes = run("tiny-model", steps=5, path=program, parameters_to=str(tmp_path / "processes"))
    assert threads.samples == processes.samples
    for ours, theirs in zip(
        torch.load(tmp_path / "threads"), torch.load(tmp_path / "processes"), strict=True
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=0)
