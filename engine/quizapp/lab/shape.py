"""The shape of the language model that a demo trains, and what it costs in operations, bytes and kernels.

Everything here is arithmetic on the shape. Seconds are made of it in `cost`, and durations of a run in
`plan`.
"""

from __future__ import annotations

from dataclasses import dataclass

FLOAT32_BYTES = 4

# Kernels of one eager transformer block under autocast: two norms, four matrix products with the casts of
# their weights, attention, activation, two residual sums; and of their backward.
BLOCK_FORWARD_KERNELS = 20
BLOCK_BACKWARD_KERNELS = 40
EDGE_FORWARD_KERNELS = 8  # embedding, last norm, output projection, cross-entropy
EDGE_BACKWARD_KERNELS = 16
TENSORS_PER_BLOCK = 8

# AdamW over lists of tensors (foreach, PyTorch's default on CUDA) goes over memory in these passes:
# decay, first moment, second moment (twice), root, two divisions and sums, update. Reads and writes per
# parameter.
OPTIMIZER_ACCESSES = 21
OPTIMIZER_KERNELS = 12
TENSORS_PER_FOREACH_KERNEL = 48

# What autograd keeps under bfloat16 autocast with fused attention, found by MemTracker;
# tests/lab/test_memory.py holds these against it. Per token and unit of width, in bytes; and each weight's
# copy in bfloat16.
BLOCK_KEPT_BYTES = 36
CHECKPOINT_KEPT_BYTES = 4
WEIGHT_COPY_BYTES = 2
# Per token and entry of the vocabulary: log-probabilities in float32 are kept; the logits, in bfloat16 and in
# float32, live during the forward, and two gradients in float32 during the backward.
HEAD_KEPT_BYTES = 4
HEAD_FORWARD_BYTES = 6
HEAD_BACKWARD_BYTES = 8


@dataclass(frozen=True)
class ModelShape:
    """A GPT: `layers` blocks of `width`, tied embeddings over `vocabulary` tokens."""

    name: str
    layers: int
    width: int
    vocabulary: int = 50257

    @property
    def block_parameters(self) -> int:
        return 12 * self.width * self.width + 2 * self.width

    @property
    def embedding_parameters(self) -> int:
        return self.vocabulary * self.width

    @property
    def parameters(self) -> int:
        return self.layers * self.block_parameters + self.embedding_parameters

    @property
    def parameter_bytes(self) -> int:
        return self.parameters * FLOAT32_BYTES

    def block_forward_flops(self, sequences: float, length: float) -> float:
        """One block on `sequences` of `length` tokens: four matrix products and causal attention."""
        products = 2 * 12 * self.width**2 * length
        attention = 2 * self.width * length**2
        return sequences * (products + attention)

    def head_forward_flops(self, sequences: float, length: float) -> float:
        """The output projection; the embedding's look-up costs next to nothing."""
        return sequences * 2 * self.width * self.vocabulary * length

    @property
    def optimizer_bytes(self) -> float:
        return float(self.parameters) * OPTIMIZER_ACCESSES * FLOAT32_BYTES

    @property
    def optimizer_kernels(self) -> int:
        tensors = self.layers * TENSORS_PER_BLOCK + 2
        return OPTIMIZER_KERNELS * -(-tensors // TENSORS_PER_FOREACH_KERNEL)

    def block_kept_bytes(self, sequences: float, length: float, *, checkpointing: bool = False) -> float:
        """What one block leaves for its backward; with checkpointing, its input alone."""
        states = sequences * length * self.width
        if checkpointing:
            return states * CHECKPOINT_KEPT_BYTES
        return states * BLOCK_KEPT_BYTES + self.block_parameters * WEIGHT_COPY_BYTES

    def head_kept_bytes(self, sequences: float, length: float) -> float:
        logits = sequences * length * self.vocabulary
        return logits * HEAD_KEPT_BYTES + self.embedding_parameters * WEIGHT_COPY_BYTES

    def head_forward_bytes(self, sequences: float, length: float) -> float:
        return sequences * length * self.vocabulary * HEAD_FORWARD_BYTES

    def head_backward_bytes(self, sequences: float, length: float) -> float:
        return sequences * length * self.vocabulary * HEAD_BACKWARD_BYTES


# The table of the GPT-3 paper; "tiny" is the size of a first experiment.
SIZES = {
    shape.name: shape
    for shape in (
        ModelShape("tiny", 24, 256),
        ModelShape("125M", 12, 768),
        ModelShape("350M", 24, 1024),
        ModelShape("760M", 24, 1536),
        ModelShape("1.3B", 24, 2048),
        ModelShape("2.7B", 32, 2560),
        ModelShape("7B", 32, 4096),
    )
}
