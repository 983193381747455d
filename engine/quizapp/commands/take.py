"""`quizapp take`: take a bank, on a screen or in lines."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from quizapp.bank.library import OpenBank
    from quizapp.lab.ground import Grounds
    from quizapp.lab.request import Device
    from quizapp.plain.demo import Demos
    from quizapp.store.begin import Adapt
    from quizapp.store.history import NothingDue
    from quizapp.store.sitting import Sitting


@click.command(name="take")
@click.argument("bank", required=False)
@click.option(
    "--learner", metavar="NAME", help="Whose attempt it is.  [default: QUIZAPP_LEARNER, or your login]"
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    help="Draw questions, and the order of questions and options, from this number.",
)
@click.option(
    "--draw",
    type=click.IntRange(1),
    metavar="N",
    help="Ask N questions of the whole bank.  [default: as the bank says]",
)
@click.option(
    "--mode",
    type=click.Choice(["practice", "exam", "review", "adaptive"]),
    help="practice tells after each response, exam at its end, with the bank's time limit; review asks what"
    " is due today by spaced repetition; adaptive asks what tells most about you, by the bank's calibration."
    "  [default: as the open attempt, or practice]",
)
@click.option(
    "--until-se",
    type=click.FloatRange(0.05, 1),
    metavar="SE",
    help="adaptive: end when the ability is known to this standard error.  [default: 0.4]",
)
@click.option(
    "--length", type=click.IntRange(1), metavar="N", help="adaptive: ask N questions at most.  [default: 20]"
)
@click.option(
    "--calibration",
    type=click.Path(dir_okay=False, path_type=Path),
    help="adaptive: the file of `quizapp stats --calibrate`.  [default: BANK.calibration.json beside it]",
)
@click.option("--plain", is_flag=True, help="Lines in place of screens; chosen by itself without a terminal.")
@click.option(
    "--json", "as_json", is_flag=True, help="As --plain, with one JSON object on stdout at the end."
)
@click.option("--new", "fresh", is_flag=True, help="Begin a new attempt even if one is open.")
@click.option("--resume/--no-resume", default=True, help="Go on with an open attempt.  [default: resume]")
@click.option(
    "--demos", "folders", type=click.Path(path_type=Path), multiple=True, help="A further folder of demos."
)
@click.option(
    "--device",
    type=click.Choice(["auto", "cuda", "emulated"]),
    default="auto",
    show_default=True,
    help="What demos run on.",
)
def command(
    bank: str | None,
    learner: str | None,
    seed: int | None,
    draw: int | None,
    mode: str | None,
    until_se: float | None,
    length: int | None,
    calibration: Path | None,
    plain: bool,
    as_json: bool,
    fresh: bool,
    resume: bool,
    folders: tuple[Path, ...],
    device: Device,
) -> int:
    """Take a bank in the terminal. BANK is an id (see `quizapp list`) or the path of any YAML file.

    Without BANK, a screen to pick one from. An attempt that was left goes on where it was.

    Exit status: 0 passed (or there is no pass mark, or nothing is due), 1 below the mark, 3 the input ended
    before that.
    """
    from quizapp.store.begin import default_learner

    adapt = _adapt(mode, draw, until_se, length, calibration)
    if folders:
        _confirm(folders)
    learner = default_learner() if learner is None else learner
    fresh = fresh or not resume

    def taken() -> int:
        if not (plain or as_json) and _is_terminal():
            from quizapp import tui

            return tui.run_take(
                bank,
                learner=learner,
                mode=mode,
                seed=seed,
                draw=draw,
                adapt=adapt,
                fresh=fresh,
                demo_folders=folders,
                device=device,
            )
        if bank is None:
            raise click.UsageError(
                "Which bank? `quizapp list` lists them. (Picking one on a screen needs a terminal.)"
            )
        return _take_plainly(
            bank,
            learner,
            seed,
            draw,
            mode=mode,
            adapt=adapt,
            fresh=fresh,
            as_json=as_json,
            folders=folders,
            device=device,
        )

    if mode != "review":
        return taken()
    from quizapp.store.history import NothingDue

    try:
        return taken()
    except NothingDue as nothing:
        _say_nothing_is_due(nothing, as_json=as_json)
        return 0


def _adapt(
    mode: str | None, draw: int | None, until_se: float | None, length: int | None, calibration: Path | None
) -> Adapt | None:
    if mode != "adaptive":
        if (until_se, length, calibration) != (None, None, None):
            raise click.UsageError("--until-se, --length and --calibration are for --mode adaptive.")
        return None
    if draw is not None:
        raise click.UsageError("An adaptive attempt chooses its questions; --length says how many at most.")
    from quizapp.store.begin import Adapt

    if (until_se, length) == (None, None):
        return Adapt(None, calibration)
    from quizapp.assess.adaptive import Rule

    usual = Rule()
    return Adapt(Rule(until_se or usual.until_se, length or usual.length), calibration)


def _say_nothing_is_due(nothing: NothingDue, *, as_json: bool) -> None:
    if as_json:
        import json

        day = nothing.next_day
        print(json.dumps({"due": 0, "new": 0, "next_day": None if day is None else day.isoformat()}))
    else:
        from quizapp.bank.text import visible

        print(visible(f"{nothing.message} {nothing.hint}"))


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb")


def _confirm(folders: tuple[Path, ...]) -> None:
    from quizapp.lab.confirmed import confirm

    can_ask = sys.stdin.isatty() and sys.stderr.isatty()
    for folder in folders:
        confirm(folder, _ask if can_ask else None)


def _ask(question: str) -> bool:
    from quizapp.bank.text import visible

    return click.confirm(visible(question), err=True)


def _take_plainly(
    ref: str,
    learner: str,
    seed: int | None,
    draw: int | None,
    *,
    mode: str | None,
    adapt: Adapt | None,
    fresh: bool,
    as_json: bool,
    folders: tuple[Path, ...],
    device: Device,
) -> int:
    import gc

    # Collecting garbage costs a tenth of the way to the first question of a large bank, and there is next to
    # none until a demo runs.
    gc.disable()
    from quizapp.plain import take
    from quizapp.store.begin import begin, begin_named, open_store

    store, notice = open_store()
    bank, beginning = begin_named(
        store, ref, learner, mode=mode, fresh=fresh, seed=seed, draw=draw, adapt=adapt
    )
    demos: list[Demos] = []

    def lab() -> Demos:
        if not demos:
            from quizapp.plain.demo import Demos

            gc.enable()
            demos.append(Demos(folders, device))
        return demos[0]

    known: list[Grounds] = []

    def grounds() -> Grounds:
        if not known:
            from quizapp.lab.ground import grounds_of_bank

            path = None if bank is None else bank.path
            known.append(grounds_of_bank(path, lab().catalogue, beginning.store))
        return known[0]

    def again_on(bank: OpenBank) -> Callable[[list[str]], Sitting]:
        return lambda question_ids: begin(beginning.store, bank, learner, only=question_ids).sitting

    for stream in (sys.stdin, sys.stdout, sys.stderr):
        # Bytes that are no text of this locale must not end an attempt.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace" if stream is sys.stdin else "backslashreplace")
    try:
        return take(
            beginning.sitting,
            stdin=sys.stdin,
            stdout=sys.stdout,
            stderr=sys.stderr,
            as_json=as_json,
            width=_width(),
            interactive=sys.stdin.isatty(),
            demos=lab,
            grounds=grounds,
            again=None if bank is None else again_on(bank),
            notices=tuple(filter(None, (notice, *beginning.notices))),
        )
    except BrokenPipeError:
        from quizapp.streams import forget_stdout

        # Nobody reads on. What was given is kept; an unfinished attempt was neither passed nor failed.
        forget_stdout()
        return 0 if beginning.sitting.finished else 3
    finally:
        for opened in demos:
            opened.close()
        beginning.store.close()


def _width() -> int:
    try:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        columns = 80
    return max(20, min(columns, 100) - 4)
