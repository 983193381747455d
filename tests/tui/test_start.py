"""The command on a real terminal: what it paints, how it ends, what it leaves behind."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tui_fakes import SIGNS

from quizapp.assess.response import Response
from quizapp.store.store import Store

ENGINE = str(Path(__file__).resolve().parents[2] / "engine")
COMMAND = "import sys; sys.argv[0] = 'quizapp'; from quizapp.cli import main; main()"
PATIENCE_S = 60.0
_ESCAPES = re.compile(rb"\x1b(\[[0-9;?<>=]*[a-zA-Z]|\][^\x07\x1b]*(\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|.)")


class Terminal:
    """A command on a pseudo terminal."""

    def __init__(self, *arguments: str, size: tuple[int, int] = (80, 24), **env: str) -> None:
        self.seen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update({"TERM": "xterm-256color", "PYTHONPATH": ENGINE, "LC_ALL": "C.UTF-8", **env})
            os.execv(sys.executable, [sys.executable, "-c", COMMAND, *arguments])  # noqa: S606
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))

    def until(self, text: str) -> str:
        """Read until the text is there; what was read since the last call."""
        start = len(self.seen)
        deadline = time.monotonic() + PATIENCE_S
        while text not in plain(self.seen[start:]):
            assert time.monotonic() < deadline, plain(self.seen[start:])[-2000:]
            if select.select([self.fd], [], [], 0.5)[0]:
                try:
                    part = os.read(self.fd, 1 << 16)
                except OSError:
                    part = b""
                assert part, plain(self.seen[start:])[-2000:]
                self.seen += part
        return plain(self.seen[start:])

    def press(self, keys: str) -> None:
        os.write(self.fd, keys.encode())

    def end(self) -> int:
        """Wait for the command's end; its exit code, or minus the signal."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.fd, 1 << 16)
                except OSError:
                    break
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        return os.waitstatus_to_exitcode(status)

    def close(self) -> None:
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


def plain(seen: bytes) -> str:
    return _ESCAPES.sub(b"", seen).decode("utf-8", "replace")


@pytest.fixture
def terminal() -> Iterator[type[Terminal]]:
    opened: list[Terminal] = []

    class Opened(Terminal):
        def __init__(self, *arguments: str, **more: object) -> None:
            super().__init__(*arguments, **more)  # type: ignore[arg-type]
            opened.append(self)

    yield Opened
    for one in opened:
        one.close()


def responses(folder: Path) -> list[Response]:
    store = Store.open(folder)
    [summary] = store.attempts("anna")
    items = store.show(summary.id).attempt.items
    store.close()
    return [item.response for item in items]


@pytest.mark.parametrize("key", ["q", "\x03", "\x11"])
def test_leaving_gives_the_terminal_back_and_says_how_to_go_on(
    terminal: type[Terminal], tmp_path: Path, key: str
) -> None:
    screen = terminal("take", str(SIGNS), "--learner", "anna")
    screen.until("Keys")
    screen.press("2")
    screen.until("B chosen")
    screen.press(key)
    assert screen.end() == 0
    assert "3 of 3 questions are open. Go on with: quizapp take" in plain(screen.seen)
    assert b"\x1b[?1049l" in screen.seen
    assert responses(tmp_path / "state")[0] == Response(("oom",))


def test_killed_at_a_keypress_nothing_is_lost_and_it_goes_on(
    terminal: type[Terminal], tmp_path: Path
) -> None:
    screen = terminal("take", str(SIGNS), "--learner", "anna")
    screen.until("Keys")
    screen.press("3")
    screen.until("C chosen")
    screen.press("]")
    screen.until("choose all that apply")
    os.kill(screen.pid, signal.SIGKILL)
    assert screen.end() == -signal.SIGKILL
    assert responses(tmp_path / "state")[0] == Response(("cpu",))
    again = terminal("take", str(SIGNS), "--learner", "anna")
    again.until("Q2/3")
    again.press("[")
    again.until("C chosen")


def test_without_utf8_only_ascii_signs_are_drawn(terminal: type[Terminal]) -> None:
    screen = terminal(
        "take", str(SIGNS), "--learner", "anna", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"
    )
    shown = screen.until("Keys")
    assert "> demo" in shown
    assert "Enter Submit" in shown
    assert shown.isascii()


def test_without_colour_nothing_is_coloured_and_everything_is_said(terminal: type[Terminal]) -> None:
    screen = terminal("take", str(SIGNS), "--learner", "anna", NO_COLOR="1")
    screen.until("Keys")
    screen.press("2\r")
    shown = screen.until("you: B")
    assert "INCORRECT" in shown
    colours = set(re.findall(rb"\x1b\[[0-9;]*38;2;(\d+);(\d+);(\d+)", screen.seen))
    assert all(red == green == blue for red, green, blue in colours)


@pytest.mark.parametrize("theme", ["ansi-dark", "textual-light"])
def test_other_themes_paint_the_same_text(terminal: type[Terminal], theme: str) -> None:
    screen = terminal("take", str(SIGNS), "--learner", "anna", TEXTUAL_THEME=theme)
    assert "run out of memory" in screen.until("Keys")


def test_a_missing_bank_is_said_without_a_screen(terminal: type[Terminal]) -> None:
    screen = terminal("take", "no-such-bank")
    assert screen.end() == 2
    assert "no-such-bank" in plain(screen.seen)
    assert b"\x1b[?1049h" not in screen.seen


def test_a_read_only_state_folder_is_told_and_the_bank_taken(
    terminal: type[Terminal], tmp_path: Path
) -> None:
    (tmp_path / "a-file").write_text("")
    screen = terminal(
        "take", str(SIGNS), "--learner", "anna", QUIZAPP_STATE_DIR=str(tmp_path / "a-file"), size=(100, 30)
    )
    screen.until("Keys")
    assert "not saved" in plain(screen.seen)
    screen.until("Nothing will be saved.")
    screen.press("1\r")
    screen.until("CORRECT")
    screen.press("q")
    assert screen.end() == 0


def test_the_first_question_needs_no_parser_and_no_torch() -> None:
    """What is deferred is deferred: asked of a process of its own, at its first paint."""
    program = f"""
import sys
from quizapp.store.store import Store
from quizapp.tui.app import QuizApp
from quizapp.tui.desk import Desk
from pathlib import Path

desk = Desk(Store.in_memory(), "anna")
desk.begin(Path({str(SIGNS)!r}), fresh=True)

def probe(self):
    for name in ("torch", "markdown_it", "pygments", "yaml", "pydantic", "quizapp.lab.runner",
                 "quizapp.tui.screens.lab", "quizapp.tui.screens.reveal", "quizapp.tui.screens.picker"):
        if name in sys.modules:
            self.farewell.append(name)
    self.exit(0)

QuizApp.on_ready = probe
app = QuizApp(desk, "sitting")
app.run(headless=True)
print(app.farewell)
"""
    # The bank is compiled by a first process, as it is once a bank was seen.
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONPATH": ENGINE},
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert done.stdout == "[]\n"


def test_importing_the_package_imports_no_textual() -> None:
    program = "import sys, quizapp.tui; print('textual' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": ENGINE},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.stdout == "False\n"
