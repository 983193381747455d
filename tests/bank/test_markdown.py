"""Markdown into blocks: everything an author wrote arrives, as what it is."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quizapp.bank.markdown import (
    Block,
    Span,
    _Parser,
    document_from_json,
    document_to_json,
    is_markdown,
    parse,
    to_plain,
)

# Text that markup parsers trip over or swallow.
HOSTILE = [
    "[/]", "a[i] and [/path]", "[/INST]", "[INST] hi [/INST]", "A[m][k] * B[k][n]", "[red]x",
    "[#888888]s[/#888888]", "[link=x]y", "[@click=app.quit]q", "ZLEXCOUNT z [b + 3", "[00] foo",
    "[self view]", "std::vector<float>", "<T>", "<details>x</details>", "#include <stdio.h>",
    "1 <= n <= 10", "<ESC>", "a]]>b", "<!-- a comment -->", "&amp;", "$5 or $10",
    r"It costs \$5 and \$6", "{{opt:a}}", "f\"{name}\"", "%s %(x)s", "100 %", "a_b_c dunder__init__x",
    "2 * 3 * 4", "`code", "[text](unclosed", "![", "*", "_", "~~", "$", "$$", "[^", "[^1]", "|", "| a |",
    "---x", "#hash", "#", "<https://example.org>", "http://x_y_z.org/a_b_c", r"C:\path\new",
    r"\frac{a}{b}", "^[note", "!!! x", ":::", "> x",
]  # fmt: skip


def kinds(text: str) -> list[str]:
    return [block.kind for block in parse(text)]


def only(text: str) -> Block:
    (block,) = parse(text)
    return block


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_comes_out_as_it_was_written(text: str) -> None:
    shown = squeezed(to_plain(parse(f"before {text} after"), width=1000))
    written = squeezed(f"before {text} after").replace(r"\$", "$").replace("&amp;", "&")
    written = written.replace("<https://example.org>", "https://example.org")
    assert shown == written


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_at_the_start_of_a_line_loses_no_letter(text: str) -> None:
    shown = to_plain(parse(text), width=1000)
    letters = [character for character in text.replace("&amp;", "").lower() if character.isalnum()]
    assert sorted(letters) == sorted(character for character in shown.lower() if character.isalnum())


def test_styles() -> None:
    block = only("plain *em* **strong** ***both*** `code` ~~strike~~ [link](http://x.org) $a^2$")
    assert [(span.text, span.style) for span in block.spans if span.text.strip()] == [
        ("plain ", ()),
        ("em", ("em",)),
        ("strong", ("strong",)),
        ("both", ("em", "strong")),
        ("code", ("code",)),
        ("strike", ("strike",)),
        ("link", ("link",)),
        ("a²", ("math",)),
    ]
    assert block.spans[-3].href == "http://x.org"
    assert block.spans[-1].source == "a^2"


def test_code_keeps_every_space_and_its_language() -> None:
    block = only("```python title=train.py\nfor x in y:\n    [/x]  **no**\n```")
    assert (block.kind, block.language, block.title) == ("code", "python", "title=train.py")
    assert block.text == "for x in y:\n    [/x]  **no**"


def test_lists() -> None:
    block = only("3. a\n4. b\n   - c\n   - [x] done")
    assert (block.kind, block.ordered, block.start, block.tight) == ("list", True, 3, True)
    assert [item.kind for item in block.children] == ["item", "item"]
    inner = block.children[1].children[1]
    assert (inner.kind, inner.ordered) == ("list", False)
    assert inner.children[1].children[0].spans == (Span("[x] done"),)
    assert not only("- a\n\n- b").tight


def test_tables_have_their_alignment_and_no_cell_is_dropped() -> None:
    block = only("| a | b | c |\n|:--|--:|:-:|\n| 1 | 2 |\n| `x\\|y` | | *5* | beyond | **more** |")
    assert block.align == ("left", "right", "center")
    texts = [["".join(span.text for span in cell) for cell in row] for row in block.rows]
    assert texts == [["a", "b", "c"], ["1", "2", ""], ["x|y", "", "5", "beyond", "more"]]
    quoted = only("> | a |\n> |---|\n> | 1 | 2 |").children[0]
    assert ["".join(span.text for span in cell) for cell in quoted.rows[1]] == ["1", "2"]


def test_alerts_and_admonitions_are_notes() -> None:
    for text in ("> [!WARNING]\n> take *care*", '!!! warning "Warning"\n    take *care*'):
        block = only(text)
        assert (block.kind, block.title) == ("note", "Warning")
        assert [span.text for span in block.children[0].spans] == ["take ", "care"]
    assert only("> [!WARNING]").title == "Warning"
    assert only("> just a quote").kind == "quote"
    assert only("> [!NOTE] on one line").kind == "note"


def test_definitions() -> None:
    term, other = parse("Term\n: one\n: two\n\nOther\n: three")
    assert (term.kind, term.spans[0].text) == ("definition", "Term")
    assert [block.spans[0].text for block in term.children] == ["one", "two"]
    assert other.children[0].spans[0].text == "three"


def test_footnotes_are_numbered_and_those_without_a_reference_are_kept() -> None:
    text = "See[^b] and ^[inline].\n\n[^b]: The *note*.\n\n[^lost]: Nothing refers to this."
    shown = to_plain(parse(text), width=200)
    assert shown.startswith("See[1] and [2].")
    assert "[1] The *note*." in shown
    assert "[2] inline" in shown
    assert "Nothing refers to this." in shown


def test_link_definitions_that_nothing_uses_are_kept() -> None:
    shown = to_plain(parse('[Used] text\n\n[used]: http://a.org\n[Lost]: http://b.org "Title"'), width=200)
    assert "Used <http://a.org> text" in shown
    assert '[Lost]: http://b.org "Title"' in shown


def test_pictures_and_titles_are_words() -> None:
    shown = to_plain(parse('![A *chart*](a.png "Load") and [x](http://y.org "Why")'), width=200)
    assert shown == "[image: A chart (Load)] <a.png> and x <http://y.org> (Why)"


def test_formulas() -> None:
    assert only("$$\n\\frac{a}{b}\n$$") == Block("math", text="a/b", source="\\frac{a}{b}")
    assert only("$$E = mc^2$$").text == "E = mc²"
    assert only("$$\n\\begin{matrix}a\\end{matrix}\n$$") == Block(
        "math", text="\\begin{matrix}a\\end{matrix}"
    )
    assert only("Not $5 or $10.").spans == (Span("Not $5 or $10."),)
    assert only("in $x_1$ line").spans[1].text == "x₁"


def test_html_stays_as_it_is_written() -> None:
    assert to_plain(parse("<div class='x'>\n\n**a** <br/> &lt;b&gt;\n\n</div>")) == (
        "<div class='x'>\n\n*a* <br/> <b>\n\n</div>"
    )


def test_numbers_of_controls_do_not_become_controls() -> None:
    for text in ("\x1b[31m", "&#27;[31m", "&#x1b;", "`\x1b`", "a\u202eb", "```\n\x1b\n```"):
        shown = to_plain(parse(text))
        assert "\x1b" not in shown
        assert "\u202e" not in shown


@pytest.mark.parametrize(
    "text",
    [
        ">" * 3000 + " deep",
        "- " * 3000 + "deep",
        "1. " * 3000 + "deep",
        "[" * 3000 + "deep" + "]" * 3000,
        "*a " * 3000 + "deep",
        "![" * 3000 + "deep",
        "^[" * 1500 + "deep",
        "$" + "a " * 15000 + "deep",
        "`" * 3001 + "deep",
        "deep" + "<" * 10000,
        ("    " * 20 + "- deep\n") * 200,
    ],
    ids=lambda text: text[:6].strip(),
)
def test_deep_and_long_text_is_kept(text: str) -> None:
    assert "deep" in to_plain(parse(text))


_fragments = st.sampled_from([
    "**", "*", "_", "`", "~~", "$", "$$", "[", "](", ")", "![", "]", "[^1]", "[^1]: ", "\n", "\n\n",
    "> ", "- ", "1. ", "# ", "|", "\n|--|--|\n", "```\n", "    ", "!!! note\n", ": ", "<b>", "&", "\\",
    "  \n", "^[", "[!NOTE]", "---", "$x$",
])  # fmt: skip


def test_a_second_note_of_the_same_name_takes_no_words_from_the_first() -> None:
    shown = to_plain(parse("Text[^1]\n\n[^1]: first words\n[^1]: second words"))
    assert "first words" in shown
    assert "second words" in shown


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.one_of(st.integers(100, 999).map(lambda number: f"word{number}"), _fragments), max_size=30)
)
def test_every_word_arrives(parts: list[str]) -> None:
    text = " ".join(parts)
    shown = to_plain(parse(text), width=10_000)
    missing = [word for word in re.findall(r"word\d+", text) if text.count(word) > shown.count(word)]
    assert not missing, text


@settings(deadline=None)
@given(st.lists(st.one_of(st.just("word"), _fragments), max_size=20))
def test_documents_survive_json(parts: list[str]) -> None:
    document = parse(" ".join(parts))
    assert document_from_json(document_to_json(document)) == document


@settings(deadline=None)
@given(st.text("ab .,;!?()'\"/%\n 1-+=:#", max_size=60))
def test_the_way_around_the_parser_gives_what_the_parser_gives(text: str) -> None:
    if not is_markdown(text):
        assert parse(text) == _Parser(text).document()


def test_plain_text_takes_the_way_around() -> None:
    assert not is_markdown(
        "Two lines of prose,\nwith commas (and brackets): 98 %.\n\nAnd a second paragraph."
    )
    assert parse("one\ntwo\n\nthree") == (
        Block("paragraph", (Span("one two"),)),
        Block("paragraph", (Span("three"),)),
    )
