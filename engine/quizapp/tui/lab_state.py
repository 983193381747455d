"""What the lab's screen knows: what to run, what came of it, and what to say about it. No Textual."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from quizapp.lab.protocol import Log, Outcome, Sample, Start
from quizapp.store.clock import now_us, to_datetime
from quizapp.tui.strip_state import StripState

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from quizapp.bank.model import Question, Symptom
    from quizapp.lab.catalogue import DemoDeclaration
    from quizapp.lab.protocol import Line as DemoLine
    from quizapp.lab.recording import Recording
    from quizapp.lab.request import Device, RunRequest
    from quizapp.lab.summary import RunSummary
    from quizapp.lab.symptom import PredicateReading
    from quizapp.tui.question_state import QuestionState
    from quizapp.tui.taking import Taking

WATCH_S = 6.0
"""Wall time that a run is spread over, for a person to watch it."""
LOG_LINES = 500
CONTROL = "control"
DEFAULT_DEVICES = 8

DIAGNOSES: dict[str, str] = {
    "healthy": "every device computes nearly all the time",
    "imbalance": "some devices compute far more than others",
    "input-bound": "all devices wait for the next batch",
    "launch-bound": "kernels too short to fill the time between launches",
    "out-of-memory": "the run ends because memory runs out",
}
NOT_SAID = "skipped"
SAYS_SOMETHING = ("completed", "out-of-memory")
"""Outcomes after which the meters mean something."""

Phase = Literal["asking", "warming", "running", "ended", "failed"]


@dataclass(frozen=True, kw_only=True)
class LabOrder:
    """What is to be run, and for which option of which question, if for any."""

    demo: DemoDeclaration
    variant: str
    control: DemoDeclaration | None = None
    devices: int = DEFAULT_DEVICES
    device: Device = "auto"
    params: Mapping[str, str] = field(default_factory=dict)
    seconds: float | None = None
    speed: float | None = None
    seed: int | None = None
    timeout_s: float | None = None
    force: bool = False
    taking: Taking | None = None
    index: int = 0
    option_id: str = ""
    letter: str = ""
    question: Question | None = None
    compare: bool = False
    """Begin with the comparison of control, fault and fix."""
    record: Path | None = None
    """A file to keep the run's lines in."""
    recording: Recording | None = None
    """To be shown in place of a run."""

    @property
    def place(self) -> str:
        """`Q3 option C`, or "" for a demo that is run alone."""
        return f"Q{self.index + 1} option {self.letter}" if self.taking is not None else ""

    @property
    def symptom(self) -> Symptom | None:
        """What the question says can be observed."""
        return self.question.symptom if self.question is not None else None


def order_for(
    taking: Taking, state: QuestionState, catalogue: Mapping[str, DemoDeclaration], device: Device
) -> LabOrder:
    """The demo behind the option under the cursor; QuizappError when it is not there."""
    from quizapp.errors import QuizappError

    option = state.focused
    link = option.demo if option is not None else None
    if option is None or link is None:
        raise QuizappError("No demo speaks to this option.")
    demo = catalogue.get(link.name)
    if demo is None:
        find = getattr(catalogue, "find", None)
        demo = find(link.name) if find is not None else None
        if demo is None:
            raise QuizappError(f"There is no demo {link.name!r} here.", hint="`quizapp demo` lists them.")
    params = dict(link.params)
    asked = params.pop("devices", "")
    symptom = state.question.symptom
    devices = int(asked) if asked.isdecimal() else symptom.devices if symptom is not None else DEFAULT_DEVICES
    return LabOrder(
        demo=demo,
        variant=link.variant,
        control=catalogue.get("healthy"),
        devices=devices,
        device=device,
        params=params,
        taking=taking,
        index=taking.index,
        option_id=option.id,
        letter=state.letter(state.cursor),
        question=state.question,
    )


