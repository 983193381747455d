"""Markdown as blocks and spans that any front end can lay out. Nothing that an author wrote is dropped.

Formulas become text where they can and stay TeX where they can't; HTML stays as it is written; what
markdown-it would leave out (cells beyond a table's header, notes and links that nothing refers to) is kept.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from quizapp.bank.layout import to_plain
from quizapp.bank.text import visible

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

__all__ = [
    "Block",
    "Document",
    "Span",
    "document_from_json",
    "document_to_json",
    "is_markdown",
    "parse",
    "to_plain",
]

MAX_NESTING = 60

# Text without any of these, and without the line starts below, is one kind of thing only: paragraphs.
_SPECIAL = frozenset("\\`*_[]<>&~$|^")


class Span(NamedTuple):
    """A run of text in one style. `style` holds some of strong em code strike math link footnote image."""

    text: str
    style: tuple[str, ...] = ()
    href: str = ""
    """Where a link or image leads."""
    source: str = ""
    """A formula as TeX, when `text` is its converted form."""


class Block(NamedTuple):
    """A part of a document. Which fields count depends on `kind`:

    paragraph: spans; heading: spans, level; code: text, language, title; quote, item: children; list:
    children (items), ordered, start, tight; table: rows (header first), align; rule; math: text (source: its
    TeX when converted); note (an alert or admonition): title, children; footnotes: children (items, each with
    its number as title); definition: spans (the term), children.
    """

    kind: str
    spans: tuple[Span, ...] = ()
    children: tuple[Block, ...] = ()
    text: str = ""
    language: str = ""
    level: int = 0
    ordered: bool = False
    start: int = 1
    rows: tuple[tuple[tuple[Span, ...], ...], ...] = ()
    align: tuple[str, ...] = ()
    title: str = ""
    tight: bool = True
    source: str = ""


Document = tuple[Block, ...]


def parse(text: str) -> Document:
    """The document that `text` is. Never fails: what can't be read as Markdown is kept as it stands."""
    text = visible(text)
    if not is_markdown(text):
        paragraphs = re.split(r"\n\s*\n", text)
        spans = [" ".join(line.strip() for line in lines.strip().split("\n")) for lines in paragraphs]
        return tuple(Block("paragraph", (Span(span),)) for span in spans if span)
    return _Parser(text).document()


def is_markdown(text: str) -> bool:
    """Whether `text` may be anything else than plain paragraphs."""
    return not _SPECIAL.isdisjoint(text) or any(_starts_block(line) for line in text.split("\n"))


