"""Documents as lines of plain text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quizapp.bank.layout import to_ascii
from quizapp.bank.markdown import parse, to_plain
from quizapp.bank.wrap import cell_width, pad, wrap


def test_a_whole_document() -> None:
    text = """\
# Waits

Two GPUs stay at **98 %**, the other six fall to `0 %` for seconds, again and again.

1. first
2. second, which is long enough to need another line here
   - inner

| meter | mean |
|:------|-----:|
| util  | 98 % |
| compute | 5 % |

> [!NOTE]
> NCCL waits read 100 %.

```python
loss.backward()
```

$$\\frac{N-1}{N}$$

DDP
: One process a device[^1]

[^1]: See [the docs](https://example.org).
"""
    assert (
        to_plain(parse(text), width=44)
        == """\
# Waits

Two GPUs stay at *98 %*, the other six fall
to `0 %` for seconds, again and again.

1. first
2. second, which is long enough to need
   another line here
   - inner

meter   | mean
--------+-----
util    | 98 %
compute |  5 %

Note:
| NCCL waits read 100 %.

    loss.backward()

    (N − 1)/N

DDP
    One process a device[1]

[1] See the docs <https://example.org>."""
    )


def test_a_table_wider_than_the_page_becomes_rows() -> None:
    table = "| name | what it does |\n|--|--|\n| a | waits for the slowest of all devices |\n| b | - |"
    assert (
        to_plain(parse(table), width=30)
        == """\
- name: a
- what it does: waits for the
  slowest of all devices

- name: b
- what it does: -"""
    )


def test_ascii_shows_tex_and_spells_signs() -> None:
    text = "$\\frac{a}{b}$ – “98 % ≤ x” … é ✔ 日 \x1b"
    plain = to_plain(parse(text), ascii_only=True)
    assert plain == '\\frac{a}{b} - "98 % <= x" ... e v ? <1B>'


def test_width_counts_cells() -> None:
    assert cell_width("日本") == 4
    assert cell_width("e\u0301") == 1
    assert pad("日", 4, "right") == "  日"
    assert pad("a", 4, "center") == " a  "
    assert wrap("日本 日本 日本", 9) == ["日本 日本", "日本"]


def test_addresses_and_long_words_are_never_broken() -> None:
    address = "https://example.org/" + "x" * 100
    assert address in to_plain(parse(f"See {address} for more."), width=20)


@given(st.text("ab cd\n", max_size=200), st.integers(5, 40))
def test_lines_fit_and_no_word_is_lost(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert " ".join(lines).split() == text.split()
    assert all(len(line) <= width or " " not in line for line in lines)


@given(st.text(max_size=60))
def test_ascii_is_ascii(text: str) -> None:
    assert to_ascii(text).isascii()
