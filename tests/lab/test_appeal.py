"""What a learner sends to a bank's author, and where it is put."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lab_lines import steady, summary
from quizapp.assess.response import Response
from quizapp.bank.model import DemoLink, Predicate, Question, Range, Symptom
from quizapp.errors import QuizappError
from quizapp.lab.appeal import report, write_report
from quizapp.store.begin import begin
from quizapp.store.sitting import Sitting
from quizapp.store.store import Store
from sample_bank import MemoryBank, option, single

NOW = datetime(2026, 3, 1, 12, 0, 5, tzinfo=UTC)
HOSTILE = "\x1b[31m````\n# Appeal: forged\n\u202e[x](javascript:1)"


def sitting_on(question: Question) -> Sitting:
    sitting = begin(Store.in_memory(), MemoryBank([question]), "ada").sitting  # type: ignore[arg-type]
    sitting.show(0)
    return sitting


def measured() -> Question:
    return replace(
        single("asked"),
        revision=7,
        symptom=Symptom(
            devices=2, where=(Predicate(says="one is idle", meter="util", devices=1, mean=Range(max=0.1)),)
        ),
        options=(
            option("loader", demo=DemoLink(name="cpu-bottleneck")),
            option("sync", correct=True, demo=DemoLink(name="dp-sync", params={"split": "uneven"})),
            option("none-of-these", pin="last"),
        ),
    )


def test_it_holds_question_response_verdict_and_the_runs_of_the_learner() -> None:
    sitting = sitting_on(measured())
    sitting.predict(0, "sync", "imbalance")
    run = summary({"util": steady([1.0, 0.0])}, params={"split": "uneven"}, torch="2.13.0")
    sitting.demo_ran(0, "sync", dict(run.record()))
    sitting.respond(0, Response(("loader",)))
    sitting.submit(0)
    text = report(sitting, 0, None, NOW)
    for held in (
        "- question: `asked`",
        "- revision: 7",
        f"- content hash: `{sitting.attempt.item('asked').snapshot}`",
        "Which cause?",
        "Text of loader",
        "demo: `dp-sync --variant fault --set split=uneven`",
        "- response: A `loader`",
        "- key: B `sync`",
        "- verdict: incorrect, 0 of 1 points (all-or-nothing)",
        "B `sync`: `dp-sync fault split=uneven`",
        "on 2 `emulated` devices, torch `2.13.0`, no seed",
        "predicted: `imbalance`",
        "`one is idle` holds: devices with utilisation mean ≤ 10 %: wanted 1, measured 1",
        "2026-03-01 12:00:05 UTC",
    ):
        assert held in text, held
    assert "ada" not in text


def test_without_any_evidence_it_says_so() -> None:
    text = report(sitting_on(measured()), 0, None, NOW)
    assert "- response: none" in text
    assert "- verdict: not scored" in text
    assert "No demo of this question was run by the learner." in text
    assert "Nothing could be found out about it on this machine." in text


def test_a_record_that_can_not_be_read_is_said_to_be_one() -> None:
    sitting = sitting_on(measured())
    sitting.demo_ran(0, "sync", {"devices": "many"})
    assert "`sync`: a run whose record can't be read" in report(sitting, 0, None, NOW)


def test_no_text_of_a_bank_can_pass_for_the_report_s_own() -> None:
    hostile = replace(
        single("asked", stem=HOSTILE), options=(option("a", correct=True, text=HOSTILE), option("b"))
    )
    text = report(sitting_on(hostile), 0, None, NOW)
    assert not any(ord(c) < 32 and c != "\n" for c in text)
    assert "\u202e" not in text
    assert "␛[31m" in text
    fence, inside = "", []
    for line in text.split("\n"):
        bare = line.strip()
        if not fence and bare.startswith("```"):
            fence = bare.removesuffix("text")
        elif fence and bare == fence:
            fence = ""
        elif fence:
            inside.append(bare)
        else:
            assert bare != "# Appeal: forged"
    assert inside.count("# Appeal: forged") == 2


def test_an_appeal_never_replaces_another(tmp_path: Path) -> None:
    first = write_report(tmp_path, "bank", "asked", "one", NOW)
    second = write_report(tmp_path, "bank", "asked", "two", NOW)
    assert first.name == "quizapp-appeal-bank-asked-2026-03-01T120005Z.md"
    assert first != second
    assert (first.read_text(), second.read_text()) == ("one", "two")


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b\0c", "\x1b[2J", "", "x" * 500, "..", "-rf"])
def test_a_name_leads_nowhere_else(tmp_path: Path, name: str) -> None:
    path = write_report(tmp_path, name, name, "text", NOW)
    assert path.parent == tmp_path
    assert path.is_file()
    assert path.name.isprintable()
    assert len(path.name) < 200


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    (tmp_path / "quizapp-appeal-b-q-2026-03-01T120005Z.md").symlink_to(target)
    write_report(tmp_path, "b", "q", "text", NOW)
    assert not target.exists()


def test_a_folder_that_can_not_be_written_to_is_said(tmp_path: Path) -> None:
    with pytest.raises(QuizappError, match="was not written"):
        write_report(tmp_path / "gone", "b", "q", "text", NOW)
