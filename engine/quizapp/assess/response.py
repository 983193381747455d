"""What a learner gave to a question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Response(NamedTuple):
    """What a question was answered with; all empty means unanswered."""

    selected: tuple[str, ...] = ()
    """Ids of the chosen options as they were presented, or of all items in the learner's order."""
    text: str = ""
    """What was typed."""
    pairs: tuple[tuple[str, str], ...] = ()
    """Ids of pairs, each with the id of the choice that was matched with it."""

    @property
    def blank(self) -> bool:
        """True when the learner gave nothing."""
        return not self.selected and not self.text.strip() and not self.pairs

    def to_json(self) -> dict[str, Any]:
        """A JSON-able mapping, restored by `from_json`."""
        body: dict[str, Any] = {"text": self.text} if self.text else {}
        if self.pairs:
            body["pairs"] = [list(pair) for pair in self.pairs]
        return body | ({"selected": list(self.selected)} if self.selected or not body else {})

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Response:
        """Restores a response; ValueError for anything that `to_json` would not write."""
        text, selected, pairs = body.get("text", ""), body.get("selected", []), body.get("pairs", [])
        known = {"text", "selected", "pairs"}
        if not body or set(body) - known or not isinstance(text, str):
            raise ValueError(f"not a response: {body!r}")
        if not _are_ids(selected):
            raise ValueError(f"not option ids: {selected!r}")
        if not isinstance(pairs, list) or not all(_are_ids(pair) and len(pair) == 2 for pair in pairs):
            raise ValueError(f"not pairs of ids: {pairs!r}")
        return cls(tuple(selected), text, tuple((left, right) for left, right in pairs))

    @property
    def plain(self) -> Any:
        """As it stands in JSON that people read: a text, a list of ids, or a mapping of pairs."""
        return self.text or (dict(self.pairs) if self.pairs else list(self.selected))


def _are_ids(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
