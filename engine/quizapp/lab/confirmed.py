"""Folders of demos that the user named: each is confirmed once for its content before it may run.

A demo is a program. Those of the installation are trusted with it; any other folder is asked about, and asked
about again when a file in it changes.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from quizapp.content import content_dir, state_dir
from quizapp.errors import QuizappError
from quizapp.lab.catalogue import Catalogue

MOST_FILES = 2000
MOST_BYTES = 64 << 20
_SKIPPED = {"__pycache__", ".git"}


class NotConfirmed(QuizappError):
    """A folder of demos that nobody has said yes to."""


def content_hash(folder: Path) -> str:
    """One hash over every file below `folder`, names included; raises QuizappError when that is too much."""
    if not folder.is_dir():
        raise QuizappError(f"{folder}: no such folder of demos")
    digest = hashlib.sha256()
    files = size = 0
    try:
        for path in sorted(folder.rglob("*")):
            if not path.is_file() or _SKIPPED & set(path.relative_to(folder).parts):
                continue
            files += 1
            size += path.stat().st_size
            if files > MOST_FILES or size > MOST_BYTES:
                raise QuizappError(
                    f"{folder}: too much for a folder of demos",
                    hint=f"{MOST_FILES} files and {MOST_BYTES >> 20} MiB at most",
                )
            content = path.read_bytes()
            name = path.relative_to(folder).as_posix()
            digest.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape") + content)
    except OSError as error:
        raise QuizappError(f"{folder}: can't be read: {error}") from error
    return digest.hexdigest()


def confirm(folder: Path, ask: Callable[[str], bool] | None, *, state: Path | None = None) -> None:
    """Return when the folder's content is confirmed, asking if need be; raises NotConfirmed otherwise.

    `ask` None: nobody can be asked.
    """
    digest = content_hash(folder)
    record = (state or state_dir()) / "confirmed-demos"
    with contextlib.suppress(OSError):
        if any(line.split(" ", 1)[0] == digest for line in record.read_text(encoding="utf-8").splitlines()):
            return
    shown = folder.resolve()
    if ask is None:
        raise NotConfirmed(
            f"{shown}: these demos are programs, and nobody has confirmed them",
            hint=f"read them, then run quizapp demo --demos {folder} in a terminal and say yes",
        )
    if not ask(f"The demos in {shown} are programs that run as you. Have you read them, and may they run?"):
        raise NotConfirmed(f"{shown}: not confirmed")
    # Not remembered, it is asked again: no reason to refuse.
    with contextlib.suppress(OSError):
        record.parent.mkdir(parents=True, exist_ok=True)
        with record.open("a", encoding="utf-8") as file:
            file.write(f"{digest} {str(shown)!r}\n")


def catalogue(folders: Sequence[Path] = (), ask: Callable[[str], bool] | None = None) -> Catalogue:
    """The demos that ship, and those of `folders`, each of which has to be confirmed."""
    for folder in folders:
        confirm(folder, ask)
    return Catalogue.load([content_dir("demos"), *folders])
