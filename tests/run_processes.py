"""What is left of a run: its processes and its shared memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from quizapp.lab.guard import _shared_held

SHM = Path("/dev/shm")


def group(pgid: int) -> list[psutil.Process]:
    """The living processes of a process group."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) == pgid and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


def assert_gone(processes: Iterable[psutil.Process], within_s: float = 20) -> None:
    """Wait for the processes to end; fail with those that don't."""
    _, alive = psutil.wait_procs(list(processes), timeout=within_s)
    assert [p for p in alive if p.is_running() and p.status() != psutil.STATUS_ZOMBIE] == []


@contextmanager
def no_shared_memory_left() -> Iterator[None]:
    """Fail when shared memory has been added that no process holds."""
    before = set(SHM.iterdir()) if SHM.is_dir() else set()
    yield
    new = (set(SHM.iterdir()) if SHM.is_dir() else set()) - before
    if new:  # other programs of this machine may have made it, and still use it
        new -= _shared_held([int(entry) for entry in os.listdir("/proc") if entry.isdigit()])
    assert new == set()
