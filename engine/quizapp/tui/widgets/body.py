"""The part of a screen between its title and its keys."""

from __future__ import annotations

from textual.containers import Container

from quizapp.tui.widgets.painted import Backdrop


class Body(Backdrop, Container):
    """Holds other widgets and shows its background between them."""
