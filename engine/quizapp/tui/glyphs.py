"""The signs that the screens draw: width-1 characters, and an ASCII set where the output is not UTF-8."""

from __future__ import annotations

from typing import NamedTuple


class Glyphs(NamedTuple):
    """One set of signs; every sign is one cell wide unless its comment says so."""

    right: str
    wrong: str
    partial: str
    open: str
    filled: str
    marked: str
    play: str
    arrow: str
    cursor: str
    bar: str
    rule: str
    vertical: str
    tick: str
    bullet: str
    dot: str
    chosen: str
    meter_full: str
    meter_empty: str
    wrapped: str
    ellipsis: str
    times: str
    dash: str
    zero: str
    levels: str  # from just above nothing to everything
    corners: str  # top left, top right, bottom left, bottom right
    enter: str
    up_down: str
    move: str
    up: str
    down: str


UNICODE = Glyphs(
    right="✓",
    wrong="✗",
    partial="◐",
    open="○",
    filled="●",
    marked="⚑",
    play="▸",
    arrow="→",
    cursor="▎",
    bar="▎",
    rule="─",
    vertical="│",
    tick="┼",
    bullet="•",
    dot="·",
    chosen="•",
    meter_full="━",
    meter_empty="─",
    wrapped="↪",
    ellipsis="…",
    times="×",
    dash="–",
    zero="_",
    # Not up to the full block: the free eighth keeps neighbouring rows apart.
    levels="▁▂▃▄▅▆▇",
    corners="┌┐└┘",
    enter="⏎",
    up_down="↑↓",
    move="↕",
    up="↑",
    down="↓",
)

ASCII = Glyphs(
    right="+",
    wrong="x",
    partial="~",
    open="o",
    filled="*",
    marked="!",
    play=">",
    arrow=">",
    cursor=">",
    bar="|",
    rule="-",
    vertical="|",
    tick="+",
    bullet="*",
    dot="-",
    chosen="*",
    meter_full="=",
    meter_empty="-",
    wrapped="\\",
    ellipsis="~",
    times="x",
    dash="-",
    zero="_",
    levels=".:-=+*#",
    corners="++++",
    enter="Enter",
    up_down="arrows",
    move="^",
    up="^",
    down="v",
)


def glyphs_for(encoding: str | None) -> Glyphs:
    """The set that an output of this encoding can show."""
    return UNICODE if "utf" in (encoding or "").lower() else ASCII
