"""Numbers of a question that differ from attempt to attempt: what is declared, worked out, and shown.

What is drawn comes from outside (`assess/draw.py`): a place among those that a variable can take.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Mapping
from decimal import Context, Decimal
from typing import TYPE_CHECKING

from quizapp.bank.findings import Where
from quizapp.bank.model import Variable
from quizapp.bank.snapshot import PLACEHOLDER, as_asked, question_to_json, texts_of
from quizapp.errors import nearest

if TYPE_CHECKING:
    from quizapp.bank.model import Question

Complaint = tuple[Where, str, str, str]  # place inside the question, code, message, hint

MOST_PLACES = 1_000_000
"""Numbers that one range can hold."""
LONGEST = 200
"""Characters of a formula."""
MOST_DIGITS = 15
"""Significant digits that a float holds."""


class BadDraw(ValueError):
    """These values make no sense together; the words are for an author. `name` is the variable's."""

    def __init__(self, name: str, words: str) -> None:
        super().__init__(f"{name} {words}")
        self.name, self.words = name, words


def places(variable: Variable) -> int:
    """How many values can be drawn; 0 of a formula."""
    if variable.range is None:
        return len(variable.values)
    low, high, step = (Decimal(each) for each in _ends(variable))
    return max(0, int((high - low) / step) + 1) if step > 0 and low <= high else 0


def value_at(variable: Variable, place: int) -> str:
    """The value at a place, 0 first, as it is shown."""
    if variable.range is None:
        return variable.values[place]
    low, _, step = _ends(variable)
    return _plain_number(Decimal(low) + place * Decimal(step))


def filled(question_json: str, variables: Mapping[str, Variable], drawn: Mapping[str, str]) -> str:
    """The JSON of a question as it is asked with these values. Raises BadDraw.

    `drawn` holds the value of each variable that is no formula; of a missing one the first is taken, and
    what the question does not declare is left out.
    """
    known = {
        name: drawn.get(name) or value_at(variable, 0)
        for name, variable in variables.items()
        if not variable.formula
    }
    return as_asked(question_json, {**known, **worked_out(variables, known)}, known)


def first_filled(question_json: str, variables: Mapping[str, Variable]) -> str:
    """The JSON of a question with the first value of each variable. Raises BadDraw."""
    return filled(question_json, variables, {})


def worked_out(variables: Mapping[str, Variable], drawn: Mapping[str, str]) -> dict[str, str]:
    """Each formula's number as it is shown. Raises BadDraw where one has none, or one out of its bounds."""
    numbers = exactly(variables, drawn)
    return {
        name: rounded(numbers[name], variable.digits)
        for name, variable in variables.items()
        if variable.formula
    }


def exactly(variables: Mapping[str, Variable], drawn: Mapping[str, str]) -> dict[str, float]:
    """The number of each variable, before it is rounded to be shown. Raises BadDraw."""
    numbers = {name: float(value) for name, value in drawn.items()}
    formulas = {name: variable for name, variable in variables.items() if variable.formula}
    for name in _in_order(formulas) if formulas else ():
        variable = formulas[name]
        number = numbers[name] = _evaluate(name, variable.formula, numbers)
        low, high = float(variable.min), math.inf if variable.max is None else float(variable.max)
        if not low <= number <= high:
            bound = f"below {variable.min}" if number < low else f"above {variable.max}"
            raise BadDraw(name, f"is {rounded(number, variable.digits)}, {bound}")
    return numbers


def rounded(number: float, digits: int) -> str:
    """A number to so many significant digits, in decimal: `7000000000`, `0.0125`, `2.5e+20`."""
    return _plain_number(Context(prec=min(digits, MOST_DIGITS)).create_decimal(repr(number)))


def names_in(formula: str) -> list[str]:
    """The variables that a formula needs. Raises SyntaxError for what is no expression."""
    tree = ast.parse(formula.strip(), mode="eval")
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called]
    return list(dict.fromkeys(names))


def complaints(question: Question) -> Iterator[Complaint]:
    """What is wrong with a question's variables, and with the places that name them."""
    sound = True
    for name, variable in question.variables.items():
        for inside, code, message, hint in _declared(name, variable, question.variables):
            sound = False
            yield ("variables", name, *inside), code, message, hint
    if question.variables or question.kind == "numeric":
        for complaint in unknown(question):
            sound = False
            yield complaint
    if not sound or not question.variables:
        return
    try:
        first_filled(question_to_json(question), question.variables)
    except BadDraw as error:
        where = ("variables", error.name, "formula")
        yield where, "bad-draw", f"{error.words} for the first values", "change the formula, or the values"


