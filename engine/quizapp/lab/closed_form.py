"""What a run should measure, worked out from the planned durations by hand: no clock, no timeline, no events.

A check on the emulation: both must agree within 5 %. Each formula names the critical path of one step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from quizapp.lab.plan import Plan
from quizapp.lab.shape import (
    BLOCK_BACKWARD_KERNELS,
    BLOCK_FORWARD_KERNELS,
    EDGE_BACKWARD_KERNELS,
    EDGE_FORWARD_KERNELS,
    FLOAT32_BYTES,
)

Expected = Callable[[int], dict[str, Any]]


BUCKET_BYTES = 25 * 2**20


def _work_s(plan: Plan, sequences: float, length: float, *, checkpointing: bool = False) -> float:
    """Forward and backward of one batch; with checkpointing the forward runs twice."""
    forwards = 2 if checkpointing else 1
    head = forwards * plan.head_forward_s(sequences, length) + plan.head_backward_s(sequences, length)
    forward_s = plan.shape.layers * plan.block_forward_s(sequences, length)
    return forward_s + head + _backward_s(plan, sequences, length, checkpointing=checkpointing)


def _backward_s(plan: Plan, sequences: float, length: float, *, checkpointing: bool = False) -> float:
    """The backward of all blocks, during which DDP can send gradients."""
    again_s = plan.block_forward_s(sequences, length) if checkpointing else 0.0
    return plan.shape.layers * (again_s + plan.block_backward_s(sequences, length))


def _exposed_s(plan: Plan, backward_s: float) -> float:
    """What of DDP's all-reduces the backward can't hide: the blocks' surplus or last bucket, and the
    embedding.
    """
    if plan.devices == 1:
        return 0.0
    blocks = plan.shape.layers * plan.shape.block_parameters * FLOAT32_BYTES
    pieces = max(1.0, blocks / BUCKET_BYTES)
    blocks_s = plan.all_reduce_s(blocks)
    surplus_s = max(blocks_s - backward_s * (1 - 1 / pieces), blocks_s / pieces)
    return surplus_s + plan.all_reduce_s(plan.shape.embedding_parameters * FLOAT32_BYTES)


def _launches_s(plan: Plan, *, checkpointing: bool = False) -> float:
    """What launching the kernels of one forward and backward takes the host."""
    forwards = 2 if checkpointing else 1
    block = forwards * BLOCK_FORWARD_KERNELS + BLOCK_BACKWARD_KERNELS
    edge = forwards * EDGE_FORWARD_KERNELS + EDGE_BACKWARD_KERNELS
    return plan.launch_s() * (plan.shape.layers * block + edge)


def _result(step_s: float, busy_s: Sequence[float]) -> dict[str, Any]:
    return {"steps_per_s": 1 / step_s, "compute": [busy / step_s for busy in busy_s]}


def even_ranks(
    plan: Plan,
    sequences: int,
    length: float,
    *,
    checkpointing: bool = False,
    decode_s: float = 0.0,
    workers: int = 0,
) -> Expected:
    """DDP whose ranks all do the same: bound by the device, by the host's launches, or by the loader's
    workers.
    """
    work_s = _work_s(plan, sequences, length, checkpointing=checkpointing)
    exposed_s = _exposed_s(plan, _backward_s(plan, sequences, length, checkpointing=checkpointing))
    # The optimizer's kernels are launched while its gradients are still on their way.
    update_s = max(exposed_s + plan.optimizer_s(), plan.launch_s() * plan.shape.optimizer_kernels)
    train_s = max(work_s, _launches_s(plan, checkpointing=checkpointing)) + update_s
    busy_s = work_s + plan.optimizer_s()
    batch_s = plan.decode_s(decode_s) * sequences
    step_s = max(train_s, batch_s / workers) if workers else train_s + batch_s
    return lambda steps: _result(step_s, [busy_s] * plan.devices)


def one_slow_device(plan: Plan, sequences: int, length: float, *, slow: int, slowdown: float) -> Expected:
    """DDP in which the device `slow` has lower clocks: the step lasts as long as that one needs, and ends
    with an optimizer that is bound by memory, which is as fast on all.
    """
    slow_plan = plan.throttled(slowdown)
    usual_s, slow_s = (_work_s(of, sequences, length) for of in (plan, slow_plan))
    exposed_s = _exposed_s(plan, _backward_s(slow_plan, sequences, length))
    step_s = slow_s + exposed_s + plan.optimizer_s()
    busy_s = [usual_s + plan.optimizer_s()] * plan.devices
    busy_s[slow] = slow_s + plan.optimizer_s()
    return lambda steps: _result(step_s, busy_s)


def with_evaluation(
    plan: Plan, sequences: int, length: float, *, every: int, evaluated: Sequence[int]
) -> Expected:
    """DDP that stops after every so many steps until device i has run `evaluated[i]` sequences forward."""
    work_s = _work_s(plan, sequences, length)
    step_s = work_s + _exposed_s(plan, _backward_s(plan, sequences, length)) + plan.optimizer_s()
    forward_s = plan.shape.layers * plan.block_forward_s(1, length) + plan.head_forward_s(1, length)

    def expected(steps: int) -> dict[str, Any]:
        measured = steps - 1  # the first step is the warm-up
        stops = steps // every - 1 // every
        whole_s = measured * step_s + stops * max(evaluated) * forward_s
        trained_s = measured * (work_s + plan.optimizer_s())
        busy_s = [trained_s + stops * share * forward_s for share in evaluated]
        return {"steps_per_s": measured / whole_s, "compute": [busy / whole_s for busy in busy_s]}

    return expected


def unequal_lengths(plan: Plan, dealt: Sequence[Sequence[int]], *, parallel: str) -> Expected:
    """Sequences of `dealt[device]` tokens on each device, one by one and with checkpointing.

    The step lasts as long as the slowest device's work; DataParallel adds the broadcast of the parameters,
    the reduction of the gradients and the first device's optimizer, DDP what the last backward doesn't hide
    of the all-reduce and the optimizer on every device.
    """
    work_s = [sum(_work_s(plan, 1, length, checkpointing=True) for length in lengths) for lengths in dealt]
    weights = plan.shape.parameter_bytes
    if parallel == "dp":
        between_s = plan.broadcast_s(weights) + plan.reduce_s(weights) if plan.devices > 1 else 0.0
        step_s = between_s + max(work_s) + plan.optimizer_s()
        busy_s = [work_s[0] + plan.optimizer_s(), *work_s[1:]]
    else:
        slowest = dealt[work_s.index(max(work_s))]
        last_s = _backward_s(plan, 1, slowest[0], checkpointing=True)
        step_s = max(work_s) + _exposed_s(plan, last_s) + plan.optimizer_s()
        busy_s = [work + plan.optimizer_s() for work in work_s]
    return lambda steps: _result(step_s, busy_s)


def one_long_batch(
    plan: Plan, sequences: int, length: float, long: float, *, victim: int, step: int, checkpointing: bool
) -> Expected:
    """DDP in which the rank `victim` has a batch of `long` sequences at step number `step`, counted from
    0.
    """
    usual_s = _work_s(plan, sequences, length, checkpointing=checkpointing)
    long_s = _work_s(plan, sequences, long, checkpointing=checkpointing)
    exposed_s = _exposed_s(plan, _backward_s(plan, sequences, length, checkpointing=checkpointing))
    other_s = plan.optimizer_s()

    def expected(steps: int) -> dict[str, Any]:
        measured = steps - 1  # the first step is the warm-up
        extra_s = long_s - usual_s if 1 <= step < steps else 0.0
        whole_s = measured * (usual_s + exposed_s + other_s) + extra_s
        busy_s = [measured * (usual_s + other_s)] * plan.devices
        busy_s[victim] += extra_s
        return {"steps_per_s": measured / whole_s, "compute": [busy / whole_s for busy in busy_s]}

    return expected
