"""A finding on screen, predicate by predicate, and how far its runs are. No Textual."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from quizapp.bank.text import visible
from quizapp.lab.finding_words import finding_words, progress_words
from quizapp.tui.glyphs import Glyphs
from quizapp.tui.lab_words import EMULATED_BADGE
from quizapp.tui.render import Line, wrap

if TYPE_CHECKING:
    from quizapp.lab.finding import Finding
    from quizapp.lab.verify import Progress


def headline(
    finding: Finding, progress: Progress | None, *, running: bool, trouble: bool, glyphs: Glyphs
) -> Line:
    """One line: what runs and how much is left, or the finding."""
    if running and progress is None:
        return [(f"{glyphs.partial} WARMING", "accent"), ("  importing torch, a few seconds", "muted")]
    if running and progress is not None:
        return [(f"{glyphs.filled} TESTING", "accent"), (f"  {progress_words(progress)}", "muted")]
    if trouble:
        return [(f"{glyphs.wrong} ENDED EARLY", "wrong"), ("  the reason stands below", "muted")]
    sign, role = {
        "supported": (glyphs.right, "right"),
        "contradicted": (glyphs.wrong, "wrong"),
        "inconclusive": (glyphs.partial, "partial"),
    }[finding.finding]
    return [(f"{sign} {finding.finding.upper()}", role)]


def badge_lines(finding: Finding, conditions: str, trouble: str, width: int) -> list[Line]:
    """What must stand beside the numbers: the conditions, and that no GPU was used."""
    lines: list[Line] = []
    if trouble:
        lines += [*wrap([(visible(trouble), "warning")], width), []]
    if "emulated" in finding.device_kind:
        lines += wrap([(EMULATED_BADGE, "warning")], width)
    if conditions:
        lines += wrap([(visible(conditions), "")], width, [("Conditions ", "muted")])
    return [*lines, []] if lines and lines[-1] else lines


def finding_lines(
    finding: Finding, letters: Mapping[str, str], width: int, glyphs: Glyphs, *, running: bool = False
) -> list[Line]:
    """The reason, then each option and the control with the predicates that decide.

    While it is `running`, nothing is found yet.
    """
    signs = {True: (glyphs.right, "right"), False: (glyphs.wrong, "wrong"), None: (glyphs.dot, "muted")}
    lines: list[Line] = []
    for said in finding_words(finding, letters):
        sign, role = signs[said.good]
        if said.depth == 0 and running:
            continue
        if said.depth == 0:
            lines += wrap([(said.text, "strong" if not lines else "")], width)
            continue
        if said.depth == 1 and lines:
            lines.append([])
        indent = "    " if said.depth == 2 else ""
        text_role = "muted" if said.depth == 2 else "strong"
        lines += wrap([(said.text, text_role)], width, [(f"{indent}{sign} ", role)])
    return lines
