"""`quizapp doctor`: what this machine can run, and why not the rest."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

import click

from quizapp.errors import QuizappError

State = Literal["ok", "limited", "missing", "broken"]


class Check(NamedTuple):
    """One thing that was looked at. `limited` and `missing` take something away, `broken` needs mending."""

    name: str
    state: State
    said: str
    hint: str = ""


@click.command(name="doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(as_json: bool) -> int:
    """Say what this machine can run, and why not the rest. Exit status 1 when something needs mending."""
    checks = list(_checks())
    can = _abilities({check.name: check for check in checks})
    if as_json:
        import json

        click.echo(json.dumps({"can": can, "checks": [check._asdict() for check in checks]}, indent=2))
    else:
        _print(checks, can)
    return 1 if any(check.state == "broken" for check in checks) else 0


def _print(checks: list[Check], can: dict[str, str]) -> None:
    from quizapp.bank.text import visible

    for what, why_not in can.items():
        click.echo(visible(f"{'no ' if why_not else 'yes'}  {what}" + (f": {why_not}" if why_not else "")))
    click.echo()
    width = max(len(check.name) for check in checks)
    for check in checks:
        click.echo(visible(f"{check.state:8} {check.name:{width}}  {check.said}"))
        if check.hint and check.state != "ok":
            click.echo(visible(f"{'':8} {'':{width}}  {check.hint}"))


def _abilities(checks: dict[str, Check]) -> dict[str, str]:
    """What can be done here -> why not, "" when it can."""

    def lacking(*names: str) -> str:
        return "; ".join(
            f"{name}: {checks[name].said}" for name in names if checks[name].state in ("missing", "broken")
        )

    demos = lacking("system", "torch", "numpy", "demos")
    return {
        "take a bank": lacking("banks") if checks["banks"].state == "missing" else "",
        "keep attempts": lacking("state folder"),
        "run demos on emulated devices": demos,
        "run demos on GPUs": demos or lacking("torch for CUDA", "nvidia-ml-py", "GPUs"),
    }


def _checks() -> Iterator[Check]:
    yield Check("Python", "ok", ".".join(map(str, sys.version_info[:3])))
    yield _system()
    yield from _torch()
    yield from (_package(name, why) for name, why in _PACKAGES.items())
    yield _gpus()
    yield _peak_memory()
    yield from _terminal()
    yield _state()
    yield _folder("cache folder", _cache_dir(), "QUIZAPP_CACHE_DIR", "limited")
    yield from _banks()
    yield _demos()


_PACKAGES = {
    "numpy": "needed to run demos",
    "psutil": "needed to see the memory of a demo's processes",
    "nvidia-ml-py": "needed to see GPUs",
}
_INSTALL = "pip install 'quizapp-lab[torch]'"
# The oldest that the demos' emulated devices were tested with.
_OLDEST_TORCH = (2, 13)


def _system() -> Check:
    if sys.platform == "linux":
        return Check("system", "ok", "Linux")
    return Check(
        "system", "missing", f"{sys.platform}; demos run on Linux only", "Banks can be taken all the same."
    )


def _package(name: str, why: str) -> Check:
    version = _version(name)
    if version:
        return Check(name, "ok", version)
    return Check(name, "missing", f"not installed; {why}", _INSTALL)


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _torch() -> Iterator[Check]:
    version = _version("torch")
    if not version:
        yield Check("torch", "missing", "not installed; demos are PyTorch programs", _INSTALL)
        yield Check("torch for CUDA", "missing", "torch is not installed", _INSTALL)
        return
    numbers = [int(part) if part.isdecimal() else 0 for part in version.split("+")[0].split(".")[:2]]
    if tuple(numbers) < _OLDEST_TORCH:
        oldest = ".".join(map(str, _OLDEST_TORCH))
        yield Check("torch", "missing", f"{version} is too old; demos need {oldest}", _INSTALL)
    else:
        yield Check("torch", "ok", version)
    cuda = _cuda_of_torch()
    if cuda:
        yield Check("torch for CUDA", "ok", f"built for CUDA {cuda}")
    else:
        yield Check(
            "torch for CUDA",
            "missing",
            "this torch is built without CUDA",
            "https://pytorch.org/get-started has the others.",
        )


def _cuda_of_torch() -> str:
    # Importing torch takes seconds; what it was built for stands in a file beside it.
    import ast
    from importlib.util import find_spec

    try:
        spec = find_spec("torch")
        places = list(spec.submodule_search_locations or []) if spec else []
        tree = ast.parse((Path(places[0]) / "version.py").read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError, IndexError):
        return ""
    for node in tree.body:
        target = node.target if isinstance(node, ast.AnnAssign) else None
        if isinstance(node, ast.Assign):
            target = node.targets[0]  # type: ignore[assignment]
        if isinstance(target, ast.Name) and target.id == "cuda":
            value = getattr(node, "value", None)
            return str(value.value) if isinstance(value, ast.Constant) and value.value else ""
    return ""


def _gpus() -> Check:
    from quizapp.lab.nvml import inventory, open_nvml

    found = inventory(open_nvml)
    if not found.gpus:
        return Check("GPUs", "missing", found.reason or "none", "Demos run on emulated devices all the same.")
    names = ", ".join(sorted({gpu.name for gpu in found.gpus}))
    said = f"{len(found.gpus)} ({names}), driver {found.driver or 'unknown'}"
    if len(found.free) < len(found.gpus):
        in_use = f"{said}; {len(found.free)} free for demos"
        return Check(
            "GPUs", "limited", in_use, "Others are in use, hidden by CUDA_VISIBLE_DEVICES, or split (MIG)."
        )
    return Check("GPUs", "ok", said)


def _peak_memory() -> Check:
    if os.path.exists("/proc/self/smaps_rollup"):
        return Check("memory of a demo", "ok", "measured as shares (PSS)")
    return Check("memory of a demo", "limited", "shared memory counts more than once here (no smaps_rollup)")


def _terminal() -> Iterator[Check]:
    term = os.environ.get("TERM", "")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        yield Check("terminal", "limited", "none: banks are taken in lines (--plain)")
    elif term in ("", "dumb"):
        yield Check("terminal", "limited", f"TERM={term or 'not set'}: banks are taken in lines (--plain)")
    else:
        columns, lines = os.get_terminal_size(sys.stdout.fileno())
        size = f"{term}, {columns}×{lines}"
        if columns < 80 or lines < 24:
            yield Check("terminal", "limited", f"{size} is small", "80×24 shows everything at once.")
        else:
            yield Check("terminal", "ok", size)
    encoding = sys.stdout.encoding or "unknown"
    if encoding.lower().replace("-", "") == "utf8":
        yield Check("characters", "ok", encoding)
    else:
        yield Check("characters", "limited", f"{encoding}: ASCII is used", "Set LC_ALL=C.UTF-8 for the rest.")
    yield Check("colours", "ok", _colours(term))
    yield _clipboard()


def _colours(term: str) -> str:
    if os.environ.get("NO_COLOR"):
        return "none, as NO_COLOR asks"
    if os.environ.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return "16 million"
    return "256" if "256" in term else "16 or none"


def _clipboard() -> Check:
    if os.environ.get("TMUX"):
        return Check(
            "clipboard",
            "limited",
            "tmux may keep what is copied",
            "`tmux set -g set-clipboard on` lets it through; saving to a file always works.",
        )
    if os.environ.get("SSH_CONNECTION"):
        return Check("clipboard", "limited", "over SSH it depends on your terminal (OSC 52)")
    return Check("clipboard", "ok", "copied through the terminal (OSC 52)")


def _state() -> Check:
    from quizapp.content import state_dir
    from quizapp.store.database import FILE_NAME, StoreUnavailable
    from quizapp.store.store import Store

    folder = state_dir()
    writable = _folder("state folder", folder, "QUIZAPP_STATE_DIR", "broken")
    if writable.state != "ok" or not (folder / FILE_NAME).exists():
        return writable
    try:
        store = Store.open(folder)
        attempts = len(store.attempts())
        store.close()
    except StoreUnavailable as error:
        return Check("state folder", "broken", error.message, error.hint)
    return Check("state folder", "ok", f"{folder}, {attempts} {'attempt' if attempts == 1 else 'attempts'}")


def _cache_dir() -> Path:
    from quizapp.content import cache_dir

    return cache_dir()


def _folder(name: str, folder: Path, variable: str, otherwise: State) -> Check:
    """Whether a folder can be written to, or made; looking makes nothing that stays."""
    import tempfile

    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        said = f"{folder} can't be written: {error.strerror}"
        return Check(name, otherwise, said, f"Make it writable, or name another in {variable}.")
    return Check(name, "ok", str(folder))


def _banks() -> Iterator[Check]:
    from quizapp.bank.library import list_banks

    entries = list_banks()
    good = [entry for entry in entries if not entry.error]
    if good:
        yield Check("banks", "ok", f"{len(good)} ({', '.join(entry.id for entry in good[:10])})")
    else:
        yield Check("banks", "missing", "none found", "`quizapp new BANK` writes one.")
    for entry in entries:
        if entry.error:
            yield Check(f"bank {entry.id}", "broken", entry.error, f"quizapp check {entry.path}")


def _demos() -> Check:
    from quizapp.content import content_dir
    from quizapp.lab.catalogue import Catalogue

    try:
        catalogue = Catalogue.load([content_dir("demos")])
    except QuizappError as error:
        return Check("demos", "broken", error.message, error.hint)
    if catalogue.broken:
        return Check("demos", "broken", "; ".join(map(str, catalogue.broken)))
    if not catalogue:
        return Check("demos", "missing", "none found")
    return Check("demos", "ok", f"{len(catalogue)} ({', '.join(catalogue)})")
