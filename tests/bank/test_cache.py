"""The compiled cache: quick when it is fresh, never trusted otherwise, never needed."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quizapp.bank import cache as bank_cache
from quizapp.bank import load
from quizapp.bank.library import OpenBank, open_bank
from quizapp.bank.load import load_bank

EVERYTHING = Path(__file__).parent.parent / "banks" / "good" / "everything.yaml"
AN_HOUR_NS = 3_600_000_000_000


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    path = tmp_path / "bank.yaml"
    path.write_bytes(EVERYTHING.read_bytes())
    return path


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The paths that were loaded from YAML, in order."""
    seen: list[Path] = []
    whole = load.load_bank

    def counted(path: Path) -> load.LoadedBank:
        seen.append(path)
        return whole(path)

    monkeypatch.setattr(load, "load_bank", counted)
    return seen


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long after the bank was written, so that its times prove that it didn't change."""
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + AN_HOUR_NS)


def contents(bank: OpenBank) -> tuple[object, ...]:
    facts = (bank.id, bank.hash, bank.title, bank.language, bank.description, bank.license, bank.points)
    parts = (dict(bank.objectives), bank.take, bank.demos, bank.ids, tuple(bank.rows))
    return (*facts, *parts, tuple(bank.question(question_id) for question_id in bank.ids))


def cached(cache: Path, bank: Path) -> Path:
    return bank_cache.cache_file(cache, bank)


@pytest.mark.usefixtures("later")
def test_a_bank_that_was_seen_is_the_same_bank_without_loading(bank: Path, loads: list[Path]) -> None:
    fresh = contents(open_bank(bank))
    assert contents(open_bank(bank)) == fresh
    assert loads == [bank]
    loaded = load_bank(bank)
    assert fresh[-1] == loaded.bank.questions
    assert fresh[1] == loaded.hash


def test_rows_say_what_the_questions_are(bank: Path) -> None:
    for opened in (open_bank(bank), open_bank(bank)):
        first, second = opened.rows
        assert opened.rows[1] == second == opened.row("second-question") == opened.rows[-1]
        assert opened.rows[0:1] == (first,)
        assert first.option_ids == ("a", "b", "none-of-these")
        assert first.pins == {"none-of-these": "last"}
        assert (first.kind, first.objective, first.revision) == ("single-choice", "utilisation", 3)
        assert (first.points, first.demos, first.target_time_s) == (2.5, 2, 90.0)
        assert (second.objective, second.target_time_s) == ("memory", None)
        with pytest.raises(KeyError):
            opened.question("none-such")


@pytest.mark.usefixtures("later")
def test_an_edited_bank_is_loaded_again(bank: Path, loads: list[Path]) -> None:
    open_bank(bank)
    bank.write_text(bank.read_text(encoding="utf-8").replace("Which two?", "Which 2??"), encoding="utf-8")
    assert open_bank(bank).question("second-question").stem == "Which 2??"
    assert len(loads) == 2


