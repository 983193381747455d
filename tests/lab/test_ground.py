"""On what ground a key stands: evidence made here, the author's, none, or no experiment at all."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab_lines import steady, summary
from quizapp.bank.model import (
    DemoLink,
    Explanation,
    Option,
    Predicate,
    Range,
    SingleChoice,
    Symptom,
)
from quizapp.lab.catalogue import Catalogue
from quizapp.lab.evidence import record_of
from quizapp.lab.ground import Grounds, grounds_of_bank
from quizapp.lab.shipped import evidence_file, write_evidence
from quizapp.lab.summary import RunSummary
from quizapp.lab.verify import NeededRun

PROGRAM = '''"""T

What it shows
    t
Why
    t
Try
    t
Fix
    t
References
    https://example.org/
"""
DEMO = {{"title": "T", "seconds": 1.0, "expects": {{{expects}}}, "params": {{
    "size": {{"type": "int", "range": [1, 8], "default": 4, "help": "size"}},
}}}}


def main(lab):
    pass
'''
MADE_AT = "2026-03-01T12:00:00+00:00"


class MemoryEvidence:
    def __init__(self) -> None:
        self.records: dict[str, list[dict[str, Any]]] = {}

    def remember_evidence(self, record: dict[str, Any], *, key: str) -> None:
        self.records.setdefault(key, []).append(json.loads(json.dumps(record)))

    def evidence(self, key: str) -> list[dict[str, Any]]:
        return self.records.get(key, [])


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    for name in ("healthy", "idle_half", "busy_all"):
        expects = '"fix": "healthy"' if name == "healthy" else '"fault": "imbalance", "fix": "healthy"'
        (tmp_path / f"{name}.py").write_text(PROGRAM.format(expects=expects))
    found = Catalogue.load([tmp_path])
    assert not found.broken, found.broken
    return found


def question(**fields: Any) -> SingleChoice:
    given: dict[str, Any] = {
        "kind": "single-choice",
        "id": "half-idle",
        "stem": "One of two GPUs reads 0 %.",
        "symptom": Symptom(
            devices=2, where=(Predicate(says="0 %", meter="util", devices=1, mean=Range(max=0.1)),)
        ),
        "options": (
            Option(id="half", text="h", correct=True, rationale="r", demo=DemoLink(name="idle-half")),
            Option(id="all", text="a", rationale="r", demo=DemoLink(name="busy-all")),
            Option(id="none", text="n", rationale="r"),
        ),
        "explanation": Explanation(short="s"),
        "verified_by": "experiment",
        **fields,
    }
    return SingleChoice(**given)


def run_of(needed: NeededRun) -> RunSummary:
    shares = [1.0, 0.0] if needed.demo.name == "idle-half" else [1.0, 1.0]
    made = summary({"util": steady(shares)}, demo=needed.demo.name, variant=needed.variant, torch="2.13.0")
    return replace(made, seed=needed.seed)


def records(grounds: Grounds, asked: SingleChoice, **key: Any) -> dict[str, dict[str, Any]]:
    needed = grounds.verification(asked).runs().values()
    changed = [(run, replace(run.key, **key)) for run in needed]
    return {key.text: record_of(key, run_of(run), MADE_AT) for run, key in changed}


def kept(catalogue: Catalogue, asked: SingleChoice) -> MemoryEvidence:
    store = MemoryEvidence()
    for key, record in records(Grounds(catalogue, store), asked).items():
        store.remember_evidence(record, key=key)
    return store


def test_runs_made_here_are_the_ground(catalogue: Catalogue) -> None:
    asked = question()
    ground = Grounds(catalogue, kept(catalogue, asked)).of(asked)
    assert (ground.standing, ground.testable, ground.made_here) == ("tested-here", True, ground.needed)
    assert ground.finding is not None
    assert ground.finding.finding == "supported"
    assert str(ground) == ("tested here: supported (3 repeats, 2 emulated devices, torch 2.13.0, 2026-03-01)")


def test_a_key_that_the_runs_contradict_is_said_to_be_contradicted(catalogue: Catalogue) -> None:
    half, other, none = question().options
    swapped = question(options=(replace(half, correct=False), replace(other, correct=True), none))
    ground = Grounds(catalogue, kept(catalogue, swapped)).of(swapped)
    assert str(ground).startswith("tested here: contradicted")


def test_without_evidence_the_author_only_says_so(catalogue: Catalogue) -> None:
    ground = Grounds(catalogue, MemoryEvidence()).of(question())
    assert (ground.standing, ground.testable, ground.finding) == ("untested", True, None)
    assert str(ground) == "said to be by experiment, not tested here"


def test_shipped_evidence_is_the_author_s_claim(catalogue: Catalogue) -> None:
    grounds = Grounds(catalogue, MemoryEvidence())
    ground = Grounds(catalogue, MemoryEvidence(), records(grounds, question())).of(question())
    assert ground.standing == "claimed"
    assert all(piece.claimed for piece in ground.evidence)
    assert str(ground).startswith("claimed by its author, not tested here: supported (3 repeats,")
    assert ground.brief == "claimed by its author, not tested here: supported (2 emulated devices)"
    assert len(f" Key  {ground.brief} ") <= 80


def test_a_claim_made_with_another_torch_is_a_claim_still(catalogue: Catalogue) -> None:
    shipped = records(Grounds(catalogue, MemoryEvidence()), question(), torch="1.0")
    assert Grounds(catalogue, MemoryEvidence(), shipped).of(question()).standing == "claimed"


def test_a_claim_says_on_which_gpus_it_was_made(catalogue: Catalogue) -> None:
    grounds = Grounds(catalogue, MemoryEvidence())
    needed = grounds.verification(question()).runs().values()
    shipped = {}
    for run in needed:
        key = replace(run.key, device_kind="cuda", on=("NVIDIA H200", "580.1"))
        made = replace(run_of(run), device_kind="cuda", device_names=("NVIDIA H200",) * 2, notice="")
        shipped[key.text] = record_of(key, made, MADE_AT)
    ground = Grounds(catalogue, MemoryEvidence(), shipped).of(question())
    assert ground.standing == "claimed"
    assert "2 × NVIDIA H200, torch 2.13.0" in str(ground)
    assert "emulated" not in str(ground)


@pytest.mark.parametrize("stale", [{"demo_source": "edited"}, {"lab_source": "edited"}])
def test_a_claim_about_other_demos_or_another_lab_is_stale(
    catalogue: Catalogue, stale: dict[str, str]
) -> None:
    shipped = records(Grounds(catalogue, MemoryEvidence()), question(), **stale)
    ground = Grounds(catalogue, MemoryEvidence(), shipped).of(question())
    assert (ground.standing, ground.finding) == ("stale", None)
    assert "its author's evidence is stale" in str(ground)


def test_a_mended_typo_makes_nothing_stale_and_other_parameters_do(catalogue: Catalogue) -> None:
    store = kept(catalogue, question())
    assert (
        Grounds(catalogue, store).of(question(stem="One of two GPUs reads  0 %!")).standing == "tested-here"
    )
    key, *rest = question().options
    other = replace(key, demo=DemoLink(name="idle-half", params={"size": "5"}))
    assert Grounds(catalogue, store).of(question(options=(other, *rest))).standing == "untested"


def test_a_test_that_was_stopped_counts_what_was_made(catalogue: Catalogue) -> None:
    store = kept(catalogue, question())
    gone = next(k for k, [record] in store.records.items() if record["ran"]["demo"] == "busy-all")
    del store.records[gone]
    ground = Grounds(catalogue, store).of(question())
    assert (ground.standing, ground.made_here) == ("in-part", ground.needed - 1)
    assert str(ground) == f"tested here in part, {ground.needed - 1} of {ground.needed} runs: inconclusive"


def test_a_control_that_was_run_for_another_question_tests_nothing_of_this_one(catalogue: Catalogue) -> None:
    store = kept(catalogue, question())
    store.records = {k: r for k, r in store.records.items() if r[0]["ran"]["demo"] == "healthy"}
    assert Grounds(catalogue, store).of(question()).standing == "untested"


def test_what_is_run_here_completes_a_claim_and_is_counted(catalogue: Catalogue) -> None:
    shipped = records(Grounds(catalogue, MemoryEvidence()), question())
    store = kept(catalogue, question())
    store.records = dict(list(store.records.items())[:2])
    ground = Grounds(catalogue, store, shipped).of(question())
    assert (ground.standing, ground.made_here) == ("claimed", 2)
    assert f"2 of {ground.needed} runs also made here" in str(ground)


@pytest.mark.parametrize(
    ("basis", "words"),
    [
        ("reference", "by reference: the sources listed say so"),
        ("judgement", "by judgement: its author's experience"),
    ],
)
def test_a_key_without_an_experiment_stands_on_what_its_author_says(
    catalogue: Catalogue, basis: str, words: str
) -> None:
    ground = Grounds(catalogue, MemoryEvidence()).of(question(verified_by=basis, symptom=None))
    assert (ground.standing, ground.testable, str(ground)) == ("none", False, words)


def test_signs_of_a_key_by_reference_can_be_tested_and_the_basis_stays(catalogue: Catalogue) -> None:
    asked = question(verified_by="reference")
    ground = Grounds(catalogue, kept(catalogue, asked)).of(asked)
    assert str(ground).startswith(
        "by reference: the sources listed say so; its signs: tested here: supported"
    )


def test_what_can_not_be_tested_says_why(catalogue: Catalogue) -> None:
    key, other, none = question().options
    grounds = Grounds(catalogue, MemoryEvidence())
    bare = grounds.of(question(options=(replace(key, demo=None), other, none)))
    assert (bare.testable, bare.reason) == (False, "the key half has no demo")
    gone = grounds.of(question(options=(key, replace(other, demo=DemoLink(name="gone")), none)))
    assert (gone.testable, "there is no demo gone" in str(gone)) == (False, True)
    assert not Grounds({}, MemoryEvidence()).of(question()).testable


@pytest.mark.parametrize(
    "record", [{}, {"ran": 3, "made_at": 4}, {"format": 1, "measured": {"devices": "x"}}]
)
def test_records_that_are_none_claim_nothing(catalogue: Catalogue, record: dict[str, Any]) -> None:
    keys = records(Grounds(catalogue, MemoryEvidence()), question())
    shipped = {key: {**record} for key in keys}
    assert Grounds(catalogue, MemoryEvidence(), shipped).of(question()).standing == "untested"


def test_evidence_beside_a_bank_is_found_and_a_broken_file_is_said(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    bank = tmp_path / "some.yaml"
    assert grounds_of_bank(bank, catalogue, MemoryEvidence()).of(question()).standing == "untested"
    shipped = records(Grounds(catalogue, MemoryEvidence()), question())
    write_evidence(evidence_file(bank), "some", shipped)
    assert grounds_of_bank(bank, catalogue, MemoryEvidence()).of(question()).standing == "claimed"
    evidence_file(bank).write_text("{")
    ground = grounds_of_bank(bank, catalogue, MemoryEvidence()).of(question())
    assert ground.standing == "untested"
    assert "its author's evidence can't be read" in str(ground)


def test_working_out_a_ground_loads_no_runner() -> None:
    code = "import sys\nimport quizapp.lab.ground, quizapp.lab.appeal\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {
        "asyncio",
        "quizapp.lab.runner",
        "quizapp.lab.run",
        "torch",
        "pydantic",
        "yaml",
        "textual",
    }
