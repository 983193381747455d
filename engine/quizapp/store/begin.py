"""How an attempt begins: the one policy of all front ends.

An open attempt of the learner on the bank is resumed unless a new one is asked for; when the store can't be
used, the attempt begins in memory and the learner is told. An exam comes first: while one is open, nothing
else can be taken on its bank.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from quizapp.errors import QuizappError
from quizapp.store.database import StoreUnavailable
from quizapp.store.store import AttemptSummary, Store

if TYPE_CHECKING:
    from pathlib import Path

    from quizapp.assess.adaptive import Rule
    from quizapp.bank.library import OpenBank
    from quizapp.store.sitting import Sitting


class Adapt(NamedTuple):
    """How an adaptive attempt is wanted: by which rule, and by which calibration; None: as usual."""

    rule: Rule | None = None
    calibration: Path | None = None


class _Wish(NamedTuple):
    learner: str
    mode: str | None
    seed: int | None
    only: Sequence[str] | None
    draw: int | None
    adapt: Adapt | None


class Beginning(NamedTuple):
    """The sitting, its store, and what the learner must be told before the first question."""

    sitting: Sitting
    store: Store
    notices: tuple[str, ...]


def open_store() -> tuple[Store, str]:
    """The learner's store, or one in memory with the notice that says why nothing will be saved."""
    try:
        return Store.open(), ""
    except StoreUnavailable as error:
        return Store.in_memory(), not_saved(error)


def not_saved(error: StoreUnavailable) -> str:
    """The notice of an attempt that will not be kept."""
    return f"Nothing will be saved. {error.message} {error.hint}".strip()


def default_learner() -> str:
    """The learner when none is named: QUIZAPP_LEARNER, else the name of the login."""
    for variable in ("QUIZAPP_LEARNER", "LOGNAME", "USER"):
        name = os.environ.get(variable, "").strip()
        if name:
            return name
    return "learner"


def begin(
    store: Store,
    bank: OpenBank,
    learner: str,
    *,
    mode: str | None = None,
    fresh: bool = False,
    seed: int | None = None,
    only: Sequence[str] | None = None,
    draw: int | None = None,
    adapt: Adapt | None = None,
) -> Beginning:
    """Resumes the learner's open attempt on this bank, or starts one. AttemptHeld while another takes it.

    `fresh`, `only`, and a mode, seed or number of questions that the open attempt does not have start a new
    one. An exam whose time has passed is finished with what was given. QuizappError for another mode while an
    exam is open: it would tell the exam's keys. A review asks what is due today; NothingDue when nothing is.
    `adapt`: how an adaptive attempt is wanted; an open one that goes by another rule is left for a new one.
    """
    wish = _Wish(learner, mode, seed, only, draw, adapt)
    told: list[str] = []
    try:
        sitting = _resume_or_start(store, bank, wish, fresh, told)
    except StoreUnavailable as error:
        store = Store.in_memory()
        sitting = _start(store, bank, wish, told)
        return Beginning(sitting, store, (not_saved(error), *told))
    return Beginning(sitting, store, (*told, *_caught_up(sitting)))


def begin_named(
    store: Store,
    ref: str,
    learner: str,
    *,
    mode: str | None = None,
    fresh: bool = False,
    seed: int | None = None,
    draw: int | None = None,
    adapt: Adapt | None = None,
) -> tuple[OpenBank | None, Beginning]:
    """As `begin`, on the bank of this id or path. A bank that is gone or broken strands no open attempt.

    Such an attempt goes on without its bank (None), with the questions that were presented.
    """
    from quizapp.bank.library import find_bank, open_bank

    try:
        bank = open_bank(find_bank(ref))
    except QuizappError as error:
        if fresh:
            raise
        return None, _begin_without(store, ref, learner, mode, error)
    return bank, begin(store, bank, learner, mode=mode, fresh=fresh, seed=seed, draw=draw, adapt=adapt)


def _begin_without(store: Store, ref: str, learner: str, mode: str | None, why: QuizappError) -> Beginning:
    path = os.path.abspath(ref)
    for summary in store.attempts(learner.strip(), state="open"):
        known = ref == summary.bank_id or path == summary.bank_path
        if known and mode in (None, summary.mode):
            sitting = store.resume(summary.id, None)
            if sitting.total:
                lost = f"The bank can't be opened any more. {why.message.splitlines()[0]}"
                return Beginning(sitting, store, (lost, *_caught_up(sitting)))
            sitting.close()
    raise why


