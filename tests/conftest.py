"""What every folder of tests may use."""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

HERE = str(Path(__file__).resolve().parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)

from torch_lab import TorchLab  # noqa: E402

# A busy machine is no failure: what is fast enough is measured in bench/, as ratios.
# What is new under the sun is looked for at people's desks; CI runs the same examples every time.
settings.register_profile("no-deadline", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("no-deadline")


@pytest.fixture(scope="session")
def torch_lab() -> Iterator[TorchLab]:
    """The real lab, warmed once."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("needs PyTorch: pip install 'quizapp-lab[torch]'")
    lab = TorchLab()
    yield lab
    lab.close()


@pytest.fixture(scope="session", autouse=True)
def _no_users_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests read and write no cache but their own."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("QUIZAPP_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _signals_reach_children() -> Iterator[None]:
    """What the run ignores (nohup, a job in the background) its children would ignore, too.

    A handler that does nothing keeps the run itself as deaf, and is not handed on.
    """
    ignored = [n for n in (signal.SIGINT, signal.SIGHUP) if signal.getsignal(n) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, lambda *_: None)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)
