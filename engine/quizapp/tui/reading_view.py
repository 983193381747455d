"""A recording in lines: a row a device, the time axis, and what is picked in text as well as in colour."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from quizapp.tui.render import Line, wrap
from quizapp.tui.strip_state import SHOWN_IN_A_WORD, SHOWN_IN_WORDS, axis, cell

if TYPE_CHECKING:
    from quizapp.tui.glyphs import Glyphs
    from quizapp.tui.reading_state import ReadingState

_MIN_COLUMNS = 8


class StripPage(NamedTuple):
    """The lines, where each device's row is, and where the columns of time begin and how many there are."""

    lines: list[Line]
    rows: list[int]
    left: int
    columns: int


def strip_page(state: ReadingState, width: int, glyphs: Glyphs, *, active: bool) -> StripPage:
    """Lay the recording out for a width. `active`: with a cursor."""
    recorded, strip = state.recorded, state.strip
    name = "emu" if recorded.device_kind == "emulated" else "GPU"
    label_width = len(f"{name}{recorded.devices - 1} ")
    left = 1 + (0 if state.in_time else 4) + label_width
    numbers = [("mean%", 6), ("zero s", 7)] if width >= left + 13 + 2 * _MIN_COLUMNS else []
    tail = 9 if state.submitted and not state.in_time else 0
    columns = max(_MIN_COLUMNS, width - left - sum(cells for _, cells in numbers) - tail - 1)
    columns = max(_MIN_COLUMNS, min(columns, recorded.windows))
    state.step_s = strip.seconds_per_column(columns)
    words = SHOWN_IN_WORDS[strip.shown]
    words = words if len(words) <= columns else SHOWN_IN_A_WORD[strip.shown]
    head: Line = [(" " * left, ""), (words.ljust(columns)[:columns], "strong")]
    lines: list[Line] = [[*head, *((name.rjust(cells), "muted") for name, cells in numbers)]]
    rows: list[int] = []
    span = _columns_of(state.pending_s, state.step_s, columns)
    at = round(state.at_s / state.step_s) if state.in_time and active and not state.submitted else None
    for device, values in enumerate(strip.columns(columns)):
        focused = active and not state.in_time and device == state.cursor
        rows.append(len(lines))
        line: Line = [(glyphs.cursor if focused else " ", "accent"), *_marker(state, device, glyphs)]
        line.append((f"{name}{device}".ljust(label_width), "strong" if focused else ""))
        for column, value in enumerate(values):
            sign, band = cell(value, glyphs)
            inside = span is not None and span[0] <= column < span[1]
            roles = "selection" if column == at else "row" if inside or focused else ""
            line.append((sign, f"{band} {roles}".strip()))
        line += [(_number(state, number, device, glyphs).rjust(cells), "muted") for number, cells in numbers]
        if note := state.note_on(device):
            line.append((f" {note}", "em strong" if "you" in note else "em muted"))
        lines.append(line)
    caption = " device s" if width - left - columns >= 9 else ""
    lines.append([(" " * left, ""), (axis(columns, state.step_s, glyphs), "frame"), (caption, "muted")])
    if state.in_time:
        lines += _time_lines(state, left, columns, at, glyphs)
    return StripPage([*lines, *wrap([(state.notice, "warning")], width, [(" ", "")])], rows, left, columns)


def _marker(state: ReadingState, device: int, glyphs: Glyphs) -> Line:
    if state.in_time:
        return []
    picked = device in state.devices
    if state.submitted:
        if device in state.asked.key.devices:
            return [(f"[{glyphs.right}] ", "right")]
        return [(f"[{glyphs.wrong}] ", "wrong")] if picked else [("[ ] ", "")]
    return [("[x] ", "key")] if picked else [("[ ] ", "")]


def _time_lines(state: ReadingState, left: int, columns: int, at: int | None, glyphs: Glyphs) -> list[Line]:
    """The cursor, the picked stretch and, once it may be known, the key, each as a line under the axis."""
    lines: list[Line] = []
    if not state.submitted:
        words = f"{glyphs.up} {state.at_s:.3g} s"
        place = min(at or 0, max(0, columns - len(words)))
        text = words if place == (at or 0) else f"{state.at_s:.3g} s {glyphs.up}"
        start = at or 0 if place == (at or 0) else max(0, (at or 0) - len(text) + 1)
        lines.append([(" " * (left + start), ""), (text, "key")])
    for name, span_s, role in (("you", state.pending_s, "strong"), ("key", state.key_span_s, "right")):
        span = _columns_of(span_s, state.step_s, columns)
        if span is None or span_s is None:
            lines += [[]] if name == "you" and not state.submitted else []  # the rows below keep their place
            continue
        bar = glyphs.meter_full * (span[1] - span[0])
        words = f" {span_s[0]:.3g}-{span_s[1]:.3g} s"
        room = columns - span[1]
        before = "" if len(words) <= room else words[1:] + " "
        gap = max(0, left - 4 + span[0] - len(before))
        lines.append(
            [
                (name.ljust(4), "muted"),
                (" " * gap, ""),
                (before if len(before) <= left - 4 + span[0] else "", "muted"),
                (bar, role),
                ("" if before else words, "muted"),
            ]
        )
    return lines


def _columns_of(span_s: tuple[float, float] | None, step_s: float, columns: int) -> tuple[int, int] | None:
    if span_s is None:
        return None
    first = max(0, min(columns - 1, round(span_s[0] / step_s)))
    return first, max(first + 1, min(columns, round(span_s[1] / step_s)))


def _number(state: ReadingState, name: str, device: int, glyphs: Glyphs) -> str:
    value = state.strip.mean(device) if name == "mean%" else state.strip.longest_zero_s(device)
    if value is None:
        return glyphs.dash
    return f"{value * 100:.0f}" if name == "mean%" else f"{value:.1f}"
