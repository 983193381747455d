"""YAML as a bank may use it, built straight from libyaml's events.

Every scalar stays the string that was written. Each node's place is kept in a flat array beside the data, and
each question is handed over, then dropped, as soon as it is complete: a bank of 25 MB never stands in memory
as nested dictionaries.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import yaml
from yaml import events

from quizapp.bank.findings import Where

MAX_DEPTH = 16
MAX_NODES = 2_000_000

# A token for each node in document order: a mapping's key, or one of these. No key can hold a NUL.
MAPPING, SEQUENCE, END, SCALAR = "\0{", "\0[", "\0.", "\0="


class Unusable(str):
    """Stands for a value that has been reported; nothing more is said about it."""

    __slots__ = ()


class YamlFault(Exception):
    """The text can't be read on from here. Line and column from 0.

    `syntax` is true where only the next lines are spoiled; `document` and `places` are what was read before.
    """

    def __init__(self, line: int, column: int, message: str, hint: str, *, syntax: bool = False) -> None:
        super().__init__(message)
        self.line, self.column, self.message, self.hint, self.syntax = line, column, message, hint, syntax
        self.document: object = None
        self.places = Places((), array("Q"))


class Places:
    """Lines and columns of the nodes of one part of the file (the head, or a question)."""

    __slots__ = ("marks", "tokens")

    def __init__(self, tokens: tuple[str, ...], marks: array[int]) -> None:
        self.tokens, self.marks = tokens, marks

    def find(self, where: Where, *, key: bool = False) -> tuple[int, int]:
        """Line and column, from 0, of the value at `where` (with `key`: of its key); of the nearest part
        around it where there is none."""
        best = (0, self._mark(0)) if self.marks else (0, (0, 0))
        # One entry a container on the way: its path, and the index of its next element (None: a mapping).
        stack: list[tuple[Where, int | None]] = []
        path: Where = ()
        node = 0
        for token in self.tokens:
            if token == END:
                stack.pop()
                continue
            here = path
            if stack:
                parent, index = stack[-1]
                if index is not None:
                    here = (*parent, index)
                    stack[-1] = (parent, index + 1)
                elif token not in (MAPPING, SEQUENCE, SCALAR):
                    path = (*parent, token)
                    if key and path == where:
                        return self._mark(node)
                    node += 1
                    continue
            if here == where[: len(here)] and len(here) >= best[0]:
                best = (len(here), self._mark(node))
                if len(here) == len(where):
                    break
            if token == MAPPING:
                stack.append((here, None))
            elif token == SEQUENCE:
                stack.append((here, 0))
            node += 1
        return best[1]

    def _mark(self, node: int) -> tuple[int, int]:
        packed = self.marks[node]
        return packed >> 32, packed & 0xFFFFFFFF


class Reports:
    """What the builder tells of: each complete `question`, and each `fault` that it can pass over."""

    def question(self, value: object, places: Places) -> None:
        raise NotImplementedError

    def fault(self, line: int, column: int, where: Where, code: str, message: str, hint: str) -> None:
        """`where` starts with ("questions", index) inside a question."""
        raise NotImplementedError


def build(source: bytes, reports: Reports) -> tuple[object, Places]:
    """The document in `source` without its questions, which go to `reports.question` one by one.

    In their place stands an empty list. Raises YamlFault where reading can't go on.
    """
    parser = yaml.CLoader(source)
    root: list[Any] = []
    tokens: list[str] = []
    marks: array[int] = array("Q")
    try:
        _build(parser.get_event, reports, root, tokens, marks)
    except (YamlFault, yaml.YAMLError) as error:
        fault = error if isinstance(error, YamlFault) else _fault(error, source)
        fault.document = root[0] if root else None
        fault.places = Places(tuple(tokens), marks)
        raise fault from None
    finally:
        parser.dispose()
    return (root[0] if root else None), Places(tuple(tokens), marks)


def _fault(error: yaml.YAMLError, source: bytes) -> YamlFault:
    if isinstance(error, yaml.MarkedYAMLError):
        problem = str(error.problem or error.context or "")
        # What is never closed is best shown where it opens.
        opened = "end of stream" in problem or "document indicator" in problem or "',' or" in problem
        mark = (error.context_mark if opened else None) or error.problem_mark or error.context_mark
        line, column = (mark.line, mark.column) if mark else (0, 0)
        return YamlFault(line, column, *_in_words(problem), syntax=True)
    if not isinstance(error, yaml.reader.ReaderError):
        return YamlFault(0, 0, *_in_words(str(error)))
    position, message, hint = error.position, "", "remove it"
    if "control" in error.reason:
        message = f"holds the control character U+{error.character:04X}"
    else:
        try:
            source.decode("utf-8")
        except UnicodeDecodeError as undecodable:
            position = undecodable.start
        message, hint = f"is not UTF-8 text (byte 0x{source[position]:02X})", "save the file as UTF-8"
    before = source[:position]  # the reader counts in bytes
    line = before.count(b"\n")
    column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace"))
    return YamlFault(line, column, message, hint)


def _build(
    get_event: Callable[[], Any],
    reports: Reports,
    root: list[Any],
    head_tokens: list[str],
    head_marks: array[int],
) -> None:
    """Fills `root` with the document, when there is one, and the others with the places of its head."""
    scalar_event, mapping_start, sequence_start = (
        events.ScalarEvent,
        events.MappingStartEvent,
        events.SequenceStartEvent,
    )
    mapping_end, sequence_end = events.MappingEndEvent, events.SequenceEndEvent

    shapes: dict[tuple[str, ...], tuple[str, ...]] = {}
    tokens, marks = head_tokens, head_marks

    documents = 0
    container: Any = None  # the dict or list being filled
    key: str | None = None  # the key that waits for its value, in a dict
    stack: list[tuple[Any, str | None]] = []
    questions: list[None] | None = None
    reported = 0
    swallowed: list[int] = []  # depths of the mappings whose key is a mapping or a list
    nodes = 0

    def fault(mark: Any, where: Where, code: str, message: str, hint: str) -> None:
        reports.fault(mark.line, mark.column, where, code, message, hint)

    while True:
        event = get_event()
        kind = event.__class__
        nodes += 1
        if nodes > MAX_NODES:
            mark = event.start_mark
            message = f"holds more than {MAX_NODES:,} values"
            raise YamlFault(mark.line, mark.column, message, "split the bank into several files")
        if kind is scalar_event:
            value: Any = event.value
            mark = event.start_mark
            marks.append(mark.line << 32 | mark.column)
            if event.anchor is not None or event.tag is not None:
                _complain_of_decoration(event, _path(stack, container, key), fault)
            if container.__class__ is dict and key is None:
                if value in container or (value == "<<" and not event.style) or "\0" in value:
                    around = _path(stack, container, None)
                    if "\0" in value:
                        fault(
                            mark, around, "control-character", "a key holds a control character", "remove it"
                        )
                    elif value in container:
                        inside = (*_inside(around), value)
                        first = Places(tuple(tokens), marks).find(inside, key=True)[0] + 1
                        message = f"{value} stands here twice (first in line {first})"
                        fault(mark, around, "duplicate-key", message, "remove one of the two")
                    else:
                        fault(
                            mark,
                            around,
                            "merge-key",
                            "merge keys are not part of the format",
                            "write the fields out",
                        )
                    # Kept under a name that no field has, so that data and places stay in step.
                    value = f"\0{(reported := reported + 1)}"
                key = value
                tokens.append(value)
                continue
            if not value and not event.style:
                where = _path(stack, container, key)
                fault(mark, where, "no-value", "has no value", "give it one, or take the line out")
                value = Unusable()
            tokens.append(SCALAR)
        elif kind is mapping_end or kind is sequence_end:
            tokens.append(END)
            closed = container
            container, key = stack.pop()
            if container is questions and questions is not None:
                shape = tuple(tokens)
                reports.question(closed, Places(shapes.setdefault(shape, shape), marks))
                questions.append(None)
                tokens, marks = head_tokens, head_marks
            elif container.__class__ is dict:
                container[key] = closed
                key = None
                if swallowed and swallowed[-1] == len(stack):
                    swallowed.pop()
                    key = f"\0{(reported := reported + 1)}"
                    tokens.append(key)
                    marks.append(marks[-1])
            elif container is not None:
                container.append(closed)
            continue
        elif kind is mapping_start or kind is sequence_start:
            mark = event.start_mark
            if len(stack) >= MAX_DEPTH:
                raise YamlFault(
                    mark.line, mark.column, f"is nested more than {MAX_DEPTH} deep", "no field of a bank is"
                )
            if container.__class__ is dict and key is None:
                where = _path(stack, container, None)
                message = "a key must be plain text, not a mapping or a list"
                fault(mark, where, "key-not-text", message, "quote it if it starts with a bracket or a brace")
                # It is read as the value of a name that no field has; its own value gets another such name.
                key = f"\0{(reported := reported + 1)}"
                tokens.append(key)
                marks.append(mark.line << 32 | mark.column)
                swallowed.append(len(stack))
            if event.anchor is not None or event.tag is not None:
                _complain_of_decoration(event, _path(stack, container, key), fault)
            value = {} if kind is mapping_start else []
            if container is questions and questions is not None:
                tokens, marks = [], array("Q")
            elif len(stack) == 1 and key == "questions" and kind is sequence_start:
                questions = value
            elif not stack:
                root.append(value)
            marks.append(mark.line << 32 | mark.column)
            tokens.append(MAPPING if kind is mapping_start else SEQUENCE)
            stack.append((container, key))
            container, key = value, None
            continue
        elif kind is events.AliasEvent:
            mark = event.start_mark
            where = _path(stack, container, key)
            message = f"the alias *{event.anchor} is not part of the format"
            fault(mark, where, "alias", message, "write the value out, or quote text that starts with *")
            value = Unusable()
            marks.append(mark.line << 32 | mark.column)
            if container.__class__ is dict and key is None:
                key = f"\0{(reported := reported + 1)}"
                tokens.append(key)
                continue
            tokens.append(SCALAR)
        elif kind is events.DocumentStartEvent:
            documents += 1
            if documents > 1:
                raise YamlFault(
                    event.start_mark.line,
                    event.start_mark.column,
                    "a second document starts here",
                    "a bank is one document: remove the `---`, or move the rest to a file of its own",
                )
            continue
        elif kind is events.StreamEndEvent:
            return
        else:
            continue

        # A scalar or an alias, as a value.
        if container.__class__ is dict:
            container[key] = value
            key = None
        elif container is questions and questions is not None:
            reports.question(value, Places((SCALAR,), marks[-1:]))
            del tokens[-1], marks[-1]
            questions.append(None)
        elif container is None:
            root.append(value)
        else:
            container.append(value)


def _path(stack: list[tuple[Any, str | None]], container: Any, key: str | None) -> Where:
    """Where the builder is: the key of each mapping, the index of each list's next element."""
    path: list[str | int] = []
    for outer, outer_key in [*stack[1:], (container, key)]:
        if isinstance(outer, list):
            path.append(len(outer))
        elif outer_key is not None:
            path.append(outer_key)
    return tuple(path)


