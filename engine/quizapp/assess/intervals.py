"""95 % intervals of what is counted and measured, each by a named method that needs no tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

Interval = tuple[float, float]

Z = 1.959963984540054
"""The normal quantile of a two-sided 95 % interval."""


def wilson(count: float, n: float) -> Interval | None:
    """Of a share `count / n` (Wilson 1927); None below one. `n` may be an effective number."""
    if n < 1:
        return None
    share = count / n
    middle = share + Z * Z / (2 * n)
    half = Z * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    scale = 1 + Z * Z / n
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


def of_mean(mean: float, sd: float, n: int, bounds: Interval = (-math.inf, math.inf)) -> Interval | None:
    """Of a mean: mean ± z·SD/√n, kept within bounds; None below two values."""
    if n < 2:
        return None
    half = Z * sd / math.sqrt(n)
    return max(bounds[0], mean - half), min(bounds[1], mean + half)


def of_correlation(r: float, n: int) -> Interval | None:
    """Of a product-moment correlation, by Fisher's z; None below four pairs."""
    if n < 4 or not math.isfinite(r):
        return None
    if abs(r) >= 1:
        return r, r
    middle, half = math.atanh(r), Z / math.sqrt(n - 3)
    return math.tanh(middle - half), math.tanh(middle + half)


def of_alpha(alpha: float, n: int, questions: int) -> Interval | None:
    """Of Cronbach's alpha, on ln(1 - alpha) (Bonett 2002); None where it is not defined."""
    if n < 3 or questions < 2 or alpha >= 1:
        return None
    half = Z * math.sqrt(2 * questions / ((questions - 1) * (n - 2)))
    return 1 - (1 - alpha) * math.exp(half), 1 - (1 - alpha) * math.exp(-half)


def of_median(ordered: Sequence[float]) -> Interval | None:
    """Of a median, from the order statistics (binomial, normal approximation); None below six values.

    `ordered` must ascend.
    """
    n = len(ordered)
    if n < 6:
        return None
    half = Z * math.sqrt(n) / 2
    low, high = math.floor(n / 2 - half), math.ceil(n / 2 + half)
    return ordered[max(0, low)], ordered[min(n - 1, high)]
