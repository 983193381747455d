"""On what ground a question's key stands: tested here, claimed by its author, a reference, a judgement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from quizapp.bank.basis import BASES
from quizapp.errors import QuizappError
from quizapp.lab.catalogue import CONTROL
from quizapp.lab.verify import REPEATS, Verification, known

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from quizapp.bank.model import Question, VerifiedBy
    from quizapp.lab.catalogue import DemoDeclaration
    from quizapp.lab.finding import Finding
    from quizapp.lab.summary import RunSummary
    from quizapp.lab.verify import EvidenceStore, NeededRun

Standing = Literal["tested-here", "in-part", "claimed", "stale", "untested", "untestable", "none"]
"""What evidence there is. `none`: the key claims no experiment, and has none to be made."""

_MOST_PLACES = 16
"""An evidence file of more machines than this is read for the first ones only."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One run that the finding rests on."""

    run: str
    key: str
    made_at: datetime | None
    """UTC; None where the record does not say."""
    claimed: bool
    """True for the author's record, False for one that was made here."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """Under what the evidence was made."""

    repeats: int
    devices: int
    device_kinds: tuple[str, ...]
    device_names: tuple[str, ...]
    torch: tuple[str, ...]
    made_at: datetime | None
    """Of the newest run, UTC."""

    def __str__(self) -> str:
        parts = [f"{self.repeats} repeat{'' if self.repeats == 1 else 's'}", self.on]
        parts += [f"torch {version}" for version in self.torch]
        if self.made_at is not None:
            from quizapp.store.clock import learner_day

            parts.append(learner_day(self.made_at).isoformat())
        return ", ".join(parts)

    @property
    def on(self) -> str:
        """The devices in words."""
        count = f"{self.devices} "
        if self.device_kinds == ("emulated",):
            return f"{count}emulated devices"
        gpus = f"{count}× {', '.join(self.device_names) or 'GPU'}"
        return f"{gpus} and emulated devices" if "emulated" in self.device_kinds else gpus


@dataclass(frozen=True, slots=True)
class Ground:
    """The ground of one question's key."""

    question: str
    basis: VerifiedBy
    standing: Standing
    needed: int = 0
    """Number of runs that the finding needs."""
    finding: Finding | None = None
    conditions: Conditions | None = None
    evidence: tuple[Piece, ...] = ()
    reason: str = ""
    """Why it can't be tested, or why the author's evidence can't be read."""

    @property
    def testable(self) -> bool:
        """Whether the key can be tested on this machine's devices."""
        return self.standing not in ("untestable", "none")

    @property
    def made_here(self) -> int:
        """Number of runs made on this machine."""
        return sum(not piece.claimed for piece in self.evidence)

    def __str__(self) -> str:
        return self._said(str(self.conditions) if self.conditions is not None else "")

    @property
    def brief(self) -> str:
        """The same with no more of the conditions than on how many devices of which kind."""
        return self._said(self.conditions.on if self.conditions is not None else "")

    def _said(self, conditions: str) -> str:
        found = "" if self.finding is None else self.finding.finding
        match self.standing:
            case "none":
                return BASES[self.basis]
            case "untestable":
                return f"{BASES[self.basis]}, can't be tested: {self.reason}"
            case "tested-here":
                said = f"tested here: {found}"
            case "claimed":
                part = f", {self.made_here} of {self.needed} runs also made here" if self.made_here else ""
                said = f"claimed by its author, not tested here{part}: {found}"
            case "in-part":
                said = f"tested here in part, {self.made_here} of {self.needed} runs: {found}"
            case "stale":
                said = "not tested here; its author's evidence is stale, made with other demos or another lab"
            case "untested":
                said = "not tested here" + (f"; {self.reason}" if self.reason else "")
        if self.standing in ("tested-here", "claimed") and conditions:
            said += f" ({conditions})"
        if self.basis == "experiment":
            tested = self.standing in ("tested-here", "claimed", "in-part")
            return said if tested else f"{BASES[self.basis]}, {said}"
        # Signs can be tested where the key itself rests on something else.
        return f"{BASES[self.basis]}; its signs: {said}" if self.evidence else BASES[self.basis]


