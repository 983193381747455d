"""Finding and listing banks."""

from __future__ import annotations

from pathlib import Path

import pytest

from quizapp.bank.findings import BankError, BankNotFound
from quizapp.bank.library import bank_folders, find_bank, list_banks, open_bank
from quizapp.content import content_dir

BANKS = Path(__file__).parent.parent / "banks"
MINIMAL = (BANKS / "good" / "minimal.yaml").read_text(encoding="utf-8")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("QUIZAPP_BANKS", raising=False)
    return folder


def put(folder: Path, name: str, text: str = MINIMAL) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_folders_are_here_then_named_then_shipped(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert bank_folders() == [content_dir("quizzes")]
    (here / "quizzes").mkdir()
    (here / "more").mkdir()
    monkeypatch.setenv("QUIZAPP_BANKS", "more:missing::quizzes")
    assert bank_folders() == [Path("quizzes"), Path("more"), content_dir("quizzes")]


def test_a_bank_is_found_by_its_id_nearest_first(here: Path) -> None:
    with pytest.raises(BankNotFound):
        find_bank("mine")
    put(here / "quizzes", "mine.yml")
    assert find_bank("mine") == Path("quizzes/mine.yml")
    put(here, "mine.yaml")
    assert find_bank("mine") == Path("mine.yaml")


def test_a_bank_is_found_by_any_path(here: Path, tmp_path: Path) -> None:
    put(tmp_path / "else where", "b [1].yaml")
    assert find_bank("../else where/b [1].yaml") == Path("../else where/b [1].yaml")
    put(here, "no-suffix")
    assert find_bank("no-suffix") == Path("no-suffix")


def test_the_nearest_id_is_offered(here: Path) -> None:
    put(here / "quizzes", "gpu-basics.yaml")
    with pytest.raises(BankNotFound, match="there is no bank gpu-basic") as caught:
        find_bank("gpu-basic")
    assert caught.value.hint == "did you mean gpu-basics?"


@pytest.mark.parametrize("ref", ["", "\0", "a\0b", "../../nothing.yaml", "x" * 5000, "/dev/null/x.yaml"])
def test_odd_names_are_just_not_found(here: Path, ref: str) -> None:
    with pytest.raises(BankNotFound):
        find_bank(ref)


def test_every_bank_is_listed_broken_ones_with_their_first_error(here: Path) -> None:
    put(here / "quizzes", "good.yaml")
    put(here / "quizzes", "broken.yaml", MINIMAL.replace("correct: true, ", ""))
    put(here / "quizzes", ".hidden.yaml")
    put(here / "quizzes", "notes.txt")
    put(here, "loose.yaml", "# yaml-language-server: $schema=bank.schema.json\n" + MINIMAL)
    put(here, "docker-compose.yaml", "services: {web: {image: x}}\n")
    entries = {entry.id: entry for entry in list_banks() if entry.path.parent != content_dir("quizzes")}
    assert list(entries) == ["broken", "good", "loose"]
    assert (entries["good"].title, entries["good"].questions, entries["good"].error) == ("Minimal", 1, "")
    assert entries["broken"].errors == 1
    assert "quizzes/broken.yaml:8:7: question one, options: no option is the key" in entries["broken"].error


def test_a_list_counts_questions_and_different_demos() -> None:
    entries = {entry.id: entry for entry in list_banks([BANKS / "good"])}
    everything = entries["everything"]
    assert (everything.questions, everything.demos) == (2, 1)
    assert (everything.pass_mark, everything.time_limit_s) == (0.625, 5400.0)


def test_a_list_survives_every_broken_bank() -> None:
    entries = {entry.id: entry for entry in list_banks([BANKS / "broken"])}
    takeable = {"content", "draws", "longest-key", "same-place", "unfair"}
    assert {bank_id for bank_id, entry in entries.items() if not entry.error} == takeable
    assert len(entries) == len(list((BANKS / "broken").glob("*.yaml")))


def test_opening_a_broken_bank_says_all_that_is_wrong() -> None:
    with pytest.raises(BankError) as caught:
        open_bank(BANKS / "broken" / "keys.yaml")
    assert len(caught.value.findings) == 8


def test_opening_nothing() -> None:
    with pytest.raises(BankNotFound):
        open_bank(Path("/nowhere/at-all.yaml"))
