"""The model is too small for the device: the host can't launch its kernels fast enough.

What it shows
    A healthy job whose model is tiny. No device computes more than a fraction of the time, all alike and
    steadily: nothing comes in waves, nobody waits for data or for another device. Memory is almost empty.

Why
    Each kernel runs for a few microseconds, and launching it takes the host longer than that. The device is
    idle between any two kernels. In a real nvidia-smi these gaps are far shorter than its sampling period,
    and since it only asks whether any kernel ran, it may read anything up to 100 %: the compute share and
    the power draw tell the truth.

Try
    --set batch=16 makes the kernels longer for the same number of launches. --set model=350M does so too.

Fix
    Work that fills the device: a larger model or batch. Where the model must be small: fewer, larger kernels
    (torch.compile) or one launch for many (CUDA graphs), or fewer devices.

References
    https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html
    https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs
"""

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DistributedSampler

from quizapp.lab import closed_form, kit

DEMO = {
    "title": "A model too small for its devices",
    "summary": "kernels shorter than their launches: every device is mostly idle, steadily",
    "seconds": 1.6,
    "expects": {"fault": "launch-bound", "fix": "healthy"},
    "outcomes": {"fault": "completed", "fix": "completed"},
    "params": {
        "model": {
            "type": "choice",
            "choices": ["tiny", "125M", "350M", "760M", "1.3B"],
            "default": "tiny",
            "fault": "tiny",
            "fix": "760M",
            "help": "size of the model",
        },
        "batch": {
            "type": "int",
            "range": [1, 16],
            "unit": "sequences",
            "default": 2,
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
        layers=1,
        hosting="threads",  # hundreds of steps: ranks as processes would wait for each other's sockets
        expected=closed_form.even_ranks(plan, p.batch, LENGTH),
    )


def train(rank):
    p = rank.params
    model = DistributedDataParallel(  # the fault is the size of this model
        rank.gpt().to(rank.device), device_ids=rank.device_ids, bucket_cap_mb=rank.bucket_cap_mb
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True)
    rank.watch(model, optimizer)

    corpus = rank.corpus([LENGTH])
    sampler = DistributedSampler(corpus, num_replicas=rank.ranks, rank=rank.index, shuffle=False)
    loader = rank.loader(corpus, sampler=sampler, batch_size=p.batch)

    for tokens, _, _ in rank.steps(loader):
        loss = model(tokens).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        rank.finish_step(loss)


if __name__ == "__main__":
    kit.run_directly(__file__)
