"""The page around a report, for light, dark and paper, and the parts that reports are made of."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

from quizapp.bank.text import visible

# Nothing is loaded and nothing runs: images come as data, and links are only followed by hand.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


@cache
def _style() -> str:
    return Path(__file__).with_name("page.css").read_text(encoding="utf-8")


def page(title: str, language: str, body: str) -> str:
    """A whole HTML document."""
    head = (
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{said(title)}</title>",
        f"<style>{_style()}</style>",
    )
    skip = '<a class=skip href="#main">To the content</a>'
    top = "\n".join(head)
    return (
        f'<!doctype html>\n<html lang="{escape(language, quote=True)}">\n<head>\n{top}\n</head>\n'
        f"<body>\n{skip}\n<main id=main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def said(text: str) -> str:
    """Text of anybody's as HTML: escaped, with control characters as visible signs."""
    return escape(visible(text))


def table(
    caption: str, head: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()
) -> str:
    """A table; cells are texts, the columns whose places are in `numbers` stand to the right."""

    def cell(tag: str, place: int, text: str) -> str:
        side = " class=right" if place in numbers else ""
        scope = " scope=col" if tag == "th" else ""
        return f"<{tag}{scope}{side}>{said(text)}</{tag}>"

    top = "".join(cell("th", place, text) for place, text in enumerate(head))
    body = "".join(
        "<tr>" + "".join(cell("td", place, text) for place, text in enumerate(row)) + "</tr>" for row in rows
    )
    return (
        f"<table><caption>{said(caption)}</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    )


def bars(title: str, rows: Sequence[tuple[str, float, str]]) -> str:
    """Shares as bars: (name, share from 0 to 1, words). The words say it without the picture, too."""
    height, left, width = 24, 410, 220
    parts = [
        f'<svg role="img" aria-labelledby="bars" viewBox="0 0 900 {len(rows) * height + 4}" width="900">',
        f'<title id="bars">{said(title)}: '
        + said("; ".join(f"{name}: {words}" for name, _, words in rows))
        + "</title>",
    ]
    for number, (name, share, words) in enumerate(rows):
        y = number * height
        short = name if len(name) <= 62 else name[:61] + "…"
        parts.append(f'<text x="0" y="{y + 16}">{said(short)}</text>')
        parts.append(f'<rect class="track" x="{left}" y="{y + 6}" width="{width}" height="12"/>')
        filled = max(0.0, min(1.0, share)) * width
        parts.append(f'<rect class="bar" x="{left}" y="{y + 6}" width="{filled:.1f}" height="12"/>')
        parts.append(f'<text x="{left + width + 10}" y="{y + 16}">{said(words)}</text>')
    return "".join([*parts, "</svg>"])


def spans(title: str, rows: Sequence[tuple[str, int, int]]) -> str:
    """Stretches on one axis, one above the other: (name, from, to), in any unit; a table beside it has them.

    Beyond 60 rows they stand so close that only their course is told, without names.
    """
    first = min((begun for _, begun, _ in rows), default=0)
    whole = max(1, max((ended for _, _, ended in rows), default=1) - first)
    named = len(rows) <= 60
    pitch, left, width = (14.0 if named else max(0.05, 800 / len(rows))), 40, 760
    height = len(rows) * pitch + 4
    parts = [
        f'<svg role="img" aria-labelledby="spans" viewBox="0 0 820 {height:.1f}" width="820">',
        f'<title id="spans">{said(title)}. The table below has the times.</title>',
    ]
    for number, (name, begun, ended) in enumerate(rows):
        y = number * pitch
        if named:
            parts.append(f'<text x="0" y="{y + 11:.1f}">{said(name)}</text>')
        x, wide = left + (begun - first) / whole * width, max(2.0, (ended - begun) / whole * width)
        place = f'x="{x:.1f}" y="{y + 2:.2f}" width="{wide:.1f}" height="{max(0.05, pitch - 4):.2f}"'
        parts.append(f'<rect class="bar" {place}/>')
    return "".join([*parts, "</svg>"])
