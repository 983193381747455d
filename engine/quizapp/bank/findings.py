"""What is wrong with a bank, said to its author: where, what, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from quizapp.bank.text import visible
from quizapp.errors import QuizappError

Severity = Literal["error", "warning"]
Where = tuple[str | int, ...]

SHOWN_IN_MESSAGE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One fault of a bank; `str` is `file:line:col: where: what, and what to do`; counted from 1."""

    path: str
    line: int
    column: int
    where: str
    message: str
    hint: str = ""
    severity: Severity = "error"
    code: str

    def __str__(self) -> str:
        kind = "" if self.severity == "error" else "warning: "
        words = f"{self.message}; {self.hint}" if self.hint else self.message
        place = f"{self.where}: " if self.where else ""
        return visible(f"{self.path}:{self.line}:{self.column}: {kind}{place}{words}").replace("\n", " ")


class BankNotFound(QuizappError):
    """No bank under this name or path."""


class BankError(QuizappError):
    """A bank that can't be taken, with all that is wrong with it in `findings`."""

    def __init__(self, path: str, findings: list[Finding]) -> None:
        self.findings = findings
        lines = [str(finding) for finding in findings[:SHOWN_IN_MESSAGE]]
        if len(findings) > SHOWN_IN_MESSAGE:
            lines.append(f"… and {len(findings) - SHOWN_IN_MESSAGE} more; `quizapp check` lists all of them")
        super().__init__("\n".join(lines), hint=f"{_count(len(findings))} in {visible(path)}")


def _count(errors: int) -> str:
    return "1 error" if errors == 1 else f"{errors} errors"
