"""The two ends of a conversation in lines."""

from __future__ import annotations

from typing import TextIO

from quizapp.bank.text import visible


class Talk:
    """Says text on one stream and reads lines from another.

    Whatever is said passes through `visible`, and characters that the stream can't encode become escapes.
    """

    def __init__(self, lines: TextIO, out: TextIO, *, width: int, interactive: bool) -> None:
        self._lines, self._out = lines, out
        self._encoding = out.encoding or "utf-8"
        self.width = width
        self.interactive = interactive
        self.ascii_only = not self._encoding.lower().replace("-", "").replace("_", "").startswith("utf8")

    def say(self, text: str = "") -> None:
        """One line or several."""
        self._write(text + "\n")

    def wrapped(self, text: str) -> None:
        """One paragraph of ours, broken at the width."""
        import textwrap

        self.say(textwrap.fill(text, self.width))

    def indented(self, text: str, first: str, rest: str = "") -> None:
        """Text whose first line begins with `first` and the others with as many blanks, or `rest`."""
        head, *tail = text.splitlines() or [""]
        self.say("\n".join([first + head, *(((rest or " " * len(first)) + line).rstrip() for line in tail)]))

    def ask(self, prompt: str) -> str | None:
        """Says a prompt and reads a line; None when the input has ended."""
        # Lines out of a pipe are not echoed: without a line feed the next output would run on.
        self._write(prompt + (" " if self.interactive else "\n"))
        self._out.flush()
        line = self._lines.readline()
        return line.strip() if line else None

    def flush(self) -> None:
        """Brings what was said to the reader."""
        self._out.flush()

    def _write(self, text: str) -> None:
        text = visible(text)
        if self.ascii_only:
            text = text.translate(_ASCII)
        self._out.write(text.encode(self._encoding, "backslashreplace").decode(self._encoding))


_ASCII = str.maketrans(
    {
        "·": "-",
        "–": "-",
        "—": "-",
        "…": "...",
        "×": "x",
        "≤": "<=",
        "≥": ">=",
        "’": "'",
        "‘": "'",
        "“": '"',
        "”": '"',
        "→": "->",
        "•": "*",
        "✔": "+",
        "✘": "x",
        "\N{NO-BREAK SPACE}": " ",
    }
    # The signs that stand for control characters, in caret notation.
    | {chr(0x2400 + code): f"^{chr(0x40 + code)}" for code in range(0x20)}
    | {"␡": "^?"}
)
