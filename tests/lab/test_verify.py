from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from lab_lines import steady, summary
from quizapp.bank.model import DemoLink, Explanation, Option, Predicate, Range, SingleChoice, Symptom
from quizapp.content import content_dir
from quizapp.errors import QuizappError
from quizapp.lab.catalogue import Catalogue
from quizapp.lab.evidence import record_of
from quizapp.lab.request import RunRequest
from quizapp.lab.runner import Lab
from quizapp.lab.verify import Progress, Verification, known, make

DEMOS = Catalogue.load([content_dir("demos")])
SYMPTOM = Symptom(
    devices=2, where=(Predicate(says="uneven", meter="compute", devices=1, mean=Range(max=0.5)),)
)


def question(question_id: str, key: str, *distractors: str) -> SingleChoice:
    links = {
        name: DemoLink(
            name=name.partition("+")[0],
            variant="fix" if name == "healthy" else "fault",
            params=_params(name),
        )
        for name in (key, *distractors)
    }
    return SingleChoice(
        id=question_id,
        kind="single-choice",
        stem="uneven",
        symptom=SYMPTOM,
        options=tuple(
            Option(id=name.replace("+", "-"), text=name, correct=name == key, rationale="…", demo=link)
            for name, link in links.items()
        ),
        explanation=Explanation(short="…"),
    )


def _params(name: str) -> dict[str, str]:
    return {"split": "even"} if name.endswith("+even") else {}


class MemoryStore:
    def __init__(self) -> None:
        self.kept: dict[str, list[dict[str, Any]]] = {}

    def remember_evidence(self, record: Mapping[str, Any], *, key: str) -> None:
        self.kept.setdefault(key, []).append(dict(record))

    def evidence(self, key: str) -> list[dict[str, Any]]:
        return self.kept.get(key, [])


def test_runs_are_shared_by_questions_and_by_options() -> None:
    both = Verification(
        (question("one", "dp-sync", "tiny-model"), question("two", "tiny-model", "dp-sync")), DEMOS, repeats=3
    )
    # The control runs as it is, with the model of dp-sync, and with the batch of tiny-model.
    # its fault.
    controls = {run.key.text for run in both.runs().values() if run.demo.name == "healthy"}
    demos = {run.key.text for run in both.runs().values() if run.demo.name != "healthy"}
    assert len(demos) == 6
    assert len(controls) == 9


def test_an_unknown_demo_is_named_with_its_question() -> None:
    with pytest.raises(QuizappError, match=r"question one.*no demo dp-sink"):
        Verification((question("one", "dp-sink", "tiny-model"),), DEMOS).runs()


def made_up(needed: Mapping[str, Any], uneven: str) -> MemoryStore:
    """A store in which the runs of one demo show the symptom, and no others."""
    store = MemoryStore()
    for text, run in needed.items():
        shares = [0.97, 0.1] if run.demo.name == uneven else [0.97, 0.97]
        measured = summary({"compute": steady(shares)}, demo=run.demo.name, seed=run.seed)
        store.remember_evidence(record_of(run.key, measured, ""), key=text)
    return store


def test_with_evidence_of_every_run_the_finding_needs_no_run() -> None:
    verification = Verification((question("one", "dp-sync", "tiny-model"),), DEMOS)
    needed = verification.runs()
    summaries, claimed = known(needed, made_up(needed, "dp-sync"), {})
    assert set(summaries) == set(needed)
    assert not claimed
    (found,) = verification.findings(summaries, {})
    assert found.finding == "supported"


def test_a_key_that_says_nothing_is_wrong_is_not_held_against_the_control() -> None:
    verification = Verification((question("one", "healthy", "tiny-model", "dp-sync"),), DEMOS)
    needed = verification.runs()
    summaries, _ = known(needed, made_up(needed, "healthy"), {})
    (found,) = verification.findings(summaries, {})
    assert found.finding == "supported"
    assert "2 distractors" in found.reason
    assert "control" not in found.reason


