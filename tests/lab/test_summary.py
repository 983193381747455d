from __future__ import annotations

import json
from pathlib import Path

from demo_programs import demo
from lab_lines import samples, start, steady, summary
from quizapp.lab.printed import SampleLines, head_lines, summary_lines
from quizapp.lab.protocol import Outcome, Sample
from quizapp.lab.summary import as_declared, summarise, summarise_lines

KEYS = [
    "demo",
    "variant",
    "device_kind",
    "devices",
    "params",
    "outcome",
    "diagnosis",
    "wall_s",
    "device_s",
    "processes",
    "meters",
]
METERS = ["util", "compute", "collective", "data_wait", "host_wait", "memory_bytes"]


def test_json_has_exactly_the_promised_keys() -> None:
    told = summary({"util": steady([0.9, 0.9]), "compute": steady([0.9, 0.8])}).as_json()
    assert list(told) == KEYS
    meters = told["meters"]
    assert isinstance(meters, dict)
    assert list(meters) == METERS
    assert set(meters["compute"][1]) == {"mean", "min", "max", "longest_zero_s"}
    assert meters["collective"] == [None, None]
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_an_emulated_run_says_so_whatever_the_demo_says() -> None:
    emulated = summary({"util": steady([0.9])}, notice="")
    assert "no GPU was used" in emulated.notice
    assert "no GPU was used" in "\n".join(summary_lines(emulated)).replace("\n", " ")
    assert summary({"util": steady([0.9])}, device_kind="cuda").notice == ""


def test_cuda_runs_also_have_power_and_clock() -> None:
    cuda = summary({"util": steady([0.9]), "power_w": steady([300.0])}, device_kind="cuda")
    assert cuda.meters["power_w"][0] is not None
    assert cuda.meters["clock_mhz"] == [None]
    assert "power_w" not in summary({"util": steady([0.9])}).meters


def test_the_peak_of_memory_counts_from_the_beginning() -> None:
    lines = samples({"memory_bytes": [[9, 5, 5]], "util": [[0.0, 1.0, 1.0]]}, warmup=1)
    told = summarise(start(1), lines, Outcome(outcome="out-of-memory"))
    assert told.meters["memory_bytes"][0] is not None
    assert told.meters["memory_bytes"][0].max == 9
    assert told.meters["util"][0] is not None
    assert told.meters["util"][0].mean == 1.0


def test_a_run_that_broke_off_lasted_as_long_as_its_samples() -> None:
    told = summarise(start(1), samples({"util": steady([1.0], 5)}), Outcome(outcome="crashed", wall_s=3.0))
    assert (told.device_s, told.wall_s, told.diagnosis) == (0.5, 3.0, "inconclusive")


def test_a_run_that_never_started_is_summed_up_by_what_was_asked_for() -> None:
    told = summarise(None, [], Outcome(outcome="crashed"), start(3))
    assert told.devices == 3
    assert told.as_json()["meters"] == {name: [None] * 3 for name in METERS}


def test_what_a_variant_declares_is_held_against_the_run(tmp_path: Path) -> None:
    declared = demo(tmp_path, "pass")
    healthy = summary({"compute": steady([0.95] * 2)}, variant="fix")
    assert as_declared(declared, healthy) == ""
    faulty = summary({"compute": steady([0.95] * 2)}, variant="fault")
    assert as_declared(declared, faulty) == "the diagnosis is healthy, the demo declares imbalance"
    crashed = summary({"compute": steady([0.95] * 2)}, variant="fix", outcome=Outcome(outcome="crashed"))
    assert "the outcome is crashed" in as_declared(declared, crashed)


def test_a_record_for_the_store_is_json_and_keeps_the_reason_and_the_notice() -> None:
    record = summary({"compute": steady([0.95] * 2)}).record()
    assert json.loads(json.dumps(record)) == record
    assert record["reason"]
    assert record["notice"]


def test_lines_of_a_run_are_summed_up_in_one_go() -> None:
    lines = [start(1), *samples({"compute": steady([0.9])}), Outcome(outcome="completed")]
    assert summarise_lines(lines).diagnosis == "healthy"


def test_plain_lines_fit_eight_devices_into_80_columns() -> None:
    told = summary(
        {"util": steady([0.9] * 8), "compute": steady([0.9] * 8), "memory_bytes": steady([2**36] * 8)}
    )
    lines = summary_lines(told) + head_lines(start(8, params={"split": "uneven"}, device_names=("H200",) * 8))
    rows = SampleLines(8)
    for sample in samples({"util": steady([1.0] * 8), "compute": steady([None] * 8)}):
        lines += rows.feed(sample)
    assert max(len(line) for line in lines) <= 80
    assert sum("as nvidia-smi" in line for line in lines) == 3
    assert any("n/a" in line and "compute" in line for line in lines)


def test_a_second_of_samples_gives_its_mean() -> None:
    rows = SampleLines(1)
    told = [
        rows.feed(Sample(t_s=t, window_s=0.5, meters={"compute": (c,)})) for t, c in ((0.5, 1.0), (1.0, 0.0))
    ]
    assert told[0] == []
    assert " 50 %" in told[1][0]
