"""What a learner gave to a question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Response(NamedTuple):
    """The chosen option ids, in the order in which the options were presented; empty means unanswered.

    Kinds that ask for something else than options get a field of their own here.
    """

    selected: tuple[str, ...] = ()

    @property
    def blank(self) -> bool:
        """True when the learner gave nothing."""
        return not self.selected

    def to_json(self) -> dict[str, Any]:
        """A JSON-able mapping, restored by `from_json`."""
        return {"selected": list(self.selected)}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Response:
        """Restores a response; ValueError for anything that `to_json` would not write."""
        selected = body.get("selected")
        if set(body) != {"selected"} or not isinstance(selected, list):
            raise ValueError(f"not a response: {body!r}")
        if not all(isinstance(option_id, str) for option_id in selected):
            raise ValueError(f"not option ids: {selected!r}")
        return cls(tuple(selected))
