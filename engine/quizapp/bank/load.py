"""A bank out of its file: every error at once, each with its line."""

from __future__ import annotations

import gc
import hashlib
import os
import stat
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from quizapp.bank.compiled import stamp_of
from quizapp.bank.consistency import Complaint, complaints, option_complaints, symptom_complaints
from quizapp.bank.findings import BankError, BankNotFound, Finding, Severity, Where
from quizapp.bank.model import KINDS, Bank, Numeric, Question, Reading
from quizapp.bank.snapshot import question_from_json, question_to_json
from quizapp.bank.strip import StripError, read_strip
from quizapp.bank.wording import in_words, place_words
from quizapp.bank.yaml_tree import Places, Reports, Unusable, YamlFault, build
from quizapp.errors import nearest

if TYPE_CHECKING:
    from pydantic import ValidationError

# 10,000 questions of 2.5 kB are 25 MB; past that a bank is better split, and a wrong file is likelier.
MAX_BYTES = 32 * 1024 * 1024
MAX_FINDINGS = 1000
MAX_RESTARTS = 50


_NO_MARKS: array[int] = array("Q")


class _TooManyFindings(Exception):
    pass


@dataclass(frozen=True, slots=True)
class LoadedBank:
    """A bank with the places of all its parts. `bank.questions[i]` has its places in `places[i]`."""

    path: str
    hash: str
    bank: Bank
    head: Places
    places: list[Places]
    whole: bool
    """Whether this is all of the bank; else what is missing has errors."""
    beside: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    """The recordings that are part of it, each with its stamp from before it was read."""

    def finding(
        self,
        where: Where,
        code: str,
        message: str,
        hint: str,
        *,
        severity: Severity = "error",
        key: bool = False,
    ) -> Finding:
        """A finding about the part at `where`, such as ("questions", 3, "options", 0, "text")."""
        place, question_id = self.head.find(where, key=key), ""
        option_ids: tuple[str, ...] = ()
        if len(where) > 1 and where[0] == "questions" and isinstance(where[1], int):
            question = self.bank.questions[where[1]]
            place = self.places[where[1]].find(where[2:], key=key)
            question_id, option_ids = question.id, tuple(option.id for option in question.options)
        return Finding(
            path=self.path,
            line=place[0] + 1,
            column=place[1] + 1,
            where=place_words(where, question_id, option_ids),
            message=message,
            hint=hint,
            severity=severity,
            code=code,
        )


def load_bank(path: Path) -> LoadedBank:
    """The bank in the file `path`. Raises BankNotFound, or BankError with all findings."""
    loaded, findings = read_bank(path)
    if findings:
        raise BankError(str(path), findings)
    return loaded


def read_bank(path: Path) -> tuple[LoadedBank, list[Finding]]:
    """What is valid of a bank, and the errors in the rest. Raises where nothing can be read at all."""
    source = read_source(path)
    reading = _Reading(str(path))
    with _collector_paused():
        reading.read(source)
    digest = hashlib.sha256(source).hexdigest()
    return LoadedBank(
        str(path),
        digest,
        reading.bank,
        reading.head,
        reading.places,
        not reading.findings,
        reading.beside,
    ), reading.findings


def read_source(path: Path) -> bytes:
    """The bytes of a bank's file, when it is one: a regular file of text, neither empty nor too large."""
    try:
        # Not blocking: a pipe without a writer would hold the open for ever.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, NotADirectoryError):
        raise BankNotFound(
            f"there is no file {path}", hint="`quizapp list` shows the banks there are"
        ) from None
    except ValueError:
        raise BankNotFound(f"{str(path)!r} can't be the name of a file") from None
    except OSError as error:
        raise _unreadable(path, f"can't be read: {error.strerror}", "check its permissions") from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise _unreadable(path, "is a folder", "name a file in it")
        raise _unreadable(path, "is no regular file", "name a YAML file")
    with os.fdopen(descriptor, "rb") as file:
        source = file.read(MAX_BYTES + 1) if status.st_size <= MAX_BYTES else b"\n"
    if status.st_size > MAX_BYTES or len(source) > MAX_BYTES:
        message = f"has {status.st_size / 1024**2:.0f} MiB; a bank has {MAX_BYTES // 1024**2} MiB at most"
        raise _unreadable(path, message, "split it into several banks")
    if not source.strip():
        raise _unreadable(path, "is empty", "`quizapp new` writes a bank to start from")
    if source.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")) or (
        source[1:2] == b"\0" and source[3:4] == b"\0"
    ):
        raise _unreadable(path, "is UTF-16 or UTF-32 text", "save it as UTF-8")
    if b"\0" in source:
        raise _unreadable(path, "is a binary file", "a bank is YAML text")
    return source.removeprefix(b"\xef\xbb\xbf")


def _unreadable(path: Path, message: str, hint: str) -> BankError:
    finding = Finding(
        path=str(path), line=1, column=1, where="file", message=message, hint=hint, code="unreadable-file"
    )
    return BankError(str(path), [finding])


