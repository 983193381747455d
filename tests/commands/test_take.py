"""`quizapp take` as a process: what a script and a terminal get."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_line import BANK, CommandLine


def test_a_bank_by_its_path_or_its_id(quizapp: CommandLine) -> None:
    for ref in ("small.yaml", "small", str(quizapp.bank)):
        done = quizapp("take", ref, "--plain", "--new", lines="a\na b\n")
        assert done.returncode == 0, done.stderr
        assert "Passed: 2 of 2 points" in done.stdout
        assert done.stderr == ""


def test_without_a_terminal_it_is_plain_by_itself(quizapp: CommandLine) -> None:
    done = quizapp("take", "small", lines="b\nc\n")
    assert done.returncode == 1
    assert "Not passed" in done.stdout


def test_leaving_and_going_on_is_the_default(quizapp: CommandLine) -> None:
    assert quizapp("take", "small", lines="a\n").returncode == 3
    done = quizapp("take", "small", "--json", lines="a b\n")
    assert done.returncode == 0
    assert json.loads(done.stdout)["points"] == 2.0
    assert "Going on with your attempt: 1 of 2 answered." in done.stderr
    again = quizapp("take", "small", lines="")
    assert "Going on" not in again.stdout


@pytest.mark.parametrize("flag", ["--new", "--no-resume"])
def test_a_new_attempt_can_be_asked_for(quizapp: CommandLine, flag: str) -> None:
    quizapp("take", "small", lines="a\n")
    assert "Going on" not in quizapp("take", "small", flag).stdout
    listed = json.loads(quizapp("results", "--json").stdout)
    assert [attempt["answered"] for attempt in listed] == [0, 1]


def test_learners_are_kept_apart(quizapp: CommandLine) -> None:
    quizapp("take", "small", "--learner", "bob", lines="a\n")
    assert "Going on" not in quizapp("take", "small").stdout
    assert "Going on" in quizapp("take", "small", "--learner", "bob").stdout
    assert quizapp("take", "small", "--learner", " ").returncode == 2


def test_a_seed_draws_the_same_order_again(quizapp: CommandLine) -> None:
    shuffled = BANK.replace("take: {", "take: {shuffle: [questions, options], ")
    quizapp.bank.write_text(shuffled, encoding="utf-8")
    outputs = [quizapp("take", "small", "--new", "--seed", "12").stdout for _ in range(2)]
    assert outputs[0] == outputs[1]
    others = {quizapp("take", "small", "--new", "--seed", str(seed)).stdout for seed in range(5)}
    assert len(others) > 1
    assert quizapp("take", "small", "--seed", "-1").returncode == 2


def test_a_broken_a_missing_and_a_strange_bank_are_usage_errors(quizapp: CommandLine) -> None:
    quizapp.bank.write_text(BANK.replace("correct: true", "corect: true"), encoding="utf-8")
    broken = quizapp("take", "small", lines="a\n")
    assert broken.returncode == 2
    assert broken.stdout == ""
    assert "small.yaml:" in broken.stderr
    assert "correct" in broken.stderr
    missing = quizapp("take", "smal")
    assert missing.returncode == 2
    assert "smal" in missing.stderr
    nothing = quizapp("take")
    assert nothing.returncode == 2
    assert "Which bank?" in nothing.stderr
    (quizapp.folder / "empty.yaml").touch()
    (quizapp.folder / "binary.yaml").write_bytes(bytes(range(256)) * 10)
    for name in ("empty.yaml", "binary.yaml", str(quizapp.folder)):
        done = quizapp("take", name)
        assert done.returncode == 2, done.stdout
        assert done.stderr.startswith("quizapp: ")


def test_bytes_that_are_no_text_do_not_end_the_attempt(quizapp: CommandLine) -> None:
    done = quizapp("take", "small", lines=b"\xff\xfe\n\x00\x1b[A\na\na b\n")
    assert done.returncode == 0
    assert "Passed: 2 of 2" in done.stdout


def test_a_locale_without_utf_8_gets_ascii(quizapp: CommandLine) -> None:
    quizapp.environment |= {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = quizapp("take", "small", lines="a\na b\n")
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert "Question 1 of 2 - 1 point" in done.stdout


def test_a_state_folder_that_can_not_be_made_is_announced_and_the_bank_taken(quizapp: CommandLine) -> None:
    quizapp.state.write_text("a file")
    done = quizapp("take", "small", "--json", lines="a\na b\n")
    assert done.returncode == 0
    assert "Nothing will be saved." in done.stderr
    assert json.loads(done.stdout)["saved"] is False


def test_a_bank_that_was_edited_or_deleted_strands_nobody(quizapp: CommandLine) -> None:
    quizapp("take", "small", lines="a\n")
    quizapp.bank.write_text(BANK.replace("Which two?", "Which two, then?"), encoding="utf-8")
    done = quizapp("take", "small", lines="a b\n")
    assert done.returncode == 0
    assert "The bank has changed since this attempt began" in done.stdout
    quizapp.bank.unlink()
    attempt = json.loads(quizapp("results", "--json").stdout)[0]["attempt"]
    assert "Which A[m][k] [/x]?" in quizapp("results", "show", attempt).stdout.replace("`", "")


def test_a_second_taker_of_the_same_attempt_is_told_and_may_begin_another(quizapp: CommandLine) -> None:
    command = [sys.executable, "-m", "quizapp.cli", "take", "small"]
    first = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=quizapp.folder,
        env=quizapp.environment,
        text=True,
    )
    assert first.stdout is not None
    assert first.stdin is not None
    for line in first.stdout:
        if line.startswith("Answer"):
            break
    second = quizapp("take", "small", lines="a\n")
    assert second.returncode == 2
    assert f"process {first.pid}" in second.stderr
    assert "--new" in second.stderr
    assert quizapp("take", "small", "--new", lines="a\na b\n").returncode == 0
    assert first.communicate("a\na b\n")[0].count("Passed") == 1
    assert first.returncode == 0


def test_killed_at_the_prompt_the_answers_are_there(quizapp: CommandLine) -> None:
    first = subprocess.Popen(
        [sys.executable, "-m", "quizapp.cli", "take", "small"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=quizapp.folder,
        env=quizapp.environment,
        text=True,
    )
    assert first.stdout is not None
    assert first.stdin is not None
    first.stdin.write("a\n")
    first.stdin.flush()
    for line in first.stdout:
        if line.startswith("Right"):
            break
    first.kill()
    first.wait()
    first.stdout.close()
    first.stdin.close()
    done = quizapp("take", "small", lines="a b\n")
    assert "Going on with your attempt: 1 of 2 answered." in done.stdout
    assert "Passed: 2 of 2" in done.stdout


def test_the_reader_of_the_output_may_go_away(quizapp: CommandLine) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "quizapp.cli", "take", "small"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=quizapp.folder,
        env=quizapp.environment,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stdin is not None
    process.stdin.write(b"a\n" * 3)
    process.stdin.close()
    assert process.stderr is not None
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    process.wait()
    assert quizapp("take", "small", lines="finish\n").returncode in (0, 1)


class Terminal:
    """`quizapp take` on a pseudo terminal."""

    def __init__(self, quizapp: CommandLine, *arguments: str, **environment: str) -> None:
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.chdir(quizapp.folder)
            command = [sys.executable, "-m", "quizapp.cli", "take", "small", *arguments]
            os.execve(sys.executable, command, quizapp.environment | environment)  # noqa: S606
        self.seen = ""

    def until(self, text: str) -> str:
        """Reads until `text` was printed; AssertionError when the program ends before."""
        while text not in self.seen:
            try:
                got = os.read(self.master, 65536)
            except OSError:
                got = b""
            assert got, f"{text!r} did not come; got {self.seen!r}"
            self.seen += got.decode().replace("\r\n", "\n")
        before, _, self.seen = self.seen.partition(text)
        return before + text

    def types(self, line: str) -> None:
        os.write(self.master, line.encode())

    def ends(self) -> int:
        """Its exit status, once the rest of its output is read into `seen`."""
        while True:
            try:
                got = os.read(self.master, 65536)
            except OSError:
                break
            if not got:
                break
            self.seen += got.decode().replace("\r\n", "\n")
        return self.gone()

    def gone(self) -> int:
        """Waits for the process; its exit status."""
        if self.pid:
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            self.pid = 0
            os.close(self.master)
        return self.code


@pytest.fixture
def terminal(quizapp: CommandLine) -> Iterator[Callable[..., Terminal]]:
    """Opens terminals, and ends what a failed test has left in them."""
    opened: list[Terminal] = []

    def open_one(*arguments: str, **environment: str) -> Terminal:
        opened.append(Terminal(quizapp, *arguments, **environment))
        return opened[-1]

    yield open_one
    for one in opened:
        if one.pid:
            os.kill(one.pid, signal.SIGKILL)
            one.gone()


@pytest.mark.parametrize(("arguments", "term"), [(["--plain"], "xterm-256color"), ([], "dumb"), ([], "")])
def test_at_a_terminal_plain_is_a_conversation(
    terminal: Callable[..., Terminal], arguments: list[str], term: str
) -> None:
    screen = terminal(*arguments, TERM=term)
    screen.until("Answer (A-B, ? for help): ")
    screen.types("a\n")
    screen.until("Enter goes on")
    screen.types("f\n")
    screen.until("The whole story")
    screen.types("\n")
    screen.until("Answer (A-C, ? for help): ")
    screen.types("a b\n")
    screen.until("Enter goes on")
    screen.types("\n")
    said = screen.until("Enter ends:")
    assert "Passed: 2 of 2" in said
    screen.types("\n")
    assert screen.ends() == 0
    assert "\x1b" not in screen.seen + said


@pytest.mark.parametrize("prompt", ["Answer (A-B", "Enter goes on"])
def test_ctrl_c_and_a_hang_up_at_a_terminal_lose_nothing(
    quizapp: CommandLine, terminal: Callable[..., Terminal], prompt: str
) -> None:
    screen = terminal("--plain")
    screen.until("Answer (A-B")
    if prompt != "Answer (A-B":
        screen.types("a\n")
        screen.until(prompt)
    screen.types("\x03")
    assert screen.ends() == 130
    answered = int(prompt != "Answer (A-B")
    assert f"Interrupted. Saved: {answered} of 2 answered." in screen.seen
    again = terminal("--plain")
    again.until(f"Going on with your attempt: {answered} of 2") if answered else again.until("Answer")
    os.kill(again.pid, signal.SIGHUP)
    assert again.ends() == -signal.SIGHUP
    assert quizapp("take", "small", "--plain", lines="q\n").returncode == 3
    assert json.loads(quizapp("results", "--json").stdout)[0]["answered"] == answered


def test_end_of_file_at_a_terminal_is_status_3(terminal: Callable[..., Terminal]) -> None:
    screen = terminal("--plain")
    screen.until("Answer (A-B")
    screen.types("\x04")
    assert screen.ends() == 3
    assert "The input has ended. Saved: 0 of 2 answered." in screen.seen


def test_the_way_to_the_first_question_imports_nothing_heavy(quizapp: CommandLine) -> None:
    assert quizapp("take", "small").returncode == 3
    code = (
        "import sys\nfrom quizapp.cli import main\n"
        "try:\n    main(['take', 'small', '--plain'])\n"
        "finally:\n    print('modules:', *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input="",
        capture_output=True,
        text=True,
        cwd=quizapp.folder,
        env=quizapp.environment,
        check=False,
    )
    assert "Question 1 of 2" in done.stdout
    loaded = {name.split(".")[0] for name in done.stderr.rpartition("modules:")[2].split()}
    assert "sqlite3" in loaded
    assert not loaded & {"asyncio", "pydantic", "yaml", "textual", "rich", "torch", "difflib"}


def test_a_further_folder_of_demos_must_be_confirmed_by_someone(quizapp: CommandLine) -> None:
    folder = quizapp.folder / "mine"
    folder.mkdir()
    (folder / "nothing.txt").write_text("x")
    done = quizapp("take", "small", "--demos", str(folder), lines="a\n")
    assert done.returncode == 2
    assert "confirm" in done.stderr


def test_help_tells_the_exit_statuses(quizapp: CommandLine) -> None:
    done = quizapp("take", "--help")
    assert done.returncode == 0
    assert "Exit status: 0 passed" in " ".join(done.stdout.split())


def test_nothing_is_written_outside_the_folders_that_were_named(quizapp: CommandLine) -> None:
    quizapp("take", "small", lines="a\na b\n")
    assert not (quizapp.folder / "home").exists()
    assert sorted(path.name for path in quizapp.folder.iterdir()) == ["cache", "small.yaml", "state"]


def test_the_state_is_private(quizapp: CommandLine) -> None:
    quizapp("take", "small", lines="a\n")
    modes = {oct(path.stat().st_mode & 0o777) for path in [quizapp.state, *Path(quizapp.state).iterdir()]}
    assert modes == {"0o700", "0o600"}


def test_a_draw_is_the_same_from_the_same_seed_and_too_much_is_told(quizapp: CommandLine) -> None:
    drawn = [
        json.loads(quizapp("take", "small.yaml", "--json", "--new", "--draw", "1", "--seed", "3").stdout)
        for _ in range(2)
    ]
    first, again = ([each["question"] for each in done["questions"]] for done in drawn)
    assert first == again
    assert len(first) == 1
    refused = quizapp("take", "small.yaml", "--plain", "--draw", "3")
    assert refused.returncode == 2
    assert "3 questions are to be drawn" in refused.stderr
    assert "has 2" in refused.stderr


def test_a_review_asks_what_is_due_and_says_when_there_is_more(quizapp: CommandLine) -> None:
    first = quizapp("take", "small", "--mode", "review", lines="b\nc\n")
    assert first.returncode == 0, first.stderr  # reviews have no pass mark
    assert "Question 2 of 2" in first.stdout
    again = quizapp("take", "small", "--mode", "review", lines="")
    assert again.returncode == 0
    assert "Nothing is due in 'A small bank'. The next review is on 2" in again.stdout
    said = json.loads(quizapp("take", "small", "--mode", "review", "--json").stdout)
    assert (said["due"], said["new"]) == (0, 0)
    assert said["next_day"] in again.stdout
