"""Text that would be markup, an action, or a command to the terminal is shown as it is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tui_fakes import FakeLab, script_of
from tui_grid import grid, widths

from quizapp.lab.protocol import log_line
from quizapp.lab.request import RunRequest
from quizapp.tui.app import QuizApp
from quizapp.tui.desk import Desk
from quizapp.tui.screens.lab import LabScreen
from quizapp.tui.screens.results import ResultsScreen
from quizapp.tui.screens.reveal import RevealScreen

STRINGS = {
    "closing": "[/x] and [/]",
    "generic": "std::vector<T> v",
    "index": "A[m][k] * B[k][n]",
    "action": "[@click=app.quit]x[/]",
    "colour": "[red]red[/red] [#888888]",
    "inst": "[INST] hi [/INST]",
    "unclosed": "[b 3 [link=http://x",
    "wide": "训练在八个GPU上",
}
ESCAPES = "\x1b[31mred\x1b]0;title\x07 \x9b2J \u202eabc \x00"


def hostile(text: str) -> str:
    import json

    quoted = json.dumps(f"{text} {ESCAPES}", ensure_ascii=True)
    return f"""\
format: 1
title: {quoted}
objectives: {{one: {quoted}}}
take: {{pass_mark: 70%}}
questions:
  - id: first
    kind: single-choice
    objective: one
    stem: {quoted}
    symptom: {{devices: 2, where: [{{says: {quoted}, meter: util, devices: 2, mean: {{min: 0.5}}}}]}}
    options:
      - {{id: a, text: {quoted}, correct: true, rationale: {quoted}, demo: {{name: dp-sync, variant: fault}}}}
      - {{id: b, text: "other", rationale: {quoted}}}
    explanation:
      short: {quoted}
      full: {quoted}
      figure: {{src: "a.svg", alt: {quoted}}}
    references: [{{title: {quoted}, url: "https://example.org/[x]"}}]
"""


@pytest.fixture(params=sorted(STRINGS))
def text(request: pytest.FixtureRequest) -> str:
    return STRINGS[request.param]


@pytest.fixture
def hostile_desk(desk: Desk, lab: FakeLab, text: str, tmp_path: Path) -> Desk:
    folder = tmp_path / "quizzes"
    folder.mkdir()
    (folder / "hostile.yaml").write_text(hostile(text))
    desk._bank_folders = [folder]
    desk.learner = f"{text} anna"

    def script(request: RunRequest) -> list[object]:
        start, _, *rest = script_of(request)
        return [start, log_line(f"{text} {ESCAPES}"), *rest]

    lab.script = script  # type: ignore[assignment]
    return desk


def clean(app: QuizApp, text: str = "") -> str:
    shown = grid(app)
    assert not {character for character in shown if ord(character) < 32 and character != "\n"}
    assert not any(character in shown for character in "\x7f\x9b\u202e")
    assert set(widths(app)) == {app.size.width}
    if text:
        assert text in shown, shown
    return shown


async def test_every_screen_shows_it_as_written(hostile_desk: Desk, text: str) -> None:
    app = QuizApp(hostile_desk, "picker")
    plain = text.replace("*", "") if "<" in text else text
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await pilot.pause()
        clean(app, text)
        await pilot.press("enter")
        await pilot.pause()
        clean(app, plain)
        await pilot.press("question_mark")
        await pilot.pause()
        clean(app)
        await pilot.press("escape", "l")
        await pilot.pause()
        clean(app)
        await pilot.press("escape", "r", "2")
        while not (isinstance(app.screen, LabScreen) and app.screen.state.phase == "ended"):
            await pilot.pause(0.01)
        await pilot.pause()
        clean(app, plain)
        for key in ("i", "s", "p", "o"):
            await pilot.press(key)
            await pilot.pause(0.05)
            clean(app)
            if not isinstance(app.screen, LabScreen):
                await pilot.press("escape")
                await pilot.pause()
        while not isinstance(app.screen, LabScreen):
            await pilot.press("escape")
            await pilot.pause()
        await pilot.press("escape", "1", "enter")
        await pilot.pause()
        assert isinstance(app.screen, RevealScreen)
        for key in ("1", "2", "3", "4"):
            await pilot.press(key)
            await pilot.pause()
            clean(app, plain)
        for key in ("u", "o"):
            await pilot.press(key)
            await pilot.pause()
            clean(app)
            await pilot.press("y", "s", "p")
            await pilot.pause()
            clean(app)
            await pilot.press("escape")
            await pilot.pause()
        app.clear_notifications()
        await pilot.press("n")
        await pilot.pause()
        assert isinstance(app.screen, ResultsScreen)
        clean(app, text)
    assert app.is_running is False


async def test_toasts_titles_and_the_palette(hostile_desk: Desk, text: str) -> None:
    app = QuizApp(hostile_desk, "picker")
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        app.tell(f"{text} {ESCAPES}", title=f"{text} {ESCAPES}", severity="error")
        await pilot.pause()
        clean(app, text)
        app.clear_notifications()
        await pilot.press("enter", "ctrl+p")
        await pilot.pause(0.1)
        clean(app)
        await pilot.press(*"list")
        await pilot.pause(0.1)
        clean(app)
        await pilot.press("escape", "escape")
        await pilot.pause()


async def test_a_demo_whose_texts_are_hostile(hostile_desk: Desk, text: str, lab: FakeLab) -> None:
    from quizapp.tui.lab_state import LabOrder

    demo = replace(
        hostile_desk.catalogue["dp-sync"],
        title=f"{text} {ESCAPES}",
        summary=f"{text} {ESCAPES}",
        sections={"Fix": f"{text} {ESCAPES}"},
    )
    app = QuizApp(hostile_desk, "lab", LabOrder(demo=demo, variant="fault", devices=2))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        while not (isinstance(app.screen, LabScreen) and app.screen.state.phase == "ended"):
            await pilot.pause(0.01)
        await pilot.pause()
        clean(app, text)
        await pilot.press("i")
        await pilot.pause()
        clean(app, text)
