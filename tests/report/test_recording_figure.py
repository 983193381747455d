"""A question about a recording in a report: both meters, what was picked, and the key once it may be told."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from quizapp.assess.response import Response
from quizapp.bank.library import open_bank
from quizapp.bank.load import load_bank
from quizapp.bank.model import Reading
from quizapp.report.attempt import attempt_page
from quizapp.report.recording import recording_figure
from quizapp.store.store import Store

READING = Path(__file__).parent.parent / "banks" / "good" / "reading.yaml"


class Found(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.labels: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "svg" and (label := dict(attrs).get("aria-label")):
            self.labels.append(label)

    def handle_data(self, data: str) -> None:
        self.text += f"{data} "


@pytest.fixture(scope="module")
def questions() -> list[Reading]:
    return [question for question in load_bank(READING).bank.questions if isinstance(question, Reading)]


def test_both_meters_are_drawn_and_told_in_words(questions: list[Reading]) -> None:
    found = Found(recording_figure(questions[0], Response(devices=(0,)), told=True))
    assert [label.split(",")[0] for label in found.labels] == ["compute", "as nvidia-smi sees it"]
    assert "device 3 52%, device 4 100%" in found.labels[0]
    assert "8 emulated devices, no GPU was used" in found.text


@pytest.mark.parametrize("place", [0, 1])
def test_the_key_stays_hidden_until_it_may_be_told(questions: list[Reading], place: int) -> None:
    given = [Response(devices=(0,)), Response(span_s=(1.0, 2.0))][place]
    before = Found(recording_figure(questions[place], given, told=False)).text.split()
    after = Found(recording_figure(questions[place], given, told=True)).text.split()
    assert "you" in before
    assert "key" not in before
    assert after.count("key") == 2  # one in each meter


def test_an_attempt_outlives_its_bank_and_its_recording(tmp_path: Path) -> None:
    bank, run = tmp_path / "reading.yaml", tmp_path / "recordings" / "slow.jsonl"
    run.parent.mkdir()
    bank.write_bytes(READING.read_bytes())
    run.write_bytes((READING.parent / "recordings" / "slow.jsonl").read_bytes())
    store = Store.open(tmp_path / "state")
    sitting = store.start(open_bank(bank, cache=tmp_path / "cache"), "ada")
    sitting.show(0)
    sitting.respond(0, Response(devices=(4,)))
    sitting.submit(0)
    sitting.show(1)
    sitting.respond(1, Response(span_s=(0.2, 0.55)))
    bank.unlink()
    run.unlink()
    sitting.finish()
    sitting.close()
    page = Found(attempt_page(store.show(sitting.attempt_id), when=str))
    store.close()
    assert len(page.labels) == 4
    assert "✓ correct, 2 of 2 points" in page.text
    assert "Response:  0.2-0.55 s" in page.text
    assert "◐ partial, 0.5 of 1 points" in page.text
