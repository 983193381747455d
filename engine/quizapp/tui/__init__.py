"""The screens. Textual is imported when one of these functions is called, not before."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quizapp.tui.start import run_demo, run_replay, run_take

__all__ = ["run_demo", "run_replay", "run_take"]


def __getattr__(name: str) -> object:
    if name in __all__:
        from quizapp.tui import start

        return getattr(start, name)
    raise AttributeError(name)
