"""Verification of a bank's keys: which runs are needed, making those that are missing, and the findings.

Runs are shared by questions and kept as evidence under their key, so that a second call makes only what is
stale. A question's finding is worked out anew from the evidence each time, so it goes stale with nothing.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from quizapp.bank.model import Option, Question
from quizapp.errors import QuizappError
from quizapp.lab import finding as findings
from quizapp.lab.catalogue import CONTROL
from quizapp.lab.evidence import RunKey, record_of, run_key, summary_of
from quizapp.lab.finding import Finding, Tested
from quizapp.lab.summary import RunSummary

if TYPE_CHECKING:
    from quizapp.lab.catalogue import DemoDeclaration
    from quizapp.lab.runner import Lab

REPEATS = 3


class EvidenceStore(Protocol):
    """Where evidence is kept: `Store`, or anything like it."""

    def remember_evidence(self, record: Mapping[str, Any], *, key: str) -> None: ...

    def evidence(self, key: str) -> list[dict[str, Any]]: ...


@dataclass(frozen=True, slots=True)
class NeededRun:
    """One run that a finding rests on."""

    demo: DemoDeclaration
    variant: str
    params: Mapping[str, str]
    devices: int
    seed: int
    key: RunKey

    def __str__(self) -> str:
        settings = "".join(f" {name}={value}" for name, value in self.params.items())
        return f"{self.demo.name} {self.variant}{settings}, {self.devices} devices, seed {self.seed}"


def seeds(repeats: int) -> range:
    """The seeds of the perturbed repeats."""
    return range(1, repeats + 1)


@dataclass(frozen=True)
class Verification:
    """A bank's questions with a symptom, and the runs that their findings need."""

    questions: tuple[Question, ...]
    catalogue: Mapping[str, DemoDeclaration]
    repeats: int = REPEATS

    def runs(self) -> dict[str, NeededRun]:
        """Every run that is needed, once, by its key; raises QuizappError for a demo that is not there."""
        needed: dict[str, NeededRun] = {}
        for question in self.questions:
            for seed in seeds(self.repeats):
                for option in (*question.options, None):
                    for run in self._of(question, option, seed):
                        needed.setdefault(run.key.text, run)
        return needed

    def findings(self, summaries: Mapping[str, RunSummary], missing: Mapping[str, str]) -> list[Finding]:
        """The finding of each question. `missing`: why a run was not made, by its key."""
        return [self._finding(question, summaries, missing) for question in self.questions]

    def _of(self, question: Question, option: Option | None, seed: int) -> list[NeededRun]:
        """The option's run and its control's; for no option, the control alone."""
        devices = question.symptom.devices if question.symptom else 8
        control = self.catalogue[CONTROL]
        if option is None:
            return [self._run(control, control.variants[0], {}, devices, seed)]
        if option.demo is None:
            return []
        demo = self.catalogue.get(option.demo.name)
        if demo is None:
            raise QuizappError(
                f"question {question.id}, option {option.id}: there is no demo {option.demo.name}",
                hint="quizapp check says where",
            )
        params = dict(option.demo.params)
        try:
            devices = int(params.pop("devices", devices))
        except ValueError:
            raise QuizappError(
                f"question {question.id}, option {option.id}: devices must be a whole number",
                hint="quizapp check says where",
            ) from None
        run = self._run(demo, option.demo.variant, params, devices, seed)
        shared = demo.for_control(control, params)
        return [run, self._run(control, control.variants[0], shared, devices, seed)]

    def _run(
        self, demo: DemoDeclaration, variant: str, params: Mapping[str, str], devices: int, seed: int
    ) -> NeededRun:
        key = run_key(demo, variant, params, devices=devices, seed=seed)
        return NeededRun(demo, variant, params, devices, seed, key)

    def _finding(
        self, question: Question, summaries: Mapping[str, RunSummary], missing: Mapping[str, str]
    ) -> Finding:
        symptom = question.symptom
        if symptom is None:
            raise ValueError(f"question {question.id} has no symptom")

        def tested(name: str, correct: bool, command: str, runs: Iterable[list[NeededRun]]) -> Tested:
            repeats = []
            for own, control in runs:
                repeats.append(
                    findings.read_repeat(
                        symptom,
                        own.seed,
                        summaries.get(own.key.text),
                        summaries.get(control.key.text),
                        missing.get(own.key.text, ""),
                    )
                )
            return Tested(name, correct, command, tuple(repeats))

        every_seed = list(seeds(self.repeats))
        options = [
            tested(
                option.id,
                option.correct,
                findings.option_command(option),
                (self._of(question, option, seed) for seed in every_seed) if option.demo else (),
            )
            for option in question.options
        ]
        distinct: dict[str, list[NeededRun]] = {}
        # Where "nothing is wrong" is the key, the control is what the stem describes.
        healthy_is_key = any(o.correct and o.demo and o.demo.name == CONTROL for o in question.options)
        for option in () if healthy_is_key else (None, *question.options):
            if option is None or option.demo is not None:
                controls = [self._of(question, option, seed)[-1] for seed in every_seed]
                distinct.setdefault(controls[0].key.text, controls)
        tested_controls = [
            tested("control", False, _command(runs[0]), ([run, run] for run in runs))
            for runs in distinct.values()
        ]
        return findings.judge(question, options, tested_controls)


