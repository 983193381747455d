"""An attempt as rows, one a question that was shown: what results are exported as. Pure.

docs/results.md says what each column means.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from quizapp.assess.attempt import Attempt
    from quizapp.assess.response import Response

# What a spreadsheet takes for a formula, and the sign that makes it text, so that taking it off is exact.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "'")


class ResponseRow(NamedTuple):
    """One question of one attempt. Times are microseconds since 1970, UTC; None where there is none."""

    attempt: str
    learner_id: str
    learner: str
    bank: str
    bank_hash: str
    mode: str
    state: str
    seed: int
    started_us: int
    finished_us: int | None
    question: str
    revision: int
    snapshot: str
    kind: str
    objective: str
    option_order: str
    response: str
    verdict: str
    points: float | None
    max_points: float | None
    rule: str
    shown_us: int
    submitted_us: int | None
    time_s: float | None


class AttemptFacts(NamedTuple):
    """What the rows of an attempt share, beside its fold."""

    attempt: str
    learner_id: str
    learner: str
    state: str
    started_us: int


def response_rows(facts: AttemptFacts, attempt: Attempt, kinds: dict[str, str]) -> Iterator[ResponseRow]:
    """The rows of one attempt, in the order of its questions; `kinds` has the kind of each question id.

    Of an exam that goes on there are none: nothing of it is told before its end.
    """
    started = attempt.started
    if started is None or (started.mode == "exam" and facts.state == "open"):
        return
    for item in attempt.items:
        if not item.shown:
            continue
        score, submitted_us = item.score, item.submitted_at_us or None
        yield ResponseRow(
            attempt=facts.attempt,
            learner_id=facts.learner_id,
            learner=facts.learner,
            bank=started.bank_id,
            bank_hash=started.bank_hash,
            mode=started.mode,
            state=facts.state,
            seed=started.seed,
            started_us=facts.started_us,
            finished_us=attempt.finished_at_us or None,
            question=item.question_id,
            revision=item.revision,
            snapshot=item.snapshot,
            kind=kinds.get(item.question_id, ""),
            objective=item.objective or "",
            option_order=" ".join(item.option_order),
            response=label_of(item.response),
            verdict=score.verdict.value if score else "",
            points=score.points if score else None,
            max_points=score.max_points if score else None,
            rule=score.rule if score else "",
            shown_us=item.shown_at_us,
            submitted_us=submitted_us,
            time_s=max(0, submitted_us - item.shown_at_us) / 1e6 if submitted_us else None,
        )


def label_of(response: Response) -> str:
    """A response in one cell: what was typed, ids apart by blanks, pairs as `left=right`; "" when blank.

    Of a recording: the numbers of the devices, or the stretch of time in seconds as `from-to`.
    """
    if response.span_s is not None:
        return f"{response.span_s[0]:g}-{response.span_s[1]:g}"
    pairs = (f"{left}={right}" for left, right in response.pairs)
    marked = " ".join((*response.selected, *pairs, *map(str, response.devices)))
    return response.text.strip() or marked


def guarded(text: str) -> str:
    """A text that no spreadsheet takes for a formula; `unguarded` gives it back."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def unguarded(text: str) -> str:
    """What `guarded` was given."""
    return text[1:] if text.startswith("'") else text
