from __future__ import annotations

import pytest

from lab_lines import steady, summary
from quizapp.bank.model import Predicate, Range, Symptom
from quizapp.lab.protocol import Outcome
from quizapp.lab.summary import RunSummary
from quizapp.lab.symptom import PredicateReading, evaluate, shows


def two_and_six() -> RunSummary:
    """Two devices at 98 %, six with 1.5 s at zero."""
    wave: list[float | None] = ([0.0] * 15 + [1.0] * 5) * 2
    return summary(
        {"util": [*steady([0.98] * 2, 40), *([wave] * 6)], "memory_bytes": steady([2**33] * 8, 40)}
    )


def read(predicate: Predicate, run: RunSummary, control: RunSummary | None = None) -> PredicateReading:
    (reading,) = evaluate(Symptom(where=(predicate,)), run, control)
    return reading


def test_a_predicate_over_devices_counts_those_that_hold_exactly() -> None:
    two = Predicate(says="two at 98 %", meter="util", devices=2, mean=Range(min=0.95))
    reading = read(two, two_and_six())
    assert reading.holds
    assert str(reading) == "devices with utilisation mean ≥ 95 %: wanted 2, measured 2"
    assert reading.margin == pytest.approx(0.03)
    one = read(Predicate(says="one", meter="util", devices=1, mean=Range(min=0.95)), two_and_six())
    assert not one.holds
    assert one.measured == "2"


def test_zero_for_seconds_is_read_in_device_time() -> None:
    six = Predicate(says="six at 0", meter="util", devices=6, longest_zero_s=Range(min=1))
    assert read(six, two_and_six()).holds
    healthy = read(six, summary({"util": steady([0.97] * 8)}))
    assert not healthy.holds
    assert str(healthy) == "devices with utilisation at zero for ≥ 1 s: wanted 6, measured 0"
    assert healthy.margin == pytest.approx(1.0)


def test_several_conditions_must_hold_on_the_same_device() -> None:
    both = Predicate(
        says="…",
        meter="util",
        devices=6,
        longest_zero_s=Range(min=1),
        maximum=Range(min=0.9),
        minimum=Range(max=0),
    )
    assert read(both, two_and_six()).holds


def test_all_means_each_device() -> None:
    everywhere = Predicate(says="all", meter="util", devices="all", mean=Range(min=0.9))
    assert read(everywhere, summary({"util": steady([0.97] * 4)})).holds
    assert not read(everywhere, summary({"util": steady([0.97, 0.97, 0.5, 0.97])})).holds
    assert str(read(everywhere, two_and_six())).endswith("wanted all, measured 2")


def test_a_reading_of_the_whole_job() -> None:
    one = Predicate(says="one process", meter="processes", value=Range(min=1, max=1))
    assert str(read(one, two_and_six())) == "processes: wanted 1, measured 1"
    assert read(one, two_and_six()).holds
    assert not read(one, summary({"util": steady([0.9] * 8)}, processes=8)).holds
    unknown = read(one, summary({"util": steady([0.9])}, processes=None))
    assert not unknown.holds
    assert not unknown.available


def test_relative_to_the_control_divides_by_it() -> None:
    half = Predicate(says="half", meter="steps_per_s", value=Range(max=0.5), relative_to="control")
    slow = summary({"util": steady([0.9])}, outcome=Outcome(outcome="completed", steps_per_s=1.5))
    reading = read(half, slow, summary({"util": steady([0.9])}))
    assert reading.holds
    assert str(reading) == "steps per second relative to the control: wanted ≤ 0.5 ×, measured 0.375 ×"
    assert reading.margin == pytest.approx(0.125)
    alone = read(half, slow)
    assert not alone.holds
    assert not alone.available
    assert alone.measured == "no control run to compare with"


def test_devices_are_held_against_the_mean_of_the_controls_devices() -> None:
    more = Predicate(
        says="one holds more", meter="memory_bytes", devices=1, maximum=Range(min=1.5), relative_to="control"
    )
    run = summary({"memory_bytes": steady([300.0, 100.0])})
    assert read(more, run, summary({"memory_bytes": steady([80.0, 120.0])})).holds
    assert not read(more, run, summary({"memory_bytes": steady([0.0, 0.0])})).available
    assert not read(more, run, summary({"util": steady([0.5, 0.5])})).available


def test_an_event_must_happen_or_must_not() -> None:
    happens = Predicate(says="it runs out of memory", event="out-of-memory")
    absent = Predicate(says="training goes on", event="out-of-memory", present=False)
    good = summary({"util": steady([0.9])})
    out = summary({"util": steady([0.9])}, outcome=Outcome(outcome="out-of-memory"))
    assert [read(happens, good).holds, read(happens, out).holds] == [False, True]
    assert [read(absent, good).holds, read(absent, out).holds] == [True, False]
    assert str(read(happens, good)) == "out-of-memory: wanted happens, measured does not happen"


def test_a_meter_that_is_not_available_never_holds() -> None:
    low = Predicate(says="low", meter="util", devices="all", mean=Range(max=0.5))
    for run in (summary({"util": steady([None, None])}), summary({"util": steady([0.1, None])})):
        reading = read(low, run)
        assert not reading.holds
        assert not reading.available
        assert reading.measured == "not available"


def test_a_run_shows_a_symptom_when_every_predicate_holds() -> None:
    symptom = Symptom(
        where=(
            Predicate(says="two", meter="util", devices=2, mean=Range(min=0.95)),
            Predicate(says="goes on", event="out-of-memory", present=False),
        )
    )
    assert shows(evaluate(symptom, two_and_six()))
    assert not shows(evaluate(symptom, summary({"util": steady([0.97] * 8)})))


def test_the_margin_of_a_miss_is_what_the_last_missing_device_lacks() -> None:
    three = Predicate(says="three", meter="util", devices=3, mean=Range(min=0.9))
    assert read(three, summary({"util": steady([0.95, 0.85, 0.6, 0.1])})).margin == pytest.approx(0.3)
    too_many = Predicate(says="one", meter="util", devices=1, mean=Range(min=0.9))
    assert read(too_many, summary({"util": steady([0.95, 0.97, 0.92])})).margin == pytest.approx(0.05)
