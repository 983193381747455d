"""What repeated runs say of a key: supported, contradicted or inconclusive. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from quizapp.bank.model import Option, Question, Symptom
from quizapp.lab.summary import RunSummary
from quizapp.lab.symptom import PredicateReading, evaluate

FindingName = Literal["supported", "contradicted", "inconclusive"]
Shows = Literal["yes", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class Repeat:
    """One run of one option's demo (or of the control) under one seed, beside the symptom."""

    seed: int | None
    summary: RunSummary | None
    """None: the run was not made."""
    readings: tuple[PredicateReading, ...] = ()
    missing: str = ""
    """Why there is nothing to read, in words."""

    @property
    def shows(self) -> Shows:
        """Whether the run shows the whole symptom; unknown when no reading that exists decides it."""
        if self.missing:
            return "unknown"
        if any(reading.available and not reading.holds for reading in self.readings):
            return "no"
        return "yes" if all(reading.holds for reading in self.readings) else "unknown"

    @property
    def failing(self) -> PredicateReading | None:
        """The predicate that fails by the widest margin."""
        failed = [reading for reading in self.readings if reading.available and not reading.holds]
        return max(failed, key=_margin, default=None)

    @property
    def tightest(self) -> PredicateReading | None:
        """The predicate that holds by the narrowest margin."""
        held = [reading for reading in self.readings if reading.holds and reading.margin is not None]
        return min(held, key=_margin, default=None)


@dataclass(frozen=True, slots=True)
class Tested:
    """One option's demo, or the control, over all repeats."""

    name: str
    """The option's id, or `control`."""
    correct: bool
    demo: str
    """The demo as on a command line; "" when the option has none."""
    repeats: tuple[Repeat, ...] = ()

    @property
    def shows(self) -> Shows | Literal["differs"]:
        """The same answer in every repeat, or that they differ."""
        answers = {repeat.shows for repeat in self.repeats}
        if not answers or "unknown" in answers:
            return "unknown"
        return "differs" if len(answers) > 1 else next(iter(answers))

    @property
    def missing(self) -> str:
        """Why a repeat says nothing."""
        for repeat in self.repeats:
            if repeat.shows == "unknown":
                lacking = next((r for r in repeat.readings if not r.available), None)
                return repeat.missing or (f"{lacking.condition}: {lacking.measured}" if lacking else "")
        return ""


@dataclass(frozen=True, slots=True)
class Finding:
    """What verification says of one question's key, and why."""

    question: str
    finding: FindingName
    reason: str
    options: tuple[Tested, ...] = ()
    controls: tuple[Tested, ...] = ()
    settle: str = ""
    """For an inconclusive one: what would settle it."""
    device_kind: str = "emulated"
    notices: tuple[str, ...] = field(default=())


def read_repeat(
    symptom: Symptom,
    seed: int | None,
    summary: RunSummary | None,
    control: RunSummary | None,
    missing: str = "",
) -> Repeat:
    """A run held against the symptom; a run that failed says nothing, whatever its meters read."""
    if summary is None:
        return Repeat(seed, None, missing=missing or "not run")
    if summary.outcome in ("crashed", "timed-out", "stopped"):
        words = f": {summary.error.message}" if summary.error and summary.error.message else ""
        return Repeat(seed, summary, missing=f"the run {summary.outcome.replace('-', ' ')}{words}")
    if summary.devices < symptom.devices:
        return Repeat(
            seed, summary, missing=f"{summary.devices} devices, the stem speaks of {symptom.devices}"
        )
    return Repeat(seed, summary, tuple(evaluate(symptom, summary, control)))


def judge(question: Question, options: Sequence[Tested], controls: Sequence[Tested]) -> Finding:
    """The finding: supported when in every repeat the keys show the symptom and nothing else does."""
    tested = [option for option in options if option.demo]
    keys = [option for option in options if option.correct]
    others = [*controls, *(option for option in tested if not option.correct)]

    def found(finding: FindingName, reason: str, settle: str = "") -> Finding:
        runs = [r.summary for t in (*options, *controls) for r in t.repeats if r.summary is not None]
        kinds = sorted({run.device_kind for run in runs})
        notices = tuple(dict.fromkeys(run.notice for run in runs if run.notice))
        return Finding(
            question.id, finding, reason, tuple(options), tuple(controls), settle, "+".join(kinds), notices
        )

    for key in keys:
        if key.demo and key.shows == "no":
            return found("contradicted", f"the key {key.name} does not show it: {_failed(key)}")
    for other in others:
        if other.shows == "yes":
            what = "the control" if other.name == "control" else f"the distractor {other.name}"
            return found("contradicted", f"{what} shows every sign of the stem, too")
    for key in keys:
        if not key.demo:
            return found("inconclusive", f"the key {key.name} has no demo", "link a demo to every key")
    for one in (*keys, *others):
        if one.shows == "differs":
            count = sum(repeat.shows == "yes" for repeat in one.repeats)
            return found(
                "inconclusive",
                f"repeats disagree: {one.name} shows it in {count} of {len(one.repeats)}",
                "a symptom further from its bounds, or more repeats",
            )
        if one.shows == "unknown":
            return found("inconclusive", f"{one.name}: {one.missing or 'not run'}", "make the missing runs")
    if not any(not option.correct for option in tested):
        return found("inconclusive", "no distractor has a demo", "link a demo to a distractor")
    repeats = len(keys[0].repeats)
    signs = len(keys[0].repeats[0].readings)
    distractors = len(others) - len(controls)
    quiet = (
        "the control and " if controls else ""
    ) + f"{distractors} distractor{'' if distractors == 1 else 's'}"
    return found(
        "supported",
        f"in {repeats} of {repeats} repeats the key shows {signs} of {signs} signs, and {quiet} do not",
    )


def as_json(finding: Finding) -> dict[str, object]:
    """What `quizapp verify --json` prints of one question."""
    return {
        "question": finding.question,
        "finding": finding.finding,
        "reason": finding.reason,
        "settle": finding.settle,
        "device_kind": finding.device_kind,
        "options": [_tested_json(option) for option in finding.options],
        "controls": [_tested_json(control) for control in finding.controls],
        "notices": list(finding.notices),
    }


def _tested_json(tested: Tested) -> dict[str, object]:
    shows: Mapping[str, bool | None] = {"yes": True, "no": False}
    return {
        "id": tested.name,
        "correct": tested.correct,
        "demo": tested.demo or None,
        "shows_symptom": shows.get(tested.shows),
        "predicates": [
            {
                "seed": repeat.seed,
                "says": reading.predicate.says,
                "condition": reading.condition,
                "wanted": reading.wanted,
                "measured": reading.measured if reading.available else None,
                "holds": reading.holds,
                "margin": reading.margin,
            }
            for repeat in tested.repeats
            for reading in repeat.readings
        ],
        "missing": tested.missing or None,
    }


def _failed(tested: Tested) -> str:
    failing = next((repeat.failing for repeat in tested.repeats if repeat.failing is not None), None)
    return str(failing) if failing is not None else "a sign is missing"


def _margin(reading: PredicateReading) -> float:
    return reading.margin if reading.margin is not None else float("inf")


def option_command(option: Option) -> str:
    """The demo behind an option, as it would be typed after `quizapp demo`; "" when it has none."""
    if option.demo is None:
        return ""
    settings = "".join(f" --set {name}={value}" for name, value in option.demo.params.items())
    return f"{option.demo.name} --variant {option.demo.variant}{settings}"
