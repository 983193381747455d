"""Runs demos: from a request to lines, and always to exactly one outcome.

The app's side of the warm parent (warm.py) and of the guard of each run (guard.py). Everything here belongs
to one asyncio loop, and nothing in it blocks or grows with what a demo prints.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Literal

from quizapp.errors import QuizappError
from quizapp.lab import nvml
from quizapp.lab.catalogue import DemoDeclaration
from quizapp.lab.protocol import (
    LONGEST_LINE_BYTES,
    VERSION,
    DemoError,
    DeviceKind,
    Line,
    Log,
    Outcome,
    Sample,
    Start,
    decode,
    log_line,
)

Device = Literal["auto", "cuda", "emulated"]
LabState = Literal["cold", "warming", "ready", "unavailable"]

KIT = "quizapp.lab.kit"
PRELOAD = ("torch", "torch._dynamo", "torch.nn.parallel", "torch.distributed", "torch.utils.data", "numpy")
TORCH_HINT = "install it with: pip install 'quizapp-lab[torch]'"
WINDOW_S = 0.1

EXIT_GRACE_S = 5.0
"""How long a demo may take to exit after its outcome line."""
END_GRACE_S = 4.0
"""How long the guard may take to end a run before its whole group is killed from here."""
LOST_PIPE_S = 2.0
MOST_WAITING_LINES = 2000
MOST_PROTOCOL_BYTES = 256 << 20
MOST_LOG_LINES = 2000
MOST_LOG_BYTES = 512 << 10
LOG_TAIL_LINES = 100
_CHUNK_BYTES = 1 << 16
_TAIL_BYTES = 1 << 14

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


class LabUnavailable(QuizappError):
    """No demo can run here, and what to do about it."""

    exit_code = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """One run: which demo and variant, on what, for how long.

    `params` holds texts as given on a command line or in a bank; `seconds` is device time (None: the demo's
    own), `speed` device seconds a wall second (None: as fast as it goes), `seed` perturbs the plan.
    """

    demo: DemoDeclaration
    variant: str = "fault"
    devices: int = 8
    device: Device = "auto"
    seconds: float | None = None
    speed: float | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None
    timeout_s: float | None = None
    force: bool = False
    """Use GPUs that others are using, too."""

    @property
    def device_s(self) -> float:
        """Device time that the run is to last."""
        return self.seconds if self.seconds is not None else self.demo.seconds

    @property
    def wall_limit_s(self) -> float:
        """When the run is given up."""
        if self.timeout_s is not None:
            return self.timeout_s
        paced = self.device_s / self.speed if self.speed else self.device_s
        return 120.0 + 4.0 * paced

    def check(self) -> dict[str, Any]:
        """Every parameter's typed value; raises QuizappError for a request that the demo doesn't allow."""
        values = self.demo.resolve(self.variant, self.params)
        problem = self.demo.check_devices(self.devices)
        if problem:
            raise QuizappError(problem)
        for name, number in (("seconds", self.seconds), ("speed", self.speed), ("timeout_s", self.timeout_s)):
            if number is not None and not 0 < number < float("inf"):
                raise QuizappError(f"{name} must be above 0")
        if self.device_s > 3600:
            raise QuizappError("seconds: a run is an hour of device time at most")
        return values


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
            self._fail(f"the lab's process ended while importing torch ({_exit_words(code)})", TORCH_HINT)
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


class Run:
    """One run of a demo. Its lines end with exactly one Outcome, whatever happens."""

    def __init__(
        self,
        request: RunRequest,
        params: dict[str, Any],
        placement: nvml.Placement,
        open_nvml: Callable[[], nvml.NvmlModule],
    ) -> None:
        self.request = request
        self.notices = placement.notices
        self.device_kind: DeviceKind = placement.kind
        self.pgid: int | None = None
        """The process group, once the guard has said so."""
        self.start_line: Start | None = None
        self._params = params
        self._placement = placement
        self._open_nvml = open_nvml
        self._loop = asyncio.get_running_loop()
        self._queue: deque[Line] = deque(Log(text=notice, source="lab") for notice in placement.notices)
        self._news = asyncio.Event()
        self._done = asyncio.Event()
        self._ending: str = ""
        self._told: Outcome | None = None
        self._result: Outcome | None = None
        self._exit: dict[str, Any] = {}
        self._fds: dict[str, int] = {}
        self._out = _Lines(LONGEST_LINE_BYTES)
        self._log = _Lines(LONGEST_LINE_BYTES)
        self._out_bytes = 0
        self._log_bytes = 0
        self._log_lines = 0
        self._tail: deque[str] = deque(maxlen=LOG_TAIL_LINES)
        self._raw_tail: bytes | None = None
        self._paused = False
        self._timers: list[asyncio.TimerHandle] = []
        self._on_end: list[Callable[[Run], None]] = []
        self._read_lines = False
        self._sampler: nvml.Sampler | None = None
        self._sampling: asyncio.Task[None] | None = None
        self._began_s = time.monotonic()

    def on_end(self, callback: Callable[[Run], None]) -> None:
        """Call `callback(run)` once no process of the run is left."""
        self._on_end.append(callback)

    @property
    def asked(self) -> Start:
        """What was asked for, as a start line: for a run that ends before it has written its own."""
        return Start(
            demo=self.request.demo.name,
            variant=self.request.variant,
            device_kind=self.device_kind,
            devices=self.request.devices,
            params=self._params,
            seed=self.request.seed,
            window_s=WINDOW_S,
        )

    @property
    def outcome(self) -> Outcome | None:
        """The outcome, once there is one."""
        return self._result

    @property
    def log_tail(self) -> list[str]:
        """The last lines of what the demo printed, at most LOG_TAIL_LINES of them."""
        lines = list(self._tail)
        if self._raw_tail is not None:
            # Its first line may have lost its beginning.
            parts = self._raw_tail.decode("utf-8", "replace").splitlines()[1:]
            lines = [log_line(part).text for part in parts][-LOG_TAIL_LINES:] or lines
        return lines

    async def lines(self) -> AsyncIterator[Line]:
        """Start, samples and log as they come, then the Outcome. Leaving early stops the run."""
        if self._read_lines:
            raise RuntimeError("a run's lines can be read once")
        self._read_lines = True
        try:
            while True:
                while self._queue:
                    line = self._queue.popleft()
                    if self._paused and len(self._queue) < MOST_WAITING_LINES // 2:
                        self._resume()
                    yield line
                    if isinstance(line, Outcome):
                        return
                self._news.clear()
                await self._news.wait()
        finally:
            self.end("stopped")

    async def stop(self) -> None:
        """End the run; returns when every process of it is gone."""
        self.end("stopped")
        await self._done.wait()

    async def wait(self) -> Outcome:
        """The outcome, for those who don't want the lines."""
        self._read_lines = True
        while self._result is None:
            self._queue.clear()
            if self._paused:
                self._resume()
            self._news.clear()
            await self._news.wait()
        await self._done.wait()
        return self._result

    def end(self, why: str) -> None:
        """Have the guard end the run; returns at once. The first reason given counts."""
        if self._done.is_set():
            return
        self._ending = self._ending or why
        control = self._fds.pop("control", None)
        if control is not None:
            os.close(control)
            self._later(END_GRACE_S, self._kill_group)

    # -- starting

    def launch(self, sock: socket.socket) -> None:
        """Have the warm parent fork this run; raises LabUnavailable when it is gone."""
        from quizapp.lab.warm import send_message

        request = self.request
        out_r, out_w = os.pipe()
        log_r, log_w = os.pipe()
        status_r, status_w = os.pipe()
        control_r, control_w = os.pipe()
        theirs = (out_w, log_w, status_w, control_r)
        self._fds = {"out": out_r, "log": log_r, "status": status_r, "control": control_w}
        spec = {
            "demo": request.demo.name,
            "variant": request.variant,
            "devices": request.devices,
            "device_kind": self._placement.kind,
            "seconds": request.device_s,
            "speed": request.speed,
            "params": self._params,
            "seed": request.seed,
            "window_s": WINDOW_S,
            "protocol": VERSION,
        }
        env = {}
        if self._placement.kind == "cuda":
            env["CUDA_VISIBLE_DEVICES"] = ",".join(self._placement.visible)
            env["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
            spec["memory_fraction"] = self._placement.memory_fraction
        message = {"path": str(request.demo.path.resolve()), "spec": spec, "env": env}
        try:
            # The socket's buffer holds many requests of this size: this doesn't block.
            sock.setblocking(True)
            send_message(sock, message, theirs)
        except OSError as error:
            for fd in self._fds.values():
                os.close(fd)
            self._fds = {}
            self._done.set()
            raise LabUnavailable("the lab's process has ended", hint="try again") from error
        finally:
            sock.setblocking(False)
            for fd in theirs:
                os.close(fd)
        for name in ("out", "log", "status"):
            os.set_blocking(self._fds[name], False)
        self._loop.add_reader(out_r, self._read_out)
        self._loop.add_reader(log_r, self._read_log)
        self._loop.add_reader(status_r, self._read_status)
        self._later(request.wall_limit_s, lambda: self.end("timed-out"))
        if self._placement.kind == "cuda":
            try:
                self._sampler = nvml.Sampler(self._open_nvml(), self._placement.indices)
            except nvml.NoGpu as error:
                self._say(Log(text=f"NVML can't be read: {error}", source="lab"))
            else:
                self._sampling = self._loop.create_task(self._sample(self._sampler))

    async def _sample(self, sampler: nvml.Sampler) -> None:
        try:
            while True:
                await asyncio.to_thread(sampler.read)
                await asyncio.sleep(nvml.PERIOD_S)
        finally:
            sampler.close()

    # -- reading

    def _read(self, name: str) -> bytes | None:
        """What has come; b"" at the end of the pipe, None when nothing has come."""
        try:
            return os.read(self._fds[name], _CHUNK_BYTES)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def _read_out(self) -> None:
        part = self._read("out")
        if part is None:
            return
        if not part:
            self._close("out")
            return
        self._out_bytes += len(part)
        for raw in self._out.feed(part):
            self._take(raw)
        if self._out_bytes > MOST_PROTOCOL_BYTES:
            self.end("flooded")
        if len(self._queue) > MOST_WAITING_LINES and not self._paused and not self._ending:
            # Whoever reads the lines is behind: the demo waits, not this process's memory.
            self._paused = True
            self._loop.remove_reader(self._fds["out"])

    def _resume(self) -> None:
        self._paused = False
        if "out" in self._fds:
            self._loop.add_reader(self._fds["out"], self._read_out)

    def _take(self, raw: bytes) -> None:
        line = decode(raw, devices=self.start_line.devices if self.start_line else None)
        if isinstance(line, Start):
            if self.start_line is not None:
                line = log_line("a second start line", source="lab")
            else:
                self.start_line = line
        elif self._told is not None:
            return  # nothing counts after the outcome
        elif isinstance(line, Outcome):
            self._told = line
            self._later(EXIT_GRACE_S, lambda: self.end("lingered"))
            return
        elif isinstance(line, Sample) and self._sampler is not None:
            line = self._sampler.fill(line)
        elif isinstance(line, Log):
            self._say(line)
            return
        self._queue.append(line)
        self._news.set()

    def _say(self, line: Log) -> None:
        if line.source == "demo":
            self._tail.append(line.text)
        self._log_lines += 1
        if self._log_lines == MOST_LOG_LINES:
            line = Log(text="the demo prints more than is shown here; its last lines are kept", source="lab")
        elif self._log_lines > MOST_LOG_LINES:
            return
        self._queue.append(line)
        self._news.set()

    def _read_log(self) -> None:
        part = self._read("log")
        if part is None:
            return
        if not part:
            self._close("log")
            return
        self._log_bytes += len(part)
        if self._log_bytes > MOST_LOG_BYTES:
            if self._raw_tail is None:
                self._raw_tail = b""
                self._log_lines = max(self._log_lines, MOST_LOG_LINES - 1)
                self._say(Log(text="", source="lab"))
            self._raw_tail = (self._raw_tail + part)[-_TAIL_BYTES:]
            return
        for raw in self._log.feed(part):
            self._say(log_line(raw[: 1 << 14].decode("utf-8", "replace")))

    def _read_status(self) -> None:
        part = self._read("status")
        if part is None:
            return
        if not part:
            self._close("status")
            return
        # The guard writes whole lines, each shorter than a pipe's atomic write.
        for raw in part.splitlines():
            with contextlib.suppress(ValueError):
                message = json.loads(raw)
                if "pid" in message:
                    self.pgid = message["pid"]
                else:
                    self._exit.update(message)

    # -- ending

    def _close(self, name: str) -> None:
        fd = self._fds.pop(name, None)
        if fd is None:
            return
        self._loop.remove_reader(fd)
        os.close(fd)
        if name == "out":
            for raw in self._out.rest():
                self._take(raw)
        elif name == "log":
            for raw in self._log.rest():
                self._say(log_line(raw[: 1 << 14].decode("utf-8", "replace")))
        elif self._paused:
            self._resume()
        if name == "status":
            self._later(LOST_PIPE_S, self._finish)
        if not {"out", "log", "status"} & set(self._fds):
            self._finish()

    def _kill_group(self) -> None:
        """The guard didn't do it: stopped, perhaps. It isn't collected while its status pipe is open."""
        if self.pgid is not None and "status" in self._fds:
            with contextlib.suppress(OSError):
                os.killpg(self.pgid, signal.SIGKILL)
        elif "status" in self._fds:
            self._close("status")

    def _finish(self) -> None:
        if self._done.is_set():
            return
        for name in list(self._fds):
            fd = self._fds.pop(name)
            if name != "control":
                self._loop.remove_reader(fd)
            os.close(fd)
        for timer in self._timers:
            timer.cancel()
        if self._sampling is not None:
            self._sampling.cancel()
        self._done.set()
        if self._sampler is not None and self.start_line is not None:
            remark = self._sampler.remark(self.start_line.processes)
            if remark:
                self._queue.append(Log(text=remark, source="lab"))
        self._result = self._judge()
        self._queue.append(self._result)
        self._news.set()
        for callback in self._on_end:
            callback(self)

    def _judge(self) -> Outcome:
        wall_s = time.monotonic() - self._began_s
        told, why = self._told, self._ending
        code, number = self._exit.get("exit"), self._exit.get("signal")
        if told is not None and (why or code == 0 or told.outcome == "out-of-memory"):
            if why == "lingered":
                text = f"the demo did not exit within {EXIT_GRACE_S:g} s of its outcome, and was ended"
                self._queue.append(Log(text=text, source="lab"))
            return replace(told, wall_s=wall_s)
        tail = tuple(self.log_tail[-20:])
        if why == "stopped":
            return Outcome(outcome="stopped", wall_s=wall_s, log_tail=tail)
        if why == "timed-out":
            error = DemoError(type="timeout", message=f"no outcome within {self.request.wall_limit_s:g} s")
            return Outcome(outcome="timed-out", error=error, wall_s=wall_s, log_tail=tail)
        if why == "flooded":
            error = DemoError(type="flood", message="the demo wrote more samples than a run can have")
        elif "failed" in self._exit:
            error = DemoError(type="start", message=str(self._exit["failed"]))
        elif code is None and number is None:
            error = DemoError(type="killed", message="the demo's processes were killed from outside")
        else:
            after = "after its outcome" if told is not None else "before its outcome"
            words = _exit_words(code if number is None else -number)
            error = DemoError(type="exit", message=f"the demo ended {after}: {words}")
        return Outcome(outcome="crashed", error=error, wall_s=wall_s, log_tail=tail)

    def _later(self, seconds: float, call: Callable[[], None]) -> None:
        if not self._done.is_set():
            self._timers.append(self._loop.call_later(seconds, call))


class _Lines:
    """Cuts a stream of bytes into lines; of a line that is too long, only the beginning is kept."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._buffer = b""
        self._skipping = False

    def feed(self, part: bytes) -> list[bytes]:
        pieces = part.split(b"\n")
        pieces[0] = self._buffer + pieces[0] if not self._skipping else pieces[0]
        self._buffer = b""
        whole, rest = pieces[:-1], pieces[-1]
        if self._skipping and whole:
            whole = whole[1:]
            self._skipping = False
        if self._skipping:
            return whole
        if len(rest) > self._longest:
            whole.append(rest)
            self._skipping = True
        else:
            self._buffer = rest
        return whole

    def rest(self) -> list[bytes]:
        last, self._buffer = self._buffer, b""
        return [last] if last else []


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


def _exit_words(code: int | None) -> str:
    if code is None:
        return "no exit code"
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
