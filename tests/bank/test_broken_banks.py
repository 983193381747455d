"""Every bank in tests/banks/broken, and exactly what its author is told.

`UPDATE_EXPECTED=1 pytest tests/bank/test_broken_banks.py` writes the expectations anew: read the difference.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest
from broken_bank_demos import DEMOS

from quizapp.assess.instance import values_of
from quizapp.assess.scoring import foreseen, is_right
from quizapp.bank.check import check_bank
from quizapp.bank.findings import BankError
from quizapp.bank.kind_checks import Judge
from quizapp.bank.load import load_bank, read_bank

FOLDER = Path(__file__).parent.parent / "banks" / "broken"


def said_of(path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(path.parent)  # so that the expectations name no folder of this machine
    try:
        loaded, findings = read_bank(Path(path.name))
    except BankError as error:
        findings = error.findings
    else:
        draws = [partial(values_of, seed=seed) for seed in range(20)]
        findings = findings + check_bank(loaded, DEMOS, Judge(is_right, foreseen), draws)
    ordered = sorted(findings, key=lambda finding: (finding.line, finding.column))
    return "".join(f"{finding}\n" for finding in ordered)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_all_that_is_wrong_is_said_with_its_place(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = said_of(path, monkeypatch)
    expected = path.with_suffix(".expected")
    if os.environ.get("UPDATE_EXPECTED"):
        expected.write_text(said, encoding="utf-8")
    assert said == expected.read_text(encoding="utf-8")
    assert said, "a broken bank of which nothing is said"


def test_every_expectation_has_its_bank() -> None:
    assert {path.stem for path in FOLDER.glob("*.expected")} == {path.stem for path in FOLDER.glob("*.yaml")}


def test_the_error_that_a_learner_sees_holds_every_finding() -> None:
    with pytest.raises(BankError) as caught:
        load_bank(FOLDER / "structure.yaml")
    message = str(caught.value)
    assert all(str(finding) in message for finding in caught.value.findings)
    assert len(caught.value.findings) > 20
    assert f"{len(caught.value.findings)} errors" in message
