"""`quizapp rescore`: score stored attempts again after a bank's key was mended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from quizapp.store.rescore import Change, Plan, Rescored


@click.command(name="rescore")
@click.argument("bank")
@click.option("--reason", required=True, metavar="TEXT", help="Why: it is kept with every new score.")
@click.option(
    "--map",
    "pairs",
    multiple=True,
    metavar="OLD=NEW",
    help="An option's id then and now; QUESTION:OLD=NEW for one question only.",
)
@click.option("--learner", metavar="NAME", help="Only this learner's attempts.")
@click.option("--yes", is_flag=True, help="Store the new scores. Without it they are only shown.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    bank: str, reason: str, pairs: tuple[str, ...], learner: str | None, yes: bool, as_json: bool
) -> int:
    """Score the stored attempts on BANK again by its present key, old and new side by side.

    Nothing is stored without --yes, and no score is ever replaced: new ones are added with the reason.
    """
    from quizapp.bank.library import find_bank, open_bank
    from quizapp.store.rescore import plan_rescore, rescore
    from quizapp.store.store import Store

    if not reason.strip():
        raise click.BadParameter("say why the scores change", param_hint="--reason")
    opened = open_bank(find_bank(bank))
    store = Store.open_if_there()
    plan = plan_rescore(store, opened, option_map=_map(pairs), learner=learner)
    stored = rescore(store, plan, reason.strip()) if yes else 0
    if as_json:
        _print_json(plan, reason.strip(), stored=yes)
        return 0
    for attempt in plan.attempts:
        for line in _lines(attempt):
            _print(line)
    changes = [change for attempt in plan.attempts for change in attempt.changes]
    lower = sum(change.decrease for change in changes)
    said = f"{plan.looked_at} scores compared, {len(changes)} differ, {lower} lower"
    if plan.gone:
        said += f"; {plan.gone} of questions that left the bank stay as they are"
    _print(said + ".", err=True)
    if yes:
        _print(f"{stored} new scores stored.", err=True)
    elif changes:
        _print("Nothing is stored yet: --yes stores the new scores.", err=True)
    return 0


def _map(pairs: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in pairs:
        old, equals, new = pair.partition("=")
        if not (old and equals and new):
            raise click.BadParameter(f"{pair!r} is no OLD=NEW", param_hint="--map")
        found[old] = new
    return found


def _lines(attempt: Rescored) -> list[str]:
    from quizapp.assess.scoring import points_in_words

    old, new = points_in_words(attempt.old_points), points_in_words(attempt.new_points)
    head = (
        f"{attempt.attempt_id}  {attempt.learner}, {attempt.mode}: {old} of "
        f"{points_in_words(attempt.old_max)} -> {new} of {points_in_words(attempt.new_max)} points"
    )
    if attempt.old_passed != attempt.new_passed:
        head += f", {_passed(attempt.old_passed)} -> {_passed(attempt.new_passed)}"
    return [head, *(f"    {_change(change)}" for change in attempt.changes)]


def _change(change: Change) -> str:
    from quizapp.assess.scoring import points_in_words

    old, new = (
        f"{side.verdict.value} {points_in_words(side.points)}/{points_in_words(side.max_points)}"
        for side in (change.old, change.new)
    )
    rules = f" ({change.old.rule} -> {change.new.rule})" if change.old.rule != change.new.rule else ""
    return f"{change.question_id}: {old} -> {new}{rules}" + ("  LOWER" if change.decrease else "")


def _passed(passed: bool | None) -> str:
    return {True: "passed", False: "not passed", None: "no mark"}[passed]


def _print_json(plan: Plan, reason: str, *, stored: bool) -> None:
    import json

    def side(of: Any) -> dict[str, Any]:
        return {**of._asdict(), "verdict": of.verdict.value}

    attempts = [
        {
            **attempt._asdict(),
            "changes": [
                {
                    "question": change.question_id,
                    "old": side(change.old),
                    "new": side(change.new),
                    "decrease": change.decrease,
                }
                for change in attempt.changes
            ],
        }
        for attempt in plan.attempts
    ]
    body = {
        "reason": reason,
        "stored": stored,
        "compared": plan.looked_at,
        "gone": plan.gone,
        "attempts": attempts,
    }
    click.echo(json.dumps(body, indent=2))


def _print(text: str, *, err: bool = False) -> None:
    from quizapp.bank.text import visible

    click.echo(visible(text), err=err)
