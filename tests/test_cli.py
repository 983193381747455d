"""The command line as a whole: help, versions, mistyped names."""

from __future__ import annotations

import subprocess
import sys

import pytest

from quizapp import __version__
from quizapp.cli import COMMANDS


def quizapp(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "quizapp.cli", *arguments], capture_output=True, text=True, check=False
    )


def test_version_is_printed_on_stdout() -> None:
    done = quizapp("--version")
    assert done.returncode == 0
    assert __version__ in done.stdout


def test_help_lists_every_command_and_where_to_start() -> None:
    done = quizapp("--help")
    assert done.returncode == 0
    for name in COMMANDS:
        assert name in done.stdout
    assert "quizapp take multi-gpu" in done.stdout


@pytest.mark.parametrize("name", list(COMMANDS))
def test_each_command_has_help_that_speaks_of_what_the_list_says(name: str) -> None:
    done = quizapp(name, "--help")
    assert done.returncode == 0, done.stderr
    verb = COMMANDS[name].split()[0]
    usage, _, text = done.stdout.partition("\n\n")
    assert usage.startswith(f"Usage: quizapp {name}")
    assert text.split()[0] == verb


def test_a_mistyped_command_is_a_usage_error_that_names_the_nearest() -> None:
    done = quizapp("tkae", "multi-gpu")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Did you mean 'take'?" in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_can_be_installed(shell: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from quizapp.cli import main; main()"],
        env={"_QUIZAPP_COMPLETE": f"{shell}_source", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "quizapp" in done.stdout
