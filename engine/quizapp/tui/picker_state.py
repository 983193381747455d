"""The banks to pick from, with what the learner did on them, filtered as one types. No Textual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from quizapp.assess.review import Today
    from quizapp.bank.listing import BankEntry
    from quizapp.store.store import AttemptSummary


@dataclass(frozen=True, slots=True)
class PickerRow:
    """One bank and its history with the learner."""

    entry: BankEntry
    best: float | None
    """Best share of the points of a finished attempt, 0 to 1."""
    finished: int
    """Number of finished attempts."""
    passed: bool
    open_attempt: AttemptSummary | None
    attempted: bool
    """True when there is anything that a review could bring back."""

    @property
    def broken(self) -> bool:
        """True when the bank can't be read."""
        return bool(self.entry.error)

    @property
    def path(self) -> Path:
        """The bank's file."""
        return self.entry.path

    def status(self, today: Today | None = None) -> str:
        """How it stands, in words; `today`: what a review would ask, where it is known."""
        if self.broken:
            return f"broken: {self.entry.errors} " + ("error" if self.entry.errors == 1 else "errors")
        if self.open_attempt is not None:
            what = "exam open, at" if self.open_attempt.mode == "exam" else "resume at"
            return f"{what} Q{self.open_attempt.position + 1}"
        due = f"{today.due} due" if today is not None and today.due else ""
        if self.finished:
            return ", ".join(filter(None, ("passed" if self.passed else "done", due)))
        return due or "new"


class PickerState:
    """All banks, the filter, the cursor."""

    def __init__(self, entries: Sequence[BankEntry], attempts: Sequence[AttemptSummary]) -> None:
        self.rows = [_row(entry, attempts) for entry in entries]
        # What can be taken first, what is broken last; names in their order.
        self.rows.sort(key=lambda row: (row.broken, row.entry.title.lower() or row.entry.id))
        self.filter = ""
        self.cursor = 0
        self.today: dict[Path, Today] = {}
        """What a review of each bank would ask, where it is known yet."""

    @property
    def shown(self) -> list[PickerRow]:
        """The banks that fit the filter."""
        words = self.filter.lower().split()
        return [
            row
            for row in self.rows
            if all(word in f"{row.entry.title} {row.entry.id}".lower() for word in words)
        ]

    @property
    def focused(self) -> PickerRow | None:
        """The bank under the cursor."""
        shown = self.shown
        return shown[min(self.cursor, len(shown) - 1)] if shown else None

    def set_filter(self, text: str) -> None:
        """Show the banks whose title or id holds every word."""
        self.filter = text
        self.cursor = 0


def _row(entry: BankEntry, attempts: Sequence[AttemptSummary]) -> PickerRow:
    own = [attempt for attempt in attempts if attempt.bank_id == entry.id]
    # A redo of what went wrong says nothing of the whole bank.
    finished = [
        attempt for attempt in own if attempt.state == "finished" and attempt.total >= entry.questions
    ]
    shares = [attempt.points / attempt.max_points for attempt in finished if attempt.max_points]
    return PickerRow(
        entry=entry,
        best=max(shares, default=None),
        finished=len(finished),
        attempted=any(attempt.answered for attempt in own),
        passed=any(attempt.passed for attempt in finished),
        open_attempt=min(
            (attempt for attempt in own if attempt.state == "open"),
            key=lambda attempt: attempt.mode != "exam",  # an exam comes first, else the newest
            default=None,
        ),
    )
