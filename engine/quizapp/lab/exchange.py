"""DDP's all-reduce of gradients, which also carries each rank's time stamps to all others."""

# No postponed annotations here: DDP reads those of a communication hook.

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch._C._distributed_c10d import GradBucket
from torch.nn.parallel import DistributedDataParallel

from quizapp.lab.driver import Driver


class GradientExchange:
    """A communication hook: the real all-reduce of the real gradients, and when it would have begun and
    ended.

    Each rank stamps the moments at which its device had the first and the last of a bucket's gradients. The
    stamps travel in the same message, so that every rank knows when the last one arrived: the emulated
    collective can't end before that, and until then the early ranks' devices spin in it.

    A bucket of the small model stands for `pieces` buckets of the stated one, which are sent one by one.
    """

    def __init__(
        self, driver: Driver, rank: int, ranks: int, stands_for: dict[Tensor, tuple[float, float]]
    ) -> None:
        self.driver = driver
        self.rank = rank
        self.ranks = ranks
        self.stands_for = stands_for
        self.end_s = 0.0
        self._before_s = 0.0
        self._buckets: dict[int, tuple[float, int, Tensor]] = {}

    def attach(self, model: DistributedDataParallel) -> None:
        model.register_comm_hook(self, _all_reduce)

    def reduce(self, bucket: GradBucket) -> torch.futures.Future[Tensor]:
        gradients = bucket.buffer()
        reduced_bytes = sum(self.stands_for[parameter][0] for parameter in bucket.parameters())
        pieces = max(1, round(sum(self.stands_for[parameter][1] for parameter in bucket.parameters())))
        before_s = max(self._before_s, self.driver.backward_s)
        last_s = self._before_s = self.driver.devices[self.driver.first].tail_s
        stamps = torch.zeros(2, self.ranks, dtype=gradients.dtype)
        stamps[0, self.rank] = before_s + (last_s - before_s) / pieces
        stamps[1, self.rank] = last_s
        message = torch.cat([gradients / self.ranks, stamps.flatten()])
        self._buckets[bucket.index()] = (reduced_bytes, pieces, message)
        self.driver.host.run(self.driver.plan.launch_s())
        done = dist.all_reduce(message, async_op=True).get_future()

        def gradients_of(finished: Any) -> Tensor:
            reduced: Tensor = finished.value()[0]
            return reduced[: gradients.numel()]

        reduced: torch.futures.Future[Tensor] = done.then(gradients_of)
        return reduced

    def settle(self) -> None:
        """After the backward: put this step's collectives on the device's timeline, in their order."""
        device = self.driver.devices[self.driver.first]
        for index in sorted(self._buckets):
            reduced_bytes, pieces, message = self._buckets[index]
            first_s, last_s = message[-2 * self.ranks :].view(2, self.ranks).tolist()
            piece_s = self.driver.plan.all_reduce_s(reduced_bytes) / pieces
            first, last = max(first_s), max(last_s)
            for piece in range(pieces):
                share = piece / (pieces - 1) if pieces > 1 else 1.0
                mine_s = first_s[self.rank] + share * (last_s[self.rank] - first_s[self.rank])
                start_s = max(self.end_s, mine_s)
                self.end_s = max(self.end_s, first + share * (last - first)) + piece_s
                if self.ranks > 1:
                    device.communicate(start_s, self.end_s)
        self._buckets.clear()
        if self.ranks > 1:
            device.wait_for(self.end_s)


def _all_reduce(state: object, bucket: GradBucket) -> torch.futures.Future[Tensor]:
    assert isinstance(state, GradientExchange)  # noqa: S101  register_comm_hook loses its type
    return state.reduce(bucket)
