"""pydantic over the dataclasses of `model.py`: validation in, JSON schema out.

`python -m quizapp.bank.schema OUT` writes the schema for editors.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from quizapp.bank.model import KINDS, Bank, Question, Symptom

SCHEMA_NAME = "bank.schema.json"


@cache
def question_adapter(kind: str) -> TypeAdapter[Question]:
    """Validates the fields of one question of this kind."""
    return TypeAdapter(KINDS[kind])


@cache
def symptom_adapter() -> TypeAdapter[Symptom]:
    """Validates a symptom by itself."""
    return TypeAdapter(Symptom)


@cache
def bank_adapter() -> TypeAdapter[Bank]:
    """Validates a whole bank; questions may be validated ones."""
    return TypeAdapter(Bank)


def json_schema() -> dict[str, Any]:
    """The schema that an editor checks and completes a bank with (JSON Schema 2020-12)."""
    schema: dict[str, Any] = bank_adapter().json_schema()
    _tidy(schema)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "quizapp bank",
        **{name: part for name, part in schema.items() if name != "title"},
    }


def schema_text() -> str:
    """`json_schema` as it stands in the file."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def _tidy(part: Any) -> None:
    """Take out pydantic's titles and the nulls of optional fields: a field is given, or left out."""
    if isinstance(part, list):
        for item in part:
            _tidy(item)
    if not isinstance(part, dict):
        return
    if "anyOf" in part:
        choices = [choice for choice in _flat(part.pop("anyOf")) if choice != {"type": "null"}]
        part.update(choices[0] if len(choices) == 1 else {"anyOf": choices})
    if part.get("default", "") in (None, "", [], {}):
        part.pop("default", None)
    if isinstance(part.get("title"), str):
        del part["title"]
    for item in part.values():
        _tidy(item)


def _flat(choices: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        inner
        for choice in choices
        for inner in (_flat(choice["anyOf"]) if set(choice) == {"anyOf"} else [choice])
    ]


if __name__ == "__main__":
    import sys

    if len(sys.argv) != 2:
        sys.exit("usage: python -m quizapp.bank.schema OUT")
    Path(sys.argv[1]).write_text(schema_text(), encoding="utf-8")
