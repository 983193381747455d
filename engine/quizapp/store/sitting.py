"""An attempt in the hands of a front end: what it may ask and do, and never a path.

Whatever changes the attempt is on disk before the method returns. Questions go by their place, 0 first.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from quizapp.assess.attempt import (
    Attempt,
    ClockRead,
    DemoRan,
    Discarded,
    Event,
    Finished,
    ItemState,
    Marked,
    Predicted,
    ResponseChanged,
    Scored,
    Selected,
    Shown,
    Started,
    Submitted,
    event_to_json,
)
from quizapp.assess.draw import order_options, scramble
from quizapp.assess.response import Response
from quizapp.assess.scoring import Score, Verdict, problem, rule_of, score
from quizapp.bank.snapshot import question_from_json
from quizapp.errors import QuizappError
from quizapp.store.clock import SteadyClock
from quizapp.store.database import StoreUnavailable
from quizapp.store.drawing import asked
from quizapp.store.projection import projection_of

if TYPE_CHECKING:
    from quizapp.assess.draw import HasOptions
    from quizapp.assess.exam_clock import Reading
    from quizapp.assess.result import Result
    from quizapp.bank.library import OpenBank
    from quizapp.bank.model import Question
    from quizapp.store.store import Store


class TimeUp(QuizappError):
    """The exam's time is up: nothing can be answered any more, and what was given is to be submitted."""

    def __init__(self) -> None:
        super().__init__("The time is up.", hint="What you gave before is submitted.")


