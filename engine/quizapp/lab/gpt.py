"""The language model that every demo trains: a plain GPT, small enough to be read and run anywhere.

On an emulated device it is a stand-in: few narrow blocks whose costs are those of the stated shape.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    """One pre-norm transformer block. x: (B, T, C)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(width, bias=False)
        self.query_key_value = nn.Linear(width, 3 * width, bias=False)
        self.attention_out = nn.Linear(width, width, bias=False)
        self.mlp_norm = nn.LayerNorm(width, bias=False)
        self.mlp_in = nn.Linear(width, 4 * width, bias=False)
        self.mlp_out = nn.Linear(4 * width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        B, T, C = x.shape
        qkv = self.query_key_value(self.attention_norm(x))
        q, k, v = qkv.view(B, T, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)  # each (B, nh, T, hs)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.attention_out(mixed.transpose(1, 2).reshape(B, T, C))
        mlp: Tensor = self.mlp_out(F.gelu(self.mlp_in(self.mlp_norm(x))))
        return x + mlp


class Head(nn.Module):
    """The last norm, the projection onto the vocabulary with the embedding's weight, the loss of each
    sequence.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width, bias=False)

    def forward(self, x: Tensor, embedding: Tensor, targets: Tensor) -> Tensor:
        logits = F.linear(self.norm(x), embedding)  # (B, T, V)
        losses: Tensor = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")
        mean: Tensor = losses.view(targets.shape).mean(dim=1)  # (B)
        return mean


class GPT(nn.Module):
    """tokens: (B, T + 1) → the mean loss of each sequence, (B).

    With `lengths` the sequences are taken one by one without their padding, as packed attention would.
    """

    def __init__(
        self, layers: int, width: int, heads: int, vocabulary: int, *, checkpointing: bool = False
    ) -> None:
        super().__init__()
        self.checkpointing = checkpointing
        self.embedding = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.head = Head(width)
        nn.init.normal_(self.embedding.weight, std=0.02)

    def forward(self, tokens: Tensor, lengths: Tensor | None = None) -> Tensor:
        with torch.autocast("cuda", torch.bfloat16, enabled=tokens.is_cuda):
            if lengths is None:
                return self._losses(tokens)
            rows = [row[None, : length + 1] for row, length in zip(tokens, lengths.tolist(), strict=True)]
            return torch.cat([self._losses(row) for row in rows])

    def _losses(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens[:, :-1])
        for block in self.blocks:
            x = self._run(block, x)
        losses: Tensor = self._run(self.head, x, self.embedding.weight, tokens[:, 1:])
        return losses

    def _run(self, module: nn.Module, *inputs: Tensor) -> Tensor:
        if self.checkpointing:
            # Keep the inputs alone, and run the module again in the backward.
            again: Tensor = checkpoint(module, *inputs, use_reentrant=False, preserve_rng_state=False)
            return again
        output: Tensor = module(*inputs)
        return output
