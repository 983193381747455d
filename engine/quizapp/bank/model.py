"""What a bank is made of: frozen dataclasses.

`schema.py` has pydantic validate YAML against these types and generates the JSON schema from them; the
compiled cache restores them without pydantic. A string under a field is its documentation, for readers and
for the editor that completes a bank.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, ClassVar, Literal

from quizapp.bank.record import Record, record
from quizapp.bank.spelling import (
    ANY_TEXT,
    BOUNDS,
    BY_KIND,
    COUNT,
    DEVICES,
    DURATION,
    FIGURE_PATH,
    FLAG,
    ID,
    NUMBER,
    SHARE,
    TEXT,
    THIS_FORMAT,
    URL,
)

VerifiedBy = Literal["experiment", "reference", "judgement"]
Variant = Literal["fault", "fix"]
Meter = Literal[
    "util", "compute", "collective", "data_wait", "host_wait", "memory_bytes", "processes", "steps_per_s"
]

Id = Annotated[str, ID]
Text = Annotated[str, TEXT]
AnyText = Annotated[str, ANY_TEXT]


class _Strict(Record):
    """What pydantic is told about every part of a bank."""

    __pydantic_config__: ClassVar[dict[str, object]] = {"extra": "forbid", "use_attribute_docstrings": True}


@record
class DemoLink(_Strict):
    """The demo behind an option, and how it is to be run."""

    name: Text
    """Name of the demo, as in `quizapp demo`."""
    variant: Variant = "fault"
    """Run the demo's fault, or its fix."""
    params: dict[AnyText, AnyText] = field(default_factory=dict)
    """Parameters that the demo declares, and `devices`; as written, typed by the demo's declaration."""


@record
class Option(_Strict):
    """One of the offered answers."""

    id: Id
    """Permanent, unique in the question; letters exist only on screen."""
    text: Text
    """Markdown."""
    correct: Annotated[bool, FLAG] = False
    """True for a key."""
    rationale: Text
    """Markdown: why this option is right or wrong."""
    demo: DemoLink | None = None
    """The experiment that speaks to this option."""
    pin: Literal["first", "last"] | None = None
    """Keeps this option's place when options are shuffled."""


@record
class Range(_Strict):
    """Bounds of a reading, both included; a number alone stands for both."""

    min: Annotated[float, NUMBER] | None = None
    max: Annotated[float, NUMBER] | None = None


Bounds = Annotated[Range, BOUNDS]


@record
class Predicate(_Strict):
    """One sign that the stem claims, as a condition on measurements.

    Either a `meter` with at least one of value/mean/longest_zero_s/minimum/maximum, or an `event`.
    """

    says: Text
    """The words of the stem that this predicate encodes, verbatim."""
    meter: Meter | None = None
    """What is read."""
    devices: Annotated[int | Literal["all"], DEVICES] | None = None
    """How many devices (exactly) must fulfil the condition; `all` for each of them."""
    mean: Bounds | None = None
    """Mean over the run."""
    minimum: Bounds | None = None
    """Lowest window of the run."""
    maximum: Bounds | None = None
    """Highest window of the run."""
    longest_zero_s: Bounds | None = None
    """Longest stretch at zero, in device seconds."""
    value: Bounds | None = None
    """For readings of the whole job: `processes`, `steps_per_s`."""
    relative_to: Literal["control"] | None = None
    """The reading is divided by the control's before it is compared."""
    event: Literal["out-of-memory"] | None = None
    """Something that happens or not, in place of a meter."""
    present: Annotated[bool, FLAG] = True
    """For an event: whether it must happen, or must not."""


@record
class Symptom(_Strict):
    """What the stem says can be observed."""

    devices: Annotated[int, COUNT] = 8
    """Number of devices that the stem speaks of."""
    where: tuple[Predicate, ...]
    """All of them must hold."""


@record
class Figure(_Strict):
    """A picture beside the bank."""

    src: Annotated[str, FIGURE_PATH]
    """Path relative to the bank's file, inside its folder."""
    alt: Text
    """What the picture shows, for those who can't see it."""


@record
class Explanation(_Strict):
    """Shown after scoring."""

    short: Text
    """Markdown, two or three sentences."""
    full: AnyText = ""
    """Markdown, the whole story."""
    figure: Figure | None = None


@record
class Reference(_Strict):
    """Where a learner can read on."""

    title: Text
    url: Annotated[str, URL]


@record
class _Question(_Strict):
    id: Id
    """Permanent, unique in the bank, never positional; kebab-case."""
    revision: Annotated[int, COUNT] = 1
    """Raised when the meaning changes, not for a typo."""
    objective: AnyText | None = None
    """One of the bank's objectives."""
    target_time_s: Annotated[float, DURATION] | None = field(default=None, metadata={"alias": "target_time"})
    """Difficulty as a time budget, such as 90s."""
    points: Annotated[float, NUMBER] = 1.0
    stem: Text
    """Markdown: what is asked."""
    symptom: Symptom | None = None
    """What the stem claims, over the lab's meters."""
    explanation: Explanation
    references: tuple[Reference, ...] = ()
    verified_by: VerifiedBy = "judgement"
    """The ground on which the key stands."""


@record
class SingleChoice(_Question):
    """Exactly one option is the key."""

    kind: Literal["single-choice"]
    options: tuple[Option, ...]


@record
class MultipleChoice(_Question):
    """One option or more are keys; all of them are to be chosen."""

    kind: Literal["multiple-choice"]
    options: tuple[Option, ...]


# A further kind is a dataclass here, a name in KINDS, a line in snapshot.py, a scorer in assess/scoring.py,
# and a view in each front end.
Question = SingleChoice | MultipleChoice
KINDS: dict[str, type[Question]] = {"single-choice": SingleChoice, "multiple-choice": MultipleChoice}


@record
class Take(_Strict):
    """How the bank is taken, unless the learner says otherwise."""

    shuffle: tuple[Literal["questions", "options"], ...] = ()
    """What is put into a new order for each attempt."""
    time_limit_s: Annotated[float, DURATION] | None = field(default=None, metadata={"alias": "time_limit"})
    """For the whole bank, such as 30m."""
    pass_mark: Annotated[float, SHARE] | None = None
    """Share of the points, such as 70%."""


@record
class Bank(_Strict):
    """One YAML file of questions."""

    format: Annotated[int, THIS_FORMAT]
    """Version of this format."""
    title: Text
    language: Text = "en"
    """BCP 47 tag of the language that the bank is written in."""
    description: AnyText = ""
    """Markdown."""
    license: AnyText = ""
    objectives: dict[Id, Text] = field(default_factory=dict)
    """What the bank teaches: an id and a sentence for each."""
    take: Take = field(default_factory=Take)
    questions: tuple[Annotated[Question, BY_KIND], ...]
