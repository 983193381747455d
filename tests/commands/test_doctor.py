"""`quizapp doctor`: what can be run here, and how to mend the rest."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import BANK, CommandLine


def checked(quizapp: CommandLine) -> tuple[int, dict[str, Any], dict[str, str]]:
    done = quizapp("doctor", "--json")
    body = json.loads(done.stdout)
    return done.returncode, {check["name"]: check for check in body["checks"]}, body["can"]


def test_everything_is_looked_at_and_nothing_is_made(quizapp: CommandLine) -> None:
    _, checks, can = checked(quizapp)
    for name in (
        "Python",
        "torch",
        "GPUs",
        "terminal",
        "characters",
        "clipboard",
        "state folder",
        "cache folder",
    ):
        assert checks[name]["said"], name
    assert set(can) == {
        "take a bank",
        "keep attempts",
        "run demos on emulated devices",
        "run demos on GPUs",
    }
    assert not quizapp.state.exists()


def test_text_says_the_same_and_names_the_way_out(quizapp: CommandLine) -> None:
    done = quizapp("doctor")
    assert done.returncode in (0, 1)
    assert "yes  keep attempts" in done.stdout
    assert "none: banks are taken in lines" in done.stdout


def test_a_state_folder_that_can_not_be_used_needs_mending(quizapp: CommandLine) -> None:
    quizapp.state.write_text("a file")
    code, checks, can = checked(quizapp)
    assert code == 1
    assert checks["state folder"]["state"] == "broken"
    assert "QUIZAPP_STATE_DIR" in checks["state folder"]["hint"]
    assert "can't be written" in can["keep attempts"]


def test_a_damaged_store_needs_mending(quizapp: CommandLine) -> None:
    quizapp.state.mkdir()
    (quizapp.state / "attempts.sqlite3").write_bytes(b"not a database" * 1000)
    code, checks, _ = checked(quizapp)
    assert code == 1
    assert "is damaged" in checks["state folder"]["said"]


def test_banks_that_are_broken_are_named_with_the_command_that_says_more(quizapp: CommandLine) -> None:
    (quizapp.folder / "sick.yaml").write_text(BANK.replace("correct: true", "corect: true"), encoding="utf-8")
    code, checks, _ = checked(quizapp)
    assert code == 1
    assert "small" in checks["banks"]["said"]
    assert checks["bank sick"]["state"] == "broken"
    assert checks["bank sick"]["hint"] == "quizapp check sick.yaml"


def test_without_torch_it_says_how_to_install_it(quizapp: CommandLine) -> None:
    # A process in which no distribution is found, as in an environment without the extra.
    hidden = quizapp.folder / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text(
        "import importlib.metadata as metadata\n"
        "def version(name):\n    raise metadata.PackageNotFoundError(name)\n"
        "metadata.version = version\n"
    )
    quizapp.environment["PYTHONPATH"] = f"{hidden}{os.pathsep}{quizapp.environment['PYTHONPATH']}"
    _, checks, can = checked(quizapp)
    assert checks["torch"]["state"] == "missing"
    assert checks["torch"]["hint"] == "pip install 'quizapp-lab[torch]'"
    assert "torch: not installed" in can["run demos on emulated devices"]
    assert can["take a bank"] == ""


def test_tmux_and_a_locale_without_utf_8_are_limits_not_faults(quizapp: CommandLine) -> None:
    quizapp.environment |= {
        "TMUX": "/tmp/tmux,1,0",
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
    }
    _, checks, _ = checked(quizapp)
    assert checks["clipboard"]["state"] == "limited"
    assert "set-clipboard" in checks["clipboard"]["hint"]
    assert checks["characters"]["state"] == "limited"


def test_what_torch_was_built_for_is_read_without_importing_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from importlib.machinery import ModuleSpec

    from quizapp.commands import doctor

    package = tmp_path / "torch"
    package.mkdir()
    spec = ModuleSpec("torch", None, is_package=True)
    spec.submodule_search_locations = [str(package)]
    monkeypatch.setattr("importlib.util.find_spec", lambda name: spec)
    for text, cuda in (
        ("cuda: str | None = '12.8'\n", "12.8"),
        ("from typing import Optional\ncuda: Optional[str] = None\n", ""),
        ("cuda = '13.0'\n", "13.0"),
        ("not python at all(", ""),
    ):
        (package / "version.py").write_text(text)
        assert doctor._cuda_of_torch() == cuda
    (package / "version.py").unlink()
    assert doctor._cuda_of_torch() == ""


def test_nothing_heavy_is_imported(quizapp: CommandLine) -> None:
    import subprocess

    code = (
        "import sys\nfrom quizapp.cli import main\n"
        "try:\n    main(['doctor', '--json'])\n"
        "finally:\n    print('modules:', *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=quizapp.folder,
        env=quizapp.environment,
        check=False,
    )
    loaded = {name.split(".")[0] for name in done.stderr.rpartition("modules:")[2].split()}
    assert "sqlite3" in loaded or "json" in loaded
    assert not loaded & {"torch", "textual", "rich"}
