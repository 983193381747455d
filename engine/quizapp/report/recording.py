"""The recording of a question as a picture in a report: both meters, a row a device, and what was picked."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from quizapp.report.page import said

if TYPE_CHECKING:
    from quizapp.assess.response import Response
    from quizapp.bank.model import Reading
    from quizapp.bank.strip import Strip, StripMeter

NAMES: dict[StripMeter, str] = {"compute": "compute, the useful work", "util": "as nvidia-smi sees it"}

# Pixels.
_LEFT, _PLOT, _RIGHT, _ROW, _BAR = 56, 560, 64, 18, 14


def recording_figure(question: Reading, response: Response, *, told: bool) -> str:
    """The figure; `told`: with the key."""
    strip = question.strip
    if strip is None:
        return ""
    emulated = strip.device_kind == "emulated"
    kind = "emulated devices, no GPU was used" if emulated else "GPUs"
    caption = (
        f"A recorded run on {strip.devices} {kind}: {strip.duration_s:g} device seconds, a row a device."
    )
    pictures = "".join(
        f"<p class=muted>{said(name)}</p>{_picture(question, response, meter, name, told=told)}"
        for meter, name in NAMES.items()
    )
    return f"<figure>{pictures}<figcaption>{said(caption)}</figcaption></figure>"


def _picture(question: Reading, response: Response, meter: StripMeter, name: str, *, told: bool) -> str:
    strip = question.strip
    if strip is None:
        return ""
    spans = [("you", response.span_s)] if response.span_s else []
    if told and question.key.span is not None:
        spans.append(("key", (question.key.span.start_s, question.key.span.end_s)))
    height = _ROW * (strip.devices + len(spans) + 1) + 4
    width = _LEFT + _PLOT + _RIGHT
    words = said(_words(strip, meter, name))
    parts = [f'<svg viewBox="0 0 {width} {height}" width="100%" role="img" aria-label="{words}">']
    label = "emu" if strip.device_kind == "emulated" else "gpu"
    for device in range(strip.devices):
        top = device * _ROW
        parts.append(f'<text x="0" y="{top + 12}" font-size="12" fill="currentColor">{label}{device}</text>')
        parts += _bars(strip.shares(meter, device), top)
        marks = ["you"] if device in response.devices else []
        marks += ["key"] if told and device in question.key.devices else []
        if marks:
            text = ", ".join(marks)
            x = _LEFT + _PLOT + 4
            parts.append(f'<text x="{x}" y="{top + 12}" font-size="12" fill="currentColor">{text}</text>')
    for number, (whose, (start_s, end_s)) in enumerate(spans):
        top = (strip.devices + number) * _ROW
        left, right = (_LEFT + _PLOT * moment / strip.duration_s for moment in (start_s, end_s))
        parts.append(f'<text x="0" y="{top + 12}" font-size="12" fill="currentColor">{whose}</text>')
        size = f'width="{max(1.0, right - left):.1f}" height="6"'
        parts.append(f'<rect x="{left:.1f}" y="{top + 5}" {size} fill="currentColor"></rect>')
    below = _ROW * (strip.devices + len(spans)) + 12
    for moment, x, anchor in ((0.0, _LEFT, "start"), (strip.duration_s, _LEFT + _PLOT, "end")):
        place = f'x="{x}" y="{below}" text-anchor="{anchor}"'
        parts.append(f'<text {place} font-size="12" fill="currentColor">{moment:g} s</text>')
    return "".join([*parts, "</svg>"])


def _bars(shares: list[float | None], top: int) -> Iterator[str]:
    """Equal neighbours are one box, so that a page stays small."""
    place = 0
    step = _PLOT / len(shares)
    for share, run in groupby(shares):
        count = len(list(run))
        high = round(_BAR * (share or 0.0))
        if high:
            where = f'x="{_LEFT + place * step:.1f}" y="{top + _BAR - high}"'
            yield f'<rect {where} width="{count * step:.1f}" height="{high}" fill="var(--accent)"></rect>'
        place += count


def _words(strip: Strip, meter: StripMeter, name: str) -> str:
    """The picture in words: each device's mean."""
    means = []
    for device in range(strip.devices):
        known = [share for share in strip.shares(meter, device) if share is not None]
        mean = f"{sum(known) / len(known):.0%}" if known else "not measured"
        means.append(f"device {device} {mean}")
    return f"{name}, mean: {', '.join(means)}"
