"""The planned durations of a run: each has a name, and says how it came about.

A plan states what single pieces of work take, never how busy a device is or how long it waits: that follows
from the control flow of the demo, on the clocks of `timeline`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from quizapp.lab.cost import Hardware, load_hardware
from quizapp.lab.shape import (
    BLOCK_BACKWARD_KERNELS,
    BLOCK_FORWARD_KERNELS,
    EDGE_BACKWARD_KERNELS,
    EDGE_FORWARD_KERNELS,
    ModelShape,
)

PERTURBATION = 0.3


@dataclass(frozen=True)
class Plan:
    """Durations for one model shape on `devices` devices; with a seed, each is scaled by its own ±30 %."""

    shape: ModelShape
    devices: int
    hardware: Hardware
    seed: int | None = None

    @classmethod
    def of(cls, shape: ModelShape, devices: int) -> Plan:
        return cls(shape, devices, load_hardware())

    def perturbed(self, seed: int | None) -> Plan:
        """The same plan with every named duration multiplied by a seeded factor within ±30 %."""
        return replace(self, seed=seed)

    def throttled(self, slowdown: float) -> Plan:
        """The same plan on devices whose clocks are lower by the factor `slowdown`."""
        return replace(self, hardware=self.hardware.throttled(slowdown))

    def factor(self, name: str) -> float:
        """What the duration `name` is multiplied by: the same on every rank, 1 without a seed."""
        if self.seed is None:
            return 1.0
        digest = hashlib.blake2b(f"{self.seed}:{name}".encode(), digest_size=8).digest()
        share = int.from_bytes(digest, "big") / 2**64
        return 1 - PERTURBATION + 2 * PERTURBATION * share

    # The pieces of a step. `sequences` sequences of `length` tokens each.

    def block_forward_s(self, sequences: float, length: float) -> float:
        flops = self.shape.block_forward_flops(sequences, length)
        return self.factor("block-forward") * self.hardware.compute_s(flops, kernels=BLOCK_FORWARD_KERNELS)

    def block_backward_s(self, sequences: float, length: float) -> float:
        flops = 2 * self.shape.block_forward_flops(sequences, length)
        return self.factor("block-backward") * self.hardware.compute_s(flops, kernels=BLOCK_BACKWARD_KERNELS)

    def head_forward_s(self, sequences: float, length: float) -> float:
        flops = self.shape.head_forward_flops(sequences, length)
        return self.factor("head-forward") * self.hardware.compute_s(flops, kernels=EDGE_FORWARD_KERNELS)

    def head_backward_s(self, sequences: float, length: float) -> float:
        flops = 2 * self.shape.head_forward_flops(sequences, length)
        return self.factor("head-backward") * self.hardware.compute_s(flops, kernels=EDGE_BACKWARD_KERNELS)

    def optimizer_s(self) -> float:
        kernels = self.shape.optimizer_kernels
        seconds = self.hardware.compute_s(0.0, self.shape.optimizer_bytes, kernels)
        return self.factor("optimizer") * seconds

    def all_reduce_s(self, reduced_bytes: float) -> float:
        return self.factor("all-reduce") * self.hardware.all_reduce_s(reduced_bytes, self.devices)

    def broadcast_s(self, sent_bytes: float) -> float:
        return self.factor("broadcast") * self.hardware.broadcast_s(sent_bytes, self.devices)

    def reduce_s(self, reduced_bytes: float) -> float:
        return self.factor("reduce") * self.hardware.broadcast_s(reduced_bytes, self.devices)

    def copy_s(self, copied_bytes: float) -> float:
        return self.factor("copy") * self.hardware.copy_s(copied_bytes)

    def launch_s(self) -> float:
        """What one kernel costs the host."""
        return self.factor("launch") * self.hardware.launch_s

    def decode_s(self, planned_s: float) -> float:
        """What a loader's worker spends on a sample that the demo plans at `planned_s`."""
        return self.factor("decode") * planned_s

    def described(
        self, sequences: float, length: float, *, decode_s: float = 0.0
    ) -> dict[str, dict[str, float | str]]:
        """Every named duration for one batch of a device, in seconds, with how it came about."""
        hardware, shape = self.hardware, self.shape
        arithmetic = f"at {hardware.flops_efficiency:.0%} of {hardware.peak_flops / 1e12:.0f} TFLOP/s"
        link = f"at {hardware.link_efficiency:.0%} of {hardware.link_bandwidth / 1e9:.0f} GB/s"
        batch = f"{sequences:g} x {length:g} tokens"
        weights = shape.parameter_bytes
        forward = shape.layers * shape.block_forward_flops(sequences, length)
        head = shape.head_forward_flops(sequences, length)
        entries: dict[str, tuple[float, str]] = {
            "block-forward": (
                shape.layers * self.block_forward_s(sequences, length),
                f"{shape.layers} blocks on {batch}: {forward:.3g} operations {arithmetic}",
            ),
            "block-backward": (
                shape.layers * self.block_backward_s(sequences, length),
                "twice the operations of the forward",
            ),
            "head-forward": (
                self.head_forward_s(sequences, length),
                f"{head:.3g} operations {arithmetic}",
            ),
            "head-backward": (
                self.head_backward_s(sequences, length),
                "twice the operations of the forward",
            ),
            "optimizer": (
                self.optimizer_s(),
                f"AdamW over {shape.parameters / 1e9:.2f} G parameters: {shape.optimizer_bytes / 1e9:.0f} GB "
                f"at {hardware.memory_efficiency:.0%} of {hardware.memory_bandwidth / 1e12:.2f} TB/s",
            ),
            "all-reduce": (
                self.all_reduce_s(weights),
                f"ring over {self.devices} devices of {weights / 1e9:.2f} GB of gradients {link}",
            ),
            "broadcast": (
                self.broadcast_s(weights),
                f"{weights / 1e9:.2f} GB of parameters {link}",
            ),
            "reduce": (
                self.reduce_s(weights),
                f"{weights / 1e9:.2f} GB of gradients {link}",
            ),
            "copy": (self.copy_s(1e9), f"1 GB between two devices {link}"),
            "launch": (self.launch_s(), "what one kernel costs the host"),
            "decode": (self.decode_s(decode_s), "what a worker spends on one sample, as the demo plans it"),
        }
        return {name: {"seconds": seconds, "from": words} for name, (seconds, words) in entries.items()}
