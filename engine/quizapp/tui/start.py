"""From a command to the screens, and back: what is opened before, what is printed after."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quizapp.lab.catalogue import DemoDeclaration
    from quizapp.lab.compare import PlannedRun
    from quizapp.lab.request import Device
    from quizapp.store.begin import Adapt
    from quizapp.tui.app import First
    from quizapp.tui.desk import Desk
    from quizapp.tui.lab_state import LabOrder


def run_take(
    bank_ref: str | None,
    *,
    learner: str,
    mode: str | None,
    seed: int | None,
    draw: int | None,
    adapt: Adapt | None,
    fresh: bool,
    demo_folders: tuple[Path, ...],
    device: Device,
) -> int:
    """Take a bank on screen; without one, pick it there. Exit code: 1 when the attempt failed its mark.

    Raises QuizappError for what keeps the first screen from being shown.
    """
    # Nothing that is made before the first paint becomes garbage, and looking for some takes a while. The app
    # enables it again once the first screen stands.
    gc.disable()
    try:
        from quizapp.store.begin import open_store
        from quizapp.tui.desk import Desk

        store, notice = open_store()
        desk = Desk(
            store, learner, seed=seed, draw=draw, adapt=adapt, device=device, demo_folders=demo_folders
        )
        if notice:
            desk.notices.append(notice)
        return _take(desk, bank_ref, mode, fresh)
    finally:
        gc.enable()


def _take(desk: Desk, bank_ref: str | None, mode: str | None, fresh: bool) -> int:
    store = desk.store
    try:
        if bank_ref is None:
            return _run(desk, "picker")
        desk.begin(bank_ref, mode=mode, fresh=fresh)
        return _run(desk, "sitting")
    finally:
        desk.leave_sitting()
        store.close()


def run_demo(planned: Sequence[PlannedRun], *, record: Path | None = None) -> int:
    """Run a demo on screen; several planned runs are compared.

    Exit code: 1 when the last run is not as its variant declares.
    """
    return _run_lab(order_of(planned, record))


def order_of(planned: Sequence[PlannedRun], record: Path | None) -> LabOrder:
    """What the lab is to do about some planned runs: one to watch, or several to compare."""
    from quizapp.content import content_dir
    from quizapp.lab.catalogue import CONTROL, Catalogue
    from quizapp.tui.lab_state import LabOrder

    # Of a comparison, the run that is not the control says which demo it is about.
    request = next((plan for plan in planned if plan.label != "control"), planned[0]).request
    folder = content_dir("demos")
    return LabOrder(
        demo=request.demo,
        variant=request.variant,
        control=Catalogue.load([folder]).get(CONTROL) if folder.is_dir() else None,
        devices=request.devices,
        device=request.device,
        params=dict(request.params),
        seconds=request.seconds,
        speed=request.speed,
        seed=request.seed,
        timeout_s=request.timeout_s,
        force=request.force,
        compare=len(planned) > 1,
        record=record,
    )


def run_replay(path: Path, demo: DemoDeclaration, speed: float | None = None) -> int:
    """Show a recording of a demo on screen."""
    from quizapp.lab.recording import read_recording
    from quizapp.tui.lab_state import LabOrder

    recording = read_recording(path)
    start = recording.start
    if start is None:
        return 0
    order = LabOrder(
        demo=demo,
        variant=start.variant,
        devices=start.devices,
        speed=speed,
        recording=recording,
    )
    return _run_lab(order)


def _run_lab(order: LabOrder) -> int:
    from quizapp.store.store import Store
    from quizapp.tui.desk import Desk

    desk = Desk(Store.in_memory(), "")
    return _run(desk, "lab", order)


def _run(desk: Desk, first: First, order: LabOrder | None = None) -> int:
    from quizapp.tui.app import QuizApp

    app = QuizApp(desk, first, order)
    code = app.run()
    for text in app.farewell:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
    sys.stdout.flush()
    if code is None:
        return app.return_code or 0
    return code