def _starts_block(line: str) -> bool:
    start = line.lstrip(" ")
    if len(line) - len(start) >= 4 or start.startswith(("-", "+", "=", ":", "#", "!!!", "\t")):
        return True
    # Two spaces at the end break a line; a number with a dot or a bracket is a list.
    return line.endswith(("  ", "\t")) or start.lstrip("0123456789")[:1] in (".", ")")


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = text.split("\n")
        self._env: dict[str, Any] = {}
        self._links_used: set[str] = set()

    def document(self) -> Document:
        tokens = _markdown_it().parse(self._text, self._env)
        unused = [label for label, number in self._notes().get("refs", {}).items() if number < 0]
        if unused:
            # A note that nothing refers to would vanish; a line of references at the end keeps it.
            self._text += "\n\n" + " ".join(f"[^{label[1:]}]" for label in unused)
            self._lines, self._env = self._text.split("\n"), {}
            tokens = _markdown_it().parse(self._text, self._env)
        if any(token.level >= MAX_NESTING for token in tokens):
            return (Block("code", text=self._text),)
        blocks, _ = self._blocks(tokens, 0)
        return blocks + self._unused_links()

    def _notes(self) -> dict[str, Any]:
        notes: dict[str, Any] = self._env.get("footnotes", {})
        return notes

    def _unused_links(self) -> Document:
        blocks = []
        for label, link in self._env.get("references", {}).items():
            if link["href"] not in self._links_used:
                title = f' "{link["title"]}"' if link.get("title") else ""
                # markdown-it keeps labels in capitals.
                written = re.search(rf"\[({re.escape(label)})\]:", self._text, re.IGNORECASE)
                name = written[1] if written else label
                blocks.append(Block("paragraph", (Span(visible(f"[{name}]: {link['href']}{title}")),)))
        return tuple(blocks)

    def _blocks(self, tokens: list[Token], place: int) -> tuple[Document, int]:
        """The blocks from `place` to the end of the container, and the place after it."""
        blocks: list[Block] = []
        while place < len(tokens):
            token = tokens[place]
            if token.nesting < 0:
                return tuple(blocks), place + 1
            if token.nesting == 0:
                blocks += self._leaf(token)
                place += 1
            elif token.type == "table_open":
                block, place = self._table(tokens, place + 1)
                blocks.append(block)
            else:
                children, after = self._blocks(tokens, place + 1)
                blocks += self._container(token, children, tokens[place + 1 : after])
                place = after
        return tuple(blocks), place

    def _leaf(self, token: Token) -> Document:
        if token.type == "inline":
            spans = self._spans(token.children or [])
            return (Block("paragraph", spans),) if spans else ()
        if token.type in ("fence", "code_block"):
            language, _, title = token.info.strip().partition(" ")
            text = token.content.removesuffix("\n")
            return (
                Block("code", text=visible(text), language=visible(language), title=visible(title.strip())),
            )
        if token.type == "hr":
            return (Block("rule"),)
        if token.type.startswith("math_block"):
            label = f" ({token.info})" if token.info else ""
            return (_math(token.content.strip(), label),)
        return (Block("paragraph", (Span(visible(token.content)),)),) if token.content.strip() else ()

    def _container(self, token: Token, children: Document, inside: list[Token]) -> Document:
        match token.type:
            case "paragraph_open":
                return tuple(self._displayed(block) for block in children)
            case "heading_open":
                spans = children[0].spans if children else ()
                return (Block("heading", spans, level=int(token.tag[1:])),)
            case "blockquote_open":
                return (_alert(children) or Block("quote", children=children),)
            case "bullet_list_open" | "ordered_list_open":
                ordered = token.type == "ordered_list_open"
                start = int(token.attrs.get("start", 1))
                tight = any(inner.type == "paragraph_open" and inner.hidden for inner in inside) or not any(
                    inner.type == "paragraph_open" for inner in inside
                )
                return (Block("list", children=children, ordered=ordered, start=start, tight=tight),)
            case "list_item_open":
                return (Block("item", children=children),)
            case "admonition_open":
                title, *rest = children or (Block("paragraph"),)
                return (
                    Block("note", children=tuple(rest), title="".join(span.text for span in title.spans)),
                )
            case "footnote_block_open":
                return (Block("footnotes", children=children),)
            case "footnote_open":
                return (Block("item", children=children, title=str(token.meta["id"] + 1)),)
            case "dt_open":
                return (Block("definition", children[0].spans if children else ()),)
            case "dd_open":
                return (Block("definition", children=children),)
            case "dl_open":
                return _definitions(children)
            case _:
                return children

    def _displayed(self, block: Block) -> Block:
        """A paragraph that is one displayed formula, as such."""
        if block.kind == "paragraph" and len(block.spans) == 1 and "display" in block.spans[0].style:
            span = block.spans[0]
            return Block("math", text=span.text, source=span.source)
        return block

    def _table(self, tokens: list[Token], place: int) -> tuple[Block, int]:
        rows: list[tuple[tuple[Span, ...], ...]] = []
        align: list[str] = []
        row: list[tuple[Span, ...]] = []
        while tokens[place].type != "table_close":
            token = tokens[place]
            if token.type == "tr_open":
                row = []
                beyond = self._cells_beyond(token.map, len(align)) if align else []
            elif token.type == "th_open":
                align.append(str(token.attrs.get("style", "")).removeprefix("text-align:") or "left")
            elif token.type == "inline":
                row.append(self._spans(token.children or []))
            elif token.type == "tr_close":
                rows.append((*row, *beyond))
            elif token.type in ("th_close", "td_close") and tokens[place - 1].type != "inline":
                row.append(())
            place += 1
        return Block("table", rows=tuple(rows), align=tuple(align)), place + 1

    def _cells_beyond(self, lines: list[int] | None, columns: int) -> list[tuple[Span, ...]]:
        """The cells of a row that the header has no column for: GFM leaves them out."""
        if lines is None or lines[0] >= len(self._lines):
            return []
        from markdown_it.rules_block.table import escapedSplit

        cells = [cell.strip() for cell in escapedSplit(self._lines[lines[0]].lstrip(" \t>").strip())]
        if cells and not cells[0]:
            cells = cells[1:]
        if cells and not cells[-1]:
            cells = cells[:-1]
        beyond = []
        for cell in cells[columns:]:
            inline = _markdown_it().parseInline(cell, self._env)[0]
            beyond.append(self._spans(inline.children or []))
        return beyond

    def _spans(self, tokens: list[Token]) -> tuple[Span, ...]:
        spans: list[Span] = []
        styles: list[str] = []
        links: list[tuple[str, str]] = []
        for token in tokens:
            style = tuple(dict.fromkeys(styles))
            href = links[-1][0] if links else ""
            match token.type:
                case "strong_open" | "em_open" | "s_open":
                    styles.append({"strong_open": "strong", "em_open": "em", "s_open": "strike"}[token.type])
                case "strong_close" | "em_close" | "s_close":
                    styles.remove(
                        {"strong_close": "strong", "em_close": "em", "s_close": "strike"}[token.type]
                    )
                case "link_open":
                    links.append((self._used(token, "href"), str(token.attrs.get("title", ""))))
                    styles.append("link")
                case "link_close":
                    styles.remove("link")
                    _, title = links.pop()
                    if title:
                        spans.append(Span(visible(f" ({title})"), tuple(styles)))
                case "image":
                    alt = "".join(span.text for span in self._spans(token.children or []))
                    title = f" ({token.attrs['title']})" if token.attrs.get("title") else ""
                    label = visible(f"[image: {alt}{title}]")
                    spans.append(Span(label, (*style, "image"), self._used(token, "src")))
                case "softbreak":
                    spans.append(Span(" ", style, href))
                case "hardbreak":
                    spans.append(Span("\n", style, href))
                case "code_inline":
                    spans.append(Span(visible(token.content), (*style, "code"), href))
                case "math_inline" | "math_inline_double":
                    display = ("display",) if token.type == "math_inline_double" else ()
                    spans.append(_formula(token.content.strip(), (*style, "math", *display), href))
                case "footnote_ref":
                    spans.append(Span(f"[{token.meta['id'] + 1}]", (*style, "footnote")))
                case "footnote_anchor":
                    pass
                case _:
                    if token.content:
                        spans.append(Span(visible(token.content), style, href))
        return _merged(spans)

    def _used(self, token: Token, name: str) -> str:
        href = str(token.attrs.get(name, ""))
        self._links_used.add(href)
        return visible(href)


