"""Text that is safe to show."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizapp.bank.text import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("", ""),
        ("two\nlines", "two\nlines"),
        ("a\tb", "a   b"),
        ("\x1b[31mred\x1b]0;title\x07", "␛[31mred␛]0;title␇"),
        ("\x00\x08\x7f", "␀␈␡"),
        ("line\r\nline\rover", "line\nline␍over"),
        ("\x9b31m\x85", "⟨U+009B⟩31m⟨U+0085⟩"),
        ("safe\u202egnp.exe", "safe⟨U+202E⟩gnp.exe"),
        ("\u2066x\u2069\u200f", "⟨U+2066⟩x⟨U+2069⟩⟨U+200F⟩"),
        ("zero\u200bwidth\ufeff", "zero⟨U+200B⟩width⟨U+FEFF⟩"),
        ("\U000e0041\udc80\uffff", "⟨U+E0041⟩⟨U+DC80⟩⟨U+FFFF⟩"),
        ("日本語 é ✔ 👩\u200d💻 می\u200cشود", "日本語 é ✔ 👩\u200d💻 می\u200cشود"),
        ("[/x] <T> %s {0} &amp;", "[/x] <T> %s {0} &amp;"),
    ],
)
def test_signs(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text(st.characters(categories=None), max_size=200))
def test_no_control_and_no_surrogate_gets_through(text: str) -> None:
    shown = visible(text)
    assert all(
        character == "\n" or unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp")
        for character in shown
    )
    assert not set(shown) & set(
        "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u200e\u200f\ufeff\u2028"
    )
    assert visible(shown) == shown
    shown.encode("utf-8")


@given(st.text("abc é日\t\x1b\u202e", max_size=60))
def test_every_character_leaves_something(text: str) -> None:
    assert len(visible(text)) >= len(text)
