"""Logical time: one clock a host process, one timeline a device. No thread, no sleep, no torch.

A device is a queue: a launch starts when the device is free and the host has got to it. A wait is the maximum
of time stamps, so a loaded machine makes a run slower, not wrong. All times are device seconds since the
start.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

DATA = "data_wait"
HOST = "host_wait"

Interval = tuple[float, float]

_ROUNDING_S = 1e-9
SHORTEST_WINDOW_S = 1e-4


class Host:
    """The clock of a process that drives devices, and what it waited for."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.waits: dict[str, list[Interval]] = {DATA: [], HOST: []}

    def run(self, seconds: float) -> None:
        """Spend time on the host itself."""
        self.now_s += seconds

    def wait_until(self, moment_s: float, reason: str) -> None:
        """Stand still until `moment_s`, if that is still to come."""
        if moment_s > self.now_s:
            self.waits[reason].append((self.now_s, moment_s))
            self.now_s = moment_s

    def fork(self) -> Host:
        """The clock of a thread that starts now."""
        clock = Host()
        clock.now_s = self.now_s
        return clock


class Device:
    """The timeline of one device: what it computed, communicated, and what its queue waited for.

    `launch_queue` is how many launched kernels it holds before the next launch blocks the host.
    """

    def __init__(self, launch_queue: float = float("inf")) -> None:
        self.launch_queue = launch_queue
        self.tail_s = 0.0
        self.compute: list[tuple[float, float, float]] = []  # start, end, share of it that is busy
        self.collectives: list[Interval] = []
        self.blocked: list[Interval] = []
        self.memory: list[tuple[float, int]] = []  # moment, bytes held from then on
        self._issued = 0.0
        self._pending: deque[tuple[float, float, float, float]] = deque()  # kernels before, after; start, end

    def launch(self, host: Host, seconds: float, kernels: int, launch_s: float) -> float:
        """Queue `kernels` kernels of `seconds` in all, each costing the host `launch_s`; returns their start.

        Where the host is the slower of the two, the device has gaps between kernels: the work is spread
        evenly over the stretch, and the gaps belong to neither wait.
        """
        start_s = max(self.tail_s, host.now_s + launch_s)
        host.run(kernels * launch_s)
        host.wait_until(self._room_at(kernels), HOST)
        end_s = max(start_s + seconds, host.now_s + seconds / kernels)
        if end_s > start_s:
            self._work(start_s, end_s, seconds / (end_s - start_s))
        self._pending.append((self._issued, self._issued + kernels, start_s, end_s))
        self._issued += kernels
        self.tail_s = end_s
        return start_s

    def wait_for(self, moment_s: float) -> None:
        """Hold the queue until `moment_s`, when another device has got to what this one needs."""
        if moment_s > self.tail_s:
            self.stand_by(self.tail_s, moment_s)
            self.tail_s = moment_s

    def stand_by(self, start_s: float, end_s: float) -> None:
        """Should the device be idle in this stretch, then because of what another device is at."""
        if self.blocked:
            start_s = max(start_s, self.blocked[-1][1])
        if end_s > start_s:
            self.blocked.append((start_s, end_s))

    def communicate(self, start_s: float, end_s: float) -> None:
        """A collective kernel is on the device from `start_s` to `end_s`; while it waits for others it
        spins.
        """
        if self.collectives and start_s - self.collectives[-1][1] < _ROUNDING_S:
            self.collectives[-1] = (self.collectives[-1][0], end_s)
        elif end_s > start_s:
            self.collectives.append((start_s, end_s))

    def hold(self, moment_s: float, held_bytes: int) -> None:
        """From `moment_s` on, `held_bytes` are allocated."""
        self.memory.append((moment_s, held_bytes))

    def _work(self, start_s: float, end_s: float, share: float) -> None:
        if self.compute:
            before_start_s, before_end_s, before_share = self.compute[-1]
            if start_s - before_end_s < _ROUNDING_S and abs(share - before_share) < _ROUNDING_S:
                self.compute[-1] = (before_start_s, end_s, share)
                return
        self.compute.append((start_s, end_s, share))

    def _room_at(self, kernels: int) -> float:
        """The moment from which the launch queue holds `kernels` more."""
        done = min(self._issued + kernels - self.launch_queue, self._issued)
        moment_s = 0.0
        while self._pending and self._pending[0][1] <= done:
            moment_s = self._pending.popleft()[3]
        if self._pending and done > self._pending[0][0]:
            before, after, start_s, end_s = self._pending[0]
            moment_s = start_s + (end_s - start_s) * (done - before) / (after - before)
        return moment_s


