"""`quizapp demo`: list demos, run one, compare its variants, replay a recording."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from quizapp.lab.catalogue import Catalogue, DemoDeclaration
    from quizapp.lab.compare import PlannedRun
    from quizapp.lab.request import RunRequest
    from quizapp.lab.summary import RunSummary

ABOVE_0 = click.FloatRange(min=0, min_open=True)


@click.command(name="demo")
@click.argument("name", required=False)
@click.option(
    "--devices", type=click.IntRange(1, 1024), default=8, show_default=True, help="How many devices."
)
@click.option(
    "--device",
    type=click.Choice(["auto", "cuda", "emulated"]),
    default="auto",
    show_default=True,
    help="Real GPUs, emulated ones, or GPUs when there are enough free ones.",
)
@click.option("--variant", type=click.Choice(["fault", "fix"]), help="[default: fault, if the demo has one]")
@click.option("--compare", is_flag=True, help="Run control, fault and fix, and show them side by side.")
@click.option("--seconds", type=ABOVE_0, help="Length of the run, in device time.")
@click.option(
    "--speed", type=ABOVE_0, help="Device seconds a second of the clock.  [default: as fast as it goes]"
)
@click.option("--set", "settings", metavar="KEY=VALUE", multiple=True, help="Set a parameter of the demo.")
@click.option(
    "--record", type=click.Path(dir_okay=False, path_type=Path), help="Keep the run's lines in a file."
)
@click.option("--replay", type=click.Path(path_type=Path), help="Show a recorded run again.")
@click.option(
    "--figure",
    type=click.Path(dir_okay=False, path_type=Path),
    help="With --replay: draw the recorded run as an SVG, and print what it shows in words.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object; progress goes to stderr.")
@click.option("--source", is_flag=True, help="Print the demo's program.")
@click.option(
    "--demos", "folders", type=click.Path(path_type=Path), multiple=True, help="A further folder of demos."
)
@click.option("--force", is_flag=True, help="Use GPUs that are in use, too.")
def command(
    name: str | None,
    devices: int,
    device: str,
    variant: str | None,
    compare: bool,
    seconds: float | None,
    speed: float | None,
    settings: tuple[str, ...],
    record: Path | None,
    replay: Path | None,
    figure: Path | None,
    as_json: bool,
    source: bool,
    folders: tuple[Path, ...],
    force: bool,
) -> int:
    """Run the demo NAME, a program that reproduces a fault of multi-GPU training. Without NAME, list them."""
    from quizapp.lab.confirmed import catalogue as load

    _refuse_contradictions(name, compare, record, replay, source)
    if figure is not None:
        if replay is None or as_json:
            raise click.UsageError(
                "--figure draws a recording: --replay FILE --figure OUT.svg, without --json."
            )
        return _draw(replay, figure)
    demos = load(folders, _ask if _can_ask() else None)
    if replay is not None:
        return _replay(demos, replay, speed, as_json=as_json)
    if name is None:
        return _list(demos, as_json=as_json)
    demo = demos.find(name)
    if source:
        from quizapp.bank.text import visible

        click.echo(visible(demo.source()), nl=False)
        return 0
    from quizapp.lab.request import RunRequest

    request = RunRequest(
        demo=demo,
        variant=variant or demo.variants[0],
        devices=devices,
        device=device,  # type: ignore[arg-type]  # click has checked it
        seconds=seconds,
        speed=speed,
        params=_settings(settings),
        force=force,
    )
    request.check()
    planned = _planned(demos, request, compare=compare)
    if _on_screen(as_json):
        from quizapp import tui

        return tui.run_demo(planned, record=record)
    return _run_plainly(planned, record, compare=compare, as_json=as_json)


def _refuse_contradictions(
    name: str | None, compare: bool, record: Path | None, replay: Path | None, source: bool
) -> None:
    if replay is not None and (name is not None or compare or record is not None or source):
        raise click.UsageError(
            "--replay shows a recording: it takes no NAME, --compare, --record or --source."
        )
    if name is None and (compare or record is not None or source):
        raise click.UsageError("Which demo? 'quizapp demo' lists them.")
    if compare and record is not None:
        raise click.UsageError("--record keeps one run; --compare makes several.")


def _settings(settings: tuple[str, ...]) -> dict[str, str]:
    given: dict[str, str] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key:
            raise click.BadParameter(f"{setting!r} is not KEY=VALUE", param_hint="--set")
        if key in given:
            raise click.BadParameter(f"{key} is set twice", param_hint="--set")
        given[key] = value
    return given


def _planned(demos: Catalogue, request: RunRequest, *, compare: bool) -> list[PlannedRun]:
    from quizapp.lab.compare import PlannedRun, planned_runs

    if not compare:
        return [PlannedRun(request.variant, request)]
    from quizapp.lab.catalogue import CONTROL

    planned = planned_runs(request, demos.get(CONTROL))
    for plan in planned:
        plan.request.check()
    return planned


def _can_ask() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _ask(question: str) -> bool:
    from quizapp.bank.text import visible

    return click.confirm(visible(question), err=True)


def _on_screen(as_json: bool) -> bool:
    import os

    return (
        not as_json
        and sys.stdout.isatty()
        and sys.stdin.isatty()
        and os.environ.get("TERM", "dumb") != "dumb"
    )


def _list(demos: Catalogue, *, as_json: bool) -> int:
    if as_json:
        import json

        entries = [
            {
                "demo": demo.name,
                "title": demo.title,
                "summary": demo.summary,
                "seconds": demo.seconds,
                "needs_gpu": demo.needs_gpu,
                "variants": {
                    v: {"diagnosis": demo.expects[v], "outcome": demo.outcomes[v]} for v in demo.variants
                },
                "params": {
                    param.name: {
                        "type": param.type,
                        "allowed": param.allowed(),
                        "default": param.default,
                        "by_variant": dict(param.by_variant),
                        "help": param.help,
                    }
                    for param in demo.params.values()
                },
            }
            for demo in demos.values()
        ]
        broken = [{"file": str(one.path), "line": one.line, "message": one.message} for one in demos.broken]
        click.echo(json.dumps({"demos": entries, "broken": broken}, ensure_ascii=False))
    else:
        from quizapp.lab.printed import list_lines

        for line in list_lines(demos):
            click.echo(line)
        click.echo("\nquizapp demo NAME runs one, quizapp demo NAME --source shows its program.", err=True)
    return 1 if demos.broken else 0


def _replay(demos: Catalogue, path: Path, speed: float | None, *, as_json: bool) -> int:
    from quizapp.lab.recording import read_recording, replay

    recording = read_recording(path)
    known = demos.get(recording.start.demo) if recording.start is not None else None
    # The screen tells a demo's story too; a recording of one that is not here is shown in lines.
    if known is not None and _on_screen(as_json):
        from quizapp import tui

        return tui.run_replay(path, known, speed=speed)
    import asyncio

    from quizapp.commands.demo_lines import Report
    from quizapp.lab.summary import summarise_lines

    report = Report(as_json=as_json)

    async def show() -> None:
        async for line in replay(recording, speed):
            report.line(line)

    asyncio.run(show())
    summary = summarise_lines(recording.marked())
    demo = demos.get(summary.demo)
    report.summary(summary, _difference(demo, summary) if demo else "")
    if as_json:
        report.print_json(summary.as_json() | {"replayed": recording.notice})
    return 1 if demo and _difference(demo, summary) else 0


def _draw(recorded: Path, figure: Path) -> int:
    from quizapp.errors import QuizappError
    from quizapp.lab.figure import describe, draw
    from quizapp.lab.recording import read_recording
    from quizapp.lab.summary import summarise_lines

    recording = read_recording(recorded)
    try:
        figure.write_text(draw(recording), encoding="utf-8")
    except OSError as error:
        raise QuizappError(f"{figure}: can't be written: {error.strerror}") from error
    click.echo(describe(summarise_lines(recording.marked())))
    return 0


def _difference(demo: DemoDeclaration, summary: RunSummary) -> str:
    from quizapp.lab.summary import as_declared

    return as_declared(demo, summary) if summary.variant in demo.variants else ""


def _run_plainly(planned: list[PlannedRun], record: Path | None, *, compare: bool, as_json: bool) -> int:
    from quizapp.commands.demo_lines import Report, run_all

    report = Report(as_json=as_json, quiet=compare)
    ran = run_all(planned, report, record)
    differences = [
        _difference(plan.request.demo, summary) if plan.declared else ""
        for plan, summary in zip(planned, ran.summaries, strict=False)
    ]
    if not compare:
        for summary, difference in zip(ran.summaries, differences, strict=True):
            report.summary(summary, difference)
            if as_json:
                report.print_json(summary.as_json())
        negative = any(differences)
    elif len(ran.summaries) == len(planned):
        from quizapp.lab.compare import Cell
        from quizapp.lab.compare import compare as side_by_side

        labels = [plan.label for plan in planned]
        cells = [Cell(label, summary) for label, summary in zip(labels, ran.summaries, strict=True)]
        comparison = side_by_side(cells)
        named = [f"{label}: {text}" for label, text in zip(labels, differences, strict=True) if text]
        report.comparison(comparison, named)
        negative = bool(named or comparison.off)
    else:
        report.talk("stopped: there is nothing to compare")
        negative = True
    return 128 + ran.signal if ran.signal else int(negative)
