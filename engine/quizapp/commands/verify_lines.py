"""What `quizapp verify` prints: progress on stderr, findings with the numbers that they rest on."""

from __future__ import annotations

import os
import textwrap
from typing import TYPE_CHECKING, TextIO

from quizapp.bank.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from quizapp.lab.finding import Finding, Repeat, Tested
    from quizapp.lab.verify import Progress

WIDTH = 79
_SIGNS = {"supported": "✓", "contradicted": "✗", "inconclusive": "?"}


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
        left = "" if progress.left_s is None else f", about {progress.left_s:.0f} s left"
        self.say(f"run {progress.done + 1} of {progress.total}{left}: {visible(progress.running)}")

    def end(self) -> None:
        """Leave an empty line behind."""
        if self._redraws:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def finding_lines(finding: Finding) -> Iterator[str]:
    """A finding: the word, the reason, then a line for the control and for each option."""
    yield from _wrapped(f"{_SIGNS[finding.finding]} {finding.finding}: {visible(finding.question)}", "")
    yield from _wrapped(finding.reason, "    ")
    if finding.settle:
        yield from _wrapped(f"would settle it: {finding.settle}", "    ")
    for tested in (*finding.controls, *finding.options):
        yield from _tested_lines(tested)
    yield ""


def _tested_lines(tested: Tested) -> Iterator[str]:
    what = (
        "control" if tested.name == "control" else ("key " if tested.correct else "distractor ") + tested.name
    )
    demo = f" ({tested.demo})" if tested.demo and tested.name != "control" else ""
    if not tested.demo:
        yield from _wrapped(f"{what}: no demo", "  ")
        return
    repeats = tested.repeats
    if tested.shows == "yes":
        yield from _wrapped(f"{what}{demo}: shows it, {len(repeats)} of {len(repeats)} repeats", "  ")
        for number, reading in enumerate(repeats[0].readings):
            spread = [repeat.readings[number].measured for repeat in repeats]
            margins = [m for repeat in repeats if (m := repeat.readings[number].margin) is not None]
            margin = (
                f", nearest bound {_margin_words(min(margins), reading.condition)} away" if margins else ""
            )
            measured = " / ".join(dict.fromkeys(spread))
            yield from _wrapped(
                f"“{visible(reading.predicate.says)}” {reading.condition}: "
                f"wanted {reading.wanted}, measured {measured}{margin}",
                "      ",
            )
    elif tested.shows == "no":
        yield from _wrapped(f"{what}{demo}: does not, {len(repeats)} of {len(repeats)} repeats", "  ")
        yield from _failing_lines(repeats)
    elif tested.shows == "differs":
        count = sum(repeat.shows == "yes" for repeat in repeats)
        yield from _wrapped(f"{what}{demo}: shows it in {count} of {len(repeats)} repeats", "  ")
        yield from _failing_lines([repeat for repeat in repeats if repeat.shows == "no"])
    else:
        yield from _wrapped(f"{what}{demo}: {visible(tested.missing)}", "  ")


def _failing_lines(repeats: Sequence[Repeat]) -> Iterator[str]:
    """Every predicate that fails in all of the repeats, each where it fails by the least."""
    for number in range(len(repeats[0].readings)):
        readings = [repeat.readings[number] for repeat in repeats]
        if any(reading.holds or not reading.available for reading in readings):
            continue
        reading = min(readings, key=lambda one: one.margin if one.margin is not None else 0.0)
        off = "" if reading.margin is None else _margin_words(reading.margin, reading.condition)
        yield from _wrapped(
            f"“{visible(reading.predicate.says)}” {reading}{f', {off} off' if off else ''}", "      "
        )


def _margin_words(margin: float, condition: str) -> str:
    """A margin with its unit; "" for a count, whose distance to its bound says nothing."""
    if condition == "processes":
        return ""
    if "at zero for" in condition:
        return f"{margin:.1f} s"
    if any(word in condition for word in ("utilisation", "compute", "collective", "wait")):
        return f"{margin * 100:.0f} points"
    if "memory" in condition:
        return f"{margin / 2**30:.1f} GiB"
    return f"{margin:.3g}"


def total_lines(found: Sequence[Finding], *, claimed: int, made: int, needed: int) -> Iterator[str]:
    """How many keys stand, on what."""
    counts = {name: sum(finding.finding == name for finding in found) for name in _SIGNS}
    yield ", ".join(f"{count} {name}" for name, count in counts.items())
    whose = f", {claimed} of them the author's, not made here" if claimed else ""
    yield f"evidence of {made} of {needed} runs{whose}"
    for notice in dict.fromkeys(notice for finding in found for notice in finding.notices):
        yield from _wrapped(visible(notice), "")


def _wrapped(text: str, indent: str) -> Iterator[str]:
    yield from textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ", break_long_words=False
    )