def unknown(question: Question) -> Iterator[Complaint]:
    """Places that name a variable which the question hasn't got."""
    for where, text in texts_of(question):
        if "{{var:" not in text or where[0] == "variables":
            continue
        if where == ("key", "max") and question.kind == "numeric" and text == question.key.min:
            continue  # one number stands for both
        for message, hint in unknown_in(text, question.variables):
            yield where, "unknown-variable", message, hint


def unknown_in(text: str, variables: Mapping[str, Variable]) -> Iterator[tuple[str, str]]:
    """A message and a hint for each `{{var:…}}` that is none of these variables."""
    names = [found[1] for found in PLACEHOLDER.finditer(text)]
    for name in names:
        if name not in variables:
            yield _unknown_words(name, variables)
    if text.count("{{var:") > len(names):
        message = "holds {{var:…}} that names no variable"
        yield message, "write it without spaces, such as {{var:params_b}}"


def unused(question: Question) -> list[str]:
    """Variables that neither a text, nor the key, nor another variable that is used needs."""
    used = {
        found[1]
        for where, text in texts_of(question)
        if where[0] != "variables"
        for found in PLACEHOLDER.finditer(text)
    }
    waiting = list(used)
    while waiting:
        variable = question.variables.get(waiting.pop())
        for name in names_in(variable.formula) if variable and variable.formula else ():
            if name not in used:
                used.add(name)
                waiting.append(name)
    return [name for name in question.variables if name not in used]


def _declared(name: str, variable: Variable, variables: Mapping[str, Variable]) -> Iterator[Complaint]:
    ways = [way for way in ("values", "range", "formula") if getattr(variable, way)]
    if name in FUNCTIONS:
        yield (), "bad-variable", f"{name} is a function's name", "give it another one"
    if len(ways) != 1:
        message = f"{' and '.join(ways)} stand side by side" if ways else "says no value"
        yield (), "bad-variable", message, "write one of values: […], range: {min: …, max: …} and formula: …"
        return
    if variable.formula:
        yield from _formula(name, variable, variables)
        return
    for field in ("min", "max", "digits"):
        if getattr(variable, field) != getattr(_PLAIN, field):
            message = f"{field} is for a formula's result"
            yield (field,), "bad-variable", message, "remove it, or choose other values"
    if variable.range is None:
        return
    low, high, step = (Decimal(each) for each in _ends(variable))
    if step <= 0:
        yield ("range", "step"), "bad-variable", f"{step} leads nowhere", "write a number above 0"
    elif low > high:
        yield ("range",), "bad-variable", f"from {low} to {high} there is no number", "swap the two"
    elif (high - low) / step >= MOST_PLACES:
        message = f"more than {MOST_PLACES:,} numbers"
        yield ("range",), "bad-variable", message, "write a larger step"


def _formula(name: str, variable: Variable, variables: Mapping[str, Variable]) -> Iterator[Complaint]:
    where: Where = ("formula",)
    if variable.digits > MOST_DIGITS:
        message = f"a number has {MOST_DIGITS} digits at most"
        yield ("digits",), "bad-variable", message, f"write {MOST_DIGITS} or less"
    if variable.max is not None and Decimal(variable.max) < Decimal(variable.min):
        message = f"from {variable.min} to {variable.max} there is no number"
        yield ("max",), "bad-variable", message, "write a larger one; min is 0 unless you say otherwise"
    if len(variable.formula) > LONGEST:
        message = f"is longer than {LONGEST} characters"
        yield where, "bad-formula", message, "give its parts names of their own"
        return
    try:
        needed = names_in(variable.formula)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        message = f"{variable.formula.strip()!r} can't be read"
        yield where, "bad-formula", message, "write it such as 2 * (gpus - 1) / gpus * size_gb"
        return
    if any(
        isinstance(node, ast.Constant) and not isinstance(node.value, int | float)
        for node in ast.walk(ast.parse(variable.formula.strip(), mode="eval"))
    ):
        yield where, "bad-formula", "holds what is no number", "write numbers and names of variables"
        return
    for other in needed:
        if other not in variables:
            yield where, "unknown-variable", *_unknown_words(other, variables)
    circle = _circle(name, variables)
    if circle:
        yield where, "bad-formula", f"needs itself: {' → '.join(circle)}", "break the circle"
    ones = dict.fromkeys(needed, 1.0)
    try:
        _evaluate(name, variable.formula, ones)
    except BadDraw as error:
        if error.words.startswith("can't"):
            known = ", ".join(sorted(FUNCTIONS))
            yield where, "bad-formula", error.words, f"use + - * / // % **, brackets and {known}"


