"""Exams by the command line: what is stored of an open one, and the end of the time."""

from __future__ import annotations

import json
import subprocess
import sys

from command_line import CommandLine


def test_stored_results_tell_no_key_of_an_open_exam(quizapp: CommandLine) -> None:
    left = quizapp("take", "small.yaml", "--json", "--mode", "exam", lines="a\n")
    attempt = json.loads(left.stdout)["attempt"]
    stored = quizapp("results", "show", attempt, "--json").stdout
    assert "rationale" not in stored
    assert "correct" not in stored
    shown = quizapp("results", "show", attempt).stdout
    assert "key" not in shown
    assert "open, 1 of 2 answered" in shown
    report = quizapp("report", attempt, "--html", "-")
    assert (report.returncode, report.stdout) == (2, "")
    refused = quizapp("take", "small.yaml", "--plain", "--mode", "practice")
    assert refused.returncode == 2
    assert "An exam on this bank is open" in refused.stderr


def test_the_time_ends_an_exam_that_waits_for_an_answer(quizapp: CommandLine) -> None:
    text = quizapp.bank.read_text(encoding="utf-8")
    quizapp.bank.write_text(text.replace("take: {", "take: {time_limit: 2s, "), encoding="utf-8")
    waiting = subprocess.Popen(
        [sys.executable, "-m", "quizapp.cli", "take", "small.yaml", "--plain", "--mode", "exam"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=quizapp.environment,
        cwd=quizapp.folder,
    )
    assert waiting.stdin is not None
    assert waiting.stdout is not None
    waiting.stdin.write("a\n")
    waiting.stdin.flush()
    said = waiting.stdout.read()  # until it ends by itself
    assert waiting.wait() == 0
    assert "The time is up" in said
    assert "Passed: 1 of 2 points" in said
    waiting.stdin.close()
    assert "finished" in quizapp("results", "--json").stdout


def test_first_best_and_last_attempt_are_told_apart(quizapp: CommandLine) -> None:
    for lines in ("b\na\nfinish\n", "a\na b\nfinish\n", "a\na\nfinish\n"):
        quizapp("take", "small.yaml", "--plain", "--mode", "exam", lines=lines)
    shown = quizapp("results", "standing").stdout
    assert shown == (
        "ada, small, exam: 3 attempts; first 25% not passed, best 100% passed, last 75% passed\n"
    )
    (told,) = json.loads(quizapp("results", "standing", "--json").stdout)
    assert (told["first"]["points"], told["best"]["points"], told["last"]["points"]) == (0.5, 2, 1.5)
    attempt = told["last"]["attempt"]
    result = quizapp("results", "show", attempt).stdout
    assert "1 of 1  First thing (21–100 %, 1 question)" in result
    assert "Wilson" in result
