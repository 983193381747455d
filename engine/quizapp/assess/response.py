"""What a learner gave to a question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Response(NamedTuple):
    """The chosen option ids, in the order in which the options were presented, or a text as it was typed.

    Both empty means unanswered. Kinds that ask for something else get a field of their own here.
    """

    selected: tuple[str, ...] = ()
    text: str = ""

    @property
    def blank(self) -> bool:
        """True when the learner gave nothing."""
        return not self.selected and not self.text.strip()

    def to_json(self) -> dict[str, Any]:
        """A JSON-able mapping, restored by `from_json`."""
        body: dict[str, Any] = {"text": self.text} if self.text else {}
        return body | ({"selected": list(self.selected)} if self.selected or not body else {})

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Response:
        """Restores a response; ValueError for anything that `to_json` would not write."""
        text, selected = body.get("text", ""), body.get("selected", [])
        if (
            not body
            or set(body) - {"text", "selected"}
            or not isinstance(text, str)
            or not isinstance(selected, list)
        ):
            raise ValueError(f"not a response: {body!r}")
        if not all(isinstance(option_id, str) for option_id in selected):
            raise ValueError(f"not option ids: {selected!r}")
        return cls(tuple(selected), text)

    def in_words(self, letters: Mapping[str, str]) -> str:
        """As it is told: the letters of the options, or what was typed; "" when blank."""
        if self.text:
            return self.text.strip()
        return ", ".join(letters.get(option_id, option_id) for option_id in self.selected)