def _command(run: NeededRun) -> str:
    return run.demo.name + "".join(f" --set {name}={value}" for name, value in run.params.items())


@dataclass(frozen=True, slots=True)
class Progress:
    """What is being run, and how much is left."""

    done: int
    total: int
    running: str
    left_s: float | None
    """Estimated wall time left; None before the first run has ended."""


def known(
    needed: Mapping[str, NeededRun],
    store: EvidenceStore,
    shipped: Mapping[str, Mapping[str, Any]],
    *,
    fresh: bool = False,
) -> tuple[dict[str, RunSummary], set[str]]:
    """The summaries that evidence already holds by key, and which of them are the author's claim.

    Evidence that can't be read counts as none. `fresh`: only what nothing is known of is left out.
    """
    summaries: dict[str, RunSummary] = {}
    claimed: set[str] = set()
    if fresh:
        return summaries, claimed
    for key in needed:
        records = store.evidence(key)
        for record, is_claim in [*((record, False) for record in records[::-1]), (shipped.get(key), True)]:
            if record is None:
                continue
            try:
                summaries[key] = summary_of(record)
            except (ValueError, TypeError, KeyError):
                continue
            if is_claim:
                claimed.add(key)
            break
    return summaries, claimed


async def make(
    runs: Sequence[NeededRun],
    lab: Lab,
    store: EvidenceStore,
    now: Callable[[], str],
    *,
    progress: Callable[[Progress], None] = lambda _: None,
    budget_s: float | None = None,
    total: int | None = None,
) -> AsyncGenerator[tuple[NeededRun, RunSummary, dict[str, Any]], None]:
    """Make the runs one after the other, keeping the evidence of each as it ends.

    Stops when `budget_s` of wall time is spent, and when it is cancelled; what has ended is kept. A run that
    failed is no evidence: it is given back, and not kept.
    """
    from quizapp.lab.request import RunRequest
    from quizapp.lab.summary import summarise_lines

    began_s = time.monotonic()
    total = len(runs) if total is None else total
    await lab.warm()
    for number, needed in enumerate(runs):
        spent_s = time.monotonic() - began_s
        left_s = spent_s / number * (len(runs) - number) if number else None
        progress(Progress(total - len(runs) + number, total, str(needed), left_s))
        if budget_s is not None and spent_s >= budget_s:
            return
        request = RunRequest(
            demo=needed.demo,
            variant=needed.variant,
            devices=needed.devices,
            device="emulated",
            params=needed.params,
            seed=needed.seed,
        )
        run = await lab.start(request)
        summary = summarise_lines([line async for line in run.lines()], run.asked)
        record = record_of(needed.key, summary, now())
        if summary.outcome in ("completed", "out-of-memory"):
            store.remember_evidence(record, key=needed.key.text)
            # Judged as it is kept, so that a second call can't find otherwise.
            summary = summary_of(record)
        yield needed, summary, record
