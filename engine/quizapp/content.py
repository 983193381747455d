"""Where content, state and caches live: the only module that knows directories."""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


def content_dir(name: str) -> Path:
    """The folder of `quizzes` or `demos`: inside the installed package, else at the checkout's root."""
    installed = PACKAGE / name
    return installed if installed.is_dir() else PACKAGE.parent.parent / name


def state_dir() -> Path:
    """The folder of attempts and evidence; QUIZAPP_STATE_DIR moves it. Not created here."""
    return _folder("QUIZAPP_STATE_DIR", "XDG_STATE_HOME", ".local/state", "user_state_path")


def cache_dir() -> Path:
    """The folder of what can be made again; QUIZAPP_CACHE_DIR moves it. Not created here."""
    return _folder("QUIZAPP_CACHE_DIR", "XDG_CACHE_HOME", ".cache", "user_cache_path")


def _folder(own: str, xdg: str, default: str, elsewhere: str) -> Path:
    if os.environ.get(own):
        return Path(os.environ[own])
    if os.name == "posix" and os.uname().sysname == "Linux":
        # platformdirs gives the same answer, at twice the price of the rest of a start.
        base = os.environ.get(xdg, "")
        return (Path(base) if base.startswith("/") else _home() / default) / "quizapp"
    import platformdirs

    path: Path = getattr(platformdirs, elsewhere)("quizapp", appauthor=False)
    return path


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        # A container may run as a user that no list knows. Nothing can be made below this, and whoever tries
        # says so, with the variable that names another folder.
        return Path(os.devnull)
