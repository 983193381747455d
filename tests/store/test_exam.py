"""An exam: its clock, what it hides, and what it needs of its bank."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quizapp.assess.attempt import ClockRead
from quizapp.assess.exam_clock import Reading
from quizapp.assess.response import Response
from quizapp.bank.model import Take
from quizapp.errors import QuizappError
from quizapp.store.begin import begin, begin_named
from quizapp.store.sitting import Sitting, TimeUp
from quizapp.store.store import Store
from sample_bank import MemoryBank, single, three_questions

S = 1_000_000
EXAM = Take(shuffle=("questions", "options"), time_limit_s=600.0, pass_mark=0.5)


class Clocks:
    """The clocks of a machine that the tests stop, set and restart."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.boot, self.up_s, self.wall_s = "boot-1", 1000.0, 1_800_000_000.0
        patch.setattr("quizapp.store.clock._passed_ns", lambda: int(self.up_s * 1e9))
        patch.setattr("quizapp.store.clock.now_us", lambda: int(self.wall_s * S))
        patch.setattr("quizapp.store.store.now_us", lambda: int(self.wall_s * S))
        patch.setattr("quizapp.store.store.reading", self.reading)

    def reading(self) -> Reading:
        return Reading(self.boot, "host", int(self.up_s * S), int(self.wall_s * S))

    def pass_s(self, seconds: float) -> None:
        self.up_s += seconds
        self.wall_s += seconds

    def restart(self, boot: str, *, off_s: float) -> None:
        self.boot, self.up_s = boot, 0.0
        self.wall_s += off_s


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    return Clocks(monkeypatch)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path)


def exam(store: Store, take: Take = EXAM) -> Sitting:
    return store.start(MemoryBank(three_questions(), take=take), "ada", mode="exam", seed=3)


def again(store: Store, take: Take = EXAM) -> Sitting:
    return begin(store, MemoryBank(three_questions(), take=take), "ada").sitting


def give(sitting: Sitting, place: int) -> None:
    sitting.show(place)
    key = tuple(option.id for option in sitting.question(place).options if option.correct)
    sitting.respond(place, Response(key))


def test_the_clock_runs_in_one_sitting_whatever_is_done_to_the_system_clock(
    store: Store, clocks: Clocks
) -> None:
    sitting = exam(store)
    assert sitting.remaining_s == 600
    clocks.pass_s(100)
    clocks.wall_s -= 86400
    assert sitting.remaining_s == 500
    clocks.wall_s += 10 * 86400
    assert sitting.remaining_s == 500


def test_the_clock_runs_on_while_nobody_takes_the_exam(store: Store, clocks: Clocks) -> None:
    exam(store).close()
    clocks.pass_s(100)
    clocks.wall_s -= 86400  # set back between two processes
    sitting = again(store)
    assert sitting.remaining_s == 500
    clocks.pass_s(50)
    give(sitting, 0)
    sitting.close()
    clocks.pass_s(50)
    sitting = again(store)
    assert sitting.remaining_s == 400
    sitting.close()
    clocks.restart("boot-2", off_s=100)
    clocks.pass_s(10)
    # Nothing was recorded since it was taken up: a day back, yet the machine has been up for 10 s.
    clocks.wall_s -= 3 * 86400
    assert again(store).remaining_s == 390


def test_when_the_time_is_up_nothing_more_is_taken_and_what_is_there_counts(
    store: Store, clocks: Clocks
) -> None:
    sitting = exam(store)
    give(sitting, 0)
    clocks.pass_s(600)
    assert sitting.time_up
    with pytest.raises(TimeUp):
        give(sitting, 1)
    result = sitting.finish()
    assert (result.points, result.max_points, result.passed) == (1.0, 3.0, False)
    assert not sitting.time_up


def test_time_that_ran_out_while_nobody_looked_is_found_at_the_next_start(
    store: Store, clocks: Clocks
) -> None:
    sitting = exam(store)
    give(sitting, 0)
    give(sitting, 1)
    sitting.close()
    clocks.pass_s(700)
    beginning = begin(store, MemoryBank(three_questions(), take=EXAM), "ada")
    assert beginning.sitting.finished
    assert beginning.sitting.result().passed
    assert "is up" in " ".join(beginning.notices)
    assert store.attempts()[0].state == "finished"


def test_without_a_time_limit_there_is_no_clock(store: Store, clocks: Clocks) -> None:
    sitting = exam(store, Take())
    clocks.pass_s(10**6)
    assert sitting.remaining_s is None
    give(sitting, 0)


