"""`quizapp check`, as its users run it."""

from __future__ import annotations

import json

from command_line import CommandLine


def test_a_good_bank(quizapp: CommandLine) -> None:
    done = quizapp("check", "small.yaml")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "small.yaml: 2 questions, 0 errors, 0 warnings\n"


def test_all_errors_with_their_places_and_exit_1(quizapp: CommandLine) -> None:
    text = quizapp.bank.read_text(encoding="utf-8")
    broken = text.replace("title:", "titel:").replace("Beta, rationale: It is not", "Beta, rational: x")
    quizapp.bank.write_text(
        broken.replace("stem: Which two?", "stem: Which is option B?\n    stem: x"), encoding="utf-8"
    )
    done = quizapp("check", "small.yaml")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "small.yaml:1:1: title is missing; add title: …",
        "small.yaml:2:1: titel is no field of a bank; did you mean title?",
        "small.yaml:12:9: question first, option beta: rationale is missing; say why this option is right"
        " or wrong",
        "small.yaml:12:32: question first, option beta: rational is no field of an option; did you mean"
        " rationale?",
        "small.yaml:18:5: question 2: stem stands here twice (first in line 17); remove one of the two",
    ]
    assert done.stderr.endswith("5 errors, 0 warnings\n")


def test_more_draws_find_what_fewer_miss(quizapp: CommandLine) -> None:
    quizapp.bank.write_text(
        """\
format: 1
title: Draws
questions:
  - id: rare
    kind: true-false
    variables:
      n: {range: {min: 0, max: 60}}
      left: {formula: 59 - n}
    stem: "{{var:left}} GB are left of 59."
    true: {rationale: A long enough reason.}
    false: {rationale: Another one., correct: true}
    explanation: {short: Left.}
""",
        encoding="utf-8",
    )
    few = quizapp("check", "small.yaml", "--samples", "1")
    assert (few.returncode, few.stdout) == (0, "")
    many = quizapp("check", "small.yaml", "--samples", "500")
    assert many.returncode == 1
    assert many.stdout == (
        "small.yaml:8:23: question rare, variables, left, formula: with n = 60: is -1, below 0;"
        " change the formula, or the values it is made of\n"
    )


def test_json_is_one_object(quizapp: CommandLine) -> None:
    text = quizapp.bank.read_text(encoding="utf-8")
    quizapp.bank.write_text(
        text.replace("correct: true, rationale: It is}", "rationale: It is}"), encoding="utf-8"
    )
    done = quizapp("check", "--json", "small.yaml")
    assert done.returncode == 1
    assert done.stderr == ""
    report = json.loads(done.stdout)
    assert (report["errors"], report["warnings"]) == (1, 0)
    (bank,) = report["banks"]
    (finding,) = bank["findings"]
    assert bank["path"] == "small.yaml"
    assert finding == {
        "path": "small.yaml",
        "line": 11,
        "column": 7,
        "where": "question first, options",
        "message": "no option is the key",
        "hint": "mark the right one with correct: true",
        "severity": "error",
        "code": "no-key",
    }


def test_warnings_fail_only_when_asked(quizapp: CommandLine) -> None:
    text = quizapp.bank.read_text(encoding="utf-8").replace("Which two?", "Which two are not?")
    quizapp.bank.write_text(text, encoding="utf-8")
    done = quizapp("check", "small.yaml")
    assert done.returncode == 0
    assert "warning: question second, stem: the stem asks with 'not'" in done.stdout
    assert quizapp("check", "--strict", "small.yaml").returncode == 1


def test_folders_and_several_banks(quizapp: CommandLine) -> None:
    folder = quizapp.folder / "more"
    folder.mkdir()
    (folder / "one.yaml").write_bytes(quizapp.bank.read_bytes())
    (folder / "two.yml").write_text("", encoding="utf-8")
    done = quizapp("check", "small", "more")
    assert done.returncode == 1
    assert done.stdout == "more/two.yml:1:1: file: is empty; `quizapp new` writes a bank to start from\n"
    assert done.stderr == "3 banks: 4 questions, 1 error, 0 warnings\n"


def test_what_is_not_there_is_a_usage_error(quizapp: CommandLine) -> None:
    done = quizapp("check", "smal")
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no bank smal" in done.stderr
    (quizapp.folder / "empty").mkdir()
    done = quizapp("check", "empty")
    assert done.returncode == 2
    assert "no bank stands in empty" in done.stderr


def test_demos_and_parameters_are_looked_up_in_the_catalogue(quizapp: CommandLine) -> None:
    text = quizapp.bank.read_text(encoding="utf-8").replace(
        "text: Alpha, correct: true, rationale: It is}",
        "text: Alpha, correct: true, rationale: It is, demo: {name: dp-snyc}}",
    )
    text = text.replace(
        "text: Beta, rationale: It is not}",
        "text: Beta, rationale: It is not, demo: {name: dp-sync, params: {split: evne, devices: 9999}}}",
    )
    quizapp.bank.write_text(text, encoding="utf-8")
    done = quizapp("check", "small.yaml")
    assert done.returncode == 1
    assert "there is no demo dp-snyc; did you mean dp-sync?" in done.stdout
    assert "option beta, demo, params, split:" in done.stdout
    assert "option beta, demo, params, devices:" in done.stdout


def test_control_characters_of_a_bank_reach_no_terminal(quizapp: CommandLine) -> None:
    text = quizapp.bank.read_text(encoding="utf-8")
    quizapp.bank.write_text(text.replace("id: first", '"id\\e[31m": "a\\e]0;x\\a"'), encoding="utf-8")
    done = quizapp("check", "small.yaml")
    assert done.returncode == 1
    assert "\x1b" not in done.stdout + done.stderr
    assert "␛[31m" in done.stdout
