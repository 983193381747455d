"""What a typed line means. Option letters go first, so a command never shadows an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Said(NamedTuple):
    """What a line says: `command` is `answer`, `unclear` or one of the names in ALIASES.

    `options` are the option ids of an answer, or the one whose demo is meant; `text` is an answer to a
    question that asks for one, or the number of the question to go to; `why` tells what is unclear.
    """

    command: str
    options: tuple[str, ...] = ()
    why: str = ""
    text: str = ""


ALIASES = {
    "?": "help",
    "h": "help",
    "help": "help",
    "s": "skip",
    "skip": "skip",
    "next": "skip",
    "n": "skip",
    "b": "back",
    "p": "back",
    "back": "back",
    "c": "clear",
    "x": "clear",
    "clear": "clear",
    "d": "demo",
    "demo": "demo",
    "run": "demo",
    "r": "again",
    "again": "again",
    "f": "full",
    "full": "full",
    "t": "test",
    "test": "test",
    "!": "appeal",
    "appeal": "appeal",
    "m": "mark",
    "mark": "mark",
    "l": "list",
    "list": "list",
    "go": "go",
    "submit": "submit",
    "finish": "finish",
    "w": "wrong",
    "wrong": "wrong",
    "q": "quit",
    "quit": "quit",
    "exit": "quit",
}


def parse(line: str, letters: Mapping[str, str], *, several: bool, answering: bool, typed: str = "") -> Said:
    """The meaning of a line.

    `letters`: option id -> letter on screen. `several`: more than one option may be chosen. `answering` False
    reads commands only, so that their letters are free. `typed`: the kind of a question that asks for a text.
    Where words are asked for every line is an answer, where a number or matches are, only what is no command.
    A leading ":" makes a line a command in any case.
    """
    said = line.strip()
    if answering and typed and said not in ("", "?") and not said.startswith(":"):
        command = typed != "short-text" and said.lower() in ALIASES
        if not command:
            return Said("answer", text=said)
    words = line.replace(",", " ").split()
    if not words:
        return Said("skip")
    by_name = {letter.lower(): option_id for option_id, letter in letters.items()}
    by_name |= {option_id: option_id for option_id in letters if option_id not in by_name}
    if words[0].startswith(":"):
        words[0] = words[0][1:] or "?"
    elif answering:
        chosen = _options(words, by_name, several)
        if chosen is not None:
            return Said("answer", tuple(dict.fromkeys(chosen)))
    name = ALIASES.get(words[0].lower())
    if name is None:
        return Said("unclear", why=f"{words[0]!r} is no option and no command here.")
    if name == "demo":
        if len(words) != 2 or (option_id := _option(words[1], by_name)) is None:
            return Said("unclear", why="Which option's demo? For example: demo a")
        return Said(name, (option_id,))
    if name == "go":
        if len(words) != 2 or not (words[1].isascii() and words[1].isdecimal()):
            return Said("unclear", why="To which question? For example: go 3")
        return Said(name, text=words[1])
    if len(words) > 1:
        return Said("unclear", why=f"{name!r} stands alone.")
    return Said(name)


def parse_pairs(
    text: str, pair_ids: Sequence[str], letters: Mapping[str, str]
) -> tuple[tuple[str, str], ...] | None:
    """The matches in `1b 2a`, `1 b, 2 a` or, one for each in turn, `b a`; None for anything else."""
    by_letter = {letter.lower(): choice_id for choice_id, letter in letters.items()}
    tokens = re.findall(r"[0-9]+|[a-z]", text.lower())
    if not tokens or "".join(re.split(r"[\s,;=:>-]+", text.lower())) != "".join(tokens):
        return None
    if all(token in by_letter for token in tokens) and len(tokens) == len(pair_ids):
        return tuple(zip(pair_ids, (by_letter[token] for token in tokens), strict=True))
    pairs = list(zip(tokens[::2], tokens[1::2], strict=False))
    if len(tokens) % 2 or not all(
        number.isdecimal() and 1 <= int(number) <= len(pair_ids) and letter in by_letter
        for number, letter in pairs
    ):
        return None
    return tuple((pair_ids[int(number) - 1], by_letter[letter]) for number, letter in pairs)


def _options(words: list[str], by_name: Mapping[str, str], several: bool) -> list[str] | None:
    chosen = [_option(word, by_name) for word in words]
    known = [option_id for option_id in chosen if option_id is not None]
    if len(known) == len(words):
        return known
    only = words[0].lower()
    if several and len(words) == 1 and only not in ALIASES and len(set(only)) == len(only):
        run_together = [by_name[letter] for letter in only if letter in by_name]
        if len(run_together) == len(only):
            return run_together
    return None


def _option(word: str, by_name: Mapping[str, str]) -> str | None:
    if word in by_name:
        return by_name[word]
    return by_name.get(word.lower()) if len(word) == 1 else None
