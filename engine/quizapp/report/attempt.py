"""An attempt as an HTML page: what was shown, given, scored, and why, out of what is stored of it alone.

So it says the same after the bank was mended or deleted. Of an exam that goes on nothing is given away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from quizapp.assess.adaptive import ability_in_words, end_in_words, scale_in_words
from quizapp.assess.result import interval_in_words, result_of
from quizapp.assess.scoring import (
    Verdict,
    given_in_words,
    key_in_words,
    mistake_of,
    points_in_words,
    rule_in_words,
    rule_of,
)
from quizapp.report.documents import rendered
from quizapp.report.page import bars, page, said, spans, table

if TYPE_CHECKING:
    from quizapp.assess.attempt import ItemState
    from quizapp.bank.model import Question
    from quizapp.report.sections import Sections
    from quizapp.store.store import AttemptRecord

SIGNS = {"correct": "✓", "partial": "◐", "incorrect": "✗", "unanswered": "○", "open": "○"}
_FIGURE = re.compile("\0([^\0]*)\0")
_CHOICES = ("single-choice", "multiple-choice", "true-false")


def attempt_page(
    record: AttemptRecord,
    *,
    when: Callable[[datetime], str],
    picture: Callable[[str], str] = lambda src: "",
    ground: Callable[[Question], str] = lambda question: "",
    sections: Sections | None = None,
) -> str:
    """The page of one attempt.

    `when` writes a time; `picture` gives a figure as a data: address, "" where it can't be read;
    `ground` says on what a key stands, by the question alone; `sections` remembers what was made before.
    """
    summary = record.summary
    title = f"{summary.bank_title}: {summary.learner}"
    parts = [f"<h1>{said(summary.bank_title)}</h1>", *_head(record, when)]
    if summary.mode == "exam" and summary.state == "open":
        parts.append("<p>This exam goes on. What was answered is shown when it has ended.</p>")
    else:
        parts += _objectives(record)
        parts.append("<h2>Questions</h2>")
        for number, state in enumerate(record.attempt.items, 1):
            section = _remembered(record, state, number, ground, sections)
            parts.append(_FIGURE.sub(lambda found: _image(picture(found[1])), section))
        parts += _timeline(record, when)
    return page(title, "en", "\n".join(parts))


def _head(record: AttemptRecord, when: Callable[[datetime], str]) -> Iterator[str]:
    summary = record.summary
    rows = [
        ["Learner", summary.learner],
        ["Bank", f"{summary.bank_id}, content {summary.bank_hash[:12]}"],
        ["Mode", f"{summary.mode}, drawn from seed {summary.seed}"],
        ["Begun", when(summary.started_at)],
        ["Ended", when(summary.finished_at) if summary.finished_at else summary.state],
        ["Attempt", summary.id],
    ]
    result = result_of(record.attempt)
    if summary.state == "finished":
        points = f"{points_in_words(result.points)} of {points_in_words(result.max_points)} points"
        rows.insert(0, ["Score", f"{points}, {result.share:.0%}"])
        if result.ability is not None:
            rows.insert(0, ["Scale", scale_in_words(result.ability)])
            rows.insert(0, ["Ability", f"{ability_in_words(result.ability)}. {end_in_words(result.ability)}"])
        if result.passed is not None:
            mark = f"the mark is {result.pass_mark:.0%}"
            rows.insert(0, ["Result", f"{'passed' if result.passed else 'not passed'}; {mark}"])
    yield table("This attempt", ["", ""], rows)


def _objectives(record: AttemptRecord) -> Iterator[str]:
    result = result_of(record.attempt)
    if not result.by_objective:
        return
    rows = []
    for part in result.by_objective:
        share = part.points / part.max_points if part.max_points else 0.0
        words = f"{points_in_words(part.points)} of {points_in_words(part.max_points)}"
        count = "1 question" if part.questions == 1 else f"{part.questions} questions"
        words = f"{words}, {count} ({interval_in_words(part.interval)})"
        rows.append((part.title or "no objective", share, words))
    yield "<h2>By objective</h2>"
    yield bars("Points by objective", rows)
    yield "<p class=muted>In brackets: 95 % intervals of the share, by Wilson's method.</p>"


def _remembered(
    record: AttemptRecord,
    state: ItemState,
    number: int,
    ground: Callable[[Question], str],
    sections: Sections | None,
) -> str:
    if sections is None or not state.snapshot:
        return "\n".join(_question(record, state, number, ground))
    key = sections.key(number, *(getattr(state, name) for name in state.__slots__))
    section = sections.get(key)
    if section is None:
        section = "\n".join(_question(record, state, number, ground))
        sections.put(key, section)
    return section


def _image(address: str) -> str:
    return f'<img src="{address}" alt="">' if address else ""


def _question(
    record: AttemptRecord,
    state: ItemState,
    number: int,
    ground: Callable[[Question], str],
) -> Iterator[str]:
    score = state.score
    verdict = str(score.verdict) if score is not None else "open"
    yield f'<article aria-labelledby="q{number}">'
    yield f'<h3 id="q{number}">{number}. {said(state.question_id)}</h3>'
    words = f"{SIGNS[verdict]} {verdict}"
    if score is not None:
        words += f", {points_in_words(score.points)} of {points_in_words(score.max_points)} points"
    yield f'<p class="verdict {verdict}">{said(words)}</p>'
    for earlier in state.scores[:-1]:
        was = f"scored before: {earlier.verdict}, {points_in_words(earlier.points)} points ({earlier.rule})"
        yield f"<p class=muted>{said(was)}</p>"
    question = record.question(state.question_id)
    if question is None:
        yield "<p class=muted>This question was not shown.</p></article>"
        return
    letters = {option_id: chr(ord("A") + place) for place, option_id in enumerate(state.option_order)}
    yield rendered(question.stem, letters)
    yield from _response(question, state, letters)
    rule = score.rule if score is not None else question.scoring.rule or rule_of(question.kind)
    yield f"<p class=muted>Scored {said(rule_in_words(rule, question.scoring.penalty))}.</p>"
    if state.submitted or score is not None:
        yield "<div>" + rendered(question.explanation.short, letters)
        yield rendered(question.explanation.full, letters) + "</div>"
        figure = question.explanation.figure
        if figure is not None:
            # Where the picture goes: it is read anew for each report, as its file may have changed.
            shown = f"\0{figure.src}\0" if "\0" not in figure.src else ""
            yield f"<figure>{shown}<figcaption>{rendered(figure.alt, letters)}</figcaption></figure>"
        stands = ground(question)
        if stands:
            yield f"<p class=muted>The key stands on: {said(stands)}.</p>"
        for option_id, run in state.runs:
            what = f"{run.get('demo', '?')}, {run.get('variant', '?')}, {run.get('device_kind', '?')} devices"
            measured = f"{run.get('diagnosis', '?')} ({what})"
            yield f"<p>Demo run for {said(letters.get(option_id, option_id))}: {said(measured)}</p>"
        for reference in question.references:
            yield (
                f'<p><a href="{said(reference.url)}" rel="noreferrer">{said(reference.title)}</a></p>'
                if reference.url.lower().startswith(("http://", "https://"))
                else f"<p>{said(reference.title)} {said(reference.url)}</p>"
            )
    shown = f"revision {state.revision}, content {state.snapshot[:12]}"
    if question.drawn:
        shown += f", drawn: {', '.join(f'{name} = {value}' for name, value in question.drawn.items())}"
    yield f"<p class=muted>As it was shown: {said(shown)}</p></article>"


def _response(question: Question, state: ItemState, letters: dict[str, str]) -> Iterator[str]:
    told = state.submitted or state.score is not None
    options = {option.id: option for option in question.options}
    yield "<ol class=options>"
    for option_id, letter in letters.items():
        option = options.get(option_id)
        if option is None:
            continue
        chosen = option_id in state.response.selected and question.kind in _CHOICES
        marks = ["you chose it"] if chosen else []
        if told and question.kind in _CHOICES:
            marks.insert(0, "right" if option.correct else "wrong")
        mark = f" <span class=said>({said(', '.join(marks))})</span>" if marks else ""
        why = (
            f"<div class=muted>{rendered(option.rationale, letters)}</div>"
            if told and option.rationale
            else ""
        )
        yield f"<li><b>{letter}</b><div>{rendered(option.text, letters)}{mark}{why}</div></li>"
    yield "</ol>"
    if question.kind == "reading":
        from quizapp.report.recording import recording_figure

        yield recording_figure(question, state.response, told=told)
    if question.kind == "matching":
        yield (
            "<ol>" + "".join(f"<li>{rendered(pair.text, letters)}</li>" for pair in question.pairs) + "</ol>"
        )
    given = given_in_words(question, state.response, letters) or "nothing"
    yield f"<p>Response: <span class=said>{said(given)}</span></p>"
    if not told:
        return
    yield f"<p>Key: <span class=said>{said(key_in_words(question, letters))}</span></p>"
    wrong = state.score is not None and state.score.verdict is Verdict.INCORRECT
    why = mistake_of(question, state.response) if wrong else ""
    rationale = getattr(question, "rationale", "")
    yield rendered(why, letters) + rendered(rationale, letters)


def _timeline(record: AttemptRecord, when: Callable[[datetime], str]) -> Iterator[str]:
    """When each question was first shown and handed in, with the time between."""
    rows, times = [], []
    for number, state in enumerate(record.attempt.items, 1):
        if not state.shown_at_us:
            continue
        ended_us = max(state.submitted_at_us, state.shown_at_us)
        times.append((str(number), state.shown_at_us, ended_us))
        took = (state.submitted_at_us - state.shown_at_us) / 1e6 if state.submitted_at_us else None
        handed = _clock(state.submitted_at_us, when) if state.submitted_at_us else "not handed in"
        spent = f"{took:.0f} s" if took is not None and took >= 0 else ""
        rows.append([str(number), state.question_id, _clock(state.shown_at_us, when), handed, spent])
    if rows:
        yield "<h2>Timeline</h2>"
        yield spans("When each question was on screen, from its first showing to the submission", times)
        head = ["", "question", "first shown", "handed in", "between"]
        yield table("When each question was shown and handed in", head, rows, numbers=(0, 4))


def _clock(at_us: int, when: Callable[[datetime], str]) -> str:
    from quizapp.store.clock import to_datetime

    return when(to_datetime(at_us))
