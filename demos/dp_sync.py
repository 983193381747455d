"""One process drives all GPUs with nn.DataParallel, and waits for the slowest of them.

What it shows
    A GPT trains under `nn.DataParallel`. Each batch is cut into one piece a device. The sequences are sorted
    by length, so the first quarter of the devices gets the long ones. Those stay near 98 %; the others finish
    early and read 0 % for seconds, again and again. One process id is on all devices, and the first device
    holds the most memory.

Why
    DataParallel starts a thread for each replica and joins them all, and one process launches everything.
    Whoever finishes early has nothing to do until the process has launched the slowest device's work, which
    it can't do far ahead of that device: the wait is on the host, and no kernel runs. Only near the end of
    the step do the early devices enter the NCCL reduction of the gradients, and read 100 % without
    computing. Then the first device alone runs the optimizer.

Try
    --set split=even keeps DataParallel but gives each device its share of the long sequences: all are busy,
    and the first device is still privileged, for it alone runs the optimizer and keeps its state.
    --set parallel=ddp keeps the uneven split: utilisation reads 100 % everywhere, and no step is faster. Only
    the compute share tells who works and who waits. --set long-ratio=8 makes the wait shorter.

Fix
    One process a device with DistributedDataParallel, and batches that cost every device the same.

References
    https://docs.pytorch.org/docs/stable/generated/torch.nn.DataParallel.html
    https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
    https://docs.pytorch.org/docs/stable/notes/ddp.html
"""

import math
from itertools import chain

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from quizapp.lab import closed_form, kit

DEMO = {
    "title": "DataParallel and uneven sequences",
    "summary": "one process on all GPUs: a few stay busy, the rest wait on the host at 0 %",
    "seconds": 20.0,
    "expects": {"fault": "imbalance", "fix": "healthy"},
    "outcomes": {"fault": "completed", "fix": "completed"},
    "params": {
        "parallel": {
            "type": "choice",
            "choices": ["dp", "ddp"],
            "default": "dp",
            "fault": "dp",
            "fix": "ddp",
            "help": "nn.DataParallel, or DistributedDataParallel with one process a device",
        },
        "split": {
            "type": "choice",
            "choices": ["uneven", "even"],
            "default": "uneven",
            "fault": "uneven",
            "fix": "even",
            "help": "batches sorted by length, or every device with its share of the long sequences",
        },
        "long-ratio": {
            "type": "int",
            "range": [8, 32],
            "unit": "times the short length",
            "default": 24,
            "help": "length of the long sequences",
        },
        "model": {
            "type": "choice",
            "choices": ["350M", "760M", "1.3B"],
            "default": "1.3B",
            "help": "size of the model",
        },
    },
    "comparison": [
        {
            "label": "DataParallel, uneven",
            "variant": "fault",
            "params": {"parallel": "dp", "split": "uneven"},
        },
        {"label": "DataParallel, even", "variant": "fault", "params": {"parallel": "dp", "split": "even"}},
        {"label": "DDP, uneven", "variant": "fix", "params": {"parallel": "ddp", "split": "uneven"}},
        {"label": "DDP, even", "variant": "fix", "params": {"parallel": "ddp", "split": "even"}},
    ],
}

SHORT = 1024  # tokens


def main(lab):
    p = lab.params
    plan = lab.plan(p.model)
    lengths = sample_lengths(p.long_ratio, lab.devices)
    dealt = [[lengths[sample] for sample in hand] for hand in deal(p.split, lab.devices)]
    lab.launch(
        train,
        ranks=1 if p.parallel == "dp" else lab.devices,
        hosting="alone" if p.parallel == "dp" else "processes",
        plan=plan,
        sequences=sequences(lab.devices),
        length=SHORT * p.long_ratio,
        checkpointing=True,
        layers=1,
        expected=closed_form.unequal_lengths(plan, dealt, parallel=p.parallel),
    )


def train(rank):
    p = rank.params
    model = rank.gpt().to(rank.device)
    if p.parallel == "dp":
        model = nn.DataParallel(model)
    else:
        model = DistributedDataParallel(model, device_ids=rank.device_ids, bucket_cap_mb=rank.bucket_cap_mb)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True)
    rank.watch(model, optimizer)

    corpus = rank.corpus(sample_lengths(p.long_ratio, rank.devices))
    hands = deal(p.split, rank.devices)
    mine = list(chain(*hands)) if p.parallel == "dp" else hands[rank.index]
    loader = rank.loader(
        corpus, batch_sampler=Batches(len(corpus), sequences(rank.devices) * rank.devices, mine), workers=1
    )

    for tokens, sequence_lengths, _ in rank.steps(loader):
        losses = model(tokens, sequence_lengths)  # (B), gathered on the first device under DataParallel
        loss = losses.mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        rank.finish_step(loss)


def long_devices(devices):
    """A quarter of the devices: so many get nothing but long sequences when the split is uneven."""
    return math.ceil(devices / 4)


def sequences(devices):
    """Sequences of each device in a step: three or more, such that the long ones can be dealt out evenly."""
    least = devices // math.gcd(devices, long_devices(devices))
    return least * math.ceil(3 / least)


def sample_lengths(long_ratio, devices):
    """Tokens of each sample of a step, the long ones first."""
    long_ones = sequences(devices) * long_devices(devices)
    return [SHORT * long_ratio] * long_ones + [SHORT] * (sequences(devices) * devices - long_ones)


def deal(split, devices):
    """Which samples of a step each device gets. The samples are the same, however they are dealt."""
    each = sequences(devices)
    samples = list(range(each * devices))
    if split == "uneven":
        return [samples[device * each : (device + 1) * each] for device in range(devices)]
    return [samples[device::devices] for device in range(devices)]


class Batches:
    """The samples `mine` of each group of `group` samples."""

    def __init__(self, samples, group, mine):
        self.samples, self.group, self.mine = samples, group, mine

    def __iter__(self):
        for start in range(0, self.samples - self.group + 1, self.group):
            yield [start + sample for sample in self.mine]


if __name__ == "__main__":
    kit.run_directly(__file__)
