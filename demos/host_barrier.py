"""A few ranks do extra work, and the others wait for them in a barrier on the host.

What it shows
    A GPT trains under DistributedDataParallel. Every few steps a quarter of the ranks evaluate the held-out
    data. They stay near 100 %, and compute. The others drop to 0 % for seconds, again and again, and wait
    on the host. Here those at 100 % hold the job up, though nvidia-smi shows what it shows for starved ranks.

Why
    The ranks without anything to evaluate wait in a barrier over gloo. That is a wait of the process: no
    kernel is launched, so the device reads 0 %. The same wait inside NCCL would be a kernel that polls, and
    read 100 %.

Try
    --set evaluate-every=8 halves how often they wait. --set held-out=48 makes each wait shorter than a
    second.

Fix
    Share the extra work: every rank evaluates its part, and the results are added up.

References
    https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.monitored_barrier
    https://docs.pytorch.org/docs/stable/distributed.checkpoint.html
"""

import math

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DistributedSampler

from quizapp.lab import closed_form, kit

DEMO = {
    "title": "Waiting for a few in a barrier on the host",
    "summary": "a few ranks evaluate, the rest wait for them on the host at 0 %",
    "seconds": 14.0,
    "expects": {"fault": "imbalance", "fix": "healthy"},
    "outcomes": {"fault": "completed", "fix": "completed"},
    "params": {
        "evaluate": {
            "type": "choice",
            "choices": ["few", "all"],
            "default": "few",
            "fault": "few",
            "fix": "all",
            "help": "a quarter of the ranks evaluate the held-out data, or each rank its share",
        },
        "evaluate-every": {
            "type": "int",
            "range": [1, 16],
            "unit": "steps",
            "default": 4,
            "help": "steps from one evaluation to the next",
        },
        "held-out": {
            "type": "int",
            "range": [16, 1024],
            "unit": "sequences for every 4 devices",
            "default": 192,
            "help": "size of the held-out data",
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
EVALUATED = 32  # sequences that a device evaluates at once


def main(lab):
    p = lab.params
    plan = lab.plan(p.model)
    lab.launch(
        train,
        ranks=lab.devices,
        plan=plan,
        sequences=p.batch,
        length=LENGTH,
        expected=closed_form.with_evaluation(
            plan,
            p.batch,
            LENGTH,
            every=p.evaluate_every,
            evaluated=[len(share(p, rank, lab.devices)) for rank in range(lab.devices)],
        ),
    )


def train(rank):
    p = rank.params
    model = DistributedDataParallel(
        rank.gpt().to(rank.device), device_ids=rank.device_ids, bucket_cap_mb=rank.bucket_cap_mb
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True)
    rank.watch(model, optimizer)

    corpus = rank.corpus([LENGTH])
    sampler = DistributedSampler(corpus, num_replicas=rank.ranks, rank=rank.index, shuffle=False)
    loader = rank.loader(corpus, sampler=sampler, batch_size=p.batch, workers=1)
    mine = share(p, rank.index, rank.devices)
    held_out = rank.loader(
        corpus, batch_sampler=[mine[i : i + EVALUATED] for i in range(0, len(mine), EVALUATED)]
    )

    for step, (tokens, _, _) in enumerate(rank.steps(loader), start=1):
        loss = model(tokens).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % p.evaluate_every == 0:
            evaluate(rank, model.module, held_out)
            rank.barrier()  # whoever has less to evaluate waits here
        rank.finish_step(loss)


@torch.no_grad()
def evaluate(rank, model, held_out):
    """The mean loss over this rank's share of the held-out data; None when it has none."""
    losses = [model(tokens.to(rank.device)) for tokens, _, _ in held_out]
    return rank.read(torch.cat(losses).mean()) if losses else None


def share(p, rank, devices):
    """The held-out samples, the last of the corpus, that this rank evaluates. The fault is here."""
    few = math.ceil(devices / 4)
    evaluators = few if p.evaluate == "few" else devices
    return list(range(-1 - rank, -1 - p.held_out * few, -evaluators)) if rank < evaluators else []


if __name__ == "__main__":
    kit.run_directly(__file__)
