"""Windows of several ranks become samples when all ranks have them."""

from __future__ import annotations

from quizapp.lab.merge import Merger
from quizapp.lab.protocol import Sample, decode

ROW = [0.5, 0.25, 0.125, 0.0, 1000]


def test_a_sample_waits_for_the_slowest_rank() -> None:
    merger = Merger(devices=2, ranks=2)
    merger.add(0, 0, [(0, 0.1), (0.1, 0.2)], {0: [ROW, ROW]}, [0, 1], warmup=True)
    assert list(merger.samples()) == []
    merger.add(1, 0, [(0, 0.1)], {1: [ROW]}, [0], warmup=True)
    (first,) = merger.samples()
    assert first["t_s"] == 0.1
    assert first["meters"]["util"] == [0.75, 0.75]
    merger.add(1, 1, [(0.1, 0.2)], {1: [ROW]}, [0], warmup=False)
    (second,) = merger.samples()
    assert second["step"] == 0  # the last one that every rank has finished
    assert second["warmup"]


def test_a_sample_is_a_line_of_the_protocol() -> None:
    import json

    merger = Merger(devices=1, ranks=1)
    merger.add(0, 0, [(0, 0.1)], {0: [ROW]}, [3], warmup=False)
    (sample,) = merger.samples()
    decoded = decode(json.dumps(sample), devices=1)
    assert isinstance(decoded, Sample)
    assert decoded.meters["memory_bytes"] == (1000,)


def test_on_real_devices_utilisation_is_left_to_nvml() -> None:
    merger = Merger(devices=1, ranks=1, zero_monotonic_s=50.0)
    merger.add(0, 0, [(0, 0.1)], {0: [ROW]}, [3], warmup=False)
    (sample,) = merger.samples()
    assert sample["meters"]["util"] == [None]
    assert sample["meters"]["compute"] == [0.5]
    assert sample["monotonic_s"] == 50.1
