"""`quizapp new`: a starter that passes the checks and can be taken."""

from __future__ import annotations

import json
import re

import pytest
from command_line import CommandLine

from quizapp.bank.model import KINDS


def test_a_new_bank_passes_the_checks_and_can_be_taken(quizapp: CommandLine) -> None:
    done = quizapp("new", "my-bank")
    assert (done.returncode, done.stdout) == (0, "my-bank.yaml\n")
    assert "quizapp take my-bank.yaml" in done.stderr
    checked = quizapp("check", "--strict", "my-bank")
    assert (checked.returncode, checked.stdout) == (0, "")
    (listed,) = [entry for entry in json.loads(quizapp("list", "--json").stdout) if entry["id"] == "my-bank"]
    assert (listed["questions"], listed["errors"]) == (2, 0)
    taken = quizapp("take", "my-bank", "--plain", lines="a\n\na\n\n")
    assert "My first bank" in taken.stdout + taken.stderr
    assert taken.returncode in (0, 1, 3)


def test_the_editors_schema_stands_where_the_first_line_says(quizapp: CommandLine) -> None:
    quizapp("new", "banks/mine.yaml")
    first = (quizapp.folder / "banks" / "mine.yaml").read_text(encoding="utf-8").splitlines()[0]
    named = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
    assert named
    schema = json.loads((quizapp.folder / "banks" / named[1]).read_text(encoding="utf-8"))
    assert schema["required"] == ["format", "title", "questions"]


def test_commented_parts_work_when_they_are_uncommented(quizapp: CommandLine) -> None:
    quizapp("new", "mine")
    path = quizapp.folder / "mine.yaml"
    text = path.read_text(encoding="utf-8")
    text = text.replace("  # time_limit: 30m ", "  time_limit: 30m ").replace(
        "      # full: | ", "      full: |"
    )
    text = text.replace("      #   …", "        The whole story.")
    text = re.sub(r"(?m)^    # ((?:symptom|  ).*)$", r"    \1", text)
    path.write_text(text, encoding="utf-8")
    assert "\n    symptom:\n" in text
    done = quizapp("check", "--strict", "mine")
    assert (done.returncode, done.stdout) == (0, "")


def test_nothing_is_overwritten(quizapp: CommandLine) -> None:
    before = quizapp.bank.read_bytes()
    done = quizapp("new", "small")
    assert done.returncode == 2
    assert "small.yaml is there already" in done.stderr
    assert quizapp.bank.read_bytes() == before
    assert not (quizapp.folder / "bank.schema.json").exists()
    (quizapp.folder / "bank.schema.json").write_text("mine")
    assert quizapp("new", "other").returncode == 0
    assert (quizapp.folder / "bank.schema.json").read_text() == "mine"


def test_another_folder(quizapp: CommandLine) -> None:
    done = quizapp("new", "mine", "--in", "a/b")
    assert done.stdout == "a/b/mine.yaml\n"
    assert (quizapp.folder / "a" / "b" / "mine.yaml").exists()


@pytest.mark.parametrize("name", ["My Bank", "..", "a_b", "é", "", "-x"])
def test_names_that_are_no_ids(quizapp: CommandLine, name: str) -> None:
    done = quizapp("new", "--", name)
    assert done.returncode == 2
    assert "can't be the id of a bank" in done.stderr
    assert list(quizapp.folder.glob("*.yaml")) == [quizapp.bank]


def test_a_folder_that_is_a_file(quizapp: CommandLine) -> None:
    done = quizapp("new", "small.yaml/mine")
    assert done.returncode == 2
    assert "small.yaml is no folder" in done.stderr


def test_a_new_bank_names_every_kind_of_question(quizapp: CommandLine) -> None:
    quizapp("new", "my-bank")
    text = (quizapp.folder / "my-bank.yaml").read_text(encoding="utf-8")
    assert [kind for kind in KINDS if kind not in text] == []
