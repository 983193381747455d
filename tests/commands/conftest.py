"""Puts what these tests share within reach."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

for shared in (Path(__file__).resolve().parent, Path(__file__).resolve().parent.parent):
    if str(shared) not in sys.path:
        sys.path.insert(0, str(shared))

from command_line import CommandLine  # noqa: E402


@pytest.fixture
def quizapp(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)
