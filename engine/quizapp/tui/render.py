"""Markdown blocks as lines of styled text, wrapped to a width: all that a screen shows is made of them.

A run is a piece of text and the names of its roles (`roles.py` gives each a look); nothing here is ever read
as markup. Lists, quotes and tables keep a hanging indent; a link is followed by its number, and the caller
gets the numbered addresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from quizapp.bank.text import visible
from quizapp.tui.glyphs import UNICODE, Glyphs

if TYPE_CHECKING:
    from quizapp.bank.markdown import Block, Span

Run = tuple[str, str]
Line = list[Run]

_WORD = re.compile(r"\s+|[^\s]+")
_MIN_WIDTH = 8


class Layout(NamedTuple):
    """Lines of one document, and the addresses that its numbered links stand for."""

    lines: list[Line]
    links: list[str]


def width_of(text: str) -> int:
    """Cells that a text takes."""
    return len(text) if text.isascii() else cell_len(text)


def line_width(line: Sequence[Run]) -> int:
    """Cells that a line takes."""
    return sum(width_of(text) for text, _ in line)


def plain_lines(lines: Iterable[Line]) -> list[str]:
    """The same lines as bare text, without trailing blanks."""
    return ["".join(text for text, _ in line).rstrip() for line in lines]


def fit(text: str, width: int, glyphs: Glyphs = UNICODE) -> str:
    """One line of text, cut with an ellipsis where it is too long for `width` cells."""
    text = visible(text).replace("\n", " ")
    if width_of(text) <= width:
        return text
    kept, used = [], 0
    for character in text:
        used += width_of(character)
        if used > width - 1:
            break
        kept.append(character)
    return "".join(kept).rstrip() + glyphs.ellipsis if width > 0 else ""


def wrap(
    runs: Sequence[Run], width: int, first: Sequence[Run] = (), rest: Sequence[Run] | None = None
) -> list[Line]:
    """Break runs into lines of at most `width` cells.

    `first` begins the first line, `rest` every other one (blanks of the same width unless given). A word that
    does not fit into a line is broken; a newline in the text breaks the line.
    """
    indent = line_width(first)
    if rest is None:
        rest = [(" " * indent, "")] if indent else []
    room = max(1, width - max(indent, line_width(rest)))
    lines: list[Line] = []
    line: Line = list(first)
    used = 0
    pending: Line = []  # blanks that are dropped if the line ends here
    pending_width = 0

    def break_line() -> None:
        nonlocal line, used, pending, pending_width
        lines.append(joined(line))
        line, used, pending, pending_width = list(rest), 0, [], 0

    for word in _words(runs):
        if word is None:
            break_line()
            continue
        size = sum(width_of(text) for text, _ in word)
        if word[0][0].isspace():
            if used:
                pending.extend(word)
                pending_width += size
            continue
        if used and used + pending_width + size > room:
            break_line()
        if size > room:
            for piece in _pieces(word, room):
                if used:
                    break_line()
                line.extend(piece)
                used = line_width(piece)
            continue
        line.extend(pending)
        line.extend(word)
        used += pending_width + size
        pending, pending_width = [], 0
    lines.append(joined(line))
    return lines


def joined(line: Line) -> Line:
    """The line with neighbouring runs of the same roles made one: a terminal is painted by the run."""
    runs: Line = []
    for text, roles in line:
        if runs and runs[-1][1] == roles:
            runs[-1] = (runs[-1][0] + text, roles)
        elif text:
            runs.append((text, roles))
    return runs


def _words(runs: Sequence[Run]) -> Iterable[Line | None]:
    """Words that may span several runs, the blanks between them, and None for a newline."""
    word: Line = []
    for text, roles in runs:
        for number, part in enumerate(text.split("\n")):
            if number:
                if word:
                    yield word
                    word = []
                yield None
            for match in _WORD.finditer(part):
                token = match.group()
                if word and word[0][0].isspace() != token.isspace():
                    yield word
                    word = []
                word.append((token, roles))
    if word:
        yield word


def _pieces(word: Line, room: int) -> Iterable[Line]:
    """A word longer than a line, in pieces that fit."""
    piece: Line = []
    used = 0
    for text, roles in word:
        start = 0
        for position, character in enumerate(text):
            size = width_of(character)
            if used + size > room and used:
                if position > start:
                    piece.append((text[start:position], roles))
                yield piece
                piece, used, start = [], 0, position
            used += size
        if start < len(text):
            piece.append((text[start:], roles))
    if piece:
        yield piece


def fold(text: str, width: int, roles: str, glyphs: Glyphs = UNICODE) -> list[Line]:
    """A line of code, broken only where it does not fit, the continuation marked."""
    if width_of(text) <= width:
        return [[(text, roles)]]
    mark = f"  {glyphs.wrapped} "
    lines: list[Line] = []
    room = max(_MIN_WIDTH, width)
    for piece in _pieces([(text, roles)], room - len(mark)):
        lines.append(list(piece) if not lines else [(mark, f"{roles} muted".strip()), *piece])
    return lines


def lay_out(
    blocks: Sequence[Block], width: int, *, glyphs: Glyphs = UNICODE, links: list[str] | None = None
) -> Layout:
    """Lay blocks out for `width` cells. `links` continues a numbering that other text of the page began."""
    layout = Layout([], links if links is not None else [])
    _Typesetter(glyphs, layout.links).blocks(blocks, max(_MIN_WIDTH, width), layout.lines)
    return layout


def inline(spans: Sequence[Span], links: list[str]) -> list[Run]:
    """Spans as runs; an address is added to `links` and its number follows the link's text."""
    runs: list[Run] = []
    for span in spans:
        text = visible(span.text)
        roles = " ".join(sorted(span.style))
        if span.href:
            address = visible(span.href)
            if address not in links:
                links.append(address)
            runs.append((text, f"{roles} link".strip() if "link" not in roles else roles))
            runs.append((f"[{links.index(address) + 1}]", "muted"))
        else:
            runs.append((text, roles))
    return runs