@dataclass
class Window:
    """What one device did from `start_s` to `end_s`: shares of it, which exclude each other, and its largest
    memory.
    """

    start_s: float
    end_s: float
    compute: float = 0.0
    collective: float = 0.0
    data_wait: float = 0.0
    host_wait: float = 0.0
    memory_bytes: int = 0


class Meter:
    """Reads a device's timeline window by window. `host` is the clock of the process that drives the
    device.
    """

    def __init__(self, device: Device, host: Host, window_s: float) -> None:
        self.device = device
        self.host = host
        self.window_s = window_s
        self._read_s = 0.0
        self._held_bytes = 0

    def close(self, until_s: float) -> list[Window]:
        """The windows that ended by `until_s` and were not read yet; nothing may be recorded before it
        later.
        """
        count = int((until_s - self._read_s) / self.window_s + _ROUNDING_S)
        return self._read([self._read_s + (index + 1) * self.window_s for index in range(count)])

    def cut(self, moment_s: float) -> list[Window]:
        """The same, and then the shorter one up to `moment_s`, from where windows are counted anew."""
        windows = self.close(moment_s)
        if moment_s - self._read_s > SHORTEST_WINDOW_S:
            windows += self._read([moment_s])
        return windows

    def _read(self, ends_s: Sequence[float]) -> list[Window]:
        windows = []
        start_s = self._read_s
        for end_s in ends_s:
            windows.append(Window(start_s, end_s))
            start_s = end_s
        if windows:
            self._phases(windows)
            self._memory(windows)
            self._read_s = start_s
        return windows

    def _phases(self, windows: Sequence[Window]) -> None:
        start_s, end_s = windows[0].start_s, windows[-1].end_s
        device, waits = self.device, self.host.waits
        series: list[Sequence[tuple[float, ...]]] = [
            device.compute,
            device.collectives,
            waits[DATA],
            waits[HOST],
            device.blocked,
        ]
        edges = {start_s, *(window.end_s for window in windows)}
        for intervals in series:
            for interval in reversed(intervals):
                if interval[1] <= start_s:
                    break
                edges.update(moment for moment in interval[:2] if start_s < moment < end_s)
        current = [_at(intervals) for intervals in series]
        ordered = sorted(edges)
        position = 0
        for left, right in pairwise(ordered):
            while windows[position].end_s <= left:
                position += 1
            window = windows[position]
            middle = (left + right) / 2
            computing, communicating, data, on_host, blocked = (find(middle) for find in current)
            length = (right - left) / (window.end_s - window.start_s)
            share = computing[2] if computing else 0.0
            window.compute += share * length
            idle = (1 - share) * length
            if communicating:
                window.collective += idle
            elif data:
                window.data_wait += idle
            elif on_host or blocked:
                window.host_wait += idle

    def _memory(self, windows: Sequence[Window]) -> None:
        events = self.device.memory
        position = 0
        for window in windows:
            window.memory_bytes = self._held_bytes
            while position < len(events) and events[position][0] < window.end_s - _ROUNDING_S:
                self._held_bytes = events[position][1]
                window.memory_bytes = max(window.memory_bytes, self._held_bytes)
                position += 1
        del events[:position]

    def forget(self) -> None:
        """Drop what lies before the windows read so far."""
        moment_s = self._read_s
        device = self.device
        device.compute = [interval for interval in device.compute if interval[1] > moment_s]
        for intervals in (device.collectives, device.blocked, *self.host.waits.values()):
            intervals[:] = [interval for interval in intervals if interval[1] > moment_s]


def _at(intervals: Sequence[tuple[float, ...]]) -> Callable[[float], tuple[float, ...] | None]:
    """A look-up for rising moments: the interval around each, if there is one."""
    position = 0

    def find(moment_s: float) -> tuple[float, ...] | None:
        nonlocal position
        while position < len(intervals) and intervals[position][1] <= moment_s:
            position += 1
        if position < len(intervals) and intervals[position][0] <= moment_s:
            return intervals[position]
        return None

    return find
