"""Runs a function in a forked child, so that a test can kill a process in the middle of its work."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from typing import BinaryIO


class Child:
    """A forked process; what it sends through its pipe is read line by line."""

    def __init__(self, work: Callable[[Callable[[str], None]], None]) -> None:
        """`work` is called in the child with a function that sends one line."""
        reader, writer = os.pipe()
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                os.close(reader)
                work(lambda line: _send(writer, line))
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(writer)
        self.lines: BinaryIO = os.fdopen(reader, "rb")

    def line(self) -> str:
        """The next line; AssertionError when the child has ended without it."""
        got = self.lines.readline()
        assert got.endswith(b"\n"), "the child ended early; see its traceback above"
        return got.decode()[:-1]

    def kill(self) -> None:
        """SIGKILL, and waits until the process is gone."""
        os.kill(self.pid, signal.SIGKILL)
        self.wait()

    def wait(self) -> int:
        """The exit status: negative for a signal. The rest of the lines can be read afterwards."""
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)

    def rest(self) -> list[str]:
        """Whatever was sent and not read yet, once the child is gone. A torn last line is left out."""
        return [line.decode()[:-1] for line in self.lines.readlines() if line.endswith(b"\n")]


def _send(writer: int, line: str) -> None:
    os.write(writer, line.encode() + b"\n")
