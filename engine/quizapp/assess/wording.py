"""Short-text responses: what counts as the same words, and whether they are right."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quizapp.bank.model import ShortText

LONGEST = 500
"""Characters of a response."""
PATTERN_TIME_S = 0.5
"""How long a pattern may work on one response."""
_SAME = (
    dict.fromkeys(map(ord, "‘’‚‛′ʼ`´＇"), "'")
    | dict.fromkeys(map(ord, "“”„‟″«»＂"), '"')
    | dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-")
)
# Marks without width, and what joins or parts words unseen.
_UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))


class SlowPattern(ValueError):
    """A question's pattern takes too long on a response: no fault of the learner's."""


def normalised(text: str, *, case: str = "fold", accents: str = "exact") -> str:
    """Words as they are compared: one form of each letter, quote, dash and space; idempotent."""
    # Quotes first, in their canonical form: NFKC makes a blank and a mark of some.
    text = unicodedata.normalize("NFC", text).translate(_SAME)
    text = unicodedata.normalize("NFKC", text).translate(_UNSEEN | _SAME)
    if accents == "fold":
        # Between decomposition and composition, so that what was composed by NFKC falls apart as well.
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    if case == "fold":
        text = unicodedata.normalize("NFKC", text.casefold())
    return " ".join(unicodedata.normalize("NFC", text).translate(_SAME).split())


def is_right(question: ShortText, text: str) -> bool:
    """Whether a response is one of the key's forms or matches the pattern. Raises SlowPattern."""
    given = normalised(text, case=question.case, accents=question.accents)
    if any(given == normalised(form, case=question.case, accents=question.accents) for form in question.key):
        return True
    return bool(question.pattern) and _matches(question, given)


def _matches(question: ShortText, given: str) -> bool:
    import regex

    flags = regex.IGNORECASE if question.case == "fold" else 0
    try:
        return regex.fullmatch(question.pattern, given, flags, timeout=PATTERN_TIME_S) is not None
    except TimeoutError:
        raise SlowPattern(
            "this question's pattern takes too long on this response; its author has to mend it"
        ) from None
    except regex.error as error:
        raise SlowPattern(f"this question's pattern is broken: {error}") from None
