"""Emulated devices for PyTorch: tensors that live on `emu:i`, and the list of everything that is replaced.

`torch.nn.DataParallel` runs unmodified on them. Its control flow, its threads and its gradients are real;
what a copy or a collective takes comes from the plan of the process's `Driver`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import torch
from torch.nn.parallel import comm
from torch.utils import backend_registration

from quizapp.lab.driver import Driver

DEVICE_TYPE = "emu"


@dataclass(frozen=True)
class Replacement:
    """One name of PyTorch that an emulated run sees changed, and why."""

    name: str
    why: str
    replacement: object = None


class EmulatedTensor(torch.Tensor):
    """A CPU tensor that says it lives on an emulated device.

    To PyTorch's C++ side it is a CPU tensor, so the autograd engine and the kernels work on it as they are;
    Python reads the emulated device. Operations on tensors of two devices are refused, as on real ones.
    """

    held: torch.Tensor
    emulated_index: int

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @staticmethod
    def __new__(cls, held: torch.Tensor, index: int) -> EmulatedTensor:
        wrapper: EmulatedTensor = torch.Tensor._make_wrapper_subclass(
            cls,
            held.size(),
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=torch.device("cpu"),
        )
        wrapper.held = held
        wrapper.emulated_index = index
        return wrapper

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return torch.device(DEVICE_TYPE, self.emulated_index)

    def get_device(self) -> int:
        return self.emulated_index

    def cpu(self, *_: Any, **__: Any) -> torch.Tensor:
        """A copy for the host, which waits until the device has got there."""
        _driver().synchronise(self.emulated_index)
        return self.held.detach()

    def tolist(self) -> Any:
        return self.cpu().tolist()

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return f"EmulatedTensor({self.held!r}, device='{self.device}')"

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        inputs: list[EmulatedTensor] = []
        inner_args = [_unwrap(value, inputs) for value in args]
        inner_kwargs = {name: _unwrap(value, inputs) for name, value in (kwargs or {}).items()}
        index = inputs[0].emulated_index
        for other in inputs:
            if other.emulated_index != index:
                raise RuntimeError(
                    "Expected all tensors to be on the same device, but found at least two devices, "
                    f"{DEVICE_TYPE}:{index} and {DEVICE_TYPE}:{other.emulated_index}!"
                )
        if func is torch.ops.aten._local_scalar_dense.default:
            _driver().synchronise(index)
        device = inner_kwargs.get("device")
        if device is not None:
            if device.type == "cpu":
                _driver().synchronise(index)
                return func(*inner_args, **inner_kwargs)
            inner_kwargs["device"] = torch.device("cpu")
        return _wrap(func(*inner_args, **inner_kwargs), index, inputs)


def _unwrap(value: Any, inputs: list[EmulatedTensor]) -> Any:
    # Written out, where torch's tree_map would do: half of a step's time went there.
    if isinstance(value, EmulatedTensor):
        inputs.append(value)
        return value.held
    if isinstance(value, (list, tuple)):
        return [_unwrap(part, inputs) for part in value]
    return value


def _wrap(result: Any, index: int, inputs: Sequence[EmulatedTensor]) -> Any:
    if isinstance(result, torch.Tensor):
        for known in inputs:  # an operation in place gives back what it was given
            if known.held is result:
                return known
        return EmulatedTensor(result, index)
    if isinstance(result, (list, tuple)):
        return type(result)([_wrap(part, index, inputs) for part in result])
    return result


# The process that drives the emulated devices. DataParallel has one, for all devices and threads.
_current: list[Driver] = []


def _driver() -> Driver:
    if not _current:
        raise RuntimeError("emulated devices are not in use")
    return _current[-1]


class _EmulatedModule(backend_registration._DummyBackendModule):
    def device_count(self) -> int:
        return len(_current[-1].devices) if _current else 0

    def is_available(self) -> bool:
        return bool(_current)

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.bfloat16]


def _empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: torch.dtype | None = None,
    device: torch.device | None = None,
    **_: Any,
) -> torch.Tensor:
    index = device.index if device is not None and device.index is not None else 0
    return EmulatedTensor(torch.empty_strided(size, stride, dtype=dtype), index)


def _empty(
    size: Sequence[int], *, dtype: torch.dtype | None = None, device: torch.device | None = None, **_: Any
) -> torch.Tensor:
    index = device.index if device is not None and device.index is not None else 0
    return EmulatedTensor(torch.empty(size, dtype=dtype), index)


def _in_backward() -> bool:
    return bool(torch._C._current_graph_task_id() != -1)


def _bytes(tensors: Sequence[torch.Tensor]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def _broadcast_coalesced(
    tensors: Sequence[EmulatedTensor], devices: Sequence[int], buffer_size: int
) -> list[list[torch.Tensor]]:
    driver = _driver()
    driver.replicate(devices)
    # From here on each replica's forward has a thread of its own, and they share one interpreter.
    driver.fork(devices, contention=len(devices))
    return [
        [
            tensor.detach() if index == tensor.emulated_index else EmulatedTensor(tensor.held.clone(), index)
            for tensor in tensors
        ]
        for index in devices
    ]


def _scatter(
    tensor: EmulatedTensor,
    devices: Sequence[int],
    chunk_sizes: Sequence[int] | None,
    dim: int,
    streams: object,
) -> tuple[torch.Tensor, ...]:
    driver = _driver()
    held = tensor.held
    parts = torch.split(held, list(chunk_sizes), dim) if chunk_sizes else held.chunk(len(devices), dim)
    for index, part in zip(devices, parts, strict=False):
        driver.copy(tensor.emulated_index, index, _bytes([part]))
    if _in_backward():
        # The engine runs the backward of each replica in the thread of its device, without the interpreter.
        driver.fork(devices, contention=1)
    return tuple(EmulatedTensor(part.clone(), index) for index, part in zip(devices, parts, strict=False))


def _gather(tensors: Sequence[EmulatedTensor], dim: int, target: int) -> torch.Tensor:
    driver = _driver()
    driver.join()
    for tensor in tensors:
        driver.copy(tensor.emulated_index, target, _bytes([tensor]))
    return EmulatedTensor(torch.cat([tensor.held for tensor in tensors], dim), target)


def _reduce_add_coalesced(
    inputs: Sequence[Sequence[EmulatedTensor]], destination: int, buffer_size: int = 0
) -> tuple[torch.Tensor, ...]:
    driver = _driver()
    driver.join()
    driver.reduce_gradients([tensors[0].emulated_index for tensors in inputs], destination)
    sums = []
    for copies in zip(*inputs, strict=True):
        total = copies[0].held.clone()
        for copy in copies[1:]:
            total += copy.held
        sums.append(EmulatedTensor(total, destination))
    return tuple(sums)


# Everything of PyTorch that an emulated run changes. A test fails on any other change.
REPLACED: tuple[Replacement, ...] = (
    Replacement(
        "torch._C._broadcast_coalesced",
        "missing from CPU builds: copies the parameters to the replicas' devices, as one NCCL broadcast",
        _broadcast_coalesced,
    ),
    Replacement(
        "torch._C._scatter",
        "missing from CPU builds: cuts a batch, or a gradient, over the devices",
        _scatter,
    ),
    Replacement(
        "torch._C._gather",
        "missing from CPU builds: brings the replicas' outputs to one device",
        _gather,
    ),
    Replacement(
        "torch.nn.parallel.comm.reduce_add_coalesced",
        "sums the replicas' gradients as one NCCL reduction; the original looks for CUDA tensors",
        _reduce_add_coalesced,
    ),
)
REGISTERED: tuple[Replacement, ...] = (
    Replacement(
        "PrivateUse1 backend 'emu'",
        "PyTorch's own entrance for devices written in Python: makes `emu:0` … `emu:N-1` known",
    ),
    Replacement(
        "aten::empty_strided, aten::empty.memory_format on 'emu'", "what `.to('emu:i')` allocates with"
    ),
    Replacement(
        "torch.__future__.set_overwrite_module_params_on_conversion(True)",
        "`module.to('emu:0')` makes new parameters: an emulated tensor can't be swapped into an old one",
    ),
)
THREADED: tuple[Replacement, ...] = (
    Replacement(
        "torch.distributed.distributed_c10d._world",
        "ranks hosted as threads: each thread has its own process groups (torch.testing has this)",
    ),
)

_OWNERS: dict[str, tuple[object, str]] = {
    "torch._C._broadcast_coalesced": (torch._C, "_broadcast_coalesced"),
    "torch._C._scatter": (torch._C, "_scatter"),
    "torch._C._gather": (torch._C, "_gather"),
    "torch.nn.parallel.comm.reduce_add_coalesced": (comm, "reduce_add_coalesced"),
}
_library: list[torch.library.Library] = []


def _register() -> None:
    """Make the device type known to PyTorch, once a process: there is no way back."""
    if _library:
        return
    backend_registration._setup_privateuseone_for_python_backend(DEVICE_TYPE, _EmulatedModule())
    library = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
    library.impl("empty_strided", _empty_strided, "PrivateUse1")  # type: ignore[no-untyped-call]
    library.impl("empty.memory_format", _empty, "PrivateUse1")  # type: ignore[no-untyped-call]
    _library.append(library)


@contextlib.contextmanager
def devices_of(driver: Driver) -> Iterator[None]:
    """Emulated devices `emu:0` … for the devices of `driver`, within the block."""
    _register()
    missing = object()
    originals = {name: getattr(owner, key, missing) for name, (owner, key) in _OWNERS.items()}
    before = torch.__future__.get_overwrite_module_params_on_conversion()
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    _current.append(driver)
    for replacement in REPLACED:
        owner, key = _OWNERS[replacement.name]
        setattr(owner, key, replacement.replacement)
    try:
        yield
    finally:
        for name, (owner, key) in _OWNERS.items():
            if originals[name] is missing:
                delattr(owner, key)
            else:
                setattr(owner, key, originals[name])
        _current.remove(driver)
        torch.__future__.set_overwrite_module_params_on_conversion(before)


@contextlib.contextmanager
def threaded_ranks() -> Iterator[None]:
    """Within the block each thread can be a rank with process groups of its own."""
    from torch.testing._internal.distributed import multi_threaded_pg

    isolate: Any = torch._C._distributed_c10d._set_thread_isolation_mode  # type: ignore[attr-defined]
    multi_threaded_pg._install_threaded_pg()  # type: ignore[no-untyped-call]
    isolate(True)
    try:
        yield
    finally:
        isolate(False)
        multi_threaded_pg._uninstall_threaded_pg()  # type: ignore[no-untyped-call]


def refuse(message: str) -> NoReturn:
    """Fail a request for memory as PyTorch's allocator does."""
    raise torch.OutOfMemoryError(f"Emulated device out of memory. {message}")
