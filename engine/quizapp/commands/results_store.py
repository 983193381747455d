"""`quizapp results export`, `merge` and `delete-learner`: what is done with many attempts at once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quizapp.assess.response_rows import ResponseRow
    from quizapp.store.store import AttemptSummary, Store

_FORMATS = ("csv", "json", "jsonl", "parquet")


@click.command(name="export")
@click.argument("out", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--format", "form", type=click.Choice(_FORMATS), help="Unless the file's suffix says it.")
@click.option("--learner", metavar="NAME", help="Only this learner's attempts.")
@click.option("--bank", "bank_id", metavar="ID", help="Only attempts on this bank.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
def export(out: Path, form: str | None, learner: str | None, bank_id: str | None, force: bool) -> None:
    """Write responses to a file: CSV, JSON, JSON lines or Parquet; - is stdout.

    A row is a question that was shown in an attempt. Exams that go on are left out.
    """
    from quizapp.errors import QuizappError
    from quizapp.report.exported import FORMATS
    from quizapp.report.files import written
    from quizapp.store.store import Store

    form = form or ("csv" if str(out) == "-" else out.suffix.lower().removeprefix("."))
    if form not in FORMATS:
        known = ", ".join(f".{each}" for each in FORMATS)
        raise QuizappError(f"{out}: no format is known by this suffix", hint=f"Use {known}, or --format.")
    store = Store.open_if_there()
    summaries = store.attempts(learner, bank_id)[::-1]
    left_out: list[str] = []
    rows = rows_of(store, summaries, left_out)
    if str(out) == "-":
        count = FORMATS[form](rows, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    else:
        with written(out, force=force) as file:
            count = FORMATS[form](rows, file)
    _say(f"{count} responses of {len(summaries) - len(left_out)} attempts")
    for why in left_out:
        _say(f"left out: {why}")


def rows_of(store: Store, summaries: list[AttemptSummary], left_out: list[str]) -> Iterator[ResponseRow]:
    """The rows of these attempts; which were left out, and why, is added to `left_out`."""
    import json

    from quizapp.assess.response_rows import AttemptFacts, response_rows
    from quizapp.store.store import AttemptUnreadable

    learner_ids = store.learner_ids()
    for summary in summaries:
        if summary.mode == "exam" and summary.state == "open":
            left_out.append(f"{summary.id}, an exam that goes on")
            continue
        try:
            record = store.show(summary.id)
            kinds = {name: str(json.loads(text)["kind"]) for name, text in record.snapshots.items()}
        except (AttemptUnreadable, ValueError, KeyError, TypeError) as error:
            left_out.append(f"{summary.id}, which can't be read: {error}")
            continue
        facts = AttemptFacts(
            summary.id,
            learner_ids.get(summary.learner, ""),
            summary.learner,
            summary.state,
            round(summary.started_at.timestamp() * 1e6),
        )
        yield from response_rows(facts, record.attempt, kinds)


@click.command(name="merge")
@click.argument("stores", nargs=-1, required=True, metavar="STORE...", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list, an object a store.")
def merge(stores: tuple[Path, ...], as_json: bool) -> int:
    """Take the attempts of other stores in. STORE is an attempts.sqlite3, or the folder that holds it.

    Attempts and learners are known by their random ids, so what was merged before is not doubled. The other
    store stays as it is; its evidence stays there, too, as nothing of it was run here.
    """
    import json

    from quizapp.content import state_dir
    from quizapp.store.merging import merge_store

    merged = [(store, merge_store(state_dir(), store)) for store in stores]
    if as_json:
        click.echo(json.dumps([{"store": str(store), **one._asdict()} for store, one in merged], indent=2))
    for store, one in merged:
        _say(
            f"{store}: {one.attempts} attempts of {one.learners} new learners taken in"
            if one.learners
            else f"{store}: {one.attempts} attempts taken in"
        )
        _say(f"  {one.known} were here already, {one.behind} have gone on since")
        for name, here in one.renamed:
            _say(f"  {name!r} is another learner here; the one from there is {here!r}")
        for attempt_id, why in one.left_out:
            _say(f"  left out: {attempt_id} {why}")
    return 1 if any(one.left_out for _, one in merged) else 0


@click.command(name="delete-learner")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Don't ask.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def delete_learner(name: str, yes: bool, as_json: bool) -> int:
    """Delete a learner with all attempts, for good. Files that were exported before are not touched."""
    import json

    from quizapp.content import state_dir
    from quizapp.errors import QuizappError
    from quizapp.report.sections import forget_pages
    from quizapp.store import deletion

    count = deletion.attempts_of(state_dir(), name)
    if not yes:
        if not sys.stdin.isatty():
            raise QuizappError(f"Nothing was deleted: {name!r} has {count} attempts.", hint="Say --yes.")
        click.confirm(_shown(f"Delete {name} with {count} attempts, for good?"), abort=True, err=True)
    deleted = deletion.delete_learner(state_dir(), name)
    forget_pages()
    if as_json:
        click.echo(json.dumps(deleted._asdict(), indent=2))
    _say(f"{name} is deleted, with {deleted.attempts} attempts.")
    if not deleted.overwritten:
        _say("Another program has the store open: traces stay until a learner is deleted while none has.")
    return 0


def _say(text: str) -> None:
    click.echo(_shown(text), err=True)


def _shown(text: str) -> str:
    from quizapp.bank.text import visible

    return visible(text)
