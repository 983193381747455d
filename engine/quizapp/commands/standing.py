"""`quizapp results standing`: the first, the best and the last attempt of each learner on each bank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from quizapp.assess.standing import Standing
    from quizapp.store.store import AttemptSummary


@click.command(name="standing")
@click.option("--learner", metavar="NAME", help="Only this learner's attempts.")
@click.option("--bank", "bank_id", metavar="ID", help="Only attempts on this bank.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def command(learner: str | None, bank_id: str | None, as_json: bool) -> None:
    """Show the first, the best and the last finished attempt of each learner, by bank and mode.

    An attempt on fewer questions than the first, such as one that redoes the wrong ones, does not count.
    """
    from quizapp.assess.standing import standings
    from quizapp.bank.text import visible
    from quizapp.store.store import Store

    finished = Store.open_if_there().attempts(learner, bank_id, state="finished")
    found = standings(reversed(finished))
    if as_json:
        import json

        click.echo(json.dumps([_as_json(each) for each in found], indent=2))
    elif not found:
        click.echo("No finished attempts yet.", err=True)
    for each in [] if as_json else found:
        of = each.first
        count = "1 attempt" if each.attempts == 1 else f"{each.attempts} attempts"
        shares = ", ".join(f"{name} {_share(each, name)}" for name in ("first", "best", "last"))
        click.echo(visible(f"{of.learner}, {of.bank_id}, {of.mode}: {count}; {shares}"))


def _share(standing: Standing, which: str) -> str:
    from quizapp.assess.standing import share

    attempt: AttemptSummary = getattr(standing, which)
    words = {True: " passed", False: " not passed", None: ""}[attempt.passed]
    return f"{share(attempt):.0%}{words}"


def _as_json(standing: Standing) -> dict[str, Any]:
    def one(attempt: AttemptSummary) -> dict[str, Any]:
        return {
            "attempt": attempt.id,
            "started_at": attempt.started_at.isoformat(),
            "points": attempt.points,
            "max_points": attempt.max_points,
            "passed": attempt.passed,
        }

    of = standing.first
    which: dict[str, Any] = {name: one(getattr(standing, name)) for name in ("first", "best", "last")}
    return {
        "learner": of.learner,
        "bank": of.bank_id,
        "mode": of.mode,
        "attempts": standing.attempts,
        **which,
    }
