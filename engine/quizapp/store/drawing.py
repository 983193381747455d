"""What an attempt begins with: which questions it asks, in which order, and of an exam their snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from quizapp.assess.attempt import Started
from quizapp.assess.draw import order_questions
from quizapp.bank.snapshot import content_hash, has_variables
from quizapp.errors import QuizappError

if TYPE_CHECKING:
    from quizapp.assess.adaptive import Plan
    from quizapp.bank.library import OpenBank


def beginning_of(
    bank: OpenBank,
    learner: str,
    mode: str,
    seed: int,
    *,
    only: Sequence[str] | None = None,
    draw: int | None = None,
    plan: Plan | None = None,
) -> tuple[Started, dict[str, str]]:
    """The event that an attempt starts with; and of an exam all its questions, as they are stored."""
    # The questions of an adaptive attempt are chosen one by one.
    ids = drawn(bank, seed, only=only, draw=draw) if plan is None else ()
    started = Started(
        bank_id=bank.id,
        bank_title=bank.title,
        bank_hash=bank.hash,
        learner=learner,
        mode=mode,
        seed=seed,
        shuffle=tuple(bank.take.shuffle),
        question_ids=ids,
        # A review asks what was forgotten, an adaptive attempt what is neither easy nor hard: shares of right
        # answers pass or fail nobody there.
        pass_mark=None if mode in ("review", "adaptive") else bank.take.pass_mark,
        objectives=dict(bank.objectives),
        adaptive=plan,
    )
    if mode != "exam":
        return started, {}
    # An exam is what it was at its start, whatever becomes of the bank.
    all_asked = {each: asked(bank, each, seed) for each in ids}
    return (
        started._replace(
            time_limit_s=bank.take.time_limit_s, snapshots=tuple(all_asked[each].hash for each in ids)
        ),
        {each: all_asked[each].json for each in ids},
    )


class Asked(NamedTuple):
    """A question as an attempt asks it: its JSON, and the content hash of that."""

    json: str
    hash: str


def asked(bank: OpenBank, question_id: str, seed: int) -> Asked:
    """A bank's question for the attempt of this seed, its variables drawn."""
    text = bank.question_json(question_id)
    if not has_variables(text):
        return Asked(text, bank.row(question_id).hash)
    from quizapp.assess.instance import instance_of

    text = instance_of(text, seed)
    return Asked(text, content_hash(text))


def drawn(
    bank: OpenBank, seed: int, *, only: Sequence[str] | None = None, draw: int | None = None
) -> tuple[str, ...]:
    """The ids of the questions of a new attempt; QuizappError naming both numbers when a pool is too small.

    `only`: these and no others. `draw`: so many of the whole bank, whatever its sections say.
    """
    shuffle = "questions" in bank.take.shuffle
    if only is not None:
        wanted = frozenset(only)
        ids = order_questions([each for each in bank.ids if each in wanted], seed, shuffle)
    elif draw is not None or bank.take.sections:
        ids = _of_sections(bank, seed, shuffle, draw)
    else:
        ids = order_questions(bank.ids, seed, shuffle)
    if not ids:
        raise QuizappError(f"There is no question to ask in {bank.title!r}.")
    return ids


def _of_sections(bank: OpenBank, seed: int, shuffle: bool, draw: int | None) -> tuple[str, ...]:
    from quizapp.assess.draw import draw_sections
    from quizapp.bank.model import Section
    from quizapp.bank.pools import pools_of, shortages

    if draw is not None and draw > len(bank.ids):
        raise QuizappError(
            f"{draw} questions are to be drawn, and {bank.title!r} has {len(bank.ids)}.",
            hint=f"Draw {len(bank.ids)} at most.",
        )
    sections = bank.take.sections if draw is None else (Section(count=draw),)
    rows = list(bank.rows)
    found = [short for short in shortages(sections, rows, bank.objectives) if short.code != "untimed-pool"]
    if found:
        why = "; ".join(short.message for short in found)
        raise QuizappError(
            f"Nothing can be drawn from {bank.title!r}: {why}.",
            hint="`quizapp check` says where; `--draw N` draws from the whole bank.",
        )
    return draw_sections(pools_of(sections, rows), seed, shuffle)
