"""What nvidia-smi shows, read in the parent: which GPUs there are, who is on them, and their meters.

A reading that a GPU or a driver doesn't offer is None, never 0. Utilisation is NVML's: the share of its last
sample period (1/6 to 1 s, by product) in which any kernel ran, so that a GPU waiting inside NCCL reads 1.0.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from quizapp.bank.text import visible
from quizapp.errors import QuizappError
from quizapp.lab.protocol import DeviceKind, Reading, Sample

PERIOD_S = 0.1
MEMORY_FRACTION = 0.9
"""Of what is free on a GPU, what a demo may allocate at most."""
OCCUPIED_BYTES = 1 << 30
"""A driver and an idle context stay below this; more is somebody's work."""
_KEPT_READINGS = 6000
_NOT_AVAILABLE = (1 << 32) - 1


class NvmlModule(Protocol):
    """The part of pynvml (nvidia-ml-py) that is used here."""

    NVMLError: type[Exception]
    NVML_CLOCK_SM: int
    NVML_DEVICE_MIG_ENABLE: int

    def nvmlInit(self) -> Any: ...
    def nvmlShutdown(self) -> Any: ...
    def nvmlSystemGetDriverVersion(self) -> Any: ...
    def nvmlSystemGetProcessName(self, pid: int) -> Any: ...
    def nvmlDeviceGetCount(self) -> Any: ...
    def nvmlDeviceGetHandleByIndex(self, index: int) -> Any: ...
    def nvmlDeviceGetName(self, handle: Any) -> Any: ...
    def nvmlDeviceGetUUID(self, handle: Any) -> Any: ...
    def nvmlDeviceGetMemoryInfo(self, handle: Any) -> Any: ...
    def nvmlDeviceGetUtilizationRates(self, handle: Any) -> Any: ...
    def nvmlDeviceGetComputeRunningProcesses(self, handle: Any) -> Any: ...
    def nvmlDeviceGetPowerUsage(self, handle: Any) -> Any: ...
    def nvmlDeviceGetClockInfo(self, handle: Any, kind: int) -> Any: ...
    def nvmlDeviceGetMigMode(self, handle: Any) -> Any: ...


class NoGpu(Exception):
    """There is no GPU to read, and why."""


class GpusOccupied(QuizappError):
    """The GPUs asked for are somebody else's at the moment."""