def _circle(start: str, variables: Mapping[str, Variable]) -> list[str]:
    """The names from `start` back to it, when its formula needs it."""
    paths = [[start]]
    seen = set()
    while paths:
        path = paths.pop()
        for name in _needs(variables, path[-1]):
            if name == start:
                return [*path, start]
            if name not in seen:
                seen.add(name)
                paths.append([*path, name])
    return []


def _needs(variables: Mapping[str, Variable], name: str) -> list[str]:
    if name not in variables or len(variables[name].formula) > LONGEST:
        return []
    try:
        return names_in(variables[name].formula) if variables[name].formula else []
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _in_order(formulas: Mapping[str, Variable]) -> list[str]:
    """The formulas' names, each after those that it needs."""
    from graphlib import TopologicalSorter

    needs = {
        name: [each for each in names_in(formulas[name].formula) if each in formulas] for name in formulas
    }
    return list(TopologicalSorter(needs).static_order())


def _evaluate(name: str, formula: str, numbers: Mapping[str, float]) -> float:
    from simpleeval import FeatureNotAvailable, InvalidExpression, SimpleEval

    try:
        evaluator = SimpleEval(
            operators=_operators(), functions=FUNCTIONS, names=dict(numbers), allowed_attrs={}
        )
        value = float(evaluator.eval(formula))
    except ZeroDivisionError:
        raise BadDraw(name, "divides by zero") from None
    except OverflowError:
        raise BadDraw(name, "is too large for a number") from None
    except ValueError as error:
        raise BadDraw(name, f"is no number ({error})") from None
    except FeatureNotAvailable:
        raise BadDraw(name, "can't be worked out: it holds more than arithmetic") from None
    except (InvalidExpression, TypeError, AttributeError, KeyError, SyntaxError, RecursionError) as error:
        why = str(error).partition(", for expression")[0]
        raise BadDraw(name, f"can't be worked out: {why or type(error).__name__}") from None
    if not math.isfinite(value):
        raise BadDraw(name, "is no finite number")
    return value


def _operators() -> dict[type, Callable[..., object]]:
    """Arithmetic on floats alone: whole numbers of any length, and texts, would take any time and memory."""

    def power(base: float, exponent: float) -> float:
        value: object = float(base) ** float(exponent)
        if not isinstance(value, float):
            raise ValueError("a negative number has no such power")
        return value

    return {
        ast.Add: lambda a, b: float(a) + float(b),
        ast.Sub: lambda a, b: float(a) - float(b),
        ast.Mult: lambda a, b: float(a) * float(b),
        ast.Div: lambda a, b: float(a) / float(b),
        ast.FloorDiv: lambda a, b: float(a) // float(b),
        ast.Mod: lambda a, b: float(a) % float(b),
        ast.Pow: power,
        ast.USub: lambda a: -float(a),
        ast.UAdd: lambda a: float(a),
        ast.Lt: lambda a, b: float(a) < float(b),
        ast.LtE: lambda a, b: float(a) <= float(b),
        ast.Gt: lambda a, b: float(a) > float(b),
        ast.GtE: lambda a, b: float(a) >= float(b),
        ast.Eq: lambda a, b: float(a) == float(b),
        ast.NotEq: lambda a, b: float(a) != float(b),
    }


FUNCTIONS: dict[str, Callable[..., float]] = {
    "ceil": lambda a: float(math.ceil(float(a))),
    "floor": lambda a: float(math.floor(float(a))),
    "round": lambda a: float(round(float(a))),
    "sqrt": lambda a: math.sqrt(float(a)),
    "log": lambda a: math.log(float(a)),
    "log2": lambda a: math.log2(float(a)),
    "log10": lambda a: math.log10(float(a)),
    "exp": lambda a: math.exp(float(a)),
    "abs": lambda a: abs(float(a)),
    "min": lambda *all: min(map(float, all)),
    "max": lambda *all: max(map(float, all)),
}

_PLAIN = Variable()


def _ends(variable: Variable) -> tuple[str, str, str]:
    if variable.range is None:
        raise ValueError("this variable has no range")
    return variable.range.min, variable.range.max, variable.range.step


def _unknown_words(name: str, variables: Mapping[str, Variable]) -> tuple[str, str]:
    match = nearest(name, list(variables))
    listed = f"its variables are {', '.join(variables)}" if variables else "declare it under variables:"
    return f"{name} is no variable of this question", f"did you mean {match}?" if match else listed


def _plain_number(number: Decimal) -> str:
    number = number.normalize()
    if number == 0:
        return "0"
    return f"{number:f}" if -10 < number.adjusted() < 16 else str(number).lower()
