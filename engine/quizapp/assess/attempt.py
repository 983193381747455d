"""An attempt is what its events say: an append-only list, and a pure fold over it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from quizapp.assess.response import Response
from quizapp.assess.scoring import Score, Verdict

if TYPE_CHECKING:
    from quizapp.assess.adaptive import Plan


class Started(NamedTuple):
    """The attempt began: what was drawn from which bank, for whom.

    The order of options is drawn from the same seed, and recorded by Shown when a question is presented.
    `snapshots` are the stored questions' hashes, of an exam: its questions stay as they were at its start.
    `adaptive`: the questions are chosen one by one, each by a Selected event.
    """

    bank_id: str
    bank_title: str
    bank_hash: str
    learner: str
    mode: str
    seed: int
    shuffle: tuple[str, ...]
    question_ids: tuple[str, ...]
    pass_mark: float | None
    objectives: dict[str, str]
    time_limit_s: float | None = None
    snapshots: tuple[str, ...] = ()
    adaptive: Plan | None = None


class ClockRead(NamedTuple):
    """A process took up an exam that has a time limit: what its clocks read (see exam_clock.py)."""

    boot: str
    machine: str
    count_us: int
    passed_us: int


class Selected(NamedTuple):
    """The next question of an adaptive attempt, chosen at this ability and its standard error."""

    question_id: str
    ability: float
    se: float


class Shown(NamedTuple):
    """A question was presented with its options in this order; `snapshot` is the stored question's hash."""

    question_id: str
    revision: int
    option_order: tuple[str, ...]
    snapshot: str


class ResponseChanged(NamedTuple):
    """The learner chose, changed or cleared a response."""

    question_id: str
    response: Response


class Marked(NamedTuple):
    """The learner marked a question to come back to, or took the mark away."""

    question_id: str
    marked: bool


class Submitted(NamedTuple):
    """The response stands from here on."""

    question_id: str


class Predicted(NamedTuple):
    """What the learner expects of the demo behind an option."""

    question_id: str
    option_id: str
    diagnosis: str


class DemoRan(NamedTuple):
    """The demo behind an option ran; the summary of its measurements."""

    question_id: str
    option_id: str
    summary: dict[str, Any]


class Scored(NamedTuple):
    """A score was given. Scoring again adds one with its reason, and never replaces.

    `snapshot` is the hash of the stored question that gave it, where that is not the one that was presented.
    """

    question_id: str
    verdict: Verdict
    points: float
    max_points: float
    rule: str
    objective: str | None
    reason: str = ""
    snapshot: str = ""


class Discarded(NamedTuple):
    """The learner gave the attempt up; it is kept, and no longer offered."""


class Finished(NamedTuple):
    """The attempt ended with this result; `passed` is None when the bank has no pass mark."""

    points: float
    max_points: float
    passed: bool | None


ItemEvent = Shown | ResponseChanged | Marked | Submitted | Predicted | DemoRan | Scored
Event = Started | ClockRead | Selected | ItemEvent | Discarded | Finished


def _plan(body: Mapping[str, Any] | None) -> Plan | None:
    if body is None:
        return None
    from quizapp.assess.adaptive import Plan

    return Plan.from_json(body)


_TYPES: dict[str, type[Event]] = {
    "started": Started,
    "clock-read": ClockRead,
    "selected": Selected,
    "shown": Shown,
    "response-changed": ResponseChanged,
    "marked": Marked,
    "submitted": Submitted,
    "predicted": Predicted,
    "demo-ran": DemoRan,
    "scored": Scored,
    "discarded": Discarded,
    "finished": Finished,
}
_NAMES = {kind: name for name, kind in _TYPES.items()}
_RESTORE: dict[str, Callable[[Any], Any]] = {
    "question_ids": lambda ids: tuple(ids.split()),
    "snapshots": lambda hashes: tuple(hashes.split()),
    "option_order": tuple,
    "shuffle": tuple,
    "response": Response.from_json,
    "verdict": Verdict,
    "adaptive": _plan,
}


def event_to_json(event: Event) -> tuple[str, dict[str, Any]]:
    """An event's type name and its JSON-able body."""
    body = event._asdict()
    if isinstance(event, ResponseChanged):
        body["response"] = event.response.to_json()
    elif isinstance(event, Started):
        # One string: ten thousand ids are read back several times as fast as out of a list.
        body["question_ids"] = " ".join(event.question_ids)
        body["snapshots"] = " ".join(event.snapshots)
        body["adaptive"] = event.adaptive.to_json() if event.adaptive else None
    return _NAMES[type(event)], body


def event_from_json(name: str, body: Mapping[str, Any]) -> Event:
    """Restores an event; ValueError for a type or a body that this version does not know."""
    kind = _TYPES.get(name)
    if kind is None:
        raise ValueError(f"unknown event {name!r}")
    try:
        return kind(
            **{key: _RESTORE[key](value) if key in _RESTORE else value for key, value in body.items()}
        )
    except (TypeError, AttributeError, KeyError) as error:
        raise ValueError(f"event {name!r}: {error}") from error