@dataclass(frozen=True, slots=True)
class GpuProcess:
    """A process that holds memory on a GPU; `memory_bytes` None where the driver doesn't say."""

    pid: int
    name: str
    memory_bytes: int | None

    def __str__(self) -> str:
        memory = "" if self.memory_bytes is None else f", {self.memory_bytes / 2**30:.1f} GiB"
        return f"{self.name or 'process'} ({self.pid}{memory})"


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU as NVML sees it."""

    index: int
    uuid: str
    name: str
    memory_bytes: int | None
    used_bytes: int | None
    util: float | None
    mig: bool
    visible: bool
    """Whether CUDA_VISIBLE_DEVICES lets a program see it."""
    processes: tuple[GpuProcess, ...] = ()

    @property
    def occupied(self) -> str:
        """Who is on it, in words; "" when it is free."""
        if self.processes:
            return ", ".join(str(process) for process in self.processes)
        if self.used_bytes is not None and self.used_bytes > OCCUPIED_BYTES:
            return f"{self.used_bytes / 2**30:.1f} GiB in use by processes that can't be seen from here"
        return ""


@dataclass(frozen=True, slots=True)
class GpuInventory:
    """The GPUs of this machine; `reason` says why there are none."""

    gpus: tuple[Gpu, ...] = ()
    driver: str = ""
    reason: str = ""

    @property
    def usable(self) -> tuple[Gpu, ...]:
        """Those that a demo could use: visible, and whole."""
        return tuple(gpu for gpu in self.gpus if gpu.visible and not gpu.mig)

    @property
    def free(self) -> tuple[Gpu, ...]:
        """The usable ones that nobody is on."""
        return tuple(gpu for gpu in self.usable if not gpu.occupied)


@dataclass(frozen=True, slots=True)
class Placement:
    """The devices that a run gets, and what must be said about the choice."""

    kind: DeviceKind
    indices: tuple[int, ...] = ()
    visible: tuple[str, ...] = ()
    """Values of CUDA_VISIBLE_DEVICES; UUIDs, because CUDA and NVML may count GPUs in different orders."""
    memory_fraction: float = MEMORY_FRACTION
    notices: tuple[str, ...] = ()


def open_nvml() -> NvmlModule:
    """pynvml, initialised; raises NoGpu with the reason."""
    try:
        import pynvml
    except ImportError as error:
        raise NoGpu("nvidia-ml-py is not installed (pip install 'quizapp-lab[torch]')") from error
    module: NvmlModule = pynvml
    return start_nvml(module)


def start_nvml(module: NvmlModule) -> NvmlModule:
    """`module`, initialised; raises NoGpu with the reason."""
    try:
        module.nvmlInit()
    except module.NVMLError as error:
        raise NoGpu(f"no NVIDIA driver answers ({_words(error)})") from error
    except OSError as error:
        raise NoGpu(f"the NVIDIA library can't be loaded ({error})") from error
    return module


def inventory(
    open_module: Callable[[], NvmlModule] = open_nvml, environment: Mapping[str, str] | None = None
) -> GpuInventory:
    """The GPUs of this machine and the processes on them. Never raises: without GPUs, `reason` says why."""
    try:
        module = open_module()
    except NoGpu as error:
        return GpuInventory(reason=str(error))
    try:
        return _inventory(module, os.environ if environment is None else environment)
    except module.NVMLError as error:
        return GpuInventory(reason=f"the NVIDIA driver fails ({_words(error)})")
    finally:
        _try(module, module.nvmlShutdown)


def _inventory(module: NvmlModule, environment: Mapping[str, str]) -> GpuInventory:
    driver = _text(_try(module, module.nvmlSystemGetDriverVersion))
    count = int(module.nvmlDeviceGetCount())
    if not count:
        return GpuInventory(driver=driver, reason="the NVIDIA driver knows no GPU")
    handles: dict[int, Any] = {}
    for index in range(count):
        handle = _try(module, module.nvmlDeviceGetHandleByIndex, index)
        if handle is not None:  # one that has fallen off the bus leaves a gap
            handles[index] = handle
    uuids = {
        index: _text(_try(module, module.nvmlDeviceGetUUID, handle)) for index, handle in handles.items()
    }
    seen = visible_gpus(environment.get("CUDA_VISIBLE_DEVICES"), uuids)
    gpus = tuple(
        _gpu(module, index, handle, uuids[index], index in seen) for index, handle in handles.items()
    )
    if not any(gpu.visible for gpu in gpus):
        hidden = "CUDA_VISIBLE_DEVICES hides every GPU" if gpus else "no GPU answers"
        return GpuInventory(gpus, driver, hidden)
    return GpuInventory(gpus, driver)


def _gpu(module: NvmlModule, index: int, handle: Any, uuid: str, seen: bool) -> Gpu:
    memory = _try(module, module.nvmlDeviceGetMemoryInfo, handle)
    mig = _try(module, module.nvmlDeviceGetMigMode, handle)
    listed = _try(module, module.nvmlDeviceGetComputeRunningProcesses, handle) or ()
    processes = []
    for process in listed:
        pid = int(process.pid)
        name = _text(_try(module, module.nvmlSystemGetProcessName, pid))
        processes.append(GpuProcess(pid, name.rpartition("/")[2], _count(process.usedGpuMemory)))
    return Gpu(
        index=index,
        uuid=uuid,
        name=_text(_try(module, module.nvmlDeviceGetName, handle)) or f"GPU {index}",
        memory_bytes=None if memory is None else _count(memory.total),
        used_bytes=None if memory is None else _count(memory.used),
        util=_util(module, handle),
        mig=mig is not None and mig[0] == module.NVML_DEVICE_MIG_ENABLE,
        visible=seen,
        processes=tuple(processes),
    )


def visible_gpus(setting: str | None, uuids: Mapping[int, str]) -> tuple[int, ...]:
    """The GPUs that CUDA_VISIBLE_DEVICES leaves, by CUDA's rules: the first invalid entry ends the list."""
    if setting is None:
        return tuple(uuids)
    chosen: list[int] = []
    for entry in (part.strip() for part in setting.split(",")):
        if entry.isascii() and entry.isdigit():
            matches = [int(entry)] if int(entry) in uuids else []
        elif entry.startswith("GPU-"):
            matches = [index for index, uuid in uuids.items() if uuid.startswith(entry)]
        else:  # "", -1, NoDevFiles, and slices of a GPU (MIG-…), which no demo runs on
            matches = []
        if len(matches) != 1 or matches[0] in chosen:
            break
        chosen.append(matches[0])
    return tuple(chosen)


