"""A Markdown document as lines of plain text, for pipes, screen readers and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quizapp.bank.wrap import cell_width, pad, wrap

if TYPE_CHECKING:
    from quizapp.bank.markdown import Block, Span

# What text looks like where only ASCII can be shown.
_ASCII = {
    "–": "-", "—": "--", "−": "-", "‐": "-", "‑": "-", "…": "...", "·": "*", "×": "x", "÷": "/", "∗": "*",
    "•": "*", "‘": "'", "’": "'", "“": '"', "”": '"', "„": '"', "«": "<<", "»": ">>", "≤": "<=", "≥": ">=",
    "≠": "!=", "≈": "~", "→": "->", "←": "<-", "↔": "<->", "⇒": "=>", "⇔": "<=>", "✔": "v", "✘": "x",
    "°": " deg", "µ": "u", "μ": "u", "′": "'", "\u00a0": " ", "\u202f": " ", "⌈": "ceil(", "⌉": ")",
    "⌊": "floor(", "⌋": ")", "√": "sqrt", "∑": "sum", "∏": "prod", "∞": "inf", "±": "+-", "⟨": "<", "⟩": ">",
}  # fmt: skip


def to_plain(blocks: Sequence[Block], width: int = 76, ascii_only: bool = False) -> str:
    """The document in lines of at most `width` cells where words, code and addresses allow it.

    With `ascii_only`, formulas are TeX and other characters are spelled in ASCII.
    """
    text = "\n".join(_Layout(ascii_only).lines(blocks, max(width, 10)))
    return to_ascii(text) if ascii_only else text


def to_ascii(text: str) -> str:
    """`text` in ASCII: signs spelled out, accents dropped, `?` for the rest."""
    if text.isascii():
        return text
    import unicodedata

    signs = []
    for character in text:
        if character.isascii():
            signs.append(character)
        elif character in _ASCII:
            signs.append(_ASCII[character])
        elif 0x2400 <= ord(character) <= 0x2421:
            signs.append(f"<{ord(character) - 0x2400 if character != '␡' else 0x7F:02X}>")
        else:
            plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
            signs.append(plain or ("" if unicodedata.combining(character) else "?"))
    return "".join(signs)


class _Layout:
    def __init__(self, ascii_only: bool) -> None:
        self._tex = ascii_only

    def lines(self, blocks: Sequence[Block], width: int, *, tight: bool = False) -> list[str]:
        lines: list[str] = []
        for block in blocks:
            part = self._block(block, width)
            if lines and part and not tight:
                lines.append("")
            lines += part
        return lines

    def _block(self, block: Block, width: int) -> list[str]:
        match block.kind:
            case "paragraph":
                return wrap(self._text(block.spans), width)
            case "heading":
                return wrap(f"{'#' * block.level} {self._text(block.spans)}", width)
            case "code":
                head = (
                    [f"[{block.language} {block.title}".rstrip() + "]"]
                    if block.title or not block.text
                    else []
                )
                return head + [f"    {line}".rstrip() for line in block.text.split("\n")]
            case "math":
                tex = block.source if self._tex and block.source else block.text
                return [f"    {line}" for line in tex.split("\n")]
            case "rule":
                return ["-" * min(width, 40)]
            case "quote":
                return [f"> {line}".rstrip() for line in self.lines(block.children, width - 2)]
            case "note":
                lines = [f"{block.title}:"] if block.title else []
                return lines + [f"| {line}".rstrip() for line in self.lines(block.children, width - 2)]
            case "list":
                return self._list(block, width)
            case "table":
                return self._table(block, width)
            case "footnotes":
                lines = []
                for note in block.children:
                    lines += _hanging(f"[{note.title}] ", self.lines(note.children, width - 4))
                return lines
            case "definition":
                head = wrap(self._text(block.spans), width) if block.spans else []
                return head + [f"    {line}".rstrip() for line in self.lines(block.children, width - 4)]
            case _:
                return self.lines(block.children, width)

    def _list(self, block: Block, width: int) -> list[str]:
        lines: list[str] = []
        for number, item in enumerate(block.children, block.start):
            mark = f"{number}. " if block.ordered else "- "
            if lines and not block.tight:
                lines.append("")
            lines += _hanging(mark, self.lines(item.children, width - len(mark), tight=block.tight))
        return lines

    def _table(self, block: Block, width: int) -> list[str]:
        rows = [[self._text(cell).replace("\n", " ") for cell in row] for row in block.rows]
        columns = max((len(row) for row in rows), default=0)
        for row in rows:
            row += [""] * (columns - len(row))
        widths = [max(cell_width(row[column]) for row in rows) for column in range(columns)]
        align = [*block.align, *["left"] * (columns - len(block.align))]
        if sum(widths) + 3 * (columns - 1) > width:
            return self._narrow_table(rows, width)
        lines = [
            " | ".join(pad(cell, widths[column], align[column]) for column, cell in enumerate(row)).rstrip()
            for row in rows
        ]
        lines.insert(1, "-+-".join("-" * cells for cells in widths))
        return lines

    def _narrow_table(self, rows: list[list[str]], width: int) -> list[str]:
        """A table that is wider than the page: each row as `header: cell` lines."""
        header, *body = rows
        lines: list[str] = []
        for row in body or [[""] * len(header)]:
            if lines:
                lines.append("")
            for name, cell in zip(header, row, strict=True):
                if name or cell:
                    lines += _hanging("- ", wrap(f"{name}: {cell}" if name else cell, width - 2))
        return lines

    def _text(self, spans: Sequence[Span]) -> str:
        parts = []
        for index, span in enumerate(spans):
            text = span.source if self._tex and span.source else span.text
            if "code" in span.style:
                text = f"`{text}`"
            mark = "*" if "strong" in span.style or "em" in span.style else ""
            if "strike" in span.style:
                text = f"~~{text}~~"
            text = f"{mark}{text}{mark}"
            linked_on = index + 1 < len(spans) and spans[index + 1].href == span.href
            if span.href and not linked_on and span.href not in (span.text, f"mailto:{span.text}"):
                text = f"{text} <{span.href}>"
            parts.append(text)
        return "".join(parts)


def _hanging(mark: str, lines: list[str]) -> list[str]:
    first, *rest = lines or [""]
    return [f"{mark}{first}".rstrip(), *(f"{' ' * len(mark)}{line}".rstrip() for line in rest)]
