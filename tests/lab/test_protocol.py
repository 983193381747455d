from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizapp.lab.protocol import (
    LONGEST_LINE_BYTES,
    LONGEST_LOG_CHARS,
    DemoError,
    Log,
    Outcome,
    Sample,
    Start,
    decode,
    decode_any,
    encode,
    log_line,
)

START = {
    "v": 1,
    "type": "start",
    "demo": "dp-sync",
    "variant": "fault",
    "device_kind": "emulated",
    "devices": 2,
    "window_s": 0.1,
    "processes": 1,
    "pids": [[7], [7]],
    "params": {"split": "uneven"},
}
SAMPLE = {
    "v": 1,
    "type": "sample",
    "t_s": 0.3,
    "window_s": 0.1,
    "step": 2,
    "meters": {"util": [1.0, None], "memory_bytes": [5, 6], "data_wait": None},
}
OUTCOME = {
    "v": 1,
    "type": "outcome",
    "outcome": "completed",
    "steps": 7,
    "device_s": 2.0,
    "expected": {"compute": [0.9]},
}


def text(base: dict[str, Any], **changes: Any) -> str:
    return json.dumps({**base, **changes})


def test_the_three_kinds_of_line_are_read() -> None:
    start = decode(text(START))
    assert isinstance(start, Start)
    assert (start.devices, start.pids, start.params) == (2, ((7,), (7,)), {"split": "uneven"})
    sample = decode(text(SAMPLE).encode(), devices=2)
    assert isinstance(sample, Sample)
    assert sample.meters["util"] == (1.0, None)
    assert sample.meters["data_wait"] == (None, None)
    assert sample.reading("compute", 2) == (None, None)
    outcome = decode(text(OUTCOME), devices=2)
    assert isinstance(outcome, Outcome)
    assert outcome.outcome == "completed"


@pytest.mark.parametrize(
    "line",
    [
        "hello",
        "",
        "{",
        "[1]",
        "{}",
        '{"type": "sample"}',
        '{"v": 1}',
        text(SAMPLE, t_s=1).replace('"t_s": 1', '"t_s": NaN'),
        text(SAMPLE, t_s=1).replace('"t_s": 1', '"t_s": 1e999'),
        text(SAMPLE, t_s=-1),
        text(SAMPLE, t_s="1"),
        text(SAMPLE, t_s=True),
        text(SAMPLE, window_s=0),
        text(SAMPLE, step=1.5),
        text(SAMPLE, warmup="no"),
        text(SAMPLE, meters=[1]),
        text(SAMPLE, meters={"util": [0.5]}),
        text(SAMPLE, meters={"util": [0.5, 0.5, 0.5]}),
        text(SAMPLE, meters={"util": [0.5, 1.1]}),
        text(SAMPLE, meters={"util": [0.5, "1"]}),
        text(SAMPLE, meters={"memory_bytes": [0, -1]}),
        text(SAMPLE, meters={"util\x1b": [0, 1]}),
        text(SAMPLE, v=2),
        text(SAMPLE, v=True),
        text(SAMPLE, type="samples"),
        text(START, devices=0),
        text(START, devices=10**9),
        text(START, device_kind="GPU"),
        text(START, pids=[1]),
        text(START, device_names=["a"]),
        text(START, plan={"a": float("inf")}).replace("Infinity", "1e400"),
        text(START, demo=5),
        text(OUTCOME, outcome="crashed"),
        text(OUTCOME, outcome=["completed"]),
        text(OUTCOME, error="boom"),
        text(OUTCOME, steps=-1),
        text(OUTCOME, expected=[1]),
        '{"v": 1, "type": "start", "plan": ' + '{"a":' * 3000 + "1" + "}" * 3001,
        '{"v": 1, "type": "start", "x": ' + "[" * 100_000,
        '{"v": 1, "type": "log", "text": "x"}',
        '{"v": 1, "type": "outcome", "steps": ' + "9" * 5000 + "}",
    ],
)
def test_anything_that_is_not_exactly_a_line_is_a_log(line: str) -> None:
    assert isinstance(decode(line, devices=2), Log)


def test_depth_is_bounded_where_json_allows_more() -> None:
    nested: Any = 1
    for _ in range(12):
        nested = {"a": nested}
    assert isinstance(decode(text(START, plan=nested)), Log)
    assert isinstance(decode(text(START, plan={"a": {"b": {"c": 1}}})), Start)


def test_a_log_says_why_a_line_was_not_understood() -> None:
    line = decode(text(SAMPLE, meters={"util": [0.5]}), devices=2)
    assert isinstance(line, Log)
    assert line.source == "lab"
    assert "util has 1 readings for 2 devices" in line.text


def test_a_sample_before_the_start_is_no_sample() -> None:
    assert isinstance(decode(text(SAMPLE)), Log)


def test_a_line_too_long_is_cut() -> None:
    line = decode(b'{"v": 1, "type": "start", "x": "' + b"y" * LONGEST_LINE_BYTES)
    assert isinstance(line, Log)
    assert len(line.text) < LONGEST_LOG_CHARS + 20


def test_control_characters_become_visible_everywhere() -> None:
    hostile = "\x1b[2J\x07\x9b31m\u202e[/red]"
    start = decode(
        text(START, demo=hostile, notice=hostile, params={hostile: hostile}, plan={"a": {"from": hostile}})
    )
    assert isinstance(start, Start)
    outcome = decode(
        text(OUTCOME, error={"type": hostile, "message": hostile}, final={"loss": hostile}), devices=2
    )
    shown = repr((start, outcome, log_line(hostile)))
    for character in "\x1b\x07\x9b\u202e":
        assert character not in shown
        assert repr(character)[1:-1] not in shown
    assert "[/red]" in shown


def test_a_progress_bar_leaves_its_last_state() -> None:
    assert log_line("10 %\r50 %\r100 %\r\n").text == "100 %"


def test_rounding_at_the_ends_of_a_share_is_forgiven() -> None:
    sample = decode(text(SAMPLE, meters={"util": [1.0000000001, -1e-12]}), devices=2)
    assert isinstance(sample, Sample)
    assert sample.meters["util"] == (1.0, 0.0)


@pytest.mark.parametrize(
    "line",
    [
        Start(
            demo="a",
            variant="fix",
            device_kind="cuda",
            devices=1,
            window_s=0.1,
            pids=((1, 2),),
            replayed="then",
        ),
        Sample(t_s=1.0, window_s=0.1, meters={"util": (None,), "memory_bytes": (5,)}),
        Sample(t_s=1.0, window_s=0.1, monotonic_s=99.5),
        Outcome(outcome="timed-out", error=DemoError(type="timeout", rank=3), log_tail=("a ␛",), wall_s=1.5),
        Log(text="hello [/x]", source="lab"),
    ],
)
def test_what_is_written_is_read_back(line: Start | Sample | Outcome | Log) -> None:
    assert decode_any(encode(line), devices=1) == line


@given(st.binary(max_size=300))
def test_no_bytes_break_the_decoder(data: bytes) -> None:
    assert isinstance(decode(data, devices=2), Log)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=12,
    ),
    st.sampled_from(
        ["t_s", "window_s", "meters", "step", "outcome", "error", "plan", "pids", "devices", "params"]
    ),
    st.sampled_from([START, SAMPLE, OUTCOME]),
)
def test_any_value_in_any_field_gives_a_line_that_can_be_written_again(
    value: Any, key: str, base: dict[str, Any]
) -> None:
    line = decode(json.dumps({**base, key: value}), devices=2)
    assert json.loads(encode(line))["v"] == 1
