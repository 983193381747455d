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
    devices: tuple[int, ...] = ()
    """Numbers of the devices that are picked out of a recording."""
    span_s: tuple[float, float] | None = None
    """The stretch of device time that is picked out of a recording."""

    @property
    def blank(self) -> bool:
        """True when the learner gave nothing."""
        return not (self.selected or self.text.strip() or self.pairs or self.devices or self.span_s)

    def to_json(self) -> dict[str, Any]:
        """A JSON-able mapping, restored by `from_json`."""
        body: dict[str, Any] = {"text": self.text} if self.text else {}
        if self.pairs:
            body["pairs"] = [list(pair) for pair in self.pairs]
        if self.devices:
            body["devices"] = list(self.devices)
        if self.span_s is not None:
            body["span_s"] = list(self.span_s)
        return body | ({"selected": list(self.selected)} if self.selected or not body else {})

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Response:
        """Restores a response; ValueError for anything that `to_json` would not write."""
        text, selected, pairs = body.get("text", ""), body.get("selected", []), body.get("pairs", [])
        known = {"text", "selected", "pairs", "devices", "span_s"}
        if not body or set(body) - known or not isinstance(text, str):
            raise ValueError(f"not a response: {body!r}")
        if not _are_ids(selected):
            raise ValueError(f"not option ids: {selected!r}")
        if not isinstance(pairs, list) or not all(_are_ids(pair) and len(pair) == 2 for pair in pairs):
            raise ValueError(f"not pairs of ids: {pairs!r}")
        return cls(tuple(selected), text, tuple((left, right) for left, right in pairs), *_picked(body))

    @property
    def plain(self) -> Any:
        """As it stands in JSON that people read: a text, a list of ids or devices, a mapping of pairs, or
        both ends of a stretch of time.
        """
        if self.devices or self.span_s is not None:
            return list(self.devices or self.span_s or ())
        return self.text or (dict(self.pairs) if self.pairs else list(self.selected))


def _are_ids(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _picked(body: Mapping[str, Any]) -> tuple[tuple[int, ...], tuple[float, float] | None]:
    devices, span_s = body.get("devices", []), body.get("span_s")
    if not isinstance(devices, list) or not all(type(device) is int for device in devices):
        raise ValueError(f"not numbers of devices: {devices!r}")
    if span_s is None:
        return tuple(devices), None
    if not isinstance(span_s, list) or [type(end) in (int, float) for end in span_s] != [True, True]:
        raise ValueError(f"not a stretch of time: {span_s!r}")
    return tuple(devices), (float(span_s[0]), float(span_s[1]))
