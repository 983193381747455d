"""`quizapp verify`: test a bank's keys by experiment."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from quizapp.bank.library import OpenBank
    from quizapp.bank.model import Question
    from quizapp.lab.finding import Finding
    from quizapp.lab.summary import RunSummary
    from quizapp.lab.verify import NeededRun
    from quizapp.store.store import Store


@click.command(name="verify")
@click.argument("bank")
@click.argument("questions", nargs=-1, metavar="[QUESTION]...")
@click.option(
    "--repeats",
    type=click.IntRange(1, 100),
    default=3,
    show_default=True,
    help="Runs of each demo, every planned duration perturbed by a seeded 30 %.",
)
@click.option("--fresh", is_flag=True, help="Make every run again, whatever is known.")
@click.option(
    "--accept-shipped", is_flag=True, help="Take the author's evidence that came with the bank as it is."
)
@click.option(
    "--budget", type=click.FloatRange(min=0), metavar="SECONDS", help="Start no run after this time."
)
@click.option(
    "--export", type=click.Path(dir_okay=False, path_type=Path), help="Write the evidence to a file."
)
@click.option("--queued", is_flag=True, help="Only the keys that `quizapp stats` has put in doubt.")
@click.option("--json", "as_json", is_flag=True, help="Print a list of findings; progress goes to stderr.")
@click.option(
    "--demos", "folders", type=click.Path(path_type=Path), multiple=True, help="A further folder of demos."
)
@click.pass_context
def command(
    ctx: click.Context,
    bank: str,
    questions: tuple[str, ...],
    repeats: int,
    fresh: bool,
    accept_shipped: bool,
    budget: float | None,
    export: Path | None,
    queued: bool,
    as_json: bool,
    folders: tuple[Path, ...],
) -> None:
    """Test BANK's keys by experiment: the key's demo must show the signs of the stem, no other may.

    Runs are kept, so a second call makes only those that are stale. Exits with 1 when a key is contradicted.
    """
    from quizapp.bank.library import find_bank, open_bank
    from quizapp.lab.confirmed import catalogue as load
    from quizapp.lab.shipped import read_shipped, write_evidence
    from quizapp.lab.verify import Verification, known

    path = find_bank(bank)
    opened = open_bank(path)
    if queued:
        questions = _queued(opened, questions)
        if not questions:
            print(f"quizapp: no key of {opened.id} is queued", file=sys.stderr)
            if as_json:
                print("[]")
            return
    demos = load(folders)
    verification = Verification(_with_symptom(opened, questions), demos, repeats)
    needed = verification.runs()
    store = _store()
    shipped = read_shipped(path) if accept_shipped else {}
    summaries, claimed = known(needed, store, shipped, fresh=fresh)
    missing: dict[str, str] = {}
    stopped = 0
    todo = [run for key, run in needed.items() if key not in summaries]
    if todo:
        stopped = _make(todo, len(needed), store, summaries, missing, budget)
    found = verification.findings(summaries, missing)
    if export is not None:
        write_evidence(export, opened.id, _records(needed, store, shipped))
    _take_from_queue(store, opened.id, found)
    made = len(needed) - sum(key not in summaries for key in needed)
    _print(found, as_json=as_json, claimed=len(claimed), made=made, needed=len(needed))
    store.close()
    if stopped:
        ctx.exit(128 + stopped)
    if any(finding.finding == "contradicted" for finding in found):
        ctx.exit(1)


def _with_symptom(bank: OpenBank, wanted: tuple[str, ...]) -> tuple[Question, ...]:
    from quizapp.errors import QuizappError, nearest

    for question_id in wanted:
        if question_id not in bank.ids:
            near = nearest(question_id, list(bank.ids))
            raise QuizappError(
                f"{bank.id} has no question {question_id!r}",
                hint=f"did you mean {near!r}?" if near else f"quizapp check {bank.id} lists what it has",
            )
    questions = [bank.question(question_id) for question_id in (wanted or bank.ids)]
    for question in questions:
        if wanted and question.symptom is None:
            raise QuizappError(
                f"question {question.id} has no symptom to be tested",
                hint=f"its key stands on {question.verified_by}; docs/authoring.md tells how to write one",
            )
    tested = tuple(question for question in questions if question.symptom is not None)
    if not tested:
        raise QuizappError(
            f"no question of {bank.id} has a symptom to be tested",
            hint="docs/authoring.md tells how to write one",
        )
    return tested


def _queued(bank: OpenBank, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """The questions whose keys wait, beside those that are named; what left the bank waits in vain."""
    from quizapp.store.answer_sheets import queued_for_verify
    from quizapp.store.store import Store

    waiting = queued_for_verify(Store.open_if_there(), bank.id)
    tested = (name for name in waiting if name in bank.ids and bank.question(name).symptom is not None)
    return tuple(dict.fromkeys((*wanted, *tested)))


def _take_from_queue(store: Store, bank_id: str, found: list[Finding]) -> None:
    """What could be decided waits no longer."""
    from quizapp.store.answer_sheets import queued_for_verify, take_from_queue

    waiting = queued_for_verify(store, bank_id)
    decided = [one.question for one in found if one.finding != "inconclusive" and one.question in waiting]
    if decided:
        take_from_queue(store, bank_id, decided)


def _store() -> Store:
    from quizapp.store.database import StoreUnavailable
    from quizapp.store.store import Store

    try:
        return Store.open()
    except StoreUnavailable as error:
        print(f"quizapp: {error}\n  This evidence will not be kept.", file=sys.stderr)
        return Store.in_memory()


def _make(
    todo: list[NeededRun],
    total: int,
    store: Store,
    summaries: dict[str, RunSummary],
    missing: dict[str, str],
    budget_s: float | None,
) -> int:
    """Make the runs; returns the number of the signal that stopped it, or 0."""
    import asyncio
    import signal

    from quizapp.commands.verify_lines import ProgressLine
    from quizapp.lab.runner import Lab
    from quizapp.lab.verify import make

    line = ProgressLine(sys.stderr)
    caught = 0

    async def run() -> None:
        nonlocal caught
        task = asyncio.current_task()

        def stop(number: int) -> None:
            nonlocal caught
            caught = number
            if task is not None:
                task.cancel()

        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop, number)
        async with Lab() as lab:
            line.say("importing PyTorch …")
            runs = make(todo, lab, store, _now, progress=line.show, budget_s=budget_s, total=total)
            try:
                async for needed, summary, _ in runs:
                    if summary.outcome in ("crashed", "timed-out", "stopped"):
                        words = f": {summary.error.message}" if summary.error else ""
                        missing[needed.key.text] = f"the run {summary.outcome.replace('-', ' ')}{words}"
                    else:
                        summaries[needed.key.text] = summary
            finally:
                await runs.aclose()

    try:
        asyncio.run(run())
    except (asyncio.CancelledError, KeyboardInterrupt):
        caught = caught or signal.SIGINT
    finally:
        line.end()
    why = "not run: stopped" if caught else "not run: out of budget"
    for needed in todo:
        if needed.key.text not in summaries:
            missing.setdefault(needed.key.text, why)
    return caught


def _now() -> str:
    from datetime import UTC, datetime

    return datetime.now(UTC).isoformat(timespec="seconds")


def _records(
    needed: dict[str, NeededRun], store: Store, shipped: dict[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    records = {}
    for key in needed:
        kept = store.evidence(key)
        record = kept[-1] if kept else shipped.get(key)
        if record is not None:
            records[key] = record
    return records


def _print(found: list[Finding], *, as_json: bool, claimed: int, made: int, needed: int) -> None:
    if as_json:
        import json

        from quizapp.lab.finding import as_json as finding_json

        print(json.dumps([finding_json(finding) for finding in found], ensure_ascii=False, allow_nan=False))
        return
    from quizapp.commands.verify_lines import finding_lines, total_lines

    for finding in found:
        for text in finding_lines(finding):
            print(text)
    for text in total_lines(found, claimed=claimed, made=made, needed=needed):
        print(text)
