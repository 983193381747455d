"""docs/authoring.md: its banks work, and it knows every field, code and spelling."""

from __future__ import annotations

import dataclasses
import re
import shutil
from functools import partial
from pathlib import Path

import pytest

from quizapp.assess.instance import values_of
from quizapp.assess.scoring import foreseen, is_right
from quizapp.bank import model
from quizapp.bank.check import check_bank
from quizapp.bank.kind_checks import Judge
from quizapp.bank.load import load_bank
from quizapp.bank.variables import FUNCTIONS
from quizapp.content import content_dir
from quizapp.lab.catalogue import Catalogue

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "docs" / "authoring.md").read_text(encoding="utf-8")
BANKS = [block for block in re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL) if "questions:" in block]


@pytest.mark.parametrize("text", BANKS, ids=["least", "most"])
def test_its_banks_pass_the_checks(tmp_path: Path, text: str) -> None:
    path = tmp_path / "waits.yaml"
    path.write_text(text, encoding="utf-8")
    findings = check_bank(load_bank(path), Catalogue.load([content_dir("demos")]))
    assert [str(finding) for finding in findings] == []


def test_its_fullest_bank_has_every_field() -> None:
    for part in (model.Bank, model.Take, model.SingleChoice, model.Option, model.DemoLink, model.Symptom):
        for field in dataclasses.fields(part):
            name = field.metadata.get("alias", field.name)
            if name in ("variables", "drawn"):  # have a bank of their own, and are not written
                continue
            assert re.search(rf"\b{name}:", BANKS[1]), f"{part.__name__}.{name}"


def test_its_question_with_variables_passes_the_checks(tmp_path: Path) -> None:
    (text,) = re.findall(r"```yaml\n(  - id: adamw-memory.*?)```", GUIDE, re.DOTALL)
    path = tmp_path / "variables.yaml"
    path.write_text("format: 1\ntitle: Variables\nquestions:\n" + text, encoding="utf-8")
    loaded = load_bank(path)
    (question,) = loaded.bank.questions
    ways = {way for each in question.variables.values() for way in ("values", "range") if getattr(each, way)}
    assert ways == {"values", "range"}
    draws = [partial(values_of, seed=seed) for seed in range(100)]
    findings = check_bank(loaded, None, Judge(is_right, foreseen), draws)
    assert [str(finding) for finding in findings] == []
    for name in FUNCTIONS:
        assert re.search(rf"\b{name}\b", GUIDE), name


def test_its_questions_of_other_kinds_pass_the_checks(tmp_path: Path) -> None:
    (text,) = re.findall(r"```yaml\n(  - id: dp-one-process.*?)```", GUIDE, re.DOTALL)
    path = tmp_path / "kinds.yaml"
    path.write_text("format: 1\ntitle: Kinds\nquestions:\n" + text, encoding="utf-8")
    loaded = load_bank(path)
    assert [question.kind for question in loaded.bank.questions] == [
        kind for kind in model.KINDS if kind not in ("single-choice", "multiple-choice", "reading")
    ]
    findings = check_bank(loaded, Catalogue.load([content_dir("demos")]), Judge(is_right, foreseen))
    assert [str(finding) for finding in findings] == []


def test_its_question_about_a_recording_passes_the_checks(tmp_path: Path) -> None:
    (text,) = re.findall(r"```yaml\n(  - id: which-rank-is-slow.*?)```", GUIDE, re.DOTALL)
    path = tmp_path / "reading.yaml"
    path.write_text("format: 1\ntitle: Reading\nquestions:\n" + text, encoding="utf-8")
    (tmp_path / "recordings").mkdir()
    shutil.copy(ROOT / "tests" / "banks" / "good" / "recordings" / "slow.jsonl", tmp_path / "recordings")
    loaded = load_bank(path)
    findings = check_bank(loaded, Catalogue.load([content_dir("demos")]), Judge(is_right, foreseen))
    assert [str(finding) for finding in findings] == []


def test_it_explains_every_field() -> None:
    parts = [model.Take, model.SingleChoice, model.Option, model.DemoLink, model.Predicate, model.Range]
    parts += [model.TrueFalse, model.Side, model.Numeric, model.Interval, model.ShortText, model.Mistake]
    parts += [model.Ordering, model.Item, model.Matching, model.Pair]
    parts += [model.Reading, model.ReadingKey, model.Span]
    for part in (*parts, model.Scoring, model.Bank, model.Explanation, model.Figure, model.Reference):
        for field in dataclasses.fields(part):
            name = field.metadata.get("alias", field.name)
            if (part, name) == (model.Reading, "strip"):
                continue  # filled by quizapp
            assert re.search(rf"`[^`\n]*\b{name}\b[^`\n]*`", GUIDE), f"{part.__name__}.{name}"


def test_it_lists_every_code_that_the_checks_give() -> None:
    source = (ROOT / "engine" / "quizapp" / "bank" / "check.py").read_text(encoding="utf-8")
    codes = set(re.findall(r'"([a-z]+(?:-[a-z]+)+|letter|position|unpinned|negation)"', source))
    assert len(codes) > 15
    assert {code for code in codes if f"`{code}`" not in GUIDE} == set()
