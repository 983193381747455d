from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab_lines import samples
from quizapp.lab.meters import deviation, stats
from quizapp.lab.protocol import Sample


def test_a_meter_is_summed_up_by_device() -> None:
    first, second = stats(samples({"util": [[1.0, 0.5, 0.0, 0.5], [1.0] * 4]}), "util", 2)
    assert first is not None
    assert second is not None
    assert (first.mean, first.min, first.max) == (0.5, 0.0, 1.0)
    assert first.as_json() == {"mean": 0.5, "min": 0.0, "max": 1.0, "longest_zero_s": pytest.approx(0.1)}
    assert second.longest_zero_s == 0


def test_windows_count_by_their_length() -> None:
    long = Sample(t_s=0.9, window_s=0.9, meters={"util": (1.0,)})
    short = Sample(t_s=1.0, window_s=0.1, meters={"util": (0.0,)})
    stat = stats([long, short], "util", 1)[0]
    assert stat is not None
    assert stat.mean == pytest.approx(0.9)
    sd = deviation([long, short], "util", 0, 1)
    assert sd == pytest.approx(0.3)


def test_the_longest_stretch_at_zero_needs_every_window_in_it() -> None:
    stat = stats(samples({"util": [[0.0, 0.0, 0.5, 0.0, 0.004, 0.0, 1.0, 0.0]]}), "util", 1)[0]
    assert stat is not None
    assert stat.longest_zero_s == pytest.approx(0.3)


def test_a_hole_or_an_unavailable_window_is_not_zero() -> None:
    full = samples({"util": [[0.0] * 10]})
    holed = stats(full[:4] + full[6:], "util", 1)[0]
    unknown = stats(samples({"util": [[0.0, 0.0, None, 0.0]]}), "util", 1)[0]
    assert holed is not None
    assert unknown is not None
    assert holed.longest_zero_s == pytest.approx(0.4)
    assert unknown.longest_zero_s == pytest.approx(0.2)


def test_what_was_never_available_is_none_and_not_zero() -> None:
    assert stats(samples({"util": [[None, None], [0.0, None]]}), "util", 2)[0] is None
    assert stats(samples({"util": [[1.0]]}), "data_wait", 1) == [None]
    assert deviation(samples({"util": [[1.0]]}), "data_wait", 0, 1) is None
    assert stats([], "util", 2) == [None, None]


def test_the_warm_up_is_left_out() -> None:
    stat = stats(samples({"util": [[0.0, 0.0, 1.0, 1.0]]}, warmup=2), "util", 1)[0]
    assert stat is not None
    assert (stat.mean, stat.longest_zero_s) == (1.0, 0)


@given(st.lists(st.floats(0, 1) | st.none(), min_size=1, max_size=40))
def test_a_summary_lies_within_its_readings(windows: list[float | None]) -> None:
    stat = stats(samples({"util": [windows]}), "util", 1)[0]
    known = [value for value in windows if value is not None]
    if not known:
        assert stat is None
        return
    assert stat is not None
    assert stat.min == min(known)
    assert stat.max == max(known)
    assert stat.min - 1e-12 <= stat.mean <= stat.max + 1e-12
    zeros = sum(value < 0.005 for value in known)
    assert stat.longest_zero_s <= zeros * 0.1 + 1e-9
    assert (stat.longest_zero_s > 0) == (zeros > 0)
