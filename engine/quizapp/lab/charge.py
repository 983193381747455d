"""Charges the modules of a GPT, and its optimizer, to the timeline of the device that they run on.

Forward and backward are noticed by hooks while the real model runs, so that the order, the recomputation of a
checkpoint and the device are those of the real control flow; the seconds and bytes come from the plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from quizapp.lab.driver import Driver
from quizapp.lab.emulated import EmulatedTensor
from quizapp.lab.gpt import GPT
from quizapp.lab.shape import (
    BLOCK_BACKWARD_KERNELS,
    BLOCK_FORWARD_KERNELS,
    EDGE_BACKWARD_KERNELS,
    EDGE_FORWARD_KERNELS,
    FLOAT32_BYTES,
)

BUCKET_BYTES = 25 * 2**20  # DDP's default


@dataclass(frozen=True)
class StandIn:
    """How much of the stated model one piece of the small one stands for."""

    layers: int
    """Blocks of the small model; each stands for an equal share of the stated ones."""
    width: int = 16
    heads: int = 2
    vocabulary: int = 64
    tokens_each: int = 128
    """Tokens that one token stands for."""


class Charges:
    """The hooks on one process's model and optimizer."""

    def __init__(self, driver: Driver, stand_in: StandIn, *, checkpointing: bool) -> None:
        self.driver = driver
        self.stand_in = stand_in
        self.checkpointing = checkpointing
        self.layers_each = driver.plan.shape.layers / stand_in.layers
        self._with_gradients: set[tuple[int, str]] = set()

    def place(self, index: int, *, buckets: bool) -> None:
        """Account for the parameters on device `index`, and for DDP's buckets of gradients."""
        shape = self.driver.plan.shape
        self.driver.alloc(index, "parameters", shape.parameter_bytes)
        if buckets:
            self.driver.alloc(index, "gradient buckets", shape.parameter_bytes)

    def watch(self, model: GPT, optimizer: torch.optim.Optimizer) -> None:
        """Hook the blocks, the head and the optimizer. Replicas of DataParallel share the hooks."""
        for position, block in enumerate(model.blocks):
            self._hook(block, f"block {position}", self._block_forward, self._block_backward)
        self._hook(model.head, "head", self._head_forward, self._head_backward)
        optimizer.register_step_pre_hook(self._optimizer_step)

    def stands_for(self, model: GPT) -> dict[Tensor, tuple[float, float]]:
        """For each parameter of the small model: the bytes of gradients, and the buckets, that it stands
        for.
        """
        shape = self.driver.plan.shape
        parameters: dict[Tensor, tuple[float, float]] = {
            # One tensor is never cut: it is a bucket of its own, however large.
            model.embedding.weight: (float(shape.embedding_parameters * FLOAT32_BYTES), 0.0)
        }
        for parameter in model.head.parameters():
            parameters[parameter] = (float(shape.width * FLOAT32_BYTES), 0.0)
        for block in model.blocks:
            whole = sum(parameter.numel() for parameter in block.parameters())
            gradients = self.layers_each * shape.block_parameters * FLOAT32_BYTES
            for parameter in block.parameters():
                share = parameter.numel() / whole
                parameters[parameter] = (share * gradients, share * gradients / BUCKET_BYTES)
        return parameters

    def _hook(self, module: nn.Module, name: str, forward: Any, backward: Any) -> None:
        def before(_: nn.Module, inputs: tuple[Any, ...]) -> None:
            index, sequences, length = self._where(inputs[0])
            forward(index, sequences, length, name, again=torch._C._current_graph_task_id() != -1)

        def after(_: nn.Module, inputs: tuple[Any, ...], output: Tensor) -> None:
            if output.requires_grad and torch._C._current_graph_task_id() == -1:
                index, sequences, length = self._where(inputs[0])
                output.register_hook(  # type: ignore[no-untyped-call]
                    lambda _: backward(index, sequences, length, name)
                )

        # Before, not after: a checkpoint that is run again stops as soon as it has all that it needs.
        module.register_forward_pre_hook(before)
        module.register_forward_hook(after)

    def _where(self, x: Tensor) -> tuple[int, int, float]:
        index = x.emulated_index if isinstance(x, EmulatedTensor) else self.driver.first
        return index, x.shape[0], float(x.shape[1] * self.stand_in.tokens_each)

    def _block_forward(self, index: int, sequences: int, length: float, _: str, *, again: bool) -> None:
        plan, each = self.driver.plan, self.layers_each
        if torch.is_grad_enabled() and not again:
            kept = plan.shape.block_kept_bytes(sequences, length, checkpointing=self.checkpointing)
            self.driver.alloc(index, "activations", each * kept, pieces=round(each))
        seconds = each * plan.block_forward_s(sequences, length)
        self.driver.launch(index, seconds, round(each * BLOCK_FORWARD_KERNELS))

    def _block_backward(self, index: int, sequences: int, length: float, name: str) -> None:
        plan, each = self.driver.plan, self.layers_each
        self._gradients(index, name, each * plan.shape.block_parameters * FLOAT32_BYTES)
        again = plan.shape.block_kept_bytes(sequences, length) if self.checkpointing else 0.0
        self.driver.alloc(index, "recomputed", again)
        seconds = each * plan.block_backward_s(sequences, length)
        self.driver.launch(index, seconds, round(each * BLOCK_BACKWARD_KERNELS))
        self.driver.free(index, "recomputed", again)
        kept = plan.shape.block_kept_bytes(sequences, length, checkpointing=self.checkpointing)
        self.driver.free(index, "activations", each * kept)

    def _head_forward(self, index: int, sequences: int, length: float, _: str, *, again: bool) -> None:
        shape = self.driver.plan.shape
        transient = shape.head_forward_bytes(sequences, length)
        if torch.is_grad_enabled() and not again and not self.checkpointing:
            self.driver.alloc(index, "activations", shape.head_kept_bytes(sequences, length))
        self.driver.alloc(index, "temporaries", transient)
        self.driver.launch(index, self.driver.plan.head_forward_s(sequences, length), EDGE_FORWARD_KERNELS)
        self.driver.free(index, "temporaries", transient)

    def _head_backward(self, index: int, sequences: int, length: float, name: str) -> None:
        shape = self.driver.plan.shape
        self._gradients(index, name, shape.embedding_parameters * FLOAT32_BYTES)
        transient = shape.head_backward_bytes(sequences, length)
        kept = shape.head_kept_bytes(sequences, length)
        self.driver.alloc(index, "temporaries", transient + kept * self.checkpointing)
        self.driver.launch(index, self.driver.plan.head_backward_s(sequences, length), EDGE_BACKWARD_KERNELS)
        self.driver.free(index, "temporaries", transient + kept * self.checkpointing)
        if not self.checkpointing:
            self.driver.free(index, "activations", kept)
        self.driver.backward_s = self.driver.devices[index].tail_s

    def _gradients(self, index: int, name: str, gradient_bytes: float) -> None:
        if (index, name) not in self._with_gradients:
            self._with_gradients.add((index, name))
            self.driver.alloc(index, "gradients", gradient_bytes)

    def _optimizer_step(self, *_: object) -> None:
        plan, index = self.driver.plan, self.driver.first
        whole = plan.shape.parameter_bytes
        if not self.driver.memory[index].held.get("optimizer"):
            self.driver.alloc(index, "optimizer", 2 * whole)
        # The list form of AdamW holds the roots of all second moments at once.
        self.driver.alloc(index, "temporaries", whole)
        self.driver.launch(index, plan.optimizer_s(), plan.shape.optimizer_kernels)
        self.driver.free(index, "temporaries", whole)
        # `zero_grad` follows, and drops them.
        self.driver.free(index, "gradients")
        self._with_gradients.clear()