def test_an_edit_within_the_clocks_tick_is_seen(bank: Path, loads: list[Path]) -> None:
    """Same size, and times put back: only the content tells."""
    open_bank(bank)
    before = bank.stat()
    bank.write_text(bank.read_text(encoding="utf-8").replace("Which two?", "Which 2??"), encoding="utf-8")
    os.utime(bank, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert open_bank(bank).question("second-question").stem == "Which 2??"
    assert len(loads) == 2


@pytest.mark.usefixtures("later")
def test_a_touched_bank_is_recognised_by_its_content(
    bank: Path, cache: Path, loads: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_bank(bank)
    os.utime(bank)
    open_bank(bank)
    assert len(loads) == 1
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} was read"))
    assert open_bank(bank).title  # it was stamped again, and its times prove it now
    assert cached(cache, bank).exists()


def test_two_banks_of_one_name_have_two_caches(tmp_path: Path, cache: Path) -> None:
    titles = []
    for folder in ("one", "two"):
        path = tmp_path / folder / "bank.yaml"
        path.parent.mkdir()
        path.write_text(
            EVERYTHING.read_text(encoding="utf-8").replace("Everything", folder), encoding="utf-8"
        )
        titles.append(open_bank(path).title)
    assert titles[0] != titles[1]
    assert len(list((cache / "banks").iterdir())) == 2


def rewrite(statement: str) -> Callable[[Path], None]:
    def damage(file: Path) -> None:
        with contextlib.closing(sqlite3.connect(file)) as connection, connection:
            connection.execute(statement)

    return damage


def overwrite(content: bytes) -> Callable[[Path], None]:
    return lambda file: file.write_bytes(content) and None


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize(
    "damage",
    [
        overwrite(b""),
        overwrite(b"no database at all, but long enough to be looked into" * 100),
        lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]) and None,
        rewrite("UPDATE bank SET version = '0.0.1/1'"),
        rewrite("UPDATE bank SET path = '/elsewhere'"),
        rewrite('UPDATE bank SET facts = \'{"title": "lies"}\''),
        rewrite("UPDATE bank SET ids = 'one'"),
        rewrite("UPDATE question SET points = 99"),
        rewrite("UPDATE question SET option_ids = 'a b'"),
        rewrite("UPDATE body SET json = replace(json, 'Which', 'Witch')"),
        rewrite("UPDATE body SET json = x'ff'"),
        rewrite("DELETE FROM question WHERE position = 1"),
        rewrite("DELETE FROM body"),
        rewrite("DELETE FROM bank"),
        rewrite("DROP TABLE question"),
        rewrite("PRAGMA application_id = 7"),
        rewrite("INSERT INTO bank SELECT * FROM bank"),
    ],
)
def test_damage_is_noticed_and_repaired(bank: Path, cache: Path, damage: Callable[[Path], None]) -> None:
    fresh = contents(open_bank(bank))
    damage(cached(cache, bank))
    assert contents(open_bank(bank)) == fresh
    open_bank(bank)
    assert contents(open_bank(bank)) == fresh


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
@pytest.mark.usefixtures("later")
def test_any_flipped_byte_leaves_the_bank_as_it_is(bank: Path, cache: Path, data: st.DataObject) -> None:
    fresh = contents(open_bank(bank))
    file = cached(cache, bank)
    content = bytearray(file.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    file.write_bytes(content)
    assert contents(open_bank(bank)) == fresh


@pytest.mark.usefixtures("later")
def test_damage_that_shows_while_a_bank_is_taken_is_survived(bank: Path, cache: Path) -> None:
    fresh = contents(open_bank(bank))
    opened = open_bank(bank)
    rewrite("DELETE FROM body")(cached(cache, bank))
    rewrite("DELETE FROM question")(cached(cache, bank))
    assert contents(opened) == fresh


@pytest.mark.usefixtures("later")
def test_a_bank_that_is_deleted_while_it_is_taken_can_be_taken_on(bank: Path) -> None:
    fresh = contents(open_bank(bank))
    opened = open_bank(bank)
    bank.unlink()
    assert contents(opened) == fresh


def test_a_file_in_place_of_the_folder(bank: Path, cache: Path, loads: list[Path]) -> None:
    cache.write_text("in the way")
    assert open_bank(bank).title == open_bank(bank).title
    assert len(loads) == 2


def test_a_full_disk(bank: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(bank_cache, "_write", full)
    assert open_bank(bank).title.startswith("Everything")
    assert list((cache / "banks").iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to every folder")
@pytest.mark.usefixtures("later")
def test_a_folder_that_can_only_be_read_still_serves(bank: Path, cache: Path, loads: list[Path]) -> None:
    fresh = contents(open_bank(bank))
    (cache / "banks").chmod(0o500)
    try:
        assert contents(open_bank(bank)) == fresh
        bank.write_text(
            bank.read_text(encoding="utf-8").replace("Which two?", "Which pair?"), encoding="utf-8"
        )
        assert open_bank(bank).question("second-question").stem == "Which pair?"
    finally:
        (cache / "banks").chmod(0o700)
    assert len(loads) == 2


def test_names_that_mean_something_in_addresses(tmp_path: Path) -> None:
    path = tmp_path / "50% done? #1 é.yaml"
    path.write_bytes(EVERYTHING.read_bytes())
    assert open_bank(path).title == open_bank(path).title


def test_the_warm_path_imports_neither_yaml_nor_pydantic_nor_markdown_it(bank: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from quizapp.bank.library import open_bank\n"
        "from quizapp.bank.documents import document\n"
        f"bank = open_bank(Path({str(bank)!r})); question = bank.question(bank.ids[0])\n"
        "document(question.stem); [document(option.text) for option in question.options]\n"
        "heavy = {'yaml', 'pydantic', 'pydantic_core', 'markdown_it', 'textual', 'rich'}\n"
        "print(*sorted(heavy & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    heavy = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
        ).stdout.split()
        for _ in range(2)
    ]
    assert "yaml" in heavy[0]
    assert heavy[1] == []
