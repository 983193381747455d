"""The command line among bad arguments, broken streams, poor surroundings: no traceback, the right status."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import BANK, CommandLine

from quizapp.cli import COMMANDS, main

SHELL = "/bin/sh"
ANSWERS = b"a\na b\n"

# Each command once or twice, with the status that it has where all is well.
CALLS: list[tuple[str, int]] = [
    ("list", 0),
    ("check small --json", 0),
    ("take small --plain --new", 0),
    ("take small --json --new", 0),
    ("results --json", 0),
    ("doctor", 0),
    ("demo", 0),
    ("new mine", 0),
    ("verify small", 2),
    ("", 2),
    ("take --help", 0),
]
# Those of them that show text of a bank or a learner, or look at the machine.
SHOWING = [(call, status) for call, status in CALLS if call.startswith(("list", "take small", "doctor"))]
# What waits for a line when stdin is closed gets the end of input at once.
WITHOUT_INPUT = {"take small --plain --new": 3, "take small --json --new": 3}


def run(
    quizapp: CommandLine, call: str, redirection: str = "", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    script = f'exec "$@" {redirection}'
    done = subprocess.run(
        [SHELL, "-c", script, SHELL, sys.executable, "-m", "quizapp.cli", *call.split()],
        input=ANSWERS,
        capture_output=True,
        check=False,
        cwd=quizapp.folder,
        env=quizapp.environment | environment,
    )
    said = done.stdout + done.stderr
    assert b"Traceback" not in said, said.decode(errors="replace")
    assert b"Exception ignored" not in said, said.decode(errors="replace")
    return done


@pytest.fixture
def named(quizapp: CommandLine) -> CommandLine:
    """With names that ASCII does not have."""
    text = BANK.replace("A small bank", "Prüfung 日本 😀").replace("First thing", "Größe")
    quizapp.bank.write_text(text, encoding="utf-8")
    quizapp.environment["QUIZAPP_LEARNER"] = "Zoë"
    return quizapp


@pytest.mark.parametrize("redirection", ["<&-", ">&-", "<&- >&- 2>&-", "2>/dev/full"])
@pytest.mark.parametrize(("call", "status"), CALLS)
def test_streams_that_are_closed_or_full(
    named: CommandLine, call: str, status: int, redirection: str
) -> None:
    if redirection.startswith("<"):
        status = WITHOUT_INPUT.get(call, status)
    assert run(named, call, redirection).returncode == status


@pytest.mark.parametrize("call", [call for call, status in CALLS if status == 0])
def test_output_that_can_not_be_written_is_said_with_status_2(named: CommandLine, call: str) -> None:
    done = run(named, call, ">/dev/full")
    assert done.returncode == 2
    assert done.stderr.endswith(b"quizapp: the output can't be written: No space left on device.\n")


@pytest.mark.parametrize("call", [call for call, status in CALLS if status == 0])
def test_a_reader_that_is_gone_before_the_first_line_ends_the_command_in_silence(
    named: CommandLine, call: str
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "quizapp.cli", *call.split()],
        input=ANSWERS,
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
        cwd=named.folder,
        env=named.environment,
    )
    os.close(writer)
    assert b"Traceback" not in done.stderr
    assert b"Broken pipe" not in done.stderr
    # An attempt that nobody could read is not finished.
    assert done.returncode == (3 if call == "take small --plain --new" else 0)


def test_what_was_answered_is_kept_when_the_output_can_not_be_written(named: CommandLine) -> None:
    run(named, "take small --plain", ">/dev/full")
    assert "Zoë" in named("results").stdout


POOR = [
    {"PYTHONIOENCODING": "latin-1"},
    {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "0", "LINES": "x"},
]


@pytest.mark.parametrize("environment", POOR, ids=lambda environment: " ".join(environment))
@pytest.mark.parametrize(("call", "status"), SHOWING)
def test_poor_terminals_and_other_encodings(
    named: CommandLine, call: str, status: int, environment: dict[str, str]
) -> None:
    done = run(named, call, **environment)
    assert done.returncode == status
    assert b"\x1b" not in done.stdout + done.stderr
    if environment.get("LC_ALL") == "C":
        assert done.stdout.isascii()


# A user whom no list knows, as in many a container, with no HOME.
HOMELESS = (
    "import pwd\n"
    "def unknown(uid):\n    raise KeyError(uid)\n"
    "pwd.getpwuid = unknown\n"
    "from quizapp.cli import main\n"
    "main()"
)


@pytest.mark.parametrize(("call", "status"), [*SHOWING, ("results --json", 0)])
def test_without_a_home_nothing_is_kept_and_the_learner_is_told(
    named: CommandLine, call: str, status: int
) -> None:
    environment = {
        name: value
        for name, value in named.environment.items()
        if name not in ("HOME", "QUIZAPP_STATE_DIR", "QUIZAPP_CACHE_DIR")
    }
    done = subprocess.run(
        [sys.executable, "-c", HOMELESS, *call.split()],
        input=ANSWERS,
        capture_output=True,
        check=False,
        cwd=named.folder,
        env=environment,
    )
    said = (done.stdout + done.stderr).decode()
    assert "Traceback" not in said
    # That attempts can't be kept is what `doctor` is asked for.
    assert done.returncode == (1 if call == "doctor" else status)
    if call.startswith("take"):
        assert "Nothing will be saved." in said
        assert "QUIZAPP_STATE_DIR" in said


@pytest.mark.parametrize("call", [call for call, _ in SHOWING])
def test_folders_that_can_not_be_made(named: CommandLine, call: str) -> None:
    # As root, permissions stop nothing; a file in the way stops everyone.
    (named.folder / "file").touch()
    environment = {name: value for name, value in named.environment.items() if "QUIZAPP_" not in name}
    environment |= {f"XDG_{kind}_HOME": str(named.folder / "file") for kind in ("STATE", "CACHE", "CONFIG")}
    named.environment = environment
    done = run(named, call)
    assert done.returncode in (0, 1, 2)
    if call.startswith("take small"):
        assert b"Nothing will be saved." in done.stdout + done.stderr
        assert done.returncode == 0


# What users, scripts and shells put where a name was wanted.
ODD: list[str | bytes] = [
    "",
    "  ",
    "-",
    "/",
    "..",
    "x" * 5_000,
    "a/" * 3_000,
    b"\xff\xfe",
    "😀",
    "[b]x[/b]",
    "new\nline",
    "\x1b[31m",
    "%s{0}",
    "~",
    "*",
    "1e999",
    "-1",
    "' OR 1=1 --",
    "/dev/null",
    "/dev/zero",
    "/proc/self/mem",
    "pipe.yaml",
    "loop.yaml",
    "folder.yaml",
    "binary.yaml",
]


@pytest.fixture
def crowded(quizapp: CommandLine) -> CommandLine:
    """Among files that are no banks."""
    os.mkfifo(quizapp.folder / "pipe.yaml")
    (quizapp.folder / "loop.yaml").symlink_to("loop.yaml")
    (quizapp.folder / "folder.yaml").mkdir()
    (quizapp.folder / "binary.yaml").write_bytes(bytes(range(256)) * 10)
    return quizapp


def in_a_fork(quizapp: CommandLine, arguments: Sequence[str | bytes]) -> tuple[int, bytes, bytes]:
    """Status, stdout and stderr of a command line: the real `main`, without a new interpreter's price."""
    streams = [tempfile.TemporaryFile() for _ in range(3)]  # noqa: SIM115
    streams[0].write(ANSWERS)
    streams[0].seek(0)
    pid = os.fork()
    if pid == 0:
        code: int | str | None = 70
        try:
            for number, stream in enumerate(streams):
                os.dup2(stream.fileno(), number)
            sys.stdin = os.fdopen(0, closefd=False)
            sys.stdout = os.fdopen(1, "w", closefd=False)
            sys.stderr = os.fdopen(2, "w", closefd=False, buffering=1)
            os.chdir(quizapp.folder)
            os.environ.update(quizapp.environment)
            main([os.fsdecode(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code if isinstance(code, int) else 71)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    outputs = []
    for stream in streams[1:]:
        stream.seek(0)
        outputs.append(stream.read())
        stream.close()
    streams[0].close()
    return status, outputs[0], outputs[1]


WANTED = [
    ["take", "ODD", "--plain"],
    ["take", "small", "--plain", "--learner", "ODD"],
    ["take", "small", "--plain", "--seed", "ODD"],
    ["take", "small", "--plain", "--demos", "ODD"],
    ["check", "ODD"],
    ["check", "--demos", "ODD", "small"],
    ["list", "ODD"],
    ["new", "ODD", "--in", "made"],
    ["new", "mine", "--in", "ODD"],
    ["results", "show", "ODD"],
    ["results", "--learner", "ODD", "--bank", "ODD"],
    ["demo", "ODD"],
    ["demo", "--replay", "ODD"],
    ["demo", "--replay", "ODD", "--figure", "ODD"],
    ["verify", "ODD"],
    ["verify", "small", "ODD"],
    ["verify", "small", "--budget", "ODD"],
    ["ODD"],
]


@pytest.mark.parametrize("wanted", WANTED, ids=" ".join)
def test_odd_arguments_are_answered_in_words(crowded: CommandLine, wanted: list[str]) -> None:
    # `new` writes, and `--demos` reads all that lies below: both within the folders of this test.
    outside = {"new": ("/dev/null", "/dev/zero", "/", "/proc/self/mem", ".."), "--demos": ("/", "..")}
    left_out = [value for word in wanted for value in outside.get(word, ())]
    odd = [value for value in ODD if value not in left_out]
    for value in odd:
        arguments = [value if argument == "ODD" else argument for argument in wanted]
        status, out, err = in_a_fork(crowded, arguments)
        said = err.decode("utf-8", "replace")
        assert "Traceback" not in said, f"{arguments}: {said}"
        assert status in (0, 1, 2, 3), f"{arguments}: {status} {said}"
        # A path that a script goes on with must be the path.
        assert b"\x1b" not in (err if wanted[0] == "new" else out + err), arguments
        if status == 2:
            assert said.strip(), f"{arguments}: refused without a word"
        if os.path.exists(crowded.folder / "mine.yaml"):
            os.unlink(crowded.folder / "mine.yaml")


@pytest.mark.parametrize("name", list(COMMANDS))
def test_each_command_refuses_an_option_that_it_has_not(crowded: CommandLine, name: str) -> None:
    for arguments in ([name, "--nonsense"], [name, "--json=1", "--nonsense=2"], [name, "-\udcff"]):
        status, out, err = in_a_fork(crowded, arguments)
        assert (status, out) == (2, b""), (arguments, err)
        assert b"Traceback" not in err
        assert err.strip()


def test_a_bank_whose_path_is_no_utf_8_is_taken_listed_and_found_again(quizapp: CommandLine) -> None:
    folder = os.fsencode(quizapp.folder) + b"/b\xffd"
    try:
        os.mkdir(folder)
        with open(folder + b"/s\xfem.yaml", "wb") as file:
            file.write(quizapp.bank.read_bytes())
    except OSError as error:
        if error.errno != errno.EILSEQ:
            raise
        pytest.skip("this file system takes UTF-8 names only")
    bank = b"b\xffd/s\xfem.yaml"
    assert in_a_fork(quizapp, ["list", b"b\xffd"])[0] == 0
    assert in_a_fork(quizapp, ["check", bank])[0] == 0
    assert in_a_fork(quizapp, ["take", bank, "--plain", "--learner", b"\xff"])[0] == 0
    status, out, _ = in_a_fork(quizapp, ["results", "--learner", b"\xff", "--bank", b"s\xfem"])
    assert (status, out.count(b"passed")) == (0, 1)
    assert in_a_fork(quizapp, ["new", "mine", "--in", b"n\xfe"])[0] == 0
    made = Path(os.fsdecode(os.fsencode(quizapp.folder) + b"/n\xfe/mine.yaml"))
    assert "mine.yaml" in made.read_text(encoding="utf-8")
