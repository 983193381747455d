"""One long batch doesn't fit: a rank runs out of memory after a while of good training.

What it shows
    Training goes well until one rank gets a batch of sequences twice as long as usual. Its activations don't
    fit, and the step ends with torch.OutOfMemoryError on that rank alone. No device idles before that. The
    memory that the step needs is predicted by category, without allocating it.

Why
    Activations grow with the tokens of a batch, while parameters, gradients and optimizer state stay. A job
    that fits the usual batch can fail at the first unusual one, hours later. In a real job the other ranks
    then wait in the all-reduce, at 100 %, until the launcher ends them; this demo ends there.

Try
    --set batch=4 fits. --set model=7B fails in the first step: parameters, gradients and AdamW's state alone
    are more than the device has, so neither a smaller batch nor checkpointing helps, only sharding them.

Fix
    Keep less: checkpoint the activations (run each block's forward again in the backward), or cap the tokens
    of a batch.

References
    https://docs.pytorch.org/docs/stable/checkpoint.html
    https://docs.pytorch.org/docs/stable/notes/cuda.html#memory-management
"""

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DistributedSampler

from quizapp.lab import closed_form, kit

DEMO = {
    "title": "Out of memory on one long batch",
    "summary": "a rank gets a batch twice as long as usual, and its activations don't fit",
    "seconds": 8.0,
    "expects": {"fault": "out-of-memory", "fix": "healthy"},
    "outcomes": {"fault": "out-of-memory", "fix": "completed"},
    "params": {
        "checkpointing": {
            "type": "bool",
            "default": False,
            "fault": False,
            "fix": True,
            "help": "keep only each block's input and run its forward again in the backward",
        },
        "model": {
            "type": "choice",
            "choices": ["125M", "350M", "760M", "1.3B", "2.7B", "7B"],
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

LENGTH = 2048  # tokens of a usual sequence
LONG = 4096
LONG_STEP = 5  # counted from 0
PERIOD = 32  # steps until the long batch comes again


def main(lab):
    p = lab.params
    plan = lab.plan(p.model)
    lab.launch(
        train,
        ranks=lab.devices,
        plan=plan,
        sequences=p.batch,
        length=LENGTH,
        checkpointing=p.checkpointing,
        expected=closed_form.one_long_batch(
            plan,
            p.batch,
            LENGTH,
            LONG,
            victim=victim(lab.devices),
            step=LONG_STEP,
            checkpointing=p.checkpointing,
        ),
        predict=lambda: lab.predict_memory(
            p.model, sequences=p.batch, length=LONG, checkpointing=p.checkpointing
        ),
    )


def train(rank):
    p = rank.params
    model = DistributedDataParallel(
        rank.gpt().to(rank.device), device_ids=rank.device_ids, bucket_cap_mb=rank.bucket_cap_mb
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True)
    rank.watch(model, optimizer)

    corpus = rank.corpus(lengths(p.batch, rank.ranks))
    sampler = DistributedSampler(corpus, num_replicas=rank.ranks, rank=rank.index, shuffle=False)
    loader = rank.loader(corpus, sampler=sampler, batch_size=p.batch, workers=1)

    for tokens, _, _ in rank.steps(loader):
        loss = model(tokens).mean()  # out of memory in here, or in the backward
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        rank.finish_step(loss)


def victim(ranks):
    """The rank that gets the long batch."""
    return ranks // 2


def lengths(batch, ranks):
    """Tokens of each sample. Sample i goes to rank i modulo `ranks`, `batch` of them to a step."""
    samples = range(PERIOD * batch * ranks)
    long_ones = {i for i in samples if i % ranks == victim(ranks) and i // ranks // batch == LONG_STEP}
    return [LONG if i in long_ones else LENGTH for i in samples]


if __name__ == "__main__":
    kit.run_directly(__file__)
