"""Untrusted text made safe to show: what a terminal would obey, or hide, becomes a visible sign."""

from __future__ import annotations

# Marks that reorder or hide what stands around them. Joiners (U+200C, U+200D) stay: scripts need them.
_INVISIBLE = frozenset(
    [
        0x00AD,
        0x061C,
        0x115F,
        0x1160,
        0x180E,
        0x200B,
        0x200E,
        0x200F,
        0x2028,
        0x2029,
        0x3164,
        0xFEFF,
        0xFFA0,
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        *range(0xFFF9, 0xFFFC),
    ]
)


class _Signs(dict[int, int | str]):
    """Code point -> what is shown; filled as characters are met."""

    def __missing__(self, code: int) -> int | str:
        sign: int | str = code
        if code < 0x20:
            sign = chr(0x2400 + code)
        elif code == 0x7F:
            sign = "␡"
        elif (
            0x80 <= code < 0xA0
            or code in _INVISIBLE
            or 0xD800 <= code < 0xE000
            or 0xE0000 <= code < 0xE0080
            or code & 0xFFFE == 0xFFFE
        ):
            sign = f"⟨U+{code:04X}⟩"
        self[code] = sign
        return sign


_signs = _Signs({0x0A: 0x0A, 0x09: 0x09})


def visible(text: str) -> str:
    """`text` with control, bidi and invisible characters shown as signs (ESC as ␛, U+202E as ⟨U+202E⟩).

    Line feeds stay, CRLF becomes one, tabs become spaces (stops of 4).
    """
    if text.isascii() and text.isprintable():
        return text
    return text.replace("\r\n", "\n").translate(_signs).expandtabs(4)
