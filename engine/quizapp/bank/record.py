"""Frozen dataclasses whose methods are shared instead of generated.

`dataclass` compiles six functions for each class. For a bank's dozen that takes longer than opening a bank
that was seen before, so these share one set, and are dataclasses for everyone else: `fields`, `replace`,
`asdict` and pydantic work on them.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field
from typing import Any, ClassVar, TypeVar, dataclass_transform

_Class = TypeVar("_Class", bound="type[Record]")


class Record:
    """Base of all records: built from keywords, compared by value, never changed."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init__(self, **values: Any) -> None:
        own = self.__dict__
        for name, declared in self.__dataclass_fields__.items():
            if declared._field_type is not _FIELD:  # type: ignore[attr-defined]
                continue
            if name in values:
                own[name] = values.pop(name)
            elif declared.default is not MISSING:
                own[name] = declared.default
            elif declared.default_factory is not MISSING:
                own[name] = declared.default_factory()
            else:
                raise TypeError(f"{type(self).__name__} needs {name}")
        if values:
            raise TypeError(f"{type(self).__name__} has no {', '.join(values)}")

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        return self.__dict__ == other.__dict__ if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self) -> int:
        return hash((self.__class__, *self.__dict__.values()))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({shown})"


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def record(cls: _Class) -> _Class:
    """Makes a subclass of Record a dataclass of its annotated names."""
    dataclass(cls, init=False, repr=False, eq=False)  # without slots it changes the class in place
    return cls


@dataclass(init=False, repr=False, eq=False)
class _Probe:
    """Has one field."""

    probe: int = 0


# dataclasses has no public name for "a field, and not a ClassVar".
_FIELD = _Probe.__dataclass_fields__["probe"]._field_type  # type: ignore[attr-defined]
