"""`quizapp report`: an attempt as one HTML file, to be kept, printed or handed over."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable

_TYPES = {".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg"}
_LARGEST_PICTURE_BYTES = 2 << 20


@click.command(name="report")
@click.argument("attempt")
@click.option(
    "--html",
    "out",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    required=True,
    help="The file to write; - is stdout.",
)
@click.option("--force", is_flag=True, help="Write over a file that is there.")
def command(attempt: str, out: Path, force: bool) -> int:
    """Write all of an attempt as one HTML file. ATTEMPT is its id, or the beginning of it.

    The file needs no network and runs no script. It has the questions as they were shown, with every
    response, key, rule and explanation.
    """
    from quizapp.bank.basis import BASES
    from quizapp.errors import QuizappError
    from quizapp.report.attempt import attempt_page
    from quizapp.report.sections import Sections
    from quizapp.store.clock import on_screen
    from quizapp.store.store import Store

    record = Store.open_if_there().show(attempt)
    if record.concealed:
        raise QuizappError("This exam is open: its keys are told once it ends.", hint="Finish it first.")
    sections = Sections()
    text = attempt_page(
        record,
        when=on_screen,
        picture=_picture_beside(Path(record.summary.bank_path)),
        ground=lambda question: BASES[question.verified_by],
        sections=sections,
    )
    sections.keep()
    if str(out) == "-":
        click.echo(text, nl=False)
        return 0
    if out.exists() and not force:
        raise QuizappError(f"{out} is there already", hint="--force writes over it, or name another file")
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise QuizappError(f"{out}: can't be written: {error.strerror}") from error
    click.echo(f"{out}: {record.summary.bank_title}, {record.summary.learner}", err=True)
    return 0


def _picture_beside(bank: Path) -> Callable[[str], str]:
    """Reads pictures that lie in the bank's folder; another one, or a huge one, is left to its words."""
    import base64

    folder = bank.parent

    def address(src: str) -> str:
        path = folder / src
        kind = _TYPES.get(path.suffix.lower(), "")
        try:
            inside = path.resolve().is_relative_to(folder.resolve())
            if not kind or not inside or not path.is_file() or path.stat().st_size > _LARGEST_PICTURE_BYTES:
                return ""
            content = path.read_bytes()
        except OSError:
            return ""
        return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"

    return address
