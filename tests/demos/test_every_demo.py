"""What holds of every demo: it shows what it declares, also when all planned durations are perturbed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from forked_demo import DEMOS, run
from quizapp.lab.catalogue import Catalogue

CATALOGUE = Catalogue.load([DEMOS])
VARIANTS = [(name, variant) for name, demo in sorted(CATALOGUE.items()) for variant in demo.variants]
# The seed of the perturbation for each number of devices; None is the plan as it stands.
SEEDS = {2: None, 4: 1, 8: 2}


def test_the_eight_demos_are_there() -> None:
    shipped = {"healthy", "dp-sync", "cpu-bottleneck", "tiny-model", "oom"}
    assert shipped | {"straggler", "input-skew", "host-barrier"} <= set(CATALOGUE)


@pytest.mark.parametrize("devices", SEEDS)
@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_it_shows_what_it_declares_and_agrees_with_the_closed_form(
    name: str, variant: str, devices: int
) -> None:
    demo = CATALOGUE[name]
    ran = run(name, variant, devices=devices, seed=SEEDS[devices])
    assert ran.status == 0, ran.log
    assert ran.outcome["outcome"] == demo.outcomes[variant]
    assert ran.diagnosis == demo.expects[variant]
    expected = ran.outcome["expected"]
    assert ran.outcome["steps_per_s"] == pytest.approx(expected["steps_per_s"], rel=0.05)
    assert ran.mean("compute") == pytest.approx(expected["compute"], rel=0.05)


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_phases_exclude_each_other_and_windows_follow_each_other(name: str) -> None:
    ran = run(name, CATALOGUE[name].variants[0])
    end_s = 0.0
    for sample in ran.samples:
        assert sample["t_s"] - sample["window_s"] == pytest.approx(end_s, abs=1e-5)
        end_s = sample["t_s"]
        meters = sample["meters"]
        for device in range(2):
            phases = sum(meters[key][device] for key in ("compute", "collective", "data_wait", "host_wait"))
            assert phases <= 1.001
            busy = meters["compute"][device] + meters["collective"][device]
            assert meters["util"][device] == pytest.approx(busy, abs=2e-4)


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_it_is_the_same_every_time(name: str) -> None:
    variant = CATALOGUE[name].variants[0]
    first, second = (run(name, variant, steps=3, seconds=1.0) for _ in range(2))
    assert first.samples == second.samples
    one, other = first.outcome["final"], second.outcome["final"]
    assert one["parameters_digest"] == other["parameters_digest"]
    # A sum's last bit depends on where in memory the allocator puts it.
    assert one["loss"] == pytest.approx(other["loss"], rel=1e-12)


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_it_is_a_script_that_states_durations_and_no_readings(name: str) -> None:
    """A demo speaks of the plan, the loop and the fault; what a meter reads is not for it to say."""
    tree = ast.parse((DEMOS / f"{name.replace('-', '_')}.py").read_text(encoding="utf-8"))
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    names |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg}
    assert not names & {
        "util",
        "utilisation",
        "collective",
        "data_wait",
        "host_wait",
        "emit",
        "hold",
        "launches",
    }


def test_a_demo_runs_from_its_own_file(tmp_path: Path) -> None:
    import os
    import subprocess
    import sys

    from forked_demo import ENGINE

    done = subprocess.run(
        [sys.executable, str(DEMOS / "dp_sync.py"), "2"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ENGINE)},
        cwd=tmp_path,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert '"type":"start"' in lines[0]
    assert '"outcome":"completed"' in lines[-1]


@pytest.mark.parametrize("devices", [1, 3])
@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_any_number_of_devices_will_do(name: str, devices: int) -> None:
    variant = CATALOGUE[name].variants[-1]
    ran = run(name, variant, devices=devices, seed=5)
    assert ran.status == 0, ran.log
    assert ran.diagnosis == CATALOGUE[name].expects[variant]
    expected = ran.outcome["expected"]
    assert ran.outcome["steps_per_s"] == pytest.approx(expected["steps_per_s"], rel=0.05)
    assert ran.mean("compute") == pytest.approx(expected["compute"], rel=0.05)


def test_the_program_in_the_manual_is_a_demo_that_runs(tmp_path: Path) -> None:
    text = (DEMOS.parent / "docs" / "demos.md").read_text(encoding="utf-8")
    program = tmp_path / "my_demo.py"
    program.write_text(text.split("```python\n")[1].split("```")[0], encoding="utf-8")
    assert "my-demo" in Catalogue.load([tmp_path])
    ran = run("my-demo", path=program, seconds=2.0)
    assert ran.status == 0, ran.log
    assert ran.diagnosis == "healthy"


def test_the_manual_lists_what_is_replaced() -> None:
    pytest.importorskip("torch", reason="needs torch")
    from quizapp.lab import emulated

    text = (DEMOS.parent / "docs" / "demos.md").read_text(encoding="utf-8")
    for replacement in (*emulated.REPLACED, *emulated.THREADED):
        assert f"`{replacement.name}`" in text
