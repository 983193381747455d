"""What a training loop is given on emulated devices: its rank of the job."""

from __future__ import annotations

import contextlib
import hashlib
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import Sampler

from quizapp.lab import emulated, loader
from quizapp.lab.charge import Charges, StandIn
from quizapp.lab.driver import Driver
from quizapp.lab.exchange import GradientExchange
from quizapp.lab.gpt import GPT
from quizapp.lab.loader import Batch, Corpus
from quizapp.lab.plan import Plan
from quizapp.lab.timeline import HOST, Window

# Ranks that are threads share one random generator.
_SEEDED = threading.Lock()

Send = Callable[[dict[str, Any]], None]
DIGEST_DECIMALS = 5
BUCKET_MIB = 0.02
# How far, in device seconds, a paced run may be ahead of what is shown.
LEAD_S = 2.0


@dataclass(frozen=True)
class Job:
    """What all ranks of a run share."""

    plan: Plan
    devices: int
    ranks: int
    alone: bool
    """One process drives all devices."""
    params: SimpleNamespace
    seconds: float
    steps: int | None
    window_s: float
    speed: float | None
    stand_in: StandIn
    checkpointing: bool
    memory_fraction: float = 1.0
    """Of a real GPU's memory, what this job may allocate."""
    zero_s: float = 0.0
    """The system's clock at the start, on real GPUs."""
    parameters_to: str | None = None
    """A file for the parameters at the end."""


