"""The lines of one run in a file, and the file played again.

A recording is text: a header line, then the run's lines in the protocol's own JSON, the outcome last. It is
read as strictly as a demo's output, because a recording comes from anywhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from quizapp import __version__
from quizapp.bank.text import visible
from quizapp.errors import QuizappError
from quizapp.lab.protocol import (
    LONGEST_LINE_BYTES,
    VERSION,
    Line,
    Log,
    Outcome,
    Sample,
    Start,
    decode_any,
    encode,
)

LARGEST_BYTES = 64 << 20
MOST_LINES = 200_000


class RecordingError(QuizappError):
    """A file that is no recording, or only a part of one; the message says where."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A whole recorded run."""

    path: Path
    made_at: datetime
    quizapp: str
    """Version that recorded it."""
    lines: tuple[Line, ...]

    @property
    def notice(self) -> str:
        """What must be said wherever this is shown."""
        when = self.made_at.astimezone().strftime("%Y-%m-%d %H:%M")
        return f"Replay of a run recorded on {when}: nothing runs now."

    @property
    def start(self) -> Start | None:
        """The run's first line, marked as replayed."""
        return next((line for line in self.marked() if isinstance(line, Start)), None)

    def marked(self) -> list[Line]:
        """The lines, with the Start saying that they are a replay."""
        return [
            replace(line, replayed=self.notice) if isinstance(line, Start) else line for line in self.lines
        ]


class Recorder:
    """Writes a run's lines to a file, which appears when the run has its outcome and not before."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._part = path.with_name(path.name + ".part")
        self._whole = False
        header = {
            "v": VERSION,
            "type": "recording",
            "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "quizapp": __version__,
        }
        try:
            self._file = self._part.open("w", encoding="utf-8")
        except OSError as error:
            raise RecordingError(f"{visible(str(path))}: can't be written: {error.strerror}") from error
        self._write(json.dumps(header))

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def write(self, line: Line) -> None:
        """Add a line; raises RecordingError when the disk is full."""
        self._write(encode(line))
        self._whole = self._whole or isinstance(line, Outcome)

    def close(self) -> None:
        """Finish the file; without an outcome nothing is kept."""
        if self._file.closed:
            return
        try:
            self._file.close()
            if self._whole:
                os.replace(self._part, self._path)
        except OSError as error:
            raise RecordingError(f"{visible(str(self._path))}: can't be written: {error.strerror}") from error
        finally:
            with contextlib.suppress(OSError):
                self._part.unlink()

    def _write(self, text: str) -> None:
        try:
            self._file.write(text + "\n")
        except OSError as error:
            raise RecordingError(f"{visible(str(self._path))}: can't be written: {error.strerror}") from error


def read_recording(path: Path) -> Recording:
    """The recording in a file; raises RecordingError with the file and line."""
    shown = visible(str(path))
    try:
        if not path.is_file():
            raise RecordingError(f"{shown}: no such recording")
        if path.stat().st_size > LARGEST_BYTES:
            raise RecordingError(f"{shown}: a recording is {LARGEST_BYTES >> 20} MiB at most")
        content = path.read_bytes()
    except OSError as error:
        raise RecordingError(f"{shown}: can't be read: {error.strerror}") from error
    texts = content.split(b"\n")
    if texts and not texts[-1]:
        texts.pop()
    if len(texts) > MOST_LINES:
        raise RecordingError(f"{shown}: a recording has {MOST_LINES} lines at most")
    made_at, quizapp = _header(shown, texts[0] if texts else b"")
    lines: list[Line] = []
    start: Start | None = None
    for number, text in enumerate(texts[1:], start=2):
        if lines and isinstance(lines[-1], Outcome):
            raise RecordingError(f"{shown}:{number}: there is more after the outcome")
        try:
            line = decode_any(text, devices=start.devices if start else None)
        except ValueError as error:
            cut = " (the file seems to be cut off)" if number == len(texts) else ""
            raise RecordingError(f"{shown}:{number}: {visible(str(error))[:200]}{cut}") from error
        if isinstance(line, Start):
            if start is not None:
                raise RecordingError(f"{shown}:{number}: a second start")
            start = line
        lines.append(line)
    if not lines or not isinstance(lines[-1], Outcome):
        raise RecordingError(
            f"{shown}:{len(texts)}: ends before the run's outcome",
            hint="the file is cut off; record it again",
        )
    if start is None:
        raise RecordingError(f"{shown}: the run ended before it began; there is nothing to show")
    return Recording(path, made_at, quizapp, tuple(lines))


def _header(shown: str, text: bytes) -> tuple[datetime, str]:
    no_recording = f"{shown}:1: no recording of a run"
    hint = "quizapp demo NAME --record FILE makes one"
    if len(text) > LONGEST_LINE_BYTES:
        raise RecordingError(no_recording, hint=hint)
    try:
        header = json.loads(text)
        if not isinstance(header, dict) or header.get("type") != "recording":
            raise RecordingError(no_recording, hint=hint)
        made_at = datetime.fromisoformat(str(header.get("made_at")))
    except (ValueError, RecursionError) as error:
        raise RecordingError(no_recording, hint=hint) from error
    if header.get("v") != VERSION:
        version = visible(str(header.get("v")))[:20]
        raise RecordingError(f"{shown}:1: version {version}, this quizapp reads version {VERSION}")
    if made_at.tzinfo is None:
        made_at = made_at.replace(tzinfo=UTC)
    return made_at, visible(str(header.get("quizapp", "")))[:40]


async def replay(recording: Recording, speed: float | None = None) -> AsyncIterator[Line]:
    """The recorded lines, at `speed` device seconds a wall second (None: at once), marked as a replay."""
    began_s = time.monotonic()
    yield Log(text=recording.notice, source="lab")
    for line in recording.marked():
        if speed and isinstance(line, Sample):
            ahead_s = line.t_s / speed - (time.monotonic() - began_s)
            if ahead_s > 0:
                await asyncio.sleep(ahead_s)
        yield line