def _inside(where: Where) -> Where:
    """`where` as seen from the part of the file whose places are kept together."""
    return where[2:] if len(where) > 1 and where[0] == "questions" and isinstance(where[1], int) else where


def _complain_of_decoration(event: Any, where: Where, fault: Callable[..., None]) -> None:
    mark = event.start_mark
    if event.anchor is not None:
        message = f"the anchor &{event.anchor} is not part of the format"
        fault(mark, where, "anchor", message, "remove it; text that starts with & needs quotes")
    if event.tag is not None:
        tag = event.tag.replace("tag:yaml.org,2002:", "!!")
        message = f"the tag {tag} is not part of the format"
        fault(mark, where, "tag", message, "remove it; text that starts with ! needs quotes")


def _in_words(problem: str) -> tuple[str, str]:
    for sign, message, hint in _PROBLEMS:
        if sign in problem:
            return message, hint
    return f"is no YAML: {problem}", "compare the line with its neighbours: indentation, quotes, colons"


_PROBLEMS = (
    (
        "maximum nesting depth",
        "is nested far too deep",
        "no field of a bank is; quote text that starts with [",
    ),
    ("found a tab character", "a tab stands where spaces indent", "indent with spaces"),
    (
        "character that cannot start any token",
        "neither a value nor a key can start like this",
        "indent with spaces, not tabs; quote text that starts with @, ` or %",
    ),
    (
        "mapping values are not allowed",
        "a colon and a space stand inside plain text",
        "quote the text, or write it as a block: |",
    ),
    (
        "could not find expected ':'",
        "a key without a colon",
        "write key: value; text of several lines is a block: |",
    ),
    (
        "did not find expected key",
        "the indentation doesn't fit, or text goes on after a closing quote",
        "line the keys up; quote the whole text, or write it as a block: |",
    ),
    ("did not find expected '-' indicator", "the indentation doesn't fit", "line the dashes up"),
    (
        "block sequence entries are not allowed",
        "a dash that starts no list",
        "give the list lines of its own",
    ),
    (
        "did not find expected node content",
        "a value is missing here, or brackets before it aren't closed",
        "close them; quote text that holds brackets, braces or commas",
    ),
    (
        "did not find expected ',' or",
        "brackets that open here aren't closed, or a comma is missing",
        "close them; quote text that holds brackets, braces or commas",
    ),
    ("found unexpected end of stream", "a quote that opens here is never closed", "close it"),
    ("found unexpected document indicator", "a quote that opens here is never closed", "close it"),
    (
        "unknown escape character",
        "a backslash in double quotes that YAML doesn't know",
        "use single quotes, or a block: |",
    ),
)