class EmulatedRank:
    """One process of a job on emulated devices. It drives one device, or, as the only rank, all of them."""

    kind = "emulated"

    def __init__(self, job: Job, index: int, send: Send) -> None:
        self.job = job
        self.index = index
        self.ranks = job.ranks
        self.params = job.params
        self.send = send
        devices = range(job.devices) if job.alone else [index]
        self.driver = Driver(job.plan, list(devices), job.window_s, emulated.refuse)
        self.charges = Charges(self.driver, job.stand_in, checkpointing=job.checkpointing)
        self.exchange: GradientExchange | None = None
        self.model: nn.Module | None = None
        self.loss = float("nan")
        self.ends_s: list[float] = []
        self._sent_windows = 0
        self._workers: dict[int, int] = {}
        self._warm = False
        self._done = False
        self._began = 0.0

    # What a training loop uses.

    @property
    def device(self) -> torch.device:
        """Where this rank's model and batches go."""
        if self.job.alone:
            return torch.device(emulated.DEVICE_TYPE, self.driver.first)
        return torch.device("cpu")

    @property
    def devices(self) -> int:
        """How many devices the job has."""
        return self.job.devices

    @property
    def bucket_cap_mb(self) -> float:
        """Size of DDP's buckets: small here, so that a small model has several as a large one has."""
        return BUCKET_MIB

    @property
    def device_ids(self) -> list[int] | None:
        """What DistributedDataParallel is to be given as `device_ids`."""
        return None

    def gpt(self) -> GPT:
        """The model, the same on every rank; small here, and standing for the stated one."""
        shape = self.job.stand_in
        with _SEEDED:
            torch.manual_seed(0)
            model = GPT(
                shape.layers, shape.width, shape.heads, shape.vocabulary, checkpointing=self.job.checkpointing
            )
        # In double precision the order in which gradients are summed doesn't show.
        return model.double()

    def corpus(self, lengths: Sequence[int], *, decode_s: float = 0.0) -> Corpus:
        """Sequences of the given numbers of tokens, again and again."""
        each = self.job.stand_in.tokens_each
        return Corpus(
            [max(1, round(length / each)) for length in lengths], self.job.stand_in.vocabulary, decode_s
        )

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
        made = loader.make_loader(
            dataset,
            batch_size=batch_size,
            sampler=sampler,
            batch_sampler=batch_sampler,
            real_workers=min(workers, loader.MOST_REAL_WORKERS),
        )
        self._workers[id(made)] = workers
        return made

    def throttle(self, slowdown: float) -> None:
        """From here on this rank's devices run at lower clocks: arithmetic takes `slowdown` times as long."""
        self.driver.plan = self.driver.plan.throttled(slowdown)

    def watch(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Measure this model and its optimizer from here on."""
        inner = model.module if isinstance(model, (nn.DataParallel, DistributedDataParallel)) else model
        if not isinstance(inner, GPT):
            raise TypeError("rank.watch measures the model of rank.gpt(), bare, in DataParallel or in DDP")
        self.model = inner
        self.charges.place(self.driver.first, buckets=isinstance(model, DistributedDataParallel))
        if isinstance(model, DistributedDataParallel):
            stands_for = self.charges.stands_for(inner)
            exchange = GradientExchange(self.driver, self.index, self.ranks, stands_for)
            exchange.attach(model)
            self.exchange = exchange
            optimizer.register_step_pre_hook(lambda *_: exchange.settle())
        self.charges.watch(inner, optimizer)

    def steps(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The batches, on this rank's device, until the run's time is over."""
        self._began = time.monotonic()
        for batch in loader.emulated_batches(batches, self.driver, self._workers.get(id(batches), 0)):
            yield Batch(batch.tokens.to(self.device), batch.lengths.to(self.device), batch.decode_s)
            if self._done:
                return

    def barrier(self) -> None:
        """Wait until every rank is here: over gloo, on the host, so that no kernel runs meanwhile."""
        if self.ranks == 1:
            return
        last_s = torch.tensor(self.driver.host.now_s, dtype=torch.float64)
        dist.all_reduce(last_s, dist.ReduceOp.MAX)
        self.driver.host.wait_until(last_s.item(), HOST)

    def read(self, value: Tensor) -> float:
        """A number that the device works out: the host waits until it is there."""
        self.driver.synchronise(self.driver.first)
        return float(value.item())

    def finish_step(self, loss: Tensor) -> None:
        """Read the loss, as one does for the log. Then report what was measured."""
        self.loss = self.read(loss)
        self.ends_s.append(self.driver.host.now_s)
        # The first step is the warm-up. What is measured begins exactly where it ends, and ends with a step.
        self.report(cut=not self._warm)
        self._warm = True
        # All ranks see the same end of the last collective, so they stop at the same step.
        common_s = self.exchange.end_s if self.exchange and self.ranks > 1 else self.driver.host.now_s
        enough = self.job.steps is not None and len(self.ends_s) >= self.job.steps
        self._done = enough or (self.job.steps is None and common_s >= self.job.seconds)
        self._pace()

    # What the lab uses.

    def report(self, *, cut: bool = False) -> None:
        """Send the windows that are complete; with `cut`, up to this moment."""
        read = self.driver.read_windows(cut=cut)
        message = window_rows(read, self._sent_windows, self.ends_s, warmup=not self._warm)
        if message is not None:
            self._sent_windows += len(message["spans"])
            self.send(message)

    def summary(self) -> dict[str, Any]:
        """What the outcome needs of this rank: when its steps ended, its last loss and its parameters'
        digest.
        """
        return {
            "ends_s": self.ends_s,
            "device_s": self.driver.host.now_s,
            "loss": self.loss if math.isfinite(self.loss) else None,
            "parameters_digest": digest(self.parameters()),
            "peak": {index: memory.peak for index, memory in self.driver.memory.items()},
        }

    def parameters(self) -> list[Tensor]:
        """The parameters of this rank's model, as plain tensors."""
        parameters = list(self.model.parameters()) if self.model is not None else []
        return [p.held if isinstance(p, emulated.EmulatedTensor) else p.detach() for p in parameters]

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Within the block this rank's devices are there."""
        with emulated.devices_of(self.driver) if self.job.alone else contextlib.nullcontext():
            yield

    def _pace(self) -> None:
        if self.job.speed is not None:
            shown_s = (time.monotonic() - self._began) * self.job.speed
            time.sleep(max(0.0, (self.driver.host.now_s - LEAD_S - shown_s) / self.job.speed))


def window_rows(
    read: Mapping[int, Sequence[Window]], first: int, ends_s: Sequence[float], *, warmup: bool
) -> dict[str, Any] | None:
    """The message with windows of a rank's devices, from number `first` on; None when there are none."""
    windows = next(iter(read.values()))
    if not windows:
        return None
    return {
        "kind": "windows",
        "first": first,
        "spans": [[window.start_s, window.end_s] for window in windows],
        "steps": [sum(1 for end_s in ends_s if end_s <= window.end_s + 1e-9) for window in windows],
        "warmup": warmup,
        "rows": {index: [_row(window) for window in device] for index, device in read.items()},
    }


def _row(window: Window) -> list[float]:
    shares = (window.compute, window.collective, window.data_wait, window.host_wait)
    return [*(round(share, 5) for share in shares), window.memory_bytes]


def digest(parameters: Sequence[Tensor]) -> str:
    """A digest of parameters rounded to five decimals: equal for trainings that are the same."""
    whole = hashlib.sha256()
    for parameter in parameters:
        rounded = torch.round(parameter.detach().double().cpu(), decimals=DIGEST_DECIMALS) + 0.0
        whole.update(rounded.numpy().tobytes())
    return whole.hexdigest()
