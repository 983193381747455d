"""A text at first sight: its commonest marks read without a parser, which the first screen need not wait for.

What is drawn from it is drawn again from the real document a moment later; the two mostly look alike.
"""

from __future__ import annotations

import re

from quizapp.bank.markdown import Block, Span
from quizapp.bank.text import visible

_INLINE = re.compile(r"`([^`\n]+)`|\*\*([^*\n]+)\*\*|\*([^*\s][^*\n]*)\*")


def glance(text: str) -> tuple[Block, ...]:
    """Paragraphs, code, and the plainest inline marks; anything else as it is written."""
    blocks: list[Block] = []
    paragraph: list[str] = []
    code: list[str] | None = None

    def end_paragraph() -> None:
        if paragraph:
            blocks.append(Block("paragraph", _spans(" ".join(paragraph))))
            paragraph.clear()

    for line in visible(text).split("\n"):
        if line.startswith("```"):
            if code is None:
                end_paragraph()
                code = []
            else:
                blocks.append(Block("code", text="\n".join(code)))
                code = None
        elif code is not None:
            code.append(line)
        elif not line.strip():
            end_paragraph()
        elif line.startswith("    ") and not paragraph:
            if blocks and blocks[-1].kind == "code":
                blocks[-1] = blocks[-1]._replace(text=f"{blocks[-1].text}\n{line[4:]}")
            else:
                blocks.append(Block("code", text=line[4:]))
        else:
            paragraph.append(line.strip())
    end_paragraph()
    if code:
        blocks.append(Block("code", text="\n".join(code)))
    return tuple(blocks)


def _spans(text: str) -> tuple[Span, ...]:
    spans: list[Span] = []
    place = 0
    for match in _INLINE.finditer(text):
        if match.start() > place:
            spans.append(Span(text[place : match.start()]))
        for group, style in ((1, "code"), (2, "strong"), (3, "em")):
            if match[group] is not None:
                spans.append(Span(match[group], (style,)))
        place = match.end()
    if place < len(text):
        spans.append(Span(text[place:]))
    return tuple(spans)
