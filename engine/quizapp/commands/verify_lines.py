"""What `quizapp verify` prints: progress on stderr, findings with the numbers that they rest on."""

from __future__ import annotations

import os
import textwrap
from typing import TYPE_CHECKING, TextIO

from quizapp.bank.text import visible
from quizapp.lab.finding_words import SIGNS, finding_words, progress_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from quizapp.lab.finding import Finding
    from quizapp.lab.verify import Progress

WIDTH = 79


class ProgressLine:
    """One line that is redrawn on a terminal; a line a run elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._redraws = stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"

    def say(self, text: str) -> None:
        """Show a remark in the place of the progress."""
        if self._redraws:
            self._stream.write(f"\r\x1b[K{text[: WIDTH - 1]}")
        else:
            self._stream.write(f"{text}\n")
        self._stream.flush()

    def show(self, progress: Progress) -> None:
        """Show what is being run and the time left."""
        self.say(progress_words(progress))

    def end(self) -> None:
        """Leave an empty line behind."""
        if self._redraws:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def finding_lines(finding: Finding) -> Iterator[str]:
    """A finding: the word, the reason, then each option and control with the numbers."""
    yield from _wrapped(f"{SIGNS[finding.finding]} {visible(finding.question)}", "")
    for said in finding_words(finding):
        yield from _wrapped(said.text, "  " * (said.depth + 1))
    yield ""


def total_lines(found: Sequence[Finding], *, claimed: int, made: int, needed: int) -> Iterator[str]:
    """How many keys stand, on what."""
    counts = {name: sum(finding.finding == name for finding in found) for name in SIGNS}
    yield ", ".join(f"{count} {name}" for name, count in counts.items())
    whose = f", {claimed} of them the author's, not made here" if claimed else ""
    yield f"evidence of {made} of {needed} runs{whose}"
    for notice in dict.fromkeys(notice for finding in found for notice in finding.notices):
        yield from _wrapped(visible(notice), "")


def _wrapped(text: str, indent: str) -> Iterator[str]:
    yield from textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ", break_long_words=False
    )