def _formula(tex: str, style: tuple[str, ...], href: str = "") -> Span:
    from quizapp.bank.formula import to_text

    text = to_text(tex)
    return Span(visible(tex), style, href) if text is None else Span(visible(text), style, href, visible(tex))


def _math(tex: str, label: str) -> Block:
    span = _formula(tex, ())
    return Block("math", text=span.text + visible(label), source=span.source)


def _alert(children: Document) -> Block | None:
    """GitHub's `> [!NOTE]`, as a note."""
    first = children[0] if children else Block("rule")
    if first.kind != "paragraph" or not first.spans:
        return None
    head, broken, rest = first.spans[0].text.partition(" ")
    found = re.match(r"\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]$", head)
    if not found or first.spans[0].style:
        return None
    spans = (Span(rest), *first.spans[1:]) if broken and rest else first.spans[1:]
    body = (Block("paragraph", spans), *children[1:]) if spans else children[1:]
    return Block("note", children=body, title=found[1].capitalize())


def _definitions(parts: Document) -> Document:
    """Terms joined with what follows them."""
    blocks: list[Block] = []
    for part in parts:
        if part.spans or not blocks:
            blocks.append(part)
        else:
            term = blocks.pop()
            blocks.append(Block("definition", term.spans, term.children + part.children))
    return tuple(blocks)


