from __future__ import annotations

import pytest

from lab_lines import steady, summary
from quizapp.bank.model import DemoLink, Explanation, Option, Predicate, Range, SingleChoice, Symptom
from quizapp.lab.finding import Finding, Tested, as_json, judge, read_repeat
from quizapp.lab.protocol import DemoError, Outcome
from quizapp.lab.summary import RunSummary

SYMPTOM = Symptom(
    devices=2, where=(Predicate(says="both compute", meter="compute", devices="all", mean=Range(min=0.9)),)
)


def option(option_id: str, *, correct: bool = False, demo: bool = True) -> Option:
    link = DemoLink(name="dp-sync") if demo else None
    return Option(id=option_id, text=option_id, correct=correct, rationale="…", demo=link)


def question(*options: Option) -> SingleChoice:
    return SingleChoice(
        id="q",
        kind="single-choice",
        stem="both compute",
        symptom=SYMPTOM,
        options=options,
        explanation=Explanation(short="…"),
    )


def showing() -> RunSummary:
    return summary({"compute": steady([0.97, 0.95])})


def not_showing() -> RunSummary:
    return summary({"compute": steady([0.97, 0.30])})


def crashed() -> RunSummary:
    error = DemoError(type="exit", message="killed by SIGKILL")
    return summary({"compute": steady([0.97, 0.97])}, outcome=Outcome(outcome="crashed", error=error))


def ran(name: str, *runs: RunSummary | None, correct: bool = False) -> Tested:
    repeats = tuple(read_repeat(SYMPTOM, seed, run, None) for seed, run in enumerate(runs, 1))
    return Tested(name, correct, "dp-sync" if runs else "", repeats)


def verdict(key: Tested, *others: Tested, control: Tested | None = None) -> Finding:
    options = [option(one.name, correct=one.correct, demo=bool(one.demo)) for one in (key, *others)]
    return judge(
        question(*options), [key, *others], [control or ran("control", not_showing(), not_showing())]
    )


def test_supported_when_the_key_alone_shows_it_in_every_repeat() -> None:
    found = verdict(
        ran("key", showing(), showing(), correct=True), ran("other", not_showing(), not_showing())
    )
    assert found.finding == "supported"
    assert "2 of 2 repeats" in found.reason


def test_contradicted_when_the_key_fails_a_predicate_in_every_repeat_and_it_says_which_and_by_how_much() -> (
    None
):
    found = verdict(
        ran("key", not_showing(), not_showing(), correct=True),
        ran("other", not_showing(), not_showing()),
    )
    assert found.finding == "contradicted"
    assert "devices with compute mean ≥ 90 %: wanted all, measured 1" in found.reason


@pytest.mark.parametrize("guilty", ["other", "control"])
def test_contradicted_when_something_else_shows_it_too(guilty: str) -> None:
    shown = ran(guilty, showing(), showing())
    key = ran("key", showing(), showing(), correct=True)
    quiet = ran("other", not_showing(), not_showing())
    found = verdict(key, quiet, control=shown) if guilty == "control" else verdict(key, shown)
    assert found.finding == "contradicted"
    assert guilty in found.reason


def test_repeats_that_disagree_are_inconclusive_and_it_says_who_and_what_would_settle_it() -> None:
    found = verdict(
        ran("key", showing(), not_showing(), correct=True), ran("other", not_showing(), not_showing())
    )
    assert found.finding == "inconclusive"
    assert "key shows it in 1 of 2" in found.reason
    assert found.settle


def test_two_distractors_that_each_show_it_once_do_not_contradict() -> None:
    found = verdict(
        ran("key", showing(), showing(), correct=True),
        ran("one", showing(), not_showing()),
        ran("two", not_showing(), showing()),
    )
    assert found.finding == "inconclusive"


def test_a_failed_run_says_nothing_whatever_its_meters_read() -> None:
    found = verdict(ran("key", showing(), showing(), correct=True), ran("other", crashed(), not_showing()))
    assert found.finding == "inconclusive"
    assert "SIGKILL" in found.reason
    found = verdict(
        ran("key", crashed(), crashed(), correct=True), ran("other", not_showing(), not_showing())
    )
    assert found.finding == "inconclusive"


def test_a_run_that_was_not_made_is_inconclusive_with_its_reason() -> None:
    key = Tested("key", True, "dp-sync", (read_repeat(SYMPTOM, 1, None, None, "not run: out of budget"),))
    found = verdict(key, ran("other", not_showing()), control=ran("control", not_showing()))
    assert found.finding == "inconclusive"
    assert "out of budget" in found.reason


def test_too_few_devices_are_no_test_of_the_stem() -> None:
    one = summary({"compute": steady([0.97])})
    found = verdict(
        ran("key", one, correct=True),
        ran("other", not_showing()),
        control=ran("control", not_showing()),
    )
    assert found.finding == "inconclusive"
    assert "1 devices, the stem speaks of 2" in found.reason


def test_a_reading_that_is_not_available_is_not_a_failed_sign() -> None:
    blind = summary({"util": steady([0.97, 0.97])})
    found = verdict(
        ran("key", blind, correct=True),
        ran("other", not_showing()),
        control=ran("control", not_showing()),
    )
    assert found.finding == "inconclusive"


def test_a_key_without_a_demo_is_not_tested() -> None:
    found = verdict(ran("key", correct=True), ran("other", not_showing(), not_showing()))
    assert found.finding == "inconclusive"
    assert "no demo" in found.reason


def test_every_key_of_several_must_show_it() -> None:
    found = verdict(
        ran("key", showing(), showing(), correct=True),
        ran("second", not_showing(), not_showing(), correct=True),
        ran("other", not_showing(), not_showing()),
    )
    assert found.finding == "contradicted"
    assert "second" in found.reason


def test_json_names_every_predicate_of_every_repeat() -> None:
    found = verdict(
        ran("key", showing(), showing(), correct=True), ran("other", not_showing(), not_showing())
    )
    printed = as_json(found)
    assert {"question", "finding", "reason", "options"} <= set(printed)
    key, other = printed["options"]  # type: ignore[misc]
    assert key["shows_symptom"] is True
    assert other["shows_symptom"] is False
    assert [one["seed"] for one in other["predicates"]] == [1, 2]
    assert other["predicates"][0]["says"] == "both compute"
    assert other["predicates"][0]["margin"] > 0
