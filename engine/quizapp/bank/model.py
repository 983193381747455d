"""What a bank is made of: plain frozen dataclasses.

`schema.py` has pydantic validate YAML against these types and generates the JSON schema from them; the
compiled cache restores them without pydantic. A string under a field is its documentation, for readers and
for the editor that completes a bank.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

FORMAT = 1

VerifiedBy = Literal["experiment", "reference", "judgement"]
Variant = Literal["fault", "fix"]
Meter = Literal["util", "compute", "collective", "data_wait", "host_wait", "memory_bytes", "processes", "steps_per_s"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoLink:
    """The demo behind an option, and how it is to be run."""

    name: str
    """Name of the demo, as in `quizapp demo`."""
    variant: Variant = "fault"
    """Run the demo's fault, or its fix."""
    params: dict[str, str] = field(default_factory=dict)
    """Parameters that the demo declares; as written, typed by the demo's declaration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One of the offered answers."""

    id: str
    """Permanent, unique in the question; letters exist only on screen."""
    text: str
    """Markdown."""
    correct: bool = False
    """True for a key."""
    rationale: str
    """Markdown: why this option is right or wrong."""
    demo: DemoLink | None = None
    """The experiment that speaks to this option."""
    pin: Literal["first", "last"] | None = None
    """Keeps this option's place when options are shuffled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Bounds of a reading, both included."""

    min: float | None = None
    max: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicate:
    """One sign that the stem claims, as a condition on measurements.

    Either a `meter` with at least one of value/mean/longest_zero_s/minimum/maximum, or an `event`.
    """

    says: str
    """The words of the stem that this predicate encodes, verbatim."""
    meter: Meter | None = None
    """What is read."""
    devices: int | Literal["all"] | None = None
    """How many devices (exactly) must fulfil the condition; `all` for each of them."""
    mean: Range | None = None
    """Mean over the run."""
    minimum: Range | None = None
    """Lowest window of the run."""
    maximum: Range | None = None
    """Highest window of the run."""
    longest_zero_s: Range | None = None
    """Longest stretch at zero, in device seconds."""
    value: Range | None = None
    """For readings of the whole job: `processes`, `steps_per_s`."""
    relative_to: Literal["control"] | None = None
    """The reading is divided by the control's before it is compared."""
    event: Literal["out-of-memory"] | None = None
    """Something that happens or not, in place of a meter."""
    present: bool = True
    """For an event: whether it must happen, or must not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """What the stem says can be observed."""

    devices: int = 8
    """Number of devices that the stem speaks of."""
    where: tuple[Predicate, ...]
    """All of them must hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A picture beside the bank."""

    src: str
    """Path relative to the bank's file, inside its folder."""
    alt: str
    """What the picture shows, for those who can't see it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Shown after scoring."""

    short: str
    """Markdown, two or three sentences."""
    full: str = ""
    """Markdown, the whole story."""
    figure: Figure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Where a learner can read on."""

    title: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    id: str
    """Permanent, unique in the bank, never positional; kebab-case."""
    revision: int = 1
    """Raised when the meaning changes, not for a typo."""
    objective: str | None = None
    """One of the bank's objectives."""
    target_time_s: float | None = None
    """Difficulty as a time budget; written `target_time: 90s`."""
    points: float = 1.0
    stem: str
    """Markdown: what is asked."""
    symptom: Symptom | None = None
    """What the stem claims, over the lab's meters."""
    explanation: Explanation
    references: tuple[Reference, ...] = ()
    verified_by: VerifiedBy = "judgement"
    """The ground on which the key stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleChoice(_Question):
    """Exactly one option is the key."""

    kind: Literal["single-choice"]
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MultipleChoice(_Question):
    """One option or more are keys; all of them are to be chosen."""

    kind: Literal["multiple-choice"]
    options: tuple[Option, ...]


# A further kind is a dataclass here, a name in KINDS, a scorer in assess/scoring.py and a view in each front end.
Question = SingleChoice | MultipleChoice
KINDS: dict[str, type[Question]] = {"single-choice": SingleChoice, "multiple-choice": MultipleChoice}


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """How the bank is taken, unless the learner says otherwise."""

    shuffle: tuple[Literal["questions", "options"], ...] = ()
    time_limit_s: float | None = None
    """Written `time_limit: 30m`."""
    pass_mark: float | None = None
    """Share of the points, 0 to 1; written `pass_mark: 70%`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bank:
    """One YAML file of questions."""

    format: Literal[1]
    title: str
    language: str = "en"
    description: str = ""
    license: str = ""
    objectives: dict[str, str] = field(default_factory=dict)
    take: Take = field(default_factory=Take)
    questions: tuple[Question, ...]
