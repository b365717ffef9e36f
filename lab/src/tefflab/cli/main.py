"""The command `teff`: one line for each command, which is a module of `tefflab.cli.commands`; those that measure are
declared by the kinds of benchmark.

A command's module imports only the standard library and typer at its top. It imports its other modules inside its
function, so that `teff --help` stays quick.
"""

import signal
import sys
from importlib import import_module
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup

from tefflab import __version__
from tefflab.benchmarks import graph_flags
from tefflab.carried import give_way_to_a_clone
from tefflab.cli.brief import BriefCommand, write_groups
from tefflab.cli.commands import options
from tefflab.cli.commands.measuring import described_commands, measuring_commands
from tefflab.errors import BAD_INPUT, FAILED, INTERRUPTED, TeffError

_BAD_COMMAND_LINE: type[Exception] = typer.BadParameter.__mro__[2]  # ClickException, of click or of typer's copy of it
FIRST_SCREEN = """\
[bold]How small may a task be?[/]

Teff measures it for every parallel runtime that can be installed here: each
run is validated, each number has its interval. It ships libteff, a C++20
runtime for small tasks.

Begin with

  [bold]teff systems[/]     the runtimes: what each is, and whether it is here
  [bold]teff metg[/]        the smallest task that keeps each of them half busy
  [bold]teff report[/]      what was measured last, as a page for the browser

All commands: {commands}

  [bold]teff COMMAND --help[/]      what a command does, with an example
  [bold]teff --help[/]              a line for each command
"""
GROUPS = {  # of the commands that are not a kind of benchmark's
    "Measure, too, or look at one run": ("experiment", "watch", "run", "profile", "advise", "graph", "simulate"),
    "Read what was measured": ("report", "compare", "export"),
    "Systems, this machine, this project": ("systems", "install", "doctor", "docs", "test"),
}

_TAKE_FLAGS = ("graph", "run", "advise", "watch")  # of a program, besides options


class Commands(TyperGroup):
    """All commands, those that measure first. If Ctrl-C ends a command that does not say so, it ends with one line. If
    a program refuses its flags, the message points to the command's help."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*described_commands(), *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return super().get_command(ctx, cmd_name) or measuring_commands().get(cmd_name)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """`-h` asks for help behind every command. As an option, it would be found among the letters of `-width`."""
        return super().parse_args(ctx, ["--help" if word == "-h" else word for word in args])

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write("Usage:  teff COMMAND [OPTIONS]    (teff COMMAND --help: options, and an example)\n")
        measure = described_commands()
        groups = {"Measure": tuple(measure), **GROUPS}
        commands = {
            title: [(name, (measure.get(name) or self.get_command(ctx, name)).help or "") for name in names]
            for title, names in groups.items()
        }
        options = [each.get_help_record(ctx) for each in self.get_params(ctx)]
        rows = [(name.partition(" <")[0].rstrip(), text) for name, text in filter(None, options)]
        write_groups(formatter, {**commands, "Options": rows})

    def invoke(self, context: typer.Context) -> Any:  # type: ignore[override]
        try:
            return super().invoke(context)
        except KeyboardInterrupt:
            raise TeffError("interrupted", exit_code=INTERRUPTED) from None
        except BrokenPipeError:  # the reader (`teff systems | head`) has seen enough
            from tefflab.host.terminal import drop_output

            drop_output()
            raise typer.Exit from None
        except TeffError as error:
            command = f"{context.command_path} {context.invoked_subcommand}"
            said = str(error).replace("see --help", f"see {command} --help")
            raise TeffError(said, exit_code=error.exit_code) from None


app = typer.Typer(
    cls=Commands,
    name="teff",
    invoke_without_command=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from tefflab import project_root
        from tefflab.host.machine import read_revision

        try:
            revision = read_revision(project_root()).short
        except TeffError as error:  # a wheel that can't unpack its sources still says its version
            revision = str(error)
        typer.echo(f"teff {__version__} ({revision})")
        raise typer.Exit


@app.callback()
def teff(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - its callback has acted
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Say the version and revision.")
    ] = False,
) -> None:
    """How small may a task be? Measures it for every parallel runtime that can be installed here.

    Example:  teff systems
    """
    if context.invoked_subcommand is None:
        from tefflab.host.terminal import output

        names = cast(TyperGroup, context.command).list_commands(context)
        output().print(FIRST_SCREEN.format(commands=" ".join(names)), end="")


for name in (each for names in GROUPS.values() for each in names):
    module = import_module(f"tefflab.cli.commands.{name}")
    app.command(
        name,
        cls=BriefCommand,
        epilog=graph_flags.HELP if name in ("graph", "run") else None,
        context_settings=options.TAKES_FLAGS if name in _TAKE_FLAGS else None,
    )(module.command)


def _in_one_line(error: Exception) -> str:
    """The fault of the command line, and the help to read."""
    assert hasattr(error, "format_message")
    message = " ".join(error.format_message().split()).rstrip(".")
    context = getattr(error, "ctx", None)
    return f"{message}; see {context.command_path if context else 'teff'} --help"


def _say(text: str) -> None:
    from tefflab.host.terminal import say

    say(text)


def main() -> None:
    """Entry point: expected errors are one line on stderr, Ctrl-C exits with 130, the rest is a traceback."""
    from tefflab.host.terminal import drop_output, flush_output, prepare_streams

    try:
        prepare_streams()
        code = _run()
        flush_output()
    except OSError as error:  # a disk that is full, a folder that may not be written to
        _say(f"{error.filename or 'input or output'}: {error.strerror or error}")
        drop_output()
        code = FAILED
    sys.exit(code)


def _run() -> int:
    """The exit code of the command that the words name. OSError where it can't read or write something."""
    # The signal of `timeout` and batch systems when time is up. As with Ctrl-C, the lab keeps and shows the measured
    # runs, and leaves no stopped program behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        give_way_to_a_clone()
        return int(app(prog_name="teff", standalone_mode=False) or 0)
    except _BAD_COMMAND_LINE as error:
        _say(_in_one_line(error))
        return BAD_INPUT
    except typer.Abort:
        return INTERRUPTED
    except TeffError as error:
        _say(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
