"""Cuts what comes through a pipe into lines."""

from __future__ import annotations


class ByteLines:
    """Cuts a stream of bytes into lines; of a line that is too long, only the beginning is kept."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._buffer = b""
        self._skipping = False

    def feed(self, part: bytes) -> list[bytes]:
        pieces = part.split(b"\n")
        pieces[0] = self._buffer + pieces[0] if not self._skipping else pieces[0]
        self._buffer = b""
        whole, rest = pieces[:-1], pieces[-1]
        if self._skipping and whole:
            whole = whole[1:]
            self._skipping = False
        if self._skipping:
            return whole
        if len(rest) > self._longest:
            whole.append(rest)
            self._skipping = True
        else:
            self._buffer = rest
        return whole

    def rest(self) -> list[bytes]:
        last, self._buffer = self._buffer, b""
        return [last] if last else []
