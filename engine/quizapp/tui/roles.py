"""What each role of a run looks like, in the theme's variables: one accent; green and red for verdicts."""

from __future__ import annotations

ROLES: dict[str, str] = {
    "strong": "bold",
    "em": "italic",
    "strike": "strike",
    "code": "$text-accent",
    "math": "$text-accent italic",
    "link": "underline",
    "address": "$text-accent",
    "footnote": "$foreground 65%",
    "heading": "bold",
    "block": "$text-accent on $surface",
    "muted": "$foreground 65%",
    "frame": "$foreground 40%",
    "accent": "$accent",
    "key": "bold $accent",
    "right": "bold $text-success",
    "wrong": "bold $text-error",
    "partial": "bold $text-warning",
    "warning": "$text-warning",
    "band-0": "$foreground 40%",
    "band-1": "$accent 45%",
    "band-2": "$accent 65%",
    "band-3": "$accent 85%",
    "band-4": "$accent",
    "row": "on $panel",
    "selection": "reverse",
}
