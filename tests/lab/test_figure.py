"""A recorded run as a picture, and the same in words."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

from quizapp.lab.figure import describe, draw
from quizapp.lab.protocol import Line, Outcome, Sample, Start
from quizapp.lab.recording import Recording
from quizapp.lab.summary import summarise_lines

SVG = "{http://www.w3.org/2000/svg}"


def lines(windows: int = 40, devices: int = 4) -> list[Line]:
    """The first device computes, the others wait on the host in every other half second."""
    start = Start(
        demo="pair",
        variant="fault",
        device_kind="emulated",
        devices=devices,
        device_names=("emulated",) * devices,
        params={"model": "1B"},
        processes=1,
        window_s=0.1,
    )
    samples = []
    for window in range(windows):
        waits = float(window // 5 % 2)
        rest = devices - 1
        samples.append(
            Sample(
                t_s=(window + 1) / 10,
                window_s=0.1,
                meters={
                    "util": (1.0, *[1 - waits] * rest),
                    "compute": (1.0, *[1 - waits] * rest),
                    "collective": (0.0,) * devices,
                    "data_wait": (0.0,) * devices,
                    "host_wait": (0.0, *[waits] * rest),
                    "memory_bytes": (1024.0,) * devices,
                },
            )
        )
    return [start, *samples, Outcome(outcome="completed", device_s=windows / 10)]


def recording(lines: list[Line]) -> Recording:
    return Recording(Path("run.jsonl"), datetime(2030, 1, 1, tzinfo=UTC), "9.9", tuple(lines))


def boxes(svg: str, phase: str) -> list[tuple[int, int, int, int]]:
    """x, y, width and height of each box of a phase."""
    for path in ElementTree.fromstring(svg).iter(f"{SVG}path"):  # noqa: S314  drawn here
        if path.get("class") == phase and path.get("d", "").count("M") > 1:
            found = re.findall(r"M(\d+) (\d+)h(\d+)v(\d+)", path.get("d", ""))
            return [(int(x), int(y), int(w), int(h)) for x, y, w, h in found]
    return []


def test_each_phase_covers_as_much_of_a_row_as_it_was_measured() -> None:
    svg = draw(recording(lines()))
    rows = sorted({y for _, y, _, _ in boxes(svg, "host_wait")})
    assert len(rows) == 3
    width = 484
    for row in rows:
        waits = sum(w for _, y, w, _ in boxes(svg, "host_wait") if y == row)
        works = sum(w for _, y, w, _ in boxes(svg, "compute") if y == row)
        assert abs(waits - width / 2) <= 4
        assert waits + works == width
    top = min(y for _, y, _, _ in boxes(svg, "compute"))
    assert sum(w for _, y, w, _ in boxes(svg, "compute") if y == top) == width


def test_a_share_within_a_window_is_a_part_of_the_height() -> None:
    changed = [
        replace(line, meters={**line.meters, "compute": (0.5,) * 4, "host_wait": (0.25,) * 4})
        if isinstance(line, Sample)
        else line
        for line in lines()
    ]
    svg = draw(recording(changed))
    assert {h for *_, h in boxes(svg, "compute")} == {8}
    assert {h for *_, h in boxes(svg, "host_wait")} == {4}


def test_devices_that_read_alike_are_named_together() -> None:
    words = describe(summarise_lines(lines()))
    assert words == (
        "A recorded run of pair, fault, on 4 emulated devices, no GPU used, 4 s of device time; "
        "a row a device. "
        "Device 0: compute 100 %, nvidia-smi would read 100 %. "
        "Devices 1 to 3: compute 50 %, waiting on the host 50 %, nvidia-smi would read 50 %, "
        "at zero for up to 0.5 s."
    )


def test_the_picture_carries_no_trace_of_when_it_was_made() -> None:
    assert "2030" not in draw(recording(lines()))
    assert "9.9" not in draw(recording(lines()))


def test_what_a_recording_says_of_itself_stays_text() -> None:
    bad = lines()
    assert isinstance(bad[0], Start)
    bad[0] = replace(bad[0], demo="<script>x</script>", params={"a\x1b[31m": "</svg>&"})
    svg = draw(recording(bad))
    root = ElementTree.fromstring(svg)  # noqa: S314  drawn here
    assert root.findtext(f"{SVG}title") == "<script>x</script>, fault: 4 devices"
    assert "\x1b" not in svg
    assert not list(root.iter(f"{SVG}script"))


def test_hundreds_of_devices_and_long_runs_stay_a_small_file() -> None:
    wide = draw(recording(lines(windows=50, devices=256)))
    assert "224 more devices not shown" in wide
    for svg in (wide, draw(recording(lines(windows=5000, devices=2)))):
        assert len(svg) < 200_000


def test_a_run_without_a_sample_still_says_what_ran() -> None:
    start, *_, outcome = lines()
    svg = draw(recording([start, outcome]))
    assert "pair, fault: 4 devices" in svg
    assert "nothing measured" in svg
