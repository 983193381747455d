"""The warm parent: imports torch once and forks a process for each run.

`python -m quizapp.lab.warm FD CONFIG`: FD is a stream socket to the app, CONFIG is JSON. When the imports are
done it says {"state": "ready"} or {"state": "unavailable", "reason"}; then each message of the app is a
request, whose descriptors come along: protocol, log, status (to write), control (to read).

It runs no operation of torch: a parent that has run one with two OpenMP threads makes its forks hang.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import importlib
import importlib.util
import json
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from quizapp.lab import guard

HEADER_BYTES = 4
LONGEST_MESSAGE_BYTES = 1 << 20
LAST_GUARDS_S = 3.0


def send_message(sock: socket.socket, message: Mapping[str, object], fds: tuple[int, ...] = ()) -> None:
    """Send a JSON object, with descriptors."""
    body = json.dumps(message).encode()
    head = len(body).to_bytes(HEADER_BYTES, "big")
    if fds:
        socket.send_fds(sock, [head], list(fds))
    else:
        sock.sendall(head)
    sock.sendall(body)


def receive_message(sock: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """The next message and its descriptors; None when the other side is gone."""
    try:
        head, fds, _, _ = socket.recv_fds(sock, HEADER_BYTES, 8)
        while len(head) < HEADER_BYTES:
            part = sock.recv(HEADER_BYTES - len(head)) if head else b""
            if not part:
                return None
            head += part
        left = int.from_bytes(head, "big")
        if left > LONGEST_MESSAGE_BYTES:
            return None
        body = b""
        while left:
            part = sock.recv(left)
            if not part:
                return None
            body += part
            left -= len(part)
    except ConnectionError:
        return None
    message = json.loads(body)
    return message, fds


def main(argv: list[str]) -> None:
    """Import, then serve until the app is gone."""
    sock = socket.socket(fileno=int(argv[0]))
    config: dict[str, Any] = json.loads(argv[1])
    imported = threading.Event()
    watcher = threading.Thread(target=_exit_when_gone, args=(sock, imported), daemon=True)
    watcher.start()
    try:
        kit, versions = _import(config)
    except Exception as error:
        reason = "".join(traceback.format_exception_only(error)).strip()
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        with contextlib.suppress(OSError):
            send_message(sock, {"state": "unavailable", "reason": reason[:2000], "missing": missing})
        return
    finally:
        imported.set()
        # A fork copies the forking thread only: the watcher must be gone before the first one.
        watcher.join()
    gc.collect()
    gc.freeze()
    with contextlib.suppress(OSError):
        send_message(sock, {"state": "ready", **versions})
        _serve(sock, kit)


def _exit_when_gone(sock: socket.socket, imported: threading.Event) -> None:
    """The import takes seconds, and the app may be killed during it."""
    while not imported.is_set():
        readable, _, _ = select.select([sock], [], [], 0.05)
        if readable:
            # The app sends nothing before it is told "ready": readable means closed.
            os._exit(1)


def _import(config: dict[str, Any]) -> tuple[ModuleType, dict[str, object]]:
    versions: dict[str, object] = {"torch": "", "cuda": None}
    for name in config["preload"]:
        module = importlib.import_module(name)
        if name == "torch":
            module.set_num_threads(1)
            versions = {"torch": str(module.__version__), "cuda": module.version.cuda}
    kit = str(config["kit"])
    if not kit.endswith(".py"):
        return importlib.import_module(kit), versions
    spec = importlib.util.spec_from_file_location("quizapp_lab_kit", kit)
    if spec is None or spec.loader is None:
        raise ImportError(f"can't load {kit}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, versions


def _serve(sock: socket.socket, kit: ModuleType) -> None:
    guard.adopt_orphans()
    woken, wake = os.pipe()
    for fd in (woken, wake):
        os.set_blocking(fd, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    guards: dict[int, str] = {}
    while True:
        readable, _, _ = select.select([sock.fileno(), woken], [], [])
        if woken in readable:
            _reap(woken, guards)
        if sock.fileno() not in readable:
            continue
        received = receive_message(sock)
        if received is None:
            break
        request, fds = received
        out, log, status, control = fds
        pid, workdir = -1, ""
        try:
            workdir = tempfile.mkdtemp(prefix="quizapp-demo-")
            pid = os.fork()
        except OSError as error:
            failed = {"failed": f"the run can't be set up: {error}"}
            with contextlib.suppress(OSError):
                os.write(status, json.dumps(failed).encode() + b"\n")
        if pid == 0:
            try:
                sock.close()
                os.close(woken)
                signal.set_wakeup_fd(-1)
                os.close(wake)
                guard.watch(control, status, workdir, _demo(kit, request, out, log), close=(out, log))
            finally:
                os._exit(1)  # whatever happens here, there must be no second warm parent
        if pid > 0:
            guards[pid] = workdir
        for fd in fds:
            os.close(fd)
    # The guards end by themselves, as their control pipes are closed too.
    deadline = time.monotonic() + LAST_GUARDS_S
    while guards and time.monotonic() < deadline:
        select.select([woken], [], [], 0.1)
        _reap(woken, guards)


def _reap(woken: int, guards: dict[int, str]) -> None:
    with contextlib.suppress(BlockingIOError):
        os.read(woken, 4096)
    while True:
        try:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        if ended is None:
            return
        pid = ended.si_pid
        if pid in guards:
            # A killed guard may have left its group. While it is a zombie, its id can't be another group's.
            with contextlib.suppress(OSError):
                os.killpg(pid, signal.SIGKILL)
            shutil.rmtree(guards.pop(pid), ignore_errors=True)
        os.waitpid(pid, 0)
        if ended.si_code != os.CLD_EXITED:
            for orphan in guard.descendants(os.getpid()):
                if orphan not in guards and not any(orphan in guard.descendants(g) for g in guards):
                    with contextlib.suppress(OSError):
                        os.kill(orphan, signal.SIGKILL)


def _demo(kit: ModuleType, request: dict[str, Any], out: int, log: int) -> Callable[[], int]:
    def run() -> int:
        devnull = os.open(os.devnull, os.O_RDONLY)
        os.dup2(devnull, 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)
        os.close(devnull)
        _no_core_dumps()
        faulthandler.enable(file=2)
        os.environ.update(request.get("env", {}))
        path = Path(request["path"])
        sys.argv = [str(path)]
        try:
            return int(kit.run_demo(path, request["spec"], out))
        except SystemExit as error:
            if error.code is None or isinstance(error.code, int):
                return error.code or 0
            print(error.code, file=sys.stderr)
            return 1
        except BaseException:
            traceback.print_exc()
            return 1
        finally:
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(OSError, ValueError):
                    stream.flush()

    return run


def _no_core_dumps() -> None:
    import resource

    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _run() -> NoReturn:
    main(sys.argv[1:])
    os._exit(0)  # torch's own exit takes seconds, and there is nothing to tidy up


if __name__ == "__main__":
    _run()
