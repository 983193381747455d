"""Questions about a recording without a screen: a row a device, a digit a stretch of time."""

from __future__ import annotations

import io
import json
from pathlib import Path

from quizapp.bank.library import open_bank
from quizapp.plain.conversation import take
from quizapp.store.store import Store

READING = Path(__file__).resolve().parent.parent / "banks" / "good" / "reading.yaml"


def say(tmp_path: Path, typed: str, *, as_json: bool = False) -> tuple[str, str]:
    store = Store.open(tmp_path / "state")
    sitting = store.start(open_bank(READING, cache=tmp_path / "cache"), "anna")
    out, err = io.StringIO(), io.StringIO()
    take(sitting, stdin=io.StringIO(typed), stdout=out, stderr=err, as_json=as_json)
    store.close()
    return out.getvalue(), err.getvalue()


def test_devices_and_a_stretch_are_read_typed_and_judged(tmp_path: Path) -> None:
    out, _ = say(tmp_path, "4\n0.2-0.9\n")
    assert "8 emulated devices, no GPU used" in " ".join(out.split())
    [slow] = [line for line in out.splitlines() if line.startswith("emu4  ")][1:2]
    assert slow == "emu4  " + "9" * 53 + "  100"
    assert "emu0  990089" in out
    assert "      |0        |1        |2        |3        |4        |5 s" in out
    assert "Right: 2 of 2 points (net-correct)." in out
    assert "You picked 0.2-0.9 s. The key is 0.2-0.9 s." in out
    assert "The overlap with the key 100%, wanted 60%." in out


def test_what_is_no_pick_is_said_and_asked_again(tmp_path: Path) -> None:
    out, _ = say(tmp_path, "rank 4\n9\nx\n0\n\n\nfinish\n")
    assert "write the numbers of devices, such as 0,1" in out.lower()
    assert "there is no device 9; they are 0 to 7" in out.lower()
    assert "It waits, inside the all-reduce." in out.replace("*", "")


def test_json_tells_devices_and_both_ends(tmp_path: Path) -> None:
    out, _ = say(tmp_path, "4,0\n0.2-0.9\n", as_json=True)
    first, second = json.loads(out)["questions"]
    assert first["response"] == [0, 4]
    assert second["response"] == [0.2, 0.9]
