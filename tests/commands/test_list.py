"""`quizapp list`."""

from __future__ import annotations

import json

from command_line import CommandLine


def test_banks_and_broken_ones(quizapp: CommandLine) -> None:
    (quizapp.folder / "broken.yaml").write_text(
        "format: 1\ntitle: x\ntitle: y\nquestions: []\n", encoding="utf-8"
    )
    done = quizapp("list")
    assert done.returncode == 0
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert lines["small"].endswith("A small bank (2 questions, 0 demos, pass mark 50%)")
    assert "can't be taken, 2 errors: broken.yaml:3:1: title stands here twice" in lines["broken"]
    assert "multi-gpu" in lines


def test_json(quizapp: CommandLine) -> None:
    entries = {entry["id"]: entry for entry in json.loads(quizapp("list", "--json").stdout)}
    assert entries["small"] == {
        "id": "small",
        "title": "A small bank",
        "path": "small.yaml",
        "questions": 2,
        "demos": 0,
        "pass_mark": 0.5,
        "time_limit_s": None,
        "errors": 0,
        "error": None,
    }


def test_named_folders_only(quizapp: CommandLine) -> None:
    (quizapp.folder / "empty").mkdir()
    done = quizapp("list", "empty")
    assert (done.returncode, done.stdout) == (0, "")
    assert "quizapp new" in done.stderr
    assert quizapp("list", "nowhere").returncode == 2


def test_a_title_can_not_command_the_terminal(quizapp: CommandLine) -> None:
    text = quizapp.bank.read_text(encoding="utf-8")
    quizapp.bank.write_text(text.replace("A small bank", '"\\e[2J[/x]\\nnext"'), encoding="utf-8")
    done = quizapp("list")
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("small")]
    assert "␛[2J[/x] next (2 questions" in line
