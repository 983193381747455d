"""Runs `quizapp` as its users do, with a state folder and a cache of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

BANK = """\
format: 1
title: A small bank
objectives: {one: First thing, two: Second thing}
take: {pass_mark: 50%}
questions:
  - id: first
    kind: single-choice
    objective: one
    stem: Which `A[m][k]` [/x]?
    options:
      - {id: alpha, text: Alpha, correct: true, rationale: It is}
      - {id: beta, text: Beta, rationale: It is not}
    explanation: {short: "It was {{opt:alpha}}.", full: The whole story}
  - id: second
    kind: multiple-choice
    objective: two
    stem: Which two?
    options:
      - {id: alpha, text: Alpha, correct: true, rationale: It is}
      - {id: beta, text: Beta, correct: true, rationale: It is too}
      - {id: gamma, text: Gamma, rationale: It is not}
    explanation: {short: Two of them.}
"""


class CommandLine:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state, self.cache = folder / "state", folder / "cache"
        self.bank = folder / "small.yaml"
        self.bank.write_text(BANK, encoding="utf-8")
        self.environment = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(folder / "home"),
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm-256color",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "QUIZAPP_STATE_DIR": str(self.state),
            "QUIZAPP_CACHE_DIR": str(self.cache),
            "QUIZAPP_LEARNER": "ada",
        }

    def __call__(self, *arguments: str, lines: str | bytes = "") -> subprocess.CompletedProcess[str]:
        stdin = lines.encode() if isinstance(lines, str) else lines
        done = subprocess.run(
            [sys.executable, "-m", "quizapp.cli", *arguments],
            input=stdin,
            capture_output=True,
            check=False,
            cwd=self.folder,
            env=self.environment,
        )
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        return subprocess.CompletedProcess(
            done.args,
            done.returncode,
            done.stdout.decode("utf-8", "backslashreplace"),
            done.stderr.decode("utf-8", "backslashreplace"),
        )
