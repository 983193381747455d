"""One device is slower than the others, and all of them read 100 %.

What it shows
    A GPT trains under DistributedDataParallel, and every rank has the same work. The clocks of one device
    are low. Utilisation reads 100 % on all devices. Compute doesn't: the slow one computes all the time, the
    others about half of it, and are inside the all-reduce for the rest. The rank with the shortest
    collective time is the culprit's.

Why
    An all-reduce ends when the last rank has joined it, so every step lasts as long as the slowest device
    needs. The others come early and wait inside NCCL's kernel, which polls its peers: a kernel that waits is
    a kernel that runs, and counts as busy. Step times are equal on all ranks and tell nothing.

Try
    --set slowdown=1.2: the others wait less, and the utilisation still says nothing. --set slowdown=4: they
    wait for three quarters of the time.

Fix
    Find the device by its compute time, or by the shortest time in the collective. Then see why it is slow:
    clocks, power cap, temperature. Until it is repaired, train without it.

References
    https://docs.nvidia.com/deploy/nvml-api/group__nvmlClocksEventReasons.html
    https://hta.readthedocs.io/en/latest/
"""

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DistributedSampler

from quizapp.lab import closed_form, kit

DEMO = {
    "title": "One slow device",
    "summary": "all devices read 100 %, and all but one wait in the all-reduce for the slow one",
    "seconds": 5.0,
    "expects": {"fault": "imbalance", "fix": "healthy"},
    "outcomes": {"fault": "completed", "fix": "completed"},
    "params": {
        "slowdown": {
            "type": "float",
            "range": [1, 4],
            "unit": "times",
            "default": 2.0,
            "fault": 2.0,
            "fix": 1.0,
            "help": "how much longer the slow device's arithmetic takes, as at lower clocks",
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
    lab.launch(
        train,
        ranks=lab.devices,
        plan=plan,
        sequences=p.batch,
        length=LENGTH,
        expected=closed_form.one_slow_device(
            plan, p.batch, LENGTH, slow=slow_device(lab.devices), slowdown=p.slowdown
        ),
    )


def train(rank):
    p = rank.params
    model = DistributedDataParallel(
        rank.gpt().to(rank.device), device_ids=rank.device_ids, bucket_cap_mb=rank.bucket_cap_mb
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True)
    rank.watch(model, optimizer)
    if rank.index == slow_device(rank.devices):
        rank.throttle(p.slowdown)  # the fault is here

    corpus = rank.corpus([LENGTH])
    sampler = DistributedSampler(corpus, num_replicas=rank.ranks, rank=rank.index, shuffle=False)
    loader = rank.loader(corpus, sampler=sampler, batch_size=p.batch, workers=1)

    for tokens, _, _ in rank.steps(loader):
        loss = model(tokens).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        rank.finish_step(loss)


def slow_device(devices):
    """The one in the middle."""
    return devices // 2


if __name__ == "__main__":
    kit.run_directly(__file__)
