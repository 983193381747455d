"""The cost model: seconds from operations and bytes, on figures that all name their source."""

from __future__ import annotations

import json

import pytest

from quizapp.lab.cost import HARDWARE, load_hardware, sources
from quizapp.lab.shape import SIZES


@pytest.mark.parametrize("path", sorted(HARDWARE.glob("*.json")), ids=lambda path: path.stem)
def test_every_figure_of_a_device_has_a_unit_and_says_where_it_comes_from(path) -> None:
    for figure in json.loads(path.read_text())["figures"].values():
        assert figure["value"] > 0
        assert figure["unit"]
        assert len(figure["source"].split()) > 2
    hardware = load_hardware(path.stem)
    assert set(sources(path.stem)) >= {"peak_flops", "flops_efficiency", "capacity_bytes"}
    assert 0 < hardware.flops_efficiency <= 1


def test_work_is_bound_by_arithmetic_by_memory_or_by_the_shortest_kernel() -> None:
    hardware = load_hardware()
    rate = hardware.peak_flops * hardware.flops_efficiency
    assert hardware.compute_s(rate) == pytest.approx(1.0)
    moved = hardware.memory_bandwidth * hardware.memory_efficiency
    assert hardware.compute_s(rate, 2 * moved) == pytest.approx(2.0)
    assert hardware.compute_s(0.0, kernels=10) == pytest.approx(10 * hardware.shortest_kernel_s)


def test_lower_clocks_slow_arithmetic_and_leave_memory_and_links_as_they_are() -> None:
    hardware = load_hardware()
    slow = hardware.throttled(2.0)
    assert slow.compute_s(1e15) == pytest.approx(2 * hardware.compute_s(1e15))
    assert slow.compute_s(1.0, 1e12) == hardware.compute_s(1.0, 1e12)
    assert slow.all_reduce_s(1e9, 8) == hardware.all_reduce_s(1e9, 8)


def test_a_ring_moves_almost_twice_the_bytes_and_one_device_needs_none() -> None:
    hardware = load_hardware()
    sent = hardware.link_bandwidth * hardware.link_efficiency
    assert hardware.all_reduce_s(sent, 8) == pytest.approx(1.75, rel=1e-3)
    assert hardware.broadcast_s(sent, 8) == pytest.approx(1.0, rel=1e-3)
    assert hardware.all_reduce_s(sent, 1) == 0
    assert hardware.broadcast_s(sent, 1) == 0


@pytest.mark.parametrize(("name", "parameters"), [("125M", 124e6), ("1.3B", 1.31e9), ("7B", 6.65e9)])
def test_a_size_has_the_parameters_that_its_name_says(name: str, parameters: float) -> None:
    assert SIZES[name].parameters == pytest.approx(parameters, rel=0.01)


def test_operations_grow_with_tokens_and_with_the_square_of_the_length() -> None:
    shape = SIZES["1.3B"]
    assert shape.block_forward_flops(2, 1024) == 2 * shape.block_forward_flops(1, 1024)
    products = 2 * 12 * shape.width**2
    assert shape.block_forward_flops(1, 1024) == pytest.approx(1024 * (products + 2 * shape.width * 1024))
    assert shape.block_forward_flops(1, 4096) > 4 * shape.block_forward_flops(1, 1024)
