"""What every folder of tests may use."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = str(Path(__file__).resolve().parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)

from torch_lab import TorchLab  # noqa: E402


@pytest.fixture(scope="session")
def torch_lab() -> Iterator[TorchLab]:
    """The real lab, warmed once."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("needs PyTorch: pip install 'quizapp-lab[torch]'")
    lab = TorchLab()
    yield lab
    lab.close()
