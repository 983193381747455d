"""Which demos there are, read from their source without running it.

A demo is a file `dp_sync.py` (its name is then `dp-sync`) with a literal `DEMO = {...}` and a docstring with
fixed headings. Both are taken from the syntax tree, so that listing and checking need no torch and execute
nothing.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from quizapp.bank.text import visible
from quizapp.content import content_dir
from quizapp.errors import QuizappError, nearest
from quizapp.lab.params import DeclarationError, ParamDeclaration, ParamError, Value, param_text, read_param

HEADINGS = ("What it shows", "Why", "Try", "Fix", "References")
VARIANTS = ("fault", "fix")
DIAGNOSES = ("healthy", "imbalance", "input-bound", "launch-bound", "out-of-memory", "inconclusive")
OUTCOMES = ("completed", "out-of-memory")
CONTROL = "healthy"

_KEYS = ("title", "summary", "seconds", "expects", "outcomes", "params", "comparison", "needs_gpu", "devices")
_FILE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*\.py")
_LARGEST_SOURCE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class ComparisonCell:
    """One more run that a demo's comparison shows beside control, fault and fix."""

    label: str
    variant: str
    params: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class DemoDeclaration:
    """What a demo says of itself: parameters, variants, and what each variant is to show."""

    name: str
    path: Path
    title: str
    summary: str
    sections: Mapping[str, str]
    params: Mapping[str, ParamDeclaration]
    variants: tuple[str, ...]
    expects: Mapping[str, str]
    outcomes: Mapping[str, str]
    seconds: float
    needs_gpu: bool
    devices: tuple[int, int]
    comparison: tuple[ComparisonCell, ...]
    source_hash: str

    def resolve(self, variant: str, overrides: Mapping[str, str] | None = None) -> dict[str, Value]:
        """Every parameter's value for a variant, with `overrides` typed; raises ParamError."""
        if variant not in self.variants:
            raise ParamError(
                f"{self.name} has no variant {variant!r}", hint="its variants: " + ", ".join(self.variants)
            )
        values = {name: param.value(variant) for name, param in self.params.items()}
        for name, text in (overrides or {}).items():
            values[name] = self.param(name).parse(text)
        return values

    def param(self, name: str) -> ParamDeclaration:
        """The declaration of a parameter; raises ParamError with the nearest known name."""
        if name in self.params:
            return self.params[name]
        near = nearest(name, list(self.params))
        known = "its parameters: " + ", ".join(self.params) if self.params else "it has no parameters"
        raise ParamError(
            f"{self.name} has no parameter {name!r}", hint=f"did you mean {near!r}?" if near else known
        )

    def check_param(self, name: str, text: str) -> str:
        """What is wrong with giving `name` the value `text`, with what is allowed; "" when nothing is."""
        try:
            self.param(name).parse(text)
        except ParamError as error:
            return f"{error.message}; {error.hint}"
        return ""

    def check_devices(self, count: int) -> str:
        """What is wrong with running on `count` devices; "" when nothing is."""
        low, high = self.devices
        return "" if low <= count <= high else f"{self.name} runs on {low} to {high} devices, not {count}"

    def for_control(self, control: DemoDeclaration, given: Mapping[str, str]) -> dict[str, str]:
        """The parameters under which `control` runs beside this demo, as texts.

        Those that both have, as far as the control allows them; what the variants set is the fault itself.
        """
        shared = {}
        for name, param in self.params.items():
            if name in control.params and not param.by_variant:
                text = given.get(name, param_text(param.default))
                if not control.check_param(name, text):
                    shared[name] = text
        return shared

    def source(self) -> str:
        """The program's text."""
        return self.path.read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class BrokenDemo:
    """A file in a demo folder that can't be read as a demo, and why."""

    name: str
    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


class UnknownDemo(QuizappError):
    """No demo of that name, or one whose file can't be read as a demo."""


