"""Units as they are compared: typed and declared ones in one form."""

from __future__ import annotations

import unicodedata

# Marks without width that come along with copied text.
UNSEEN = dict.fromkeys((0xAD, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFEFF))
# Hyphens and minus signs that keyboards and copied text give.
MINUS = dict.fromkeys(map(ord, "−‐‑–﹣－"), "-")


def unit_form(text: str) -> str:
    """One form of each letter (the micro sign is the Greek mu), sign and space; case counts: Gb is not GB."""
    return " ".join(unicodedata.normalize("NFKC", text.translate(UNSEEN | MINUS)).split())
