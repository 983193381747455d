"""`quizapp results`: the attempts in the store, and all of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from quizapp.commands.results_store import delete_learner, export, merge
from quizapp.commands.standing import command as standing

if TYPE_CHECKING:
    from quizapp.assess.attempt import ItemState
    from quizapp.store.store import AttemptRecord, AttemptSummary


@click.group(name="results", invoke_without_command=True)
@click.option("--learner", metavar="NAME", help="Only this learner's attempts.")
@click.option("--bank", "bank_id", metavar="ID", help="Only attempts on this bank.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
@click.pass_context
def command(context: click.Context, learner: str | None, bank_id: str | None, as_json: bool) -> None:
    """Show past attempts. `quizapp results show ATTEMPT` shows one of them."""
    if context.invoked_subcommand is not None:
        return
    from quizapp.store.store import Store

    summaries = Store.open_if_there().attempts(learner, bank_id)
    if as_json:
        _print_json([_summary_as_json(summary) for summary in summaries])
    elif summaries:
        for line in _table(summaries):
            _print(line)
    else:
        who = f" of {learner}" if learner else ""
        on = f" on {bank_id}" if bank_id else ""
        _say(f"No attempts{who}{on} yet. `quizapp take multi-gpu` begins one; `quizapp list` has more.")


@command.command(name="show")
@click.argument("attempt")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(attempt: str, as_json: bool) -> None:
    """Show one attempt, question by question. ATTEMPT is its id, or the beginning of it."""
    from quizapp.store.store import Store

    record = Store.open_if_there().show(attempt)
    if as_json:
        _print_json(_record_as_json(record))
        return
    for line in _record_lines(record):
        _print(line)


for _other in (standing, export, merge, delete_learner):
    command.add_command(_other)


def _table(summaries: list[AttemptSummary]) -> list[str]:
    from quizapp.store.clock import on_screen

    rows = [
        (summary.id, on_screen(summary.started_at), _one_line(summary.bank_id), _one_line(summary.learner))
        for summary in summaries
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        + f"  {_standing(summary)}"
        for row, summary in zip(rows, summaries, strict=True)
    ]


def _standing(summary: AttemptSummary) -> str:
    if summary.state == "open":
        return f"open, {summary.answered} of {summary.total} answered"
    if summary.state == "discarded":
        return "discarded"
    from quizapp.assess.scoring import points_in_words

    share = f"{summary.points / summary.max_points:.0%}" if summary.max_points else "0%"
    got = f"{points_in_words(summary.points)} of {points_in_words(summary.max_points)} points ({share})"
    return got if summary.passed is None else f"{got}, {'passed' if summary.passed else 'not passed'}"


def _record_lines(record: AttemptRecord) -> list[str]:
    from quizapp.assess.result import interval_in_words, result_of
    from quizapp.store.clock import on_screen

    summary = record.summary
    lines = [
        f"{_one_line(summary.bank_title)} ({_one_line(summary.bank_id)})",
        f"{_one_line(summary.learner)}, {summary.mode}, seed {summary.seed}"
        f", begun {on_screen(summary.started_at)}"
        + (f", ended {on_screen(summary.finished_at)}" if summary.finished_at else ""),
        _standing(summary),
    ]
    result = result_of(record.attempt)
    if result.ability is not None:
        from quizapp.assess.adaptive import ability_in_words, end_in_words, scale_in_words

        lines.append(f"  {ability_in_words(result.ability)}; {scale_in_words(result.ability)}")
        lines += [f"  {end_in_words(result.ability)}"] if end_in_words(result.ability) else []
    if len(result.by_objective) > 1:
        from quizapp.assess.scoring import points_in_words

        for part in result.by_objective:
            got = f"{points_in_words(part.points)} of {points_in_words(part.max_points)}"
            count = "1 question" if part.questions == 1 else f"{part.questions} questions"
            title = _one_line(part.title) or "no objective"
            lines.append(f"  {got}  {title} ({interval_in_words(part.interval)}, {count})")
        lines.append("  In brackets: 95 % intervals of the share, by Wilson's method.")
    for number, state in enumerate(record.attempt.items, 1):
        lines += ["", *_item_lines(record, state, number)]
    if summary.state == "open":
        lines += ["", f"Go on with: quizapp take {_one_line(summary.bank_id)}"]
    return lines


def _item_lines(record: AttemptRecord, state: ItemState, number: int) -> list[str]:
    from quizapp.assess.scoring import TYPED, given_in_words, key_in_words, key_of, points_in_words

    score = state.score
    if score is not None:
        points = f"{points_in_words(score.points)} of {points_in_words(score.max_points)}, {score.rule}"
        standing = f"{score.verdict.value}: {points}"
    else:
        standing = "open" if state.shown else "not shown"
    lines = [f"{number}. {state.question_id}: {standing}"]
    for before, after, reason in zip(state.scores, state.scores[1:], state.reasons[1:], strict=False):
        old, new = (
            f"{each.verdict.value} {points_in_words(each.points)} of {points_in_words(each.max_points)}"
            for each in (before, after)
        )
        lines.append(f"   scored again: {old} -> {new}: {_one_line(reason)}")
    asked = record.question(state.question_id)
    if asked is None:
        return lines
    lines.append(f"   {_one_line(asked.stem)[:100]}")
    texts = {option.id: _one_line(option.text)[:70] for option in asked.options}
    key = key_of(asked)
    for place, option_id in enumerate(state.option_order):
        marks = (
            "key" if option_id in key and state.submitted else "",
            "chosen" if option_id in state.response.selected else "",
        )
        said = ", ".join(filter(None, marks))
        letter = chr(ord("A") + place)
        lines.append(f"   {letter} {texts.get(option_id, option_id)}" + (f"  <- {said}" if said else ""))
    if asked.kind in (*TYPED, "ordering", "matching", "reading") and state.submitted:
        letters = {option_id: chr(ord("A") + place) for place, option_id in enumerate(state.option_order)}
        given = _one_line(given_in_words(asked, state.response, letters))[:100]
        lines.append(f"   response: {given or 'none'}")
        lines.append(f"   key: {_one_line(key_in_words(asked, letters))[:100]}")
    for option_id, diagnosis in state.predictions:
        lines.append(f"   predicted for {option_id}: {_one_line(diagnosis)}")
    for option_id, run in state.runs:
        what = f"{run.get('demo', '?')}, {run.get('variant', '?')}, {run.get('device_kind', '?')} devices"
        lines.append(
            f"   measured for {option_id}: {_one_line(str(run.get('diagnosis', '?')))} ({_one_line(what)})"
        )
    return lines


def _summary_as_json(summary: AttemptSummary) -> dict[str, Any]:
    return {
        "attempt": summary.id,
        "bank": summary.bank_id,
        "title": summary.bank_title,
        "learner": summary.learner,
        "mode": summary.mode,
        "seed": summary.seed,
        "state": summary.state,
        "started_at": summary.started_at.isoformat(),
        "finished_at": summary.finished_at.isoformat() if summary.finished_at else None,
        "answered": summary.answered,
        "total": summary.total,
        "points": summary.points,
        "max_points": summary.max_points,
        "passed": summary.passed,
    }


def _record_as_json(record: AttemptRecord) -> dict[str, Any]:
    import json

    from quizapp.assess.attempt import event_to_json

    questions = []
    for state in record.attempt.items:
        score = state.score
        record.question(state.question_id)  # raises what is to be said of a damaged presentation
        snapshot = record.snapshots.get(state.question_id)
        questions.append(
            {
                "question": state.question_id,
                "revision": state.revision or None,
                "shown": state.shown,
                "option_order": list(state.option_order),
                "response": state.response.plain,
                "submitted": state.submitted,
                "verdict": score.verdict.value if score else None,
                "points": score.points if score else None,
                "max_points": score.max_points if score else None,
                "rule": score.rule if score else None,
                "objective": state.objective,
                "predictions": [
                    {"option": option_id, "diagnosis": diagnosis}
                    for option_id, diagnosis in state.predictions
                ],
                "runs": [{"option": option_id, "summary": run} for option_id, run in state.runs],
                "presented": None if snapshot is None or record.concealed else json.loads(snapshot),
            }
        )
    events = []
    for at, event in record.events:
        name, body = event_to_json(event)
        events.append({"at": at.isoformat(), "event": name, **body})
    return {**_summary_as_json(record.summary), "questions": questions, "events": events}


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _print(text: str) -> None:
    from quizapp.bank.text import visible

    click.echo(visible(text))


def _say(text: str) -> None:
    click.echo(text, err=True)


def _print_json(body: object) -> None:
    import json

    click.echo(json.dumps(body, indent=2))
