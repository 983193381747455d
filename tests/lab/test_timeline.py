"""Logical time: launches, gaps, waits and their reasons, memory, windows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizapp.lab.timeline import DATA, HOST, Device, Host, Meter


def test_a_device_works_off_what_the_host_launches_ahead() -> None:
    host, device = Host(), Device()
    starts = [device.launch(host, 1.0, 10, 0.01) for _ in range(3)]
    assert starts == pytest.approx([0.01, 1.01, 2.01])
    assert device.tail_s == pytest.approx(3.01)
    assert host.now_s == pytest.approx(0.3)


def test_where_the_host_is_slower_the_gaps_are_no_wait() -> None:
    host, device = Host(), Device()
    meter = Meter(device, host, 0.1)
    for _ in range(10):
        device.launch(host, 0.02, 10, 0.01)
    host.wait_until(device.tail_s, HOST)
    windows = meter.close(host.now_s)
    for window in windows[1:-1]:
        assert window.compute == pytest.approx(0.2, abs=0.03)
        assert window.data_wait == window.host_wait == 0


def test_a_full_launch_queue_blocks_the_host_until_there_is_room() -> None:
    host, device = Host(), Device(launch_queue=100)
    device.launch(host, 10.0, 100, 0.0)
    assert host.now_s == 0
    device.launch(host, 5.0, 50, 0.0)
    assert host.now_s == pytest.approx(5.0)  # half of the first hundred must be done
    assert host.waits[HOST] == [(0.0, pytest.approx(5.0))]


def test_idle_time_has_the_reason_of_what_the_host_or_another_device_was_at() -> None:
    host, device = Host(), Device()
    meter = Meter(device, host, 1.0)
    host.wait_until(1.0, DATA)
    device.launch(host, 1.0, 1, 0.0)
    device.wait_for(3.0)
    device.communicate(3.0, 4.0)
    device.wait_for(4.0)
    host.wait_until(4.0, HOST)
    host.run(1.0)
    windows = meter.close(5.0)
    read = [(w.compute, w.collective, w.data_wait, w.host_wait) for w in windows]
    assert read == [
        pytest.approx(expected)
        for expected in [(0, 0, 1, 0), (1, 0, 0, 0), (0, 0, 0, 1), (0, 1, 0, 0), (0, 0, 0, 0)]
    ]


def test_a_collective_behind_compute_counts_as_compute() -> None:
    host, device = Host(), Device()
    meter = Meter(device, host, 1.0)
    device.launch(host, 2.0, 1, 0.0)
    device.communicate(1.0, 2.5)
    first, second, third = meter.close(3.0)
    assert (first.collective, second.collective) == (0, 0)
    assert second.compute == pytest.approx(1)
    assert third.collective == pytest.approx(0.5)


def test_a_window_s_memory_is_its_largest_and_what_is_held_stays() -> None:
    host, device = Host(), Device()
    meter = Meter(device, host, 1.0)
    for moment_s, held in [(0.0, 5), (0.2, 90), (0.3, 10), (2.5, 7)]:
        device.hold(moment_s, held)
    assert [window.memory_bytes for window in meter.close(4.0)] == [90, 10, 10, 7]


def test_windows_are_counted_anew_where_they_are_cut() -> None:
    meter = Meter(Device(), Host(), 0.1)
    spans = [(w.start_s, w.end_s) for w in meter.cut(0.25)] + [
        (w.start_s, w.end_s) for w in meter.close(0.48)
    ]
    assert spans == [
        pytest.approx(span) for span in [(0, 0.1), (0.1, 0.2), (0.2, 0.25), (0.25, 0.35), (0.35, 0.45)]
    ]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["launch", "data", "wait_for", "communicate", "sync", "run"]),
            st.floats(0.001, 0.7),
            st.integers(1, 50),
        ),
        max_size=30,
    ),
    st.floats(0.05, 0.5),
)
def test_phases_exclude_each_other_and_no_work_is_lost(
    events: list[tuple[str, float, int]], window_s: float
) -> None:
    host, device = Host(), Device(launch_queue=64)
    meter = Meter(device, host, window_s)
    launched_s, read_s = 0.0, 0.0
    windows = []
    for kind, seconds, kernels in events:
        if kind == "launch":
            device.launch(host, seconds, kernels, 0.001)
            launched_s += seconds
        elif kind == "data":
            host.wait_until(host.now_s + seconds, DATA)
        elif kind == "wait_for":
            device.wait_for(device.tail_s + seconds)
        elif kind == "communicate":
            start_s = max(device.tail_s, device.collectives[-1][1] if device.collectives else 0.0)
            device.communicate(start_s, start_s + seconds)
            device.wait_for(start_s + seconds)
        elif kind == "run":
            host.run(seconds)
        else:
            host.wait_until(device.tail_s, HOST)
            windows += meter.close(host.now_s)
            meter.forget()
    host.wait_until(device.tail_s, HOST)
    windows += meter.cut(host.now_s)
    for window in windows:
        length = window.end_s - window.start_s
        phases = (window.compute, window.collective, window.data_wait, window.host_wait)
        assert all(share >= -1e-6 for share in phases)
        assert sum(phases) <= 1 + 1e-6
        read_s += window.compute * length
    assert read_s == pytest.approx(launched_s, abs=1e-3)
