"""Memory: the emulated allocator's books, and the prediction of a step's peak."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest

from quizapp.lab.allocator import GIB, DeviceMemory
from quizapp.lab.shape import SIZES

torch = pytest.importorskip("torch", reason="needs torch")


class Refused(Exception):
    pass


def refuse(message: str) -> NoReturn:
    raise Refused(message)


def test_the_books_know_what_is_held_and_what_was_the_most() -> None:
    memory = DeviceMemory("GPU 0", 10 * GIB, GIB, refuse)
    memory.alloc("activations", 4 * GIB)
    memory.alloc("gradients", 2 * GIB)
    assert memory.free("activations", 4 * GIB) == 3 * GIB
    assert memory.peak_bytes == 7 * GIB
    assert memory.peak == {"activations": 4 * GIB, "gradients": 2 * GIB}
    with pytest.raises(ValueError, match="gradients: more is freed"):
        memory.free("gradients", 3 * GIB)


def test_a_request_beyond_the_capacity_is_refused_in_the_allocator_s_words_and_changes_nothing() -> None:
    memory = DeviceMemory("Emulated GPU 3", 10 * GIB, GIB, refuse)
    memory.alloc("activations", 8 * GIB)
    with pytest.raises(Refused) as refused:
        memory.alloc("temporaries", 2 * GIB)
    assert str(refused.value).startswith(
        "Tried to allocate 2.00 GiB. Emulated GPU 3 has a total capacity of 10.00 GiB "
        "of which 1.00 GiB is free."
    )
    assert memory.used_bytes == 9 * GIB
    memory.alloc("temporaries", GIB)


def test_the_emulated_refusal_is_torch_s_own_error() -> None:
    from quizapp.lab import emulated

    with pytest.raises(torch.OutOfMemoryError, match="Emulated device out of memory"):
        emulated.refuse("Tried to allocate 1.00 GiB.")


@pytest.mark.parametrize("checkpointing", [False, True])
def test_two_shallow_models_predict_the_deep_one(checkpointing: bool) -> None:
    from quizapp.lab import memory

    shape = SIZES["125M"]
    whole = memory.probe(shape, shape.layers, 8, 1024, checkpointing=checkpointing)
    predicted = memory.predict(shape, 8, 1024, checkpointing=checkpointing)
    by_hand = predicted.categories["context"]
    largest = max(sum(categories.values()) for categories in whole.values())
    assert predicted.peak_bytes - by_hand == pytest.approx(largest, rel=1e-3)


@pytest.mark.parametrize(("name", "sequences", "length"), [("125M", 8, 1024), ("1.3B", 2, 2048)])
@pytest.mark.parametrize("checkpointing", [False, True])
def test_the_shape_s_bytes_are_those_that_memtracker_finds(
    name: str, sequences: int, length: int, checkpointing: bool
) -> None:
    """The emulated books are kept by these formulas; a wrong constant would show here."""
    from quizapp.lab import memory

    shape = SIZES[name]
    found = memory.predict(shape, sequences, length, checkpointing=checkpointing)
    blocks = shape.layers * shape.block_kept_bytes(sequences, length, checkpointing=checkpointing)
    activations = blocks + shape.head_kept_bytes(sequences, length)
    backward = 3 * shape.parameter_bytes + activations + shape.head_backward_bytes(sequences, length)
    optimizer = 5 * shape.parameter_bytes
    assert found.peak_bytes - found.categories["context"] == pytest.approx(max(backward, optimizer), rel=0.03)


def test_a_7b_model_is_predicted_not_to_fit_in_its_optimizer_step() -> None:
    from quizapp.lab import memory

    predicted = memory.predict(SIZES["7B"], 1, 2048, checkpointing=True, ranks=8)
    assert not predicted.fits
    assert predicted.phase == "optimizer"
    assert predicted.categories["gradient buckets"] == SIZES["7B"].parameter_bytes


def test_a_prediction_is_kept_and_a_damaged_or_unwritable_cache_is_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from quizapp.lab import memory

    first = memory.predict_cached(SIZES["tiny"], 1, 256, folder=tmp_path / "memory")
    (path,) = (tmp_path / "memory").iterdir()
    with monkeypatch.context() as patched:
        patched.setattr(memory, "predict", lambda *_, **__: pytest.fail("the cache was not used"))
        assert memory.predict_cached(SIZES["tiny"], 1, 256, folder=tmp_path / "memory") == first
    path.write_text("{")
    assert memory.predict_cached(SIZES["tiny"], 1, 256, folder=tmp_path / "memory") == first
    assert path.read_text() != "{"
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert memory.predict_cached(SIZES["tiny"], 1, 256, folder=blocked / "memory") == first
