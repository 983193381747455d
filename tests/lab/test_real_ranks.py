"""Runs of shipped demos that are ended in the middle: ranks, loader workers, sockets of real PyTorch."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import psutil
import pytest

from quizapp.content import content_dir
from quizapp.lab.catalogue import Catalogue
from quizapp.lab.protocol import Outcome, Sample
from quizapp.lab.request import RunRequest
from run_processes import assert_gone, group, no_shared_memory_left
from torch_lab import TorchLab


@pytest.fixture(autouse=True)
def _nothing_left_in_shared_memory() -> Iterator[None]:
    with no_shared_memory_left():
        yield


def healthy() -> RunRequest:
    """Real time, so that it is certainly still running when its first sample is seen."""
    demo = Catalogue.load([content_dir("demos")])["healthy"]
    return RunRequest(demo=demo, variant="fix", devices=4, device="emulated", seconds=60, speed=1)


def family(pgid: int) -> list[psutil.Process]:
    guard = psutil.Process(pgid)
    return [guard, *guard.children(recursive=True)]


@pytest.mark.parametrize("how", ["stop", "rank", "demo", "stopped rank"])
def test_however_a_run_is_ended_no_rank_and_no_worker_is_left(torch_lab: TorchLab, how: str) -> None:
    async def end_in_the_middle() -> tuple[Outcome, list[psutil.Process]]:
        run = await torch_lab.lab.start(healthy())
        processes: list[psutil.Process] = []
        async for line in run.lines():
            if isinstance(line, Sample) and not processes:
                assert run.pgid is not None
                processes = family(run.pgid)
                main = psutil.Process(run.pgid).children()[0]
                ranks = main.children()
                assert len(ranks) >= 4
                if how == "stop":
                    run.end("stopped")
                elif how == "demo":
                    os.kill(main.pid, signal.SIGKILL)
                elif how == "rank":
                    os.kill(ranks[-1].pid, signal.SIGKILL)
                else:
                    os.kill(ranks[-1].pid, signal.SIGSTOP)
                    run.end("stopped")
            if isinstance(line, Outcome):
                return line, processes
        raise AssertionError("no outcome")

    outcome, processes = torch_lab.do(end_in_the_middle())
    assert outcome.outcome == ("stopped" if how.startswith("stop") else "crashed")
    assert len(processes) > 5
    assert_gone(processes)
    assert group(processes[0].pid) == []
