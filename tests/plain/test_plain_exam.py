"""An exam in lines: nothing is told before the end, and the end is asked for."""

from __future__ import annotations

import json
from pathlib import Path

from plain_desk import Desk
from quizapp.bank.model import Take
from quizapp.store.begin import begin
from sample_bank import single

EXAM = Take(time_limit_s=600.0, pass_mark=0.5)
TELLING = ("Why sync", "Short story", "Right", "Wrong", "key is", "[demo")


def desk(folder: Path) -> Desk:
    made = Desk(folder, [single("one"), single("two"), single("three")], take=EXAM)
    begin(made.store, made.bank, "ada", mode="exam").sitting.close()  # type: ignore[arg-type]
    return made


def test_nothing_is_told_before_the_end(tmp_path: Path) -> None:
    learner = desk(tmp_path)
    assert learner.types("b", "demo a", "full", "test", "!", "b", "a") == 3
    assert not [words for words in TELLING if words in learner.out]
    assert learner.out.count("That comes after the exam.") == 4
    assert "left] Answer" in learner.out
    assert "Open: none" in learner.out
    assert "The clock runs on" in learner.out


def test_the_end_is_asked_for_when_something_is_open(tmp_path: Path) -> None:
    learner = desk(tmp_path)
    assert learner.types("b", "m", "", "", "finish", "", "go 2", "b", "finish", "yes") == 0
    assert "2 questions are open" in learner.out
    assert "1 question is open" in learner.out
    assert "Marked: 2." in learner.out
    assert "Passed: 2 of 3 points" in learner.out


def test_an_answer_can_be_changed_until_the_end(tmp_path: Path) -> None:
    learner = desk(tmp_path)
    assert learner.types("a", "b", "b", "go 1", "b", "go 3", "", "finish") == 0
    assert "Your answer so far: A." in learner.out
    assert "Passed: 3 of 3 points" in learner.out


def test_json_tells_nothing_while_the_exam_is_open(tmp_path: Path) -> None:
    learner = desk(tmp_path)
    assert learner.types("b", as_json=True) == 3
    told = json.loads(learner.out)
    assert (told["mode"], told["finished"], told["points"], told["passed"]) == ("exam", False, 0, None)
    assert {each["verdict"] for each in told["questions"]} == {None}
    assert 0 < told["remaining_s"] <= 600


def test_below_the_mark_exits_with_1(tmp_path: Path) -> None:
    assert desk(tmp_path).types("a", "a", "a", "finish") == 1
