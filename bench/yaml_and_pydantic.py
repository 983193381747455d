"""The peer of loading a bank: PyYAML's C loader and pydantic models, as most projects would write it."""

from __future__ import annotations

import sys
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict

from peak_memory import peak_bytes


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Demo(_Part):
    name: str
    variant: Literal["fault", "fix"] = "fault"
    params: dict[str, int | str] = {}


class Option(_Part):
    id: str
    text: str
    correct: bool = False
    rationale: str
    demo: Demo | None = None
    pin: Literal["first", "last"] | None = None


class Bounds(_Part):
    min: float | None = None
    max: float | None = None


class Predicate(_Part):
    says: str
    meter: str | None = None
    devices: int | Literal["all"] | None = None
    mean: Bounds | None = None


class Symptom(_Part):
    devices: int = 8
    where: list[Predicate]


class Explanation(_Part):
    short: str
    full: str = ""


class Reference(_Part):
    title: str
    url: str


class Question(_Part):
    id: str
    revision: int = 1
    kind: Literal["single-choice"]
    objective: str | None = None
    target_time: str | None = None
    stem: str
    symptom: Symptom | None = None
    options: list[Option]
    explanation: Explanation
    references: list[Reference] = []
    verified_by: Literal["experiment", "reference", "judgement"] = "judgement"


class Take(_Part):
    shuffle: list[str] = []
    pass_mark: str | None = None


class Bank(_Part):
    format: int
    title: str
    objectives: dict[str, str] = {}
    take: Take
    questions: list[Question]


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        bank = Bank.model_validate(yaml.load(file, Loader=yaml.CSafeLoader))
    assert bank.questions
    print(peak_bytes())
