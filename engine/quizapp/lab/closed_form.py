"""What a run should measure, worked out from the planned durations by hand: no clock, no timeline, no events.

A check on the emulation: both must agree within 5 %. Each formula names the critical path of one step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from quizapp.lab.plan import Plan

Expected = Callable[[int], dict[str, Any]]


def _work_s(plan: Plan, sequences: float, length: float, *, checkpointing: bool) -> float:
    """Forward and backward of one batch; with checkpointing the forward runs twice."""
    forwards = 2 if checkpointing else 1
    block = forwards * plan.block_forward_s(sequences, length) + plan.block_backward_s(sequences, length)
    head = forwards * plan.head_forward_s(sequences, length) + plan.head_backward_s(sequences, length)
    return plan.shape.layers * block + head


def _result(step_s: float, busy_s: Sequence[float]) -> dict[str, Any]:
    return {"steps_per_s": 1 / step_s, "compute": [busy / step_s for busy in busy_s]}


def unequal_lengths(plan: Plan, dealt: Sequence[Sequence[int]], *, parallel: str) -> Expected:
    """Sequences of `dealt[device]` tokens on each device, with checkpointing.

    The step lasts as long as the slowest device's work; DataParallel adds the broadcast of the parameters, the
    reduction of the gradients and the first device's optimizer, DDP the all-reduce's last bucket and the
    optimizer on every device.
    """
    work_s = [sum(_work_s(plan, 1, length, checkpointing=True) for length in lengths) for lengths in dealt]
    weights = plan.shape.parameter_bytes
    if parallel == "dp":
        between_s = plan.broadcast_s(weights) + plan.reduce_s(weights) if len(dealt) > 1 else 0.0
        step_s = between_s + max(work_s) + plan.optimizer_s()
        busy_s = [work_s[0] + plan.optimizer_s(), *work_s[1:]]
    else:
        step_s = max(work_s) + plan.all_reduce_s(weights) / 3 + plan.optimizer_s()
        busy_s = [work + plan.optimizer_s() for work in work_s]
    return lambda steps: _result(step_s, busy_s)