def _merged(spans: list[Span]) -> tuple[Span, ...]:
    """Neighbours of one style as one span."""
    merged: list[Span] = []
    for span in spans:
        last = merged[-1] if merged else None
        if last and last.style == span.style and last.href == span.href and not (last.source or span.source):
            merged[-1] = Span(last.text + span.text, last.style, last.href)
        elif span.text:
            merged.append(span)
    return tuple(merged)


_parser: MarkdownIt | None = None


def _markdown_it() -> MarkdownIt:
    global _parser
    if _parser is None:
        from markdown_it import MarkdownIt
        from mdit_py_plugins.admon import admon_plugin
        from mdit_py_plugins.deflist import deflist_plugin
        from mdit_py_plugins.dollarmath import dollarmath_plugin
        from mdit_py_plugins.footnote import footnote_plugin

        _parser = (
            MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING + 1})
            .enable(["table", "strikethrough"])
            .use(footnote_plugin)
            .use(dollarmath_plugin, allow_space=False, allow_digits=False, double_inline=True)
            .use(deflist_plugin)
            .use(admon_plugin)
        )
        _parser.block.ruler.at("footnote_def", _note, {"alt": ["paragraph", "reference"]})
    return _parser


def _note(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """The plugin's rule for a footnote's definition. A second one of a name gets a name of its own: it would
    take the place of the first, whose words would be lost.
    """
    from mdit_py_plugins.footnote.index import footnote_def

    known = set(state.env.get("footnotes", {}).get("refs", {}))
    place = len(state.tokens)
    if not footnote_def(state, start, end, silent):
        return False
    if not silent:
        token, refs = state.tokens[place], state.env["footnotes"]["refs"]
        label = token.meta["label"]
        if f":{label}" in known:
            number = 2
            while f":{label}-{number}" in refs:
                number += 1
            token.meta["label"] = f"{label}-{number}"
            refs[f":{label}-{number}"] = -1
    return True


def document_to_json(document: Document) -> str:
    """The document as one line of JSON."""
    return json.dumps(
        [_block_to_plain(block) for block in document], ensure_ascii=False, separators=(",", ":")
    )


def document_from_json(text: str) -> Document:
    """What `document_to_json` wrote. Raises ValueError, KeyError or TypeError for anything else."""
    return tuple(_block_from_plain(block) for block in json.loads(text))


def _block_to_plain(block: Block) -> dict[str, Any]:
    plain: dict[str, Any] = {"kind": block.kind}
    if block.spans:
        plain["spans"] = [_span_to_plain(span) for span in block.spans]
    if block.children:
        plain["children"] = [_block_to_plain(child) for child in block.children]
    if block.rows:
        plain["rows"] = [[[_span_to_plain(span) for span in cell] for cell in row] for row in block.rows]
    for name in ("text", "language", "level", "title", "source", "align"):
        if getattr(block, name):
            plain[name] = getattr(block, name)
    if block.kind == "list":
        plain |= {"ordered": block.ordered, "start": block.start, "tight": block.tight}
    return plain


def _block_from_plain(plain: dict[str, Any]) -> Block:
    fields = dict(plain)
    fields["spans"] = tuple(Span(*_tupled(span)) for span in plain.get("spans", ()))
    fields["children"] = tuple(_block_from_plain(child) for child in plain.get("children", ()))
    fields["rows"] = tuple(
        tuple(tuple(Span(*_tupled(span)) for span in cell) for cell in row) for row in plain.get("rows", ())
    )
    fields["align"] = tuple(plain.get("align", ()))
    return Block(**fields)


def _span_to_plain(span: Span) -> list[Any]:
    if span.source:
        return [span.text, span.style, span.href, span.source]
    if span.href:
        return [span.text, span.style, span.href]
    return [span.text, span.style] if span.style else [span.text]


def _tupled(span: list[Any]) -> list[Any]:
    return [span[0], tuple(span[1]), *span[2:]] if len(span) > 1 else span
