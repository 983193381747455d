from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from demo_programs import DECLARATION, DOCSTRING, demo, write_demo
from quizapp.errors import QuizappError
from quizapp.lab.catalogue import Catalogue, DemoUnreadable, UnknownDemo, lab_source_hash, read_demo
from quizapp.lab.confirmed import NotConfirmed, confirm, content_hash
from quizapp.lab.params import ParamError


def test_a_declaration_is_read_without_running_the_file(tmp_path: Path) -> None:
    path = write_demo(tmp_path, "pass", name="dp-like")
    path.write_text(path.read_text() + "\nraise SystemExit('was run')\n")
    declared = read_demo(path)
    assert declared.name == "dp-like"
    assert declared.variants == ("fault", "fix")
    assert declared.expects == {"fault": "imbalance", "fix": "healthy"}
    assert declared.outcomes == {"fault": "completed", "fix": "completed"}
    assert declared.sections["Why"].strip() == "Because."
    assert declared.summary == "A demo for tests."
    assert declared.params["size"].unit == "layers"


def test_resolving_types_the_overrides_and_keeps_what_the_variant_sets(tmp_path: Path) -> None:
    declared = demo(tmp_path, "pass")
    assert declared.resolve("fault", {"rate": "1.5"}) == {
        "size": 2,
        "rate": 1.5,
        "split": "uneven",
        "cache": False,
    }
    assert declared.resolve("fix", {"size": "64"}) == {
        "size": 64,
        "rate": 1.0,
        "split": "even",
        "cache": True,
    }


def test_an_unknown_parameter_or_variant_is_named_with_the_nearest(tmp_path: Path) -> None:
    declared = demo(tmp_path, "pass")
    with pytest.raises(ParamError, match="no parameter 'splt'") as caught:
        declared.resolve("fault", {"splt": "even"})
    assert "did you mean 'split'" in caught.value.hint
    with pytest.raises(ParamError, match="no variant 'broken'"):
        declared.resolve("broken")
    assert declared.check_param("size", "12") == ""
    assert "a whole number from 1 to 64 (layers)" in declared.check_param("size", "65")
    assert "did you mean 'split'" in declared.check_param("splt", "even")


@pytest.mark.parametrize("form", ["Why:", "Why", "## Why", "Why\n---"])
def test_headings_may_be_written_in_several_ways(tmp_path: Path, form: str) -> None:
    declared = demo(tmp_path, "pass", docstring=DOCSTRING.replace("Why:", form))
    assert declared.sections["Why"].strip() == "Because."


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text.replace("DEMO =", "OTHER ="), "DEMO = {…} is missing"),
        (lambda text: text.replace('"seconds": 3.0', '"seconds": float(3)'), "must be a literal"),
        (lambda text: text.replace('"seconds": 3.0', '"seconds": -1'), "seconds must be"),
        (lambda text: text.replace('"imbalance"', '"imbalanced"'), "did you mean 'imbalance'"),
        (lambda text: text.replace('"expects"', '"expect"'), "did you mean 'expects'"),
        (lambda text: text.replace("Fix:", "Fixed:"), "lacks the heading Fix"),
        (lambda text: text.replace("def main", "def run"), "def main(lab) is missing"),
        (lambda text: text.replace("def main(lab):", "def main(lab:"), "no valid Python"),
        (lambda text: "[" * 5000, "no valid Python"),
        (lambda text: text.replace('"title": "A test"', '"title": ""'), "title is missing"),
    ],
)
def test_a_file_that_is_no_demo_says_why(tmp_path: Path, change: object, says: str) -> None:
    path = write_demo(tmp_path, "pass")
    path.write_text(change(path.read_text()))  # type: ignore[operator]
    with pytest.raises(DemoUnreadable) as caught:
        read_demo(path)
    assert says in str(caught.value)


def test_a_broken_demo_does_not_hide_the_others_and_says_where(tmp_path: Path) -> None:
    write_demo(tmp_path, "pass", name="good")
    write_demo(tmp_path, "pass", name="bad", declaration="{'title': 5}")
    (tmp_path / "_shared.py").write_text("nothing = 1")
    found = Catalogue.load([tmp_path])
    assert list(found) == ["good"]
    assert found.find("good").name == "good"
    with pytest.raises(UnknownDemo, match=r"bad\.py:\d+: DEMO:"):
        found.find("bad")
    with pytest.raises(UnknownDemo) as caught:
        found.find("goood")
    assert caught.value.hint == "did you mean 'good'?"


def test_a_further_folder_cannot_take_the_name_of_a_demo(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        write_demo(folder, "pass")
    found = Catalogue.load([first, second])
    assert found["tested"].path.parent == first
    assert "is taken by" in found.broken[0].message


def test_a_source_hash_changes_with_the_source(tmp_path: Path) -> None:
    before = demo(tmp_path, "pass").source_hash
    assert demo(tmp_path, "return 0").source_hash != before
    assert len(lab_source_hash()) == 64


def test_comparison_cells_are_checked(tmp_path: Path) -> None:
    cells = '"comparison": [{"label": "even", "variant": "fault", "params": {"split": "even"}}],'
    with_cells = DECLARATION.replace('"params"', cells + '"params"', 1)
    assert demo(tmp_path, "pass", declaration=with_cells).comparison[0].params == {"split": "even"}
    with pytest.raises(DemoUnreadable, match="'odd' is not one of even, uneven"):
        demo(tmp_path, "pass", declaration=with_cells.replace('"split": "even"}', '"split": "odd"}'))


def test_the_shipped_demos_are_listed_without_torch() -> None:
    code = (
        "import sys; from quizapp.lab.catalogue import Catalogue; c = Catalogue.load(); "
        "assert not c.broken, c.broken; assert 'healthy' in c; "
        "print([m for m in ('torch', 'textual', 'pydantic', 'yaml') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stderr


def test_a_folder_is_confirmed_once_for_its_content(tmp_path: Path) -> None:
    folder, state = tmp_path / "mine", tmp_path / "state"
    folder.mkdir()
    write_demo(folder, "pass")
    asked: list[str] = []

    def yes(question: str) -> bool:
        asked.append(question)
        return True

    with pytest.raises(NotConfirmed):
        confirm(folder, None, state=state)
    confirm(folder, yes, state=state)
    confirm(folder, None, state=state)
    assert len(asked) == 1
    assert str(folder) in asked[0]
    (folder / "shared.txt").write_text("changed")
    with pytest.raises(NotConfirmed):
        confirm(folder, None, state=state)
    with pytest.raises(NotConfirmed):
        confirm(folder, lambda question: False, state=state)


def test_a_read_only_state_folder_only_means_being_asked_again(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    blocked = tmp_path / "file"
    blocked.write_text("")
    confirm(folder, lambda question: True, state=blocked / "state")


def test_a_folder_too_big_to_be_demos_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quizapp.lab.confirmed.MOST_FILES", 3)
    for i in range(4):
        (tmp_path / f"f{i}").write_text("")
    with pytest.raises(QuizappError, match="too much"):
        content_hash(tmp_path)
    with pytest.raises(QuizappError, match="no such folder"):
        content_hash(tmp_path / "missing")
