"""The recorded figures of the bank that ships are what their demos measure today."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import pytest

from quizapp.bank.load import load_bank
from quizapp.bank.model import Reading
from quizapp.content import content_dir
from quizapp.lab.catalogue import Catalogue
from quizapp.lab.figure import draw
from quizapp.lab.recording import Recording, read_recording
from quizapp.lab.request import RunRequest
from torch_lab import TorchLab

BANK = content_dir("quizzes") / "multi-gpu.yaml"
RECORDED = {
    question.id: question
    for question in load_bank(BANK).bank.questions
    if question.explanation.figure and question.explanation.figure.src.startswith("figures/runs/")
}


def test_most_keys_tested_by_experiment_are_explained_by_a_recorded_run() -> None:
    experiments = [q for q in load_bank(BANK).bank.questions if q.verified_by == "experiment"]
    assert 2 * len(RECORDED) > len(experiments)


@pytest.mark.parametrize("name", [name for name, q in RECORDED.items() if isinstance(q, Reading)])
def test_the_figure_of_a_question_about_a_recording_is_drawn_from_it(name: str) -> None:
    question = RECORDED[name]
    assert isinstance(question, Reading)
    assert question.explanation.figure
    drawn = draw(read_recording(BANK.parent / question.recording))
    shipped = (BANK.parent / question.explanation.figure.src).read_text(encoding="utf-8")
    assert drawn == shipped, "make figures draws it anew"


@pytest.mark.parametrize("name", [name for name, q in RECORDED.items() if q.options])
def test_the_figure_is_a_replay_of_the_run_behind_the_key(name: str, torch_lab: TorchLab) -> None:
    """Every duration comes from the plan, so a run draws the same picture on every machine."""
    question = RECORDED[name]
    demo = next(option.demo for option in question.options if option.correct and option.demo)
    request = RunRequest(
        demo=Catalogue.load().find(demo.name),
        variant=demo.variant,
        devices=8,
        device="emulated",
        params=demo.params,
    )
    lines = tuple(torch_lab.lines(request))
    drawn = draw(Recording(Path("run.jsonl"), datetime.now(UTC), "", lines))
    assert question.explanation.figure
    shipped = (BANK.parent / question.explanation.figure.src).read_text(encoding="utf-8")
    assert drawn == shipped, "make figures draws it anew"


@pytest.mark.parametrize("name", RECORDED)
def test_the_figure_says_what_it_shows_and_that_it_is_emulated(name: str) -> None:
    figure = RECORDED[name].explanation.figure
    assert figure
    svg = ElementTree.parse(BANK.parent / figure.src).getroot()  # noqa: S314  our own file
    described = svg.findtext("{http://www.w3.org/2000/svg}desc") or ""
    assert "emulated devices, no GPU used" in described
    assert "prefers-color-scheme:dark" in (svg.findtext("{http://www.w3.org/2000/svg}style") or "")
    assert "emulated" in figure.alt