class ItemState:
    """What has happened to one question of an attempt. Times are microseconds since 1970, UTC; 0: not yet."""

    __slots__ = (
        "marked",
        "objective",
        "option_order",
        "predictions",
        "question_id",
        "reasons",
        "response",
        "revision",
        "runs",
        "scores",
        "shown_at_us",
        "snapshot",
        "submitted",
        "submitted_at_us",
    )

    def __init__(self, question_id: str) -> None:
        self.question_id = question_id
        self.revision = 0
        self.option_order: tuple[str, ...] = ()
        self.snapshot = ""
        self.response = Response()
        self.marked = False
        self.submitted = False
        self.scores: list[Score] = []
        self.reasons: list[str] = []
        """Why each score was given; "" for the first."""
        self.objective: str | None = None
        self.predictions: list[tuple[str, str]] = []
        self.runs: list[tuple[str, dict[str, Any]]] = []
        self.shown_at_us = 0
        self.submitted_at_us = 0

    @property
    def score(self) -> Score | None:
        """The latest score."""
        return self.scores[-1] if self.scores else None

    @property
    def shown(self) -> bool:
        """True once the question was presented."""
        return bool(self.snapshot)


class Attempt:
    """The state that a list of events leads to. `apply` raises ValueError for an event that can't follow."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.started: Started | None = None
        self.finish: Finished | None = None
        self.finished_at_us = 0
        self.discarded = False
        self.clock: ClockRead | None = None
        self.clock_at_us = 0
        self.position = 0
        self._places: dict[str, int] = {}
        self._selected: tuple[str, ...] = ()
        # Sparse: an attempt on ten thousand questions begins without ten thousand states.
        self._states: dict[str, ItemState] = {}
        for event in events:
            self.apply(event)

    @property
    def finished(self) -> bool:
        """True after Finished."""
        return self.finish is not None

    @property
    def question_ids(self) -> tuple[str, ...]:
        """The drawn questions, in order; of an adaptive attempt those that were chosen so far."""
        return self.started.question_ids + self._selected if self.started else ()

    @property
    def items(self) -> list[ItemState]:
        """The state of each drawn question, in order."""
        return [self._states.get(question_id) or ItemState(question_id) for question_id in self.question_ids]

    @property
    def touched(self) -> list[ItemState]:
        """The states of the questions to which something has happened, in order of their first event."""
        return list(self._states.values())

    def item(self, question_id: str) -> ItemState:
        """The state of one drawn question; KeyError for another."""
        state = self._states.get(question_id)
        if state is None:
            if question_id not in self._places:
                raise KeyError(question_id)
            state = ItemState(question_id)
        return state

    @property
    def exam(self) -> bool:
        """True when responses are submitted all at once, and nothing is told before."""
        return self.started is not None and self.started.mode == "exam"

    @property
    def answered(self) -> int:
        """Number of questions whose response is submitted; in an exam, of those that have one."""
        if self.exam:
            return sum(not state.response.blank for state in self._states.values())
        return sum(state.submitted for state in self._states.values())

    @property
    def points(self) -> float:
        """Points so far, by the latest score of each question; penalties take no sum below zero."""
        return max(0, sum(state.scores[-1].points for state in self._states.values() if state.scores))

    @property
    def max_points(self) -> float:
        """Points that the questions scored so far could have given."""
        return sum(state.scores[-1].max_points for state in self._states.values() if state.scores)

    def apply(self, event: Event, at_us: int = 0) -> None:
        """Takes one event in."""
        if isinstance(event, Started):
            if self.started is not None:
                raise ValueError("an attempt starts once")
            self.started = event
            self._places = dict(zip(event.question_ids, range(len(event.question_ids)), strict=True))
            return
        if self.started is None:
            raise ValueError("an attempt begins with its start")
        if self.discarded:
            raise ValueError("the attempt was discarded")
        if isinstance(event, Finished | Discarded | ClockRead):
            if self.finished:
                raise ValueError("the attempt is finished")
            if isinstance(event, Finished):
                self.finish, self.finished_at_us = event, at_us
            elif isinstance(event, ClockRead):
                self.clock, self.clock_at_us = event, at_us
            else:
                self.discarded = True
            return
        if isinstance(event, Selected):
            self._select(event)
            return
        self._apply_to_item(event, at_us)

    def _select(self, event: Selected) -> None:
        plan = self.started.adaptive if self.started else None
        if self.finished or plan is None or event.question_id not in plan.parameters:
            raise ValueError(f"{event.question_id!r} can't be chosen for this attempt")
        if event.question_id in self._places:
            raise ValueError(f"{event.question_id!r} was chosen before")
        self._places[event.question_id] = len(self._places)
        self._selected = (*self._selected, event.question_id)

    def _apply_to_item(self, event: ItemEvent, at_us: int) -> None:
        try:
            state = self.item(event.question_id)
        except KeyError:
            raise ValueError(f"{event.question_id!r} was not drawn for this attempt") from None
        match event:
            case Shown():
                self.position = self._places[event.question_id]
                # What was first presented stands: its option order is what the response refers to.
                if not state.shown:
                    state.revision, state.option_order = event.revision, event.option_order
                    state.snapshot, state.shown_at_us = event.snapshot, at_us
            case ResponseChanged():
                self._must_be_open(state)
                state.response = event.response
            case Marked():
                state.marked = event.marked
            case Submitted():
                self._must_be_open(state)
                state.submitted, state.submitted_at_us = True, at_us
            case Predicted():
                state.predictions.append((event.option_id, event.diagnosis))
            case DemoRan():
                state.runs.append((event.option_id, event.summary))
            case Scored():
                state.scores.append(Score(event.verdict, event.points, event.max_points, event.rule))
                state.reasons.append(event.reason)
                state.objective = event.objective
        self._states[event.question_id] = state

    def _must_be_open(self, state: ItemState) -> None:
        if state.submitted:
            raise ValueError(f"the response to {state.question_id!r} is submitted")
        if self.finished:
            raise ValueError("the attempt is finished")
