"""The checks: what they find, and what they leave alone."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from broken_bank_demos import DEMOS

from quizapp.bank import check
from quizapp.bank.check import check_bank
from quizapp.bank.findings import Finding
from quizapp.bank.load import load_bank

QUESTION = """\
  - id: {id}
    kind: single-choice
    stem: {stem}
    options:
{options}
    explanation: {{short: {short}, full: {full}}}
"""


def bank(tmp_path: Path, *questions: str, head: str = "") -> list[Finding]:
    path = tmp_path / "bank.yaml"
    path.write_text(f"format: 1\ntitle: Bank\n{head}questions:\n{''.join(questions)}", encoding="utf-8")
    return check_bank(load_bank(path), DEMOS)


def question(
    number: int = 0,
    *,
    stem: str = "Which?",
    texts: tuple[str, ...] = ("Alpha", "Beta", "Gamma", "Delta"),
    key: int = 0,
    rationale: str = "Because",
    short: str = "Because",
    full: str = "Because",
) -> str:
    options = "\n".join(
        f"      - {{id: o{place}, text: {text!r}, correct: {'true' if place == key else 'false'},"
        f" rationale: {rationale!r}}}"
        for place, text in enumerate(texts)
    )
    return QUESTION.format(
        id=f"q{number}", stem=repr(stem), options=options, short=repr(short), full=repr(full)
    )


def codes(findings: list[Finding]) -> list[str]:
    return [finding.code for finding in findings]


@pytest.mark.parametrize(
    "text",
    [
        "Option B is wrong",
        "options (C) and more",
        "Answer D",
        "see choice A.",
        "both A and B",
        "neither (A) nor B",
        "as option C, which",
    ],
)
def test_letters_for_options(tmp_path: Path, text: str) -> None:
    assert "letter" in codes(bank(tmp_path, question(rationale=text)))
    assert "letter" in codes(bank(tmp_path, question(full=text)))


@pytest.mark.parametrize(
    "text",
    [
        "option `B` is a flag",
        "The options are many",
        "Plan B and A100 and B200",
        "Option A100 is a GPU",
        "answer A-level questions",
        "the matrices A and B",
        "Vitamin A",
        "option {{opt:o1}}",
        "```\nOption B\n```",
        "an option Beta",
    ],
)
def test_letters_that_name_something_else(tmp_path: Path, text: str) -> None:
    assert codes(bank(tmp_path, question(rationale=text))) == []


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("the first option", "error"),
        ("The answer above is", "error"),
        ("none of the above is true", "error"),
        ("see the options below", "error"),
        ("As said above.", "warning"),
        ("shown below", "warning"),
    ],
)
def test_places_on_the_screen(tmp_path: Path, text: str, severity: str) -> None:
    findings = bank(tmp_path, question(rationale=text))
    assert {finding.severity for finding in findings if finding.code == "position"} == {severity}


@pytest.mark.parametrize(
    "text",
    [
        "utilisation stays above 90 % and below 95 %",
        "98 % and above.",
        "50 % or below, in seconds",
        "above the threshold",
        "the layer below it waits",
        "the first GPU and the last rank",
    ],
)
def test_above_and_below_of_quantities(tmp_path: Path, text: str) -> None:
    assert codes(bank(tmp_path, question(rationale=text))) == []


@pytest.mark.parametrize(
    "text",
    ["All of the above", "None of these", "both of these", "Any of those", "None of the others are right"],
)
def test_all_and_none_of_these_must_be_pinned(tmp_path: Path, text: str) -> None:
    assert codes(bank(tmp_path, question(texts=("Alpha", "Beta", text)))) == ["unpinned"]
    path = tmp_path / "bank.yaml"
    pinned = path.read_text(encoding="utf-8").replace(f"text: '{text}'", f"text: '{text}', pin: last")
    path.write_text(pinned, encoding="utf-8")
    assert check_bank(load_bank(path), DEMOS) == []


def test_all_of_something_is_an_ordinary_option(tmp_path: Path) -> None:
    assert (
        codes(bank(tmp_path, question(texts=("All of the GPUs wait", "None of them waits", "Both wait"))))
        == []
    )


@pytest.mark.parametrize(
    "stem",
    ["Which does not help?", "Which isn't a cause?", "What never helps?", "Which of these cannot be it:"],
)
def test_a_negation_that_is_not_stressed(tmp_path: Path, stem: str) -> None:
    assert codes(bank(tmp_path, question(stem=stem))) == ["negation"]


@pytest.mark.parametrize(
    "stem",
    [
        "Which does **not** help?",
        "Which does NOT help?",
        "Which *isn't* a cause?",
        "The loader does not wait. Which cause is left?",
        "What does `if not x` do?",
        "Which note is right?",
    ],
)
def test_negations_that_are_stressed_or_not_asked(tmp_path: Path, stem: str) -> None:
    assert codes(bank(tmp_path, question(stem=stem))) == []


def test_words_are_only_checked_in_english(tmp_path: Path) -> None:
    findings = bank(tmp_path, question(stem="Was not?", rationale="Option B"), head="language: de\n")
    assert codes(findings) == []


def test_texts_that_only_look_different_are_the_same(tmp_path: Path) -> None:
    (finding,) = bank(tmp_path, question(texts=("Slow  input", "*slow* input", "fast input")))
    assert finding.code == "duplicate-option-text"
    assert "options o0 and o1" in finding.message


def test_a_key_that_is_often_the_longest_option(tmp_path: Path) -> None:
    longer = "Alpha, with reasons and all"
    telling = [question(n, texts=(longer, "Beta", "Gamma", "Delta"), key=0) for n in range(4)]
    head = "take: {shuffle: [options]}\n"
    findings = bank(tmp_path, *telling, head=head)
    assert codes(findings) == ["longest-is-key"]  # 4 of 4, each by chance in 1 of 4: 1 in 256
    assert "in 4 of 4 single-choice questions" in findings[0].message
    assert bank(tmp_path, *telling[:3], head=head) == []  # 1 in 64 is chance
    balanced = [question(n, texts=(longer, "Beta", "Gamma", "Delta"), key=n % 4) for n in range(8)]
    assert bank(tmp_path, *balanced, head=head) == []


def test_a_place_that_gives_the_key_away_unless_options_are_shuffled(tmp_path: Path) -> None:
    alike = [question(n, key=2) for n in range(5)]
    (finding,) = bank(tmp_path, *alike)
    assert (finding.code, finding.severity) == ("position-is-key", "warning")
    assert "place 3 in 5 of 5" in finding.message
    assert bank(tmp_path, *alike, head="take: {shuffle: [options]}\n") == []
    assert bank(tmp_path, *(question(n, key=n % 4) for n in range(12))) == []


def test_long_explanations(tmp_path: Path) -> None:
    (finding,) = bank(tmp_path, question(full="word " * 5000))
    assert finding.code == "long-explanation"
    assert bank(tmp_path, question(full="word " * 4000)) == []


def test_figures_must_be_there_and_inside_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "bank"
    (folder / "figures").mkdir(parents=True)
    (folder / "figures" / "waits.svg").touch()
    (tmp_path / "outside.svg").touch()
    (folder / "link.svg").symlink_to(tmp_path / "outside.svg")

    def said_of(src: str) -> list[str]:
        text = question().replace("full: 'Because'", f"figure: {{src: {src}, alt: A picture}}")
        return [f"{finding.message}; {finding.hint}" for finding in bank(folder, text)]

    assert said_of("figures/waits.svg") == []
    assert said_of("figures/wait.svg") == [
        "there is no file figures/wait.svg; did you mean figures/waits.svg?"
    ]
    assert said_of("figures")[0].startswith("there is no file figures")
    assert said_of("link.svg") == ["link.svg leads out of the bank's folder; copy it there"]


def test_without_a_catalogue_links_to_demos_go_unchecked(tmp_path: Path) -> None:
    text = question().replace("rationale: 'Because'", "rationale: Because, demo: {name: no-such-demo}")
    assert codes(bank(tmp_path, text)) == ["dead-demo"] * 4
    assert check_bank(load_bank(tmp_path / "bank.yaml"), None) == []


def test_says_may_be_quoted_with_or_without_its_markup(tmp_path: Path) -> None:
    def said_of(says: str) -> list[str]:
        where = f"[{{says: {says!r}, meter: util, devices: 2, mean: {{min: 90%}}}}]"
        symptom = f"symptom: {{where: {where}}}\n    options:"
        stem = "**Two** GPUs stay\\n  at `98 %`. Which?"
        text = question(stem="STEM").replace("'STEM'", f'"{stem}"').replace("options:", symptom, 1)
        return codes(bank(tmp_path, text))

    assert said_of("**Two** GPUs stay at `98 %`") == []
    assert said_of("two GPUs stay at 98 %") == []
    assert said_of("Six GPUs") == ["says-not-in-stem"]


def test_findings_come_in_the_order_of_the_file(tmp_path: Path) -> None:
    findings = bank(
        tmp_path, question(0, rationale="Option A"), question(1, stem="Which is not?", full="Option A")
    )
    assert [finding.line for finding in findings] == sorted(finding.line for finding in findings)
    assert len(findings) > 4


def exactly(chance: float, questions: int, at_least: int) -> float:
    return math.fsum(
        math.comb(questions, hits) * chance**hits * (1 - chance) ** (questions - hits)
        for hits in range(at_least, questions + 1)
    )


@pytest.mark.parametrize(("questions", "at_least"), [(1, 1), (4, 4), (20, 10), (400, 120), (800, 229)])
def test_chance_is_reckoned_right(questions: int, at_least: int) -> None:
    reckoned = check._tail([0.25] * questions, at_least)
    assert reckoned == pytest.approx(
        exactly(0.25, questions, at_least), rel=0.15 if questions > 400 else 1e-9
    )
    assert check._tail([0.25] * questions, 0) == pytest.approx(1)


def test_questions_with_few_and_many_options_have_their_own_chances() -> None:
    assert check._tail([0.5, 0.25], 2) == pytest.approx(0.125)
    assert check._tail([0.5, 0.25], 1) == pytest.approx(1 - 0.5 * 0.75)


def test_a_large_bank_is_not_warned_of_what_helps_no_guesser(tmp_path: Path) -> None:
    chances = [0.25] * 10_000
    assert check._tail(chances, 2700) < check.CHANCE
    assert not check._telling(chances, 2700)
    assert check._telling(chances, 3200)


def test_sections_that_can_not_be_drawn_are_told_where_they_stand(tmp_path: Path) -> None:
    head = """objectives: {meters: Read meters}
take:
  sections:
    - {objectives: [meters], count: 3}
    - {objectives: [metres], count: 1}
    - {count: 1, time_budget: 2m}
"""
    asked = [question(number).replace("    stem:", "    objective: meters\n    stem:") for number in range(2)]
    found = sorted(
        (finding.line, finding.code, finding.severity)
        for finding in bank(tmp_path, *asked, question(2), head=head)
    )
    assert found == [
        (6, "small-pool", "error"),
        (7, "small-pool", "error"),
        (7, "unknown-objective", "error"),
        (8, "bad-section", "error"),
        (8, "small-pool", "error"),
        (8, "untimed-pool", "warning"),
    ]
    enough = (
        head.replace("3}", "2}").replace("[metres], count: 1", "[meters]").replace(", time_budget: 2m", "")
    )
    again = bank(tmp_path, *asked, question(2), head=enough.replace("    - {objectives: [meters]}\n", ""))
    assert codes(again) == []