def _of_question(question: Question) -> Iterator[Complaint]:
    """Errors of one question; of one with variables as it would be asked with the first values of these."""
    if question.variables or isinstance(question, Numeric):
        from quizapp.bank.variables import complaints as variable_complaints
        from quizapp.bank.variables import first_filled

        found = list(variable_complaints(question))
        if found:
            yield from found
            return
        if question.variables:
            question = question_from_json(first_filled(question_to_json(question), question.variables))
    yield from complaints(question)


class _Reading(Reports):
    def __init__(self, path: str) -> None:
        from quizapp.bank.schema import question_adapter

        self.path = path
        self.findings: list[Finding] = []
        self.bank = Bank(format=1, title="", questions=())
        self.head = Places((), _NO_MARKS)
        self.places: list[Places] = []
        self.beside: dict[str, tuple[int, int, int]] = {}
        self._questions: list[Question] = []
        self._ids: dict[str, Places] = {}
        self._objectives: list[tuple[str, str, int, Places]] = []
        self._count = 0
        self._base = 0  # index of the first question that the builder now counts as 0
        self._adapters = {kind: question_adapter(kind) for kind in KINDS}

    def read(self, source: bytes) -> None:
        try:
            self._read(source)
        except _TooManyFindings:
            self.bank = Bank(format=1, title="", questions=tuple(self._questions))
        self.findings.sort(key=lambda finding: (finding.line, finding.column))

    def _read(self, source: bytes) -> None:
        fault = None
        try:
            document, self.head = build(source, self)
        except YamlFault as caught:
            fault, document, self.head = caught, caught.document, caught.places
            self._read_on(source, fault)
        from pydantic import ValidationError

        from quizapp.bank.schema import bank_adapter

        if not isinstance(document, dict):
            if fault is None:
                hint = "start with format: 1, title: … and questions:"
                self._add(0, 0, "", "wrong-shape", "is no bank", hint)
            return
        if isinstance(document.get("questions"), list) or fault is not None:
            if not self._count and fault is None:
                place = self.head.find(("questions",))
                self._add(
                    *place, "questions", "no-questions", "no question stands here", "write one at least"
                )
            document["questions"] = self._questions
        self._check_objectives(document.get("objectives"))
        try:
            self.bank = bank_adapter().validate_python(document)
        except ValidationError as error:
            # What is missing may stand in the lines that can't be read.
            self._explain(error, None, (), self.head, "", (), skip="missing" if fault else "")
            self.bank = Bank(format=1, title="", questions=tuple(self._questions))

    def _read_on(self, source: bytes, fault: YamlFault) -> None:
        """Report the fault, and go on with the next question, so that a syntax error hides no other error."""
        lines = source.split(b"\n")
        for _ in range(MAX_RESTARTS):
            self._add(fault.line, fault.column, "", "yaml", fault.message, fault.hint)
            start = _next_question(lines, fault.line + 1) if fault.syntax else None
            if start is None:
                return
            if "questions" in fault.places.tokens:
                self._count += 1  # the one that the fault is in
            self._base = self._count
            try:
                build(b"\n" * (start - 1) + b"questions:\n" + b"\n".join(lines[start:]), self)
                return
            except YamlFault as caught:
                fault = caught
        self._add(fault.line, fault.column, "", "yaml", fault.message, fault.hint)

    def _check_objectives(self, objectives: object) -> None:
        known = list(objectives) if isinstance(objectives, dict) else []
        for name, question_id, index, places in self._objectives:
            if name not in known:
                match = nearest(name, known)
                listed = f"objectives lists {', '.join(known) or 'none'}; add it there"
                where = place_words(("questions", index, "objective"), question_id)
                hint = f"did you mean {match}?" if match else listed
                place = places.find(("objective",))
                self._add(*place, where, "unknown-objective", f"{name} is no objective of this bank", hint)

    def _note_objective(self, value: dict[str, object], index: int, places: Places) -> None:
        name = value.get("objective")
        if isinstance(name, str) and not isinstance(name, Unusable):
            self._objectives.append((name, _id_of(value), index, places))

    def question(self, value: object, places: Places) -> None:
        index, self._count = self._count, self._count + 1
        if not isinstance(value, dict):
            if not isinstance(value, Unusable):
                where = place_words(("questions", index))
                self._add(
                    *places.find(()), where, "wrong-shape", "must be a mapping", "start it with - id: …"
                )
            return
        question_id = _id_of(value)
        if question_id:
            self._note_id(question_id, index, places)
        self._note_objective(value, index, places)
        kind = value.get("kind")
        adapter = self._adapters.get(kind) if isinstance(kind, str) else None
        if adapter is None:
            self._wrong_kind(value, index, places)
            return
        from pydantic_core import ValidationError

        try:
            question = adapter.validate_python(value)
        except ValidationError as error:
            options = value.get("options")
            ids = [_id_of(option) for option in options] if isinstance(options, list) else []
            self._explain(error, str(kind), ("questions", index), places, question_id, ids)
            problems = list(_complaints_of_parts(value))
        else:
            question, problems = self._with_strip(question)
            problems += _of_question(question)
            ids = [option.id for option in question.options] if problems else []
            if not problems:
                self._questions.append(question)
                self.places.append(places)
        for inside, code, message, hint in problems:
            words = place_words(("questions", index, *inside), question_id, ids)
            self._add(*places.find(inside), words, code, message, hint)

    def _with_strip(self, question: Question) -> tuple[Question, list[Complaint]]:
        """The question with what its recording shows, and what is wrong with the recording."""
        if not isinstance(question, Reading):
            return question, []
        folder, name = Path(self.path).parent, question.recording
        try:
            with suppress(OSError):
                self.beside[name] = stamp_of(str(folder / name))
            strip = read_strip(folder, name)
        except StripError as error:
            message, _, hint = str(error).partition("; ")
            return question, [(("recording",), "dead-recording", message, hint)]
        return replace(question, strip=strip), []

    def _note_id(self, question_id: str, index: int, places: Places) -> None:
        if question_id in self._ids:
            first = self._ids[question_id].find(("id",))[0] + 1
            message = f"the id {question_id} stands twice (first in line {first})"
            where = place_words(("questions", index))
            self._add(
                *places.find(("id",)), where, "duplicate-question-id", message, "give each question its own"
            )
        self._ids.setdefault(question_id, places)

    def _wrong_kind(self, value: dict[str, object], index: int, places: Places) -> None:
        kind = value.get("kind")
        around = place_words(("questions", index), _id_of(value))
        known = ", ".join(KINDS)
        if kind is None:
            self._add(*places.find(()), around, "missing-field", "kind is missing", f"write one of {known}")
        elif not isinstance(kind, Unusable):
            match = nearest(str(kind), list(KINDS)) if isinstance(kind, str) else ""
            hint = f"did you mean {match}?" if match else f"write one of {known}"
            message = f"{kind!r} is no kind of question" if isinstance(kind, str) else "kind must be text"
            self._add(*places.find(("kind",)), f"{around}, kind", "unknown-kind", message, hint)

    def fault(self, line: int, column: int, where: Where, code: str, message: str, hint: str) -> None:
        if len(where) > 1 and isinstance(where[1], int):
            where = (where[0], where[1] + self._base, *where[2:])
        self._add(line, column, place_words(where), code, message, hint)

    def _explain(
        self,
        error: ValidationError,
        kind: str | None,
        prefix: Where,
        places: Places,
        question_id: str,
        option_ids: Sequence[str],
        skip: str = "",
    ) -> None:
        for problem in error.errors(include_url=False):
            if problem["type"] == skip:
                continue
            if isinstance(problem.get("input"), Unusable) or any(
                "\0" in str(step) for step in problem["loc"]
            ):
                continue
            where, key, code, message, hint = in_words(problem, kind)
            place = places.find(where, key=key)
            said = self.findings[-1] if self.findings else None
            if said is not None and (said.line, said.column, said.message) == (
                place[0] + 1,
                place[1] + 1,
                message,
            ):
                continue  # a number that stands for both bounds is wrong once
            words = place_words((*prefix, *(where[:-1] if key else where)), question_id, option_ids)
            self._add(*place, words, code, message, hint)

    def _add(self, line: int, column: int, where: str, code: str, message: str, hint: str) -> None:
        if len(self.findings) == MAX_FINDINGS:
            message, hint = f"more than {MAX_FINDINGS} errors; the rest is not read", "mend these first"
            where, code = "", "too-many-errors"
        self.findings.append(
            Finding(
                path=self.path,
                line=line + 1,
                column=column + 1,
                where=where,
                message=message,
                hint=hint,
                code=code,
            )
        )
        if code == "too-many-errors":
            raise _TooManyFindings


