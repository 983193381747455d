"""Makes a real device slower without touching its clocks: kernels are run again, for nothing."""

from __future__ import annotations

import torch
from torch import Tensor, nn

# In matrix products, the backward of a block is twice its forward.
_FORWARDS_IN_BACKWARD = 2


def slow_down(block: nn.Module, slowdown: float) -> None:
    """Let the forward and the backward of `block`, which takes one tensor (B, …), last about `slowdown`
    times as long. What it computes stays as it is.
    """

    def after(_: nn.Module, inputs: tuple[Tensor], output: Tensor) -> None:
        x = inputs[0].detach()
        _again(block, x, slowdown - 1)
        if output.requires_grad:
            output.register_hook(  # type: ignore[no-untyped-call]
                lambda _: _again(block, x, _FORWARDS_IN_BACKWARD * (slowdown - 1))
            )

    block.register_forward_hook(after)


def _again(block: nn.Module, x: Tensor, times: float) -> None:
    """Run the block's forward on so many times the rows of `x`."""
    rows = round(times * len(x))
    with torch.no_grad(), torch.autocast(x.device.type, torch.bfloat16):
        while rows > 0:
            # Not by calling the block, which would run this hook again.
            block.forward(x[:rows])
            rows -= len(x)
