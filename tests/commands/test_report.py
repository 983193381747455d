"""`quizapp report`: the file is written, whole, and over nothing."""

from __future__ import annotations

import json
from pathlib import Path

from command_line import CommandLine

BANK = Path(__file__).parent.parent / "banks" / "good" / "everything.yaml"


def attempt(quizapp: CommandLine) -> str:
    done = quizapp("take", str(BANK), "--plain", "--json", "--new", lines="a\n" * 20)
    assert done.returncode in (0, 1)
    return str(json.loads(done.stdout)["attempt"])


def test_a_report_is_written_and_never_over_another(quizapp: CommandLine, tmp_path: Path) -> None:
    name = attempt(quizapp)
    out = tmp_path / "report.html"
    done = quizapp("report", name, "--html", str(out))
    assert (done.returncode, done.stdout) == (0, "")
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert 'src="data:image/svg+xml;base64,' in out.read_text(encoding="utf-8")
    out.write_text("mine")
    done = quizapp("report", name, "--html", str(out))
    assert done.returncode == 2
    assert "is there already" in done.stderr
    assert out.read_text() == "mine"
    assert quizapp("report", name, "--html", str(out), "--force").returncode == 0
    assert quizapp("report", name, "--html", "-").stdout == out.read_text(encoding="utf-8")


def test_a_report_says_which_numbers_were_drawn(quizapp: CommandLine) -> None:
    done = quizapp(
        "take", str(BANK.with_name("variables.yaml")), "--plain", "--json", "--seed", "0", lines="112\na\na\n"
    )
    page = quizapp("report", str(json.loads(done.stdout)["attempt"]), "--html", "-").stdout
    assert "drawn: params_b = 13" in page
    assert "13 billion float32 parameters" in page
    assert "Key: <span class=said>208 GB ± 2%</span>" in page
    assert "{{var:" not in page


def test_what_can_not_be_reported_is_said(quizapp: CommandLine, tmp_path: Path) -> None:
    done = quizapp("report", "nowhere", "--html", "-")
    assert done.returncode == 2
    assert "nowhere" in done.stderr
    done = quizapp("report", attempt(quizapp), "--html", str(tmp_path / "no" / "report.html"))
    assert done.returncode == 2
    assert "can't be written" in done.stderr


def test_a_bank_is_reported_by_the_first_attempt_of_each_learner(quizapp: CommandLine) -> None:
    for learner, lines in (("ada", "a\na b\n"), ("ada", "b\na\n"), ("bob", "b\na b\n"), ("eve", "a\n")):
        quizapp("take", "small", "--new", "--learner", learner, lines=lines)
    done = quizapp("report", "small", "--html", "-", "--min-n", "1")
    assert done.returncode == 0
    assert "2; the first finished attempt of each counts" in done.stdout
    assert "<td>first (revision 1)</td><td class=right>2</td><td class=right>50%</td>" in done.stdout
    assert "ada" not in done.stdout
    quizapp.bank.unlink()
    assert quizapp("report", "small", "--html", "bank.html").returncode == 0
    assert "too few" in (quizapp.folder / "bank.html").read_text(encoding="utf-8")
    assert quizapp("report", "neither", "--html", "-").returncode == 2
