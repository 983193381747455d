"""From profiled kernels to phases, on made-up kernels: the part of the CUDA path that needs no GPU."""

from __future__ import annotations

import pytest

from quizapp.lab.kernels import Kernel, phases, union
from quizapp.lab.timeline import Device, Host, Meter


def test_overlapping_kernels_count_once() -> None:
    assert union([(3, 4), (0, 2), (1, 2.5), (2.5, 3), (5, 5)]) == [(0, 4)]


@pytest.mark.parametrize(
    "name", ["ncclKernel_AllReduce_RING_LL_Sum_float", "ncclDevKernel_AllReduce_Sum_f32"]
)
def test_collectives_are_told_by_both_of_nccl_s_names_and_devices_apart(name: str) -> None:
    kernels = [
        Kernel("ampere_sgemm", 0, 0.0, 1.0),
        Kernel(name, 0, 0.5, 2.0),
        Kernel("ampere_sgemm", 1, 0.0, 4.0),
    ]
    assert phases(kernels, 0) == ([(0.0, 1.0)], [(0.5, 2.0)])
    assert phases(kernels, 1) == ([(0.0, 4.0)], [])


def test_profiled_phases_are_read_as_emulated_ones_are() -> None:
    device, host = Device(), Host()
    compute, collective = phases([Kernel("gemm", 0, 0.0, 1.0), Kernel("ncclDevKernel", 0, 0.5, 2.0)], 0)
    device.compute += [(start_s, end_s, 1.0) for start_s, end_s in compute]
    device.collectives += collective
    (window,) = Meter(device, host, 4.0).close(4.0)
    assert (window.compute, window.collective) == (0.25, 0.25)
