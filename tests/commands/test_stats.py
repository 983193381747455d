"""`quizapp stats` as trainers meet it."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine

from quizapp.assess.response import Response
from quizapp.bank.library import open_bank
from quizapp.content import content_dir
from quizapp.store.store import Store

BANK = """\
format: 1
title: A few questions
questions:
"""
QUESTION = """\
  - id: {id}
    kind: single-choice
    stem: Which of these is {id}?
    options:
      - {{id: yes-it-is, text: Yes it is, correct: true, rationale: It is}}
      - {{id: maybe, text: Maybe, rationale: It is not}}
      - {{id: never, text: Never, rationale: It is not}}
    explanation: {{short: That is it.}}
"""
IDS = ("plain", "plainer", "plainest", "upside-down", "easy", "hard")
SLOPES = {"plain": 2, "plainer": 2, "plainest": 2, "upside-down": -2, "easy": 0, "hard": 0}
LEVELS = {"easy": 5, "hard": -3}


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    path = tmp_path / "four.yaml"
    path.write_text(BANK + "".join(QUESTION.format(id=name) for name in IDS), encoding="utf-8")
    return path


def responses(learners: int = 400, slopes: dict[str, float] | None = None) -> list[dict[str, Any]]:
    slopes = slopes or dict(SLOPES)
    draw = random.Random(3)
    rows = []
    for number in range(learners):
        ability = draw.gauss(0, 1)
        for name in IDS:
            logit = slopes[name] * ability + LEVELS.get(name, 0)
            right = draw.random() < 1 / (1 + math.exp(-logit))
            wrong = "maybe" if name == "hard" else draw.choice(["maybe", "never"])
            response = "yes-it-is" if right else wrong
            rows.append(
                {"learner": f"l{number}", "question": name, "response": response, "time_s": 5 + draw.random()}
            )
    return rows


def csv_of(path: Path, rows: list[dict[str, Any]]) -> Path:
    lines = [",".join(rows[0]), *(",".join(str(value) for value in row.values()) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def stats(quizapp: CommandLine, *arguments: object) -> dict[str, Any]:
    done = quizapp("stats", *map(str, arguments), "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def question(found: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in found["questions"] if one["question"] == name)


def flags(found: dict[str, Any], name: str) -> set[str]:
    return {flag["name"] for flag in question(found, name)["flags"]}


def test_bad_questions_are_named_in_words(quizapp: CommandLine, bank: Path, tmp_path: Path) -> None:
    file = csv_of(tmp_path / "r.csv", responses())
    found = stats(quizapp, bank, "--from", file)
    assert found["attempts"] == 400
    assert {"key beaten by a distractor", "negative discrimination"} <= flags(found, "upside-down")
    assert flags(found, "easy") == {"too easy"}
    assert {"too hard", "dead distractor"} <= flags(found, "hard")
    assert "key beaten by a distractor" not in flags(found, "plain")
    done = quizapp("stats", str(bank), "--from", str(file))
    assert "key beaten by a distractor" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_the_numbers_are_those_of_the_rows(quizapp: CommandLine, bank: Path, tmp_path: Path) -> None:
    rows = responses()
    found = question(stats(quizapp, bank, "--from", csv_of(tmp_path / "r.csv", rows)), "plain")
    mine = [row for row in rows if row["question"] == "plain"]
    right = sum(row["response"] == "yes-it-is" for row in mine)
    assert found["n"] == 400
    assert found["facility"] == pytest.approx(right / 400, abs=1e-12)
    choosers = {choice["label"]: choice["choosers"] for choice in found["choices"]}
    assert choosers["maybe"] == sum(row["response"] == "maybe" for row in mine)
    size = len(IDS)
    rest = [
        sum(row["response"] == "yes-it-is" for row in rows[start + 1 : start + size]) / (size - 1)
        for start in range(0, len(rows), size)
        if rows[start]["response"] == "never"
    ]
    never = next(choice for choice in found["choices"] if choice["label"] == "never")
    assert never["rest"] == pytest.approx(sum(rest) / len(rest), abs=1e-9)
    times = sorted(row["time_s"] for row in mine)
    assert found["time_s"] == pytest.approx((times[199] + times[200]) / 2, abs=1e-5)


def test_every_kind_of_file_says_the_same(quizapp: CommandLine, bank: Path, tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    rows = responses(120)
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "r.parquet")
    found = [
        stats(quizapp, bank, "--from", path)
        for path in (csv_of(tmp_path / "r.csv", rows), tmp_path / "r.jsonl", tmp_path / "r.parquet")
    ]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("learner,question,points\na,plain,1\na,easy,x\n", ":3: this line has points 'x'"),
        ("learner,question,points\na,plain,2\n", ":2: this line has more points (2) than max_points (1)"),
        ("learner,question,point\na,plain,1\n", "did you mean 'points'?"),
        ("learner,question\na,plain\n", "neither points nor a response"),
        ("learner,question,points\n,plain,1\n", ":2: this line needs a learner"),
        ("learner,question,points\na,plain,1\na,plain,0\n", ":3: a second response of 'a' to 'plain'"),
        ("learner,question,response\na,plain,perhaps\n", ":2: plain: no option 'perhaps'"),
        ("learner,question,response\na,nowhere,maybe\n", ":2: the bank has no question 'nowhere'"),
        ("learner,question,points\na,plain,1,7\n", ":2: this line has more cells"),
        ("learner,question,points\na,plain,nan\n", "which is no number"),
    ],
)
def test_a_faulty_line_is_named(
    quizapp: CommandLine, bank: Path, tmp_path: Path, text: str, said: str
) -> None:
    file = tmp_path / "r.csv"
    file.write_text(text, encoding="utf-8")
    done = quizapp("stats", str(bank), "--from", str(file))
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""


def test_few_learners_are_not_shown(quizapp: CommandLine, bank: Path, tmp_path: Path) -> None:
    file = csv_of(tmp_path / "r.csv", responses(29))
    found = question(stats(quizapp, bank, "--from", file), "hard")
    assert (found["n"], found["suppressed"], found["facility"], found["choices"]) == (29, True, None, [])
    assert found["flags"] == []
    assert "too few to tell" in quizapp("stats", str(bank), "--from", str(file)).stdout
    assert question(stats(quizapp, bank, "--from", file, "--min-n", 29), "hard")["facility"] is not None


def exam(store: Store, bank: Path, learner: str, chosen: str, mode: str = "exam") -> None:
    sitting = store.start(open_bank(bank), learner, mode=mode)
    for place in range(sitting.total):
        sitting.show(place)
        sitting.respond(place, Response((chosen,)))
        if mode != "exam":
            sitting.submit(place)
    sitting.finish()
    sitting.close()


def test_first_exams_in_the_store_count_unless_said_otherwise(quizapp: CommandLine, bank: Path) -> None:
    store = Store.open(quizapp.state)
    for learner in ("ada", "grace"):
        exam(store, bank, learner, "maybe")
        exam(store, bank, learner, "yes-it-is")
    exam(store, bank, "alan", "yes-it-is", mode="practice")
    store.close()

    def facility(*arguments: str) -> tuple[int, float]:
        one = question(stats(quizapp, bank, "--min-n", 2, *arguments), "plain")
        return one["n"], one["facility"]

    assert facility() == (2, 0)
    assert facility("--attempts", "last") == (2, 1)
    assert facility("--attempts", "best") == (2, 1)
    assert facility("--attempts", "all") == (4, 0.5)
    assert facility("--practice") == (3, pytest.approx(1 / 3))


def test_each_revision_is_a_question_by_itself(quizapp: CommandLine, bank: Path) -> None:
    store = Store.open(quizapp.state)
    for learner in ("ada", "grace"):
        exam(store, bank, learner, "maybe")
    bank.write_text(bank.read_text().replace("id: plain\n", "id: plain\n    revision: 2\n"), encoding="utf-8")
    for learner in ("alan", "edsger"):
        exam(store, bank, learner, "yes-it-is")
    store.close()
    found = stats(quizapp, bank, "--min-n", 2)
    both = [(one["revision"], one["facility"]) for one in found["questions"] if one["question"] == "plain"]
    assert both == [(1, 0), (2, 1)]
    assert found["same_set"] is False
    assert found["reliability"] is None


def test_a_doubtful_key_that_stands_on_an_experiment_is_queued(quizapp: CommandLine, tmp_path: Path) -> None:
    multi = open_bank(content_dir("quizzes") / "multi-gpu.yaml")
    rows = []
    draw = random.Random(1)
    for number in range(200):
        ability = draw.gauss(0, 1)
        for name in multi.ids:
            one = multi.question(name)
            if one.kind != "single-choice" or one.verified_by != "experiment":
                continue
            sign = -1 if name == "six-of-eight-idle" else 1
            right = draw.random() < 1 / (1 + math.exp(-2 * sign * ability))
            options = [option.id for option in one.options if bool(option.correct) is right]
            rows.append({"learner": number, "question": name, "response": draw.choice(options)})
    done = quizapp("stats", "multi-gpu", "--from", str(csv_of(tmp_path / "r.csv", rows)))
    assert done.returncode == 0, done.stderr
    assert "1 suspicious key queued: quizapp verify multi-gpu --queued" in done.stderr
    queued = quizapp("verify", "multi-gpu", "--queued", "--budget", "0")
    assert "six-of-eight-idle" in queued.stdout
    assert not [name for name in multi.ids if name != "six-of-eight-idle" and name in queued.stdout]
    # Nothing could be decided in no time: it waits on.
    assert "six-of-eight-idle" in quizapp("verify", "multi-gpu", "--queued", "--budget", "0").stdout


def test_with_nothing_queued_verify_says_so(quizapp: CommandLine) -> None:
    done = quizapp("verify", "multi-gpu", "--queued")
    assert (done.returncode, done.stdout) == (0, "")
    assert "no key of multi-gpu is queued" in done.stderr


def test_a_bank_without_attempts_says_what_to_do(quizapp: CommandLine, bank: Path) -> None:
    done = quizapp("stats", str(bank))
    assert done.returncode == 0
    assert "--from FILE" in done.stderr


def test_without_numpy_there_is_a_hint(quizapp: CommandLine, bank: Path, tmp_path: Path) -> None:
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "numpy.py").write_text("raise ImportError('not here')\n", encoding="utf-8")
    quizapp.environment["PYTHONPATH"] = f"{tmp_path / 'without'}:{quizapp.environment['PYTHONPATH']}"
    done = quizapp("stats", str(bank))
    assert done.returncode == 2
    assert "pip install 'quizapp-lab[stats]'" in done.stderr


def test_a_calibration_is_what_adaptive_attempts_go_by(
    quizapp: CommandLine, bank: Path, tmp_path: Path
) -> None:
    refused = quizapp("take", str(bank), "--mode", "adaptive", lines="a\n")
    assert refused.returncode == 2
    assert "--calibrate" in refused.stderr
    few = quizapp(
        "stats",
        str(bank),
        "--from",
        str(csv_of(tmp_path / "few.csv", responses(50))),
        "--calibrate",
        "x.json",
    )
    assert few.returncode == 2
    assert "needs 100 attempts, there are 50" in few.stderr

    alike = responses(slopes=dict.fromkeys(IDS, 1.5))
    file, out = csv_of(tmp_path / "r.csv", alike), bank.with_suffix(".calibration.json")
    done = quizapp("stats", str(bank), "--from", str(file), "--calibrate", str(out), "--json")
    assert done.returncode == 0
    assert f"{out}: 6 of 6 questions calibrated by 400 attempts" in done.stderr
    found = json.loads(out.read_text())
    places = {each["id"]: each["difficulty"] for each in found["questions"]}
    assert places["easy"] < places["plain"] < places["hard"]

    taken = quizapp(
        "take", str(bank), "--mode", "adaptive", "--length", "3", "--seed", "1", "--json", lines="a\n" * 3
    )
    assert taken.returncode == 0
    body = json.loads(taken.stdout)
    assert (body["mode"], body["total"], body["finished"]) == ("adaptive", 3, True)
    assert body["ability"]["stopped"] == "length"
    assert "Question 2 (3 at most)" in taken.stderr
    assert f"Your ability {body['ability']['ability']:+.2f}" in taken.stderr
    shown = quizapp("results", "show", body["attempt"]).stdout
    assert f"ability {body['ability']['ability']:+.2f}, standard error" in shown
    page = quizapp("report", body["attempt"], "--html", "-").stdout
    assert f"ability {body['ability']['ability']:+.2f}" in page
    assert "0 is the mean of the 400 attempts" in page


def test_the_two_parameter_model_leaves_out_what_misleads(
    quizapp: CommandLine, bank: Path, tmp_path: Path
) -> None:
    file = csv_of(tmp_path / "r.csv", responses(600))
    done = quizapp("stats", str(bank), "--from", str(file), "--model", "2pl", "--calibrate", "c.json")
    assert done.returncode == 0
    found = json.loads((quizapp.folder / "c.json").read_text())
    # Its discrimination is negative: asking it would turn the ability round.
    assert "upside-down" not in {each["id"] for each in found["questions"]}
    assert all(each["discrimination"] > 0 for each in found["questions"])


@pytest.mark.parametrize(
    "arguments", [("--length", "3"), ("--until-se", "0.3"), ("--mode", "adaptive", "--draw", "3")]
)
def test_options_that_do_not_belong_together_are_refused(
    quizapp: CommandLine, arguments: tuple[str, ...]
) -> None:
    done = quizapp("take", "small", *arguments)
    assert done.returncode == 2
    assert "adaptive" in done.stderr
