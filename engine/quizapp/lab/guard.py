"""The process that owns one run: it starts the demo, and leaves nothing of it behind.

It is forked from the warm parent, leads the run's session, and holds the read end of a control pipe whose
only write end is in the app. Whatever ends the app (a stop, Ctrl-C, SIGKILL) closes that pipe, and the guard
then ends every process of the run. It is a process and no thread of the demo, because a demo can hang with
the interpreter's lock held.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

GRACE_S = 0.5
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PROC = Path("/proc")
_SHM = Path("/dev/shm")  # noqa: S108  where POSIX shared memory shows as files


def prctl(option: int, value: int) -> None:
    """Linux's prctl; nothing elsewhere."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def adopt_orphans() -> None:
    """Make this process the parent of descendants that lose theirs, so that they can still be found."""
    prctl(_PR_SET_CHILD_SUBREAPER, 1)


def descendants(of: int) -> list[int]:
    """Every process below `of`, zombies left out. Empty where there is no /proc."""
    parents: dict[int, list[int]] = {}
    try:
        entries = os.listdir(_PROC)
    except OSError:
        return []
    for entry in entries:
        if not entry.isdigit():
            continue
        try:
            # The name in parentheses may hold anything, a closing parenthesis too.
            state, parent = (_PROC / entry / "stat").read_bytes().rpartition(b")")[2].split()[:2]
        except (OSError, ValueError):
            continue
        if state not in (b"Z", b"X"):
            parents.setdefault(int(parent), []).append(int(entry))
    found: list[int] = []
    todo = [of]
    while todo:
        children = parents.get(todo.pop(), [])
        found += children
        todo += children
    return found


def watch(
    control: int, status: int, workdir: str, demo: Callable[[], int], *, close: tuple[int, ...]
) -> NoReturn:
    """Run `demo` in a process of its own until it ends or `control` closes, then end all that is left.

    `status` gets one JSON object a line: {"pid"} of the group, {"exit"} or {"signal"} of the demo, or
    {"failed": why} when it could not be started.
    `workdir` is the demo's, and goes with it. `close`: descriptors that only the demo may hold.
    """
    # Whatever happens here, this fork must not run on as a second warm parent.
    try:
        _watch(control, status, workdir, demo, close)
    except OSError as error:
        _tell(status, {"failed": f"the run could not be set up: {error}"})
    finally:
        os._exit(0)


def _watch(control: int, status: int, workdir: str, demo: Callable[[], int], close: tuple[int, ...]) -> None:
    os.setsid()
    adopt_orphans()
    shared_before = _shared_files()
    woken, wake = os.pipe()
    for fd in (woken, wake):
        os.set_blocking(fd, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    _tell(status, {"pid": os.getpid()})
    guard = os.getpid()
    main = os.fork()
    if main == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for fd in (control, status, woken, wake):
            os.close(fd)
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != guard:
            os._exit(1)
        os.chdir(workdir)
        os.environ["TMPDIR"] = workdir
        tempfile.tempdir = None
        code = 1
        try:
            code = demo()
        finally:
            os._exit(code & 0xFF)
    # From here on a signal to the group must not take the guard before it has done its work.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for fd in close:
        os.close(fd)
    ended = False
    while not ended:
        readable, _, _ = select.select([control, woken], [], [])
        if woken in readable:
            ended = _reap(woken, main, status)
        if control in readable and not os.read(control, 64):
            break
    held = _shared_held([guard, *descendants(guard)]) | _shared_named(main)
    _end_descendants(guard, woken, main, status)
    for path in (held | _shared_named(main)) - shared_before:
        with contextlib.suppress(OSError):
            path.unlink()
    shutil.rmtree(workdir, ignore_errors=True)


def _reap(woken: int, main: int, status: int) -> bool:
    """Collect what has ended; True when the demo's main process is among it."""
    with contextlib.suppress(BlockingIOError):
        os.read(woken, 4096)
    ended = False
    while True:
        try:
            pid, code = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        if pid == main:
            ended = True
            if os.WIFSIGNALED(code):
                _tell(status, {"signal": os.WTERMSIG(code)})
            else:
                _tell(status, {"exit": os.WEXITSTATUS(code)})


def _end_descendants(guard: int, woken: int, main: int, status: int) -> None:
    if not _PROC.joinpath("self").exists():
        # Without /proc there is no list of descendants: the whole group goes, this process with it.
        with contextlib.suppress(OSError):
            os.killpg(0, signal.SIGKILL)
    left = descendants(guard)
    for pid in left:
        _signal(pid, signal.SIGTERM)
        _signal(pid, signal.SIGCONT)
    deadline = time.monotonic() + GRACE_S
    while left and time.monotonic() < deadline:
        select.select([woken], [], [], 0.02)
        _reap(woken, main, status)
        left = descendants(guard)
    for _ in range(500):  # a demo may fork faster than it is found
        if not left:
            break
        for pid in left:
            _signal(pid, signal.SIGKILL)
        select.select([woken], [], [], 0.02)
        _reap(woken, main, status)
        left = descendants(guard)
    _reap(woken, main, status)


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, number)


def _tell(status: int, message: dict[str, int | str]) -> None:
    with contextlib.suppress(OSError):
        os.write(status, json.dumps(message).encode() + b"\n")


def _shared_files() -> set[Path]:
    try:
        return set(_SHM.iterdir())
    except OSError:
        return set()


def _shared_named(pid: int) -> set[Path]:
    """Shared memory that carries a process id in its name, as torch's does."""
    return {path for path in _shared_files() if f"_{pid}_" in path.name}


def _shared_held(pids: list[int]) -> set[Path]:
    """Shared memory that these processes have open or mapped."""
    held = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in (_PROC / str(pid) / "maps").read_text(errors="replace").splitlines():
                _, _, name = line.partition(str(_SHM) + "/")
                if name:
                    held.add(_SHM / name)
        with contextlib.suppress(OSError):
            for link in (_PROC / str(pid) / "fd").iterdir():
                with contextlib.suppress(OSError):
                    target = Path(os.readlink(link))
                    if target.parent == _SHM:
                        held.add(target)
    return held
