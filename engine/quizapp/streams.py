"""The standard streams as a command finds them: closed, full, without a reader, of another encoding."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress


def prepare() -> None:
    """Makes stdin, stdout and stderr usable whatever they are; called once, before anything is written."""
    # A closed stream is none for Python, and its number would go to the next file that is opened.
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, closefd=False)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", closefd=False)
    for stream in (sys.stdout, sys.stderr):
        # What the locale can't write becomes an escape, and no exception.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    # Only the process's own: whoever put another stream in its place wants to read it there.
    own = sys.stderr is sys.__stderr__
    if own and isinstance(sys.stderr, io.TextIOWrapper) and not sys.stderr.isatty():
        sys.stderr = io.TextIOWrapper(
            _Talk(sys.stderr),
            encoding=sys.stderr.encoding,
            errors="backslashreplace",
            line_buffering=True,
            write_through=True,
        )


def finish(code: int) -> int:
    """Brings what was written to its reader; the exit status, which is 2 when that is not possible."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        forget_stdout()
    except OSError as error:
        return unwritten(error) if code == 0 else code
    return code


def unwritten(error: OSError) -> int:
    """Says that stdout can't be written; the exit status of that."""
    forget_stdout()
    print(f"quizapp: the output can't be written: {error.strerror}.", file=sys.stderr)
    return 2


def forget_stdout() -> None:
    """Lets go what is still to be written: Python would try it again at exit, and complain."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


class _Talk(io.RawIOBase):
    """stderr whose reader may go away, or whose disk may be full: talk that can't be said ends no work."""

    def __init__(self, stderr: io.TextIOWrapper) -> None:
        self._stderr = stderr

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._stderr.fileno()

    def write(self, content: object) -> int:
        block = bytes(content)  # type: ignore[call-overload]
        with suppress(OSError, ValueError):
            left = memoryview(block)
            while left:
                left = left[os.write(self._stderr.fileno(), left) :]
        return len(block)
