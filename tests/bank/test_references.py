"""References to options in text."""

from __future__ import annotations

import pytest

from quizapp.bank.references import referenced, resolve

LETTERS = {"a-b": "C", "x": "A"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("none", "none"),
        ("{{opt:a-b}} beats {{opt: x }}.", "C beats A."),
        ("{{opt:unknown}} stays", "{{opt:unknown}} stays"),
        ("{{opt:a-b", "{{opt:a-b"),
        ("{{opt:}}{{opt:x}}", "{{opt:}}A"),
        ("{{ opt:x }} {opt:x}", "{{ opt:x }} {opt:x}"),
        ("{{opt:{{opt:x}}}}", "{{opt:A}}"),
    ],
)
def test_letters_stand_in_for_ids(text: str, shown: str) -> None:
    assert resolve(text, LETTERS) == shown


def test_ids_are_found() -> None:
    assert referenced("{{opt:a}}, {{opt: b }}, {{opt:c") == ["a", "b"]
