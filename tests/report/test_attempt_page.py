"""The report of an attempt: all of it is there, in order, and nothing in it can act."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from quizapp.assess.response import Response
from quizapp.bank.load import load_bank
from quizapp.bank.model import Question
from quizapp.report.attempt import attempt_page
from quizapp.store.sitting import Sitting
from quizapp.store.store import AttemptRecord, Store
from sample_bank import MemoryBank, option, single

KINDS = Path(__file__).parent.parent / "banks" / "good" / "kinds.yaml"


class Page(HTMLParser):
    """What a browser would find: tags with their attributes, and all text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "img", "hr", "rect"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag != "rect":
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.text += " ".join(data.split()) + " "

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def taken(tmp_path: Path, questions: list[Question], responses: list[Response]) -> AttemptRecord:
    store = Store.open(tmp_path)
    sitting = store.start(MemoryBank(questions), "ada <b>", seed=7)  # type: ignore[arg-type]
    for place, response in enumerate(responses):
        sitting.show(place)
        if not response.blank:
            sitting.respond(place, response)
        sitting.submit(place)
    finish(sitting)
    record = store.show(sitting.attempt_id)
    store.close()
    return record


def finish(sitting: Sitting) -> None:
    sitting.finish()
    sitting.close()


@pytest.fixture
def every_kind(tmp_path: Path) -> AttemptRecord:
    questions = list(load_bank(KINDS).bank.questions)
    given = {
        "adamw-bytes": Response(text="84 GB"),
        "launcher": Response(text="torchrun"),
        "dp-one-process": Response(("false",)),
        "which-are-collectives": Response(("all-reduce", "matmul")),
        "step-order": Response(("forward", "backward", "optimizer", "all-reduce")),
        "who-runs": Response(pairs=(("dp", "dp"), ("ddp", "none"))),
    }
    return taken(tmp_path, questions, [given.get(question.id, Response()) for question in questions])


def shown(record: AttemptRecord) -> str:
    return attempt_page(record, when=lambda moment: f"{moment:%Y-%m-%d}")


def test_every_question_has_its_response_key_verdict_rule_and_reason(every_kind: AttemptRecord) -> None:
    page = Page(shown(every_kind))
    for words in (
        "✗ incorrect, -0.5 of 2 points",
        "Response: 84 GB",
        "Key: 112 GB ± 2%",
        "AdamW keeps two moments.",
        "Four numbers of 4 bytes for each parameter.",
        "✓ correct, 1 of 1 points",
        "Key: torchrun or python -m torch.distributed.run",
        "○ unanswered, 0 of 1 points",
        "(right, you chose it)",
        "(wrong, you chose it)",
        "It runs on one device.",
        "a wrong response costs 25% of the points, a blank one nothing",
        "Buckets are reduced while the backward pass goes on",
        "◐ partial",
    ):
        assert words in page.text, words
    assert len(page.all("article")) == 9
    assert re.search(r"revision 1, content [0-9a-f]{12}", page.text)


def test_the_head_says_who_what_and_from_which_seed(every_kind: AttemptRecord) -> None:
    page = Page(shown(every_kind))
    for words in ("ada <b>", "practice, drawn from seed 7", "the mark is 50%", every_kind.summary.id):
        assert words in page.text
    assert "When each question was shown and handed in" in page.text


def test_it_needs_no_network_and_runs_nothing(every_kind: AttemptRecord) -> None:
    html = shown(every_kind)
    page = Page(html)
    assert page.open == []
    assert "default-src 'none'" in str(page.all("meta"))
    assert not {"script", "iframe", "object", "link", "form"} & {tag for tag, _ in page.tags}
    for _, attributes in page.tags:
        assert not any(name.startswith("on") for name in attributes)
    assert "url(" not in html
    assert "@import" not in html


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    bad = "<script>alert(1)</script> \x1b[31m [x](javascript:alert(1)) ![y](https://example.org/y.png)"
    hostile = replace(option("a", correct=True, text=bad), rationale=bad)
    question = replace(single("bad", stem=bad), options=(hostile, option("b")))
    html = shown(taken(tmp_path, [question], [Response(("a",))]))
    page = Page(html)
    assert "<script>alert(1)</script>" in page.text
    assert "\x1b" not in html
    assert not page.all("script")
    assert not page.all("img")
    assert not any("javascript" in str(attributes.get("href")) for attributes in page.all("a"))


def test_a_figure_comes_as_data_with_its_words(every_kind: AttemptRecord, tmp_path: Path) -> None:
    bank = KINDS.parent / "everything.yaml"
    question = next(q for q in load_bank(bank).bank.questions if q.explanation.figure)
    record = taken(tmp_path / "second", [question], [Response()])
    html = attempt_page(record, when=str, picture=lambda src: "data:image/svg+xml;base64,AAAA")
    (image,) = Page(html).all("img")
    assert image["src"] == "data:image/svg+xml;base64,AAAA"
    assert question.explanation.figure
    assert question.explanation.figure.alt.split()[0] in Page(html).text


def test_headings_and_tables_can_be_walked_by_ear(every_kind: AttemptRecord) -> None:
    page = Page(shown(every_kind))
    assert len(page.all("h1")) == 1
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h[1-6]", tag)]
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert len(page.all("caption")) == len(page.all("table"))
    assert all(attributes.get("scope") for attributes in page.all("th"))
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert page.all("html")[0]["lang"] == "en"


def test_points_have_their_interval_and_times_their_picture(every_kind: AttemptRecord) -> None:
    html = shown(every_kind)
    page = Page(html)
    assert re.search(r"of [\d.]+, \d+ questions? \(\d+ ?%? ?(to|–|-) ?\d+ ?%\)", page.text), page.text[:900]
    assert len(page.all("svg")) == 2
    assert {attributes["role"] for attributes in page.all("svg")} == {"img"}
    assert html.count('class="bar"') >= 9
