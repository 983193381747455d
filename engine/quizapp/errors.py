"""Errors that people read. Whatever a user can cause is a QuizappError; anything else is our bug."""

from __future__ import annotations


class QuizappError(Exception):
    """Something that the user can act on: shown on stderr without a traceback.

    `message` says what happened and where, `hint` what to do about it.
    """

    exit_code = 2

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


class InputEnded(QuizappError):
    """stdin ended before the work was done; what was given so far is kept."""

    exit_code = 3


def nearest(name: str, known: list[str]) -> str:
    """The known name most like `name`, or "" when none is close enough to offer."""
    import difflib

    matches = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return matches[0] if matches else ""