def _caught_up(sitting: Sitting) -> tuple[str, ...]:
    """What happened since a sitting was left, for the learner; ends an exam whose time has passed."""
    return (*_settled(sitting), *_changes(sitting))


def _settled(sitting: Sitting) -> tuple[str, ...]:
    """Ends an exam whose time passed while nobody took it."""
    if not sitting.time_up:
        return ()
    sitting.finish()
    return ("The time of this exam is up. What you had given is submitted.",)


def _changes(sitting: Sitting) -> Iterator[str]:
    exam = sitting.mode == "exam"
    if sitting.resumed and sitting.bank_changed and not exam:
        yield "The bank has changed since this attempt began; questions that you have seen stay as they were."
    if sitting.withdrawn:
        gone = "1 question was" if sitting.withdrawn == 1 else f"{sitting.withdrawn} questions were"
        yield f"{gone} taken out of the bank since, and will not be asked."


def _resume_or_start(store: Store, bank: OpenBank, wish: _Wish, fresh: bool, told: list[str]) -> Sitting:
    of_bank = [
        summary
        for summary in store.attempts(wish.learner.strip(), bank.id, state="open")
        if _same_bank(store, summary, bank)
    ]
    exams = [summary for summary in of_bank if summary.mode == "exam"]

    def resumed_or_started() -> Sitting:
        if not fresh and wish.only is None:
            for summary in (*exams, *(each for each in of_bank if each.mode != "exam")):
                if _fits(store, summary, wish):
                    if summary.mode != "exam":
                        must_be_over()
                    return store.resume(summary.id, bank)
        if wish.mode != "exam":
            must_be_over()
        return _start(store, bank, wish, told)

    def must_be_over() -> None:
        for summary in exams:
            _must_be_over(store, summary, bank)

    return resumed_or_started()


def _fits(store: Store, summary: AttemptSummary, wish: _Wish) -> bool:
    if wish.mode not in (None, summary.mode) or wish.seed not in (None, summary.seed):
        return False
    if summary.mode != "adaptive":
        return wish.draw in (None, summary.total)
    started = store.show(summary.id).attempt.started
    plan = started.adaptive if started else None
    return (
        wish.adapt is None or wish.adapt.rule is None or (plan is not None and plan.rule == wish.adapt.rule)
    )


def _start(store: Store, bank: OpenBank, wish: _Wish, told: list[str]) -> Sitting:
    only, plan = wish.only, None
    if only is None and wish.mode == "review":
        from quizapp.store.history import NothingDue, due_today

        due = due_today(store, bank, wish.learner)
        if not due.ask:
            raise NothingDue(bank.title, due.next_day)
        only = due.ask[: wish.draw]
    elif only is None and wish.mode == "adaptive":
        from quizapp.assess.adaptive import Rule
        from quizapp.store.calibration import plan_of

        adapt = wish.adapt or Adapt()
        plan, words = plan_of(bank, adapt.rule or Rule(), adapt.calibration)
        told += [words] if words else []
    mode = wish.mode or "practice"
    return store.start(bank, wish.learner, mode=mode, seed=wish.seed, only=only, draw=wish.draw, plan=plan)


def _must_be_over(store: Store, summary: AttemptSummary, bank: OpenBank) -> None:
    exam = store.resume(summary.id, bank)
    try:
        if not _settled(exam):
            raise QuizappError(
                "An exam on this bank is open, and its keys would be shown.",
                hint=f"Go on with it first: quizapp take {bank.id} --mode exam",
            )
    finally:
        exam.close()


def _same_bank(store: Store, summary: AttemptSummary, bank: OpenBank) -> bool:
    # Two files of one name are two banks, but a bank that moved or was edited is the same one still.
    if summary.bank_hash == bank.hash or summary.bank_path == os.path.abspath(bank.path):
        return True
    drawn = store.show(summary.id).attempt.question_ids
    return not frozenset(drawn).isdisjoint(bank.ids)
