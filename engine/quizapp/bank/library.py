"""Where banks are, and how one is opened: compiled when it was seen before, else loaded and compiled."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, overload

from quizapp.bank import cache as bank_cache
from quizapp.bank.compiled import QuestionRow, stamp_of
from quizapp.bank.snapshot import question_from_json, take_from_plain
from quizapp.content import cache_dir, content_dir
from quizapp.errors import nearest

if TYPE_CHECKING:
    from quizapp.bank.compiled import CompiledBank, FileStamp, FreshBank
    from quizapp.bank.findings import BankNotFound
    from quizapp.bank.listing import BankEntry as BankEntry
    from quizapp.bank.model import Question, Take

__all__ = [
    "OpenBank",
    "QuestionRow",
    "bank_files",
    "bank_folders",
    "find_bank",
    "list_banks",
    "open_bank",
    "question_from_json",
]

SUFFIXES = (".yaml", ".yml")

_Read = TypeVar("_Read")


class OpenBank:
    """A bank that can be taken. Rows and questions are read when they are asked for."""

    def __init__(self, path: Path, compiled: CompiledBank) -> None:
        self.id: str = path.stem
        self.path = path
        self._use(compiled)

    def _use(self, compiled: CompiledBank) -> None:
        self._compiled = compiled
        self._positions: dict[str, int] | None = None
        self.hash: str = compiled.hash
        facts = compiled.facts
        self.title: str = facts["title"]
        self.language: str = facts["language"]
        self.description: str = facts["description"]
        self.license: str = facts["license"]
        self.objectives: Mapping[str, str] = facts["objectives"]
        self.demos: tuple[str, ...] = tuple(facts["demos"])
        self.points: float = facts["points"]
        self.take: Take = take_from_plain(facts["take"])
        self.ids: tuple[str, ...] = tuple(compiled.ids)

    @property
    def rows(self) -> Sequence[QuestionRow]:
        """All rows in the file's order; one by index is read alone, a whole iteration in one go."""
        return _Rows(self)

    def row(self, question_id: str) -> QuestionRow:
        """One question's row. Raises KeyError for an id that the bank hasn't got."""
        return self._read(lambda: self._compiled.row(self._position(question_id)))

    def question(self, question_id: str) -> Question:
        """One question. Raises KeyError for an id that the bank hasn't got."""
        return question_from_json(self.question_json(question_id))

    def question_json(self, question_id: str) -> str:
        """One question, as `question_from_json` reads it. Raises KeyError for an unknown id."""
        return self._read(lambda: self._compiled.body(self._position(question_id)))

    def _position(self, question_id: str) -> int:
        if self._positions is None:
            self._positions = dict(zip(self.ids, range(len(self.ids)), strict=True))
        return self._positions[question_id]

    def _read(self, read: Callable[[], _Read]) -> _Read:
        try:
            return read()
        except bank_cache.CacheDamaged:
            compiled: CompiledBank = _load(self.path)
            if compiled.hash != self.hash:
                raise _not_found(
                    f"{self.path} was changed while it was being taken, and its compiled form is damaged",
                    hint="take it again",
                ) from None
            self._use(compiled)
            return read()


class _Rows(Sequence[QuestionRow]):
    def __init__(self, bank: OpenBank) -> None:
        self._bank = bank

    def __len__(self) -> int:
        return len(self._bank.ids)

    def __iter__(self) -> Iterator[QuestionRow]:
        return iter(self._bank._read(lambda: self._bank._compiled.rows()))

    @overload
    def __getitem__(self, index: int) -> QuestionRow: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[QuestionRow, ...]: ...
    def __getitem__(self, index: int | slice) -> QuestionRow | tuple[QuestionRow, ...]:
        if isinstance(index, slice):
            return tuple(self)[index]
        return self._bank.row(self._bank.ids[index])


def open_bank(path: Path, *, cache: Path | None = None) -> OpenBank:
    """The bank at `path`, through the cache in the folder `cache` (default: the user's).

    Raises BankNotFound, or BankError with all that is wrong with it.
    """
    folder = cache_dir() if cache is None else cache
    compiled: CompiledBank | None = bank_cache.read(folder, path)
    if compiled is None:
        stamp = _stamp(path)
        fresh = _load(path)
        if stamp is not None:
            bank_cache.write(folder, path, fresh, stamp)
        compiled = fresh
    return OpenBank(path, compiled)


def _not_found(message: str, *, hint: str) -> BankNotFound:
    from quizapp.bank.findings import BankNotFound

    return BankNotFound(message, hint=hint)


def _load(path: Path) -> FreshBank:
    from quizapp.bank.compiled import FreshBank
    from quizapp.bank.load import load_bank

    return FreshBank(load_bank(path))


def _stamp(path: Path) -> FileStamp | None:
    try:
        return stamp_of(str(path))
    except (OSError, ValueError):
        return None  # the loader says what is wrong with it


def bank_folders() -> list[Path]:
    """Where banks are looked for: `quizzes` here, the folders in QUIZAPP_BANKS, those that came along."""
    named = [Path(name) for name in os.environ.get("QUIZAPP_BANKS", "").split(os.pathsep) if name]
    folders: list[Path] = []
    seen: list[str] = []
    for folder in (Path("quizzes"), *named, content_dir("quizzes")):
        real = os.path.realpath(folder)
        if real not in seen and os.path.isdir(real):
            folders.append(folder)
            seen.append(real)
    return folders


def find_bank(ref: str, folders: Sequence[Path] | None = None) -> Path:
    """The file of a bank, by its id (the file's stem) or by a path. Raises BankNotFound.

    An id is looked up in the current folder, then in `folders` (default: `bank_folders()`).
    """
    if "\0" in ref or not ref:
        raise _not_found(f"{ref!r} names no bank", hint="give its id, or the path of a YAML file")
    is_path = os.sep in ref or ref.endswith(SUFFIXES)
    known = bank_folders() if folders is None else list(folders)
    if not is_path:
        for folder in (Path(), *known):
            for suffix in SUFFIXES:
                if os.path.isfile(folder / f"{ref}{suffix}"):
                    return folder / f"{ref}{suffix}"
    if os.path.exists(ref):
        return Path(ref)
    match = nearest(Path(ref).stem, [path.stem for path in bank_files(known)])
    hint = f"did you mean {match}?" if match else "`quizapp list` shows the banks there are"
    raise _not_found(f"there is no {'file' if is_path else 'bank'} {ref}", hint=hint)


def list_banks(folders: Sequence[Path] | None = None, *, cache: Path | None = None) -> list[BankEntry]:
    """Every bank in the folders (default: `bank_folders()`, and what looks like a bank in the current one).

    Of two with one id, the one that `find_bank` finds. Broken ones are listed too.
    """
    from quizapp.bank import listing

    return listing.list_banks(folders, cache=cache)


def bank_files(folders: Sequence[Path]) -> list[Path]:
    """The YAML files in these folders, by name; a folder that can't be read has none."""
    files: list[Path] = []
    for folder in folders:
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            continue
        files += [folder / name for name in names if name.endswith(SUFFIXES) and not name.startswith(".")]
    return files
