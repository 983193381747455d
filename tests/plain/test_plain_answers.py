"""What a typed line means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizapp.plain.answers import Said, parse

LETTERS = {"loader": "A", "sync": "B", "memory": "C", "skip": "D"}


def meaning(line: str, *, several: bool = False, answering: bool = True) -> Said:
    return parse(line, LETTERS, several=several, answering=answering)


@pytest.mark.parametrize(
    ("line", "selected"),
    [
        ("a", ("loader",)),
        ("B", ("sync",)),
        ("  c  ", ("memory",)),
        ("a c", ("loader", "memory")),
        ("b,d", ("sync", "skip")),
        ("b , a", ("sync", "loader")),
        ("a a", ("loader",)),
        ("sync", ("sync",)),
        ("sync a", ("sync", "loader")),
        ("skip", ("skip",)),
    ],
)
def test_letters_and_ids_are_answers(line: str, selected: tuple[str, ...]) -> None:
    assert meaning(line) == Said("answer", selected)


def test_letters_run_together_are_several_answers_where_several_can_be_chosen() -> None:
    assert meaning("ac", several=True) == Said("answer", ("loader", "memory"))
    assert meaning("ac").command == "unclear"
    assert meaning("aca", several=True).command == "unclear"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("", "skip"),
        ("s", "skip"),
        ("?", "help"),
        ("help", "help"),
        ("p", "back"),
        ("back", "back"),
        ("x", "clear"),
        ("clear", "clear"),
        ("r", "again"),
        ("f", "full"),
        ("q", "quit"),
        ("QUIT", "quit"),
        ("finish", "finish"),
        (":b", "back"),
        (":c", "clear"),
        (":skip", "skip"),
    ],
)
def test_commands(line: str, name: str) -> None:
    assert meaning(line) == Said(name)


def test_where_nothing_is_to_be_answered_the_letters_are_commands() -> None:
    assert meaning("b", answering=False) == Said("back")
    assert meaning("c", answering=False) == Said("clear")
    assert meaning("d a", answering=False) == Said("demo", ("loader",))


@pytest.mark.parametrize("line", ["demo b", "run B", "demo sync", ":d b"])
def test_a_demo_is_named_by_its_option(line: str) -> None:
    assert meaning(line) == Said("demo", ("sync",))


@pytest.mark.parametrize(
    "line", ["z", "a z", "demo", "demo z", "demo a b", "quit now", "[/x]", "\x1b[A", "42"]
)
def test_anything_else_is_unclear_and_says_why(line: str) -> None:
    got = meaning(line)
    assert got.command == "unclear"
    assert got.why


@given(st.text(max_size=30), st.booleans(), st.booleans())
def test_every_line_means_something_and_answers_name_options_only(
    line: str, several: bool, answering: bool
) -> None:
    got = meaning(line, several=several, answering=answering)
    assert (got.command == "unclear") == bool(got.why)
    assert set(got.options) <= set(LETTERS)
    assert len(set(got.options)) == len(got.options)
    if got.command == "answer":
        assert answering
        assert got.options


def test_with_twenty_six_options_each_letter_is_an_answer() -> None:
    letters = {f"option-{number}": chr(65 + number) for number in range(26)}
    for option_id, letter in letters.items():
        assert parse(letter.lower(), letters, several=False, answering=True) == Said("answer", (option_id,))
    assert parse("quit", letters, several=False, answering=True) == Said("quit")
