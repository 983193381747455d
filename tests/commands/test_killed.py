"""`quizapp take --plain` killed with SIGKILL at 200 seeded moments: only the keypress in flight may be lost.

Each life of the command is a forked process that runs the real `main` on real pipes, so that two hundred of
them cost seconds. Moments are counted in progress, never in time: half of the lives kill themselves before
their n-th call of any function, Python's or C's; half are killed from outside after their n-th answer.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import signal
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from quizapp.assess.attempt import ResponseChanged, Submitted
from quizapp.store.store import Store

KILLS = 200
QUESTIONS = 8

# What is typed to each question, by the last line of it answered; `skip` lets it come again at the end.
TYPED: dict[str, tuple[str, ...]] = {
    "q0": ("right",),
    "q1": ("?", "no such option", "wrong-1"),
    "q2": ("right,right-2",),
    "q3": ("skip", "right"),
    "q4": ("right wrong-1",),
    "q5": ("x", "wrong-2"),
    "q6": (":b", "right-2"),
    "q7": ("skip", "r", "right-2 right"),
}
GIVEN = {
    "q0": ("right",),
    "q1": ("wrong-1",),
    "q2": ("right", "right-2"),
    "q3": ("right",),
    "q4": ("right", "wrong-1"),
    "q5": ("wrong-2",),
    "q6": ("right-2",),
    "q7": ("right", "right-2"),
}
POINTS = 1 + 0 + 1 + 1 + 0 + 0 + 0.5 + 1
SEVERAL = ("q2", "q4", "q6", "q7")


def bank_text() -> str:
    lines = [
        "format: 1",
        "title: Killed",
        "take: {shuffle: [questions, options], pass_mark: 50%}",
        "questions:",
    ]
    for number in range(QUESTIONS):
        name = f"q{number}"
        several = name in SEVERAL
        key = "correct: true, " if several else ""
        lines += [
            f"  - id: {name}",
            f"    kind: {'multiple' if several else 'single'}-choice",
            f"    stem: Asked by {name} ?",
            "    options:",
            "      - {id: right, text: One, correct: true, rationale: It is}",
            f"      - {{id: right-2, text: Two, {key}rationale: It says so}}",
            "      - {id: wrong-1, text: Three, rationale: It is not}",
            "      - {id: wrong-2, text: Four, rationale: Nor is it}",
            f"    explanation: {{short: The story of {name} .}}",
        ]
    return "\n".join(lines) + "\n"


class Life:
    """One process that runs `quizapp take --plain`, with both ends of its conversation in our hands."""

    def __init__(self, bank: Path, *, calls: int = 0, more_bytes: int = 0) -> None:
        """`calls`: it kills itself before so many calls. `more_bytes`: no file may grow past so many."""
        theirs_in, self.keyboard = os.pipe()
        mine, theirs_out = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.close(self.keyboard)
                os.close(mine)
                _live(theirs_in, theirs_out, bank, calls, more_bytes)
            finally:
                os._exit(99)
        os.close(theirs_in)
        os.close(theirs_out)
        self.screen: BinaryIO = os.fdopen(mine, "rb")

    def types(self, line: str) -> None:
        # When it is dead, this keypress is the one in flight.
        with contextlib.suppress(BrokenPipeError):
            os.write(self.keyboard, line.encode() + b"\n")

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    def ends(self) -> int:
        self.screen.close()
        os.close(self.keyboard)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def _live(stdin: int, stdout: int, bank: Path, calls: int, more_bytes: int) -> None:
    os.dup2(stdin, 0)
    os.dup2(stdout, 1)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    from quizapp.cli import main

    if more_bytes:
        # Python ignores this signal; by default it kills in the middle of the write that crosses the limit.
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (more_bytes, more_bytes))
    if calls:
        left = calls

        def count(_frame: object, event: str, _argument: object) -> None:
            nonlocal left
            if event in ("call", "c_call"):
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(count)
    code = 99
    try:
        main(["take", str(bank), "--plain"])
    except SystemExit as end:
        code = int(end.code or 0)
    sys.setprofile(None)
    sys.stdout.flush()
    os._exit(code)


class Learner:
    """Types the script, life after life, and remembers what was acknowledged."""

    def __init__(self) -> None:
        self.left = {name: list(lines) for name, lines in TYPED.items()}
        self.revealed: set[str] = set()
        self.in_flight: set[str] = set()
        self.saved_as = ""

    def sits(self, life: Life, *, kill_after: int = 0, linger: int = 0) -> int:
        """Talks to the end of a life. It is killed `linger` turns of a loop after its n-th line was typed."""
        asked = kept = last = ""
        typed = 0
        for raw in life.screen:
            line = raw.decode()
            words = line.split()
            if line.startswith("Asked by "):
                asked, kept = words[2], ""
            elif line.startswith("Kept from before"):
                kept = asked
            elif line.startswith("The story of "):
                self.revealed.add(words[3])
            elif line.startswith("Saved as "):
                self.saved_as = words[2].rstrip(";")
            elif line.startswith("Answer (") or "Enter goes" in line:
                last = asked
                life.types(self._says(asked, kept) if line.startswith("Answer (") else "")
                typed += 1
                if typed == kill_after:
                    for _ in range(linger):
                        pass
                    life.kill()
        # One keypress a life can be under way when it ends; whatever came of it was not acknowledged.
        self.in_flight.add(last)
        return life.ends()

    def _says(self, asked: str, kept: str) -> str:
        lines = self.left[asked]
        if kept == asked:
            return "submit"
        # A question that is asked again after its last line was typed lost that keypress to the kill.
        return lines.pop(0) if len(lines) > 1 else lines[0]


def check_what_is_kept(state: Path, learner: Learner) -> str:
    """The store opens, and holds what the learner was shown to have given. The attempt's state."""
    store = Store.open(state)
    try:
        return _check(store, learner)
    finally:
        # A connection that is left open would be inherited by the next life.
        store.close()


