"""Predicts the peak memory of a training step by category, without allocating it.

PyTorch's own MemTracker follows the real model under FakeTensorMode. Memory grows by the same amount with
each block, so two shallow models give the line on which the deep one lies; a test holds that against a whole
one.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from quizapp.content import cache_dir
from quizapp.lab import gpt
from quizapp.lab.cost import Hardware, load_hardware
from quizapp.lab.shape import FLOAT32_BYTES, ModelShape

HEAD_WIDTH = 64
PROBED_LAYERS = (3, 5)
PHASES = ("backward", "optimizer")
NAMES = {
    "Parameter": "parameters",
    "Buffer": "parameters",
    "Gradient": "gradients",
    "Activation": "activations",
    "Optstate": "optimizer",
    "Temp": "temporaries",
    "Inputs": "inputs",
    "Other": "other",
}

Categories = dict[str, float]


@dataclass(frozen=True)
class Prediction:
    """The largest memory of one rank's step: bytes by category, and the phase of the step that needs it."""

    peak_bytes: int
    capacity_bytes: int
    fits: bool
    phase: str
    categories: dict[str, int]
    by: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def probe(
    shape: ModelShape, layers: int, sequences: int, length: int, *, checkpointing: bool
) -> dict[str, Categories]:
    """For each phase of the second step, the bytes by category at its peak, with `layers` blocks."""
    from torch.distributed._tools.mem_tracker import MemTracker

    peaks: dict[str, Categories] = {}
    with FakeTensorMode():
        model = gpt.GPT(
            layers, shape.width, shape.width // HEAD_WIDTH, shape.vocabulary, checkpointing=checkpointing
        )
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True)
        tracker = MemTracker()
        tracker.track_external(model, optimizer)
        tokens = torch.zeros(sequences, length + 1, dtype=torch.int64)
        with tracker:
            for _ in range(2):  # the optimizer's state comes with the first step
                with torch.autocast("cpu", torch.bfloat16):
                    loss = model(tokens).mean()
                loss.backward()
                peaks["backward"] = _take_peak(tracker)
                optimizer.step()
                peaks["optimizer"] = _take_peak(tracker)
                optimizer.zero_grad()
                tracker.reset_mod_stats()
    return peaks


def predict(
    shape: ModelShape,
    sequences: int,
    length: int,
    *,
    checkpointing: bool = False,
    ranks: int = 1,
    hardware: Hardware | None = None,
) -> Prediction:
    """The peak of one rank's step under bfloat16 autocast and AdamW, in bytes.

    MemTracker follows the bare model: the buckets of DDP and the CUDA context are added by hand. What
    fragmentation costs is left out.
    """
    hardware = hardware or load_hardware()
    shallow, deep = (
        probe(shape, layers, sequences, length, checkpointing=checkpointing) for layers in PROBED_LAYERS
    )
    by_hand = {"context": hardware.context_bytes}
    if ranks > 1:
        by_hand["gradient buckets"] = float(shape.parameters * FLOAT32_BYTES)
    candidates = {phase: _extended(shallow[phase], deep[phase], shape.layers) | by_hand for phase in PHASES}
    phase = max(candidates, key=lambda name: sum(candidates[name].values()))
    categories = {name: round(count) for name, count in candidates[phase].items() if round(count)}
    peak = sum(categories.values())
    capacity = int(hardware.capacity_bytes)
    by = (
        "MemTracker under FakeTensorMode, extended over the depth; DDP buckets and CUDA context added by hand"
    )
    return Prediction(peak, capacity, peak <= capacity, phase, categories, by)


def predict_cached(
    shape: ModelShape,
    sequences: int,
    length: int,
    *,
    checkpointing: bool = False,
    ranks: int = 1,
    folder: Path | None = None,
) -> Prediction:
    """`predict`, kept on disk by everything that it depends on; a damaged or unwritable cache costs a
    second.
    """
    hardware = load_hardware()
    sources = Path(__file__).read_text(encoding="utf-8") + Path(gpt.__file__).read_text(encoding="utf-8")
    asked = [
        torch.__version__,
        repr(shape),
        sequences,
        length,
        checkpointing,
        ranks > 1,
        repr(hardware),
        sources,
    ]
    key = hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:32]
    path = (folder or cache_dir() / "memory") / f"{key}.json"
    try:
        return Prediction(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        pass
    prediction = predict(
        shape, sequences, length, checkpointing=checkpointing, ranks=ranks, hardware=hardware
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_text(json.dumps(prediction.as_json()), encoding="utf-8")
        unfinished.replace(path)
    except OSError:
        pass
    return prediction


def _take_peak(tracker: Any) -> Categories:
    """The peak since the last call, and forget it: MemTracker keeps one for the whole run."""
    (snapshot,) = tracker.get_tracker_snapshot("peak").values()
    tracker._peak_mem = {}
    tracker._peak_mem_snap = {}
    taken: Categories = {}
    for reference, count in snapshot.items():
        name = NAMES.get(getattr(reference, "value", ""), "")
        if name:
            taken[name] = taken.get(name, 0.0) + count
        elif reference != "Total" and count:
            raise ValueError(f"MemTracker has a category that the lab doesn't know: {reference}")
    return taken


def _extended(shallow: Categories, deep: Categories, layers: int) -> Categories:
    few, more = PROBED_LAYERS
    return {
        name: shallow.get(name, 0.0)
        + (deep.get(name, 0.0) - shallow.get(name, 0.0)) * (layers - few) / (more - few)
        for name in dict.fromkeys((*shallow, *deep))
    }
