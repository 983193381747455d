"""One run of a demo, as the app sees it: lines, and always exactly one outcome.

The app's side of the guard of a run (guard.py). Nothing here blocks, or grows with what a demo prints.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

from quizapp.lab import nvml
from quizapp.lab.byte_lines import ByteLines
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
from quizapp.lab.request import LabUnavailable, RunRequest

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
        self._out = ByteLines(LONGEST_LINE_BYTES)
        self._log = ByteLines(LONGEST_LINE_BYTES)
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
            words = exit_words(code if number is None else -number)
            error = DemoError(type="exit", message=f"the demo ended {after}: {words}")
        return Outcome(outcome="crashed", error=error, wall_s=wall_s, log_tail=tail)

    def _later(self, seconds: float, call: Callable[[], None]) -> None:
        if not self._done.is_set():
            self._timers.append(self._loop.call_later(seconds, call))


def exit_words(code: int | None) -> str:
    """How a process ended, in words; a negative code is a signal."""
    if code is None:
        return "no exit code"
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
