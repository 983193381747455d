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
    DECIMAL,
    DEVICE,
    DEVICES,
    DURATION,
    FIGURE_PATH,
    FLAG,
    ID,
    INTERVAL,
    NAME,
    NOT_WRITTEN,
    NUMBER,
    QUANTITY,
    SHARE,
    TEXT,
    THIS_FORMAT,
    TOLERANCE,
    URL,
)
from quizapp.bank.strip import Strip, StripMeter

VerifiedBy = Literal["experiment", "reference", "judgement"]
Variant = Literal["fault", "fix"]
Meter = Literal[
    "util", "compute", "collective", "data_wait", "host_wait", "memory_bytes", "processes", "steps_per_s"
]

Rule = Literal["all-or-nothing", "each-answer", "net-correct", "coverage", "overlap"]

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
class Scoring(_Strict):
    """How responses to a question become points."""

    rule: Rule | None = None
    """Of kinds with several parts: what a response that is partly right earns."""
    penalty: Annotated[float, SHARE] = 0.0
    """Share of the points that a wrong response costs. One that is left blank costs nothing."""


@record
class Spread(_Strict):
    """Numbers from `min` to `max`, both included, `step` apart."""

    min: Annotated[str, DECIMAL]
    max: Annotated[str, DECIMAL]
    step: Annotated[str, DECIMAL] = "1"


@record
class Variable(_Strict):
    """A number that differs from attempt to attempt: one of values, a range and a formula."""

    values: tuple[Annotated[str, DECIMAL], ...] = ()
    """One of these is drawn."""
    range: Spread | None = None
    """One of these is drawn: {min: 1, max: 8, step: 1}."""
    formula: AnyText = ""
    """Worked out from other variables, such as 16 * params_b."""
    digits: Annotated[int, COUNT] = 6
    """Of a formula: significant digits of what is shown, and of a key."""
    min: Annotated[str, DECIMAL] = "0"
    """Of a formula: what is below is a draw that makes no sense."""
    max: Annotated[str, DECIMAL] | None = None
    """Of a formula: what is above is a draw that makes no sense."""


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
    scoring: Scoring = field(default_factory=Scoring)
    variables: dict[Annotated[str, NAME], Variable] = field(default_factory=dict)
    """Numbers that are drawn for each attempt; text and key name them as {{var:name}}."""
    drawn: Annotated[dict[str, str], NOT_WRITTEN] = field(default_factory=dict)
    """Of a question with variables, as it was asked: what was drawn."""
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


@record
class Side(_Strict):
    """One of the two answers to a true-false question."""

    correct: Annotated[bool, FLAG] = False
    """True for the key."""
    text: AnyText = ""
    """Shown in place of True or False, for banks in other languages."""
    rationale: Text
    """Markdown: why this answer is right or wrong."""
    demo: DemoLink | None = None
    """The experiment that speaks to this answer."""


@record
class TrueFalse(_Question):
    """A statement that holds, or does not."""

    kind: Literal["true-false"]
    true: Side
    false: Side

    @property
    def options(self) -> tuple[Option, ...]:
        """The two answers as options that keep their places."""
        return (
            _as_option("true", self.true.text or "True", self.true, "first"),
            _as_option("false", self.false.text or "False", self.false, "last"),
        )


def _as_option(id: str, text: str, side: Side, pin: Literal["first", "last"]) -> Option:
    return Option(id=id, text=text, correct=side.correct, rationale=side.rationale, demo=side.demo, pin=pin)


@record
class Interval(_Strict):
    """Decimal numbers from `min` to `max`, both included; a number alone stands for both."""

    min: Annotated[str, QUANTITY] | None = None
    max: Annotated[str, QUANTITY] | None = None


@record
class Mistake(_Strict):
    """A wrong response that learners give for a reason."""

    response: Text
    """As a learner would type it."""
    rationale: Text
    """Markdown: what is wrong with it."""


@record
class Numeric(_Question):
    """A number is asked for, typed, with or without its unit."""

    kind: Literal["numeric"]
    key: Annotated[Interval, INTERVAL]
    """The right number, or {min: …, max: …}."""
    tolerance: Annotated[str, TOLERANCE] | None = None
    """How far off is right still: 0.5, or 5% of the key."""
    significant_digits: Annotated[int, COUNT] | None = None
    """In place of a tolerance: right when key and response round to the same, to so many digits."""
    unit: AnyText = ""
    """What the number counts; typing it is optional."""
    units: dict[AnyText, Annotated[str, DECIMAL]] = field(default_factory=dict)
    """Other units that may be typed, and how much of `unit` one of each is."""
    rationale: Text
    """Markdown: why the key is right."""
    mistakes: tuple[Mistake, ...] = ()
    options: ClassVar[tuple[Option, ...]] = ()


@record
class ShortText(_Question):
    """A word or a few are asked for, typed."""

    kind: Literal["short-text"]
    key: tuple[Text, ...]
    """The forms that are right; the first is shown as the key."""
    pattern: AnyText = ""
    """A regular expression whose full match is right as well."""
    case: Literal["fold", "exact"] = "fold"
    """Whether DDP and ddp are one."""
    accents: Literal["fold", "exact"] = "exact"
    """Whether é and e are one."""
    rationale: Text
    """Markdown: why the key is right."""
    mistakes: tuple[Mistake, ...] = ()
    options: ClassVar[tuple[Option, ...]] = ()


