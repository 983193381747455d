"""What the tests of the screens share: a bank, a desk without files of the user, an app."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
for folder in (str(HERE), str(HERE.parent)):
    if folder not in sys.path:
        sys.path.insert(0, folder)

from tui_fakes import BANKS, SIGNS, FakeLab, catalogue_of  # noqa: E402

from quizapp.store.store import Store  # noqa: E402
from quizapp.tui.app import QuizApp  # noqa: E402
from quizapp.tui.desk import Desk  # noqa: E402


@pytest.fixture(autouse=True)
def _no_files_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUIZAPP_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("QUIZAPP_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("TEXTUAL_THEME", raising=False)
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def _one_moment_in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The time stands on some screens."""
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "UTC")
        time.tzset()
        patched.setattr("quizapp.tui.lab_state.now_us", lambda: 1_800_000_000_000_000)
        yield
    time.tzset()


@pytest.fixture
def lab() -> FakeLab:
    return FakeLab()


@pytest.fixture
def desk(tmp_path: Path, lab: FakeLab) -> Desk:
    """A desk with a store on disk, one folder of banks, made-up demos and a lab that plays scripts."""
    desk = Desk(Store.open(tmp_path / "state"), "anna", seed=1, bank_folders=[BANKS], make_lab=lambda: lab)
    desk._catalogue = catalogue_of(tmp_path)
    return desk


@pytest.fixture
def sitting_app(desk: Desk) -> QuizApp:
    """The app on the first question of the bank of signs."""
    desk.begin(SIGNS, fresh=True)
    return QuizApp(desk, "sitting")


@pytest.fixture
def take(desk: Desk) -> Callable[[Path], QuizApp]:
    def begin(bank: Path) -> QuizApp:
        desk.begin(bank, fresh=True)
        return QuizApp(desk, "sitting")

    return begin