def place(
    device: Literal["auto", "cuda", "emulated"],
    count: int,
    gpus: Callable[[], GpuInventory],
    *,
    torch_cuda: str | None,
    force: bool = False,
) -> Placement:
    """Choose the devices of a run. Emulated ones stand in wherever GPUs are missing, and it is said.

    `torch_cuda`: the CUDA version that torch was built for, None for a CPU build. Raises GpusOccupied when
    cuda was asked for and the GPUs are in use, unless forced.
    """
    if device == "emulated":
        return Placement("emulated")
    if torch_cuda is None:
        return _instead("this PyTorch is built without CUDA")
    found = gpus()
    if found.reason:
        return _instead(found.reason)
    if len(found.usable) < count:
        split = [str(gpu.index) for gpu in found.gpus if gpu.mig]
        why = f"{count} GPUs were asked for, and {len(found.usable)} can be used here"
        if split:
            why += f" (split by MIG: {', '.join(split)})"
        return _instead(why)
    if len(found.free) < count and not force:
        busy = [gpu for gpu in found.usable if gpu.occupied]
        listed = "; ".join(f"GPU {gpu.index} ({gpu.name}): {gpu.occupied}" for gpu in busy)
        why = f"{count} free GPUs are needed, {len(found.free)} are; in use: {listed}"
        if device == "cuda":
            raise GpusOccupied(
                why, hint="--force uses them all the same, --device emulated runs without any GPU"
            )
        return _instead(why)
    chosen = (*found.free, *(gpu for gpu in found.usable if gpu.occupied))[:count]
    ordered = sorted(chosen, key=lambda gpu: gpu.index)
    shares = [
        1 - gpu.used_bytes / gpu.memory_bytes
        for gpu in ordered
        if gpu.memory_bytes and gpu.used_bytes is not None
    ]
    notices = tuple(
        f"GPU {gpu.index}: {gpu.name}, {f'used although in use: {gpu.occupied}' if gpu.occupied else 'free'}"
        for gpu in ordered
    )
    return Placement(
        "cuda",
        tuple(gpu.index for gpu in ordered),
        tuple(gpu.uuid or str(gpu.index) for gpu in ordered),
        MEMORY_FRACTION * max(0.0, min(shares, default=1.0)),
        notices,
    )


def _instead(why: str) -> Placement:
    return Placement("emulated", notices=(f"emulated devices are used: {why}",))


@dataclass(frozen=True, slots=True)
class DeviceReading:
    """One GPU at one moment, in shares, bytes, watts and MHz; None for what isn't available."""

    util: float | None = None
    memory_bytes: int | None = None
    power_w: float | None = None
    clock_mhz: float | None = None
    pids: tuple[int, ...] | None = None


