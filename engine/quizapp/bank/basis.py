"""What `verified_by` says of a key, in words; what was measured is another matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quizapp.bank.model import VerifiedBy

BASES: dict[VerifiedBy, str] = {
    "experiment": "said to be by experiment",
    "reference": "by reference: the sources listed say so",
    "judgement": "by judgement: its author's experience",
}
