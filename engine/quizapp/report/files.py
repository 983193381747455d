"""A file that is written whole or not at all, and never over another one unasked."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from quizapp.errors import QuizappError


@contextmanager
def written(path: Path, *, force: bool = False) -> Iterator[IO[bytes]]:
    """A file to write to, which is at `path` once this ends well. QuizappError where that can't be."""
    if path.exists() and not force:
        raise QuizappError(f"{path} is there already", hint="--force writes over it, or name another file")
    # Beside the target, so that the last step is one of the file system; through links to what they name.
    target = path.resolve()
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        if target.exists() and not target.is_file():
            # A device or a pipe is written to as it is.
            with target.open("wb") as file:
                yield file
            return
        with part.open("wb") as file:
            yield file
        part.replace(target)
    except OSError as error:
        raise QuizappError(f"{path}: can't be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