def _next_question(lines: list[bytes], start: int) -> int | None:
    """The line, from `start`, where a question begins: a dash as far in as the first one's."""
    dash = None
    for number, line in enumerate(lines):
        if dash is None:
            if line.startswith(b"questions:"):
                dash = b""
        elif not dash:
            rest = line.lstrip(b" ")
            if rest.startswith(b"- "):
                dash = line[: len(line) - len(rest)] + b"- "
        if dash and number >= max(start, 1) and line.startswith(dash):
            return number
    return None


def _id_of(value: object) -> str:
    given = value.get("id") if isinstance(value, dict) else ""
    return given if isinstance(given, str) else ""


def _complaints_of_parts(value: dict[str, object]) -> Iterator[Complaint]:
    """What can be said of a question that isn't valid as a whole, so that no error waits for another."""
    options = value.get("options")
    if isinstance(options, list):
        facts = [
            (_id_of(option) or f"option {index + 1}", option.get("correct") == "true", option.get("pin"))
            for index, option in enumerate(options)
            if isinstance(option, dict)
        ]
        if len(facts) == len(options):
            yield from option_complaints(facts, single=value.get("kind") == "single-choice")
    if isinstance(value.get("symptom"), dict):
        from pydantic_core import ValidationError

        from quizapp.bank.schema import symptom_adapter

        try:
            symptom = symptom_adapter().validate_python(value["symptom"])
        except ValidationError:
            return
        yield from symptom_complaints(symptom)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Nothing that loading makes is garbage in a cycle, and collecting all the same takes half the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