class LabState:
    """One visit to the lab: a run at a time, what the last run of each variant gave, the prediction."""

    def __init__(self, order: LabOrder) -> None:
        self.order = order
        self.variant = order.variant
        self.params: dict[str, str] = dict(order.params)
        self.phase: Phase = "asking"
        self.reason = ""
        self.prediction = self._earlier_prediction()
        self.summaries: dict[str, RunSummary] = {}
        self.stopping = False
        self.rerun()

    def _earlier_prediction(self) -> str:
        order = self.order
        if order.taking is None:
            return ""
        said = [
            d
            for option_id, d in order.taking.sitting.predictions(order.index)
            if option_id == order.option_id
        ]
        return said[0] if said else ""

    @property
    def asks(self) -> bool:
        """True when a prediction is to be asked for first."""
        return (
            self.order.taking is not None and not self.prediction and not self.order.taking.sitting.finished
        )

    # What is run.

    @property
    def demo(self) -> DemoDeclaration:
        """The demo that runs: the control is one of its own."""
        if self.variant == CONTROL and self.order.control is not None:
            return self.order.control
        return self.order.demo

    @property
    def variants(self) -> tuple[str, ...]:
        """What `v` goes round."""
        own = tuple(self.order.demo.variants)
        control = self.order.control
        return (*own, CONTROL) if control is not None and control.name != self.order.demo.name else own

    def next_variant(self) -> str:
        """The variant after this one, around."""
        variants = self.variants
        return (
            variants[(variants.index(self.variant) + 1) % len(variants)]
            if self.variant in variants
            else variants[0]
        )

    def request(self, variant: str = "", *, speed: float | None = None, paced: bool = True) -> RunRequest:
        """The run of a variant (this one), spread over a few seconds when it is to be watched."""
        from quizapp.lab.request import RunRequest

        order = self.order
        variant = variant or self.variant
        demo, real_variant, params = order.demo, variant, self.params
        if variant == CONTROL and order.control is not None:
            demo, real_variant = order.control, order.control.variants[0]
            params = order.demo.for_control(demo, self.params)
        seconds = order.seconds if order.seconds is not None else demo.seconds
        pace = speed or order.speed or (max(1.0, seconds / WATCH_S) if paced else None)
        return RunRequest(
            demo=demo,
            variant=real_variant,
            devices=order.devices,
            device=order.device,
            seconds=seconds,
            speed=pace,
            params=params,
            seed=order.seed,
            timeout_s=order.timeout_s,
            force=order.force,
        )

    # What comes of it.

    def rerun(self) -> None:
        """Forget the run in view."""
        order = self.order
        self.start: Start | None = None
        self.samples: list[Sample] = []
        self.outcome: Outcome | None = None
        self.ended_at: datetime | None = None
        """UTC; None for a replay, which ended some other time."""
        self.summary: RunSummary | None = None
        self.readings: list[PredicateReading] | None = None
        self.log: deque[str] = deque(maxlen=LOG_LINES)
        self.step = 0
        self.stopping = False
        seconds = order.seconds if order.seconds is not None else self.demo.seconds
        self.strip = StripState(order.devices, 0.1, seconds)

    def take(self, line: DemoLine) -> None:
        """Take a line of the run in."""
        if isinstance(line, Start):
            self.start = line
            shown = self.strip.shown
            self.strip = StripState(line.devices, line.window_s, self.strip.total_s)
            self.strip.shown = shown
            self.phase = "running"
        elif isinstance(line, Sample):
            self.samples.append(line)
            self.step = max(self.step, line.step)
            self.strip.add(line)
        elif isinstance(line, Log):
            self.log.append(line.text if line.source == "demo" else f"[lab] {line.text}")
        else:
            self.outcome = line
            self._sum_up(line)

    def _sum_up(self, outcome: Outcome) -> None:
        from quizapp.lab.summary import summarise

        asked = Start(
            demo=self.demo.name,
            variant=self.variant,
            device_kind="emulated",
            devices=self.order.devices,
            window_s=0.1,
            notice=" ",
        )
        self.summary = summarise(self.start, self.samples, outcome, asked)
        if self.order.recording is None:
            self.ended_at = to_datetime(now_us())
        if outcome.outcome != "stopped":
            self.summaries[self.variant] = self.summary
        self.phase = "ended"
        self.judge()

    @property
    def needs_control(self) -> bool:
        """True when a sign of the question is read relative to the control, and no control has run yet."""
        symptom = self.order.symptom
        return (
            symptom is not None
            and self.order.control is not None
            and CONTROL not in self.summaries
            and any(predicate.relative_to == "control" for predicate in symptom.where)
        )

    def judge(self) -> None:
        """Hold the run against what the question says can be observed."""
        symptom = self.order.symptom
        if symptom is None or self.summary is None or self.summary.outcome not in SAYS_SOMETHING:
            self.readings = None
            return
        from quizapp.lab.symptom import evaluate

        self.readings = evaluate(symptom, self.summary, self.summaries.get(CONTROL))

    @property
    def chosen(self) -> bool:
        """Whether the learner holds that this run's option is the answer, so that it must show every sign."""
        order = self.order
        if order.taking is None or self.variant != order.variant:
            return False
        return order.option_id in order.taking.sitting.response(order.index).selected

    @property
    def emulated(self) -> bool | None:
        """Whether no GPU is used; None while it is not known."""
        return None if self.start is None else self.start.device_kind == "emulated"

    @property
    def differs(self) -> bool:
        """True when the run is not what the demo declares of its variant; a stopped run says nothing."""
        if self.phase == "failed":
            return True
        if self.summary is None or self.summary.outcome == "stopped":
            return False
        from quizapp.lab.summary import as_declared

        return self.summary.variant in self.demo.variants and bool(as_declared(self.demo, self.summary))

    @property
    def prediction_right(self) -> bool | None:
        """Whether the run shows what was predicted; None when nothing was, or another variant ran."""
        if self.prediction in ("", NOT_SAID) or self.summary is None or self.variant != self.order.variant:
            return None
        if self.summary.outcome == "stopped":
            return None
        return self.summary.diagnosis == self.prediction
