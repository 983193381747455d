"""Puts the runner of demos within reach."""

from __future__ import annotations

import sys
from pathlib import Path

SHARED = str(Path(__file__).resolve().parent.parent)
if SHARED not in sys.path:
    sys.path.insert(0, SHARED)
