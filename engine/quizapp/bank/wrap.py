"""Text in a grid of cells: how wide it is, and where its lines break."""

from __future__ import annotations


def cell_width(text: str) -> int:
    """Cells that `text` takes on a terminal: 2 for wide East Asian characters, 0 for combining marks."""
    if text.isascii():
        return len(text)
    import unicodedata

    width = 0
    for character in text:
        if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
            continue
        width += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return width


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most `width` cells, broken at spaces; a longer word has a line of its own.

    Line feeds stay; a run of spaces becomes one.
    """
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line, used = "", 0
        for word in paragraph.split():
            length = cell_width(word)
            if line and used + 1 + length > width:
                lines.append(line)
                line, used = word, length
            else:
                line = f"{line} {word}" if line else word
                used += length + (1 if used else 0)
        lines.append(line)
    return lines


def pad(text: str, width: int, align: str = "left") -> str:
    """`text` filled up with spaces to `width` cells; `align` is left, right or center."""
    free = max(0, width - cell_width(text))
    before = {"right": free, "center": free // 2}.get(align, 0)
    return " " * before + text + " " * (free - before)