class Sitting:
    """One learner's attempt, held by this process until `close`.

    Methods that record raise StoreUnavailable when the store fails: nothing acknowledged before is lost, and
    `keep_unsaved` goes on without the store.
    """

    def __init__(
        self,
        store: Store,
        key: int,
        attempt_id: str,
        token: str,
        events: list[tuple[int, Event]],
        snapshots: dict[str, str],
        bank: OpenBank | None,
    ) -> None:
        self.attempt_id = attempt_id
        self.saved = store.saved
        self.attempt = _fold(events)
        started = self.attempt.started
        if started is None:
            raise QuizappError(f"The stored attempt {attempt_id} has no beginning.")
        self._started = started
        self._store: Store | None = store
        self._path = store.path
        self._key, self._token, self._events = key, token, events
        self._bank = bank
        # Events stay in order, and no time on task is negative, when the system's clock is set back.
        self._clock = SteadyClock(not_before_us=events[-1][0])
        self._snapshots = snapshots
        self._questions: dict[str, Question] = {}
        # A question that left the bank before it was presented can't be asked any more.
        self._askable: frozenset[str] | None = None
        if bank is None or bank.hash != started.bank_hash:
            self._askable = frozenset(bank.ids if bank else ()).union(snapshots)
        self._ids = self._left()
        self.withdrawn = len(self.attempt.question_ids) - len(self._ids)
        self.resumed = any(not isinstance(event, Started | ClockRead) for _, event in events)
        self._passed_us = self.attempt.clock.passed_us if self.attempt.clock else 0

    # What the attempt is.

    @property
    def bank_id(self) -> str:
        """The bank's id: the stem of its file."""
        return self._started.bank_id

    @property
    def bank_title(self) -> str:
        """The bank's title when the attempt began."""
        return self._started.bank_title

    @property
    def learner(self) -> str:
        """The learner's name."""
        return self._started.learner

    @property
    def mode(self) -> str:
        """`practice`, `exam`, `review` or `adaptive`."""
        return self._started.mode

    @property
    def concealed(self) -> bool:
        """True while an exam is open: no key, rationale, score or demo may be shown."""
        return self.attempt.exam and not self.over

    @property
    def time_limit_s(self) -> float | None:
        """How long the exam lasts; None where there is no clock."""
        return self._started.time_limit_s

    @property
    def remaining_s(self) -> float | None:
        """What is left of the exam's time, never below 0; None where no clock runs."""
        limit_s = self._started.time_limit_s
        if limit_s is None or self.attempt.clock is None or self.over:
            return None
        passed_us = self._passed_us + self._clock.now_us() - self.attempt.clock_at_us
        return max(0.0, limit_s - passed_us / 1e6)

    @property
    def time_up(self) -> bool:
        """True when the exam's time has passed: `finish` is all that is left to do."""
        return self.remaining_s == 0

    @property
    def seed(self) -> int:
        """The seed of every draw of this attempt."""
        return self._started.seed

    @property
    def pass_mark(self) -> float | None:
        """Share of the points that passes, 0 to 1."""
        return self._started.pass_mark

    @property
    def objectives(self) -> dict[str, str]:
        """What each objective's id stands for."""
        return self._started.objectives

    @property
    def bank_changed(self) -> bool:
        """True when the bank's file is not the one that the attempt began with."""
        return self._bank is not None and self._bank.hash != self._started.bank_hash

    @property
    def total(self) -> int:
        """Number of questions; of an adaptive attempt of those that were chosen so far."""
        return len(self._ids)

    @property
    def most(self) -> int | None:
        """How many questions an adaptive attempt may have in all; None where `total` is fixed."""
        plan = self._started.adaptive
        if plan is None or self.over:
            return None
        return max(self.total, min(plan.rule.length, self.total + len(self._choices())))

    @property
    def position(self) -> int:
        """The question shown last."""
        if not self._ids:
            return 0
        shown = self.attempt.question_ids[self.attempt.position]
        return self._ids.index(shown) if shown in self._ids else 0

    @property
    def finished(self) -> bool:
        """True once the attempt has its result."""
        return self.attempt.finished

    @property
    def over(self) -> bool:
        """True when nothing can be answered any more: finished or discarded."""
        return self.attempt.finished or self.attempt.discarded

    # What one question is.

    def question_id(self, place: int) -> str:
        """The id of a question."""
        return self._ids[place]

    def question(self, place: int) -> Question:
        """The question as it was presented, or as the bank has it when it was not yet."""
        question_id = self._ids[place]
        question = self._questions.get(question_id)
        if question is None:
            if question_id in self._snapshots:
                from quizapp.store.store import presented

                question = presented(question_id, self._snapshots[question_id], self.attempt_id, self._path)
            else:
                question = question_from_json(asked(self._the_bank, question_id, self.seed).json)
            self._questions[question_id] = question
        return question

    def option_order(self, place: int) -> tuple[str, ...]:
        """The option ids as they are presented."""
        question_id = self._ids[place]
        state = self.attempt.item(question_id)
        if state.shown:
            return state.option_order
        if question_id in self._snapshots:
            asked: HasOptions = _Ordered(self.question(place))
            kind: str = self.question(place).kind
        else:
            asked = row = self._the_bank.row(question_id)
            kind = row.kind
        if kind in ("ordering", "matching"):
            # As they stand in the bank they would be the key.
            return scramble(asked.option_ids, self.seed, f"options {question_id}")
        return order_options(asked, self.seed, "options" in self._started.shuffle)

    def letters(self, place: int) -> dict[str, str]:
        """The letter of each option id, in the order of presentation."""
        return {
            option_id: chr(ord("A") + number) for number, option_id in enumerate(self.option_order(place))
        }

    def response(self, place: int) -> Response:
        """What the learner has given so far."""
        return self._state(place).response

    def submitted(self, place: int) -> bool:
        """True when the response stands."""
        return self._state(place).submitted

    def score(self, place: int) -> Score | None:
        """The latest score, None before there is one."""
        return self._state(place).score

    def predictions(self, place: int) -> list[tuple[str, str]]:
        """Pairs of option id and predicted diagnosis, oldest first."""
        return list(self._state(place).predictions)

    def runs(self, place: int) -> list[tuple[str, dict[str, Any]]]:
        """Pairs of option id and summary of a demo's run, oldest first."""
        return list(self._state(place).runs)

    def marked(self, place: int) -> bool:
        """True when the learner wants to come back to the question."""
        return self._state(place).marked

    def is_open(self, place: int) -> bool:
        """True when the question waits for a response: a submitted one, or in an exam any."""
        state = self._state(place)
        return state.response.blank if self.concealed else not state.submitted

    def open_items(self) -> list[int]:
        """The questions that are open."""
        if self.concealed:
            return [place for place in range(self.total) if self.is_open(place)]
        return self._unsubmitted()

    def _unsubmitted(self) -> list[int]:
        done = {state.question_id for state in self.attempt.touched if state.submitted}
        if not done:
            return list(range(self.total))
        return [place for place, question_id in enumerate(self._ids) if question_id not in done]

    def wrong_items(self) -> list[int]:
        """The scored questions that were not answered in full: wrong, partly right, or left open."""
        return [
            place
            for place in range(self.total)
            if (given := self.score(place)) is not None and given.verdict is not Verdict.CORRECT
        ]

    def result(self) -> Result:
        """The sum of what is scored so far."""
        from quizapp.assess.result import result_of

        return result_of(self.attempt)

    # What a learner does.

    def show(self, place: int) -> None:
        """Records that a question is presented, with a snapshot of it and the order of its options."""
        question_id = self._ids[place]
        state = self._state(place)
        if self.over and state.shown:
            return
        if state.shown:
            self._record(Shown(question_id, state.revision, state.option_order, state.snapshot))
            return
        if question_id in self._snapshots:
            hash_ = dict(zip(self._started.question_ids, self._started.snapshots, strict=True))[question_id]
            self._record(Shown(question_id, self.question(place).revision, self.option_order(place), hash_))
            return
        shown = asked(self._the_bank, question_id, self.seed)
        revision = self._the_bank.row(question_id).revision
        self._record(
            Shown(question_id, revision, self.option_order(place), shown.hash),
            snapshot=(shown.hash, shown.json),
        )
        self._snapshots[question_id] = shown.json

    def respond(self, place: int, response: Response) -> None:
        """Keeps a response, changed at will until it is submitted. ValueError in words for an invalid one.

        TimeUp when an exam's time has passed.
        """
        if self.time_up:
            raise TimeUp
        question = self.question(place)
        fault = problem(question, response)
        if fault:
            raise ValueError(fault)
        if question.kind != "ordering":
            order = self.option_order(place)
            chosen = tuple(option_id for option_id in order if option_id in response.selected)
            response = response._replace(
                selected=chosen, text=response.text.strip(), pairs=tuple(sorted(response.pairs))
            )
        if response != self.response(place):
            self._record(ResponseChanged(self._ids[place], response))

    def clear(self, place: int) -> None:
        """Takes the response back."""
        self.respond(place, Response())

    def mark(self, place: int, marked: bool) -> None:
        """Marks a question to come back to, or takes the mark away."""
        if marked != self.marked(place):
            self._record(Marked(self._ids[place], marked))

    def submit(self, place: int) -> Score:
        """Makes the response final and scores it; in an exam `finish` does so for all of them."""
        self._must_be_told()
        scored = self._scored(place)
        submitted = Submitted(self._ids[place])
        self._record(submitted, scored, *self._selection(submitted, scored))
        self._ids = self._left()
        return Score(scored.verdict, scored.points, scored.max_points, scored.rule)

    def go_on(self) -> None:
        """Chooses the next question of an adaptive attempt where none is open and it is not at its end."""
        if self._started.adaptive is not None and not self.over and not self._unsubmitted():
            chosen = self._selection()
            if chosen:
                self._record(*chosen)
                self._ids = self._left()

    def predict(self, place: int, option_id: str, diagnosis: str) -> None:
        """Keeps what the learner expects of the demo behind an option."""
        self._must_be_told()
        self._record(Predicted(self._ids[place], option_id, diagnosis))

    def demo_ran(self, place: int, option_id: str, summary: dict[str, Any]) -> None:
        """Keeps what a run of the demo behind an option has shown; `summary` must be JSON-able."""
        self._must_be_told()
        self._record(DemoRan(self._ids[place], option_id, summary))

    def finish(self) -> Result:
        """Ends the attempt. A response that was given and not submitted counts; the others are unanswered."""
        if self.finished:
            return self.result()
        last: list[Event] = []
        for place in self._unsubmitted():
            if not self.response(place).blank:
                last.append(Submitted(self._ids[place]))
            last.append(self._scored(place))
        from quizapp.assess.result import result_of

        now = self._clock.now_us()
        result = result_of(_fold([*self._events, *((now, event) for event in last)]))
        self._record(*last, Finished(result.points, result.max_points, result.passed))
        return self.result()

    def score_again(self, scores: Iterable[Scored]) -> None:
        """Adds scores with their reasons; those before stay on record."""
        self._record(*scores)

    def discard(self) -> None:
        """Gives the attempt up; it stays in the store and is no longer offered."""
        self._record(Discarded())

    def wind_clock(self, now: Reading) -> None:
        """Has an exam's clock go on, in this process: what has passed since the last one counts."""
        clock = self.attempt.clock
        if clock is None or self.over:
            return
        from quizapp.assess.exam_clock import passed_us

        passed = passed_us(clock, self.attempt.clock_at_us, self._events[-1][0], now)
        self._record(ClockRead(now.boot, now.machine, now.count_us, passed))
        self._passed_us = passed

    def keep_unsaved(self) -> None:
        """Goes on without the store after it failed; `saved` is False from here on."""
        self._store, self.saved = None, False

    def close(self) -> None:
        """Lets the attempt go. What was recorded is safe already, so a failing store is no matter here."""
        if self._store is not None:
            with suppress(StoreUnavailable):
                self._store.release(self._key, self._token)
            self._store = None

    @property
    def _the_bank(self) -> OpenBank:
        if self._bank is None:  # a question without a snapshot is only there while its bank is
            raise RuntimeError("this attempt was opened without its bank")
        return self._bank

    def _left(self) -> tuple[str, ...]:
        ids = self.attempt.question_ids
        return ids if self._askable is None else tuple(each for each in ids if each in self._askable)

    def _choices(self) -> list[str]:
        """What an adaptive attempt could still ask: calibrated, in the bank, and not asked yet."""
        plan, bank = self._started.adaptive, self._bank
        if plan is None or bank is None:
            return []
        asked, there = frozenset(self.attempt.question_ids), frozenset(bank.ids)
        return [each for each in plan.parameters if each in there and each not in asked]

    def _selection(self, *ahead: Event) -> tuple[Selected, ...]:
        """The next question of an adaptive attempt once these events have happened; () where none comes."""
        plan = self._started.adaptive
        if plan is None:
            return ()
        from quizapp.assess.adaptive import ability_of, choose

        choices = self._choices()
        now = self._clock.now_us()
        attempt = _fold([*self._events, *((now, event) for event in ahead)])
        stands = ability_of(attempt, len(choices))
        # A question that was left open is asked before another one comes.
        waiting = any(not state.submitted for state in attempt.items if state.question_id in self._ids)
        if stands is None or stands.stopped or waiting:
            return ()
        chosen = choose(plan.parameters, choices, stands.ability, self.seed, len(attempt.question_ids))
        return () if chosen is None else (Selected(chosen, stands.ability, stands.se),)

    def _must_be_told(self) -> None:
        if self.concealed:
            raise QuizappError("That comes after the exam.")

    def _state(self, place: int) -> ItemState:
        return self.attempt.item(self._ids[place])

    def _scored(self, place: int) -> Scored:
        question_id = self._ids[place]
        response = self.response(place)
        if response.blank and question_id not in self._snapshots:
            # Ending an attempt on ten thousand questions must not decode the bodies of all.
            row = self._the_bank.row(question_id)
            rule = row.rule or rule_of(row.kind)
            return Scored(question_id, Verdict.UNANSWERED, 0.0, row.points, rule, row.objective)
        question = self.question(place)
        given = score(question, response)
        return Scored(question_id, *given, question.objective)

    def _record(self, *events: Event, snapshot: tuple[str, str] | None = None) -> None:
        at_us = self._clock.now_us()
        try:
            for event in events:
                self.attempt.apply(event, at_us)
            if self._store is not None:
                # Responses move nothing that lists of attempts show, but for an exam's.
                listed = any(
                    not isinstance(event, Marked | Predicted | DemoRan | ClockRead)
                    and (self.attempt.exam or not isinstance(event, ResponseChanged))
                    for event in events
                )
                projection = projection_of(self.attempt, self.position) if listed else None
                ends = any(isinstance(event, Finished) for event in events)
                sheet = self._sheet(at_us, events) if ends else None
                self._store.append(
                    self._key, self._token, len(self._events), at_us, events, projection, snapshot, sheet
                )
        except BaseException:
            # What is not on disk has not happened.
            self.attempt = _fold(self._events)
            raise
        self._events.extend((at_us, event) for event in events)

    def _sheet(self, at_us: int, last: Iterable[Event]) -> str:
        from quizapp.store.answer_sheets import sheet_of

        events = (*self._events, *((at_us, event) for event in last))
        return sheet_of((at_us, *event_to_json(event)) for at_us, event in events)


class _Ordered:
    """A question as the draw of its options' order sees it."""

    def __init__(self, question: Question) -> None:
        self.id = question.id
        self.option_ids = tuple(option.id for option in question.options)
        self.pins = {option.id: option.pin for option in question.options if option.pin}


def _fold(events: list[tuple[int, Event]]) -> Attempt:
    attempt = Attempt()
    for at_us, event in events:
        attempt.apply(event, at_us)
    return attempt
