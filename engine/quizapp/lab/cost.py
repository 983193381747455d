"""The one cost model: operations and bytes to seconds, on a device whose figures come from a file with
sources.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path

HARDWARE = Path(__file__).resolve().parent / "hardware"
DEFAULT_HARDWARE = "h100-sxm-80gb"


@dataclass(frozen=True)
class Hardware:
    """One kind of device. Bandwidths in bytes per second and one direction, efficiencies as ratios."""

    name: str
    peak_flops: float
    flops_efficiency: float
    memory_bandwidth: float
    memory_efficiency: float
    link_bandwidth: float
    link_efficiency: float
    collective_latency_s: float
    launch_s: float
    shortest_kernel_s: float
    launch_queue: float
    capacity_bytes: float
    context_bytes: float

    def compute_s(self, flops: float, moved_bytes: float = 0.0, kernels: int = 1) -> float:
        """Seconds of `kernels` kernels: bound by arithmetic, by memory, or by how short a kernel can be."""
        arithmetic_s = flops / (self.peak_flops * self.flops_efficiency)
        memory_s = moved_bytes / (self.memory_bandwidth * self.memory_efficiency)
        return max(arithmetic_s, memory_s, kernels * self.shortest_kernel_s)

    def throttled(self, slowdown: float) -> Hardware:
        """The same device at lower clocks: its arithmetic takes `slowdown` times as long. Memory and links
        have clocks of their own.
        """
        return replace(self, peak_flops=self.peak_flops / slowdown)

    def copy_s(self, copied_bytes: float) -> float:
        """Seconds to copy between two devices of the node."""
        return copied_bytes / (self.link_bandwidth * self.link_efficiency)

    def broadcast_s(self, sent_bytes: float, devices: int) -> float:
        """Seconds to broadcast to `devices` devices, or to reduce from them: a pipelined ring."""
        return 0.0 if devices == 1 else self.collective_latency_s + self.copy_s(sent_bytes)

    def all_reduce_s(self, reduced_bytes: float, devices: int) -> float:
        """Seconds of a ring all-reduce over `devices` devices."""
        if devices == 1:
            return 0.0
        return self.collective_latency_s + self.copy_s(2 * (devices - 1) / devices * reduced_bytes)


@cache
def load_hardware(name: str = DEFAULT_HARDWARE) -> Hardware:
    """The device of `hardware/<name>.json`."""
    document = json.loads((HARDWARE / f"{name}.json").read_text(encoding="utf-8"))
    figures = document["figures"]
    names = [field.name for field in fields(Hardware) if field.name != "name"]
    return Hardware(document["name"], **{key: float(figures[key]["value"]) for key in names})


def sources(name: str = DEFAULT_HARDWARE) -> dict[str, str]:
    """Where each figure of the device comes from, in words."""
    figures = json.loads((HARDWARE / f"{name}.json").read_text(encoding="utf-8"))["figures"]
    return {key: figure["source"] for key, figure in figures.items()}
