"""Markdown as HTML: what `bank/markdown.py` reads, element by element, every character escaped. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from quizapp.bank.documents import document
from quizapp.bank.markdown import Block, Span
from quizapp.bank.references import resolve

_STYLES = {"strong": "strong", "em": "em", "strike": "s", "code": "code", "footnote": "sup", "math": "i"}


def rendered(text: str, letters: Mapping[str, str] | None = None) -> str:
    """A text of a bank as HTML, its references to options as their letters."""
    if "{{" in text:
        text = resolve(text, dict(letters or {}))
    return blocks(document(text))


def blocks(parts: Sequence[Block]) -> str:
    """Blocks one after the other."""
    return "".join(_block(part) for part in parts)


def _block(block: Block) -> str:
    match block.kind:
        case "paragraph":
            return f"<p>{_spans(block.spans)}</p>"
        case "heading":
            # The page's own headings end at 3: those of a text go below them.
            return f"<h{min(6, 3 + block.level)}>{_spans(block.spans)}</h{min(6, 3 + block.level)}>"
        case "code":
            title = f"<p class=caption>{escape(block.title)}</p>" if block.title else ""
            return f"{title}<pre><code>{escape(block.text)}</code></pre>"
        case "math":
            return f"<pre class=math>{escape(block.text)}</pre>"
        case "rule":
            return "<hr>"
        case "quote":
            return f"<blockquote>{blocks(block.children)}</blockquote>"
        case "note":
            title = f"<p class=caption>{escape(block.title)}</p>" if block.title else ""
            return f"<aside>{title}{blocks(block.children)}</aside>"
        case "list":
            tag = f'ol start="{block.start}"' if block.ordered else "ul"
            items = "".join(f"<li>{_item(item, tight=block.tight)}</li>" for item in block.children)
            return f"<{tag}>{items}</{tag[:2]}>"
        case "table":
            return _table(block)
        case "footnotes":
            notes = (f"<p><sup>[{escape(n.title)}]</sup></p>{blocks(n.children)}" for n in block.children)
            return f"<div class=notes>{''.join(notes)}</div>"
        case "definition":
            return f"<dl><dt>{_spans(block.spans)}</dt><dd>{blocks(block.children)}</dd></dl>"
        case _:
            return blocks(block.children)


def _item(item: Block, *, tight: bool) -> str:
    return "".join(
        _spans(child.spans) if tight and child.kind == "paragraph" else _block(child)
        for child in item.children
    )


def _table(block: Block) -> str:
    header, *body = block.rows or ((),)
    sides = [f' class="{side}"' if side in ("center", "right") else "" for side in block.align]
    sides += [""] * (max((len(row) for row in block.rows), default=0) - len(sides))
    head = "".join(
        f"<th scope=col{side}>{_spans(cell)}</th>" for side, cell in zip(sides, header, strict=False)
    )
    rows = "".join(
        "<tr>"
        + "".join(f"<td{side}>{_spans(cell)}</td>" for side, cell in zip(sides, row, strict=False))
        + "</tr>"
        for row in body
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _spans(spans: Sequence[Span]) -> str:
    return "".join(_span(span) for span in spans)


def _span(span: Span) -> str:
    text = escape(span.text).replace("\n", "<br>")
    for style in span.style:
        if style in _STYLES:
            text = f"<{_STYLES[style]}>{text}</{_STYLES[style]}>"
    if span.href.lower().startswith(("https://", "http://", "mailto:")):
        text = f'<a href="{escape(span.href, quote=True)}" rel="noreferrer">{text}</a>'
    elif span.href:
        text = f"{text} <span class=address>{escape(span.href)}</span>"
    return text
