"""Short-text responses: what counts as the same words, and whether they are right."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quizapp.bank.model import ShortText

LONGEST = 500
"""Characters of a response."""
_SAME = (
    dict.fromkeys(map(ord, "‘’‚‛′ʼ`´＇"), "'")
    | dict.fromkeys(map(ord, "“”„‟″«»＂"), '"')
    | dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-")
)
# Marks without width, and what joins or parts words unseen.
_UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))


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
    """Whether a response is one of the key's forms or matches the pattern."""
    given = normalised(text, case=question.case, accents=question.accents)
    if any(given == normalised(form, case=question.case, accents=question.accents) for form in question.key):
        return True
    return bool(question.pattern) and _matches(question, given)


def _matches(question: ShortText, given: str) -> bool:
    from quizapp.bank.pattern import compile_pattern

    # A lone surrogate, out of a terminal that is not UTF-8, is a letter that no pattern holds.
    given = given.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return compile_pattern(question.pattern, fold_case=question.case == "fold").fullmatch(given) is not None
