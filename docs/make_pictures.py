"""Makes the README's pictures from the app itself: a question, and a demo while it runs.

    python docs/make_pictures.py OUTDIR [BANK]

The demo is run, so torch has to be installed; nothing is saved but the pictures.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
from pathlib import Path

SIZE = (100, 30)
_TEXT = re.compile(
    r'(<text class="[^"]*" x=")([\d.]+)(" y="[\d.]+" textLength=")([\d.]+)("[^>]*>)((?:&#160;)+)'
)
_SPACE = "&#160;"


def tighten(svg: str) -> str:
    """The picture with blanks at the beginning of a text turned into its position: some viewers drop them."""

    def moved(match: re.Match[str]) -> str:
        head, x, middle, length, tail, blanks = match.groups()
        count = len(blanks) // len(_SPACE)
        rest = svg[match.end() : svg.index("</text>", match.end())]
        cells = count + len(re.sub(r"&[^;]+;", "x", rest))
        cell = float(length) / cells
        return f"{head}{float(x) + count * cell:g}{middle}{float(length) - count * cell:g}{tail}"

    return _TEXT.sub(moved, svg)


async def take_pictures(out: Path, bank: Path, scratch: Path) -> list[Path]:
    """Drive the app through one question and the demo behind its key."""
    from quizapp.store.store import Store
    from quizapp.tui.app import QuizApp
    from quizapp.tui.desk import Desk
    from quizapp.tui.screens.lab import LabScreen

    desk = Desk(Store.open(scratch), "you", seed=1)
    taking = desk.begin(bank, fresh=True)
    # The first question of the bank that has a demo behind its key, whatever the draw.
    for index in range(taking.total):
        state = taking.state(index)
        key = next((i for i, option in enumerate(state.options) if option.correct and option.demo), None)
        if key is not None:
            break
    else:
        raise SystemExit(f"{bank}: no key has a demo behind it")
    taking.index = index
    app = QuizApp(desk, "sitting")
    made = []

    def picture(name: str) -> None:
        path = out / f"{name}.svg"
        path.write_text(tighten(app.export_screenshot(title=f"quizapp take {bank.stem}")), encoding="utf-8")
        made.append(path)

    async with app.run_test(size=SIZE) as pilot:
        await pilot.press(str(key + 1))
        await pilot.pause()
        picture("question")
        await pilot.press("r", "s")
        screen = app.screen
        if not isinstance(screen, LabScreen):
            raise SystemExit(f"the lab did not open: {screen}")
        while (
            screen.state.phase in ("asking", "warming")
            or screen.state.strip.t_s < 0.7 * screen.state.strip.total_s
        ):
            if screen.state.phase in ("ended", "failed"):
                break
            await pilot.pause(0.1)
        if screen.state.phase == "failed":
            raise SystemExit(f"the demo did not run: {screen.state.reason}")
        screen.action_refresh()
        await pilot.pause()
        picture("demo")
        await pilot.press("q")
    return made


def main(arguments: list[str]) -> None:
    """Command line."""
    if not arguments:
        raise SystemExit(__doc__)
    from quizapp.content import content_dir

    out = Path(arguments[0])
    out.mkdir(parents=True, exist_ok=True)
    bank = Path(arguments[1]) if len(arguments) > 1 else content_dir("quizzes") / "multi-gpu.yaml"
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["QUIZAPP_STATE_DIR"] = os.environ["QUIZAPP_CACHE_DIR"] = scratch
        for path in asyncio.run(take_pictures(out, bank, Path(scratch))):
            print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
