"""`quizapp verify` as its users meet it. The evidence that ships with the bank stands in for the runs."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from command_line import CommandLine

from quizapp.bank.library import open_bank
from quizapp.content import content_dir
from quizapp.lab.catalogue import Catalogue
from quizapp.lab.evidence import installed_torch
from quizapp.lab.shipped import read_shipped
from quizapp.lab.verify import Verification, known

BANK = content_dir("quizzes") / "multi-gpu.yaml"
QUESTION = "six-of-eight-idle"


class NothingKept:
    def remember_evidence(self, record: object, *, key: str) -> None: ...

    def evidence(self, key: str) -> list[dict[str, object]]:
        return []


@pytest.fixture(scope="module")
def current_evidence() -> None:
    """Shipped evidence is keyed by the version of torch, too: elsewhere these tests would take minutes."""
    record = next(iter(read_shipped(BANK).values()))
    if record["ran"]["torch"] != installed_torch():
        pytest.skip(
            f"the evidence was made with torch {record['ran']['torch']}, here is {installed_torch()!r}"
        )


def verify(quizapp: CommandLine, bank: Path, *arguments: str) -> tuple[int, str, str]:
    done = quizapp("verify", str(bank), "--accept-shipped", *arguments)
    return done.returncode, done.stdout, done.stderr


def copy_of(tmp_path: Path, text: str) -> Path:
    """A bank beside the shipped evidence, as someone would have it who edits a copy."""
    folder = tmp_path / "copy"
    folder.mkdir()
    for beside in ("figures", "recordings"):
        shutil.copytree(BANK.parent / beside, folder / beside)
    shutil.copy(BANK.with_suffix(".evidence.json"), folder / "multi-gpu.evidence.json")
    bank = folder / "multi-gpu.yaml"
    bank.write_text(text, encoding="utf-8")
    return bank


@pytest.mark.usefixtures("current_evidence")
def test_the_shipped_evidence_is_current_and_supports_every_key_that_says_so() -> None:
    bank = open_bank(BANK, cache=None)
    questions = tuple(q for q in map(bank.question, bank.ids) if q.symptom is not None)
    verification = Verification(questions, Catalogue.load([content_dir("demos")]))
    needed = verification.runs()
    summaries, _ = known(needed, NothingKept(), read_shipped(BANK))
    stale = [str(run) for key, run in needed.items() if key not in summaries]
    assert not stale, "make evidence runs what is stale"
    findings = {found.question: found.finding for found in verification.findings(summaries, {})}
    by_experiment = [q.id for q in map(bank.question, bank.ids) if q.verified_by == "experiment"]
    assert len(by_experiment) >= 12
    assert {findings[question_id] for question_id in by_experiment} == {"supported"}


@pytest.mark.usefixtures("current_evidence")
def test_no_distractor_could_be_the_key() -> None:
    """Every distractor with a demo, made the key in a copy, is contradicted."""
    from dataclasses import replace

    from quizapp.bank.model import SingleChoice

    bank = open_bank(BANK, cache=None)
    catalogue = Catalogue.load([content_dir("demos")])
    shipped = read_shipped(BANK)
    swaps, missed = 0, []
    for question in map(bank.question, bank.ids):
        if question.verified_by != "experiment":
            continue
        for distractor in question.options:
            if distractor.correct or distractor.demo is None:
                continue
            options = tuple(replace(o, correct=o.id == distractor.id) for o in question.options)
            if not isinstance(question, SingleChoice):
                # One key more is wrong, too: all keys must show the symptom.
                options = tuple(
                    replace(o, correct=o.correct or o.id == distractor.id) for o in question.options
                )
            swapped = Verification((replace(question, options=options),), catalogue)
            needed = swapped.runs()
            summaries, _ = known(needed, NothingKept(), shipped)
            (found,) = swapped.findings(summaries, {})
            swaps += 1
            if found.finding != "contradicted":
                missed.append((question.id, distractor.id, found.finding, found.reason))
    assert swaps >= 30
    assert missed == []


@pytest.mark.usefixtures("current_evidence")
def test_it_says_which_predicate_failed_on_which_reading_and_by_how_much(quizapp: CommandLine) -> None:
    code, out, err = verify(quizapp, BANK, QUESTION)
    text = " ".join(out.split())
    assert code == 0
    assert f"✓ {QUESTION}" in text
    assert "“The other six drop to 0 % for seconds” devices with utilisation at zero for ≥ 1 s" in text
    assert "wanted 6, measured 0, 1.0 s off" in text
    assert "the author's, not made here" in text
    assert "Emulated devices: no GPU was used" in text
    assert "run 1 of" not in err
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.usefixtures("current_evidence")
def test_json_is_a_list_of_findings(quizapp: CommandLine) -> None:
    code, out, _ = verify(quizapp, BANK, QUESTION, "--json")
    (found,) = json.loads(out)
    assert code == 0
    assert found["question"] == QUESTION
    assert found["finding"] == "supported"
    assert {
        tuple(sorted({"id", "correct", "demo", "shows_symptom", "predicates"} & set(o)))
        for o in found["options"]
    } == {("correct", "demo", "id", "predicates", "shows_symptom")}
    assert [o["shows_symptom"] for o in found["options"]] == [o["correct"] for o in found["options"]]


@pytest.mark.usefixtures("current_evidence")
def test_a_wrong_key_is_contradicted_with_status_1(quizapp: CommandLine, tmp_path: Path) -> None:
    text = BANK.read_text(encoding="utf-8")
    start = text.index(f"id: {QUESTION}")
    end = text.index("explanation:", start)
    block = text[start:end]
    wrong = block.replace("        correct: true\n", "")
    wrong = re.sub(r"(- id: slow-input\n)", r"\1        correct: true\n", wrong)
    code, out, _ = verify(quizapp, copy_of(tmp_path, text[:start] + wrong + text[end:]), QUESTION)
    assert code == 1
    assert "contradicted: the key slow-input does not show it" in " ".join(out.split())


@pytest.mark.usefixtures("current_evidence")
def test_mending_a_typo_reruns_nothing(quizapp: CommandLine, tmp_path: Path) -> None:
    text = BANK.read_text(encoding="utf-8").replace(
        "What is the most likely cause", "What's the likeliest cause"
    )
    code, _, err = verify(quizapp, copy_of(tmp_path, text), QUESTION)
    assert code == 0
    assert "importing PyTorch" not in err


def test_out_of_budget_is_inconclusive_and_says_so(quizapp: CommandLine) -> None:
    pytest.importorskip("torch", reason="needs PyTorch: the lab is warmed before the budget is looked at")
    done = quizapp("verify", str(BANK), QUESTION, "--budget", "0")
    text = " ".join(done.stdout.split())
    assert done.returncode == 0
    assert "0 supported, 0 contradicted, 1 inconclusive" in text
    assert "out of budget" in text
    assert "would settle it" in text


def test_a_mistyped_question_is_named_with_the_nearest(quizapp: CommandLine) -> None:
    done = quizapp("verify", str(BANK), "six-of-eight-idel")
    assert done.returncode == 2
    assert "did you mean 'six-of-eight-idle'?" in done.stderr


def test_a_question_without_a_symptom_says_what_its_key_stands_on(quizapp: CommandLine) -> None:
    done = quizapp("verify", str(BANK), "busy-or-spinning")
    assert done.returncode == 2
    assert "reference" in done.stderr


def test_a_bank_without_symptoms_says_how_to_write_one(quizapp: CommandLine) -> None:
    done = quizapp("verify", str(quizapp.bank))
    assert done.returncode == 2
    assert "docs/authoring.md" in done.stderr


@pytest.mark.usefixtures("current_evidence")
def test_the_evidence_is_exported(quizapp: CommandLine, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    code, _, _ = verify(quizapp, BANK, QUESTION, "--export", str(target))
    assert code == 0
    records = json.loads(target.read_text(encoding="utf-8"))["records"]
    assert len(records) >= 15
    assert all(record["key"] == key for key, record in records.items())
    one = next(iter(records.values()))
    assert {"demo_source", "lab_source", "params", "variant", "seed", "torch"} <= set(one["ran"])
    assert {"device_names", "torch"} <= set(one["on"])
