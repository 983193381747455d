"""Writes demos for tests: a body of main, with the declaration that a demo needs around it."""

from __future__ import annotations

import textwrap
from pathlib import Path

from quizapp.lab.catalogue import DemoDeclaration, read_demo

FAKE_KIT = str(Path(__file__).with_name("fake_kit.py"))

DOCSTRING = """A demo for tests.

What it shows:
    Nothing.

Why:
    Because.

Try:
    Less.

Fix:
    More.

References:
    None.
"""

DECLARATION = """{
    "title": "A test",
    "seconds": 3.0,
    "expects": {"fault": "imbalance", "fix": "healthy"},
    "params": {
        "size": {"type": "int", "range": [1, 64], "unit": "layers", "default": 4, "fault": 2},
        "rate": {"type": "float", "range": [0.5, 2.0], "default": 1.0},
        "split": {"type": "choice", "choices": ["even", "uneven"], "default": "even", "fault": "uneven"},
        "cache": {"type": "bool", "default": False, "fix": True},
    },
}"""


def write_demo(
    folder: Path,
    body: str,
    *,
    name: str = "tested",
    declaration: str = DECLARATION,
    docstring: str = DOCSTRING,
) -> Path:
    path = folder / f"{name.replace('-', '_')}.py"
    main = "def main(lab):\n" + textwrap.indent(textwrap.dedent(body).strip() or "pass", "    ")
    path.write_text(f'"""{docstring}"""\n\nDEMO = {declaration}\n\n\n{main}\n', encoding="utf-8")
    return path


def demo(folder: Path, body: str, **fields: str) -> DemoDeclaration:
    return read_demo(write_demo(folder, body, **fields))
