"""The command `teff`: one tree of commands, each a function of a module of `tefflab.cli.commands`; those that measure
are declared by the kinds of benchmark.

A command's module imports little at its top. It imports its other modules inside its function, so that `teff --help`
stays quick.
"""

import signal
import sys
from typing import Any

import click

from tefflab import __version__
from tefflab.carried import give_way_to_a_clone
from tefflab.cli import completion
from tefflab.cli.commands import experiment, explain, former, run, simulate, stores
from tefflab.cli.commands.dev import DEV
from tefflab.cli.commands.measure import MEASURE, measuring
from tefflab.cli.commands.systems import SYSTEMS
from tefflab.cli.grammar import Groups, Tree
from tefflab.errors import BAD_INPUT, FAILED, INTERRUPTED, TeffError

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
GROUPS = {
    "Measure": ("metg", "measure", "contention", "experiment", "run"),
    "Look into a graph, a run or a policy": ("graph", "explain", "simulate"),
    "Read what was measured": ("show", "compare", "report", "export"),
    "Systems, this machine, this project": ("systems", "dev"),
}
_COMMANDS = {
    "measure": MEASURE,
    "experiment": experiment.experiment,
    "run": run.run,
    "graph": run.graph,
    "explain": explain.explain,
    "simulate": simulate.simulate,
    "show": stores.show,
    "compare": stores.compare,
    "report": stores.report,
    "export": stores.export,
    "systems": SYSTEMS,
    "dev": DEV,
}


class Teff(Tree):
    """All commands, in the order of the help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return [name for names in GROUPS.values() for name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        hidden = {"watch": former.watch}
        return super().get_command(ctx, cmd_name) or hidden.get(cmd_name) or measuring().get(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        return super().resolve_command(ctx, former.renamed(args, lambda _: None if ctx.resilient_parsing else _say(_)))

    def groups(self, ctx: click.Context) -> Groups:
        return {title: [(name, self.help_of(ctx, name)) for name in names] for title, names in GROUPS.items()}


def _print_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from tefflab import project_root
        from tefflab.host.machine import read_revision

        try:
            revision = read_revision(project_root()).short
        except TeffError as error:  # a wheel that can't unpack its sources still says its version
            revision = str(error)
        print(f"teff {__version__} ({revision})")
        context.exit()


@click.pass_context
def _teff(context: click.Context) -> None:
    if context.invoked_subcommand is None:
        from tefflab.host.terminal import output

        output().print(FIRST_SCREEN.format(commands=" ".join(app.list_commands(context))), end="")


app = Teff(
    "teff",
    _COMMANDS,
    callback=_teff,
    invoke_without_command=True,
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_version,
            help="Say the version and revision.",
        ),
        click.Option(
            ["--install-completion"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=completion.install,
            help="Let this user's shell complete commands, systems and flags.",
        ),
    ],
)


def _in_one_line(error: click.ClickException) -> str:
    """The fault of the command line, and the help to read."""
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
        code: Any = app.main(prog_name="teff", standalone_mode=False)
        return int(code or 0)
    except click.ClickException as error:
        _say(_in_one_line(error))
        return BAD_INPUT
    except click.Abort:
        return INTERRUPTED
    except TeffError as error:
        _say(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
