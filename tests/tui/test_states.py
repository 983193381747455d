"""The states behind the screens, without a screen."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tui_fakes import SIGNS

from quizapp.assess.response import Response
from quizapp.assess.scoring import score
from quizapp.bank.listing import BankEntry
from quizapp.bank.load import load_bank
from quizapp.bank.model import Question
from quizapp.lab.protocol import Sample
from quizapp.tui.desk import Desk
from quizapp.tui.glyphs import UNICODE
from quizapp.tui.picker_state import PickerState
from quizapp.tui.question_state import QuestionState
from quizapp.tui.results_state import judged_predictions
from quizapp.tui.strip_state import MOST_BINS, StripState, axis, cell, row
from quizapp.tui.taking import Taking, first_words


@pytest.fixture(scope="module")
def questions() -> tuple[Question, ...]:
    return load_bank(SIGNS).bank.questions


def state_of(question: Question, *selected: str, submitted: bool = False) -> QuestionState:
    order = tuple(option.id for option in question.options)
    given_score = score(question, Response(selected)) if submitted else None
    return QuestionState(question, order, Response(selected), submitted=submitted, score=given_score)


def test_choosing_one_replaces_the_other(questions: tuple[Question, ...]) -> None:
    state = state_of(questions[0])
    assert state.pick(1)
    assert state.pick(2)
    assert not state.pick(2)
    assert state.response == Response(("cpu",))
    assert state.cursor == 2


def test_choosing_several_toggles(questions: tuple[Question, ...]) -> None:
    state = state_of(questions[1])
    state.pick(2)
    state.pick(0)
    assert state.response == Response(("p", "n"))
    state.pick(2)
    assert state.response == Response(("p",))
    assert state.clear()
    assert not state.clear()


def test_the_order_of_presentation_counts(questions: tuple[Question, ...]) -> None:
    state = QuestionState(questions[1], ("n", "g", "p"), Response(("p",)))
    assert state.cursor == 2
    assert state.letters(state.key) == "B, C"
    assert state.index_of_key("a") == 0
    assert state.index_of_key("3") == 2


@pytest.mark.parametrize("key", ["9", "0", "h", "i", "enter", ""])
def test_keys_without_an_option_choose_nothing(questions: tuple[Question, ...], key: str) -> None:
    assert state_of(questions[0]).index_of_key(key) is None


def test_nothing_changes_after_the_submission(questions: tuple[Question, ...]) -> None:
    state = state_of(questions[0], "oom", submitted=True)
    assert not state.pick(0)
    assert not state.clear()
    assert state.response == Response(("oom",))
    assert state.verdict() == "INCORRECT"
    assert [state.note_on(i) for i in range(4)] == ["the key", "wrong, you chose it", "", ""]


@given(st.lists(st.integers(-5, 5)))
def test_the_cursor_stays_among_the_options(steps: list[int]) -> None:
    question = load_bank(SIGNS).bank.questions[0]
    state = state_of(question)
    for step in steps:
        state.move(step)
        assert 0 <= state.cursor < 4


# The strip.


def sample(t_s: float, *shares: float | None, warmup: bool = False, window_s: float = 0.1) -> Sample:
    meters = {"compute": shares, "util": tuple(None if s is None else min(1.0, s + 0.1) for s in shares)}
    return Sample(t_s=t_s, window_s=window_s, warmup=warmup, meters=meters)


def test_the_whole_run_fits_and_columns_are_means() -> None:
    strip = StripState(2, 0.1, 4.0)
    for number in range(40):
        strip.add(sample((number + 1) / 10, 1.0 if number % 2 else 0.0, 0.5))
    columns = strip.columns(20)
    assert len(columns[0]) == 20
    assert columns[0] == pytest.approx([0.5] * 20)
    assert columns[1] == pytest.approx([0.5] * 20)


def test_a_run_that_goes_on_is_scaled_not_cut() -> None:
    strip = StripState(1, 0.1, 1.0)
    for number in range(100):
        strip.add(sample((number + 1) / 10, number / 100))
    columns = strip.columns(20)[0]
    shown = [value for value in columns if value is not None]
    assert shown[0] == pytest.approx(0.02, abs=0.03)
    assert shown[-1] == pytest.approx(0.97, abs=0.03)


def test_an_hour_costs_no_more_than_a_minute() -> None:
    strip = StripState(1, 0.1, 3600.0)
    for number in range(36_000):
        strip.add(sample((number + 1) / 10, 0.5))
    assert len(strip._sums["compute"]) <= MOST_BINS
    shown = [value for value in strip.columns(50)[0] if value is not None]
    assert shown == pytest.approx([0.5] * len(shown))
    assert len(shown) >= 45


def test_a_wild_time_stamp_costs_no_memory() -> None:
    strip = StripState(1, 0.1, 4.0)
    strip.add(sample(1e17, 0.5))
    strip.columns(50)
    assert len(strip._sums["compute"]) <= 8 * MOST_BINS


def test_numbers_leave_the_warm_up_out_and_zero_is_counted_in_device_time() -> None:
    strip = StripState(1, 0.1, 1.0)
    strip.add(sample(0.1, 0.0, warmup=True))
    for number, share in enumerate([0.9, 0.0, 0.0, 0.0, 0.9, 0.0]):
        strip.add(sample((number + 2) / 10, share))
    assert strip.mean(0) == pytest.approx(0.3)
    assert strip.longest_zero_s(0) == pytest.approx(0.3)
    assert strip.now(0) == 0.0


def test_a_reading_that_is_not_there_is_not_zero() -> None:
    strip = StripState(2, 0.1, 1.0)
    strip.add(sample(0.1, None, 0.5))
    assert strip.columns(10)[0][0] is None
    assert strip.now(0) is None
    assert strip.mean(0) is None
    assert cell(None, UNICODE) == (" ", "")


def test_the_other_meter_is_another_reading() -> None:
    strip = StripState(1, 0.1, 1.0)
    strip.add(sample(0.1, 0.5))
    strip.toggle()
    assert strip.now(0) == pytest.approx(0.6)


@given(st.floats(0, 1))
def test_the_scale_is_fixed_and_zero_has_its_own_sign(share: float) -> None:
    sign, band = cell(share, UNICODE)
    assert (sign == UNICODE.zero) == (share < 0.005)
    assert band in {"band-0", "band-1", "band-2", "band-3", "band-4"}


def test_a_row_has_few_runs() -> None:
    line = row([1.0] * 30 + [0.0] * 30, UNICODE)
    assert [(text, band) for text, band in line] == [("▇" * 30, "band-4"), ("_" * 30, "band-0")]


@pytest.mark.parametrize(
    ("per_column", "shown"),
    [(0.1, "┼0────────┼1────────"), (0.5, "┼0────────┼5────────"), (2.0, "┼0────────┼20───────")],
)
def test_the_axis_counts_device_seconds(per_column: float, shown: str) -> None:
    assert axis(20, per_column, UNICODE) == shown


# The rest.


def entry(bank_id: str, title: str, error: str = "") -> BankEntry:
    return BankEntry(id=bank_id, path=Path(f"{bank_id}.yaml"), title=title, questions=3, error=error)


def test_the_filter_wants_every_word() -> None:
    state = PickerState(
        [entry("a", "Multi-GPU training"), entry("b", "GPU memory"), entry("c", "Waits", "x")], []
    )
    assert [row.entry.id for row in state.rows] == ["b", "a", "c"]
    state.set_filter("gpu TRAIN")
    assert [row.entry.id for row in state.shown] == ["a"]
    state.set_filter("nothing")
    assert state.focused is None


def test_best_score_and_open_attempt_are_those_of_the_learner(desk: Desk) -> None:
    taking = desk.begin(SIGNS, fresh=True)
    for index, option in enumerate(["dp-sync", "p", "none"]):
        taking.enter(index)
        taking.sitting.respond(index, Response((option,)))
        taking.sitting.submit(index)
    taking.sitting.finish()
    [row] = PickerState(desk.entries(), desk.attempts()).rows
    assert row.best == pytest.approx(0.5)
    assert row.status() == "done"
    desk.redo(["third"])
    [row] = PickerState(desk.entries(), desk.attempts()).rows
    assert row.status() == "resume at Q1"
    desk.taking.sitting.finish()  # type: ignore[union-attr]
    [row] = PickerState(desk.entries(), desk.attempts()).rows
    assert row.best == pytest.approx(0.5)


def test_the_next_open_question_is_looked_for_around(desk: Desk) -> None:
    taking: Taking = desk.begin(SIGNS, fresh=True)
    taking.enter(2)
    assert taking.next_open() == 0
    for index in (0, 1, 2):
        taking.enter(index)
        taking.sitting.submit(index)
    assert taking.next_open() is None


@pytest.mark.parametrize(
    ("stem", "words"), [("# A **bold** `start`\n\nmore", "A bold start"), ("\n\n  text", "text"), ("", "")]
)
def test_first_words(stem: str, words: str) -> None:
    assert first_words(stem) == words


def test_the_first_prediction_and_the_first_run_of_an_option_are_judged() -> None:
    predictions = [("a", "healthy"), ("a", "imbalance"), ("b", "skipped"), ("c", "healthy")]
    runs = [
        ("a", {"diagnosis": "imbalance"}),
        ("b", {"diagnosis": "healthy"}),
        ("d", {"diagnosis": "healthy"}),
    ]
    assert judged_predictions(predictions, runs) == (0, 1)
