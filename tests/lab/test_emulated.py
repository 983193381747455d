"""Emulated devices: the unmodified DataParallel runs on them, and nothing but what is listed is replaced."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs torch")

from quizapp.lab import emulated  # noqa: E402
from quizapp.lab.driver import Driver  # noqa: E402
from quizapp.lab.plan import Plan  # noqa: E402
from quizapp.lab.shape import SIZES  # noqa: E402

ENGINE = Path(emulated.__file__).resolve().parents[2]
DEMOS = ENGINE.parent / "demos"

# Compares every function, class and method of torch before and during an emulated run.
OBSERVE = """
import inspect, json, sys
import torch, torch._dynamo
from torch import nn
from torch.testing._internal.distributed import multi_threaded_pg
from quizapp.lab import emulated, kit
from quizapp.lab.driver import Driver
from quizapp.lab.plan import Plan
from quizapp.lab.shape import SIZES
torch.set_num_threads(1)

def members(owner, name, found, depth=0):
    for key, value in list(vars(owner).items()):
        if inspect.ismodule(value) or (key.startswith("__") and key.endswith("__") and depth == 0):
            continue
        if callable(value) or isinstance(value, (property, staticmethod, classmethod)) or key == "_world":
            found[f"{name}.{key}"] = value
        if inspect.isclass(value) and depth == 0 and value.__module__ == name:
            members(value, f"{name}.{key}", found, 1)

def everything():
    found = {}
    for name, module in list(sys.modules.items()):
        if (name == "torch" or name.startswith("torch.")) and inspect.ismodule(module):
            members(module, name, found)
    return found

def changed(before, after):
    same = {name for name, value in before.items() if name in after and after[name] is value}
    return sorted((set(before) & set(after)) - same), sorted(
        name for name in set(after) - set(again) if name.startswith("torch._C.") and name.count(".") == 2
    )

def step(wrap):
    model = wrap(nn.Linear(4, 4).to("emu:0"))
    optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
    model(torch.ones(4, 4).to("emu:0")).mean().backward()
    optimizer.step()

nn.Linear(2, 2)(torch.ones(2, 2)).mean().backward()
torch.optim.AdamW(nn.Linear(2, 2).parameters(), foreach=True).step()
again = everything()
# What pybind makes anew at each look can't be compared.
before = {name: value for name, value in everything().items() if again.get(name) is value}
emulated._register()
registered = changed(before, everything())
again = everything()
before = {name: value for name, value in everything().items() if again.get(name) is value}
driver = Driver(Plan.of(SIZES["tiny"], 2), [0, 1], 0.1, emulated.refuse)
with emulated.devices_of(driver):
    step(nn.DataParallel)
    during = changed(before, everything())
after = changed(before, everything())
with emulated.threaded_ranks():
    threaded = changed(before, everything())
print(json.dumps({"registered": registered, "during": during, "after": after, "threaded": threaded}))
"""


@pytest.fixture
def driver() -> Iterator[Driver]:
    torch.set_num_threads(1)
    driver = Driver(Plan.of(SIZES["tiny"], 4), range(4), 0.1, emulated.refuse)
    with emulated.devices_of(driver):
        yield driver


def test_nothing_of_torch_is_replaced_but_what_the_list_says() -> None:
    done = subprocess.run(
        [sys.executable, "-c", OBSERVE],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ENGINE)},
        check=True,
    )
    seen = json.loads(done.stdout.splitlines()[-1])
    # Registering a device type renames it in torch's own enumerations, and touches nothing else.
    names = ("torch._C._autograd.DeviceType.", "torch._C._profiler.ProfilerActivity.")
    assert all(name.startswith(names) for name in [*seen["registered"][0], *seen["registered"][1]])
    replaced, added = seen["during"]
    # A module may hold the same function under its own name as well.
    listed = {replacement.name for replacement in emulated.REPLACED}
    assert set(replaced) | set(added) == listed
    assert seen["after"] == [[], []]
    assert set(seen["threaded"][0]) == {replacement.name for replacement in emulated.THREADED}


def test_no_module_of_the_lab_and_no_demo_sets_an_attribute_of_torch() -> None:
    """Only the list's own loop does, by `setattr`; what it sets is in the list."""
    setters = []
    for path in [*sorted((ENGINE / "quizapp" / "lab").glob("*.py")), *sorted(DEMOS.glob("*.py"))]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            targets = node.targets if isinstance(node, ast.Assign) else []
            for target in targets:
                assert not ast.unparse(target).startswith(("torch.", "nn.", "F.", "dist.", "comm."))
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("setattr", "delattr"):
                setters.append(path.name)
    assert set(setters) == {"emulated.py"}


