"""Blocks as lines: nothing lost, nothing wider than it may be, indents that hang."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quizapp.bank.markdown import parse
from quizapp.tui.glance import glance
from quizapp.tui.glyphs import ASCII, UNICODE, glyphs_for
from quizapp.tui.render import fit, fold, framed, lay_out, line_width, plain_lines, wrap

WORDS = st.text(alphabet="abc [/]<>*`_#>-|1.\n训\u0301é", max_size=200)


def lines(text: str, width: int = 40) -> list[str]:
    layout = lay_out(parse(text), width)
    return plain_lines(layout.lines)


@given(WORDS, st.integers(8, 60))
@settings(max_examples=150, deadline=None)
def test_no_line_is_wider_than_asked(text: str, width: int) -> None:
    for line in lay_out(parse(text), width).lines:
        assert line_width(line) <= width


@given(st.text(alphabet="ab xyz 训", max_size=120), st.integers(4, 30))
def test_wrapping_keeps_every_character_but_blanks(text: str, width: int) -> None:
    wrapped = "".join(plain_lines(wrap([(text, "")], width)))
    assert "".join(wrapped.split()) == "".join(text.split())


def test_a_list_hangs_its_indent() -> None:
    assert lines("1. one two three four\n2. five\n   - six seven eight nine", 16) == [
        "1. one two three",
        "   four",
        "2. five",
        "   • six seven",
        "     eight nine",
    ]


def test_code_stands_as_it_is_and_is_broken_with_a_mark() -> None:
    assert lines("```\nfor x in A[m][k]:\n    y(x)\n```") == ["  for x in A[m][k]:", "      y(x)"]
    assert plain_lines(fold("abcdefghijklmnopqrst", 16, "block")) == ["abcdefghijkl", "  ↪ mnopqrst"]


def test_a_table_keeps_its_alignment() -> None:
    assert lines("| a | b |\n|:--|--:|\n| one | 2 |\n| three | 40 |") == [
        "a       b",
        "─────  ──",
        "one     2",
        "three  40",
    ]


def test_a_table_too_wide_wraps_its_cells() -> None:
    shown = lines("| a | b |\n|---|---|\n| one two three four five | six seven eight |", 20)
    assert all(len(line) <= 20 for line in shown)
    assert "".join("".join(shown).split()).count("four") == 1


def test_links_are_numbered_once_and_their_addresses_kept() -> None:
    layout = lay_out(parse("[a](http://x) and [b](http://y) and [a](http://x)"), 60)
    assert plain_lines(layout.lines) == ["a[1] and b[2] and a[1]"]
    assert layout.links == ["http://x", "http://y"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("> quoted", "quoted"),
        ("> [!NOTE]\n> careful", "careful"),
        ("A note[^1].\n\n[^1]: The footnote.", "The footnote."),
        ("$$\\frac{a}{b}$$", "b"),
        ("term\n: its meaning", "its meaning"),
        ("- [x] done\n- [ ] open", "open"),
        ("<details>hidden</details>", "<details>"),
        ("![alt text](pic.svg)", "alt text"),
        ("# Heading", "Heading"),
        ("a\n\n---\n\nb", "─"),
    ],
)
def test_nothing_is_dropped(text: str, kept: str) -> None:
    assert kept in "\n".join(lines(text))


def test_markup_and_control_characters_are_shown() -> None:
    shown = "\n".join(lines("[/x] [red]a[/red] \x1b[31m"))
    assert "[/x] [red]a[/red]" in shown
    assert "\x1b" not in shown


def test_a_frame_is_as_wide_as_asked() -> None:
    box = framed("A title that is longer than the frame", [[("body", "")]], 20)
    assert {line_width(line) for line in box} == {20}


@pytest.mark.parametrize("width", [0, 1, 2, 5, 50])
def test_fit_never_exceeds(width: int) -> None:
    assert line_width([(fit("a 训练 b c d", width), "")]) <= width


@pytest.mark.parametrize(
    "text", ["plain", "two\n\nparagraphs", "a `code` and **bold** and *em*", "```\nx = 1\n```\n\nb"]
)
def test_a_glance_at_common_text_is_the_document(text: str) -> None:
    assert plain_lines(lay_out(glance(text), 40).lines) == plain_lines(lay_out(parse(text), 40).lines)


@given(WORDS)
@settings(max_examples=100, deadline=None)
def test_a_glance_never_fails(text: str) -> None:
    lay_out(glance(text), 30)


def test_every_sign_is_one_cell_and_the_ascii_set_is_ascii() -> None:
    for glyphs in (UNICODE, ASCII):
        for name, sign in glyphs._asdict().items():
            if name not in ("enter", "up_down"):
                assert line_width([(sign, "")]) == len(sign), name
    assert all(sign.isascii() for sign in ASCII)
    assert glyphs_for("utf-8") is UNICODE
    assert glyphs_for("ANSI_X3.4-1968") is ASCII
    assert glyphs_for(None) is ASCII
