"""A learner who takes a bank in lines."""

from __future__ import annotations

import io
from pathlib import Path

from quizapp.bank.model import Question
from quizapp.plain import take
from quizapp.store.begin import begin
from quizapp.store.sitting import Sitting
from quizapp.store.store import Store
from sample_bank import MemoryBank


class Desk:
    """A learner with a store and a bank, who types lines."""

    def __init__(self, folder: Path, questions: list[Question], **bank: object) -> None:
        self.store = Store.open(folder)
        self.bank = MemoryBank(questions, **bank)  # type: ignore[arg-type]
        self.out = self.err = ""
        self.sitting: Sitting | None = None

    def types(
        self, *lines: str, interactive: bool = False, as_json: bool = False, ascii_only: bool = False
    ) -> int:
        """Takes the bank with these lines; the exit status."""
        beginning = begin(self.store, self.bank, "ada")  # type: ignore[arg-type]
        self.sitting = beginning.sitting
        encoding = "ascii" if ascii_only else "utf-8"
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2))
        code = take(
            beginning.sitting,
            stdin=io.StringIO("".join(line + "\n" for line in lines)),
            stdout=out,
            stderr=err,
            as_json=as_json,
            interactive=interactive,
            again=lambda ids: begin(self.store, self.bank, "ada", only=ids).sitting,  # type: ignore[arg-type]
            notices=beginning.notices,
        )
        self.out, self.err = (_content(stream, encoding) for stream in (out, err))
        return code


def _content(stream: io.TextIOWrapper, encoding: str) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode(encoding)
