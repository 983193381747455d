"""The line into which a response is typed. Loaded for the first question that asks for one."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input


class Entry(Input):
    """One line; while it has the focus, letters are text, and Esc gives them back to the commands."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave_entry", "Leave", show=False),
        # What is typed has no use for them, and without the mouse they are the way out.
        Binding("pageup", "screen.scroll_stem(-1)", "Scroll", show=False),
        Binding("pagedown", "screen.scroll_stem(1)", "Scroll", show=False),
    ]

    def __init__(self, *, max_length: int, id: str | None = None) -> None:
        super().__init__(max_length=max_length, select_on_focus=False, compact=True, id=id)

    def action_leave_entry(self) -> None:
        """Esc."""
        self.screen.set_focus(None)
