"""Starts the ranks of a job and reads what they send: forked processes that speak gloo, or threads.

The ranks are forked from a process that has torch imported, runs it on one thread, and has no other thread.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Literal

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import FileStore, HashStore

from quizapp.lab import emulated, guard

Hosting = Literal["alone", "processes", "threads"]
Message = dict[str, Any]
Send = Callable[[Message], None]
Body = Callable[[int, Send], None]
"""Runs rank number `int` to its end, and sends what it has to tell."""

COLLECTIVE_TIMEOUT_S = 120
_PR_SET_PDEATHSIG = 1


@dataclass
class Ranks:
    """The running ranks. `messages` yields what they send, each with its rank; leaving the block ends
    them.
    """

    pipes: list[int]
    pids: list[int]
    rendezvous: Path

    def messages(self, due: Callable[[], float | None]) -> Iterator[Message | None]:
        """Each message as it comes, until all pipes are closed; None when `due` seconds went by without
        one.
        """
        with selectors.DefaultSelector() as selector:
            rest = dict.fromkeys(self.pipes, b"")
            for pipe in self.pipes:
                selector.register(pipe, selectors.EVENT_READ)
            while selector.get_map():
                ready = selector.select(due())
                if not ready:
                    yield None
                for key, _ in ready:
                    pipe = key.fd
                    part = os.read(pipe, 1 << 16)
                    if not part:
                        selector.unregister(pipe)
                        yield {"kind": "ended", "process": self.pipes.index(pipe)}
                        continue
                    *lines, rest[pipe] = (rest[pipe] + part).split(b"\n")
                    for line in lines:
                        yield json.loads(line)

    def end(self) -> None:
        """End every rank that still runs."""
        # All at once: a rank that outlives another has time to complain of it in the log.
        for pid in self.pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in self.pids:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
        for pipe in self.pipes:
            os.close(pipe)
        shutil.rmtree(self.rendezvous, ignore_errors=True)


@contextlib.contextmanager
def started(
    body: Body,
    ranks: int,
    hosting: Hosting,
    *,
    backend: str = "gloo",
    beside: Callable[[], Any] | None = None,
) -> Iterator[Ranks]:
    """Start `ranks` ranks, each running `body`; they are ended when the block is left.

    `beside` runs in a process of its own; what it returns comes as a message too.
    """
    rendezvous = Path(tempfile.mkdtemp(prefix="quizapp-ranks-"))
    running = Ranks([], [], rendezvous)
    try:
        if hosting == "processes":
            for rank in range(ranks):
                _fork(running, partial(_with_group, body, rank, ranks, backend, rendezvous))
        elif hosting == "threads":
            _fork(running, partial(_threads, body, ranks))
        else:
            _fork(running, partial(_guarded, body, 0))
        if beside is not None:
            _fork(running, partial(_tell, beside))
        yield running
    finally:
        running.end()


def _fork(running: Ranks, run: Callable[[Send], None]) -> None:
    read_end, write_end = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        os.close(write_end)
        running.pipes.append(read_end)
        running.pids.append(pid)
        return
    status = 1
    try:
        guard.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        for pipe in [*running.pipes, read_end]:
            os.close(pipe)
        # Renews torch's thread pool while this is the only thread: two threads doing so at once fail in a
        # fork.
        torch.set_num_threads(1)
        lock = threading.Lock()

        def send(message: Message) -> None:
            line = memoryview(json.dumps(message, separators=(",", ":")).encode() + b"\n")
            with lock:
                while line:
                    line = line[os.write(write_end, line) :]

        run(send)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        # torch's own exit takes seconds, and there is nothing to tidy up.
        os._exit(status)


def _tell(work: Callable[[], Any], send: Send) -> None:
    send({"kind": "beside", "result": work()})


def _with_group(body: Body, rank: int, ranks: int, backend: str, rendezvous: Path, send: Send) -> None:
    if Path("/sys/class/net/lo").exists():
        # Otherwise gloo looks for the interface of the host's name, which need not resolve.
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    store = FileStore(str(rendezvous / "store"), ranks)
    if backend == "nccl":
        torch.cuda.set_device(rank)
    dist.init_process_group(
        backend, store=store, rank=rank, world_size=ranks, timeout=timedelta(seconds=COLLECTIVE_TIMEOUT_S)
    )
    _guarded(body, rank, send)


def _threads(body: Body, ranks: int, send: Send) -> None:
    store = HashStore()

    def run(rank: int) -> None:
        dist.init_process_group("threaded", rank=rank, world_size=ranks, store=store)
        _guarded(body, rank, send)

    with emulated.threaded_ranks():
        threads = [threading.Thread(target=run, args=(rank,), daemon=True) for rank in range(ranks)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def _guarded(body: Body, rank: int, send: Send) -> None:
    """Run a rank; what ends it early is a message too."""

    def tell(message: Message) -> None:
        send({"rank": rank, **message})

    try:
        body(rank, tell)
    except torch.OutOfMemoryError as error:
        tell(
            {"kind": "error", "out_of_memory": True, "type": "torch.OutOfMemoryError", "message": str(error)}
        )
        # The others wait for this rank in a collective: the lab ends them.
        time.sleep(COLLECTIVE_TIMEOUT_S)
    except Exception as error:
        traceback.print_exc()
        tell({"kind": "error", "out_of_memory": False, "type": type(error).__name__, "message": str(error)})
        time.sleep(COLLECTIVE_TIMEOUT_S)
