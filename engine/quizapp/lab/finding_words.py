"""A finding in words: the reason, then the numbers of the control and of each option, line by line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from quizapp.bank.text import visible

if TYPE_CHECKING:
    from quizapp.lab.finding import Finding, Repeat, Tested
    from quizapp.lab.verify import Progress

SIGNS = {"supported": "✓", "contradicted": "✗", "inconclusive": "?"}


class Said(NamedTuple):
    """A paragraph: its depth (0: the finding, 1: an option, 2: a predicate), and whether it bears it out."""

    depth: int
    text: str
    good: bool | None = None
    """For an option, whether it does as its place in the question says; None: nothing is known."""


def finding_words(finding: Finding, letters: Mapping[str, str] | None = None) -> Iterator[Said]:
    """The finding, its reason, then the options and the controls.

    `letters`: option id -> letter on screen, whose order is kept.
    """
    letters = letters or {}
    good = {"supported": True, "contradicted": False}.get(finding.finding)
    yield Said(0, f"{finding.finding}: {visible(finding.reason)}", good)
    if finding.settle:
        yield Said(0, f"would settle it: {finding.settle}")
    place = {option_id: number for number, option_id in enumerate(letters)}
    for tested in sorted(finding.options, key=lambda one: place.get(one.name, 0)):
        letter = f"{letters[tested.name]}, " if tested.name in letters else ""
        what = f"{'key' if tested.correct else 'distractor'} {letter}{tested.name}"
        yield from _tested_words(tested, f"{what} ({visible(tested.demo)})" if tested.demo else what)
    for tested in finding.controls:
        # One for each set of parameters that it shares with the options' demos.
        yield from _tested_words(tested, f"control ({visible(tested.demo)})")


def progress_words(progress: Progress) -> str:
    """What is being run, and how much is left."""
    left = "" if progress.left_s is None else f", about {progress.left_s:.0f} s left"
    return f"run {progress.done + 1} of {progress.total}{left}: {visible(progress.running)}"


def _tested_words(tested: Tested, what: str) -> Iterator[Said]:
    repeats = tested.repeats
    count = f"{len(repeats)} of {len(repeats)} repeats"
    if not tested.demo:
        yield Said(1, f"{what}: no demo")
    elif tested.shows == "yes":
        yield Said(1, f"{what}: shows every sign, {count}", tested.correct)
        yield from _holding(repeats)
    elif tested.shows == "no":
        yield Said(1, f"{what}: does not show them all, {count}", not tested.correct)
        yield from _failing(repeats)
    elif tested.shows == "differs":
        showing = sum(repeat.shows == "yes" for repeat in repeats)
        yield Said(1, f"{what}: shows every sign in {showing} of {len(repeats)} repeats")
        yield from _failing([repeat for repeat in repeats if repeat.shows == "no"])
    else:
        made = sum(repeat.summary is not None for repeat in repeats)
        some = f"{made} of {len(repeats)} repeats made; " if made else ""
        yield Said(1, f"{what}: {some}{visible(tested.missing)}")


def _holding(repeats: Sequence[Repeat]) -> Iterator[Said]:
    """Every predicate, with the readings of all repeats and the least distance to a bound."""
    for number, reading in enumerate(repeats[0].readings):
        readings = [repeat.readings[number] for repeat in repeats]
        measured = " / ".join(dict.fromkeys(one.measured for one in readings))
        margins = [one.margin for one in readings if one.margin is not None]
        away = margin_words(min(margins), reading.condition) if margins else ""
        yield Said(
            2,
            f"“{visible(reading.predicate.says)}” {reading.condition}: wanted {reading.wanted}, "
            f"measured {measured}{f', nearest bound {away} away' if away else ''}",
            True,
        )


def _failing(repeats: Sequence[Repeat]) -> Iterator[Said]:
    """Every predicate that fails in all of the repeats, each where it fails by the least."""
    for number in range(len(repeats[0].readings)):
        readings = [repeat.readings[number] for repeat in repeats]
        if any(reading.holds or not reading.available for reading in readings):
            continue
        reading = min(readings, key=lambda one: one.margin if one.margin is not None else 0.0)
        off = "" if reading.margin is None else margin_words(reading.margin, reading.condition)
        yield Said(2, f"“{visible(reading.predicate.says)}” {reading}{f', {off} off' if off else ''}", False)


def margin_words(margin: float, condition: str) -> str:
    """A margin with its unit; "" for a count, whose distance to its bound says nothing."""
    if condition == "processes":
        return ""
    if "relative to the control" in condition:
        return f"{margin:.3g} ×"
    if "at zero for" in condition:
        return f"{margin:.1f} s"
    if any(word in condition for word in ("utilisation", "compute", "collective", "wait")):
        return f"{margin * 100:.0f} points"
    if "memory" in condition:
        return f"{margin / 2**30:.1f} GiB"
    return f"{margin:.3g}"