@dataclass
class Sampler:
    """Reads the GPUs of a run again and again, and says what a window of time looked like.

    `read` may run in a thread; `clock` is the system's monotonic clock, which the demo shares.
    """

    module: NvmlModule
    indices: tuple[int, ...]
    clock: Callable[[], float] = time.monotonic
    _readings: deque[tuple[float, tuple[DeviceReading, ...]]] = field(
        default_factory=lambda: deque(maxlen=_KEPT_READINGS)
    )
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._handles = [
            _try(self.module, self.module.nvmlDeviceGetHandleByIndex, index) for index in self.indices
        ]
        self._others = {pid for reading in self._all() for pid in reading.pids or ()}
        self._pids: set[int] = set()
        self._pids_known = False

    def read(self) -> tuple[DeviceReading, ...]:
        """Read every GPU once."""
        readings = self._all()
        with self._lock:
            self._readings.append((self.clock(), readings))
            for reading in readings:
                if reading.pids is not None:
                    self._pids_known = True
                    self._pids.update(set(reading.pids) - self._others)
        return readings

    def window(self, start_s: float, end_s: float) -> dict[str, Reading]:
        """The meters between two moments: means, and the highest memory. None where nothing was read."""
        with self._lock:
            readings = list(self._readings)
        within = [devices for at_s, devices in readings if start_s < at_s <= end_s]
        if not within:
            # A window shorter than the period: the reading before it still describes it.
            before = [devices for at_s, devices in readings if end_s - 2 * PERIOD_S <= at_s <= end_s]
            within = before[-1:]
        columns = [[devices[i] for devices in within] for i in range(len(self.indices))]
        return {
            "util": tuple(_mean([reading.util for reading in column]) for column in columns),
            "memory_bytes": tuple(_most([reading.memory_bytes for reading in column]) for column in columns),
            "power_w": tuple(_mean([reading.power_w for reading in column]) for column in columns),
            "clock_mhz": tuple(_mean([reading.clock_mhz for reading in column]) for column in columns),
        }

    def fill(self, sample: Sample) -> Sample:
        """The sample with what NVML saw in its window; what the demo itself measured of memory stays."""
        end_s = self.clock() if sample.monotonic_s is None else sample.monotonic_s
        seen = self.window(end_s - sample.window_s, end_s)
        meters = dict(sample.meters)
        for name, reading in seen.items():
            own = meters.get(name, (None,) * len(reading))
            keeps_own = name == "memory_bytes"
            pairs = [
                (mine, theirs) if keeps_own else (theirs, mine)
                for mine, theirs in zip(own, reading, strict=True)
            ]
            meters[name] = tuple(first if first is not None else second for first, second in pairs)
        return replace(sample, meters=meters)

    def remark(self, processes: int | None) -> str:
        """What is odd about the processes on these GPUs, against what the demo says; "" when nothing is."""
        seen = len(self._pids)
        if not self._pids_known or not seen or processes is None or seen == processes:
            return ""
        return f"NVML saw {seen} processes of this run on the GPUs, the demo speaks of {processes}"

    def close(self) -> None:
        """Give NVML back."""
        _try(self.module, self.module.nvmlShutdown)

    def _all(self) -> tuple[DeviceReading, ...]:
        return tuple(self._one(handle) for handle in self._handles)

    def _one(self, handle: Any) -> DeviceReading:
        module = self.module
        if handle is None:
            return DeviceReading()
        memory = _try(module, module.nvmlDeviceGetMemoryInfo, handle)
        power_mw = _count(_try(module, module.nvmlDeviceGetPowerUsage, handle))
        clock_mhz = _count(_try(module, module.nvmlDeviceGetClockInfo, handle, module.NVML_CLOCK_SM))
        listed = _try(module, module.nvmlDeviceGetComputeRunningProcesses, handle)
        return DeviceReading(
            util=_util(module, handle),
            memory_bytes=None if memory is None else _count(memory.used),
            power_w=None if power_mw is None else power_mw / 1000,
            clock_mhz=None if clock_mhz is None else float(clock_mhz),
            pids=None if listed is None else tuple(int(process.pid) for process in listed),
        )


def _util(module: NvmlModule, handle: Any) -> float | None:
    rates = _try(module, module.nvmlDeviceGetUtilizationRates, handle)
    percent = None if rates is None else _count(rates.gpu)
    return None if percent is None or percent > 100 else percent / 100


def _try(module: NvmlModule, call: Callable[..., Any], *arguments: Any) -> Any:
    """What NVML answers; None where it says that it can't: not supported, no permission, GPU lost."""
    try:
        return call(*arguments)
    except module.NVMLError:
        return None


def _count(value: Any) -> int | None:
    """A reading as a number; None for NVML's several ways to say N/A."""
    if value is None or isinstance(value, str):
        return None
    number = int(value)
    return None if number < 0 or number == _NOT_AVAILABLE or number >= (1 << 63) else number


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _most(values: list[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)


def _text(value: Any) -> str:
    if isinstance(value, bytes):  # older bindings
        value = value.decode("utf-8", "replace")
    return visible(value)[:200] if isinstance(value, str) else ""


def _words(error: Exception) -> str:
    return visible(str(error))[:200] or type(error).__name__
