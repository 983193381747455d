"""Some ranks are fed and wait for the others, which are starved by their own loaders.

What it shows
    A GPT trains under DistributedDataParallel. A quarter of the ranks get their batches in time; they read
    100 %. The others drop to 0 % for seconds in every step, and wait in `next(loader)`. The ones at 0 % hold
    the job up: those at 100 % have done their work and are inside the all-reduce.

Why
    Each rank has its own loader. Where that reads from slow storage, a batch takes longer than a training
    step, and a device without a batch has no kernel to run. The fed ranks launch their all-reduce and poll
    in it until the starved ones come, which counts as busy.

Try
    --set workers=4: four batches come at once, and then none for a second or two. The mean is better, the
    picture the same. --set slow-decode-ms=20 is soon enough for every rank.

Fix
    A loader that keeps up on every rank: the same storage, local copies, more workers where it is slow.

References
    https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading
    https://facebookresearch.github.io/spdl/main/
"""

import math

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DistributedSampler

from quizapp.lab import closed_form, kit

DEMO = {
    "title": "Some ranks are starved of data",
    "summary": "a few fed ranks spin in the all-reduce; those at 0 % hold the job up",
    "seconds": 12.0,
    "expects": {"fault": "input-bound", "fix": "healthy"},
    "outcomes": {"fault": "completed", "fix": "completed"},
    "params": {
        "slow-decode-ms": {
            "type": "float",
            "range": [0, 1000],
            "unit": "ms",
            "default": 400.0,
            "fault": 400.0,
            "fix": 10.0,
            "help": "what a worker spends on one sequence on the ranks with slow storage",
        },
        "decode-ms": {
            "type": "float",
            "range": [0, 1000],
            "unit": "ms",
            "default": 10.0,
            "help": "what it spends on the other ranks",
        },
        "workers": {
            "type": "int",
            "range": [1, 32],
            "unit": "processes",
            "default": 1,
            "help": "loader workers of each rank",
        },
        "model": {
            "type": "choice",
            "choices": ["350M", "760M", "1.3B"],
            "default": "1.3B",
            "help": "size of the model",
        },
        "batch": {
            "type": "int",
            "range": [1, 16],
            "unit": "sequences",
            "default": 8,
            "help": "sequences a device and step",
        },
    },
}

LENGTH = 2048  # tokens a sequence


def main(lab):
    p = lab.params
    plan = lab.plan(p.model)
    slowest_s = max(decode_s(p, rank, lab.devices) for rank in range(lab.devices))
    lab.launch(
        train,
        ranks=lab.devices,
        plan=plan,
        sequences=p.batch,
        length=LENGTH,
        decode_s=slowest_s,
        # Every rank takes part in each all-reduce, so the job is as fast as its slowest loader.
        expected=closed_form.even_ranks(plan, p.batch, LENGTH, decode_s=slowest_s, workers=p.workers),
    )


def train(rank):
    p = rank.params
    model = DistributedDataParallel(
        rank.gpt().to(rank.device), device_ids=rank.device_ids, bucket_cap_mb=rank.bucket_cap_mb
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True)
    rank.watch(model, optimizer)

    corpus = rank.corpus([LENGTH], decode_s=decode_s(p, rank.index, rank.devices))
    sampler = DistributedSampler(corpus, num_replicas=rank.ranks, rank=rank.index, shuffle=False)
    loader = rank.loader(corpus, sampler=sampler, batch_size=p.batch, workers=p.workers)

    for tokens, _, _ in rank.steps(loader):
        loss = model(tokens).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        rank.finish_step(loss)


def decode_s(p, rank, devices):
    """What a worker of this rank spends on one sequence. The fault is here: a quarter has fast storage."""
    fast = math.ceil(devices / 4)
    return (p.decode_ms if rank < fast else p.slow_decode_ms) / 1000


if __name__ == "__main__":
    kit.run_directly(__file__)
