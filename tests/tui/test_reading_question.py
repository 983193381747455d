"""A recording to pick from: by keys and by mouse, kept as it is picked, and told apart afterwards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from tui_grid import check, grid, rows

from quizapp.assess.response import Response
from quizapp.store.store import Store
from quizapp.tui.app import QuizApp
from quizapp.tui.screens.reveal import RevealScreen
from recorded import write_recording

READING = Path(__file__).resolve().parent.parent / "banks" / "good" / "reading.yaml"
WHICH, WHEN = 0, 1
SIZE = (80, 24)
Take = Callable[[Path], QuizApp]


def kept(app: QuizApp, index: int) -> Response:
    """What is on disk by now."""
    taking = app.desk.taking
    assert taking is not None
    store = Store.open(app.desk.store.path.parent)
    record = store.show(taking.sitting.attempt_id)
    store.close()
    return record.attempt.items[index].response


async def to_when(pilot: Pilot[object]) -> None:
    await pilot.press("right_square_bracket")
    await pilot.pause()


@pytest.mark.parametrize("size", [(80, 24), (140, 40), (40, 10)])
async def test_devices_as_they_stand(take: Take, size: tuple[int, int]) -> None:
    app = take(READING)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.press("4")
        await pilot.pause()
        check(app, f"reading-devices-{size[0]}x{size[1]}")


async def test_a_number_picks_a_device_and_takes_it_back(take: Take) -> None:
    app = take(READING)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("0", "4")
        assert kept(app, WHICH) == Response(devices=(0, 4))
        await pilot.press("0")
        assert kept(app, WHICH) == Response(devices=(4,))
        await pilot.press("8", "9")
        assert kept(app, WHICH) == Response(devices=(4,))
        await pilot.press("x")
        assert kept(app, WHICH).blank


async def test_arrows_and_space_pick_a_device(take: Take) -> None:
    app = take(READING)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("down", "j", "space")
        assert kept(app, WHICH) == Response(devices=(2,))
        assert "[x] emu2" in grid(app)


async def test_a_click_picks_a_device(take: Take) -> None:
    app = take(READING)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await pilot.click(offset=(30, next(y for y, row in enumerate(rows(app)) if "emu4" in row)))
        assert kept(app, WHICH) == Response(devices=(4,))


async def test_u_shows_the_other_meter(take: Take) -> None:
    app = take(READING)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        assert "as nvidia-smi sees it" in grid(app)
        await pilot.press("u")
        await pilot.pause()
        assert "compute, the useful work" in grid(app)


async def test_a_stretch_is_begun_and_ended_by_keys(take: Take) -> None:
    app = take(READING)
    async with app.run_test(size=SIZE) as pilot:
        await to_when(pilot)
        await pilot.press("right", "right", "space")
        assert kept(app, WHEN).blank
        assert "from 0.2 s, Space ends it at 0.3 s" in grid(app)
        await pilot.press(*["right"] * 6, "space")
        assert kept(app, WHEN) == Response(span_s=(0.2, 0.9))
        await pilot.pause()
        check(app, "reading-stretch-80x24")
        await pilot.press("enter")
        await pilot.pause()
        assert "✓ CORRECT  1/1  ·  you: 0.2-0.9 s  ·  key: 0.2-0.9 s  ·  overlap" in grid(app)


async def test_a_stretch_that_is_begun_is_ended_by_enter_or_dropped_by_x(take: Take) -> None:
    app = take(READING)
    async with app.run_test(size=SIZE) as pilot:
        await to_when(pilot)
        await pilot.press("space", "x")
        assert "Space begins a stretch at 0 s" in grid(app)
        await pilot.press("space", "shift+right", "enter")
        await pilot.pause()
        assert kept(app, WHEN) == Response(span_s=(0.0, 1.1))
        assert not isinstance(app.screen, RevealScreen)


async def test_left_and_right_stay_at_the_ends_of_time(take: Take) -> None:
    app = take(READING)
    async with app.run_test(size=SIZE) as pilot:
        await to_when(pilot)
        await pilot.press("left", *["ctrl+right"] * 9, "space", "space")
        assert kept(app, WHEN) == Response(span_s=(5.2, 5.3))


async def test_a_stretch_is_dragged_with_the_mouse(take: Take) -> None:
    app = take(READING)
    async with app.run_test(size=SIZE) as pilot:
        await to_when(pilot)
        y = next(y for y, row in enumerate(rows(app)) if "emu0" in row)
        left = rows(app)[y].index("emu0") + 5
        await pilot.mouse_down(offset=(left + 8, y))
        await pilot.mouse_up(offset=(left + 2, y))
        await pilot.pause()
        assert kept(app, WHEN) == Response(span_s=(0.2, 0.9))


async def test_a_stretch_is_clicked_end_by_end(take: Take) -> None:
    app = take(READING)
    async with app.run_test(size=SIZE) as pilot:
        await to_when(pilot)
        y = next(y for y, row in enumerate(rows(app)) if "emu0" in row)
        left = rows(app)[y].index("emu0") + 5
        await pilot.click(offset=(left + 2, y))
        await pilot.click(offset=(left + 8, y))
        await pilot.pause()
        assert kept(app, WHEN) == Response(span_s=(0.2, 0.9))


async def test_nothing_picked_is_not_submitted(take: Take) -> None:
    app = take(READING)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("enter")
        assert "Nothing is picked yet" in grid(app)


async def test_what_was_picked_and_what_is_right_stand_in_words(take: Take) -> None:
    app = take(READING)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("0", "enter")
        await pilot.pause()
        assert "It waits, inside the all-reduce." in grid(app)
        await pilot.press("4")
        await pilot.pause()
        check(app, "reading-response-80x24")
        await pilot.press("escape")
        await pilot.pause()
        assert "[✗] emu0" in grid(app)
        assert "[✓] emu4" in grid(app)
        await pilot.press("1")
        assert kept(app, WHICH) == Response(devices=(0,))


async def test_results_and_the_next_sitting_know_what_was_picked(take: Take) -> None:
    app = take(READING)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("4", "enter")
        await pilot.pause()
        await pilot.press("n")
        await pilot.pause()
        await pilot.press("space", "space", "enter")
        await pilot.pause()
        await pilot.press("n")
        await pilot.pause()
        check(app, "reading-results-80x24")
        await pilot.press("w")
        await pilot.pause()
        assert "Q1/1" in grid(app)
        assert "first two waits" in grid(app)


@pytest.mark.parametrize("kind", ["emulated", "cuda"])
async def test_emulated_and_measured_recordings_never_share_a_label(
    take: Take, tmp_path: Path, kind: str
) -> None:
    write_recording(tmp_path / "run.jsonl", [[0.5] * 9] * 12, kind=kind)
    (tmp_path / "b.yaml").write_text(
        "format: 1\ntitle: R\nquestions:\n  - {id: a, kind: reading, stem: Which?, recording: run.jsonl, "
        "key: {devices: [11]}, rationale: It is., explanation: {short: It is.}}\n"
    )
    app = take(tmp_path / "b.yaml")
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        told = "no GPU used" if kind == "emulated" else "Recorded from GPUs."
        assert told in grid(app)
        assert ("emu11" in grid(app)) == (kind == "emulated")
        assert ("GPU11" in grid(app)) == (kind == "cuda")
        await pilot.press(*["down"] * 20, "space")
        assert kept(app, 0) == Response(devices=(11,))
        assert "secret" not in grid(app)
