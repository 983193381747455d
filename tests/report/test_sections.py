"""What a report remembers: the same page again, and another one as soon as anything in it differs."""

from __future__ import annotations

from pathlib import Path

from quizapp.assess.response import Response
from quizapp.report.attempt import attempt_page
from quizapp.report.sections import Sections
from quizapp.store.store import AttemptRecord, Store
from sample_bank import MemoryBank, single


def taken(folder: Path, chosen: str) -> AttemptRecord:
    store = Store.open(folder)
    sitting = store.start(MemoryBank([single("first"), single("second")]), "ada", seed=1)  # type: ignore[arg-type]
    for place in range(2):
        sitting.show(place)
        sitting.respond(place, Response((chosen,)))
        sitting.submit(place)
    sitting.finish()
    sitting.close()
    record = store.show(sitting.attempt_id)
    store.close()
    return record


def page(record: AttemptRecord, folder: Path, address: str = "data:image/png;base64,AA") -> str:
    sections = Sections(folder)
    html = attempt_page(record, when=str, picture=lambda src: address, sections=sections)
    sections.keep()
    return html


def test_a_remembered_page_is_the_page(tmp_path: Path) -> None:
    record = taken(tmp_path / "state", "sync")
    made = attempt_page(record, when=str, picture=lambda src: "data:image/png;base64,AA")
    assert page(record, tmp_path) == made
    # Without its snapshots, no question can be made again: these come out of the cache.
    assert page(record._replace(snapshots={}), tmp_path) == made
    assert "data:image/png;base64,BB" in page(record, tmp_path, "data:image/png;base64,BB")
    other = page(taken(tmp_path / "state", "loader"), tmp_path)
    assert "✗ incorrect" in other
    assert "✓ correct" not in other


def test_a_damaged_or_forbidden_cache_is_done_without(tmp_path: Path) -> None:
    record = taken(tmp_path / "state", "sync")
    made = page(record, tmp_path / "cache")
    file = tmp_path / "cache" / "report-sections.sqlite"
    file.write_bytes(b"something else" * 1000)
    assert page(record, tmp_path / "cache") == made
    in_the_way = tmp_path / "a file"
    in_the_way.write_text("", encoding="utf-8")
    assert page(record, in_the_way / "cache") == made
