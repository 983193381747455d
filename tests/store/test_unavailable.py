"""A store that can't be used says so in words, keeps what it had, and the quiz goes on in memory."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import quizapp.bank.snapshot  # the child without privileges may not be able to read it
from child_process import Child
from quizapp.assess.response import Response
from quizapp.store.begin import begin, open_store
from quizapp.store.database import FILE_NAME, StoreUnavailable
from quizapp.store.schema import VERSION
from quizapp.store.store import Store
from sample_bank import MemoryBank, multiple, single

assert quizapp.bank.snapshot

HERE = Path(__file__).resolve().parent
BANK = MemoryBank([multiple()])
NAMESPACE = ("unshare", "--mount", "--map-root-user")


def filled(folder: Path) -> str:
    """A store with one attempt; its id."""
    store = Store.open(folder)
    sitting = store.start(BANK, "ada")
    sitting.show(0)
    sitting.respond(0, Response(("key-0",)))
    sitting.close()
    store.close()
    return sitting.attempt_id


def refusal(folder: Path) -> StoreUnavailable:
    with pytest.raises(StoreUnavailable) as caught:
        use(folder)
    assert caught.value.hint
    return caught.value


def use(folder: Path) -> None:
    store = Store.open(folder)
    store.attempts()
    sitting = store.start(BANK, "ada")
    sitting.show(0)


def test_a_new_store_is_private(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "state"
    before = os.umask(0)
    try:
        store = Store.open(folder)
        sitting = store.start(BANK, "ada")
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert sitting.saved


def test_a_store_that_others_could_read_is_closed_to_them_and_the_users_own_folder_left_alone(
    tmp_path: Path,
) -> None:
    filled(tmp_path)
    tmp_path.chmod(0o755)
    (tmp_path / FILE_NAME).chmod(0o644)
    Store.open(tmp_path)
    assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    place = tmp_path / "state"
    place.write_text("not a folder")
    assert "can't be kept" in refusal(place).message


def test_without_a_store_an_attempt_begins_in_memory_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "state"
    place.write_text("not a folder")
    monkeypatch.setenv("QUIZAPP_STATE_DIR", str(place))
    store, notice = open_store()
    assert notice.startswith("Nothing will be saved.")
    assert str(tmp_path) in notice
    sitting = begin(store, BANK, "ada").sitting
    assert sitting.saved is False
    sitting.show(0)
    assert sitting.submit(0).points == 0


def test_a_store_that_fails_at_the_start_is_replaced_by_memory(tmp_path: Path) -> None:
    store = Store.open(tmp_path)
    db = sqlite3.connect(tmp_path / FILE_NAME)
    db.execute("DROP TABLE events")
    db.close()
    beginning = begin(store, BANK, "ada")
    assert beginning.sitting.saved is False
    assert "Nothing will be saved" in beginning.notices[0]


def without_privileges(folder: Path, work: Callable[[], str]) -> str:
    """What `work` returns in a process that may not write to `folder`."""

    def child(send: Callable[[str], None]) -> None:
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        send(json.dumps(work()))

    process = Child(child)
    got: str = json.loads(process.line())
    assert process.wait() == 0
    return got


def said_by_opening(folder: Path) -> str:
    try:
        store = Store.open(folder)
        store.start(BANK, "ada").close()
    except StoreUnavailable as error:
        return str(error)
    return "opened"


@pytest.fixture
def reachable() -> Path:
    """A folder that every user can reach; pytest's own is closed to others."""
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="quizapp-test-"))
    folder.chmod(0o755)
    yield folder  # type: ignore[misc]
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_a_folder_that_may_not_be_written(reachable: Path) -> None:
    folder = reachable / "state"
    folder.mkdir()
    folder.chmod(0o555)
    said = without_privileges(folder, lambda: said_by_opening(folder))
    assert "can't be kept" in said
    assert "QUIZAPP_STATE_DIR" in said
    assert list(folder.iterdir()) == []


def test_a_store_that_may_be_read_but_not_written(reachable: Path) -> None:
    folder = reachable / "state"
    filled(folder)
    (folder / FILE_NAME).chmod(0o444)
    folder.chmod(0o555)
    before = (folder / FILE_NAME).read_bytes()
    said = without_privileges(folder, lambda: said_by_opening(folder))
    assert "can't be" in said
    assert (folder / FILE_NAME).read_bytes() == before


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).touch()
    filled(tmp_path)
    assert len(Store.open(tmp_path).attempts()) == 1


@pytest.mark.parametrize("content", [b"\x00" * 4096, b"format: 1\ntitle: not a store\n" * 50])
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    assert "damaged" in refusal(tmp_path).message
    assert (tmp_path / FILE_NAME).read_bytes() == content


def test_another_programs_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / FILE_NAME)
    db.executescript("CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('x');")
    db.close()
    before = (tmp_path / FILE_NAME).read_bytes()
    assert "not a quizapp store" in refusal(tmp_path).message
    assert (tmp_path / FILE_NAME).read_bytes() == before
    assert not (tmp_path / (FILE_NAME + "-wal")).exists()


def test_a_newer_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    filled(tmp_path)
    db = sqlite3.connect(tmp_path / FILE_NAME)
    db.execute(f"PRAGMA user_version={VERSION + 1}")
    db.close()
    before = (tmp_path / FILE_NAME).read_bytes()
    error = refusal(tmp_path)
    assert "newer quizapp" in error.message
    assert "Update" in error.hint
    assert (tmp_path / FILE_NAME).read_bytes() == before


