"""The loader: when batches are ready, and that real ones carry their planned decoding."""

from __future__ import annotations

import pytest

from quizapp.lab.workers import WorkerQueue

torch = pytest.importorskip("torch", reason="needs torch")


def waits(workers: int, decode_s: float, step_s: float, batches: int, prefetch: int = 2) -> list[float]:
    """How long a loop waits for each of its batches."""
    queue, now_s, waited = WorkerQueue(workers, prefetch), 0.0, []
    for _ in range(batches):
        ready_s = queue.ready_s(decode_s)
        waited.append(max(0.0, ready_s - now_s))
        now_s = max(now_s, ready_s)
        queue.taken(now_s)
        now_s += step_s
    return waited


def test_one_slow_worker_makes_every_step_wait() -> None:
    assert waits(1, 1.0, 0.25, 5) == pytest.approx([1.0, 0.75, 0.75, 0.75, 0.75])


def test_enough_workers_are_ahead_after_the_first_batch() -> None:
    assert waits(4, 1.0, 0.3, 12)[1:] == pytest.approx([0.0] * 11)


def test_workers_decode_side_by_side_so_batches_come_in_bunches() -> None:
    assert waits(2, 1.0, 0.1, 6) == pytest.approx([1.0, 0.0, 0.8, 0.0, 0.8, 0.0])


def test_a_worker_stops_ahead_of_the_loop_at_the_prefetch_limit() -> None:
    queue = WorkerQueue(1, prefetch=2)
    assert [queue.ready_s(1.0), queue.ready_s(1.0)] == [1.0, 2.0]
    queue.taken(10.0)
    assert queue.ready_s(1.0) == 11.0


def test_real_workers_deliver_batches_that_carry_their_decoding() -> None:
    from quizapp.lab.loader import Corpus, make_loader

    corpus = Corpus([3, 5], vocabulary=7, decode_s=0.25, size=8)
    for workers in (0, 1):
        batches = list(make_loader(corpus, batch_size=4, real_workers=workers))
        assert len(batches) == 2
        for tokens, lengths, decode_s in batches:
            assert tokens.shape == (4, 6)
            assert lengths.tolist() == [3, 5, 3, 5]
            assert decode_s == 1.0
            assert int(tokens.max()) < 7


def test_the_loop_waits_for_planned_decoding_in_logical_time_alone() -> None:
    from quizapp.lab.driver import Driver
    from quizapp.lab.emulated import refuse
    from quizapp.lab.loader import Corpus, emulated_batches, make_loader
    from quizapp.lab.plan import Plan
    from quizapp.lab.shape import SIZES
    from quizapp.lab.timeline import DATA

    driver = Driver(Plan.of(SIZES["tiny"], 1), [0], 0.1, refuse)
    loader = make_loader(Corpus([4], 7, decode_s=1000.0, size=8), batch_size=4, real_workers=0)
    assert len(list(emulated_batches(loader, driver, workers=1))) == 2
    assert driver.host.now_s == 8000
    assert sum(end - start for start, end in driver.host.waits[DATA]) == 8000


def test_on_real_devices_decoding_takes_real_time() -> None:
    import time

    from quizapp.lab.loader import Corpus

    began_s = time.thread_time()
    Corpus([4], 7, decode_s=0.02, really=True)[0]
    assert time.thread_time() - began_s >= 0.02
