"""Slowing a real device down runs a block's kernels again, and changes nothing that it computes."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs torch")


@pytest.mark.parametrize("slowdown", [1.0, 1.5, 2.0, 3.25])
def test_forward_and_backward_are_run_so_many_times_and_nothing_changes(slowdown: float) -> None:
    from quizapp.lab.gpt import Block
    from quizapp.lab.throttle import slow_down

    torch.set_num_threads(1)
    torch.manual_seed(0)
    block = Block(16, 2)
    x = torch.randn(8, 4, 16)

    def train() -> list[torch.Tensor]:
        block.zero_grad()
        output = block(x)
        output.square().mean().backward()
        return [output, *(parameter.grad for parameter in block.parameters())]

    usual = train()
    rows: list[int] = []
    unhooked = block.forward
    block.forward = lambda given: rows.append(len(given)) or unhooked(given)
    slow_down(block, slowdown)
    for slowed, before in zip(train(), usual, strict=True):
        assert torch.equal(slowed, before)
    # One forward of 8 rows, and a backward that is worth two of them.
    assert sum(rows) - 8 == pytest.approx(3 * 8 * (slowdown - 1))