def _check(store: Store, learner: Learner) -> str:
    summaries = store.attempts()
    assert len(summaries) <= 1, "each life went on with the attempt of the one before"
    if not summaries:
        assert not learner.revealed
        return "none"
    record = store.show(summaries[0].id)
    kept = record.attempt
    for name in learner.revealed:
        state_of = kept.item(name)
        assert set(state_of.response.selected) == set(GIVEN[name]), name
        assert state_of.submitted, name
        assert state_of.score is not None, name
    for item in kept.touched:
        if item.question_id not in learner.revealed and not item.response.blank:
            assert item.question_id in learner.in_flight, "only what was in flight"
            assert set(item.response.selected) == set(GIVEN[item.question_id])
    # Nothing is stored twice: what was acknowledged is not asked for, and not given, again.
    events = [event for _, event in record.events]
    for kind in (ResponseChanged, Submitted):
        given = [event.question_id for event in events if isinstance(event, kind)]
        assert len(given) == len(set(given)), kind
    times = [at for at, _ in record.events]
    assert times == sorted(times)
    assert (summaries[0].answered, summaries[0].points) == (kept.answered, kept.points)
    if learner.saved_as:
        assert (summaries[0].id, summaries[0].state) == (learner.saved_as, "finished")
    return summaries[0].state


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "killed.yaml"
    path.write_text(bank_text(), encoding="utf-8")
    monkeypatch.setenv("QUIZAPP_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("QUIZAPP_LEARNER", "ada")
    return path


def sat_through(bank: Path, state: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The result of an attempt that nothing disturbs."""
    monkeypatch.setenv("QUIZAPP_STATE_DIR", str(state))
    learner = Learner()
    assert learner.sits(Life(bank)) == 0
    assert learner.revealed == set(TYPED)
    assert check_what_is_kept(state, learner) == "finished"
    return result(state)


def result(state: Path) -> Any:
    store = Store.open(state)
    record = store.show(store.attempts()[0].id)
    given = {item.question_id: sorted(item.response.selected) for item in record.attempt.items}
    found = (given, record.attempt.finish)
    store.close()
    return found


def lives(seed: int, calls_of_one: int) -> Iterator[dict[str, int]]:
    """Moments without end: how a life is ended, drawn from a seed."""
    draw = random.Random(seed)
    while True:
        yield {"calls": draw.randrange(1, calls_of_one)}
        yield {"kill_after": draw.randrange(1, 7), "linger": draw.randrange(0, 100_000)}


def count_calls(bank: Path, state: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """About how many calls a whole attempt takes, found by doubling."""
    calls = 2_000
    while True:
        monkeypatch.setenv("QUIZAPP_STATE_DIR", str(state / str(calls)))
        if Learner().sits(Life(bank, calls=calls)) == 0:
            return calls
        calls *= 2


def test_killed_at_two_hundred_moments_nothing_is_lost_but_the_keypress_in_flight(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = sat_through(bank, tmp_path / "whole", monkeypatch)
    assert whole[1].points == POINTS
    moments = lives(2024, count_calls(bank, tmp_path / "counted", monkeypatch) // 3)
    kills = attempts = in_the_middle = 0
    while kills < KILLS:
        attempts += 1
        state = tmp_path / f"state {attempts}"
        monkeypatch.setenv("QUIZAPP_STATE_DIR", str(state))
        learner = Learner()
        standing = "none"
        while standing != "finished":
            end = next(moments)
            life = Life(bank, calls=end.pop("calls", 0))
            code = learner.sits(life, **end)
            standing = check_what_is_kept(state, learner)
            kills += code == -signal.SIGKILL
            in_the_middle += code == -signal.SIGKILL and standing == "open"
            assert code in (0, -signal.SIGKILL)
        assert result(state) == whole, "an attempt of many lives ends as one that was sat through"
        db = sqlite3.connect(state / "attempts.sqlite3")
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        db.close()
    # Far fewer would mean that the kills missed what they aim at.
    assert in_the_middle > KILLS / 2
    assert attempts > 5


def test_killed_in_the_middle_of_writing_a_file(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The system kills a process that crosses the limit inside its write: what stands before it is written,
    # so the log of the store ends in a torn frame.
    whole = sat_through(bank, tmp_path / "whole", monkeypatch)
    draw = random.Random(7)
    kills = 0
    for number in range(10):
        state = tmp_path / f"state {number}"
        monkeypatch.setenv("QUIZAPP_STATE_DIR", str(state))
        learner = Learner()
        while True:
            log = state / "attempts.sqlite3-wal"
            size = log.stat().st_size if log.exists() else 32_768
            code = learner.sits(Life(bank, more_bytes=size + draw.randrange(1, 30_000)))
            standing = check_what_is_kept(state, learner)
            kills += code == -signal.SIGXFSZ
            assert code in (0, -signal.SIGXFSZ)
            if standing == "finished":
                break
        assert result(state) == whole
    assert kills > 20


def test_the_script_asks_every_kind_of_step(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The kills above are worth what the script walks through.
    sat_through(bank, tmp_path / "whole", monkeypatch)
    store = Store.open(tmp_path / "whole")
    record = store.show(store.attempts()[0].id)
    kinds = {json.dumps(type(event).__name__) for _, event in record.events}
    assert kinds >= {'"Started"', '"Shown"', '"ResponseChanged"', '"Submitted"', '"Scored"', '"Finished"'}
