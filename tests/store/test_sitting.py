"""What a learner does is kept, can be gone on with, and is scored by what was shown."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from quizapp.assess.response import Response
from quizapp.assess.scoring import Verdict
from quizapp.bank.model import Section, Take
from quizapp.errors import QuizappError
from quizapp.store.begin import begin
from quizapp.store.clock import learner_day, local, on_screen
from quizapp.store.store import AttemptNotFound, Store
from sample_bank import MemoryBank, multiple, single, three_questions

SHUFFLED = Take(shuffle=("questions", "options"), pass_mark=0.5)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path)


def test_an_attempt_that_was_left_goes_on_where_it_was(store: Store, tmp_path: Path) -> None:
    bank = MemoryBank(three_questions(), take=SHUFFLED)
    sitting = store.start(bank, "ada", seed=3)
    orders = [sitting.option_order(place) for place in range(3)]
    ids = [sitting.question_id(place) for place in range(3)]
    sitting.show(0)
    right = next(option.id for option in sitting.question(0).options if option.correct)
    sitting.respond(0, Response((right,)))
    sitting.submit(0)
    sitting.show(1)
    sitting.respond(1, Response(sitting.option_order(1)[:1]))
    sitting.close()

    found = Store.open(tmp_path).resumable("sample", "ada")
    assert found is not None
    assert (found.position, found.answered, found.total, found.state, found.seed) == (1, 1, 3, "open", 3)
    again = Store.open(tmp_path).resume(found.id, bank)
    assert [again.question_id(place) for place in range(3)] == ids
    assert [again.option_order(place) for place in range(3)] == orders
    assert (again.position, again.open_items(), again.resumed) == (1, [1, 2], True)
    assert again.response(1) == Response(again.option_order(1)[:1])
    assert not again.submitted(1)


def test_responses_can_be_changed_and_cleared_until_they_are_submitted(store: Store) -> None:
    sitting = store.start(MemoryBank([multiple()]), "ada")
    sitting.show(0)
    sitting.respond(0, Response(("no-0",)))
    sitting.respond(0, Response(("key-1", "key-0")))
    assert sitting.response(0) == Response(("key-0", "key-1")), "kept in the order of presentation"
    sitting.clear(0)
    assert sitting.response(0).blank
    sitting.respond(0, Response(("key-0", "key-1")))
    assert sitting.submit(0).verdict is Verdict.CORRECT
    with pytest.raises(ValueError, match="submitted"):
        sitting.respond(0, Response(("no-0",)))
    assert sitting.response(0) == Response(("key-0", "key-1"))
    assert sitting.score(0) is not None


@pytest.mark.parametrize("selected", [("nowhere",), ("key-0", "key-0")])
def test_an_impossible_response_is_refused_and_not_kept(store: Store, selected: tuple[str, ...]) -> None:
    sitting = store.start(MemoryBank([multiple()]), "ada")
    sitting.show(0)
    with pytest.raises(ValueError, match="option"):
        sitting.respond(0, Response(selected))
    assert sitting.response(0).blank


def test_finishing_scores_what_was_given_and_leaves_the_rest_unanswered(store: Store) -> None:
    sitting = store.start(MemoryBank(three_questions()), "ada")
    sitting.show(0)
    sitting.respond(0, Response(("sync",)))
    result = sitting.finish()
    assert (result.points, result.max_points, result.passed) == (1.0, 3.0, False)
    assert result.counts[Verdict.CORRECT] == 1
    assert result.counts[Verdict.UNANSWERED] == 2
    assert sitting.wrong_items() == [1, 2]
    summary = store.attempts("ada")[0]
    assert (summary.state, summary.passed, summary.points) == ("finished", False, 1.0)
    assert summary.finished_at is not None
    assert summary.finished_at.tzinfo is UTC
    assert store.resumable("sample", "ada") is None


def test_looking_at_a_finished_attempt_changes_neither_result_nor_time(store: Store) -> None:
    bank = MemoryBank(three_questions())
    sitting = store.start(bank, "ada")
    sitting.finish()
    before = store.attempts()[0]
    sitting.show(2)
    sitting.predict(2, "sync", "imbalance")
    sitting.demo_ran(2, "sync", {"diagnosis": "imbalance"})
    sitting.close()
    after = store.attempts()[0]
    assert after.finished_at == before.finished_at
    again = store.resume(before.id, None)
    assert again.predictions(0) == [("sync", "imbalance")]
    assert again.runs(0)[0][1] == {"diagnosis": "imbalance"}


def test_an_edited_bank_does_not_change_what_was_shown(store: Store) -> None:
    sitting = store.start(MemoryBank([single("one"), single("two")]), "ada")
    sitting.show(0)
    sitting.close()
    edited = MemoryBank([single("one", stem="Something else?"), single("two", stem="New words?")])
    beginning = begin(store, edited, "ada")
    again = beginning.sitting
    assert again.question(0).stem == "Which cause?"
    assert again.question(1).stem == "New words?"
    assert "changed" in " ".join(beginning.notices)


def test_a_question_that_left_the_bank_unseen_is_left_out_and_a_seen_one_stays(store: Store) -> None:
    sitting = store.start(MemoryBank([single("one"), single("two"), single("three")]), "ada")
    sitting.show(0)
    sitting.respond(0, Response(("sync",)))
    sitting.close()
    beginning = begin(store, MemoryBank([single("three")]), "ada")
    again = beginning.sitting
    assert [again.question_id(place) for place in range(again.total)] == ["one", "three"]
    assert "1 question was taken out" in " ".join(beginning.notices)
    assert again.submit(0).verdict is Verdict.CORRECT
    assert again.finish().max_points == 2.0


def test_an_attempt_outlives_its_bank(store: Store) -> None:
    sitting = store.start(MemoryBank(three_questions()), "ada")
    sitting.show(1)
    sitting.close()
    again = store.resume(sitting.attempt_id, None)
    assert (again.total, again.question(0).id) == (1, "second")
    record = store.show(sitting.attempt_id)
    question = record.question("second")
    assert question is not None
    assert question.stem == "Which changes help?"
    assert record.question("first") is None


def test_one_question_shown_in_many_attempts_is_stored_once(store: Store, tmp_path: Path) -> None:
    import sqlite3

    for _ in range(3):
        sitting = store.start(MemoryBank([single()]), "ada")
        sitting.show(0)
        sitting.show(0)
        sitting.close()
    rows = sqlite3.connect(tmp_path / "attempts.sqlite3").execute("SELECT question FROM snapshots").fetchall()
    assert len(rows) == 1


def test_discarding_keeps_the_attempt_and_offers_it_no_more(store: Store) -> None:
    sitting = store.start(MemoryBank([single()]), "ada")
    sitting.close()
    store.discard(sitting.attempt_id)
    assert store.resumable("sample", "ada") is None
    assert store.attempts()[0].state == "discarded"
    assert begin(store, MemoryBank([single()]), "ada").sitting.attempt_id != sitting.attempt_id


def test_redoing_asks_the_named_questions_only(store: Store) -> None:
    sitting = store.start(MemoryBank(three_questions()), "ada", only=["third", "first"])
    assert [sitting.question_id(place) for place in range(sitting.total)] == ["first", "third"]
    with pytest.raises(QuizappError):
        store.start(MemoryBank(three_questions()), "ada", only=["nowhere"])


def test_learners_do_not_see_each_other(store: Store) -> None:
    bank = MemoryBank([single()])
    store.start(bank, "ada").close()
    store.start(bank, " bob ").close()
    assert [summary.learner for summary in store.attempts("bob")] == ["bob"]
    assert begin(store, bank, "carol").sitting.resumed is False
    with pytest.raises(QuizappError):
        store.start(bank, "  ")


def test_names_and_texts_of_any_kind_are_kept_as_they_are(store: Store) -> None:
    name = "Zoë [/x] \x1b[31m 'quoted' \udcff"
    sitting = store.start(MemoryBank([single(stem="`A[m][k]` <T> \x1b[2J")], title="[b]Ti\x00tle"), name)
    sitting.show(0)
    sitting.close()
    summary = store.attempts()[0]
    assert summary.learner == name.replace("\udcff", "?")
    assert summary.bank_title == "[b]Ti\x00tle"
    question = store.show(summary.id).question("one")
    assert question is not None
    assert question.stem == "`A[m][k]` <T> \x1b[2J"


def test_begin_resumes_unless_told_otherwise(store: Store) -> None:
    bank = MemoryBank(three_questions(), take=SHUFFLED)
    first = begin(store, bank, "ada", seed=5).sitting
    first.show(0)
    first.close()
    for seed in (None, 5):
        again = begin(store, bank, "ada", seed=seed).sitting
        assert (again.attempt_id, again.seed) == (first.attempt_id, 5)
        again.close()
    other = begin(store, bank, "ada", seed=6).sitting
    assert (other.attempt_id == first.attempt_id, other.seed) == (False, 6)
    fresh = begin(store, bank, "ada", fresh=True).sitting
    assert fresh.attempt_id not in (first.attempt_id, other.attempt_id)


def test_two_banks_of_one_name_are_not_mixed_up(store: Store) -> None:
    mine = MemoryBank([single("mine")], path="/mine/sample.yaml")
    yours = MemoryBank([single("yours")], path="/yours/sample.yaml")
    first = begin(store, mine, "ada").sitting
    first.close()
    assert begin(store, yours, "ada").sitting.attempt_id != first.attempt_id
    moved = MemoryBank([single("mine", stem="Edited?")], path="/moved/sample.yaml")
    assert begin(store, moved, "ada").sitting.attempt_id == first.attempt_id


def test_an_attempt_is_found_by_the_beginning_of_its_id(store: Store) -> None:
    sitting = store.start(MemoryBank([single()]), "ada")
    assert store.show(sitting.attempt_id[:5]).summary.id == sitting.attempt_id
    assert store.show(sitting.attempt_id.upper()).summary.id == sitting.attempt_id
    for unknown in ("", "%", "_", "nowhere", "' OR 1 --", "\x00"):
        with pytest.raises(AttemptNotFound):
            store.show(unknown)
    store.start(MemoryBank([single()]), "ada")


def test_in_memory_everything_works_and_nothing_is_said_to_be_saved() -> None:
    store = Store.in_memory()
    sitting = store.start(MemoryBank([single()]), "ada")
    assert sitting.saved is False
    sitting.show(0)
    sitting.respond(0, Response(("sync",)))
    assert sitting.submit(0).points == 1.0
    assert sitting.finish().passed is True
    assert store.attempts("ada")[0].state == "finished"
    sitting.close()


def test_looking_into_an_empty_state_folder_creates_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    assert Store.open_if_there(folder).attempts() == []
    assert not folder.exists()


def test_evidence_adds_up_under_its_key(store: Store) -> None:
    store.remember_evidence({"outcome": "completed"}, key="dp-sync fault")
    store.remember_evidence({"outcome": "crashed"}, key="dp-sync fault")
    assert [record["outcome"] for record in store.evidence("dp-sync fault")] == ["completed", "crashed"]
    assert store.evidence("oom") == []


def test_ten_thousand_questions_start_and_finish() -> None:
    store = Store.in_memory()
    bank = MemoryBank([single(f"q{number}") for number in range(10_000)], take=SHUFFLED)
    sitting = store.start(bank, "ada", seed=1)
    assert len(sitting.open_items()) == 10_000
    assert sitting.finish().counts[Verdict.UNANSWERED] == 10_000


@pytest.mark.parametrize(
    ("moment", "day"),
    [
        # Berlin: the clocks went forward at 2026-03-29 01:00 UTC and back at 2026-10-25 01:00 UTC.
        (datetime(2026, 3, 28, 22, 59, tzinfo=UTC), "2026-03-28"),
        (datetime(2026, 3, 28, 23, 0, tzinfo=UTC), "2026-03-29"),
        (datetime(2026, 3, 29, 21, 59, tzinfo=UTC), "2026-03-29"),
        (datetime(2026, 3, 29, 22, 0, tzinfo=UTC), "2026-03-30"),
        (datetime(2026, 10, 25, 22, 59, tzinfo=UTC), "2026-10-25"),
        (datetime(2026, 10, 25, 23, 0, tzinfo=UTC), "2026-10-26"),
    ],
)
def test_the_learners_day_is_local_and_knows_summer_time(moment: datetime, day: str) -> None:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        zone = ZoneInfo("Europe/Berlin")
    except ZoneInfoNotFoundError:
        pytest.skip("this machine has no time zone database")
    assert learner_day(moment, zone).isoformat() == day


def test_a_time_on_screen_is_local() -> None:
    zone = timezone(timedelta(hours=-3))
    moment = datetime(2026, 3, 1, 1, 5, tzinfo=UTC)
    assert on_screen(moment, zone) == "2026-02-28 22:05"
    assert local(moment, zone) == moment


def test_an_attempt_asks_what_the_bank_draws_and_resumes_with_it(store: Store) -> None:
    questions = [single(f"q{number}") for number in range(9)]
    bank = MemoryBank(questions, take=Take(shuffle=("questions",), sections=(Section(count=4),)))
    drawn = store.start(bank, "ada", seed=5)
    ids = [drawn.question_id(place) for place in range(drawn.total)]
    assert len(ids) == 4
    drawn.close()
    # A draw is made once: with other sections, or none, the attempt goes on as it was.
    again = begin(store, MemoryBank(questions), "ada").sitting
    assert [again.question_id(place) for place in range(again.total)] == ids
    again.close()
    assert begin(store, bank, "ada", draw=6).sitting.total == 6
    other = [store.start(bank, "bob", seed=5).question_id(place) for place in range(4)]
    assert other == ids


def test_a_pool_that_is_too_small_begins_no_attempt(store: Store) -> None:
    bank = MemoryBank(three_questions(), take=Take(sections=(Section(title="Signs", count=4),)))
    with pytest.raises(QuizappError, match="Signs draws 4 questions, and its pool has 3"):
        store.start(bank, "ada")
    with pytest.raises(QuizappError, match=r"5 questions are to be drawn, .* has 3"):
        store.start(bank, "ada", draw=5)
    assert store.attempts() == []
    assert store.start(bank, "ada", draw=2).total == 2
