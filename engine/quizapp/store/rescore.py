"""Stored responses scored again by the bank's present key: planned first, and then added, never replaced."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from quizapp.assess.attempt import Scored
from quizapp.assess.result import passes
from quizapp.assess.scoring import Score, problem, score
from quizapp.bank.snapshot import content_hash, has_variables, question_from_json
from quizapp.errors import QuizappError

if TYPE_CHECKING:
    from quizapp.assess.attempt import ItemState
    from quizapp.assess.response import Response
    from quizapp.bank.library import OpenBank
    from quizapp.bank.model import Question
    from quizapp.store.store import AttemptRecord, Store


class Change(NamedTuple):
    """One score that would be another one by the present key."""

    question_id: str
    old: Score
    new: Score
    objective: str | None
    question_json: str
    """The question that gave the new score, as this attempt would have been asked it."""

    @property
    def decrease(self) -> bool:
        """True when the learner loses points."""
        return self.new.points < self.old.points


class Rescored(NamedTuple):
    """One attempt before and after; `passed` is None without a mark, or before the attempt is finished."""

    attempt_id: str
    learner: str
    mode: str
    changes: tuple[Change, ...]
    old_points: float
    new_points: float
    old_max: float
    new_max: float
    old_passed: bool | None
    new_passed: bool | None


class Plan(NamedTuple):
    """What scoring again would change; `looked_at` counts the scores that were compared, `gone` those of
    questions that the bank does not have any more, which stay as they are."""

    attempts: tuple[Rescored, ...]
    looked_at: int
    gone: int


def plan_rescore(
    store: Store, bank: OpenBank, *, option_map: Mapping[str, str] | None = None, learner: str | None = None
) -> Plan:
    """Compares the latest score of every stored response on a bank with what its present key gives.

    `option_map`: old option id, or `question:id`, to its new id. QuizappError when a question's kind or
    option ids have changed and the map does not tell how.
    """
    present: dict[str, str] = {}
    refused: dict[str, str] = {}
    attempts: list[Rescored] = []
    looked_at = gone = 0
    known = frozenset(bank.ids)
    for summary in reversed(store.attempts(learner, bank.id)):
        record = store.show(summary.id)
        if record.summary.bank_path != os.path.abspath(bank.path) and known.isdisjoint(
            record.attempt.question_ids
        ):
            continue
        changes = []
        for state in record.attempt.touched:
            if state.score is None:
                continue
            if state.question_id not in known:
                gone += 1
                continue
            looked_at += 1
            text = present.setdefault(state.question_id, bank.question_json(state.question_id))
            presented = record.question(state.question_id)
            try:
                if has_variables(text):
                    text = _as_drawn(text, presented)
            except ValueError as error:
                refused[state.question_id] = str(error)
                continue
            question = question_from_json(text)
            new = _new_score(presented, state, question, option_map or {}, refused)
            if new is not None and new != state.score:
                changes.append(Change(state.question_id, state.score, new, question.objective, text))
        if changes:
            attempts.append(_both_sides(record, changes))
    if refused:
        listed = "\n".join(f"  {question_id}: {why}" for question_id, why in refused.items())
        raise QuizappError(
            f"Nothing is scored again: stored responses don't fit the bank any more.\n{listed}",
            hint="Say what became of each id with --map old=new, or --map question:old=new.",
        )
    return Plan(tuple(attempts), looked_at, gone)


def rescore(store: Store, plan: Plan, reason: str) -> int:
    """Adds the planned scores to their attempts, each with the reason; the number that was added.

    AttemptHeld for an attempt that is being taken; attempts before it are scored again by then, and planning
    anew leaves them out.
    """
    texts = {change.question_json for attempt in plan.attempts for change in attempt.changes}
    hashes = {text: content_hash(text) for text in texts}
    store.keep_questions({hashes[text]: text for text in texts})
    for attempt in plan.attempts:
        sitting = store.resume(attempt.attempt_id, None)
        try:
            sitting.score_again(
                Scored(
                    change.question_id, *change.new, change.objective, reason, hashes[change.question_json]
                )
                for change in attempt.changes
            )
        finally:
            sitting.close()
    return sum(len(attempt.changes) for attempt in plan.attempts)


def _as_drawn(text: str, presented: Question | None) -> str:
    """A question with variables as an attempt would have been asked it, with what was drawn for it then."""
    from quizapp.bank.variables import filled

    drawn = presented.drawn if presented is not None else {}
    return filled(text, question_from_json(text).variables, drawn)


def _new_score(
    presented: Question | None,
    state: ItemState,
    question: Question,
    option_map: Mapping[str, str],
    refused: dict[str, str],
) -> Score | None:
    response = state.response
    if presented is not None:
        renamed = {
            old: option_map.get(f"{question.id}:{old}", option_map.get(old, old)) for old in _ids(presented)
        }
        why = _misfit(presented, question, renamed)
        if why:
            refused[question.id] = why
            return None
        response = _renamed(response, renamed)
    fault = problem(question, response)
    if fault:
        refused[question.id] = fault
        return None
    return score(question, response)


def _misfit(presented: Question, question: Question, renamed: Mapping[str, str]) -> str:
    if presented.kind != question.kind:
        return f"it was {presented.kind}, and is {question.kind}"
    if set(presented.drawn) != set(question.drawn):
        was, now = (", ".join(sorted(each.drawn)) or "none" for each in (presented, question))
        return f"variables that were drawn for it: {was}; that would be now: {now}"
    wanted, have = set(_ids(question)), set(renamed.values())
    if len(have) < len(renamed):
        return "two old ids are mapped to one"
    if have != wanted:
        lost = ", ".join(sorted(have - wanted)) or "none"
        new = ", ".join(sorted(wanted - have)) or "none"
        return f"option ids that are gone: {lost}; new ones: {new}"
    return ""


def _ids(question: Question) -> tuple[str, ...]:
    pairs = question.pairs if question.kind == "matching" else ()
    return tuple(dict.fromkeys((*(pair.id for pair in pairs), *(option.id for option in question.options))))


def _renamed(response: Response, renamed: Mapping[str, str]) -> Response:
    return response._replace(
        selected=tuple(renamed.get(each, each) for each in response.selected),
        pairs=tuple((renamed.get(a, a), renamed.get(b, b)) for a, b in response.pairs),
    )


def _both_sides(record: AttemptRecord, changes: list[Change]) -> Rescored:
    attempt, summary = record.attempt, record.summary
    # As the attempt adds up: the sum by itself may be below what is told of it.
    scores = {state.question_id: state.score for state in attempt.touched if state.score is not None}
    new_scores = scores | {change.question_id: change.new for change in changes}
    mark = attempt.started.pass_mark if attempt.started and attempt.finished else None

    def total(of: Mapping[str, Score]) -> tuple[float, float]:
        return max(0.0, sum(each.points for each in of.values())), sum(
            each.max_points for each in of.values()
        )

    (old, old_max), (new, new_max) = total(scores), total(new_scores)
    return Rescored(
        summary.id,
        summary.learner,
        summary.mode,
        tuple(changes),
        old,
        new,
        old_max,
        new_max,
        passes(old, old_max, mark),
        passes(new, new_max, mark),
    )
