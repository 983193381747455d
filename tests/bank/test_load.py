"""Loading banks: what a valid one says comes out as written, wherever it stands."""

from __future__ import annotations

import gc
import string
from pathlib import Path

import pytest
import yaml
from broken_bank_demos import DEMOS
from hypothesis import given
from hypothesis import strategies as st

from quizapp.assess.scoring import foreseen, is_right
from quizapp.bank.check import check_bank
from quizapp.bank.findings import BankError
from quizapp.bank.kind_checks import Judge
from quizapp.bank.load import MAX_FINDINGS, load_bank, read_bank
from quizapp.bank.model import MultipleChoice, Range, SingleChoice
from quizapp.bank.yaml_tree import Places, Reports, build

GOOD = Path(__file__).parent.parent / "banks" / "good"


@pytest.mark.parametrize("path", sorted(GOOD.glob("*.yaml")), ids=lambda path: path.stem)
def test_good_banks_load_and_nothing_is_said_of_them(path: Path) -> None:
    assert check_bank(load_bank(path), DEMOS, Judge(is_right, foreseen)) == []


def test_every_field_arrives_with_its_type() -> None:
    bank = load_bank(GOOD / "everything.yaml").bank
    first, second = bank.questions
    assert isinstance(first, SingleChoice)
    assert isinstance(second, MultipleChoice)
    assert (bank.format, bank.take.time_limit_s, bank.take.pass_mark) == (1, 5400.0, 0.625)
    assert (first.revision, first.points, first.target_time_s) == (3, 2.5, 90.0)
    assert first.symptom is not None
    two, six, processes, steps, memory, compute = first.symptom.where
    assert (two.devices, two.mean, two.minimum) == (2, Range(min=0.9), Range(min=0.5))
    assert six.longest_zero_s == Range(min=1)
    assert processes.value == Range(min=1, max=1)
    assert (steps.relative_to, steps.value) == ("control", Range(max=0.5))
    assert (memory.event, memory.present) == ("out-of-memory", False)
    assert compute.devices == "all"
    assert first.options[0].demo is not None
    assert first.options[0].demo.params == {"devices": "8", "split": "uneven"}
    assert first.explanation.figure is not None


def test_scalars_stay_as_they_are_written() -> None:
    first, second = load_bank(GOOD / "everything.yaml").bank.questions
    assert [option.text for option in first.options[1:]] == ["No", "None of these"]
    assert first.options[1].rationale == "on"
    assert first.options[2].rationale == "0x1F, 010, 1:30, 1e3, 1.10, 2020-01-01, ~, null"
    assert [option.text for option in second.options] == ["1.10", "010", "日本語 é"]


@pytest.mark.parametrize("name", ["byte-order-mark", "windows-lines"])
def test_marks_and_line_ends_of_other_systems_change_nothing(name: str) -> None:
    assert load_bank(GOOD / f"{name}.yaml").bank == load_bank(GOOD / "minimal.yaml").bank


@pytest.mark.parametrize("ended", ["", "\n", "\n\n\n"])
def test_the_last_question_counts_with_and_without_a_final_line_feed(tmp_path: Path, ended: str) -> None:
    path = tmp_path / "bank.yaml"
    path.write_text((GOOD / "minimal.yaml").read_text(encoding="utf-8").rstrip() + ended, encoding="utf-8")
    assert len(load_bank(path).bank.questions) == 1


def test_the_collector_runs_again_after_loading() -> None:
    load_bank(GOOD / "minimal.yaml")
    assert gc.isenabled()
    with pytest.raises(BankError):
        load_bank(GOOD.parent / "broken" / "structure.yaml")
    assert gc.isenabled()


def test_findings_name_the_place_of_any_part() -> None:
    loaded = load_bank(GOOD / "everything.yaml")
    lines = (GOOD / "everything.yaml").read_text(encoding="utf-8").split("\n")
    for where, starts in {
        ("title",): '"Everything',
        ("objectives", "memory"): "Budget",
        ("take", "pass_mark"): "62.5%",
        ("questions", 0, "options", 1, "text"): "No",
        ("questions", 0, "symptom", "where", 3, "value", "max"): "50%",
        ("questions", 0, "options", 0, "demo", "params", "split"): "uneven",
        ("questions", 1, "options", 2): "{id: three",
        ("questions", 1, "stem"): "Which two?",
    }.items():
        finding = loaded.finding(where, "code", "message", "hint")
        assert lines[finding.line - 1][finding.column - 1 :].startswith(starts), where
    key = loaded.finding(("questions", 1, "stem"), "code", "message", "hint", key=True)
    assert lines[key.line - 1][key.column - 1 :].startswith("stem:")
    nearest = loaded.finding(("questions", 1, "explanation", "full"), "code", "message", "hint")
    assert lines[nearest.line - 1][nearest.column - 1 :].startswith("{short")


def test_columns_count_characters(tmp_path: Path) -> None:
    path = tmp_path / "bank.yaml"
    path.write_text("{title: 日本語é, titel: x}", encoding="utf-8")
    _, findings = read_bank(path)
    assert ("titel is no field of a bank", 1, 15) in [
        (finding.message, finding.line, finding.column) for finding in findings
    ]


def test_errors_without_end_are_cut_with_a_word(tmp_path: Path) -> None:
    path = tmp_path / "bank.yaml"
    path.write_text("format: 1\ntitle: Many\nquestions:\n" + "  - text\n" * 50_000, encoding="utf-8")
    _, findings = read_bank(path)
    assert len(findings) == MAX_FINDINGS + 1
    assert any(finding.code == "too-many-errors" for finding in findings)


class _Collected(Reports):
    def __init__(self) -> None:
        self.questions: list[object] = []
        self.faults: list[str] = []

    def question(self, value: object, places: Places) -> None:
        self.questions.append(value)

    def fault(
        self, line: int, column: int, where: tuple[str | int, ...], code: str, message: str, hint: str
    ) -> None:
        self.faults.append(code)


_text = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Cn", "Co"], exclude_characters="\ufeff"), min_size=1
)
_key = st.text(string.ascii_letters + string.digits + " _-:#[]{}'\"<>é", min_size=1)
_tree = st.recursive(
    _text, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_key, inner, max_size=4), max_leaves=20
)


@given(st.dictionaries(_key, _tree, max_size=5), st.lists(_tree, min_size=1, max_size=4), st.booleans())
def test_strings_are_read_as_yaml_reads_them(
    head: dict[str, object], questions: list[object], flow: bool
) -> None:
    document = {**head, "questions": questions}
    source = yaml.safe_dump(document, allow_unicode=True, sort_keys=False, default_flow_style=flow)
    collected = _Collected()
    tree, _ = build(source.encode(), collected)
    assert isinstance(tree, dict)
    assert collected.questions == questions
    assert {key: value for key, value in tree.items() if key != "questions"} == {
        key: value for key, value in head.items() if key != "questions"
    }
    assert collected.faults == []


@given(st.text("abc: -[]{}\n\t'\"#&*!|>%@`,?~", max_size=60))
def test_whatever_stands_in_a_file_gives_findings_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.mktemp("any") / "bank.yaml"
    path.write_text(f"format: 1\ntitle: Any\nquestions:\n  - id: one\n{text}", encoding="utf-8")
    try:
        _, findings = read_bank(path)
    except BankError as error:
        findings = error.findings
    assert findings
    assert all(finding.line >= 1 and finding.column >= 1 and finding.message for finding in findings)
