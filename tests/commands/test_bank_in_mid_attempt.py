"""What is done to a bank's file while an attempt on it is under way strands nobody and changes no mark."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable

import pytest
from command_line import BANK, CommandLine

KEYS_SWAPPED = BANK.replace("Alpha, correct: true", "Alpha").replace(
    "text: Beta,", "text: Beta, correct: true,", 1
)


def edited(quizapp: CommandLine) -> None:
    quizapp.bank.write_text(BANK.replace("Which two?", "Which two of them?"), encoding="utf-8")


def key_changed(quizapp: CommandLine) -> None:
    quizapp.bank.write_text(KEYS_SWAPPED, encoding="utf-8")


def renamed(quizapp: CommandLine) -> None:
    quizapp.bank.rename(quizapp.folder / "other.yaml")


def deleted(quizapp: CommandLine) -> None:
    quizapp.bank.unlink()


def deleted_with_its_cache(quizapp: CommandLine) -> None:
    quizapp.bank.unlink()
    shutil.rmtree(quizapp.cache)


def turned_to_garbage(quizapp: CommandLine) -> None:
    quizapp.bank.write_bytes(bytes(range(256)))


def made_a_folder(quizapp: CommandLine) -> None:
    quizapp.bank.unlink()
    quizapp.bank.mkdir()


ALL = [edited, key_changed, renamed, deleted, deleted_with_its_cache, turned_to_garbage, made_a_folder]


@pytest.mark.parametrize("seen_before", [True, False], ids=["cached", "fresh"])
@pytest.mark.parametrize("done", ALL)
def test_while_the_bank_is_being_taken_the_attempt_goes_on_as_it_began(
    quizapp: CommandLine, done: Callable[[CommandLine], None], seen_before: bool
) -> None:
    if seen_before:
        quizapp("take", "small", "--learner", "bob")
    process = subprocess.Popen(
        [sys.executable, "-m", "quizapp.cli", "take", "small"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=quizapp.folder,
        env=quizapp.environment,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("Answer"):
            break
    done(quizapp)
    out, err = process.communicate("a\na b\n")
    assert "Traceback" not in err
    assert process.returncode == 0, err
    assert "Passed: 2 of 2 points" in out


@pytest.mark.parametrize("done", ALL)
def test_between_two_sittings_what_was_answered_and_shown_stands(
    quizapp: CommandLine, done: Callable[[CommandLine], None]
) -> None:
    assert quizapp("take", "small", lines="a\n").returncode == 3
    done(quizapp)
    again = quizapp("take", "small", lines="a b\n")
    assert again.returncode == 0, again.stderr
    assert "Going on with your attempt: 1 of 2 answered." in again.stdout
    attempt = json.loads(quizapp("results", "--json", "--learner", "ada").stdout)[0]
    assert (attempt["state"], attempt["points"], attempt["max_points"]) == ("finished", 2.0, 2.0)


@pytest.mark.parametrize("done", [deleted, turned_to_garbage, renamed])
def test_a_bank_that_is_gone_says_so_by_its_name(
    quizapp: CommandLine, done: Callable[[CommandLine], None]
) -> None:
    quizapp("take", "small", lines="a\n")
    done(quizapp)
    told = quizapp("take", "small", lines="q\n")
    assert "The bank can't be opened any more." in told.stdout
    assert "small" in told.stdout
    fresh = quizapp("take", "small", "--new")
    assert fresh.returncode == 2
    assert "small" in fresh.stderr