class Grounds:
    """Works out the grounds of questions from the demos, this machine's evidence and the author's."""

    def __init__(
        self,
        catalogue: Mapping[str, DemoDeclaration],
        store: EvidenceStore,
        shipped: Mapping[str, Mapping[str, Any]] | None = None,
        *,
        repeats: int = REPEATS,
        fault: str = "",
    ) -> None:
        """`shipped`: the author's records by key. `fault`: why they can't be read."""
        self.catalogue = catalogue
        self.store = store
        self.repeats = repeats
        self._shipped = shipped or {}
        self._fault = fault
        self._places = _places(self._shipped.values())

    def verification(self, question: Question) -> Verification:
        """What testing this question's key takes."""
        return Verification((question,), self.catalogue, self.repeats)

    def of(self, question: Question) -> Ground:
        """The ground of one question's key. What is wrong with its demos makes it untestable."""
        basis = question.verified_by
        why = self._untestable(question)
        if why and basis != "experiment":
            return Ground(question.id, basis, "none")
        if why:
            return Ground(question.id, basis, "untestable", reason=why)
        verification = self.verification(question)
        try:
            needed = verification.runs()
            here, _ = known(needed, self.store, {})
        except QuizappError as error:
            return Ground(question.id, basis, "untestable", reason=error.message)
        claims = {} if len(here) == len(needed) else self._claims(needed)
        both, claimed = known({key: run for key, run in needed.items() if key not in here}, _Empty(), claims)
        standing = self._standing(question, needed, here, claimed)
        if standing in ("stale", "untested"):
            fault = self._fault if standing == "untested" else ""
            return Ground(question.id, basis, standing, len(needed), reason=fault)
        used = here if standing == "in-part" else here | both
        missing = dict.fromkeys(needed.keys() - used.keys(), "not run here")
        pieces = tuple(
            Piece(str(run), key, self._made_at(key, claims if key in claimed else None), key in claimed)
            for key, run in needed.items()
            if key in used
        )
        return Ground(
            question.id,
            basis,
            standing,
            len(needed),
            verification.findings(used, missing)[0],
            _conditions(used.values(), pieces, self.repeats),
            pieces,
        )

    def _untestable(self, question: Question) -> str:
        if question.symptom is None:
            return "it says no signs that can be measured"
        bare = next((option.id for option in question.options if option.correct and not option.demo), "")
        if bare:
            return f"the key {bare} has no demo"
        return "" if CONTROL in self.catalogue else f"the demo {CONTROL} is missing"

    def _standing(
        self,
        question: Question,
        needed: Mapping[str, NeededRun],
        here: Mapping[str, RunSummary],
        claimed: set[str],
    ) -> Literal["tested-here", "in-part", "claimed", "stale", "untested"]:
        if len(here) == len(needed):
            return "tested-here"
        if len(here) + len(claimed) == len(needed):
            return "claimed"
        # Runs are shared by questions: that the control was run for another one tests nothing of this one.
        keys = {(o.demo.name, o.demo.variant) for o in question.options if o.correct and o.demo}
        if any((needed[key].demo.name, needed[key].variant) in keys for key in here):
            return "in-part"
        shipped = (_ran(record) for record in self._shipped.values())
        return (
            "stale" if any((ran.get("demo"), ran.get("variant")) in keys for ran in shipped) else "untested"
        )

    def _claims(self, needed: Mapping[str, NeededRun]) -> dict[str, Mapping[str, Any]]:
        """The author's records of these very runs, on whatever machine they were made."""
        found: dict[str, Mapping[str, Any]] = {}
        for key, run in needed.items():
            for torch, device_kind, on in self._places:
                same = replace(run.key, torch=torch, device_kind=device_kind, on=on)
                record = self._shipped.get(same.text)
                if record is not None:
                    found[key] = record
                    break
        return found

    def _made_at(self, key: str, claims: Mapping[str, Mapping[str, Any]] | None) -> datetime | None:
        records = self.store.evidence(key) if claims is None else [claims[key]]
        return _moment(records[-1].get("made_at")) if records else None


class _Empty:
    """A store without evidence."""

    def remember_evidence(self, record: Mapping[str, Any], *, key: str) -> None:
        raise NotImplementedError

    def evidence(self, key: str) -> list[dict[str, Any]]:
        return []


def grounds_of_bank(
    bank: Path | None, catalogue: Mapping[str, DemoDeclaration], store: EvidenceStore
) -> Grounds:
    """The grounds of a bank's keys, with the evidence that came beside its file, if any that can be read."""
    if bank is None:
        return Grounds(catalogue, store)
    from quizapp.lab.shipped import read_shipped

    try:
        return Grounds(catalogue, store, read_shipped(bank))
    except QuizappError as error:
        return Grounds(catalogue, store, fault=f"its author's evidence can't be read: {error.message}")


def _ran(record: Mapping[str, Any]) -> Mapping[str, Any]:
    ran = record.get("ran")
    return ran if isinstance(ran, dict) else {}


def _places(records: Iterable[Mapping[str, Any]]) -> list[tuple[str, str, tuple[str, ...]]]:
    """The machines that records were made on: torch, kind of device, names of real ones."""
    places: dict[tuple[str, str, tuple[str, ...]], None] = {}
    for ran in map(_ran, records):
        torch, kind, on = ran.get("torch"), ran.get("device_kind"), ran.get("on", [])
        if isinstance(torch, str) and isinstance(kind, str) and isinstance(on, list):
            places[torch, kind, tuple(str(name) for name in on)] = None
            if len(places) == _MOST_PLACES:
                break
    return list(places)


def _conditions(runs: Iterable[RunSummary], pieces: Iterable[Piece], repeats: int) -> Conditions:
    runs = list(runs)
    moments = [piece.made_at for piece in pieces if piece.made_at is not None]
    return Conditions(
        repeats=repeats,
        devices=max((run.devices for run in runs), default=0),
        device_kinds=tuple(sorted({run.device_kind for run in runs})),
        device_names=tuple(
            sorted({name for run in runs if run.device_kind == "cuda" for name in run.device_names})
        ),
        torch=tuple(sorted({run.torch for run in runs if run.torch})),
        made_at=max(moments, default=None),
    )


def _moment(text: object) -> datetime | None:
    from datetime import UTC, datetime

    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