@pytest.mark.parametrize("pages", [1, 3, 6])
def test_a_file_cut_short_is_said_to_be_damaged(tmp_path: Path, pages: int) -> None:
    filled(tmp_path)
    with (tmp_path / FILE_NAME).open("r+b") as file:
        file.truncate(pages * 4096 - 100)
    said = refusal(tmp_path)
    assert "damaged" in said.message
    assert "Move it away" in said.hint


def test_a_page_of_garbage_is_said_to_be_damaged(tmp_path: Path) -> None:
    filled(tmp_path)
    size = (tmp_path / FILE_NAME).stat().st_size
    with (tmp_path / FILE_NAME).open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 4096))
    assert "damaged" in refusal(tmp_path).message


def test_a_torn_write_ahead_log_costs_no_more_than_its_torn_end(tmp_path: Path) -> None:
    store = Store.open(tmp_path)
    sitting = store.start(BANK, "ada")
    sitting.show(0)
    sitting.respond(0, Response(("key-0",)))
    copy = tmp_path / "after a power cut"
    copy.mkdir()
    for path in tmp_path.glob(FILE_NAME + "*"):
        if not path.name.endswith("-shm"):
            shutil.copy(path, copy)
    sitting.respond(0, Response(("key-1",)))
    with (tmp_path / (FILE_NAME + "-wal")).open("rb") as whole:
        content = whole.read()
    kept = (copy / (FILE_NAME + "-wal")).stat().st_size
    (copy / (FILE_NAME + "-wal")).write_bytes(content[: kept + 1000])
    record = Store.open(copy).show(sitting.attempt_id)
    assert record.attempt.item("many").response == Response(("key-0",))


def test_an_event_that_this_version_does_not_know_is_said_to_be_one(tmp_path: Path) -> None:
    from quizapp.errors import QuizappError

    attempt_id = filled(tmp_path)
    db = sqlite3.connect(tmp_path / FILE_NAME)
    with db:
        db.execute("INSERT INTO events SELECT attempt, 99, 0, 'teleported', '{}' FROM events LIMIT 1")
    db.close()
    with pytest.raises(QuizappError, match="teleported"):
        Store.open(tmp_path).show(attempt_id)


def test_stored_events_can_not_be_changed(tmp_path: Path) -> None:
    filled(tmp_path)
    db = sqlite3.connect(tmp_path / FILE_NAME)
    with pytest.raises(sqlite3.IntegrityError, match="never changed"):
        db.execute("UPDATE events SET body = '{}'")


def test_a_write_that_hits_a_limit_loses_nothing_and_the_attempt_can_go_on_unsaved(tmp_path: Path) -> None:
    def child(send: Callable[[str], None]) -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        sitting = begin(Store.open(tmp_path), BANK, "ada").sitting
        sitting.show(0)
        wal = (tmp_path / (FILE_NAME + "-wal")).stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (wal + 20_000, wal + 20_000))
        done = 0
        try:
            for number in range(100):
                sitting.respond(0, Response((f"key-{number % 2}",)))
                done += 1
        except StoreUnavailable as error:
            send(json.dumps([done, str(error), sitting.response(0).selected]))
        sitting.keep_unsaved()
        sitting.respond(0, Response(("key-0", "key-1")))
        send(json.dumps([sitting.saved, sitting.submit(0).points]))

    process = Child(child)
    done, said, in_hand = json.loads(process.line())
    assert json.loads(process.line()) == [False, 1.0]
    assert process.wait() == 0
    assert done > 0
    assert str(tmp_path) in said
    again = begin(Store.open(tmp_path), BANK, "ada").sitting
    assert list(again.response(0).selected) == in_hand == [f"key-{(done - 1) % 2}"]
    assert len(again._events) == done + 2


def can_mount() -> bool:
    try:
        return (
            subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False, timeout=30).returncode == 0
        )
    except OSError:
        return False


@pytest.mark.skipif(not can_mount(), reason="no mount namespace here, so no small disk to fill")
@pytest.mark.parametrize("size", ["192k", "256k", "320k"])
def test_a_full_disk_loses_nothing_and_says_that_it_is_full(tmp_path: Path, size: str) -> None:
    script = 'mount -t tmpfs -o size="$1" none "$2" && exec "$3" "$4" "$2"'
    done = subprocess.run(
        [*NAMESPACE, "sh", "-c", script, "sh", size, tmp_path, sys.executable, HERE / "full_disk.py"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(HERE.parent), *filter(None, sys.path)])},
    )
    assert done.returncode == 0, done.stderr
    got = json.loads(done.stdout)
    assert "is full" in got["said"]
    assert got["stored"] == got["acknowledged"]
    assert got["resumed"] == got["in_hand"]
    assert got["same"]
    assert got["goes_on"]


def test_single_questions_are_kept_too(tmp_path: Path) -> None:
    bank = MemoryBank([single()])
    sitting = begin(Store.open(tmp_path), bank, "ada").sitting
    sitting.show(0)
    sitting.respond(0, Response(("sync",)))
    sitting.close()
    assert Store.open(tmp_path).show(sitting.attempt_id).attempt.item("one").response == Response(("sync",))