def test_every_replacement_says_why() -> None:
    for replacement in (*emulated.REPLACED, *emulated.REGISTERED, *emulated.THREADED):
        assert len(replacement.why.split()) > 3


def test_dataparallel_trains_as_the_bare_model_does(driver: Driver) -> None:
    def model() -> torch.nn.Module:
        torch.manual_seed(1)
        return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)).double()

    bare, wrapped = model(), torch.nn.DataParallel(model().to("emu:0"))
    assert wrapped.device_ids == [0, 1, 2, 3]
    x = torch.linspace(-1, 1, 32, dtype=torch.float64).view(8, 4)
    for network, batch in ((bare, x), (wrapped, x.to("emu:0"))):
        optimizer = torch.optim.AdamW(network.parameters(), lr=0.01, foreach=True)
        for _ in range(3):
            network(batch).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    for ours, theirs in zip(wrapped.parameters(), bare.parameters(), strict=True):
        assert ours.device == torch.device("emu:0")
        torch.testing.assert_close(ours.held, theirs.detach(), rtol=1e-12, atol=1e-14)


def test_replicas_run_on_devices_of_their_own_in_threads_of_their_own(driver: Driver) -> None:
    import threading

    seen = []

    class Spy(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(2))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            seen.append((x.get_device(), self.weight.get_device(), threading.get_ident()))
            return x * self.weight

    output = torch.nn.DataParallel(Spy().to("emu:0"))(torch.ones(8, 2).to("emu:0"))
    assert output.device == torch.device("emu:0")
    assert sorted((x, weight) for x, weight, _ in seen) == [(i, i) for i in range(4)]
    assert threading.get_ident() not in {thread for _, _, thread in seen}


def test_tensors_of_two_devices_do_not_mix(driver: Driver) -> None:
    with pytest.raises(RuntimeError, match="at least two devices, emu:0 and emu:1"):
        torch.ones(2).to("emu:0") + torch.ones(2).to("emu:1")


def test_reading_a_value_waits_for_its_device(driver: Driver) -> None:
    driver.launch(2, 5.0, 1)
    value = torch.ones(1, device="emu:2")
    assert driver.host.now_s < 1
    assert value.item() == 1
    assert driver.host.now_s >= 5
    driver.launch(3, 9.0, 1)
    assert torch.arange(2).to("emu:3").tolist() == [0, 1]
    assert driver.host.now_s >= 9


def test_the_broadcast_and_the_reduction_take_their_planned_time(driver: Driver) -> None:
    plan = driver.plan
    model = torch.nn.DataParallel(torch.nn.Linear(2, 2).to("emu:0"))
    model(torch.ones(8, 2).to("emu:0")).sum().backward()
    between_s = plan.broadcast_s(plan.shape.parameter_bytes) + plan.reduce_s(plan.shape.parameter_bytes)
    for device in driver.devices.values():
        assert sum(end - start for start, end in device.collectives) == pytest.approx(between_s, rel=0.2)


def test_without_emulated_devices_torch_is_as_it_was() -> None:
    driver = Driver(Plan.of(SIZES["tiny"], 2), [0, 1], 0.1, emulated.refuse)
    had = hasattr(torch._C, "_scatter")
    with emulated.devices_of(driver):
        assert torch.nn.DataParallel(torch.nn.Linear(1, 1)).device_ids == [0, 1]
    assert hasattr(torch._C, "_scatter") == had
    assert torch.nn.DataParallel(torch.nn.Linear(1, 1)).device_ids == []