@record
class Item(_Strict):
    """Something to be put in order, or to be chosen as a match."""

    id: Id
    """Permanent, unique in the question."""
    text: Text
    """Markdown."""


@record
class Ordering(_Question):
    """Items are to be put in order."""

    kind: Literal["ordering"]
    items: tuple[Item, ...]
    """In the right order; they are shown in another one."""
    rationale: Text
    """Markdown: why this is the order."""

    @property
    def options(self) -> tuple[Option, ...]:
        """The items as options, none of which is a key by itself."""
        return tuple(Option(id=item.id, text=item.text, rationale="") for item in self.items)


@record
class Pair(_Strict):
    """One of the things to be matched, and its match."""

    id: Id
    """Permanent, unique in the question."""
    text: Text
    """Markdown: what stands on the left."""
    match: Text
    """Markdown: what belongs to it. Several pairs may have the same match."""
    rationale: AnyText = ""
    """Markdown: why they belong together."""


@record
class Matching(_Question):
    """For each thing on the left its match is to be chosen."""

    kind: Literal["matching"]
    pairs: tuple[Pair, ...]
    """In the order in which the left sides are shown."""
    extra: tuple[Item, ...] = ()
    """Further choices, which match nothing."""
    rationale: AnyText = ""
    """Markdown: what is to be said of all pairs."""

    @property
    def options(self) -> tuple[Option, ...]:
        """The choices: each different match, under the id of its first pair, then the extra ones."""
        first: dict[str, str] = {}
        for pair in self.pairs:
            first.setdefault(pair.match, pair.id)
        choices = [(choice_id, text) for text, choice_id in first.items()]
        choices += [(item.id, item.text) for item in self.extra]
        return tuple(Option(id=choice_id, text=text, rationale="") for choice_id, text in choices)

    @property
    def key(self) -> dict[str, str]:
        """Pair id -> id of the choice that matches it."""
        first: dict[str, str] = {}
        return {pair.id: first.setdefault(pair.match, pair.id) for pair in self.pairs}


@record
class Span(_Strict):
    """A stretch of device time, in device seconds from the run's beginning."""

    start_s: Annotated[float, NUMBER]
    end_s: Annotated[float, NUMBER]


@record
class ReadingKey(_Strict):
    """What is to be picked out of a recording: devices, or a stretch of time."""

    devices: tuple[Annotated[int, DEVICE], ...] = ()
    """Numbers of the devices, the first one is 0."""
    span: Span | None = None
    """The stretch."""


@record
class Reading(_Question):
    """A recorded run is shown; devices or a stretch of time are to be picked out of it."""

    kind: Literal["reading"]
    recording: Annotated[str, FIGURE_PATH]
    """A file that `quizapp demo NAME --record FILE` wrote, inside the bank's folder."""
    meter: StripMeter = "compute"
    """What is shown first: useful work, or what nvidia-smi counts. The learner can look at both."""
    key: ReadingKey
    """{devices: [3]}, or {span: {start_s: 2, end_s: 3.5}}."""
    overlap: Annotated[float, SHARE] = 0.7
    """A stretch is right when what it has in common with the key is this share of both together."""
    rationale: Text
    """Markdown: why the key is right."""
    mistakes: tuple[Mistake, ...] = ()
    strip: Annotated[Strip | None, NOT_WRITTEN] = None
    """What the recording shows, read when the bank is loaded."""
    options: ClassVar[tuple[Option, ...]] = ()


# A further kind is a dataclass here, a name in KINDS, a line in snapshot.py and in consistency.py, a scorer
# in assess/scoring.py, and a view in each front end.
Question = SingleChoice | MultipleChoice | TrueFalse | Numeric | ShortText | Ordering | Matching | Reading
KINDS: dict[str, type[Question]] = {
    "single-choice": SingleChoice,
    "multiple-choice": MultipleChoice,
    "true-false": TrueFalse,
    "numeric": Numeric,
    "short-text": ShortText,
    "ordering": Ordering,
    "matching": Matching,
    "reading": Reading,
}


@record
class Section(_Strict):
    """A part of an attempt, drawn from the questions of some objectives.

    `count` or `time_budget` says how many; with neither, all of them are asked.
    """

    title: AnyText = ""
    objectives: tuple[Id, ...] = ()
    """Drawn from the questions of these; without it, from those that no other section draws from."""
    count: Annotated[int, COUNT] | None = None
    """Draw this many questions."""
    time_budget_s: Annotated[float, DURATION] | None = field(default=None, metadata={"alias": "time_budget"})
    """Draw questions for as long as their target_time fits, such as 15m."""


@record
class Take(_Strict):
    """How the bank is taken, unless the learner says otherwise."""

    shuffle: tuple[Literal["questions", "options"], ...] = ()
    """What is put into a new order for each attempt."""
    sections: tuple[Section, ...] = ()
    """What is drawn for an attempt, part by part; without it, all questions."""
    time_limit_s: Annotated[float, DURATION] | None = field(default=None, metadata={"alias": "time_limit"})
    """For a whole exam, such as 30m."""
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
