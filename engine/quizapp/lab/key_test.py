"""The test of one question's key on this machine: the runs that are missing, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from quizapp.lab.verify import known, make

if TYPE_CHECKING:
    from quizapp.bank.model import Question
    from quizapp.lab.finding import Finding
    from quizapp.lab.ground import Grounds
    from quizapp.lab.runner import Lab
    from quizapp.lab.summary import RunSummary
    from quizapp.lab.verify import NeededRun, Progress


class KeyTest:
    """What is known of one question's key from runs made here; `run` makes what is missing.

    Raises QuizappError for a demo that is not there, and StoreUnavailable where evidence can't be read.
    """

    def __init__(self, question: Question, grounds: Grounds, *, fresh: bool = False) -> None:
        """`fresh`: every run is made again, whatever is known."""
        self.question = question
        self._verification = grounds.verification(question)
        self._store = grounds.store
        self.needed = self._verification.runs()
        self._summaries: dict[str, RunSummary]
        self._summaries, _ = known(self.needed, grounds.store, {}, fresh=fresh)
        self._failed: dict[str, str] = {}

    @property
    def todo(self) -> list[NeededRun]:
        """The runs that have not been made; a run that failed is among them."""
        return [run for key, run in self.needed.items() if key not in self._summaries]

    def finding(self, missing: str = "not run") -> Finding:
        """What is found so far. `missing`: why the other runs were not made."""
        why = {key: self._failed.get(key, missing) for key in self.needed if key not in self._summaries}
        return self._verification.findings(self._summaries, why)[0]

    async def run(self, lab: Lab, progress: Callable[[Progress], None] = lambda _: None) -> None:
        """Make the missing runs. Cancelled, it stops the one under way; what has ended is kept."""
        from contextlib import aclosing

        self._failed.clear()
        runs = make(self.todo, lab, self._store, _now, progress=progress, total=len(self.needed))
        async with aclosing(runs) as made:
            async for needed, summary, _ in made:
                if summary.outcome in ("completed", "out-of-memory"):
                    self._summaries[needed.key.text] = summary
                else:
                    words = f": {summary.error.message}" if summary.error and summary.error.message else ""
                    self._failed[needed.key.text] = f"the run {summary.outcome.replace('-', ' ')}{words}"


def _now() -> str:
    from datetime import UTC, datetime

    return datetime.now(UTC).isoformat(timespec="seconds")
