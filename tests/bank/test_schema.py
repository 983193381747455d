"""The JSON schema for editors."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest

from quizapp.bank import model
from quizapp.bank.schema import json_schema, schema_text
from quizapp.content import content_dir


def test_the_shipped_schema_is_current() -> None:
    shipped = (content_dir("quizzes") / "bank.schema.json").read_text(encoding="utf-8")
    assert shipped == schema_text(), "run `make schema`"


def test_the_module_writes_it(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    subprocess.run([sys.executable, "-m", "quizapp.bank.schema", str(out)], check=True)
    assert out.read_text(encoding="utf-8") == schema_text()


PARTS = [
    model.Bank,
    model.Take,
    model.SingleChoice,
    model.MultipleChoice,
    model.Option,
    model.DemoLink,
    model.Symptom,
    model.Predicate,
    model.Range,
    model.Explanation,
    model.Figure,
    model.Reference,
    model.TrueFalse,
    model.Side,
    model.Numeric,
    model.Interval,
    model.ShortText,
    model.Mistake,
    model.Scoring,
    model.Ordering,
    model.Item,
    model.Matching,
    model.Pair,
]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_every_field_can_be_completed_and_nothing_else(part: type) -> None:
    schema = json_schema()
    described = schema if part is model.Bank else schema["$defs"][part.__name__]
    fields = dataclasses.fields(part)
    names = {field.metadata.get("alias", field.name) for field in fields}
    assert set(described["properties"]) == names
    assert described["additionalProperties"] is False
    required = {
        field.metadata.get("alias", field.name)
        for field in fields
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }
    assert set(described.get("required", [])) == required


def test_editors_accept_the_spellings_that_the_loader_reads() -> None:
    schema = json_schema()
    predicate = schema["$defs"]["Predicate"]["properties"]
    assert {"$ref": "#/$defs/Range"} in predicate["value"]["anyOf"]
    assert {"type": "number"} in predicate["value"]["anyOf"]
    assert predicate["devices"]["anyOf"] == [{"type": "integer", "minimum": 1}, {"const": "all"}]
    assert "number" in schema["$defs"]["Option"]["properties"]["text"]["type"]
    assert "number" in schema["$defs"]["DemoLink"]["properties"]["params"]["additionalProperties"]["type"]
    assert schema["properties"]["format"]["const"] == 1
    assert "null" not in json.dumps(schema)


def test_fields_explain_themselves_in_the_editor() -> None:
    option = json_schema()["$defs"]["Option"]["properties"]
    assert option["rationale"]["description"] == "Markdown: why this option is right or wrong."
