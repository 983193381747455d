"""What must hold of the whole: deferred imports stay deferred, and the layout is the documented one."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ENGINE = ROOT / "engine" / "quizapp"
HEAVY = ("pydantic", "textual", "torch", "yaml", "rich", "markdown_it")


def loaded_after(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stdout.split()}


@pytest.mark.parametrize("module", ["quizapp.cli", "quizapp.content", "quizapp.errors", "quizapp.bank.text"])
def test_importing_it_pulls_in_nothing_heavy(module: str) -> None:
    assert not loaded_after(f"import {module}") & set(HEAVY)


def test_help_of_the_program_imports_no_command() -> None:
    code = (
        "import sys\nfrom quizapp.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert not {name for name in loaded if name.startswith("quizapp.commands.")}
    assert not {name.split(".")[0] for name in loaded} & set(HEAVY)


def test_finding_the_demos_needs_no_torch() -> None:
    statement = (
        "from quizapp.content import content_dir\nfrom quizapp.lab.catalogue import Catalogue\n"
        "assert 'dp-sync' in Catalogue.load([content_dir('demos')])"
    )
    assert "torch" not in loaded_after(statement)


def imports_of(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module.split(".")[0])
    return found


def test_textual_is_imported_in_the_screens_only() -> None:
    guilty = {
        str(path.relative_to(ENGINE))
        for path in ENGINE.rglob("*.py")
        if "tui" not in path.relative_to(ENGINE).parts and imports_of(path) & {"textual", "rich"}
    }
    assert not guilty


def test_yaml_and_markdown_and_pydantic_are_imported_in_the_bank_only() -> None:
    guilty = {
        str(path.relative_to(ENGINE))
        for path in ENGINE.rglob("*.py")
        if "bank" not in path.relative_to(ENGINE).parts
        and imports_of(path) & {"yaml", "markdown_it", "mdit_py_plugins", "pydantic"}
    }
    assert not guilty


def test_the_engine_never_imports_a_demo() -> None:
    demos = {path.stem for path in (ROOT / "demos").glob("*.py")}
    guilty = {str(path) for path in ENGINE.rglob("*.py") if imports_of(path) & (demos | {"demos"})}
    assert demos
    assert not guilty


def test_no_eval_exec_or_shell_in_the_engine() -> None:
    guilty = []
    for path in ENGINE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            shell = any(
                word.arg == "shell"
                and not (isinstance(word.value, ast.Constant) and word.value.value is False)
                for word in node.keywords
            )
            if called in {"eval", "exec", "os.system", "os.popen"} or shell:
                guilty.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert not guilty


def test_every_dependency_has_its_reason_beside_it() -> None:
    lines = (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    requirements = [
        line for line in lines if line.startswith('  "') and (">=" in line or line.startswith('  "types'))
    ]
    assert len(requirements) > 10
    assert [line for line in requirements if "#" not in line] == []