def test_practice_has_no_clock(store: Store, clocks: Clocks) -> None:
    sitting = store.start(MemoryBank(three_questions(), take=EXAM), "ada")
    clocks.pass_s(10**6)
    assert sitting.remaining_s is None
    assert not any(isinstance(event, ClockRead) for _, event in store.show(sitting.attempt_id).events)


def test_responses_can_be_changed_until_the_end_and_nothing_is_told_before(store: Store) -> None:
    sitting = exam(store)
    give(sitting, 0)
    for refused in (
        lambda: sitting.submit(0),
        lambda: sitting.predict(0, "sync", "imbalance"),
        lambda: sitting.demo_ran(0, "sync", {}),
    ):
        with pytest.raises(QuizappError, match="after the exam"):
            refused()
    assert (sitting.concealed, sitting.score(0), sitting.open_items()) == (True, None, [1, 2])
    assert store.show(sitting.attempt_id).concealed
    assert store.attempts()[0].answered == 1
    sitting.clear(0)
    assert (sitting.open_items(), store.attempts()[0].answered) == ([0, 1, 2], 0)
    sitting.finish()
    assert (sitting.concealed, store.show(sitting.attempt_id).concealed) == (False, False)


def test_marks_are_kept(store: Store) -> None:
    sitting = exam(store)
    sitting.mark(1, True)
    sitting.mark(2, True)
    sitting.mark(2, False)
    sitting.close()
    resumed = again(store)
    assert [resumed.marked(place) for place in range(3)] == [False, True, False]


def test_while_an_exam_is_open_its_keys_can_not_be_practised(store: Store, clocks: Clocks) -> None:
    bank = MemoryBank(three_questions(), take=EXAM)
    practice = store.start(bank, "ada")
    practice.close()
    exam(store).close()
    for options in ({"mode": "practice"}, {"fresh": True}, {"only": ["first"]}, {"seed": 99}):
        with pytest.raises(QuizappError, match="An exam on this bank is open"):
            begin(store, bank, "ada", **options)  # type: ignore[arg-type]
    assert begin(store, bank, "bob", mode="practice").sitting.mode == "practice"
    going_on = begin(store, bank, "ada").sitting
    assert going_on.mode == "exam"
    going_on.close()
    clocks.pass_s(601)
    resumed = begin(store, bank, "ada", mode="practice").sitting
    assert resumed.attempt_id == practice.attempt_id
    assert [summary.state for summary in store.attempts("ada")] == ["finished", "open"]


def test_an_exam_outlives_its_bank(store: Store, tmp_path: Path) -> None:
    sitting = exam(store)
    orders = [sitting.option_order(place) for place in range(3)]
    give(sitting, 0)
    sitting.close()
    # Edited: what was not yet seen stays as it was drawn, too.
    edited = MemoryBank(
        [single(each, stem="Something else?") for each in ("first", "third", "new")], take=EXAM
    )
    sitting = begin(store, edited, "ada").sitting
    assert (sitting.total, sitting.withdrawn) == (3, 0)
    assert {sitting.question(place).stem for place in range(3)} == {"Which cause?", "Which changes help?"}
    assert [sitting.option_order(place) for place in range(3)] == orders
    sitting.close()
    # Deleted.
    bank, beginning = begin_named(store, "sample", "ada")
    sitting = beginning.sitting
    assert bank is None
    assert "can't be opened" in beginning.notices[0]
    give(sitting, 1)
    give(sitting, 2)
    assert sitting.finish().passed


def test_an_attempt_whose_bank_is_gone_can_be_finished_without_what_was_not_seen(store: Store) -> None:
    sitting = store.start(MemoryBank(three_questions()), "ada")
    give(sitting, 0)
    sitting.submit(0)
    sitting.close()
    _, beginning = begin_named(store, "/banks/sample.yaml", "ada")
    assert "2 questions were taken out" in " ".join(beginning.notices)
    assert beginning.sitting.finish().max_points == 1.0
    with pytest.raises(QuizappError, match="there is no bank"):
        begin_named(store, "sample", "ada")


def test_an_exam_stored_in_a_file_reads_back(store: Store) -> None:
    sitting = exam(store)
    sitting.mark(0, True)
    rows = store._db.execute("SELECT type, body FROM events ORDER BY seq").fetchall()
    assert [kind for kind, _ in rows] == ["started", "clock-read", "marked"]
    assert json.loads(rows[0][1])["time_limit_s"] == 600.0
    record = store.show(sitting.attempt_id)
    assert record.attempt.started is not None
    assert len(record.attempt.started.snapshots) == 3
    assert all(record.question(each) is not None for each in record.attempt.question_ids)
