"""How an attempt begins: the one policy of all front ends.

An open attempt of the learner on the bank is resumed unless a new one is asked for; when the store can't be
used, the attempt begins in memory and the learner is told.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from quizapp.store.database import StoreUnavailable
from quizapp.store.store import AttemptSummary, Store

if TYPE_CHECKING:
    from quizapp.bank.library import OpenBank
    from quizapp.store.sitting import Sitting


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
    fresh: bool = False,
    seed: int | None = None,
    only: Sequence[str] | None = None,
    draw: int | None = None,
) -> Beginning:
    """Resumes the learner's open attempt on this bank, or starts one. AttemptHeld while another takes it.

    `fresh`, `only`, and a seed or a number of questions that the open attempt does not have start a new one.
    """
    notices: list[str] = []
    try:
        sitting = _resume_or_start(store, bank, learner, fresh, seed, only, draw)
    except StoreUnavailable as error:
        notices.append(not_saved(error))
        store = Store.in_memory()
        sitting = store.start(bank, learner, seed=seed, only=only, draw=draw)
    if sitting.resumed and sitting.bank_changed:
        notices.append(
            "The bank has changed since this attempt began; questions that you have seen stay as they were."
        )
    if sitting.withdrawn:
        gone = "1 question was" if sitting.withdrawn == 1 else f"{sitting.withdrawn} questions were"
        notices.append(f"{gone} taken out of the bank since, and will not be asked.")
    return Beginning(sitting, store, tuple(notices))


def _resume_or_start(
    store: Store,
    bank: OpenBank,
    learner: str,
    fresh: bool,
    seed: int | None,
    only: Sequence[str] | None,
    draw: int | None,
) -> Sitting:
    if not fresh and only is None:
        for summary in store.attempts(learner.strip(), bank.id, state="open"):
            fits = seed in (None, summary.seed) and draw in (None, summary.total)
            if fits and _same_bank(store, summary, bank):
                return store.resume(summary.id, bank)
    return store.start(bank, learner, seed=seed, only=only, draw=draw)


def _same_bank(store: Store, summary: AttemptSummary, bank: OpenBank) -> bool:
    # Two files of one name are two banks, but a bank that moved or was edited is the same one still.
    if summary.bank_hash == bank.hash or summary.bank_path == os.path.abspath(bank.path):
        return True
    drawn = store.show(summary.id).attempt.question_ids
    return not frozenset(drawn).isdisjoint(bank.ids)