def test_a_control_that_shows_it_speaks_against_any_other_key() -> None:
    verification = Verification((question("one", "dp-sync", "tiny-model"),), DEMOS)
    needed = verification.runs()
    store, controls = made_up(needed, "dp-sync"), made_up(needed, "healthy")
    store.kept |= {text: controls.kept[text] for text, run in needed.items() if run.demo.name == "healthy"}
    (found,) = verification.findings(known(needed, store, {})[0], {})
    assert found.finding == "contradicted"
    assert "control" in found.reason


def test_a_wrong_key_is_contradicted_by_the_same_evidence() -> None:
    verification = Verification((question("one", "tiny-model", "dp-sync"),), DEMOS)
    needed = verification.runs()
    summaries, _ = known(needed, made_up(needed, "dp-sync"), {})
    (found,) = verification.findings(summaries, {})
    assert found.finding == "contradicted"


def test_shipped_evidence_is_a_claim_and_this_machines_own_goes_first() -> None:
    verification = Verification((question("one", "dp-sync", "tiny-model"),), DEMOS)
    needed = verification.runs()
    claims = {text: records[-1] for text, records in made_up(needed, "dp-sync").kept.items()}
    summaries, claimed = known(needed, MemoryStore(), claims)
    assert claimed == set(needed)
    mine = made_up(needed, "nothing")
    summaries, claimed = known(needed, mine, claims)
    assert not claimed
    (found,) = verification.findings(summaries, {})
    assert found.finding == "contradicted"


def test_damaged_evidence_counts_as_none() -> None:
    verification = Verification((question("one", "dp-sync", "tiny-model"),), DEMOS)
    needed = verification.runs()
    store = MemoryStore()
    for text in needed:
        store.remember_evidence({"format": 1, "measured": {"devices": "two"}}, key=text)
    assert known(needed, store, {}) == ({}, set())


def test_fresh_forgets_what_is_known() -> None:
    verification = Verification((question("one", "dp-sync", "tiny-model"),), DEMOS)
    needed = verification.runs()
    assert known(needed, made_up(needed, "dp-sync"), {}, fresh=True) == ({}, set())


class StubLab:
    """Counts what it is asked to run; the runs themselves are not needed here."""

    def __init__(self) -> None:
        self.started: list[RunRequest] = []

    async def warm(self) -> None:
        return None

    async def start(self, request: RunRequest) -> Any:
        self.started.append(request)
        raise QuizappError("enough")


async def test_no_run_is_started_when_the_budget_is_spent() -> None:
    lab = StubLab()
    verification = Verification((question("one", "dp-sync", "tiny-model"),), DEMOS)
    runs = list(verification.runs().values())
    made = [one async for one in make(runs, lab, MemoryStore(), str, budget_s=0)]  # type: ignore[arg-type]
    assert made == []
    assert lab.started == []


def test_a_real_key_is_supported_and_its_swap_contradicted_and_what_ended_is_kept(torch_lab: Any) -> None:
    """Real demos, one repeat, on two devices: dp-sync is uneven, shared evenly it is not."""
    right = Verification((question("one", "dp-sync", "dp-sync+even"),), DEMOS, repeats=1)
    store, told = MemoryStore(), []

    async def run(lab: Lab) -> None:
        todo = list(right.runs().values())
        async for _ in make(todo, lab, store, lambda: "2026-01-01", progress=told.append):
            pass

    torch_lab.do(run(torch_lab.lab))
    needed = right.runs()
    assert set(store.kept) == set(needed)
    assert [type(one) for one in told] == [Progress] * len(needed)
    summaries, _ = known(needed, store, {})
    assert [found.finding for found in right.findings(summaries, {})] == ["supported"]
    swapped = Verification((question("one", "dp-sync+even", "dp-sync"),), DEMOS, repeats=1)
    summaries, _ = known(swapped.runs(), store, {})
    assert [found.finding for found in swapped.findings(summaries, {})] == ["contradicted"]
