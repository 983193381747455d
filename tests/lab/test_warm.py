from __future__ import annotations

import asyncio
import importlib.util
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from demo_programs import FAKE_KIT, demo
from quizapp.lab.protocol import Log, Outcome
from quizapp.lab.request import LabUnavailable, RunRequest
from quizapp.lab.runner import Lab, LabState
from quizapp.lab.warm import receive_message, send_message
from run_processes import assert_gone

TESTS = Path(__file__).resolve().parent.parent
NEEDS_TORCH = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="needs PyTorch: pip install 'quizapp-lab[torch]'"
)


def module(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: str) -> str:
    """A module that the lab can be made to import."""
    (folder / f"{name}.py").write_text(code)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *filter(None, sys.path)]))
    return name


async def test_without_torch_one_line_says_how_to_install_it() -> None:
    lab = Lab(kit=FAKE_KIT, preload=("torch_that_is_not_there",))
    with pytest.raises(LabUnavailable) as caught:
        await lab.warm()
    assert caught.value.exit_code == 1
    assert "pip install 'quizapp-lab[torch]'" in caught.value.hint
    assert lab.state == "unavailable"
    assert "\n" not in lab.reason
    assert "is not installed" in lab.reason
    await lab.close()
    assert lab.state == "unavailable"


async def test_a_part_of_torch_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = module(tmp_path, monkeypatch, "half_installed", "import numpy_that_is_not_there")
    async with Lab(kit=FAKE_KIT, preload=(name,)) as lab:
        with pytest.raises(LabUnavailable, match="numpy_that_is_not_there is not installed"):
            await lab.warm()


async def test_an_import_that_fails_is_told_with_its_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = module(tmp_path, monkeypatch, "broken_torch", "raise OSError('libcudart.so.12: cannot open')")
    async with Lab(kit=FAKE_KIT, preload=(name,)) as lab:
        with pytest.raises(LabUnavailable, match="libcudart"):
            await lab.warm()


async def test_an_import_that_kills_its_process_is_told_and_can_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deadly = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    name = module(tmp_path, monkeypatch, "deadly_torch", deadly)
    async with Lab(kit=FAKE_KIT, preload=(name,)) as lab:
        with pytest.raises(LabUnavailable, match="SIGSEGV"):
            await lab.warm()
        (tmp_path / f"{name}.py").write_text("")
        await lab.warm()
        assert lab.state == "ready"


async def test_states_are_told_as_they_change() -> None:
    told: list[LabState] = []
    async with Lab(kit=FAKE_KIT, preload=()) as lab:
        end = lab.on_state(lambda state, reason: told.append(state))
        await asyncio.gather(lab.warm(), lab.warm())
        assert lab.state == "ready"
        end()
    assert told == ["warming", "ready"]
    assert lab.state == "cold"


async def test_a_lab_can_be_closed_while_it_warms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = module(tmp_path, monkeypatch, "slow_to_import", "import time; time.sleep(3600)")
    lab = Lab(kit=FAKE_KIT, preload=(name,))
    warming = asyncio.create_task(lab.warm())
    await asyncio.sleep(0)
    assert lab.pid is not None
    process = psutil.Process(lab.pid)
    await lab.close()
    with pytest.raises(LabUnavailable):
        await warming
    assert_gone([process])


async def test_who_waits_for_the_warming_can_give_up_without_ending_it(tmp_path: Path) -> None:
    async with Lab(kit=FAKE_KIT, preload=()) as lab:
        impatient = asyncio.create_task(lab.warm())
        await asyncio.sleep(0)
        impatient.cancel()
        await lab.warm()
        assert lab.state == "ready"


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_an_app_killed_while_it_warms_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: signal.Signals
) -> None:
    module(tmp_path, monkeypatch, "slow_to_import", "import time; time.sleep(3600)")
    path = demo(tmp_path, "pass").path
    app = subprocess.Popen(
        [sys.executable, str(TESTS / "lab_app.py"), str(path), "warming"], stdout=subprocess.PIPE, text=True
    )
    assert app.stdout is not None
    warm = psutil.Process(int(app.stdout.readline()))
    app.send_signal(end)
    app.wait()
    app.stdout.close()
    assert_gone([warm])


async def test_the_folder_one_stands_in_is_not_imported_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('imported from the current folder')")
    monkeypatch.chdir(tmp_path)
    async with Lab(kit=FAKE_KIT, preload=("json",)) as lab:
        await lab.warm()
        assert lab.state == "ready"


def test_messages_carry_descriptors_and_end_with_the_other_side() -> None:
    ours, theirs = socket.socketpair()
    reader, writer = os.pipe()
    send_message(ours, {"text": "x" * 100_000}, (writer,))
    os.close(writer)
    received = receive_message(theirs)
    assert received is not None
    message, (passed,) = received
    assert len(message["text"]) == 100_000
    os.write(passed, b"through")
    assert os.read(reader, 10) == b"through"
    ours.close()
    assert receive_message(theirs) is None
    theirs.close()
    os.close(passed)
    os.close(reader)


def test_a_torn_or_oversized_message_is_an_end_and_no_error() -> None:
    for sent in (b"\0\0", b"\0\0\0\x09{}", b"\xff\xff\xff\xff{}"):
        ours, theirs = socket.socketpair()
        ours.sendall(sent)
        ours.close()
        assert receive_message(theirs) is None
        theirs.close()


@NEEDS_TORCH
async def test_torch_is_imported_once_and_forks_of_it_can_compute(tmp_path: Path) -> None:
    body = """
    import os, sys
    imported = [name for name in ("torch", "torch._dynamo", "torch.distributed") if name in sys.modules]
    import torch
    print("BEFORE", imported, torch.get_num_threads())
    torch.set_num_threads(2)  # would hang in a fork whose parent had run an operation with two threads
    x = torch.randn(400, 400, requires_grad=True)
    (x @ x).sum().backward()
    print("AFTER", x.grad.shape[0])
    lab.start()
    lab.outcome()
    """
    async with Lab(kit=FAKE_KIT) as lab:
        await lab.warm()
        assert lab.torch
        request = RunRequest(demo=demo(tmp_path, body), devices=1, device="emulated", timeout_s=60)
        for _ in range(2):
            run = await lab.start(request)
            lines = [line async for line in run.lines()]
            log = [line.text for line in lines if isinstance(line, Log)]
            assert log == ["BEFORE ['torch', 'torch._dynamo', 'torch.distributed'] 1", "AFTER 400"]
            assert isinstance(lines[-1], Outcome)
            assert lines[-1].outcome == "completed"
