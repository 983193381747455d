"""Build the wheel, install it into a fresh environment and use it from another folder, as a stranger would.

The environment sees this one's packages (torch is too big to install twice) but not the checkout.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="quizapp-smoke-") as folder:
        work = Path(folder)
        run([sys.executable, "-m", "build", "--wheel", "--outdir", work / "dist", ROOT], cwd=work)
        wheel = next((work / "dist").glob("*.whl"))
        venv.create(work / "env", with_pip=False, symlinks=True)
        env_python = work / "env" / "bin" / "python"
        site = Path(
            run(
                [env_python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], cwd=work
            ).strip()
        )
        run(
            [
                sys.executable,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-deps",
                "--no-index",
                "--target",
                site,
                wheel,
            ]
        )
        borrow_packages(site)
        environment = os.environ | {
            "QUIZAPP_STATE_DIR": str(work / "state"),
            "QUIZAPP_CACHE_DIR": str(work / "cache"),
        }
        environment.pop("PYTHONPATH", None)

        def quizapp(*arguments: str, stdin: str = "", expect: tuple[int, ...] = (0,)) -> str:
            command = [env_python, "-m", "quizapp.cli", *arguments]
            return run(command, cwd=work, env=environment, stdin=stdin, expect=expect)

        where = run([env_python, "-c", "import quizapp; print(quizapp.__file__)"], cwd=work, env=environment)
        assert where.startswith(str(site)), f"the checkout was imported, not the wheel: {where}"
        assert "multi-gpu" in quizapp("list")
        quizapp("check")
        taken = json.loads(
            quizapp(
                "take",
                "multi-gpu",
                "--plain",
                "--json",
                "--seed",
                "1",
                stdin="a\n0\n1-2\n" * 200,
                expect=(0, 1),
            )
        )
        assert taken["questions"], taken
        ran = json.loads(quizapp("demo", "tiny-model", "--json", "--seconds", "2", "--devices", "2"))
        assert ran["outcome"] == "completed", ran
        assert ran["device_kind"] == "emulated", ran
        assert ran["diagnosis"] == "launch-bound", ran
    print("the wheel works: list, check, take --plain, demo tiny-model")


def borrow_packages(site: Path) -> None:
    """Let the fresh environment see this one's packages, without the checkout's own editable entry."""
    import site as this_site

    for folder in this_site.getsitepackages():
        hidden = site / "without_editable"
        hidden.mkdir(exist_ok=True)
        for entry in Path(folder).iterdir():
            if "quizapp" not in entry.name and entry.suffix != ".pth" and not (hidden / entry.name).exists():
                (hidden / entry.name).symlink_to(entry)
    (site / "borrowed.pth").write_text(f"{site / 'without_editable'}\n")


def run(
    command: list[object],
    *,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    stdin: str = "",
    expect: tuple[int, ...] = (0,),
) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=env,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in expect:
        sys.exit(f"{command} exited with {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout


if __name__ == "__main__":
    main()
