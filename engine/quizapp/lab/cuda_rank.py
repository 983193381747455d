"""What a training loop is given on real GPUs: the same names as `EmulatedRank`, on CUDA devices.

Never run on a GPU so far: no machine with several was at hand. What could be run without one is tested:
`kernels` and `timeline` on made-up kernels, and the parent's half (NVML, windows, fallbacks) on a fake NVML.

The model has the stated size. Kernels come from torch.profiler; what nvidia-smi shows is sampled by the
parent.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch._C._autograd import DeviceType
from torch.utils.data import Sampler

from quizapp.lab import loader, throttle
from quizapp.lab.gpt import GPT, Block
from quizapp.lab.kernels import Kernel, phases
from quizapp.lab.loader import Batch, Corpus
from quizapp.lab.rank import Job, Send, digest, window_rows
from quizapp.lab.timeline import DATA, HOST, Device, Host, Meter

HEAD_WIDTH = 64
DDP_BUCKET_MIB = 25
REPORT_S = 0.5
WARMUP_STEPS = 2


class CudaRank:
    """One process of a job on GPUs. It drives one, or, alone, all of them."""

    kind = "cuda"

    def __init__(self, job: Job, index: int, send: Send) -> None:
        self.job = job
        self.index = index
        self.ranks = job.ranks
        self.params = job.params
        self.send = send
        self.model: nn.Module | None = None
        self.loss = float("nan")
        self.ends_s: list[float] = []
        self.host = Host()
        self.driven = list(range(job.devices)) if job.alone else [index]
        self.timelines = {device: Device() for device in self.driven}
        self.meters = {
            device: Meter(timeline, self.host, job.window_s) for device, timeline in self.timelines.items()
        }
        self._workers = 0
        self._steps = job.steps
        self._sent_windows = 0
        self._warm = False
        self._profiler: torch.profiler.profile | None = None
        self._profiled_s = 0.0
        self._on_hosts: dist.ProcessGroup | None = None

    @property
    def devices(self) -> int:
        """How many devices the job has."""
        return self.job.devices

    @property
    def device(self) -> torch.device:
        """Where this rank's model and batches go."""
        return torch.device("cuda", self.driven[0])

    @property
    def device_ids(self) -> list[int] | None:
        """What DistributedDataParallel is to be given as `device_ids`."""
        return [self.driven[0]]

    @property
    def bucket_cap_mb(self) -> float:
        """Size of DDP's buckets in MiB: its default."""
        return DDP_BUCKET_MIB

    def gpt(self) -> GPT:
        """The model of the stated size, the same on every rank."""
        torch.manual_seed(0)
        shape = self.job.plan.shape
        return GPT(
            shape.layers,
            shape.width,
            shape.width // HEAD_WIDTH,
            shape.vocabulary,
            checkpointing=self.job.checkpointing,
        )

    def corpus(self, lengths: Sequence[int], *, decode_s: float = 0.0) -> Corpus:
        """Sequences of the given numbers of tokens, again and again; decoding one takes that long for
        real.
        """
        return Corpus(list(lengths), self.job.plan.shape.vocabulary, decode_s, really=True)

    def loader(
        self,
        dataset: Corpus,
        *,
        batch_size: int | None = None,
        sampler: Sampler[int] | None = None,
        batch_sampler: Iterable[Sequence[int]] | None = None,
        workers: int = 0,
    ) -> Iterable[Any]:
        """A DataLoader over `dataset`, with a sampler of single samples or of batches."""
        return loader.make_loader(
            dataset,
            batch_size=batch_size,
            sampler=sampler,
            batch_sampler=batch_sampler,
            real_workers=workers,
        )

    def watch(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Measure this model from here on; the optimizer needs no hook on real devices."""
        self.model = model

    def throttle(self, slowdown: float) -> None:
        """From here on this rank's device is slower by that factor; call it after `watch`. Setting clocks
        takes root, so each block's kernels are run again for nothing.
        """
        for block in self.model.modules() if self.model is not None else ():
            if isinstance(block, Block):
                throttle.slow_down(block, slowdown)

    def barrier(self) -> None:
        """Wait until every rank is here: over gloo, on the host, so that no kernel runs meanwhile."""
        if self.ranks == 1:
            return
        if self._on_hosts is None:
            self._on_hosts = dist.new_group(backend="gloo")
        began_s = self._now_s()
        dist.barrier(self._on_hosts)
        self.host.waits[HOST].append((began_s, self._now_s()))

    def read(self, value: Tensor) -> float:
        """A number that the device works out: the host waits until it is there."""
        began_s = self._now_s()
        number = float(value.item())
        self.host.waits[HOST].append((began_s, self._now_s()))
        return number

    def steps(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The batches, on this rank's device, until the run's time is over."""
        iterator = iter(batches)
        self._profile()
        while self._steps is None or len(self.ends_s) < self._steps:
            began_s = self._now_s()
            batch = next(iterator, None)
            if batch is None:
                return
            self.host.waits[DATA].append((began_s, self._now_s()))
            tokens = batch.tokens.to(self.device, non_blocking=True)
            yield Batch(tokens, batch.lengths.to(self.device), batch.decode_s)

    def finish_step(self, loss: Tensor) -> None:
        """Read the loss, as one does for the log. Then report now and then."""
        self.loss = self.read(loss)
        now_s = self._now_s()
        self.ends_s.append(now_s)
        for device, timeline in self.timelines.items():
            timeline.hold(now_s, torch.cuda.max_memory_allocated(device) + self._context_bytes(device))
            torch.cuda.reset_peak_memory_stats(device)
        if len(self.ends_s) == WARMUP_STEPS and self._steps is None:
            self._steps = self._agreed_steps(self.ends_s[-1] - self.ends_s[-2])
        warm = len(self.ends_s) >= WARMUP_STEPS
        if now_s - self._profiled_s >= REPORT_S or (warm and not self._warm):
            self.report(cut=warm and not self._warm)
            self._warm = warm

    def report(self, *, cut: bool = False) -> None:
        """Read the profiler, send the windows that are complete, and profile on."""
        self._read_profiler()
        now_s = self.ends_s[-1] if self.ends_s else self._now_s()
        read = {
            device: meter.cut(now_s) if cut else meter.close(now_s) for device, meter in self.meters.items()
        }
        message = window_rows(read, self._sent_windows, self.ends_s, warmup=not self._warm)
        if message is not None:
            self._sent_windows += len(message["spans"])
            self.send(message)
        for meter in self.meters.values():
            meter.forget()
        self._profile()

    def summary(self) -> dict[str, Any]:
        """What the outcome needs of this rank: when its steps ended, its last loss and its parameters'
        digest.
        """
        return {
            "ends_s": self.ends_s[WARMUP_STEPS - 1 :],
            "device_s": self.ends_s[-1] if self.ends_s else 0.0,
            "loss": self.loss if math.isfinite(self.loss) else None,
            "parameters_digest": digest(self.parameters()),
        }

    def parameters(self) -> list[Tensor]:
        """The parameters of this rank's model."""
        return [p.detach() for p in self.model.parameters()] if self.model is not None else []

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Within the block this rank's devices are its own, up to the share of memory that the lab allows."""
        for device in self.driven:
            torch.cuda.set_per_process_memory_fraction(self.job.memory_fraction, device)
        torch.cuda.set_device(self.driven[0])
        try:
            yield
        finally:
            if self._profiler is not None:
                self._profiler.stop()

    def _now_s(self) -> float:
        # The profiler stamps kernels with the system's clock.
        return time.time() - self.job.zero_s

    def _agreed_steps(self, step_s: float) -> int:
        """As many steps as fill the run's time, by the slowest rank's count: all ranks must stop at the
        same.
        """
        slowest = torch.tensor(step_s, device=self.device)
        if self.ranks > 1:
            dist.all_reduce(slowest, dist.ReduceOp.MAX)
        return WARMUP_STEPS + max(1, round(self.job.seconds / slowest.item()))

    def _context_bytes(self, device: int) -> int:
        """What the device has in use beyond this process's allocator: contexts, libraries, other
        processes.
        """
        free, total = torch.cuda.mem_get_info(device)
        return max(0, total - free - torch.cuda.memory_reserved(device))

    def _profile(self) -> None:
        self._profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA])
        self._profiler.start()
        self._profiled_s = self._now_s()

    def _read_profiler(self) -> None:
        if self._profiler is None:
            return
        self._profiler.stop()
        results = getattr(self._profiler.profiler, "kineto_results", None)
        self._profiler = None
        kernels = []
        for event in results.events() if results is not None else ():
            if event.device_type() == DeviceType.CUDA and not event.name().startswith(("Memcpy", "Memset")):
                start_s = event.start_ns() / 1e9 - self.job.zero_s
                end_s = start_s + event.duration_ns() / 1e9
                kernels.append(Kernel(event.name(), event.device_index(), start_s, end_s))
        for device, timeline in self.timelines.items():
            # A process numbers its devices by itself; alone or not, it sees all of the job's.
            compute, collective = phases(kernels, device)
            timeline.compute += [(start_s, end_s, 1.0) for start_s, end_s in compute]
            timeline.collectives += collective
