"""DDP's all-reduce of gradients, which also carries each rank's time stamps to all others."""

# No postponed annotations here: DDP reads those of a communication hook.

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

from quizapp.lab.driver import Driver


class GradientExchange:
    """A communication hook: the real all-reduce of the real gradients, and when it would have begun and ended.

    A rank's stamp is the moment at which its device had the bucket's gradients. It travels in the same message,
    so that every rank knows when the last one arrived: that is when the emulated collective can begin, and until
    then the early ranks' devices spin in it.
    """

    def __init__(self, driver: Driver, rank: int, ranks: int, stands_for: dict[Tensor, float]) -> None:
        self.driver = driver
        self.rank = rank
        self.ranks = ranks
        self.stands_for = stands_for
        self.end_s = 0.0
        self._buckets: dict[int, tuple[float, Tensor]] = {}

    def attach(self, model: DistributedDataParallel) -> None:
        model.register_comm_hook(self, _all_reduce)

    def reduce(self, bucket: dist.GradBucket) -> torch.futures.Future[Tensor]:
        gradients = bucket.buffer()
        stamps = torch.zeros(self.ranks, dtype=gradients.dtype)
        stamps[self.rank] = self.driver.devices[self.driver.first].tail_s
        message = torch.cat([gradients / self.ranks, stamps])
        self._buckets[bucket.index()] = (sum(self.stands_for[p] for p in bucket.parameters()), message)
        self.driver.host.run(self.driver.plan.launch_s())
        done = dist.all_reduce(message, async_op=True).get_future()

        def gradients_of(finished: Any) -> Tensor:
            reduced: Tensor = finished.value()[0]
            return reduced[: gradients.numel()]

        return done.then(gradients_of)

    def settle(self) -> None:
        """After the backward: put this step's collectives on the device's timeline, in their order."""
        device = self.driver.devices[self.driver.first]
        for index in sorted(self._buckets):
            reduced_bytes, message = self._buckets[index]
            ready_s = message[-self.ranks :].tolist()
            start_s = max(self.end_s, ready_s[self.rank])
            self.end_s = max(self.end_s, *ready_s) + self.driver.plan.all_reduce_s(reduced_bytes)
            if self.ranks > 1:
                device.communicate(start_s, self.end_s)
        self._buckets.clear()
        if self.ranks > 1:
            device.wait_for(self.end_s)


def _all_reduce(state: object, bucket: dist.GradBucket) -> torch.futures.Future[Tensor]:
    assert isinstance(state, GradientExchange)  # noqa: S101  register_comm_hook loses its type
    return state.reduce(bucket)