def link_lines(links: Sequence[str], width: int, start: int = 1) -> list[Line]:
    """The addresses as a numbered list."""
    lines: list[Line] = []
    for number, address in enumerate(links, start):
        lines += wrap([(address, "address")], width, [(f"[{number}] ", "muted")])
    return lines


def framed(title: str, body: list[Line], width: int, glyphs: Glyphs = UNICODE) -> list[Line]:
    """Lines in a box with a title in its upper edge; `body` is laid out for `width - 4` cells."""
    top_left, top_right, bottom_left, bottom_right = list(glyphs.corners)
    title = fit(title, width - 6, glyphs)
    tail = max(0, width - 5 - width_of(title))
    lines: list[Line] = [
        [
            (f"{top_left}{glyphs.rule} ", "frame"),
            (title, "strong"),
            (f" {glyphs.rule * tail}{top_right}", "frame"),
        ]
    ]
    for line in body:
        pad = " " * max(0, width - 4 - line_width(line))
        lines.append([(f"{glyphs.vertical} ", "frame"), *line, (f"{pad} {glyphs.vertical}", "frame")])
    lines.append([(bottom_left + glyphs.rule * (width - 2) + bottom_right, "frame")])
    return lines


class _Typesetter:
    """Appends each kind of block to a list of lines."""

    def __init__(self, glyphs: Glyphs, links: list[str]) -> None:
        self._glyphs = glyphs
        self._links = links

    def blocks(self, blocks: Sequence[Block], width: int, out: list[Line], *, tight: bool = False) -> None:
        for number, block in enumerate(blocks):
            if number and not tight:
                out.append([])
            getattr(self, f"_{block.kind}", self._paragraph)(block, width, out)

    def _nested(self, blocks: Sequence[Block], width: int, first: Run, rest: Run, out: list[Line]) -> None:
        """Blocks behind an indent: `first` once, `rest` on the lines that follow."""
        inner: list[Line] = []
        room = width - width_of(first[0])
        if room < _MIN_WIDTH:  # nested too deeply for this width: go on without an indent
            first, rest, room = ("", ""), ("", ""), width
        self.blocks(blocks, room, inner, tight=all(block.kind in ("paragraph", "list") for block in blocks))
        for number, line in enumerate(inner or [[]]):
            out.append([rest if number else first, *line])

    def _paragraph(self, block: Block, width: int, out: list[Line]) -> None:
        runs = inline(block.spans, self._links)
        if block.text and not runs:
            runs = [(visible(block.text), "")]
        out.extend(wrap(runs, width))
        if block.children:
            self.blocks(block.children, width, out)

    def _heading(self, block: Block, width: int, out: list[Line]) -> None:
        runs = [(text, f"heading {roles}".strip()) for text, roles in inline(block.spans, self._links)]
        out.extend(wrap(runs, width))

    def _code(self, block: Block, width: int, out: list[Line]) -> None:
        lines = [
            piece
            for line in visible(block.text).rstrip("\n").split("\n")
            for piece in fold(line, width - 4, "block", self._glyphs)
        ]
        for line in lines:
            pad = " " * max(0, width - 2 - line_width(line))
            out.append([("  ", "block"), *line, (pad, "block")])

    def _math(self, block: Block, width: int, out: list[Line]) -> None:
        text = (
            visible(block.text)
            if block.text
            else "".join(text for text, _ in inline(block.spans, self._links))
        )
        for line in text.rstrip("\n").split("\n"):
            out.extend([("    ", ""), *piece] for piece in fold(line, width - 4, "math", self._glyphs))

    def _quote(self, block: Block, width: int, out: list[Line]) -> None:
        mark = (f"{self._glyphs.bar} ", "muted")
        self._nested(block.children, width, mark, mark, out)

    def _note(self, block: Block, width: int, out: list[Line]) -> None:
        mark = (f"{self._glyphs.bar} ", "accent")
        if block.title:
            out.extend(wrap([(visible(block.title), "strong")], width, [mark], [mark]))
        self._nested(block.children, width, mark, mark, out)

    def _list(self, block: Block, width: int, out: list[Line]) -> None:
        tight = all(sum(child.kind != "list" for child in item.children) <= 1 for item in block.children)
        number_width = len(str(block.start + len(block.children) - 1)) + 1
        for position, item in enumerate(block.children):
            if position and not tight:
                out.append([])
            if block.ordered:
                mark = f"{block.start + position}.".rjust(number_width) + " "
            else:
                mark = f"{self._glyphs.bullet} "
            self._item_at(item, width, mark, out)

    def _item_at(self, item: Block, width: int, mark: str, out: list[Line]) -> None:
        children = item.children
        if not children and item.spans:
            out.extend(wrap(inline(item.spans, self._links), width, [(mark, "muted")]))
            return
        self._nested(children, width, (mark, "muted"), (" " * width_of(mark), ""), out)

    def _item(self, block: Block, width: int, out: list[Line]) -> None:
        self._item_at(block, width, f"{self._glyphs.bullet} ", out)

    def _rule(self, block: Block, width: int, out: list[Line]) -> None:
        out.append([(self._glyphs.rule * width, "frame")])

    def _footnotes(self, block: Block, width: int, out: list[Line]) -> None:
        out.append([(self._glyphs.rule * min(width, 20), "frame")])
        self._many_or_paragraph(block, width, out)

    def _definition(self, block: Block, width: int, out: list[Line]) -> None:
        if block.spans:
            runs = [(text, f"strong {roles}".strip()) for text, roles in inline(block.spans, self._links)]
            out.extend(wrap(runs, width))
        if block.children:
            self._nested(block.children, width, ("    ", ""), ("    ", ""), out)

    def _many_or_paragraph(self, block: Block, width: int, out: list[Line]) -> None:
        if block.children:
            self.blocks(block.children, width, out, tight=True)
        else:
            self._paragraph(block, width, out)

    def _table(self, block: Block, width: int, out: list[Line]) -> None:
        rows = [[inline(cell, self._links) for cell in row] for row in block.rows]
        columns = max((len(row) for row in rows), default=0)
        if not columns:
            return
        for row in rows:
            row.extend([] for _ in range(columns - len(row)))
        natural = [max(1, *(line_width(row[column]) for row in rows)) for column in range(columns)]
        widths = _column_widths(natural, width - 2 * (columns - 1))
        if any(size < min(3, wish) for size, wish in zip(widths, natural, strict=True)):
            # Too narrow for columns: a line a cell.
            for row in rows:
                for cell in row:
                    out.extend(wrap(cell, width, [(f"{self._glyphs.bullet} ", "muted")]))
            return
        for number, row in enumerate(rows):
            wrapped = [wrap(cell, size) for cell, size in zip(row, widths, strict=True)]
            for position in range(max(len(lines) for lines in wrapped)):
                line: Line = []
                for column, lines in enumerate(wrapped):
                    if column:
                        line.append(("  ", ""))
                    content = lines[position] if position < len(lines) else []
                    align = block.align[column] if column < len(block.align) else ""
                    line.extend(_aligned(content, widths[column], align, "strong" if number == 0 else ""))
                out.append(line)
            if number == 0:
                out.append([("  ".join(self._glyphs.rule * size for size in widths), "frame")])


def _column_widths(natural: list[int], room: int) -> list[int]:
    """Natural widths where they fit, else the widest columns give way first."""
    if sum(natural) <= room:
        return natural
    widths = [1] * len(natural)
    left = max(room, len(natural)) - len(natural)
    while left > 0:
        wanting = [column for column, size in enumerate(natural) if widths[column] < size]
        if not wanting:
            break
        share = max(1, left // len(wanting))
        for column in wanting:
            step = min(share, natural[column] - widths[column], left)
            widths[column] += step
            left -= step
    return widths


def _aligned(content: Sequence[Run], width: int, align: str, extra: str) -> Line:
    gap = max(0, width - line_width(content))
    left = gap if align == "right" else gap // 2 if align == "center" else 0
    line: Line = [(text, f"{roles} {extra}".strip()) for text, roles in content]
    if left:
        line.insert(0, (" " * left, ""))
    if gap - left:
        line.append((" " * (gap - left), ""))
    return line
