"""Keeps the tests of banks away from the user's cache."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

# The tests are no package; what they share is found here.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("QUIZAPP_CACHE_DIR", str(folder))
    return folder
