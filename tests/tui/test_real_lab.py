"""The screen and the real lab together: a demo that is a real process, and what is left of it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from tui_fakes import SIGNS
from tui_grid import grid

from quizapp.content import content_dir
from quizapp.store.store import Store
from quizapp.tui.app import QuizApp
from quizapp.tui.desk import Desk
from quizapp.tui.screens.lab import LabScreen

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None or not (content_dir("demos") / "dp_sync.py").exists(),
    reason="torch is not installed, and the demos are torch programs",
)


def running(group: int) -> list[int]:
    """The processes of a group that still run; what only waits to be collected by its parent has ended."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                state, _, pgrp = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
            except OSError:
                continue
            if int(pgrp) == group and state != "Z":
                found.append(int(folder.name))
    return found


async def test_the_key_of_the_first_question_shows_its_signs(tmp_path: Path) -> None:
    desk = Desk(Store.open(tmp_path / "state"), "anna", seed=1)
    taking = desk.begin(SIGNS, fresh=True)
    app = QuizApp(desk, "sitting")
    async with app.run_test(size=(100, 40), notifications=True) as pilot:
        await pilot.press("r", "2")
        while not (isinstance(app.screen, LabScreen) and app.screen.state.phase in ("ended", "failed")):
            await pilot.pause(0.1)
        await pilot.pause()
        shown = grid(app)
        assert "Measured   imbalance  ✓ as predicted" in shown, shown
        assert "4 of 4 signs" in shown, shown
        [(option_id, record)] = taking.sitting.runs(0)
        assert (option_id, record["outcome"]) == ("dp-sync", "completed")
        warm = app.lab.pid
        assert warm is not None
        # A second run is left in its middle.
        await pilot.press("r")
        while not (app.screen.state.phase == "running" and app.screen.state.samples):  # type: ignore[attr-defined]
            await pilot.pause(0.05)
        group = app.screen._run.pgid  # type: ignore[attr-defined]
        assert group is not None
        await pilot.press("q")
    # The app has ended the run and the warm parent before it is gone itself.
    assert running(warm) == []
    assert running(group) == []
