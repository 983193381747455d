"""The lab: a parent that has imported torch, and the runs that are forked from it.

The app's side of the warm parent (warm.py). Everything here belongs to one asyncio loop, and nothing blocks.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Literal

from quizapp.errors import QuizappError
from quizapp.lab import nvml
from quizapp.lab.catalogue import DemoDeclaration
from quizapp.lab.request import LabUnavailable, RunRequest
from quizapp.lab.run import Run, exit_words

LabState = Literal["cold", "warming", "ready", "unavailable"]

KIT = "quizapp.lab.kit"
PRELOAD = ("torch", "torch._dynamo", "torch.nn.parallel", "torch.distributed", "torch.utils.data", "numpy")
TORCH_HINT = "install it with: pip install 'quizapp-lab[torch]'"
_CHUNK_BYTES = 1 << 16

# A demo sees what it needs to run, and no token, key or host name that the shell happens to hold.
PASSED_ON = (
    "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV",
    "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_HOME",
    "CUDA_PATH", "NVIDIA_VISIBLE_DEVICES", "QUIZAPP_STATE_DIR", "QUIZAPP_CACHE_DIR",
)  # fmt: skip
ALWAYS_SET = {
    "KINETO_LOG_LEVEL": "99",  # kineto writes on stderr otherwise; 5 didn't silence it, 99 does
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONUNBUFFERED": "1",
    "PYTHONWARNINGS": "ignore::DeprecationWarning",
    "TORCH_CPP_LOG_LEVEL": "ERROR",
    "NO_COLOR": "1",
    "TERM": "dumb",
}


class Lab:
    """The warm parent as the app sees it. Use it as `async with Lab() as lab`."""

    def __init__(
        self,
        *,
        kit: str = KIT,
        preload: Sequence[str] = PRELOAD,
        python: str = sys.executable,
        open_nvml: Callable[[], nvml.NvmlModule] = nvml.open_nvml,
    ) -> None:
        self.state: LabState = "cold"
        self.reason = ""
        self.torch = ""
        self.cuda: str | None = None
        self._kit = kit
        self._preload = tuple(preload)
        self._python = python
        self._open_nvml = open_nvml
        self._callbacks: list[Callable[[LabState, str], None]] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._sock: socket.socket | None = None
        self._inbox = b""
        self._warmed: asyncio.Future[None] | None = None
        self._runs: set[Run] = set()

    async def __aenter__(self) -> Lab:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def pid(self) -> int | None:
        """The warm parent's process id."""
        return self._process.pid if self._process else None

    def on_state(self, callback: Callable[[LabState, str], None]) -> Callable[[], None]:
        """Call `callback(state, reason)` at each change; the returned function ends that."""
        self._callbacks.append(callback)

        def end() -> None:
            with contextlib.suppress(ValueError):
                self._callbacks.remove(callback)

        return end

    async def warm(self) -> None:
        """Have torch imported; returns when the lab is ready, raises LabUnavailable when it can't be."""
        if self.state == "ready":
            return
        if self._warmed is None or self._warmed.done():
            self._warmed = asyncio.get_running_loop().create_future()
            # Nobody may be waiting for it any more when it fails.
            self._warmed.add_done_callback(lambda future: future.cancelled() or future.exception())
            self._spawn()
        await asyncio.shield(self._warmed)

    async def start(self, request: RunRequest) -> Run:
        """Start a run, warming first if need be; raises QuizappError when it can't be started."""
        params = request.check()
        _unchanged(request.demo)
        await self.warm()
        # NVML's calls can block, and importing its bindings takes a while.
        placement = await asyncio.to_thread(
            nvml.place,
            request.device,
            request.devices,
            lambda: nvml.inventory(self._open_nvml),
            torch_cuda=self.cuda,
            force=request.force,
        )
        if self._sock is None:
            raise LabUnavailable("the lab's process has ended", hint="try again")
        run = Run(request, params, placement, self._open_nvml)
        self._runs.add(run)
        run.on_end(self._runs.discard)
        try:
            run.launch(self._sock)
        except BaseException:
            self._runs.discard(run)
            raise
        return run

    async def close(self) -> None:
        """End every run and the warm parent."""
        await asyncio.gather(*(run.stop() for run in list(self._runs)))
        process = self._process
        self._hang_up()
        if process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(process.wait, 5 if self.state == "ready" else 0.5)
            if process.poll() is None:
                process.kill()
                await asyncio.to_thread(process.wait)
        self._process = None
        if self.state != "unavailable":
            self._set_state("cold")
        if self._warmed is not None and not self._warmed.done():
            self._warmed.set_exception(LabUnavailable("the lab was closed"))

    def _spawn(self) -> None:
        if self._preload and importlib.util.find_spec(self._preload[0].partition(".")[0]) is None:
            name = self._preload[0].partition(".")[0]
            self._fail(f"{name} is not installed, and the demos are {name} programs", TORCH_HINT)
            return
        ours, theirs = socket.socketpair()
        config = json.dumps({"kit": self._kit, "preload": self._preload})
        try:
            self._process = subprocess.Popen(
                [self._python, "-P", "-m", "quizapp.lab.warm", str(theirs.fileno()), config],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                env=demo_environment(os.environ),
            )
        except OSError as error:
            ours.close()
            self._fail(f"the lab's process can't be started: {error.strerror}", "")
            return
        finally:
            theirs.close()
        ours.setblocking(False)
        self._sock = ours
        self._inbox = b""
        self._set_state("warming")
        asyncio.get_running_loop().add_reader(ours.fileno(), self._hear)

    def _hear(self) -> None:
        if self._sock is None:
            return
        try:
            part = self._sock.recv(_CHUNK_BYTES)
        except BlockingIOError:
            return
        except ConnectionError:
            part = b""
        if not part:
            self._lost()
            return
        self._inbox += part
        size = int.from_bytes(self._inbox[:4], "big")
        if len(self._inbox) < 4 + size:
            return
        message = json.loads(self._inbox[4 : 4 + size])
        self._inbox = b""
        if message["state"] == "ready":
            self.torch, self.cuda = message["torch"], message["cuda"]
            self._set_state("ready")
            if self._warmed is not None and not self._warmed.done():
                self._warmed.set_result(None)
        else:
            missing = message.get("missing")
            text = f"{missing} is not installed" if missing else f"the demos can't run: {message['reason']}"
            self._fail(text, TORCH_HINT)

    def _lost(self) -> None:
        was = self.state
        process, self._process = self._process, None
        self._hang_up()
        code = None
        if process is not None:
            # Its end of the socket is closed: it is all but gone.
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = process.wait(1)
        if was == "warming":
            self._fail(f"the lab's process ended while importing torch ({exit_words(code)})", TORCH_HINT)
        elif was == "ready":
            self._set_state("cold", "the lab's process has ended; the next run starts it again")

    def _fail(self, message: str, hint: str) -> None:
        self._set_state("unavailable", f"{message}; {hint}" if hint else message)
        if self._warmed is not None and not self._warmed.done():
            self._warmed.set_exception(LabUnavailable(message, hint=hint))

    def _hang_up(self) -> None:
        if self._sock is not None:
            asyncio.get_running_loop().remove_reader(self._sock.fileno())
            self._sock.close()
            self._sock = None

    def _set_state(self, state: LabState, reason: str = "") -> None:
        self.state, self.reason = state, reason
        for callback in list(self._callbacks):
            callback(state, reason)


def demo_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that demos get to see."""
    passed = {name: environment[name] for name in PASSED_ON if name in environment}
    return passed | ALWAYS_SET


def _unchanged(demo: DemoDeclaration) -> None:
    import hashlib

    try:
        content = demo.path.read_bytes()
    except OSError as error:
        raise QuizappError(f"{demo.path}: can't be read: {error.strerror}") from error
    if hashlib.sha256(content).hexdigest() != demo.source_hash:
        raise QuizappError(f"{demo.path} has changed since it was listed", hint="start quizapp again")
