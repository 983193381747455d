"""tiny-model: the host can't launch fast enough, and a larger model under the same loop is healthy."""

from __future__ import annotations

from forked_demo import run


def test_every_device_is_mostly_idle_steadily_and_waits_for_nothing() -> None:
    ran = run("tiny-model", "fault", devices=4)
    assert max(ran.mean("compute")) < 0.5
    assert max(ran.mean("data_wait") + ran.mean("host_wait")) < 0.02
    for device in range(4):
        shares = [s["meters"]["compute"][device] for s in ran.measured if s["window_s"] > 0.09]
        assert max(shares) - min(shares) < 0.1
    assert max(ran.largest_memory()) < 8 * 2**30


def test_more_work_for_each_launch_fills_the_device() -> None:
    small, large = (
        run("tiny-model", "fault", params={"batch": batch}).mean("compute")[0] for batch in (1, 16)
    )
    assert large > 2 * small
