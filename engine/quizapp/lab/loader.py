"""A real DataLoader with real workers, whose batches carry what decoding them would have taken."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, Sampler

from quizapp.lab import guard
from quizapp.lab.driver import Driver
from quizapp.lab.timeline import DATA
from quizapp.lab.workers import WorkerQueue

_PR_SET_PDEATHSIG = 1
# Real worker processes of one rank. More of them would be no faster here, where decoding takes no real time.
MOST_REAL_WORKERS = 1


class Sample(NamedTuple):
    """One sequence of tokens, its length in tokens, and what decoding it is planned to take."""

    tokens: Tensor
    length: int
    decode_s: float


class Batch(NamedTuple):
    """tokens: (B, T + 1), padded with zeros. lengths: (B). decode_s: of all the samples, one after the
    other.
    """

    tokens: Tensor
    lengths: Tensor
    decode_s: float


@dataclass(frozen=True)
class Corpus(Dataset[Sample]):
    """Sequences of random tokens. `lengths` repeats: sequence i has `lengths[i % len(lengths)]` tokens."""

    lengths: Sequence[int]
    vocabulary: int
    decode_s: float = 0.0
    really: bool = False
    """Spend the decoding's time on this CPU, as a demo on real devices does."""
    size: int = 1 << 16

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> Sample:
        if self.really:
            _spend(self.decode_s)
        length = self.lengths[index % len(self.lengths)]
        # A walk over the vocabulary that the model can learn, another one for each sequence.
        steps = torch.arange(length + 1)
        tokens = (steps * (1 + index % 7) + index * 31) % self.vocabulary
        return Sample(tokens, length, self.decode_s)


def _spend(seconds: float) -> None:
    """Keep one CPU busy for `seconds` of its time."""
    end_s = time.thread_time() + seconds
    while time.thread_time() < end_s:
        pass


def collate(samples: list[Sample]) -> Batch:
    """Pad to the longest and add up the decoding."""
    longest = max(sample.length for sample in samples)
    tokens = torch.zeros(len(samples), longest + 1, dtype=torch.int64)
    for row, sample in zip(tokens, samples, strict=True):
        row[: sample.length + 1] = sample.tokens
    lengths = torch.tensor([sample.length for sample in samples])
    return Batch(tokens, lengths, sum(sample.decode_s for sample in samples))


def make_loader(
    dataset: Dataset[Sample],
    *,
    batch_size: int | None = None,
    sampler: Sampler[int] | None = None,
    batch_sampler: Iterable[Sequence[int]] | None = None,
    real_workers: int,
) -> DataLoader[Sample]:
    """The DataLoader; give it either `batch_size` and `sampler`, or `batch_sampler`."""
    workers = real_workers
    context = "fork" if workers else None
    if batch_sampler is not None:
        return DataLoader(
            dataset,
            batch_sampler=cast("Sampler[list[int]]", batch_sampler),
            num_workers=workers,
            collate_fn=collate,
            worker_init_fn=_end_with_parent,
            multiprocessing_context=context,
        )
    return DataLoader(
        dataset,
        batch_size=batch_size,
        sampler=sampler,
        num_workers=workers,
        collate_fn=collate,
        drop_last=True,
        worker_init_fn=_end_with_parent,
        multiprocessing_context=context,
    )


def _end_with_parent(_: int) -> None:
    # A rank that dies leaves workers behind that keep its sockets open for seconds, and its peers waiting.
    guard.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def emulated_batches(
    loader: Iterable[Batch], driver: Driver, workers: int, prefetch: int = 2
) -> Iterator[Batch]:
    """The loader's batches, each when its planned decoding lets the loop have it."""
    queue = WorkerQueue(workers, prefetch) if workers else None
    for batch in loader:
        decode_s = driver.plan.decode_s(batch.decode_s)
        ready_s = driver.host.now_s + decode_s if queue is None else queue.ready_s(decode_s)
        driver.host.wait_until(ready_s, DATA)
        if queue is not None:
            queue.taken(driver.host.now_s)
        yield batch
