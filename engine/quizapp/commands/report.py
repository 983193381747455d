"""`quizapp report`: an attempt, or all attempts on a bank, as one HTML file to hand over."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from quizapp.store.store import AttemptSummary, Store

_TYPES = {".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg"}
_LARGEST_PICTURE_BYTES = 2 << 20


@click.command(name="report")
@click.argument("what", metavar="ATTEMPT|BANK")
@click.option(
    "--html",
    "out",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    required=True,
    help="The file to write; - is stdout.",
)
@click.option(
    "--min-n",
    type=click.IntRange(1),
    default=30,
    show_default=True,
    help="Of a bank: show no figures of fewer responses than this.",
)
@click.option("--force", is_flag=True, help="Write over a file that is there.")
def command(what: str, min_n: int, out: Path, force: bool) -> int:
    """Write all of an attempt, or what the attempts say of a bank, as one HTML file.

    ATTEMPT is its id, or the beginning of it: the file has the questions as they were shown, with every
    response, key, rule and explanation. BANK is the id of a bank that was taken. The file needs no network
    and runs no script.
    """
    from quizapp.report.files import written
    from quizapp.store.store import AttemptNotFound, Store

    store = Store.open_if_there()
    try:
        text, about = _of_attempt(store, what)
    except AttemptNotFound:
        taken = store.attempts(bank_id=what)
        if not taken:
            raise
        text, about = _of_bank(store, taken, min_n)
    if str(out) == "-":
        click.echo(text, nl=False)
        return 0
    with written(out, force=force) as file:
        file.write(text.encode("utf-8"))
    from quizapp.bank.text import visible

    click.echo(visible(f"{out}: {about}"), err=True)
    return 0


def _of_attempt(store: Store, attempt: str) -> tuple[str, str]:
    from quizapp.bank.basis import BASES
    from quizapp.errors import QuizappError
    from quizapp.report.attempt import attempt_page
    from quizapp.report.sections import Sections
    from quizapp.store.clock import on_screen

    record = store.show(attempt)
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
    return text, f"{record.summary.bank_title}, {record.summary.learner}"


def _of_bank(store: Store, taken: list[AttemptSummary], min_n: int) -> tuple[str, str]:
    from quizapp.commands.results_store import rows_of
    from quizapp.report.bank import Sat, bank_page

    first: dict[str, AttemptSummary] = {}
    for summary in reversed(taken):
        if summary.state == "finished":
            first.setdefault(summary.learner, summary)
    left_out: list[str] = []
    rows = list(rows_of(store, list(first.values()), left_out))
    read = {row.attempt for row in rows}
    sat = [
        Sat(one.id, one.learner, one.points, one.max_points, one.passed)
        for one in first.values()
        if one.id in read
    ]
    text = bank_page(taken[0].bank_title, taken[0].bank_id, sat, rows, min_n=min_n)
    unread = "".join(f"; left out: {why}" for why in left_out)
    return text, f"{taken[0].bank_title}, {len(sat)} learners{unread}"


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
