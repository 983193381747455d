"""All banks in some folders, in a few words each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quizapp.bank.findings import BankError, BankNotFound
from quizapp.bank.library import bank_files, bank_folders, open_bank

_HEAD_BYTES = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class BankEntry:
    """A bank in a list. `error` is empty, or the first of `errors` errors of a bank that can't be taken."""

    id: str
    path: Path
    title: str
    questions: int = 0
    demos: int = 0
    """Different demos that its options name."""
    pass_mark: float | None = None
    """Share of the points, 0 to 1."""
    time_limit_s: float | None = None
    error: str = ""
    errors: int = 0


def list_banks(folders: Sequence[Path] | None = None, *, cache: Path | None = None) -> list[BankEntry]:
    """As `library.list_banks`."""
    known = bank_folders() if folders is None else list(folders)
    here = [path for path in bank_files([Path()]) if _looks_like_bank(path)] if folders is None else []
    entries: dict[str, BankEntry] = {}
    for path in (*here, *bank_files(known)):
        if path.stem not in entries:
            entries[path.stem] = _entry(path, cache)
    return sorted(entries.values(), key=lambda entry: entry.id)


def _entry(path: Path, cache: Path | None) -> BankEntry:
    try:
        bank = open_bank(path, cache=cache)
    except BankError as error:
        first = str(error.findings[0])
        return BankEntry(id=path.stem, path=path, title=path.stem, error=first, errors=len(error.findings))
    except BankNotFound as error:
        return BankEntry(id=path.stem, path=path, title=path.stem, error=error.message, errors=1)
    return BankEntry(
        id=bank.id,
        path=path,
        title=bank.title,
        questions=len(bank.ids),
        demos=len(bank.demos),
        pass_mark=bank.take.pass_mark,
        time_limit_s=bank.take.time_limit_s,
    )


def _looks_like_bank(path: Path) -> bool:
    """Whether a file in a folder that isn't for banks is one: its start names a format, or our schema."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            lines = file.read(_HEAD_BYTES).splitlines()
    except OSError:
        return False
    return any(b"bank.schema.json" in line or line.startswith(b"format:") for line in lines)