@dataclass(frozen=True)
class Catalogue(Mapping[str, DemoDeclaration]):
    """The demos of one or more folders, by name, the control first."""

    demos: Mapping[str, DemoDeclaration]
    broken: tuple[BrokenDemo, ...] = ()
    folders: tuple[Path, ...] = field(default=())

    @classmethod
    def load(cls, folders: Sequence[Path] | None = None) -> Catalogue:
        """Read every demo of `folders` (by default, those that ship); a name is taken once, first come."""
        places = tuple(folders) if folders is not None else (content_dir("demos"),)
        found: dict[str, DemoDeclaration] = {}
        broken: list[BrokenDemo] = []
        for folder in places:
            if not folder.is_dir():
                raise QuizappError(f"{folder}: no such folder of demos")
            for path in sorted(folder.glob("*.py")):
                if not _FILE.fullmatch(path.name):
                    continue  # `_shared.py` and the like are no demos
                name = path.stem.replace("_", "-")
                try:
                    declaration = read_demo(path)
                except DemoUnreadable as error:
                    broken.append(BrokenDemo(name, path, error.line, str(error)))
                    continue
                if name in found:
                    message = f"the name {name} is taken by {found[name].path}"
                    broken.append(BrokenDemo(name, path, 1, message))
                    continue
                found[name] = declaration
        ordered = sorted(found, key=lambda name: (name != CONTROL, name))
        return cls({name: found[name] for name in ordered}, tuple(broken), places)

    def __getitem__(self, name: str) -> DemoDeclaration:
        return self.demos[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.demos)

    def __len__(self) -> int:
        return len(self.demos)

    def find(self, name: str) -> DemoDeclaration:
        """The demo called `name`; raises UnknownDemo with the nearest name, or why its file is broken."""
        if name in self.demos:
            return self.demos[name]
        for demo in self.broken:
            if demo.name == name:
                raise UnknownDemo(f"the demo {name} can't be used: {demo}")
        near = nearest(name, list(self.demos))
        hint = f"did you mean {near!r}?" if near else "quizapp demo lists them"
        raise UnknownDemo(f"no demo is called {visible(name)[:60]!r}", hint=hint)


