"""`quizapp results`: what was done, listed and shown."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta

from command_line import BANK, CommandLine


def test_an_empty_store_says_what_to_do_and_makes_nothing(quizapp: CommandLine) -> None:
    done = quizapp("results")
    assert (done.returncode, done.stdout) == (0, "")
    assert "quizapp take multi-gpu" in done.stderr
    assert json.loads(quizapp("results", "--json").stdout) == []
    assert not quizapp.state.exists()


def test_attempts_are_listed_newest_first(quizapp: CommandLine) -> None:
    quizapp("take", "small", lines="a\na b\n")
    quizapp("take", "small", "--learner", "bob [/x]", lines="b\n")
    lines = quizapp("results").stdout.splitlines()
    assert len(lines) == 2
    assert re.search(r"small +bob \[/x\] +open, 1 of 2 answered$", lines[0])
    assert re.search(r"small +ada +2 of 2 points \(100%\), passed$", lines[1])
    assert re.match(r"[0-9a-f]{12}  \d{4}-\d\d-\d\d \d\d:\d\d  ", lines[0])
    only = quizapp("results", "--learner", "ada").stdout.splitlines()
    assert [line.split() for line in only] == [lines[1].split()]
    assert quizapp("results", "--bank", "other").stdout == ""


def test_json_has_times_in_utc(quizapp: CommandLine) -> None:
    quizapp.environment["TZ"] = "America/St_Johns"
    quizapp("take", "small", lines="a\na b\n")
    attempt = json.loads(quizapp("results", "--json").stdout)[0]
    assert (attempt["state"], attempt["passed"], attempt["total"]) == ("finished", True, 2)
    for name in ("started_at", "finished_at"):
        assert datetime.fromisoformat(attempt[name]).utcoffset() == timedelta(0)


def test_one_attempt_is_shown_with_what_was_presented(quizapp: CommandLine) -> None:
    quizapp("take", "small", lines="b\na\n")
    attempt = json.loads(quizapp("results", "--json").stdout)[0]["attempt"]
    quizapp.bank.write_text(BANK.replace("Alpha", "Omega"), encoding="utf-8")
    said = quizapp("results", "show", attempt[:6]).stdout
    assert "A small bank (small)" in said
    assert "1. first: incorrect: 0 of 1, all-or-nothing" in said
    assert "2. second: partial: 0.5 of 1, net-correct" in said
    assert "A Alpha  <- key" in said
    assert "B Beta  <- chosen" in said
    assert "A[m][k]` [/x]?" in said
    assert "Omega" not in said


def test_the_key_of_an_open_question_is_not_given_away(quizapp: CommandLine) -> None:
    quizapp("take", "small", lines="")
    attempt = json.loads(quizapp("results", "--json").stdout)[0]["attempt"]
    said = quizapp("results", "show", attempt).stdout
    assert "1. first: open" in said
    assert "2. second: not shown" in said
    assert "key" not in said
    assert "Go on with: quizapp take small" in said


def test_one_attempt_as_json_holds_events_and_presentations(quizapp: CommandLine) -> None:
    quizapp("take", "small", "--seed", "4", lines="b\na b\n")
    attempt = json.loads(quizapp("results", "--json").stdout)[0]["attempt"]
    got = json.loads(quizapp("results", "show", attempt, "--json").stdout)
    assert (got["seed"], got["points"]) == (4, 1.0)
    assert [question["verdict"] for question in got["questions"]] == ["incorrect", "correct"]
    assert got["questions"][0]["presented"]["options"][0]["id"] == "alpha"
    assert [event["event"] for event in got["events"]] == [
        "started",
        "shown",
        "response-changed",
        "submitted",
        "scored",
        "shown",
        "response-changed",
        "submitted",
        "scored",
        "finished",
    ]


def test_an_unknown_attempt_is_a_usage_error(quizapp: CommandLine) -> None:
    done = quizapp("results", "show", "nothing\x1b[31m")
    assert done.returncode == 2
    assert "There is no attempt" in done.stderr
    assert "\x1b" not in done.stderr


def test_a_damaged_store_is_said_to_be_damaged(quizapp: CommandLine) -> None:
    quizapp.state.mkdir()
    (quizapp.state / "attempts.sqlite3").write_bytes(b"not a database" * 1000)
    done = quizapp("results")
    assert done.returncode == 2
    assert "is damaged" in done.stderr
    assert "Move it away" in done.stderr


def test_hostile_names_are_shown_harmlessly(quizapp: CommandLine) -> None:
    quizapp.bank.write_text(BANK.replace("A small bank", '"\\e]0;x\\a[b]t"'), encoding="utf-8")
    quizapp("take", "small", "--learner", "\x1b[31mred\nline", lines="a\n")
    listed = quizapp("results").stdout
    attempt = json.loads(quizapp("results", "--json").stdout)[0]["attempt"]
    said = listed + quizapp("results", "show", attempt).stdout
    assert "\x1b" not in said
    assert "␛[31mred line" in said
    assert "␛]0;x␇[b]t" in said
    assert len(listed.splitlines()) == 1
