"""A process that drives devices: its clock, their timelines and memories, and what a launch costs. No
torch.
"""

from __future__ import annotations

from collections.abc import Sequence

from quizapp.lab.allocator import DeviceMemory, Refuse
from quizapp.lab.plan import Plan
from quizapp.lab.timeline import HOST, Device, Host, Meter, Window


class Driver:
    """The host clock of one process and the devices that it drives, numbered as the job numbers them."""

    def __init__(self, plan: Plan, devices: Sequence[int], window_s: float, refuse: Refuse) -> None:
        hardware = plan.hardware
        self.plan = plan
        self.host = Host()
        self.devices = {index: Device(hardware.launch_queue) for index in devices}
        self.memory = {
            index: DeviceMemory(
                f"Emulated GPU {index}", hardware.capacity_bytes, hardware.context_bytes, refuse
            )
            for index in devices
        }
        self.meters = {index: Meter(device, self.host, window_s) for index, device in self.devices.items()}
        for index in devices:
            self.hold(index, self.memory[index].used_bytes)
        self.backward_s = 0.0
        """When the last backward of the blocks could begin."""
        self._clocks: dict[int, Host] = {}
        self._contention = 1

    @property
    def first(self) -> int:
        return next(iter(self.devices))

    def clock(self, index: int) -> Host:
        """The clock of the thread that launches on device `index` now."""
        return self._clocks.get(index, self.host)

    def launch(self, index: int, seconds: float, kernels: int) -> float:
        """Queue work on a device; returns its start. Threads of one interpreter slow each other's
        launches.
        """
        launch_s = self.plan.launch_s() * self._contention
        return self.devices[index].launch(self.clock(index), seconds, kernels, launch_s)

    def synchronise(self, index: int) -> None:
        """The host waits until device `index` has done all that it was given."""
        self.clock(index).wait_until(self.devices[index].tail_s, HOST)

    def fork(self, indices: Sequence[int], *, contention: int) -> None:
        """From now on each of the devices is driven by a thread of its own, until `join`."""
        self._clocks = {index: self.host.fork() for index in indices}
        self._contention = contention

    def join(self) -> None:
        """The process waits for the threads: whose device ran dry before the last one, waits on the host."""
        if not self._clocks:
            return
        joined_s = max(clock.now_s for clock in self._clocks.values())
        for index, clock in self._clocks.items():
            self.devices[index].stand_by(clock.now_s, joined_s)
        self.host.now_s = joined_s
        self._clocks = {}
        self._contention = 1

    def collective(self, indices: Sequence[int], seconds: float) -> None:
        """A collective of this process: each device enters it when it is free, and spins until the last
        one.
        """
        self.host.run(self.plan.launch_s())
        starts = {index: max(self.devices[index].tail_s, self.host.now_s) for index in indices}
        end_s = max(starts.values()) + seconds
        for index, start_s in starts.items():
            self.devices[index].communicate(start_s, end_s)
            self.devices[index].tail_s = end_s

    def copy(self, source: int, target: int, copied_bytes: float) -> None:
        """A copy between two devices by their copy engines: no kernel runs for it."""
        if source == target:
            return
        moment_s = max(self.devices[source].tail_s, self.devices[target].tail_s, self.host.now_s)
        seconds = self.plan.copy_s(copied_bytes)
        for index in (source, target):
            self.devices[index].wait_for(moment_s + seconds)

    def replicate(self, indices: Sequence[int]) -> None:
        """DataParallel's broadcast of the parameters, from the first of the devices to all."""
        self.collective(indices, self.plan.broadcast_s(self.plan.shape.parameter_bytes))
        for index in indices[1:]:
            self.alloc(index, "parameters", self.plan.shape.parameter_bytes)

    def reduce_gradients(self, indices: Sequence[int], destination: int) -> None:
        """DataParallel's sum of the gradients into `destination`; the replicas are gone after it."""
        self.collective(indices, self.plan.reduce_s(self.plan.shape.parameter_bytes))
        for index in indices:
            if index != destination:
                self.free(index, "gradients")
                self.free(index, "parameters")

    def alloc(self, index: int, category: str, requested_bytes: float, *, pieces: int = 1) -> None:
        """Take memory on a device for `category`, in so many equal requests."""
        used = self.memory[index].used_bytes
        for _ in range(pieces):
            used = self.memory[index].alloc(category, requested_bytes / pieces)
        self.hold(index, used)

    def free(self, index: int, category: str, released_bytes: float | None = None) -> None:
        memory = self.memory[index]
        used = memory.free_all(category) if released_bytes is None else memory.free(category, released_bytes)
        self.hold(index, used)

    def hold(self, index: int, used_bytes: int) -> None:
        """Note what is used on a device from the end of its work on."""
        device = self.devices[index]
        device.hold(device.tail_s, used_bytes)

    def read_windows(self, *, cut: bool = False) -> dict[int, list[Window]]:
        """The windows that are complete, of each device: nothing can start before the host's clock any more.

        With `cut` the last one ends at that clock, however short it is.
        """
        now_s = self.host.now_s
        windows = {
            index: meter.cut(now_s) if cut else meter.close(now_s) for index, meter in self.meters.items()
        }
        for meter in self.meters.values():
            meter.forget()
        return windows
