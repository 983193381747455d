"""Where banks are, and how one is opened: compiled when it was seen before, else loaded and compiled."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, overload

from quizapp.bank import cache as bank_cache
from quizapp.bank.compiled import CompiledBank, FileStamp, FreshBank, QuestionRow
from quizapp.bank.findings import BankError, BankNotFound
from quizapp.bank.snapshot import question_from_json, take_from_plain
from quizapp.content import cache_dir, content_dir
from quizapp.errors import nearest

if TYPE_CHECKING:
    from quizapp.bank.model import Question, Take

__all__ = [
    "BankEntry",
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
_HEAD_BYTES = 4096

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
            self._positions = {known: position for position, known in enumerate(self.ids)}
        return self._positions[question_id]

    def _read(self, read: Callable[[], _Read]) -> _Read:
        try:
            return read()
        except bank_cache.CacheDamaged:
            compiled: CompiledBank = _load(self.path)
            if compiled.hash != self.hash:
                raise BankNotFound(
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


def _load(path: Path) -> FreshBank:
    from quizapp.bank.load import load_bank

    return FreshBank(load_bank(path))


def _stamp(path: Path) -> FileStamp | None:
    try:
        return FileStamp.of(str(path))
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
        raise BankNotFound(f"{ref!r} names no bank", hint="give its id, or the path of a YAML file")
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
    raise BankNotFound(f"there is no {'file' if is_path else 'bank'} {ref}", hint=hint)


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
    """Every bank in the folders (default: `bank_folders()`, and what looks like a bank in the current one).

    Of two with one id, the one that `find_bank` finds. Broken ones are listed too.
    """
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
