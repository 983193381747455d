"""The commands. Nothing heavy is imported here: help must cost little more than click itself."""

from __future__ import annotations

import errno
import sys
from typing import TYPE_CHECKING

import click

from quizapp import __version__, streams
from quizapp.errors import QuizappError

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
    "take": "Take a bank in the terminal.",
    "demo": "Run the demo behind an option.",
    "verify": "Test a bank's keys by experiment.",
    "list": "List the banks that can be taken.",
    "check": "Find what is wrong with a bank.",
    "new": "Write a starter bank of your own.",
    "stats": "Say how good a bank's questions are.",
    "results": "Show past attempts.",
    "report": "Write an attempt, or a bank's results, as one HTML file.",
    "rescore": "Score stored attempts again after a mended key.",
    "doctor": "Say what this machine can run, and why not the rest.",
}
"""Name and one-line help of each command; its module is `quizapp.commands.NAME`."""


class LazyGroup(click.Group):
    """A group that imports a command only when it is run or asked for its own help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        import importlib

        command: click.Command = importlib.import_module(f"quizapp.commands.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from quizapp.errors import nearest

            near = nearest(args[0], list(COMMANDS))
            meant = f" Did you mean '{near}'?" if near else " See 'quizapp --help'."
            raise click.UsageError(f"No such command {args[0]!r}.{meant}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: quizapp take multi-gpu",
)
@click.version_option(__version__, prog_name="quizapp")
@click.pass_context
def command(ctx: click.Context) -> None:
    """Learn, and test, how multi-GPU training goes wrong.

    Without a command, a screen to pick a bank from.
    """
    if ctx.invoked_subcommand is None:
        from quizapp.commands.take import command as take

        ctx.exit(ctx.invoke(take))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command line and exit: 0 good, 1 a negative result, 2 usage or input, 3 input ended early."""
    streams.prepare()
    sys.exit(streams.finish(_run(arguments)))


def _run(arguments: Sequence[str] | None) -> int:
    try:
        code = command.main(
            args=None if arguments is None else list(arguments), prog_name="quizapp", standalone_mode=False
        )
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except click.exceptions.Exit as error:
        code = error.exit_code
    except QuizappError as error:
        print(f"quizapp: {_shown(str(error))}", file=sys.stderr)
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        print("quizapp: stopped", file=sys.stderr)
        code = 130
    except SystemExit:
        # click's own way when the reader (head, less) went away.
        streams.forget_stdout()
        code = 0
    except OSError as error:
        if error.errno in (errno.ENAMETOOLONG, errno.ELOOP):
            print(f"quizapp: {error.strerror}: {_shown(str(error.filename))[:200]}", file=sys.stderr)
            code = 2
        elif error.filename is None:
            # Files name themselves in their errors; what has no name is the stream of the results.
            code = streams.unwritten(error)
        else:
            raise
    return code if isinstance(code, int) else 0


def _shown(text: str) -> str:
    from quizapp.bank.text import visible

    return visible(text)


if __name__ == "__main__":
    main()
