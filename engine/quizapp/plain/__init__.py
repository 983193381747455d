"""The front end without a screen: lines in, lines out, no cursor addressing."""

from __future__ import annotations

from quizapp.plain.conversation import take

__all__ = ["take"]
