"""`quizapp check`: what is wrong with a bank, all at once."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from quizapp.bank.check import Demos
    from quizapp.bank.findings import Finding


@click.command(name="check")
@click.argument("banks", nargs=-1, metavar="[BANK]...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--strict", is_flag=True, help="Fail on warnings, too.")
@click.option(
    "--demos", "folders", type=click.Path(path_type=Path), multiple=True, help="A further folder of demos."
)
@click.option(
    "--samples",
    type=click.IntRange(1, 10_000),
    default=20,
    show_default=True,
    help="Draws that are checked of a question with variables.",
)
@click.pass_context
def command(
    ctx: click.Context,
    banks: tuple[str, ...],
    as_json: bool,
    strict: bool,
    folders: tuple[Path, ...],
    samples: int,
) -> None:
    """Find what is wrong with banks: ids, YAML files, or folders of them.

    Without any, those that came with quizapp are checked. Exits with 1 when there are errors.
    """
    demos = _catalogue(folders)
    checked = []
    for path in _paths(banks):
        if sys.stderr.isatty() and not as_json:
            print(f"checking {path}", file=sys.stderr)
        questions, findings = examine(path, demos, samples)
        checked.append((path, questions, findings))
    errors = sum(finding.severity == "error" for _, _, findings in checked for finding in findings)
    warnings = sum(len(findings) for _, _, findings in checked) - errors
    if as_json:
        _print_json(checked, errors, warnings)
    else:
        for _, _, findings in checked:
            for finding in findings:
                print(finding)
        what = checked[0][0] if len(checked) == 1 else f"{len(checked)} banks"
        total = sum(questions for _, questions, _ in checked)
        counts = [_number(total, "question"), _number(errors, "error"), _number(warnings, "warning")]
        print(f"{what}: {', '.join(counts)}", file=sys.stderr)
    if errors or (strict and warnings):
        ctx.exit(1)


def examine(path: Path, demos: Demos, samples: int) -> tuple[int, list[Finding]]:
    """The number of valid questions in a bank, and everything that is wrong with it, in the file's order.

    Of a question with variables so many draws are looked at: those of the seeds 0, 1, 2 and so on.
    """
    from functools import partial

    from quizapp.assess.instance import values_of
    from quizapp.assess.scoring import foreseen, is_right
    from quizapp.bank.check import check_bank
    from quizapp.bank.findings import BankError
    from quizapp.bank.kind_checks import Judge
    from quizapp.bank.load import read_bank

    try:
        loaded, findings = read_bank(path)
    except BankError as error:
        return 0, error.findings
    draws = [partial(values_of, seed=seed) for seed in range(samples)]
    findings = findings + check_bank(loaded, demos, Judge(is_right, foreseen), draws)
    return len(loaded.bank.questions), sorted(findings, key=lambda finding: (finding.line, finding.column))


def _catalogue(folders: tuple[Path, ...]) -> Demos:
    from quizapp.content import content_dir
    from quizapp.lab.catalogue import Catalogue

    return Catalogue.load([content_dir("demos"), *folders])


def _paths(banks: tuple[str, ...]) -> list[Path]:
    from quizapp.bank.library import bank_files, find_bank
    from quizapp.content import content_dir
    from quizapp.errors import QuizappError

    paths: list[Path] = []
    for ref in banks or (str(content_dir("quizzes")),):
        if os.path.isdir(ref):  # unlike Path's, it has no exception for a name that is too long
            found = bank_files([Path(ref)])
            if not found:
                raise QuizappError(
                    f"no bank stands in {ref}", hint="banks are files that end in .yaml or .yml"
                )
            paths += found
        else:
            paths.append(find_bank(ref))
    return paths


def _print_json(checked: list[tuple[Path, int, list[Finding]]], errors: int, warnings: int) -> None:
    import json
    from dataclasses import asdict

    banks: list[dict[str, Any]] = [
        {"path": str(path), "questions": questions, "findings": [asdict(finding) for finding in findings]}
        for path, questions, findings in checked
    ]
    print(json.dumps({"banks": banks, "errors": errors, "warnings": warnings}, indent=2))


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
