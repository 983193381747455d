"""Regular expressions in banks: matched in linear time and in bounded memory, whoever wrote them."""

from __future__ import annotations

import unicodedata
from typing import Protocol

LONGEST = 1000
"""Characters of a pattern."""
_MOST_BYTES = 1 << 20


class Pattern(Protocol):
    """A compiled expression."""

    def fullmatch(self, text: str) -> object | None:
        """Something when the whole text matches, else None."""
        ...


def compile_pattern(text: str, *, fold_case: bool) -> Pattern:
    """The expression, in the syntax of RE2. Raises ValueError in words for an author."""
    if len(text) > LONGEST:
        raise ValueError(f"has {len(text)} characters; write {LONGEST} at most")
    import re2

    options = re2.Options()
    options.case_sensitive = not fold_case
    options.log_errors = False
    options.max_mem = _MOST_BYTES
    # What a group caught is of no interest, and many groups make matching slow.
    options.never_capture = True
    try:
        # Responses are compared composed, so letters are composed here as well.
        compiled: Pattern = re2.compile(unicodedata.normalize("NFC", text), options)
    except re2.error as error:
        raise ValueError(f"is no regular expression: {_reason(error)}") from None
    except UnicodeEncodeError:
        raise ValueError("is no regular expression: half a surrogate pair stands in it") from None
    return compiled


def _reason(error: Exception) -> str:
    reason = error.args[0] if error.args else ""
    return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
