"""The command `teff`: its entry point, its first screen, and how it ends."""

import signal
import sys
from typing import Any

import click

from tefflab import __version__
from tefflab.carried import give_way_to_a_clone
from tefflab.cli import completion
from tefflab.cli.grammar import option
from tefflab.cli.tree import COMMANDS, Teff
from tefflab.errors import BAD_INPUT, FAILED, INTERRUPTED, TeffError
from tefflab.host.terminal import drop_output, flush_output, output, prepare_streams, say

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
        output().print(FIRST_SCREEN.format(commands=" ".join(app.list_commands(context))), end="")


_AT_ONCE: dict[str, Any] = {"is_eager": True, "expose_value": False}
_PARAMS = [
    option("--version", "Say the version and revision.", callback=_print_version, **_AT_ONCE),
    option("--install-completion", "Let this user's shell complete.", callback=completion.install, **_AT_ONCE),
]
app = Teff("teff", "", *COMMANDS, callback=_teff, invoke_without_command=True, params=_PARAMS)


def main() -> None:
    """Entry point: expected errors are one line on stderr, Ctrl-C exits with 130, the rest is a traceback."""
    try:
        prepare_streams()
        code = _run()
        flush_output()
    except OSError as error:  # a disk that is full, a folder that may not be written to
        say(f"{error.filename or 'input or output'}: {error.strerror or error}")
        drop_output()
        code = FAILED
    except MemoryError:
        say("there is no memory left, or ulimit -v allows no more: give the lab more, or ask for less")
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
        message = " ".join(error.format_message().split()).rstrip(".")
        context = getattr(error, "ctx", None)
        see = " See" if message.endswith("?") else "; see"
        say(f"{message}{see} {context.command_path if context else 'teff'} --help")
        return BAD_INPUT
    except click.Abort:
        return INTERRUPTED
    except TeffError as error:
        say(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
