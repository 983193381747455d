"""What stands in the title and status of a question: clock, progress, points, verdict. No Textual."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quizapp.tui.glyphs import Glyphs
from quizapp.tui.render import Line

if TYPE_CHECKING:
    from quizapp.tui.question_state import QuestionState
    from quizapp.tui.taking import Taking


def clock(taking: Taking, glyphs: Glyphs) -> Line:
    """What is left of an exam's time; nothing where no clock runs."""
    from quizapp.assess.exam_clock import in_words, is_near

    left_s, limit_s = taking.sitting.remaining_s, taking.sitting.time_limit_s
    if left_s is None or limit_s is None:
        return []
    near = is_near(left_s, limit_s)
    return [(f"{'! ' if near else ''}{in_words(left_s)} left", "warning" if near else "strong"), ("  ", "")]


def place_words(taking: Taking) -> str:
    """`Q3/19`; of an adaptive attempt, whose questions are chosen one by one, `Q3 of 20 at most`."""
    most = taking.sitting.most
    number = f"Q{taking.index + 1}"
    return f"{number}/{taking.total}" if most is None else f"{number} of {most} at most"


def progress(taking: Taking, glyphs: Glyphs) -> Line:
    """How much is submitted, as a bar of ten cells."""
    done = taking.total - taking.open_count()
    total = taking.sitting.most or taking.total
    full = round(10 * done / total) if total else 0
    return [(glyphs.meter_full * full, "accent"), (glyphs.meter_empty * (10 - full), "frame")]


def points_of(points: float) -> str:
    """`1 pt`, `2 pts`."""
    from quizapp.assess.scoring import points_in_words

    return f"{points_in_words(points)} pt" + ("" if points == 1 else "s")


def verdict_role(state: QuestionState) -> str:
    """The look of a verdict."""
    if state.score is None:
        return "strong"
    return {"correct": "right", "partial": "partial"}.get(str(state.score.verdict), "wrong")
