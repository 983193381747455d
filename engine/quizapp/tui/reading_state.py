"""A recording while devices or a stretch of time are picked out of it. No Textual."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quizapp.assess import reading
from quizapp.assess.response import Response
from quizapp.lab.protocol import Sample
from quizapp.tui.question_state import QuestionState
from quizapp.tui.strip_state import StripState

if TYPE_CHECKING:
    from quizapp.assess.scoring import Score
    from quizapp.bank.model import Reading
    from quizapp.bank.strip import Strip

EMULATED = "Recorded from emulated devices, no GPU used."
MEASURED = "Recorded from GPUs."


class ReadingState(QuestionState):
    """The devices that are picked, or the stretch; a cursor over the rows, or over device time."""

    def __init__(
        self,
        question: Reading,
        response: Response,
        *,
        submitted: bool = False,
        score: Score | None = None,
    ) -> None:
        super().__init__(question, (), response, submitted=submitted, score=score)
        if question.strip is None:
            raise ValueError(f"{question.id}: the question was made without its recording")
        self.asked = question
        self.recorded: Strip = question.strip
        self.strip = strip_state(question.strip)
        self.strip.shown = question.meter
        self.devices = set(response.devices)
        self.span_s = response.span_s
        self.anchor_s: float | None = None
        """Where a stretch was begun that is not ended yet."""
        self.step_s = question.strip.window_s
        """What a column of the strip stands for; the view says so when it is drawn."""
        self.at_s = response.span_s[0] if response.span_s else 0.0
        """The beginning of the column under the cursor."""
        self.cursor = min(self.devices, default=0)

    @property
    def in_time(self) -> bool:
        """True when a stretch of time is asked for, False when devices are."""
        return self.asked.key.span is not None

    @property
    def rows(self) -> int:
        return self.recorded.devices

    @property
    def response(self) -> Response:
        return Response(devices=tuple(sorted(self.devices)), span_s=self.span_s)

    @property
    def given_in_words(self) -> str:
        return reading.given_in_words(self.response)

    @property
    def notice(self) -> str:
        """What must be said wherever the recording is shown."""
        return EMULATED if self.recorded.device_kind == "emulated" else MEASURED

    @property
    def pending_s(self) -> tuple[float, float] | None:
        """The stretch as it would be if it were ended here; else the one that is picked."""
        return self.span_s if self.anchor_s is None else self._stretch(self.anchor_s)

    @property
    def key_span_s(self) -> tuple[float, float] | None:
        """The stretch that is right, once the response is handed in."""
        span = self.asked.key.span
        return (span.start_s, span.end_s) if self.submitted and span is not None else None

    def index_of_key(self, key: str) -> int | None:
        """The device that a pressed key (`0`…`9`) stands for."""
        if self.in_time or len(key) != 1 or key not in "0123456789":
            return None
        return int(key) if int(key) < self.recorded.devices else None

    def move(self, steps: int) -> bool:
        """Move the cursor among the rows."""
        target = max(0, min(self.cursor + steps, self.recorded.devices - 1))
        moved, self.cursor = target != self.cursor, target
        return moved

    def move_in_time(self, columns: int) -> bool:
        """Move the cursor by columns; True when it moved."""
        return self.go_to_s(self.at_s + columns * self.step_s)

    def go_to_s(self, moment_s: float) -> bool:
        """Put the cursor on the column that holds a moment."""
        last = max(0, -int(-(self.recorded.duration_s - 1e-9) // self.step_s) - 1)
        column = max(0, min(last, int(moment_s / self.step_s + 1e-6)))
        target = column * self.step_s
        moved, self.at_s = abs(target - self.at_s) > 1e-9, target
        return moved

    def pick(self, index: int) -> bool:
        """Pick a device, or take it back. True when the response changed."""
        self.cursor = index
        if self.submitted or self.in_time:
            return False
        self.devices ^= {index}
        return True

    def mark_time(self) -> bool:
        """Begin a stretch at the cursor, or end the one that was begun. True when the response changed."""
        if self.submitted or not self.in_time:
            return False
        if self.anchor_s is None:
            self.anchor_s = self.at_s
            return False
        before, self.span_s = self.span_s, self._stretch(self.anchor_s)
        self.anchor_s = None
        return self.span_s != before

    def clear(self) -> bool:
        """Take back what is picked, or the beginning of a stretch."""
        if self.anchor_s is not None:
            self.anchor_s = None
            return False
        if self.submitted or self.blank:
            return False
        self.devices, self.span_s = set(), None
        return True

    def instruction(self) -> str:
        if self.submitted:
            return "submitted"
        if not self.in_time:
            picked = reading.devices_in_words(sorted(self.devices))
            return f"picked: {picked}" if picked else "pick devices: their numbers, Space or a click"
        if self.anchor_s is not None:
            return f"from {self.anchor_s:.3g} s, Space ends it at {self.at_s + self.step_s:.3g} s"
        if self.span_s is not None:
            return f"picked: {reading.span_in_words(self.span_s)}"
        return f"Space begins a stretch at {self.at_s:.3g} s; {self.asked.overlap:.0%} overlap is right"

    def note_on(self, index: int) -> str:
        """`key`, `you` or both beside a device, once the response is submitted."""
        if not self.submitted or self.in_time:
            return ""
        words = ["key"] if index in self.asked.key.devices else []
        return " ".join([*words, *(["you"] if index in self.devices else [])])

    def _stretch(self, anchor_s: float) -> tuple[float, float]:
        start_s, last_s = min(anchor_s, self.at_s), max(anchor_s, self.at_s)
        return round(start_s, 6), round(min(last_s + self.step_s, self.recorded.duration_s), 6)


def strip_state(strip: Strip) -> StripState:
    """A recording's strip as the lab shows one."""
    state = StripState(strip.devices, strip.window_s, strip.duration_s)
    rows = {
        meter: [strip.shares(meter, device) for device in range(strip.devices)]
        for meter in ("compute", "util")
    }
    for at in range(strip.windows):
        meters = {meter: tuple(row[at] for row in of_meter) for meter, of_meter in rows.items()}
        state.add(Sample(t_s=(at + 1) * strip.window_s, window_s=strip.window_s, meters=meters))
    return state
