"""Files that are no bank: a clear word, in bounded memory, whatever they hold."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from quizapp.bank.findings import BankError, BankNotFound
from quizapp.bank.load import MAX_BYTES, load_bank

CHECK = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]), resource.RLIM_INFINITY))
from pathlib import Path
from quizapp.bank.findings import BankError
from quizapp.bank.load import load_bank
try:
    load_bank(Path(sys.argv[1]))
except BankError as error:
    print(*error.findings, sep="\\n")
"""


def said_of(path: Path) -> str:
    with pytest.raises(BankError) as caught:
        load_bank(path)
    return "\n".join(str(finding) for finding in caught.value.findings)


def said_within_memory(path: Path, limit_bytes: int) -> str:
    """What is said of a bank by a process that can't have more memory than this."""
    done = subprocess.run(
        [sys.executable, "-c", CHECK, str(path), str(limit_bytes)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(BankNotFound, match="there is no file"):
        load_bank(tmp_path / "none.yaml")
    (tmp_path / "file").touch()
    with pytest.raises(BankNotFound, match="there is no file"):
        load_bank(tmp_path / "file" / "none.yaml")


def test_folder(tmp_path: Path) -> None:
    assert "is a folder" in said_of(tmp_path)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"  \t\n"])
def test_empty(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bank.yaml"
    path.write_bytes(content)
    assert "is empty; `quizapp new` writes a bank" in said_of(path)


def test_pipe_does_not_hang(tmp_path: Path) -> None:
    path = tmp_path / "bank.yaml"
    os.mkfifo(path)
    assert "is no regular file" in said_of(path)


def test_device() -> None:
    assert "is no regular file" in said_of(Path("/dev/zero"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_forbidden(tmp_path: Path) -> None:
    path = tmp_path / "bank.yaml"
    path.write_text("format: 1")
    path.chmod(0)
    assert "can't be read: Permission denied" in said_of(path)


def test_too_large_a_file_is_not_even_read(tmp_path: Path) -> None:
    path = tmp_path / "bank.yaml"
    with path.open("wb") as file:
        file.truncate(200 * MAX_BYTES)  # a hole: 6 GiB that take no disk
    said = said_within_memory(path, 1 << 30)
    assert "has 6400 MiB; a bank has 32 MiB at most" in said


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_other_encodings_are_named(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "bank.yaml"
    path.write_bytes("format: 1\ntitle: x\n".encode(encoding))
    said = said_of(path)
    assert "UTF-16 or UTF-32" in said or "binary" in said


def test_binary(tmp_path: Path) -> None:
    path = tmp_path / "bank.yaml"
    path.write_bytes(bytes(range(1, 256)) * 10_000)
    assert said_within_memory(path, 1 << 30).strip()
    path.write_bytes(b"\x7fELF\x02\x01\x01\0\0" * 1000)
    assert "is a binary file" in said_of(path)


def bomb() -> str:
    """Nine levels of nine references each: 387 million strings to whoever follows them."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("references", bomb(), "the alias *a0 is not part of the format"),
        ("brackets", "format: 1\nquestions: " + "[" * 3_000_000, "is nested"),
        ("braces", "{" * 3_000_000, "is nested"),
        ("dashes", "questions:\n" + "- " * 3_000_000, "is nested more than 16 deep"),
        ("keys", "questions:\n" + "? " * 3_000_000, "is nested more than 16 deep"),
        ("values", "x: [" + "aa," * 2_500_000 + "]", "holds more than 2,000,000 values"),
        ("one long key", "k" * 30_000_000 + ": x", "inside plain text"),
        ("one long word", "title: " + "w" * 30_000_000, "format is missing"),
        ("one long quote", "title: '" + "w\n" * 3_000_000, "never closed"),
        ("anchors", "questions:\n" + "  - &a x\n" * 1_000_000, "more than 1000 errors"),
        ("documents", "---\n" * 3_000_000, "a second document"),
        ("comments", "# x\n" * 7_000_000, "is no bank"),
    ],
)
def test_hostile_files_are_answered_in_bounded_memory(
    tmp_path: Path, name: str, content: str, word: str
) -> None:
    path = tmp_path / "bank.yaml"
    path.write_text(content)
    assert word in said_within_memory(path, 1 << 30)


def test_the_memory_limit_of_these_tests_is_felt() -> None:
    """Otherwise the tests above prove nothing on this system."""
    hungry = CHECK.split("from pathlib")[0] + "bytes(1 << 31)"
    done = subprocess.run([sys.executable, "-c", hungry, "", str(1 << 30)], capture_output=True, text=True)
    assert "MemoryError" in done.stderr
    assert resource.RLIMIT_AS
