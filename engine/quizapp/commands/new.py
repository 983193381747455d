"""`quizapp new`: a bank to start from, with the schema that lets an editor check it."""

from __future__ import annotations

import sys
from pathlib import Path

import click


@click.command(name="new")
@click.argument("bank")
@click.option(
    "--in",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to write it to; made when it isn't there.  [default: here]",
)
def command(bank: str, folder: Path | None) -> None:
    """Write a starter bank BANK.yaml, commented, that can be taken at once.

    BANK is an id or a path. The JSON schema for editors is written beside it. Nothing is overwritten.
    """
    path = _path(bank, folder)
    write_starter(path)
    print(path)
    from quizapp.bank.text import visible

    shown = visible(_shown(path))
    print(
        f"Take it:   quizapp take {shown}\nCheck it:  quizapp check {shown}\nEdit it:   $EDITOR {shown}",
        file=sys.stderr,
    )


def write_starter(path: Path) -> None:
    """Write the starter to `path` and `bank.schema.json` beside it. Raises QuizappError."""
    from quizapp.bank.schema import SCHEMA_NAME, schema_text
    from quizapp.errors import QuizappError

    # A folder's name may hold bytes that are no UTF-8; a bank may not.
    named = _shown(path).encode("utf-8", "replace").decode("utf-8")
    starter = Path(__file__).parent.parent / "bank" / "starter.yaml"
    text = starter.read_text(encoding="utf-8").replace("@FILE@", named)
    schema = path.parent / SCHEMA_NAME
    try:
        _make(path.parent)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
        if not schema.exists():
            schema.write_text(schema_text(), encoding="utf-8")
    except FileExistsError:
        raise QuizappError(
            f"{path} is there already", hint="choose another name; nothing was written"
        ) from None
    except OSError as error:
        raise QuizappError(f"{path} can't be written: {error.strerror}") from None


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        from quizapp.errors import QuizappError

        raise QuizappError(f"{folder} is no folder") from None


def _path(bank: str, folder: Path | None) -> Path:
    from quizapp.bank.spelling import is_id, make_id
    from quizapp.errors import QuizappError

    given = Path(bank)
    stem = given.stem if given.suffix in (".yaml", ".yml") else given.name
    if not is_id(stem):
        slug = make_id(stem)
        hint = "use small letters, digits and hyphens" + (f", such as {slug}" if slug else "")
        raise QuizappError(f"{stem!r} can't be the id of a bank", hint=hint)
    name = given.name if given.suffix in (".yaml", ".yml") else f"{given.name}.yaml"
    return (folder or Path()) / given.parent / name


def _shown(path: Path) -> str:
    import shlex

    return shlex.quote(str(path))
