"""Plays NVML: GPUs with given readings, each of which can fail as the real library does."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any


class NVMLError(Exception):
    pass


@dataclass
class FakeGpu:
    name: Any = "NVIDIA H200"
    uuid: Any = ""
    total: Any = 140 << 30
    used: Any = 0
    util: Any = 0
    power_mw: Any = 90_000
    clock_mhz: Any = 1500
    processes: list[tuple[int, Any]] = field(default_factory=list)
    mig: Any = 0
    refuses: set[str] = field(default_factory=set)
    """Names of what it doesn't support."""


class FakeNvml:
    """Takes the place of the pynvml module."""

    NVMLError = NVMLError
    NVML_CLOCK_SM = 1
    NVML_DEVICE_MIG_ENABLE = 1

    def __init__(self, gpus: list[FakeGpu], *, init_error: Exception | None = None) -> None:
        self.gpus = gpus
        for index, gpu in enumerate(gpus):
            gpu.uuid = gpu.uuid or f"GPU-{index:08x}"
        self.init_error = init_error
        self.fails: set[str] = set()
        self.open = 0

    def nvmlInit(self) -> None:
        if self.init_error is not None:
            raise self.init_error
        self.open += 1

    def nvmlShutdown(self) -> None:
        self.open -= 1

    def nvmlSystemGetDriverVersion(self) -> Any:
        self._check("driver")
        return b"570.1"

    def nvmlSystemGetProcessName(self, pid: int) -> Any:
        self._check("process_name")
        return "/usr/bin/python3\x1b"

    def nvmlDeviceGetCount(self) -> int:
        self._check("count")
        return len(self.gpus)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> FakeGpu:
        gpu = self.gpus[index]
        return self._of(gpu, "handle", gpu)

    def nvmlDeviceGetName(self, gpu: FakeGpu) -> Any:
        return self._of(gpu, "name", gpu.name)

    def nvmlDeviceGetUUID(self, gpu: FakeGpu) -> Any:
        return self._of(gpu, "uuid", gpu.uuid)

    def nvmlDeviceGetMemoryInfo(self, gpu: FakeGpu) -> Any:
        return self._of(gpu, "memory", SimpleNamespace(total=gpu.total, used=gpu.used))

    def nvmlDeviceGetUtilizationRates(self, gpu: FakeGpu) -> Any:
        return self._of(gpu, "util", SimpleNamespace(gpu=gpu.util, memory=0))

    def nvmlDeviceGetComputeRunningProcesses(self, gpu: FakeGpu) -> Any:
        listed = [SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in gpu.processes]
        return self._of(gpu, "processes", listed)

    def nvmlDeviceGetPowerUsage(self, gpu: FakeGpu) -> Any:
        return self._of(gpu, "power", gpu.power_mw)

    def nvmlDeviceGetClockInfo(self, gpu: FakeGpu, kind: int) -> Any:
        return self._of(gpu, "clock", gpu.clock_mhz)

    def nvmlDeviceGetMigMode(self, gpu: FakeGpu) -> Any:
        return self._of(gpu, "mig", [gpu.mig, gpu.mig])

    def _of(self, gpu: FakeGpu, what: str, value: Any) -> Any:
        if what in gpu.refuses:
            raise NVMLError("Not Supported")
        return value

    def _check(self, what: str) -> None:
        if what in self.fails:
            raise NVMLError("Unknown Error")
