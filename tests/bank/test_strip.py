"""What is taken of a recording, and what is refused, whatever stands in the file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizapp.bank import strip as strips
from quizapp.bank.cache import TICK_NS
from quizapp.bank.library import open_bank
from quizapp.bank.load import load_bank
from quizapp.bank.model import Reading
from quizapp.bank.snapshot import question_from_json, question_to_json
from quizapp.bank.strip import StripError, read_strip
from quizapp.lab.recording import read_recording
from recorded import write_recording

GOOD = Path(__file__).parent.parent / "banks" / "good"
BANK = """\
format: 1
title: Reading
questions:
  - id: which
    kind: reading
    stem: Which?
    recording: run.jsonl
    key: {devices: [0]}
    rationale: It is.
    explanation: {short: It is.}
"""


def test_shares_come_as_they_were_recorded_to_a_percent(tmp_path: Path) -> None:
    write_recording(tmp_path / "run.jsonl", [[0.0, 0.005, 1.0, None], [0.337, 0.5, None, 0.999]])
    strip = read_strip(tmp_path, "run.jsonl")
    assert (strip.devices, strip.windows, strip.duration_s) == (2, 4, 0.4)
    assert strip.shares("compute", 0) == [0.0, 0.0, 1.0, None]
    assert strip.shares("compute", 1) == [0.34, 0.5, None, 1.0]


def test_a_recording_of_the_lab_reads_the_same_in_both_readers() -> None:
    strip = read_strip(GOOD / "recordings", "slow.jsonl")
    start = read_recording(GOOD / "recordings" / "slow.jsonl").start
    assert start is not None
    assert (strip.devices, strip.device_kind, strip.window_s) == (8, "emulated", start.window_s)
    means = [sum(x or 0 for x in strip.shares("compute", d)) / strip.windows for d in range(8)]
    assert max(range(8), key=means.__getitem__) == 4
    assert max(mean for d, mean in enumerate(means) if d != 4) < 0.6


def test_a_sample_that_covers_several_windows_counts_in_each(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "run.jsonl", [[0.2]])
    lines = path.read_text().splitlines()
    sample = json.loads(lines[2]) | {"t_s": 0.25, "window_s": 0.15, "meters": {"compute": [0.8]}}
    path.write_text("\n".join([*lines[:3], json.dumps(sample), lines[3]]))
    assert read_strip(tmp_path, "run.jsonl").shares("compute", 0) == [0.2, 0.8, 0.8]


def test_no_text_of_a_recording_is_taken(tmp_path: Path) -> None:
    write_recording(tmp_path / "run.jsonl", [[0.5]])
    (tmp_path / "b.yaml").write_text(BANK)
    [question] = load_bank(tmp_path / "b.yaml").bank.questions
    assert "secret" not in question_to_json(question)


def test_a_question_keeps_its_strip_through_json() -> None:
    for question in load_bank(GOOD / "reading.yaml").bank.questions:
        assert isinstance(question, Reading)
        assert question.strip is not None
        assert question_from_json(question_to_json(question)) == question


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"devices": 65}, "65 devices"),
        ({"devices": True}, "no start of a run"),
        ({"window_s": 0}, "no start of a run"),
        ({"device_kind": "other"}, "no start of a run"),
    ],
)
def test_a_start_out_of_bounds_is_refused(tmp_path: Path, change: dict[str, object], said: str) -> None:
    path = write_recording(tmp_path / "run.jsonl", [[0.5]])
    lines = path.read_text().splitlines()
    lines[1] = json.dumps(json.loads(lines[1]) | change)
    path.write_text("\n".join(lines))
    with pytest.raises(StripError, match=said):
        read_strip(tmp_path, "run.jsonl")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"t_s": 1e9}, "past 1200 windows"),
        ({"t_s": "1"}, "no sample"),
        ({"t_s": -1}, "no sample"),
        ({"window_s": 0}, "no sample"),
        ({"meters": {"compute": [0.5, 0.5]}}, "has not one compute"),
        ({"meters": {"compute": [2]}}, "between 0 and 1"),
        ({"meters": {"compute": ["x"]}}, "between 0 and 1"),
        ({"meters": {}}, "holds no reading"),
    ],
)
def test_a_sample_out_of_bounds_is_refused(tmp_path: Path, change: dict[str, object], said: str) -> None:
    path = write_recording(tmp_path / "run.jsonl", [[0.5]])
    lines = path.read_text().splitlines()
    lines[2] = json.dumps(json.loads(lines[2]) | change)
    path.write_text("\n".join(lines))
    with pytest.raises(StripError, match=said):
        read_strip(tmp_path, "run.jsonl")


@given(st.binary(max_size=400))
def test_any_bytes_are_refused_in_words(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "run.jsonl").write_bytes(content)
    with pytest.raises(StripError):
        read_strip(folder, "run.jsonl")


def test_what_is_no_file_of_the_folder_is_refused(tmp_path: Path) -> None:
    bank = tmp_path / "bank"
    bank.mkdir()
    write_recording(tmp_path / "run.jsonl", [[0.5]])
    (bank / "link.jsonl").symlink_to(tmp_path / "run.jsonl")
    with pytest.raises(StripError, match="leads out of the bank's folder"):
        read_strip(bank, "link.jsonl")
    os.mkfifo(bank / "pipe.jsonl")
    with pytest.raises(StripError, match="no regular file"):
        read_strip(bank, "pipe.jsonl")
    with pytest.raises(StripError, match="there is no file"):
        read_strip(bank, "none.jsonl")


def test_a_file_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_recording(tmp_path / "run.jsonl", [[0.5] * 20])
    monkeypatch.setattr(strips, "LARGEST_BYTES", 500)
    with pytest.raises(StripError, match="more than"):
        read_strip(tmp_path, "run.jsonl")


def test_a_recording_that_changes_beside_an_unchanged_bank_is_read_again(tmp_path: Path) -> None:
    path, cache = tmp_path / "b.yaml", tmp_path / "cache"
    path.write_text(BANK)
    run = write_recording(tmp_path / "run.jsonl", [[0.5]])
    before = open_bank(path, cache=cache)
    old = run.stat().st_mtime_ns - 10 * TICK_NS
    write_recording(run, [[0.9]])
    os.utime(run, ns=(old, old))
    after = open_bank(path, cache=cache)
    assert before.row("which").hash != after.row("which").hash
    question = after.question("which")
    assert isinstance(question, Reading)
    assert question.strip is not None
    assert question.strip.shares("compute", 0) == [0.9]


def test_a_recording_that_goes_is_an_error_with_its_line(tmp_path: Path) -> None:
    path, cache = tmp_path / "b.yaml", tmp_path / "cache"
    path.write_text(BANK)
    run = write_recording(tmp_path / "run.jsonl", [[0.5]])
    open_bank(path, cache=cache)
    run.unlink()
    with pytest.raises(Exception, match=r"b\.yaml:7:16: question which, recording: there is no file run"):
        open_bank(path, cache=cache)
