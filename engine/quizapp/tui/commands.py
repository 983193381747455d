"""The entries of the command palette: every named key of the screen on top, in words of our own.

Titles here never hold text out of a bank: Textual reads them as markup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from textual.app import SystemCommand
from textual.binding import Binding

if TYPE_CHECKING:
    from textual.screen import Screen

    from quizapp.tui.app import QuizApp

_NOT_COMMANDS = (
    "Up",
    "Down",
    "Choose",
    "Scroll",
    "Page up",
    "Page down",
    "First",
    "Last",
    "Quit",
    "Commands",
)


def commands_for(app: QuizApp, screen: Screen[Any]) -> Iterable[SystemCommand]:
    """What can be done on a screen."""
    from quizapp.tui.screens.base import QuizScreen
    from quizapp.tui.screens.window import Window

    seen: set[str] = set()
    for cls in type(screen).__mro__:
        if not issubclass(cls, QuizScreen | Window):
            continue
        for binding in cls.__dict__.get("BINDINGS", ()):
            if not isinstance(binding, Binding) or binding.description in (*_NOT_COMMANDS, *seen):
                continue
            seen.add(binding.description)
            key = binding.key.split(",")[0]
            yield SystemCommand(binding.description, binding.tooltip or "", _press(app, key))


def _press(app: QuizApp, key: str) -> Callable[[], None]:
    return lambda: app.simulate_key(key)
