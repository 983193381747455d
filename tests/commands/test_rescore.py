"""`quizapp rescore`, as its users run it."""

from __future__ import annotations

import json

from command_line import CommandLine


def mended(quizapp: CommandLine) -> None:
    text = quizapp.bank.read_text(encoding="utf-8")
    alpha, beta = "text: Alpha, correct: true, rationale: It is}", "text: Beta, rationale: It is not}"
    text = text.replace(alpha, "text: Alpha, rationale: It is not}", 1)
    text = text.replace(beta, "text: Beta, correct: true, rationale: It is}", 1)
    quizapp.bank.write_text(text, encoding="utf-8")


def test_it_shows_first_and_stores_when_told_to(quizapp: CommandLine) -> None:
    attempt = json.loads(quizapp("take", "small.yaml", "--json", lines="a\na b\n").stdout)["attempt"]
    mended(quizapp)
    shown = quizapp("rescore", "small.yaml", "--reason", "The key was wrong")
    assert shown.returncode == 0
    assert "ada, practice: 2 of 2 -> 1 of 2 points" in shown.stdout
    assert "first: correct 1/1 -> incorrect 0/1  LOWER" in shown.stdout
    assert "Nothing is stored yet" in shown.stderr
    stored = quizapp("rescore", "small.yaml", "--reason", "The key was wrong", "--yes", "--json")
    told = json.loads(stored.stdout)
    assert (told["stored"], told["compared"], len(told["attempts"])) == (True, 2, 1)
    assert told["attempts"][0]["changes"][0]["decrease"] is True
    again = quizapp("rescore", "small.yaml", "--reason", "The key was wrong", "--yes")
    assert again.stdout == ""
    assert "0 differ" in again.stderr
    result = quizapp("results", "show", attempt).stdout
    assert "scored again: correct 1 of 1 -> incorrect 0 of 1: The key was wrong" in result


def test_changed_ids_need_a_map(quizapp: CommandLine) -> None:
    quizapp("take", "small.yaml", "--plain", lines="a\na b\n")
    text = quizapp.bank.read_text(encoding="utf-8")
    quizapp.bank.write_text(text.replace("alpha", "first-letter"), encoding="utf-8")
    refused = quizapp("rescore", "small.yaml", "--reason", "Renamed", "--yes")
    assert refused.returncode == 2
    assert "option ids that are gone: alpha; new ones: first-letter" in refused.stderr
    fine = quizapp("rescore", "small.yaml", "--reason", "Renamed", "--map", "alpha=first-letter")
    assert (fine.returncode, fine.stdout) == (0, "")
    assert quizapp("rescore", "small.yaml").returncode == 2
    assert quizapp("rescore", "small.yaml", "--reason", " ").returncode == 2