class DemoUnreadable(ValueError):
    """A file that is no demo; `line` says where."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def read_demo(path: Path) -> DemoDeclaration:
    """What the demo at `path` declares; raises DemoUnreadable. Nothing of the file is executed."""
    try:
        if path.stat().st_size > _LARGEST_SOURCE_BYTES:
            raise DemoUnreadable(1, "a demo's source is 1 MiB at most")
        content = path.read_bytes()
        tree = ast.parse(content, filename=str(path))
    except OSError as error:
        raise DemoUnreadable(1, f"can't be read: {error.strerror}") from error
    except SyntaxError as error:
        raise DemoUnreadable(error.lineno or 1, f"no valid Python: {error.msg}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise DemoUnreadable(1, f"no valid Python: {error}") from error
    literal = _demo_literal(tree)
    docstring = ast.get_docstring(tree)
    if not docstring:
        raise DemoUnreadable(1, "its docstring is missing; headings: " + ", ".join(HEADINGS))
    lead, sections = _sections(docstring)
    missing = [heading for heading in HEADINGS if heading not in sections]
    if missing:
        raise DemoUnreadable(1, "its docstring lacks the heading " + ", ".join(missing))
    if not any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body):
        raise DemoUnreadable(1, "def main(lab) is missing")
    try:
        return _declaration(path, literal[1], lead, sections, hashlib.sha256(content).hexdigest())
    except DeclarationError as error:
        raise DemoUnreadable(literal[0], f"DEMO: {error}") from error


def _demo_literal(tree: ast.Module) -> tuple[int, dict[str, object]]:
    for node in tree.body:
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        else:
            continue
        if not any(isinstance(target, ast.Name) and target.id == "DEMO" for target in targets):
            continue
        if node.value is None:
            break
        try:
            value = ast.literal_eval(node.value)
        except (ValueError, TypeError, RecursionError, MemoryError, SyntaxError) as error:
            raise DemoUnreadable(node.lineno, "DEMO must be a literal: nothing in it is executed") from error
        if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
            raise DemoUnreadable(node.lineno, "DEMO must be a dict with strings as keys")
        return node.lineno, value
    raise DemoUnreadable(1, "DEMO = {…} is missing")


def _sections(docstring: str) -> tuple[str, dict[str, str]]:
    """The text before the first heading, and the text under each; `Why:`, `## Why` and underlining all do."""
    by_heading: dict[str, list[str]] = {"": []}
    current = ""
    for line in docstring.splitlines():
        stripped = line.strip()
        bare = stripped.lstrip("#").strip()
        heading, colon, rest = bare.partition(":")
        if bare in HEADINGS or (colon and heading in HEADINGS and not line.startswith(" ")):
            current = heading if colon else bare
            by_heading.setdefault(current, [])
            if rest.strip():
                by_heading[current].append(rest.strip())
        elif not ((stripped and set(stripped) <= {"-"}) or (stripped and set(stripped) <= {"="})):
            by_heading[current].append(line)
    texts = {name: visible(_dedent("\n".join(lines))) for name, lines in by_heading.items()}
    return texts.pop(""), texts


def _dedent(text: str) -> str:
    """`text` without the indentation that all of its lines share."""
    import textwrap

    return textwrap.dedent(text).strip("\n").rstrip()


def _declaration(
    path: Path, raw: dict[str, object], lead: str, sections: Mapping[str, str], source_hash: str
) -> DemoDeclaration:
    for key in raw:
        if key not in _KEYS:
            near = nearest(key, list(_KEYS))
            raise DeclarationError(f"unknown key {key!r}" + (f"; did you mean {near!r}?" if near else ""))
    name = path.stem.replace("_", "-")
    expects = _by_variant("expects", raw.get("expects"), DIAGNOSES)
    if not expects:
        raise DeclarationError("expects is missing: {variant: diagnosis}")
    variants = tuple(variant for variant in VARIANTS if variant in expects)
    outcomes = dict.fromkeys(variants, "completed") | _by_variant(
        "outcomes", raw.get("outcomes", {}), OUTCOMES
    )
    if set(outcomes) != set(variants):
        raise DeclarationError("outcomes names a variant that expects doesn't")
    params_raw = raw.get("params", {})
    if not isinstance(params_raw, dict):
        raise DeclarationError("params must be a dict")
    params = {str(key): read_param(str(key), value, variants) for key, value in params_raw.items()}
    seconds = raw.get("seconds")
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds <= 3600:
        raise DeclarationError("seconds must be a number above 0, of device time, 3600 at most")
    needs_gpu = raw.get("needs_gpu", False)
    if not isinstance(needs_gpu, bool):
        raise DeclarationError("needs_gpu must be True or False")
    title = raw.get("title")
    if not isinstance(title, str) or not title.strip():
        raise DeclarationError("title is missing")
    summary = raw.get("summary", "")
    if not isinstance(summary, str):
        raise DeclarationError("summary must be a string")
    first_paragraph = " ".join(lead.strip().split("\n\n")[0].split())
    return DemoDeclaration(
        name=name,
        path=path,
        title=visible(title),
        summary=visible(summary) or first_paragraph or visible(title),
        sections=sections,
        params=params,
        variants=variants,
        expects=expects,
        outcomes=outcomes,
        seconds=float(seconds),
        needs_gpu=needs_gpu,
        devices=_device_range(raw.get("devices", [1, 64])),
        comparison=_comparison(raw.get("comparison", []), params, variants),
        source_hash=source_hash,
    )


def _by_variant(key: str, raw: object, allowed: tuple[str, ...]) -> dict[str, str]:
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        raise DeclarationError(f"{key} must be a dict")
    for variant, value in raw.items():
        if variant not in VARIANTS:
            raise DeclarationError(f"{key}: {variant!r} is no variant; there are fault and fix")
        if value not in allowed:
            near = nearest(str(value), list(allowed))
            tail = f"; did you mean {near!r}?" if near else ""
            raise DeclarationError(f"{key}: {variant}: {value!r} is not one of {', '.join(allowed)}{tail}")
    return {variant: raw[variant] for variant in VARIANTS if variant in raw}


def _device_range(raw: object) -> tuple[int, int]:
    if (
        isinstance(raw, (list, tuple))
        and len(raw) == 2
        and all(isinstance(bound, int) and not isinstance(bound, bool) for bound in raw)
        and 1 <= raw[0] <= raw[1] <= 1024
    ):
        return raw[0], raw[1]
    raise DeclarationError("devices must be [fewest, most], 1 to 1024")


def _comparison(
    raw: object, params: Mapping[str, ParamDeclaration], variants: tuple[str, ...]
) -> tuple[ComparisonCell, ...]:
    if not isinstance(raw, (list, tuple)):
        raise DeclarationError("comparison must be a list")
    cells = []
    for cell in raw:
        if not isinstance(cell, dict) or set(cell) - {"label", "variant", "params"}:
            raise DeclarationError("comparison: each cell is {label, variant, params}")
        label, variant, given = cell.get("label"), cell.get("variant"), cell.get("params", {})
        if not isinstance(label, str) or not label:
            raise DeclarationError("comparison: a cell's label is missing")
        if variant not in variants:
            raise DeclarationError(f"comparison: {label}: variant {variant!r} is not declared")
        if not isinstance(given, dict):
            raise DeclarationError(f"comparison: {label}: params must be a dict")
        for name, value in given.items():
            if name not in params:
                raise DeclarationError(f"comparison: {label}: no parameter {name!r}")
            if not params[name].holds(value):
                allowed = params[name].allowed()
                raise DeclarationError(f"comparison: {label}: {name}: {value!r} is not {allowed}")
        cells.append(ComparisonCell(visible(label), variant, dict(given)))
    return tuple(cells)


def lab_source_hash() -> str:
    """One hash over the lab's own source and device files, which every run depends on."""
    digest = hashlib.sha256()
    here = Path(__file__).parent
    files = sorted(
        [*here.rglob("*.py"), *here.rglob("*.json")], key=lambda path: path.relative_to(here).as_posix()
    )
    for path in files:
        content = path.read_bytes()
        digest.update(f"{path.relative_to(here).as_posix()}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()
