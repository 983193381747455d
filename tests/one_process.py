"""The same training without any parallelism, for demos whose ranks take turns through one corpus."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from forked_demo import run
from quizapp.lab.charge import StandIn
from quizapp.lab.gpt import GPT
from quizapp.lab.loader import Corpus, collate

LENGTH = 2048


def parameters(devices: int, batch: int, steps: int) -> list[torch.Tensor]:
    """Those of one process that trains on what `devices` ranks train on, `batch` sequences each."""
    torch.set_num_threads(1)
    shape = StandIn(layers=2)
    torch.manual_seed(0)
    model = GPT(shape.layers, shape.width, shape.heads, shape.vocabulary).double()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    corpus = Corpus([LENGTH // shape.tokens_each], shape.vocabulary)
    for step in range(steps):
        samples = range(step * batch * devices, (step + 1) * batch * devices)
        tokens, _, _ = collate([corpus[sample] for sample in samples])
        model(tokens).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    return [parameter.detach() for parameter in model.parameters()]


def assert_all_end_alike(demo: str, runs: Mapping[str, Mapping[str, Any]], folder: Path) -> None:
    """Each variant ends with the parameters of one process, and all of them with the same bits."""
    devices, batch, steps = 3, 8, 3
    reference = parameters(devices, batch, steps)
    ended = []
    for variant, params in runs.items():
        path = folder / variant
        run(demo, variant, devices=devices, steps=steps, params=params, parameters_to=str(path))
        ended.append(torch.load(path))
        for ours, theirs in zip(ended[-1], reference, strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-8, atol=1e-10)
    for tensors in zip(*ended, strict=True):
        assert all(torch.equal(tensors[0], other) for other in tensors[1:])
