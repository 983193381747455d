"""The recording of a question in lines: a row a device, a digit a stretch of device time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quizapp.bank.model import Reading
    from quizapp.bank.strip import Strip, StripMeter
    from quizapp.plain.talk import Talk

NAMES: dict[StripMeter, str] = {"compute": "Compute, the useful work", "util": "As nvidia-smi sees it"}
_TICK = 10


def say_recording(talk: Talk, question: Reading) -> None:
    """Both meters of the recording, the one that the question names first."""
    strip = question.strip
    if strip is None:
        return
    emulated = strip.device_kind == "emulated"
    kind = "emulated devices, no GPU used" if emulated else "GPUs"
    talk.wrapped(
        f"A recorded run of {strip.duration_s:g} device seconds on {strip.devices} {kind}. A row a device; "
        "each digit is the share of a stretch of time in tens of percent: 0 is less than 10 %, 9 is 90 % "
        "or more."
    )
    label = len(f"{_name(strip)}{strip.devices - 1}") + 2
    room = max(_TICK, talk.width - label - 6)
    merged = -(-strip.windows // room)
    step_s = merged * strip.window_s
    for meter in sorted(NAMES, key=lambda name: name != question.meter):
        talk.say()
        talk.say(f"{NAMES[meter]}, {step_s:g} s a digit; mean % last")
        for device in range(strip.devices):
            shares = strip.shares(meter, device)
            digits = "".join(
                _digit(shares[place : place + merged]) for place in range(0, strip.windows, merged)
            )
            known = [share for share in shares if share is not None]
            mean = f"{100 * sum(known) / len(known):.0f}" if known else "-"
            talk.say(f"{f'{_name(strip)}{device}':<{label}}{digits}  {mean:>3}")
        talk.say(" " * label + _axis(-(-strip.windows // merged), step_s))


def _name(strip: Strip) -> str:
    return "emu" if strip.device_kind == "emulated" else "GPU"


def _digit(shares: list[float | None]) -> str:
    known = [share for share in shares if share is not None]
    return str(min(9, int(10 * sum(known) / len(known) + 1e-9))) if known else "."


def _axis(columns: int, step_s: float) -> str:
    """Device seconds under every tenth digit, at the digit that begins there."""
    text = ""
    for column in range(0, columns, _TICK):
        text = text.ljust(column) + f"|{column * step_s:g}"
    return text + " s"
