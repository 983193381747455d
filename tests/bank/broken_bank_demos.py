"""Demos as the checks see them: two declarations, one parameter."""

from __future__ import annotations


class Demo:
    """A demo's declaration with one parameter, split."""

    def __init__(self, *variants: str) -> None:
        self.variants = variants

    def check_param(self, name: str, text: str) -> str:
        if name != "split":
            return f"there is no parameter {name}; did you mean split?"
        return "" if text in ("even", "uneven") else f"{text!r} is none of even, uneven; did you mean even?"

    def check_devices(self, count: int) -> str:
        return "" if count <= 8 else f"{count} devices are too many"


DEMOS = {"dp-sync": Demo("fault", "fix"), "healthy": Demo("fix")}
