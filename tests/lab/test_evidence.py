from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

import quizapp.lab
from lab_lines import steady, summary
from quizapp.content import content_dir
from quizapp.errors import QuizappError
from quizapp.lab.catalogue import Catalogue
from quizapp.lab.evidence import SHOWS_ONLY, installed_torch, record_of, run_key, summary_of
from quizapp.lab.shipped import evidence_file, read_evidence, read_shipped, write_evidence

LAB = Path(quizapp.lab.__file__).parent
DEMOS = Catalogue.load([content_dir("demos")])


def key(variant: str = "fault", seed: int = 1, devices: int = 8, **params: str):  # type: ignore[no-untyped-def]
    return run_key(DEMOS["dp-sync"], variant, params, devices=devices, seed=seed)


def test_a_key_covers_all_that_changes_a_run() -> None:
    texts = {
        key().text,
        key("fix").text,
        key(seed=2).text,
        key(devices=4).text,
        key(split="even").text,
        run_key(DEMOS["healthy"], DEMOS["healthy"].variants[0], {}, devices=8, seed=1).text,
    }
    assert len(texts) == 6


def test_a_parameter_given_as_its_default_is_the_same_run() -> None:
    assert key(split="uneven").text == key().text


def test_a_changed_demo_makes_its_evidence_stale(tmp_path: Path) -> None:
    for source in content_dir("demos").glob("*.py"):
        (tmp_path / source.name).write_bytes(source.read_bytes())
    edited = tmp_path / "dp_sync.py"
    edited.write_text(edited.read_text(encoding="utf-8") + "\n# another comment\n", encoding="utf-8")
    changed = Catalogue.load([tmp_path])["dp-sync"]
    assert run_key(changed, "fault", {}, devices=8, seed=1).text != key().text


def lab_imports(module: str, seen: set[str]) -> set[str]:
    """Modules of the lab that `module` pulls in, at any depth and in any function."""
    seen.add(module)
    for node in ast.walk(ast.parse((LAB / f"{module}.py").read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module == "quizapp.lab":
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("quizapp.lab."):
            names = [str(node.module).removeprefix("quizapp.lab.")]
        for name in names:
            if name not in seen and (LAB / f"{name}.py").exists():
                lab_imports(name, seen)
    return seen


def test_no_module_that_decides_a_run_is_left_out_of_its_key() -> None:
    decides = lab_imports("kit", set()) | {"meters", "summary", "diagnose"}
    assert {"timeline", "plan", "cost", "emulated"} <= decides
    assert not decides & SHOWS_ONLY
    assert [name for name in sorted(SHOWS_ONLY) if not (LAB / f"{name}.py").exists()] == []


def test_the_torch_version_is_known_without_importing_it() -> None:
    torch = pytest.importorskip("torch", reason="needs PyTorch to compare with")
    assert installed_torch() == torch.__version__


def test_a_record_gives_its_summary_back() -> None:
    run = summary({"compute": steady([0.97, 0.123456789]), "memory_bytes": steady([2**33] * 2)}, seed=3)
    record = json.loads(json.dumps(record_of(key(), run, "2026-01-01T00:00:00+00:00")))
    again = summary_of(record)
    assert again.outcome == run.outcome
    assert again.devices == 2
    assert again.seed == 3
    assert again.meters["compute"][1].mean == pytest.approx(0.123457, abs=1e-9)  # type: ignore[union-attr]
    assert again.notice == run.notice
    assert summary_of(json.loads(json.dumps(record_of(key(), again, "")))) == again


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"measured": None},
        {"measured": {"devices": 10**9}},
        {"measured": {"devices": 2, "outcome": "won", "device_kind": "emulated", "meters": {}}},
        {"measured": {"devices": 2, "outcome": "completed", "device_kind": "tpu", "meters": {}}},
        {
            "measured": {
                "devices": 2,
                "outcome": "completed",
                "device_kind": "cuda",
                "meters": {"util": [1, 2]},
            }
        },
    ],
)
def test_a_record_that_is_none_is_refused(change: dict[str, object]) -> None:
    record = record_of(key(), summary({"compute": steady([0.97, 0.5])}), "")
    with pytest.raises(ValueError, match=r"."):
        summary_of(record | change)


def test_texts_of_foreign_evidence_lose_their_control_characters() -> None:
    record = record_of(key(), summary({"compute": steady([0.97, 0.5])}), "")
    record["measured"]["notice"] = "\x1b]0;owned\x07"
    assert "\x1b" not in summary_of(record).notice


def test_an_evidence_file_is_read_back_and_lies_beside_its_bank(tmp_path: Path) -> None:
    bank = tmp_path / "gpus.yaml"
    record = record_of(key(), summary({"compute": steady([0.97, 0.5])}), "")
    assert read_shipped(bank) == {}
    write_evidence(evidence_file(bank), "gpus", {key().text: record})
    assert (tmp_path / "gpus.evidence.json").exists()
    assert read_shipped(bank) == {key().text: json.loads(json.dumps(record))}


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"[]", b'{"format": 9, "records": {}}', b"[" * 100_000]
)
def test_a_file_that_is_no_evidence_is_a_clear_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.evidence.json"
    path.write_bytes(content)
    with pytest.raises(QuizappError, match=r"x\.evidence\.json"):
        read_evidence(path)
