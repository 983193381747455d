"""What a training loop is given on emulated devices: its rank of the job."""

from __future__ import annotations

import contextlib
import hashlib
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch
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
    params: SimpleNamespace
    seconds: float
    steps: int | None
    window_s: float
    speed: float | None
    stand_in: StandIn
    checkpointing: bool
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
        devices = range(job.devices) if job.ranks == 1 else [index]
        self.driver = Driver(job.plan, list(devices), job.window_s, emulated.refuse)
        self.charges = Charges(self.driver, job.stand_in, checkpointing=job.checkpointing)
        self.single_process = False
        self.exchange: GradientExchange | None = None
        self.model: nn.Module | None = None
        self.loss = float("nan")
        self.ends_s: list[float] = []
        self._sent_windows = 0
        self._workers = 0
        self._warm = False
        self._done = False
        self._began = 0.0

    # What a training loop uses.

    @property
    def device(self) -> torch.device:
        """Where this rank's model and batches go."""
        if self.single_process:
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
        torch.manual_seed(0)
        shape = self.job.stand_in
        model = GPT(
            shape.layers, shape.width, shape.heads, shape.vocabulary, checkpointing=self.job.checkpointing
        )
        # In double precision the order in which gradients are summed doesn't show.
        return model.double()

    def corpus(self, lengths: Sequence[int], *, decode_s: float = 0.0) -> Corpus:
        """Sequences of the given numbers of tokens, again and again."""
        each = self.job.stand_in.tokens_each
        return Corpus([max(1, round(length / each)) for length in lengths], self.job.stand_in.vocabulary, decode_s)

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
        self._workers = workers
        return loader.make_loader(
            dataset, batch_size=batch_size, sampler=sampler, batch_sampler=batch_sampler, real_workers=workers
        )

    def watch(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Measure this model and its optimizer from here on."""
        inner = model.module if isinstance(model, (nn.DataParallel, DistributedDataParallel)) else model
        assert isinstance(inner, GPT)  # noqa: S101  a demo trains the lab's model
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
        for batch in loader.emulated_batches(batches, self.driver, self._workers):
            yield Batch(batch.tokens.to(self.device), batch.lengths.to(self.device), batch.decode_s)
            if self._done:
                return

    def finish_step(self, loss: Tensor) -> None:
        """Read the loss, as one does for the log: the host waits for its device. Then report what was measured."""
        self.driver.synchronise(self.driver.first)
        self.loss = loss.item()
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
        windows = next(iter(read.values()))
        if not windows:
            return
        self.send(
            {
                "kind": "windows",
                "first": self._sent_windows,
                "spans": [[window.start_s, window.end_s] for window in windows],
                "steps": [self._finished(window.end_s) for window in windows],
                "warmup": not self._warm,
                "rows": {
                    index: [
                        [round(w.compute, 5), round(w.collective, 5), round(w.data_wait, 5)]
                        + [round(w.host_wait, 5), w.memory_bytes]
                        for w in device
                    ]
                    for index, device in read.items()
                },
            }
        )
        self._sent_windows += len(windows)

    def summary(self) -> dict[str, Any]:
        """What the outcome needs of this rank: when its steps ended, its last loss and its parameters' digest."""
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
        return [p.inner if isinstance(p, emulated.EmulatedTensor) else p.detach() for p in parameters]

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Within the block this rank's devices are there."""
        with emulated.devices_of(self.driver) if self.single_process else contextlib.nullcontext():
            yield

    def _finished(self, moment_s: float) -> int:
        return sum(1 for end_s in self.ends_s if end_s <= moment_s + 1e-9)

    def _pace(self) -> None:
        if self.job.speed is not None:
            shown_s = (time.monotonic() - self._began) * self.job.speed
            time.sleep(max(0.0, (self.driver.host.now_s - LEAD_S - shown_s) / self.job.speed))


def digest(parameters: Sequence[Tensor]) -> str:
    """A digest of parameters rounded to five decimals: equal for trainings that are the same."""
    whole = hashlib.sha256()
    for parameter in parameters:
        rounded = torch.round(parameter.detach().double().cpu(), decimals=DIGEST_DECIMALS) + 0.0
        whole.update(rounded.numpy().tobytes())
    return whole.hexdigest()
