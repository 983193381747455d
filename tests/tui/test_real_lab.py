"""The screen and the real lab together: a demo that is a real process, and what is left of it."""

from __future__ import annotations

import importlib.util
import os
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


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


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
    assert not alive(warm)
    with pytest.raises(ProcessLookupError):
        os.killpg(group, 0)
