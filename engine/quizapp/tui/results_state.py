"""The outcome of a sitting: score, objectives, questions, predictions; and as a report. No Textual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quizapp.assess.scoring import points_in_words
from quizapp.bank.text import visible
from quizapp.tui.lab_state import NOT_SAID
from quizapp.tui.taking import first_words

if TYPE_CHECKING:
    from quizapp.tui.taking import Taking


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One question: its place from 0, how it went, what was given and what was right, in letters."""

    index: int
    verdict: str
    points: str
    given: str
    key: str
    predictions: str
    words: str


class ResultsState:
    """Reads everything off the sitting once."""

    def __init__(self, taking: Taking) -> None:
        sitting = taking.sitting
        self.taking = taking
        self.result = sitting.result()
        self.title = sitting.bank_title
        self.seed = sitting.seed
        self.learner = sitting.learner
        self.pass_mark = sitting.pass_mark
        self.runs = 0
        self.predicted = 0
        self.predicted_right = 0
        for item in sitting.attempt.touched:
            self.runs += len(item.runs)
            right, of = judged_predictions(item.predictions, item.runs)
            self.predicted_right += right
            self.predicted += of

    @property
    def count(self) -> int:
        """Number of questions."""
        return self.taking.total

    def row(self, index: int) -> ResultRow:
        """One question; read when its row comes into view."""
        sitting = self.taking.sitting
        state = self.taking.state(index)
        score = sitting.score(index)
        right, of = judged_predictions(sitting.predictions(index), sitting.runs(index))
        return ResultRow(
            index=index,
            verdict=str(score.verdict) if score else "open",
            points=f"{points_in_words(score.points)}/{points_in_words(score.max_points)}" if score else "",
            given=state.given_in_words.replace(", ", ",") or "none",
            key=state.key_in_words.replace(", ", ","),
            predictions=f"{right}/{of} predicted" if of else "",
            words=first_words(state.question.stem),
        )

    def headline(self) -> str:
        """`PASSED`, `NOT PASSED`, or `FINISHED` without a mark."""
        passed = self.result.passed
        return "FINISHED" if passed is None else "PASSED" if passed else "NOT PASSED"

    def score_words(self) -> str:
        """Points of points, and the share."""
        result = self.result
        points = f"{points_in_words(result.points)} of {points_in_words(result.max_points)} points"
        text = f"{points}, {result.share:.0%}"
        return text + (f" (pass mark {self.pass_mark:.0%})" if self.pass_mark is not None else "")

    def ability_words(self) -> list[str]:
        """Of an adaptive attempt: the ability, what it is measured in, and why the attempt ended."""
        found = self.result.ability
        if found is None:
            return []
        from quizapp.assess.adaptive import ability_in_words, end_in_words, scale_in_words

        words = ability_in_words(found)
        sentences = [f"{words[0].upper()}{words[1:]}.", f"{scale_in_words(found)} {end_in_words(found)}"]
        return [sentence.strip() for sentence in sentences]

    def demo_words(self) -> str:
        """Demos run and predictions that held."""
        if not self.runs:
            return "no demo run"
        text = f"{self.runs} demo run" + ("" if self.runs == 1 else "s")
        return text + (
            f", {self.predicted_right} of {self.predicted} predictions right" if self.predicted else ""
        )

    def wrong_ids(self) -> list[str]:
        """Ids of the questions that were not answered in full."""
        sitting = self.taking.sitting
        return [sitting.question_id(index) for index in sitting.wrong_items()]

    def report(self, taken_at: str) -> str:
        """Everything as plain text."""
        lines = [
            f"{self.title} {visible(self.learner)}".strip(),
            f"{taken_at}, seed {self.seed}",
            "",
            f"{self.headline()}: {self.score_words()}",
            *self.ability_words(),
            self.demo_words(),
            "",
        ]
        lines += [
            f"{visible(part.title or 'no objective')}: "
            f"{points_in_words(part.points)}/{points_in_words(part.max_points)}"
            for part in self.result.by_objective
        ]
        lines.append("")
        for index in range(self.count):
            row = self.row(index)
            line = f"Q{index + 1} {row.verdict.upper()} {row.points}  you: {row.given}  key: {row.key}"
            lines.append(f"{line}  {row.predictions}".rstrip())
            lines.append(f"    {visible(row.words)}")
        return "\n".join(visible(line) for line in lines) + "\n"


def judged_predictions(
    predictions: list[tuple[str, str]], runs: list[tuple[str, dict[str, Any]]]
) -> tuple[int, int]:
    """How many predictions came true, of those whose demo ran: the first prediction and the first run of each
    option count."""
    said: dict[str, str] = {}
    for option_id, diagnosis in predictions:
        said.setdefault(option_id, diagnosis)
    seen: dict[str, object] = {}
    for option_id, summary in runs:
        seen.setdefault(option_id, summary.get("diagnosis"))
    judged = [option_id for option_id in said if option_id in seen and said[option_id] != NOT_SAID]
    return sum(said[option_id] == seen[option_id] for option_id in judged), len(judged)
