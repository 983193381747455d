from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab_lines import samples, start, steady
from quizapp.lab.protocol import Line, Log, Outcome, Start
from quizapp.lab.recording import Recorder, RecordingError, read_recording, replay

LINES: list[Line] = [
    start(2),
    Log(text="epoch 1"),
    *samples({"util": steady([0.9, None], 5)}),
    Outcome(outcome="crashed", log_tail=("bang",)),
]


def recorded(path: Path, lines: list[Line] = LINES) -> Path:
    with Recorder(path) as recorder:
        for line in lines:
            recorder.write(line)
    return path


async def test_a_replay_gives_the_same_lines_and_says_that_it_is_one(tmp_path: Path) -> None:
    recording = read_recording(recorded(tmp_path / "run.jsonl"))
    assert list(recording.lines) == LINES
    replayed = [line async for line in replay(recording)]
    assert replayed[0] == Log(text=recording.notice, source="lab")
    assert isinstance(replayed[1], Start)
    assert replayed[1].replayed == recording.notice
    assert "nothing runs now" in recording.notice
    assert replayed[2:] == LINES[1:]


def test_a_run_that_was_broken_off_leaves_no_file_and_spoils_none(tmp_path: Path) -> None:
    path = recorded(tmp_path / "run.jsonl")
    before = path.read_bytes()
    recorded(path, LINES[:-1])
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_every_cut_gives_a_clear_error(tmp_path: Path) -> None:
    content = recorded(tmp_path / "run.jsonl").read_bytes()
    cut = tmp_path / "cut.jsonl"
    for length in range(0, len(content) - 2, 37):
        cut.write_bytes(content[:length])
        with pytest.raises(RecordingError, match=r"cut\.jsonl:\d+: "):
            read_recording(cut)


@pytest.mark.parametrize(
    ("number", "line", "says"),
    [
        (0, "{}", "no recording"),
        (0, "[" * 50_000, "no recording"),
        (0, '{"type": "recording", "v": 9, "made_at": "2026-01-01"}', "version 9"),
        (0, '{"type": "recording", "v": 1, "made_at": "yesterday"}', "no recording"),
        (2, "\udcff\udcfe", "run.jsonl:3"),
        (2, "[" * 90_000, "nested too deeply"),
        (
            2,
            json.dumps({"v": 1, "type": "sample", "t_s": 1, "window_s": 1, "meters": {"util": [1]}}),
            "1 readings",
        ),
        (2, json.dumps({"v": 1, "type": "outcome", "outcome": "won"}), "is not one"),
        (2, json.dumps({"v": 1, "type": "outcome", "outcome": "completed"}), "more after the outcome"),
        (2, '{"v": 1, "type": "sample", "t_s": Infinity}', "is no number"),
        (3, "x" * 300_000, "longer than"),
    ],
)
def test_a_hostile_line_is_an_error_with_its_number(
    tmp_path: Path, number: int, line: str, says: str
) -> None:
    path = recorded(tmp_path / "run.jsonl")
    lines = path.read_text().splitlines()
    lines[number] = line
    path.write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))
    with pytest.raises(RecordingError) as caught:
        read_recording(path)
    assert says in str(caught.value)


def test_a_second_start_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="second start"):
        read_recording(recorded(tmp_path / "run.jsonl", [LINES[0], *LINES]))


def test_control_characters_in_a_recording_are_made_visible(tmp_path: Path) -> None:
    path = recorded(tmp_path / "run.jsonl")
    lines = path.read_text().splitlines()
    lines[2] = json.dumps({"v": 1, "type": "log", "text": "\x1b]0;title\x07"})
    path.write_text("\n".join(lines))
    assert read_recording(path).lines[1] == Log(text="␛]0;title␇")


def test_what_is_no_file_or_too_big_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (tmp_path, tmp_path / "missing", Path("/dev/zero")):
        with pytest.raises(RecordingError, match="no such recording"):
            read_recording(path)
    path = recorded(tmp_path / "run.jsonl")
    monkeypatch.setattr("quizapp.lab.recording.LARGEST_BYTES", 10)
    with pytest.raises(RecordingError, match="at most"):
        read_recording(path)


def test_a_folder_that_cannot_be_written_is_said_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="can't be written"):
        Recorder(tmp_path / "missing" / "run.jsonl")
