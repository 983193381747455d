"""The loader can't keep up: all devices wait for data, together.

What it shows
    A healthy job with too few loader workers. All devices compute for a moment, then drop to 0 % together
    until the next batch is decoded. The wait is in `next(loader)`; memory is as in the healthy job.

Why
    One worker decodes one batch after the other. When that takes longer than a training step, the queue is
    empty at every step and the devices run dry, however fast they are. The training step itself is as fast
    as ever.

Try
    --set workers=2 and 4: the steps per second double each time until the devices are the limit. --set
    decode-ms=10 makes one worker enough.

Fix
    More loader workers, cheaper decoding, or data decoded beforehand.

References
    https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading
    https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html
"""

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DistributedSampler

from quizapp.lab import closed_form, kit

DEMO = {
    "title": "A loader that can't keep up",
    "summary": "too few loader workers: all devices drop to 0 % together, and wait for data",
    "seconds": 6.0,
    "expects": {"fault": "input-bound", "fix": "healthy"},
    "outcomes": {"fault": "completed", "fix": "completed"},
    "params": {
        "workers": {
            "type": "int",
            "range": [1, 32],
            "unit": "processes",
            "default": 1,
            "fault": 1,
            "fix": 8,
            "help": "loader workers of each rank",
        },
        "decode-ms": {
            "type": "float",
            "range": [0, 1000],
            "unit": "ms",
            "default": 100.0,
            "help": "what a worker spends on one sequence",
        },
        "model": {
            "type": "choice",
            "choices": ["125M", "350M", "760M", "1.3B"],
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
        expected=closed_form.even_ranks(plan, p.batch, LENGTH, decode_s=decode_s, workers=p.workers),
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
    loader = rank.loader(corpus, sampler=sampler, batch_size=p.batch, workers=p.workers)  # the fault is here

    for tokens, _, _ in rank.steps(loader):
        loss = model(tokens).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        rank.finish_step(loss)


if __name__ == "__main__":
    kit.run_directly(__file__)
