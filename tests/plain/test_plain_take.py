"""An attempt in lines: every answer is kept, everything is said, nothing is obeyed that was only text."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest

from plain_desk import Desk
from quizapp.assess.response import Response
from quizapp.bank.load import load_bank
from quizapp.bank.model import Explanation, ShortText, SingleChoice, Take
from quizapp.plain import take
from quizapp.store.begin import begin
from sample_bank import multiple, option, single, three_questions

ESCAPES = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, three_questions())


def test_answers_out_of_a_pipe_one_line_each(desk: Desk) -> None:
    assert desk.types("b", "a b", "sync") == 0
    assert "Passed: 3 of 3 points (100%); the mark is 50%." in desk.out
    assert desk.err == ""


def test_below_the_mark_is_status_1(desk: Desk) -> None:
    assert desk.types("a", "c", "a") == 1
    assert "Not passed: 0 of 3 points" in desk.out


def test_without_a_mark_finishing_is_status_0(tmp_path: Path) -> None:
    desk = Desk(tmp_path, [single()], take=Take())
    assert desk.types("a") == 0
    assert "Done: 0 of 1 points (0%)." in desk.out


def test_the_reveal_says_verdict_key_rationales_explanation_sources_and_ground(desk: Desk) -> None:
    desk.types("a")
    for said in (
        "Wrong: 0 of 1 point.",
        "You chose A. The key is B.",
        "wrong, you chose it",
        "right, you missed it",
        "Why loader is wrong",
        "Why sync is right",
        "Short story of first",
        "Picture: A picture of waits",
        "The ground of the key: by reference: the sources listed say so.",
        "The manual  https://example.org/manual",
    ):
        assert said in desk.out, said
    assert "Full story" not in desk.out


def test_nothing_of_the_reveal_is_said_before_the_answer(desk: Desk) -> None:
    desk.types("full", "f", "back", "?")
    for kept in ("Why ", "story", "The key", "picture", "manual"):
        assert kept not in desk.out


def test_the_rule_of_partial_credit_is_told_before_and_after(tmp_path: Path) -> None:
    desk = Desk(tmp_path, [multiple()])
    desk.types()
    assert "net-correct: each right choice adds" in " ".join(desk.out.split())
    desk.types("a")
    assert "Partly right: 0.5 of 1 point (net-correct" in desk.out


def test_the_input_ends_and_nothing_is_lost(desk: Desk) -> None:
    assert desk.types("b", "a b") == 3
    assert "Saved: 2 of 3 answered. Take the bank again to go on." in desk.out
    assert desk.types("b") == 0
    assert "Going on with your attempt: 2 of 3 answered." in desk.out
    assert "Passed: 3 of 3" in desk.out


def test_a_last_line_without_a_line_feed_counts(tmp_path: Path) -> None:
    desk = Desk(tmp_path, [single()])
    sitting = begin(desk.store, desk.bank, "ada").sitting  # type: ignore[arg-type]
    out = io.StringIO()
    assert take(sitting, stdin=io.StringIO("b"), stdout=out, stderr=io.StringIO()) == 0


def test_leaving_is_saved_and_says_how_to_go_on(desk: Desk) -> None:
    assert desk.types("b", "q") == 3
    assert "Left. Saved: 1 of 3 answered." in desk.out
    assert desk.store.attempts()[0].state == "open"


def test_skipped_questions_come_again_and_can_be_left_open(desk: Desk) -> None:
    assert desk.types("", "s", "b", "", "b", "finish") == 0
    assert "2 questions are open." in desk.out
    assert "2 of 3 points" in desk.out
    assert "not answered 1" in desk.out


def test_back_shows_the_reveal_of_an_answered_question_and_goes_on(desk: Desk) -> None:
    desk.types("b", ":back", "f", "", "p", "r", "c", "", "q")
    assert "Full story of first" in desk.out
    assert desk.out.count("Short story of first") == 4
    assert "its response stands" in desk.out
    assert desk.out.count("Question 2 of 3") == 3


def test_an_unclear_or_impossible_answer_is_asked_again_and_not_kept(desk: Desk) -> None:
    assert desk.types("zebra", "a b", "b", "a b", "b") == 0
    assert "'zebra' is no option and no command here. Type ? for help." in desk.out
    assert "Only one option can be chosen." in desk.out


def test_a_kept_response_can_be_submitted_or_cleared(desk: Desk) -> None:
    from quizapp.assess.response import Response

    sitting = begin(desk.store, desk.bank, "ada").sitting  # type: ignore[arg-type]
    sitting.show(0)
    sitting.respond(0, Response(("sync",)))
    sitting.close()
    desk.types()
    assert "Kept from before: B. `submit` makes it your answer." in desk.out
    desk.types("submit")
    assert "Right: 1 of 1 point." in desk.out
    desk.types("submit", "x", "q")
    assert "There is no answer to submit yet." in desk.out


def test_json_is_one_object_on_stdout_and_the_talk_on_stderr(desk: Desk) -> None:
    assert desk.types("b", "a c", "", "finish", as_json=True) == 1
    got = json.loads(desk.out)
    assert (got["bank"], got["finished"], got["passed"], got["saved"]) == ("sample", True, False, True)
    assert (got["points"], got["max_points"], got["total"]) == (1.0, 3.0, 3)
    assert [(item["question"], item["response"], item["verdict"]) for item in got["questions"]] == [
        ("first", ["sync"], "correct"),
        ("second", ["key-0", "no-0"], "incorrect"),
        ("third", [], "unanswered"),
    ]
    assert got["attempt"] == desk.store.attempts()[0].id
    assert "Question 1 of 3" in desk.err


def test_json_comes_too_when_the_input_ends(desk: Desk) -> None:
    assert desk.types("b", as_json=True) == 3
    got = json.loads(desk.out)
    assert (got["finished"], got["passed"]) == (False, None)
    assert got["questions"][1]["verdict"] is None


def test_at_a_terminal_enter_goes_on_after_a_reveal(desk: Desk) -> None:
    assert desk.types("b", "f", "", "a b", "", "b", "", interactive=True) == 0
    assert "Full story of first" in desk.out
    assert "Passed: 3 of 3" in desk.out


def test_from_the_results_questions_are_reviewed_and_the_wrong_ones_redone(desk: Desk) -> None:
    code = desk.types("a", "", "a b", "", "b", "", "1", "f", "", "9", "wrong", "b", "", "", interactive=True)
    assert code == 0
    assert "Full story of first" in desk.out
    assert "'9' is no question's number." in desk.out
    assert "Question 1 of 1" in desk.out
    first, second = desk.store.attempts()
    assert (first.total, first.points, second.total, second.points) == (1, 1.0, 3, 2.0)


def test_help_names_every_command(desk: Desk) -> None:
    desk.types("?")
    for word in ("skip", "back", "demo a", "clear", "submit", "again", "finish", "quit", "a c   b,d"):
        assert word in desk.out


HOSTILE = "\x1b[2J\x9b31m [/x] [b]bold[/b] <T> A[m][k] $x$ \u202e\x07 #include <stdio.h> [00] foo"


def test_hostile_text_comes_out_as_written_with_signs_for_what_a_terminal_would_obey(tmp_path: Path) -> None:
    hostile = SingleChoice(
        kind="single-choice",
        id="hostile",
        stem=HOSTILE,
        objective="[/red]\x1b]0;title\x07",
        options=(option("a", text=HOSTILE, correct=True), option("b", text="`A[m][k]` <T>")),
        explanation=Explanation(short=HOSTILE, full=HOSTILE),
    )
    desk = Desk(tmp_path, [hostile], title=HOSTILE)
    desk.types("b", "back", "f", interactive=True)
    assert not ESCAPES.search(desk.out.replace("\n", ""))
    assert "\u202e" not in desk.out
    for written in ("[/x]", "[b]bold[/b]", "<T>", "A[m][k]", "#include <stdio.h>", "[00] foo", "␛[2J"):
        assert desk.out.count(written) >= 3, written


def test_hostile_lines_are_said_back_harmlessly(desk: Desk) -> None:
    desk.types("\x1b[31m", "[/x]", "a\x00b", "x" * 100_000, "é\u202e")
    assert not ESCAPES.search(desk.out.replace("\n", ""))


def test_without_utf_8_only_ascii_is_written(desk: Desk) -> None:
    desk.types("a", "b", "b", ascii_only=True)
    assert desk.out.isascii()
    assert "Question 1 of 3 - 1 point" in desk.out
    assert "+ B  right, you missed it" in desk.out


def test_no_cursor_is_addressed_and_no_line_redrawn(desk: Desk) -> None:
    desk.types("a", "?", "b", "b", interactive=True)
    assert not ESCAPES.search(desk.out.replace("\n", ""))


def test_a_store_that_fails_in_the_middle_is_said_once_and_the_attempt_goes_on(desk: Desk) -> None:
    import sqlite3

    assert desk.types("b") == 3
    db = sqlite3.connect(desk.store.path or "")
    db.execute("CREATE TRIGGER fails BEFORE INSERT ON events BEGIN SELECT RAISE (ABORT, 'no more'); END")
    db.close()
    assert desk.types("a b", "b") == 0
    assert desk.out.count("From here on nothing is saved.") == 1
    assert "no more" in desk.out
    assert "Passed: 3 of 3" in desk.out
    assert "Saved as" not in desk.out
    assert desk.sitting is not None
    assert desk.sitting.saved is False
    assert desk.store.attempts()[0].answered == 1


class Interrupting(io.StringIO):
    def readline(self, size: int = -1, /) -> str:
        line = super().readline(size)
        if line == "^C\n":
            raise KeyboardInterrupt
        return line


def test_ctrl_c_at_a_prompt_is_saved_and_said(desk: Desk) -> None:
    sitting = begin(desk.store, desk.bank, "ada").sitting  # type: ignore[arg-type]
    out = io.StringIO()
    assert take(sitting, stdin=Interrupting("b\n^C\n"), stdout=out, stderr=io.StringIO()) == 130
    assert "Interrupted. Saved: 1 of 3 answered." in out.getvalue()
    assert desk.types("a b", "b") == 0


def test_every_kind_is_answered_in_lines(tmp_path: Path) -> None:
    kinds = Path(__file__).parent.parent / "banks" / "good" / "kinds.yaml"
    desk = Desk(tmp_path, list(load_bank(kinds).bank.questions))
    begun = begin(desk.store, desk.bank, "ada").sitting  # type: ignore[arg-type]
    letters = begun.letters(8)
    begun.close()
    typed = ["1,5", "skip", "1.8", "80", "skip", "ENS", "false", "a b"]
    in_order = ["forward backward", "optimizer all-reduce backward forward"]
    matches = ["1z", f"1{letters['dp']} 2{letters['ddp']}, 3 {letters['none'].lower()}"]
    code = desk.types(*typed, *in_order, *matches, "", "84 GB", as_json=True)
    assert code == 1  # below the mark
    assert "Write the number without separators, and a point for decimals" in desk.err
    assert "A number is asked for, in GB" in desk.err
    assert "Put all 4 in order." in desk.err
    assert "Give each number a letter, such as: 1b 2a." in desk.err
    assert "AdamW keeps *two* moments." in desk.err
    given = {item["question"]: item for item in json.loads(desk.out)["questions"]}
    # To a question that asks for words "skip" is one; a leading colon makes it the command.
    assert {name: (item["response"], item["verdict"], item["points"]) for name, item in given.items()} == {
        "adamw-bytes": ("84 GB", "incorrect", -0.5),
        "all-reduce-share": ("1.8", "correct", 1.0),
        "port": ("80", "incorrect", 0.0),
        "launcher": ("skip", "incorrect", 0.0),
        "city": ("ENS", "incorrect", 0.0),
        "dp-one-process": (["false"], "correct", 1.0),
        "which-are-collectives": (["all-reduce", "broadcast"], "correct", 1.0),
        "step-order": (["optimizer", "all-reduce", "backward", "forward"], "incorrect", 0.0),
        "who-runs": ({"dp": "dp", "ddp": "ddp", "fsdp": "none"}, "partial", 2.0),
    }


def test_a_kept_text_can_be_submitted_by_command(tmp_path: Path) -> None:
    kinds = Path(__file__).parent.parent / "banks" / "good" / "kinds.yaml"
    launcher = next(q for q in load_bank(kinds).bank.questions if q.id == "launcher")
    desk = Desk(tmp_path, [launcher])
    sitting = begin(desk.store, desk.bank, "ada").sitting  # type: ignore[arg-type]
    sitting.show(0)
    sitting.respond(0, Response(text=" torchrun "))
    sitting.close()
    assert desk.types(":submit") == 0
    assert "Kept from before: torchrun. `:submit` makes it your answer." in desk.out
    assert "You gave torchrun. The key is torchrun or python -m torch.distributed.run." in desk.out


def test_a_hostile_pattern_neither_hangs_nor_ends_an_attempt(tmp_path: Path) -> None:
    question = ShortText(
        id="w",
        kind="short-text",
        stem="Which word?",
        key=("b",),
        pattern="(a|aa)+$",
        rationale="That one",
        explanation=Explanation(short="A word"),
    )
    desk = Desk(tmp_path, [question], take=Take())
    assert desk.types("a" * 60 + "!") == 0
    assert "Wrong: 0 of 1 point." in desk.out
