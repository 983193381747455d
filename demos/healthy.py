"""Data-parallel training as it should be: every device computes nearly all of the time.

What it shows
    A GPT trains under DistributedDataParallel, one process a device. Each rank has its own share of the data
    and enough loader workers. All devices compute nearly all the time, none waits, and all hold the same
    memory.

Why
    Every rank does the same amount of work, the loader is ahead of the loop, kernels are long enough that the
    host launches ahead of the device, and the all-reduce of the gradients hides behind the backward.

Try
    --set workers=1 --set decode-ms=100 starves it. --set model=tiny leaves nothing to hide behind.

Fix
    Nothing to fix: this is the control that every other demo is compared with.

References
    https://docs.pytorch.org/docs/stable/notes/ddp.html
    https://docs.pytorch.org/tutorials/intermediate/ddp_tutorial.html
"""

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DistributedSampler

from quizapp.lab import closed_form, kit

DEMO = {
    "title": "Healthy data-parallel training",
    "summary": "the control: DistributedDataParallel with nothing wrong",
    "seconds": 5.0,
    "expects": {"fix": "healthy"},
    "outcomes": {"fix": "completed"},
    "params": {
        "model": {
            "type": "choice",
            "choices": ["tiny", "125M", "350M", "760M", "1.3B"],
            "default": "760M",
            "help": "size of the model",
        },
        "batch": {
            "type": "int",
            "range": [1, 16],
            "unit": "sequences",
            "default": 8,
            "help": "sequences a device and step",
        },
        "workers": {
            "type": "int",
            "range": [1, 32],
            "unit": "processes",
            "default": 8,
            "help": "loader workers of each rank",
        },
        "decode-ms": {
            "type": "float",
            "range": [0, 1000],
            "unit": "ms",
            "default": 10.0,
            "help": "what a worker spends on one sequence",
        },
        "checkpointing": {
            "type": "bool",
            "default": False,
            "help": "keep only each block's input and run its forward again in the backward",
        },
    },
}

LENGTH = 2048  # tokens a sequence


def main(lab):
    p = lab.params
    plan = lab.plan(p.model)
    decode_s = p.decode_ms / 1000
    lab.launch(
        train,
        ranks=lab.devices,
        plan=plan,
        sequences=p.batch,
        length=LENGTH,
        decode_s=decode_s,
        checkpointing=p.checkpointing,
        expected=closed_form.even_ranks(
            plan, p.batch, LENGTH, checkpointing=p.checkpointing, decode_s=decode_s, workers=p.workers
        ),
    )


def train(rank):
    p = rank.params
    model = DistributedDataParallel(
        rank.gpt().to(rank.device), device_ids=rank.device_ids, bucket_cap_mb=rank.bucket_cap_mb
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True)
    rank.watch(model, optimizer)

    corpus = rank.corpus([LENGTH], decode_s=p.decode_ms / 1000)
    sampler = DistributedSampler(corpus, num_replicas=rank.ranks, rank=rank.index, shuffle=False)
    loader = rank.loader(corpus, sampler=sampler, batch_size=p.batch, workers=p.workers)

    for tokens, _, _ in rank.steps(loader):
        loss = model(tokens).mean()
        loss.backward()  # the gradients are averaged over the ranks meanwhile
        optimizer.step()
        optimizer.zero_grad()
        rank.finish_step(loss)


if __name__ == "__main__":
    kit.run_directly(__file__)
