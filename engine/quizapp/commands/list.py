"""`quizapp list`: the banks that can be taken, and those that can't."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from quizapp.bank.library import BankEntry


@click.command(name="list")
@click.argument("folders", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def command(folders: tuple[Path, ...], as_json: bool) -> None:
    """List the banks in FOLDERS, or where quizapp looks for them: here, in ./quizzes, in the folders that
    QUIZAPP_BANKS names, and in its own."""
    from quizapp.bank.library import list_banks

    entries = list_banks(folders or None)
    if as_json:
        import json

        print(json.dumps([_plain(entry) for entry in entries], indent=2))
    elif entries:
        for line in _table(entries):
            print(line)
    else:
        import sys

        print("no banks; `quizapp new BANK` writes one", file=sys.stderr)


def _plain(entry: BankEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "title": entry.title,
        "path": str(entry.path),
        "questions": entry.questions,
        "demos": entry.demos,
        "pass_mark": entry.pass_mark,
        "time_limit_s": entry.time_limit_s,
        "errors": entry.errors,
        "error": entry.error or None,
    }


def _table(entries: list[BankEntry]) -> list[str]:
    from quizapp.bank.text import visible
    from quizapp.bank.wrap import cell_width, pad

    ids = [visible(entry.id).replace("\n", " ") for entry in entries]
    width = max(cell_width(name) for name in ids)
    return [f"{pad(name, width)}  {visible(_facts(entry))}" for name, entry in zip(ids, entries, strict=True)]


def _facts(entry: BankEntry) -> str:
    if entry.error:
        count = "1 error" if entry.errors == 1 else f"{entry.errors} errors"
        return f"can't be taken, {count}: {entry.error}".replace("\n", " ")
    facts = [_number(entry.questions, "question"), _number(entry.demos, "demo")]
    if entry.pass_mark is not None:
        facts.append(f"pass mark {entry.pass_mark:.0%}")
    if entry.time_limit_s is not None:
        facts.append(f"{entry.time_limit_s / 60:g} min")
    return f"{entry.title} ({', '.join(facts)})".replace("\n", " ")


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
