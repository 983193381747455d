"""Adaptive attempts: what is chosen, kept and resumed, and the file that calibrates a bank."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from quizapp.assess.adaptive import Parameters, Plan, Rule, estimate
from quizapp.assess.attempt import Selected
from quizapp.assess.response import Response
from quizapp.assess.result import result_of
from quizapp.errors import QuizappError
from quizapp.store.answer_sheets import answer_sheets
from quizapp.store.begin import Adapt, begin
from quizapp.store.calibration import Calibrated, calibration_file, read_calibration, write_calibration
from quizapp.store.merging import merge_store
from quizapp.store.sitting import Sitting
from quizapp.store.store import Store
from sample_bank import MemoryBank, single

IDS = tuple(f"q{number}" for number in range(12))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store")


@pytest.fixture
def bank(tmp_path: Path) -> MemoryBank:
    made = MemoryBank([single(each) for each in IDS], path=str(tmp_path / "sample.yaml"))
    calibrate(made)
    return made


def calibrate(bank: MemoryBank, ids: tuple[str, ...] = IDS, revision: int = 1) -> None:
    questions = [
        Calibrated(each, revision, Parameters(1.5, number / 3 - 2), 0.1) for number, each in enumerate(ids)
    ]
    write_calibration(calibration_file(bank.path), bank.id, "2pl", 400, questions)


def started(store: Store, bank: MemoryBank, rule: Rule | None = None, **more: object) -> Sitting:
    return begin(
        store,
        bank,  # type: ignore[arg-type]
        "ada",
        mode="adaptive",
        adapt=Adapt(rule),
        **more,  # type: ignore[arg-type]
    ).sitting


def answer(sitting: Sitting, *, right: bool) -> None:
    """Answers the question that is open."""
    (place,) = sitting.open_items()
    sitting.show(place)
    key = next(option.id for option in sitting.question(place).options if option.correct is right)
    sitting.respond(place, Response((key,)))
    sitting.submit(place)


def test_one_question_is_open_at_a_time_and_harder_ones_follow_right_answers(
    store: Store, bank: MemoryBank
) -> None:
    good = started(store, bank, Rule(0.05, 5), seed=3)
    for _ in range(5):
        assert len(good.open_items()) == 1
        assert good.most == 5
        answer(good, right=True)
    assert good.open_items() == []
    asked = [IDS.index(good.question_id(place)) for place in range(good.total)]
    assert len(set(asked)) == 5
    found = good.finish()
    assert found.ability is not None
    assert found.ability.stopped == "length"
    assert (found.passed, found.pass_mark) == (None, None)
    poor = started(store, bank, Rule(0.05, 5), seed=3)
    for _ in range(5):
        answer(poor, right=False)
    below = [IDS.index(poor.question_id(place)) for place in range(poor.total)]
    assert sum(below[1:]) < sum(asked[1:])


def test_it_ends_at_the_standard_error(store: Store, bank: MemoryBank) -> None:
    sitting = started(store, bank, Rule(0.6, 12))
    while sitting.open_items():
        answer(sitting, right=sitting.total % 2 == 0)
    found = sitting.finish().ability
    assert found is not None
    assert found.stopped == "standard error"
    assert found.se <= 0.6
    assert found.answered == sitting.total < 12


def test_every_choice_is_on_record_with_what_it_went_by(store: Store, bank: MemoryBank) -> None:
    sitting = started(store, bank, Rule(0.05, 4), seed=3)
    for right in (True, False, True, True):
        answer(sitting, right=right)
    sitting.finish()
    sitting.close()
    record = store.show(sitting.attempt_id)
    plan = record.attempt.started.adaptive if record.attempt.started else None
    assert plan is not None
    assert (plan.rule, plan.model, plan.attempts) == (Rule(0.05, 4), "2pl", 400)
    chosen = [event for _, event in record.events if isinstance(event, Selected)]
    rights = [True, False, True, True]
    for number, event in enumerate(chosen):
        given = [
            (plan.parameters[each.question_id], right)
            for each, right in zip(chosen[:number], rights, strict=False)
        ]
        assert (event.ability, event.se) == tuple(estimate(given))
    assert (record.summary.total, record.summary.answered, record.summary.mode) == (4, 4, "adaptive")
    result = result_of(record.attempt)
    assert result.ability == sitting.result().ability


def test_an_attempt_that_was_left_goes_on_by_its_own_plan(store: Store, bank: MemoryBank) -> None:
    sitting = started(store, bank, Rule(0.05, 6), seed=3)
    answer(sitting, right=True)
    open_ = sitting.question_id(1)
    sitting.close()
    # Calibrated anew meanwhile; the attempt keeps what it began with.
    calibrate(bank, tuple(reversed(IDS)))
    again = begin(store, bank, "ada").sitting  # type: ignore[arg-type]
    assert (again.attempt_id, again.mode, again.question_id(1)) == (sitting.attempt_id, "adaptive", open_)
    for _ in range(5):
        answer(again, right=True)
    assert again.open_items() == []
    again.finish()
    again.close()

    straight = started(store, bank, Rule(0.05, 6), seed=3)
    assert straight.attempt_id != sitting.attempt_id


def test_another_rule_begins_another_attempt_and_none_goes_on(store: Store, bank: MemoryBank) -> None:
    first = started(store, bank, Rule(0.05, 6))
    first.close()
    other = started(store, bank, Rule(0.05, 7))
    assert other.attempt_id != first.attempt_id
    other.close()
    assert started(store, bank, Rule(0.05, 6)).attempt_id == first.attempt_id


def test_a_process_killed_between_an_answer_and_the_next_question_loses_neither(
    store: Store, bank: MemoryBank
) -> None:
    sitting = started(store, bank, Rule(0.05, 6))
    answer(sitting, right=True)
    sitting.close()
    # Both are one transaction; an attempt without its next question can only come from elsewhere.
    store.db.execute("DROP TRIGGER IF EXISTS events_are_appended")
    store.db.execute("DELETE FROM events WHERE type = 'selected' AND seq = (SELECT max(seq) FROM events)")
    again = begin(store, bank, "ada").sitting  # type: ignore[arg-type]
    assert len(again.open_items()) == 1
    assert again.total == 2


def test_a_question_that_left_the_bank_is_replaced_by_another(store: Store, bank: MemoryBank) -> None:
    sitting = started(store, bank, Rule(0.05, 12))
    answer(sitting, right=True)
    gone = sitting.question_id(1)
    sitting.close()
    shrunk = MemoryBank([single(each) for each in IDS if each != gone], path=str(bank.path))
    begun = begin(store, shrunk, "ada")  # type: ignore[arg-type]
    again = begun.sitting
    assert again.attempt_id == sitting.attempt_id
    assert len(again.open_items()) == 1
    asked = set()
    while again.open_items():
        asked.add(again.question_id(again.open_items()[0]))
        answer(again, right=True)
    assert gone not in asked
    found = again.finish()
    assert found.ability is not None
    assert found.ability.answered == 11


def test_without_its_bank_it_ends_with_what_was_asked(store: Store, bank: MemoryBank) -> None:
    sitting = started(store, bank, Rule(0.05, 12))
    answer(sitting, right=True)
    sitting.show(1)
    sitting.close()
    again = store.resume(sitting.attempt_id, None)
    answer(again, right=True)
    assert again.open_items() == []
    found = again.finish().ability
    assert found is not None
    assert found.answered == 2


def test_what_was_chosen_to_measure_counts_in_no_statistics(store: Store, bank: MemoryBank) -> None:
    sitting = started(store, bank, Rule(0.05, 3))
    for _ in range(3):
        answer(sitting, right=True)
    sitting.finish()
    sitting.close()
    assert answer_sheets(store, bank.id, ("exam", "practice")) == []


def test_it_is_merged_with_its_choices(store: Store, bank: MemoryBank, tmp_path: Path) -> None:
    sitting = started(store, bank, Rule(0.05, 3))
    for right in (True, False, True):
        answer(sitting, right=right)
    sitting.finish()
    sitting.close()
    store.close()
    merge_store(tmp_path / "other", tmp_path / "store")
    other = Store.open(tmp_path / "other")
    assert other.show(sitting.attempt_id).summary.total == 3
    assert result_of(other.show(sitting.attempt_id).attempt).ability == sitting.result().ability


def test_without_a_store_it_goes_on_in_memory(bank: MemoryBank) -> None:
    sitting = started(Store.in_memory(), bank, Rule(0.05, 3))
    for right in (True, False, True):
        answer(sitting, right=right)
    assert not sitting.saved
    assert sitting.open_items() == []


# The file.


def test_a_calibration_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "x.calibration.json"
    questions = [
        Calibrated("a", 1, Parameters(1.25, -0.5), 0.1),
        Calibrated("b", 3, Parameters(2, 1), math.nan),
    ]
    write_calibration(path, "x", "rasch", 120, questions)
    found = read_calibration(path)
    assert (found.model, found.attempts) == ("rasch", 120)
    assert found.questions[0] == questions[0]
    assert found.questions[1].parameters == questions[1].parameters
    assert math.isnan(found.questions[1].difficulty_se)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "[]",
        "[" * 100_000,
        '{"format": 2}',
        '{"format": 1, "model": "2pl", "attempts": 0, "questions": []}',
        '{"format": 1, "model": "2 pl", "attempts": 5, "questions": []}',
        '{"format": 1, "model": "2pl", "attempts": 5}',
        '{"format": 1, "model": "2pl", "attempts": 5, "questions": [7]}',
        '{"format": 1, "model": "2pl", "attempts": true, "questions": []}',
    ],
)
def test_another_file_is_refused_in_words(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "x.calibration.json"
    path.write_text(damage)
    with pytest.raises(QuizappError, match=r"x\.calibration\.json: no ") as caught:
        read_calibration(path)
    assert "--calibrate" in caught.value.hint


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("discrimination", 0),
        ("discrimination", -1),
        ("discrimination", 1e9),
        ("discrimination", True),
        ("difficulty", 1e9),
        ("difficulty", float("nan")),
        ("difficulty", "0"),
        ("id", "a b"),
        ("id", ""),
        ("id", 7),
        ("revision", 0),
        ("revision", "1"),
    ],
)
def test_no_number_is_taken_on_trust(tmp_path: Path, field: str, value: object) -> None:
    path = tmp_path / "x.calibration.json"
    question = {"id": "a", "revision": 1, "discrimination": 1, "difficulty": 0, field: value}
    path.write_text(json.dumps({"format": 1, "model": "2pl", "attempts": 5, "questions": [question]}))
    with pytest.raises(QuizappError, match="no calibration"):
        read_calibration(path)


def test_a_bank_without_one_says_how_to_get_it(store: Store, bank: MemoryBank) -> None:
    calibration_file(bank.path).unlink()
    with pytest.raises(QuizappError, match="How hard the questions of 'A sample bank' are") as caught:
        started(store, bank)
    assert f"quizapp stats sample --calibrate {calibration_file(bank.path)}" in caught.value.hint
    assert store.attempts() == []


def test_only_the_revisions_that_were_calibrated_are_asked(store: Store, bank: MemoryBank) -> None:
    questions = [replace(single(each), revision=2 if each != "q3" else 1) for each in IDS]
    revised = MemoryBank(questions, path=str(bank.path))
    begun = begin(store, revised, "ada", mode="adaptive")  # type: ignore[arg-type]
    assert begun.notices == ("1 of 12 questions are calibrated; the others are not asked.",)
    assert begun.sitting.question_id(0) == "q3"
    answer(begun.sitting, right=True)
    found = begun.sitting.finish().ability
    assert found is not None
    assert found.stopped == "pool"
    calibrate(bank, revision=9)
    with pytest.raises(QuizappError, match="calibrates none of the questions"):
        started(store, revised, fresh=True)


def test_a_plan_survives_its_way_through_json() -> None:
    plan = Plan(Rule(0.3, 9), "rasch", 120, {"a": Parameters(1.5, -0.25)})
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan
