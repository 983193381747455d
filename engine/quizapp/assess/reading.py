"""Reading a recording: devices or a stretch of time that are picked out of it, typed or on screen.

A stretch is judged by its overlap with the key: what both have in common, as a share of both together
(intersection over union). It needs no unit, and is as strict with long stretches as with short ones.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from quizapp.assess.response import Response

if TYPE_CHECKING:
    from quizapp.bank.model import Reading

Span = tuple[float, float]

# A share that equals the limit must not fail by a rounding.
_TOLERANCE = 1e-9
_SPAN = re.compile(r"\s*([0-9.]{1,12})\s*s?\s*(?:-|–|to|\.\.)\s*([0-9.]{1,12})\s*s?\s*", re.ASCII)


def overlap(one: Span, other: Span) -> float:
    """What two stretches have in common, as a share of both together: 0 to 1."""
    common = max(0.0, min(one[1], other[1]) - max(one[0], other[0]))
    together = one[1] - one[0] + other[1] - other[0] - common
    return common / together if together > 0 else 0.0


def read_pick(question: Reading, text: str) -> Response:
    """The response that is typed as `0,1` or `2.5-7`. Raises ValueError in words for a learner."""
    if not text.strip():
        return Response()
    if question.key.span is not None:
        found = _SPAN.fullmatch(text)
        try:
            ends = (float(found[1]), float(found[2])) if found else None
        except ValueError:
            ends = None
        if ends is None:
            raise ValueError("write a stretch of device time, such as 2.5-7")
        return checked(question, Response(span_s=ends))
    words = text.replace(",", " ").split()
    if not all(word.isascii() and word.isdecimal() and len(word) < 5 for word in words):
        raise ValueError("write the numbers of devices, such as 0,1")
    return checked(question, Response(devices=tuple(sorted({int(word) for word in words}))))


def checked(question: Reading, response: Response) -> Response:
    """The response itself. Raises ValueError in words for one that can't be picked out of the recording."""
    fault = problem(question, response)
    if fault:
        raise ValueError(fault)
    return response


def problem(question: Reading, response: Response) -> str:
    """Why the response can't be picked out of the recording; "" when it can."""
    strip, span = question.strip, response.span_s
    if question.key.span is not None:
        if response.devices:
            return "a stretch of time is asked for"
        if span is None:
            return ""
        end_s = strip.duration_s if strip is not None else float("inf")
        if not 0 <= span[0] < span[1]:
            return "a stretch begins before it ends"
        return f"the recording ends at {end_s:g} s" if span[1] > end_s + 1e-6 else ""
    if span is not None:
        return "devices are asked for"
    if len(set(response.devices)) < len(response.devices):
        return "a device is picked twice"
    count = strip.devices if strip is not None else None
    strange = [device for device in response.devices if device < 0 or (count is not None and device >= count)]
    return f"there is no device {strange[0]}; they are 0 to {(count or 0) - 1}" if strange else ""


def share_of(question: Reading, response: Response, rule: str) -> float:
    """Share of the points, 0 to 1, that a response earns by a rule."""
    key = question.key
    if key.span is None:
        right, picked = frozenset(key.devices), frozenset(response.devices)
        if rule == "net-correct":
            return max(0, len(picked & right) - len(picked - right)) / len(right)
        return 1.0 if picked == right else 0.0
    if response.span_s is None:
        return 0.0
    common = overlap((key.span.start_s, key.span.end_s), response.span_s)
    if common + _TOLERANCE >= question.overlap:
        return 1.0
    return common if rule == "overlap" else 0.0


def with_key(question: Reading, response: Response) -> Reading:
    """The same question with a response to it as its key."""
    from dataclasses import replace

    from quizapp.bank.model import ReadingKey
    from quizapp.bank.model import Span as KeySpan

    span = None if response.span_s is None else KeySpan(start_s=response.span_s[0], end_s=response.span_s[1])
    return replace(question, key=ReadingKey(devices=response.devices, span=span))


def asked_in_words(question: Reading) -> str:
    """What is to be picked, and how near is near enough."""
    if question.key.span is None:
        return "pick devices"
    return f"pick a stretch of device time; right from {question.overlap:.0%} overlap with the key"


def key_in_words(question: Reading) -> str:
    """The key as a response is written: `0, 1` or `2.5-7 s`."""
    key = question.key
    if key.span is None:
        return devices_in_words(sorted(key.devices))
    return span_in_words((key.span.start_s, key.span.end_s))


def given_in_words(response: Response) -> str:
    """The response, written alike; "" when blank."""
    if response.span_s is not None:
        return span_in_words(response.span_s)
    return devices_in_words(response.devices)


def overlap_in_words(question: Reading, response: Response) -> str:
    """How near a picked stretch came to the key; "" where devices are picked, or nothing is."""
    span = question.key.span
    if span is None or response.span_s is None:
        return ""
    common = overlap((span.start_s, span.end_s), response.span_s)
    return f"overlap with the key {common:.0%}, wanted {question.overlap:.0%}"


def devices_in_words(devices: tuple[int, ...] | list[int]) -> str:
    """`0, 1`."""
    return ", ".join(str(device) for device in devices)


def span_in_words(span: Span) -> str:
    """`2.5-7 s`."""
    return f"{span[0]:.6g}-{span[1]:.6g} s"
