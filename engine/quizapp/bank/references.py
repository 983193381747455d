"""`{{opt:id}}` in a bank's text: a reference to an option, whatever letter it has on screen."""

from __future__ import annotations

from collections.abc import Mapping

_OPEN, _CLOSE = "{{opt:", "}}"


def resolve(text: str, letters: Mapping[str, str]) -> str:
    """`text` with each reference replaced by the option's letter; one to an unknown id stays."""
    if _OPEN not in text:
        return text
    first, *rest = text.split(_OPEN)
    parts = [first]
    for part in rest:
        option_id, closed, after = part.partition(_CLOSE)
        letter = letters.get(option_id.strip()) if closed else None
        parts.append(f"{letter}{after}" if letter is not None else f"{_OPEN}{part}")
    return "".join(parts)


def referenced(text: str) -> list[str]:
    """The option ids that `text` refers to, in order."""
    found = []
    for part in text.split(_OPEN)[1:]:
        option_id, closed, _ = part.partition(_CLOSE)
        if closed:
            found.append(option_id.strip())
    return found
