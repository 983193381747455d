"""Recordings that are made up, for questions about them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

Shares = Sequence[Sequence[float | None]]


def write_recording(
    path: Path, compute: Shares, util: Shares | None = None, *, window_s: float = 0.1, kind: str = "emulated"
) -> Path:
    """A recording whose devices (rows) read these shares in window after window."""
    lines: list[dict[str, object]] = [
        {"v": 1, "type": "recording", "made_at": "2026-12-01T04:00:00+00:00", "quizapp": "0"},
        {
            "v": 1,
            "type": "start",
            "demo": "secret-demo",
            "variant": "fault",
            "device_kind": kind,
            "devices": len(compute),
            "window_s": window_s,
            "notice": "secret notice",
        },
    ]
    for at in range(len(compute[0])):
        meters = {"compute": [row[at] for row in compute], "util": [row[at] for row in util or compute]}
        lines.append(
            {
                "v": 1,
                "type": "sample",
                "t_s": round((at + 1) * window_s, 9),
                "window_s": window_s,
                "meters": meters,
            }
        )
    lines.append({"v": 1, "type": "outcome", "outcome": "completed"})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path
