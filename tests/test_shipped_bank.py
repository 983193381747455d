"""The bank that ships: what a learner, and whoever trusts its keys, relies on."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest

from quizapp.assess.instance import values_of
from quizapp.assess.scoring import foreseen, is_right
from quizapp.bank.check import check_bank
from quizapp.bank.kind_checks import Judge
from quizapp.bank.load import load_bank
from quizapp.bank.model import Question, Reading
from quizapp.content import content_dir
from quizapp.lab.catalogue import Catalogue
from quizapp.lab.recording import read_recording

BANK = content_dir("quizzes") / "multi-gpu.yaml"
FIGURES = sorted((BANK.parent / "figures").rglob("*.svg"))
LARGEST_FIGURE_BYTES = 24 * 1024
SVG = "{http://www.w3.org/2000/svg}"
FIRST = "six-of-eight-idle"
TWINS = ("cool-pair-starved-six", "hot-pair-waiting-six")


@pytest.fixture(scope="module")
def questions() -> dict[str, Question]:
    return {question.id: question for question in load_bank(BANK).bank.questions}


@pytest.mark.parametrize("path", sorted(BANK.parent.glob("*.yaml")), ids=lambda path: path.stem)
def test_passes_its_own_check_without_a_finding(path: Path) -> None:
    draws = [partial(values_of, seed=seed) for seed in range(500)]
    findings = check_bank(load_bank(path), Catalogue.load(), Judge(is_right, foreseen), draws)
    assert [str(finding) for finding in findings] == []


def test_the_bank_of_numbers_names_where_each_of_them_can_be_read() -> None:
    questions = load_bank(BANK.with_name("sizing.yaml")).bank.questions
    assert len(questions) >= 5
    for question in questions:
        assert question.verified_by == "reference", question.id
        assert question.references, question.id
        assert question.variables, question.id
        assert question.objective, question.id
        assert question.target_time_s, question.id


def test_holds_at_least_eight_questions_of_both_kinds(questions: dict[str, Question]) -> None:
    kinds = [question.kind for question in questions.values()]
    assert len(kinds) >= 8
    assert kinds.count("multiple-choice") >= 3
    assert kinds.count("single-choice") >= 5


def test_first_question_stands_first_with_its_twins_beside_it(questions: dict[str, Question]) -> None:
    assert tuple(questions)[:3] == (FIRST, *TWINS)


def test_every_question_explains_itself(questions: dict[str, Question]) -> None:
    for question in questions.values():
        explanation = question.explanation
        assert explanation.short.strip(), question.id
        assert len(explanation.full) > len(explanation.short), question.id
        assert explanation.figure is not None, question.id
        assert (BANK.parent / explanation.figure.src).is_file(), question.id
        assert len(explanation.figure.alt.split()) >= 8, (
            f"{question.id}: this alt text does not stand in for a picture"
        )
        assert question.references, question.id
        assert question.objective, question.id
        assert question.target_time_s, question.id
        for option in question.options:
            assert len(option.rationale.split()) >= 8, f"{question.id}/{option.id}"


def test_every_predicate_quotes_its_stem(questions: dict[str, Question]) -> None:
    for question in questions.values():
        stem = " ".join(question.stem.split())
        for predicate in question.symptom.where if question.symptom else ():
            assert " ".join(predicate.says.split()) in stem, f"{question.id}: {predicate.says!r}"


def test_an_experiment_has_a_symptom_and_a_demo_on_each_key_and_on_a_distractor(
    questions: dict[str, Question],
) -> None:
    experiments = [question for question in questions.values() if question.verified_by == "experiment"]
    assert FIRST in [question.id for question in experiments]
    for question in experiments:
        assert question.symptom is not None, question.id
        assert all(option.demo for option in question.options if option.correct), question.id
        assert any(option.demo for option in question.options if not option.correct), question.id


def test_no_two_experiments_share_symptom_and_key(questions: dict[str, Question]) -> None:
    seen: dict[object, str] = {}
    for question in questions.values():
        if question.verified_by != "experiment" or question.symptom is None:
            continue
        signs = frozenset(str(predicate) for predicate in question.symptom.where)
        keys = frozenset(str(option.demo) for option in question.options if option.correct)
        twin = seen.setdefault((signs, keys), question.id)
        assert twin == question.id, f"{question.id} asks what {twin} asks"


def test_every_demo_is_a_key_somewhere_and_a_distractor_somewhere(questions: dict[str, Question]) -> None:
    options = [option for question in questions.values() for option in question.options]
    for correct in (True, False):
        assert {option.demo.name for option in options if option.demo and option.correct == correct} == set(
            Catalogue.load()
        )


def test_at_least_twelve_of_sixteen_questions_stand_on_an_experiment(questions: dict[str, Question]) -> None:
    assert len(questions) >= 16
    assert sum(question.verified_by == "experiment" for question in questions.values()) >= 12


def test_the_first_question_and_its_twins_share_what_utilisation_shows(
    questions: dict[str, Question],
) -> None:
    """Two full and six at zero for seconds: only other meters tell the three keys apart."""
    keys = set()
    for question_id in (FIRST, *TWINS):
        question = questions[question_id]
        assert question.symptom is not None
        read = [
            (sign.devices, bool(sign.longest_zero_s))
            for sign in question.symptom.where
            if sign.meter == "util"
        ]
        assert read == [(2, False), (6, True)]
        keys |= {option.demo.name for option in question.options if option.correct and option.demo}
    assert keys == {"dp-sync", "input-skew", "host-barrier"}


def test_stems_and_options_fit_a_small_terminal(questions: dict[str, Question]) -> None:
    for question in questions.values():
        assert all(len(line) <= 76 for line in question.stem.splitlines()), question.id
        assert len(question.stem.strip().splitlines()) <= 15, question.id
        for option in question.options:
            assert len(option.text) <= 116, f"{question.id}/{option.id}"


def _readings(questions: dict[str, Question]) -> dict[str, Reading]:
    return {name: question for name, question in questions.items() if isinstance(question, Reading)}


def test_the_key_of_each_recording_is_what_its_meters_say(questions: dict[str, Question]) -> None:
    rank, wait = _readings(questions).values()
    assert rank.strip is not None
    assert wait.strip is not None
    means = [sum(share or 0 for share in rank.strip.shares("compute", d)) for d in range(rank.strip.devices)]
    assert rank.key.devices == (max(range(rank.strip.devices), key=means.__getitem__),)
    assert all(min(filter(None, rank.strip.shares("util", d))) > 0.9 for d in range(rank.strip.devices))
    assert wait.key.span is not None
    compute, util = wait.strip.shares("compute", 0), wait.strip.shares("util", 0)
    waiting = [
        place
        for place in range(wait.strip.windows)
        if (compute[place] or 0) < 0.01 and (util[place] or 0) > 0.99
    ]
    first = [place for number, place in enumerate(waiting) if place - waiting[0] == number]
    assert wait.key.span.start_s == pytest.approx(first[0] * wait.strip.window_s, abs=0.1)
    assert wait.key.span.end_s == pytest.approx((first[-1] + 1) * wait.strip.window_s, abs=0.1)


def test_recordings_are_small_and_each_is_asked_about(questions: dict[str, Question]) -> None:
    files = sorted((BANK.parent / "recordings").iterdir())
    assert all(file.stat().st_size < 200_000 for file in files)
    asked = {reading.recording for reading in _readings(questions).values()}
    assert {f"recordings/{file.name}" for file in files} == asked
    # Whole recordings of the lab, and emulated ones that say so.
    assert all((start := read_recording(file).start) and start.notice for file in files)


def test_every_figure_is_shown_somewhere(questions: dict[str, Question]) -> None:
    shown = {
        question.explanation.figure.src for question in questions.values() if question.explanation.figure
    }
    assert {path.relative_to(BANK.parent).as_posix() for path in FIGURES} == shown


@pytest.mark.parametrize("path", FIGURES, ids=lambda path: path.stem)
def test_figure_is_a_small_svg_that_runs_and_fetches_nothing(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert len(source.encode()) <= LARGEST_FIGURE_BYTES
    for risky in ("<!DOCTYPE", "<!ENTITY", "@import", "javascript:"):
        assert risky not in source
    root = ElementTree.fromstring(source)  # noqa: S314  our own files, and no entities: see the lines before
    assert root.tag == f"{SVG}svg"
    assert root.get("viewBox")
    for name in ("title", "desc"):
        element = root.find(f"{SVG}{name}")
        assert element is not None, name
        assert (element.text or "").strip(), name
    for element in root.iter():
        tag = element.tag.removeprefix(SVG)
        assert tag in {
            "svg",
            "title",
            "desc",
            "style",
            "defs",
            "pattern",
            "rect",
            "path",
            "circle",
            "text",
            "g",
        }, tag
        for attribute, value in element.attrib.items():
            assert not attribute.lower().startswith("on"), attribute
            assert "href" not in attribute
            assert "://" not in value
    styles = "".join(element.text or "" for element in root.iter(f"{SVG}style"))
    assert all(target.startswith("#") for target in styles.replace("url(", "\nurl(").split("\nurl(")[1:])
    assert "prefers-color-scheme" in styles, "a dark page needs dark colours"
    texts = [element.text or "" for element in root.iter(f"{SVG}text")]
    what = (
        "a recorded run, emulated: no GPU used"
        if path.parent.name == "runs"
        else "schematic, not a measurement"
    )
    assert what in texts, "a drawing must not pass for a recording, nor an emulation for a GPU"
