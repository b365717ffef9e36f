"""The options that several measuring commands take, each declared once."""

import json
import math
import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tefflab import project_root
from tefflab.cli import completion

if TYPE_CHECKING:
    from tefflab.systems.packages import Installing

TAKES_FLAGS = {"allow_extra_args": True, "ignore_unknown_options": True}  # settings of a command's context

PERCENT = {"%": 0.01}  # a unit of shares


def not_empty(context: typer.Context, parameter: typer.CallbackParam, value: str) -> str:
    """A given but empty value, as from an unset shell variable, does not mean the default."""
    source = context.get_parameter_source(parameter.name or "")
    if not value.strip(", ") and source is not None and source.name == "COMMANDLINE":
        raise typer.BadParameter(
            "it names nothing; leave it out for the usual", ctx=context, param_hint=f"'{parameter.opts[0]}'"
        )
    return value


def text(*flags: str, help_: str, metavar: str = "NAMES", completes: Callable[..., Any] | None = None) -> Any:
    """An option that takes words, and is not to be empty."""
    return typer.Option(*flags, metavar=metavar, help=help_, autocompletion=completes, callback=not_empty)


def number(
    flag: str,
    help_: str,
    example: float,
    least: float,
    most: float | Callable[[], float] | None = None,
    *,
    metavar: str = "N",
    units: Mapping[str, float] | None = None,
) -> Any:
    """An option that takes a number: whole ones alone where the example is one. The user may add one of `units`, which
    multiplies it. An error gives the value, the rule and the example. A `most` that has to be read from a file is a
    function."""
    kind = int if isinstance(example, int) else float

    def parsed(said: object) -> float:
        from tefflab.errors import InputError

        words = str(said).strip()
        unit, factor = next((each for each in (units or {}).items() if words.endswith(each[0])), ("", 1))
        try:
            found = kind(words.removesuffix(unit)) * factor
        except ValueError:
            found = None
        end = most() if callable(most) else most
        if found is None or not math.isfinite(found) or not least <= found <= (end or found):
            rule = f"a {'whole ' if kind is int else ''}number from {least:g} {'on' if end is None else f'to {end:g}'}"
            raise InputError(f"{flag} {said}: give {rule}, as {flag} {example:g}")
        return found

    return typer.Option(flag, help=help_, parser=parsed, metavar=metavar)


@cache
def most_workers() -> int:
    """That a program of bench/ takes."""
    head = json.loads((project_root() / "bench" / "driver" / "record.schema.json").read_text(encoding="utf-8"))
    most: int = head["properties"]["workers"]["maximum"]
    return most


_OF_MINUTES = {"min": 1.0, "m": 1.0, "s": 1 / 60, "h": 60.0}
_MINUTES = number("--minutes", "Time for measuring, at most; from 0.1.", 5.0, 0.1, metavar="M", units=_OF_MINUTES)
_ROUNDS = number("--rounds", "Rounds of each, at most; from 2.", 25, 2, metavar="R")

Systems = Annotated[
    str,
    text(
        "--systems",
        help_="NAME: a system, in its best way; NAME/WAY: in this one; NAME@VERSION: of a version. By commas. [all]",
        completes=completion.systems,
    ),
]
Minutes = Annotated[float, _MINUTES]
OwnMinutes = Annotated[float | None, _MINUTES]  # None: the measurement has a default
Rounds = Annotated[int, _ROUNDS]
OwnRounds = Annotated[int | None, _ROUNDS]
Workers = Annotated[int | None, number("--workers", "Workers. [the cores that are here]", 2, 1, most_workers)]
Store = Annotated[
    str,
    typer.Option("--store", metavar="NAME", help="The folder below results/ that keeps the runs, or an absolute path."),
]
StoreOfArgument = Annotated[str, text("--store", help_="The same as the argument.", metavar="STORE")]
Beside = Annotated[str, text("--load", help_="Beside each run, as spin:50@1: half of core 1.", metavar="LOAD")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the store's last sitting.")]
InstallMissing = Annotated[bool, typer.Option("--install-missing", help="First install what comes on request.")]
Yes = Annotated[bool, typer.Option("--yes", help="Install Debian packages without asking.")]
Installs = Annotated[bool | None, typer.Option("--yes/--no-install", help="Install packages unasked, or none.")]
Launcher = Annotated[str, text("--launcher", help_="Starts ranks, as mpirun or srun. [the usual]", metavar="WORDS")]
Hosts = Annotated[str, text("--hosts", help_="Machines that share the ranks, by commas.")]
AllVariants = Annotated[bool, typer.Option("--all-variants", help="Each system in all of its ways.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print what was measured as lines of JSON.")]


def start_ranks_by(launcher: str, hosts: str) -> None:
    """Every program of several ranks that this process starts is started so."""
    os.environ |= {name: said for name, said in (("TEFF_LAUNCHER", launcher), ("TEFF_HOSTS", hosts)) if said}


def installing(installs: bool | None, *, install_missing: bool = False) -> "Installing":
    """Whether packages may be installed, by these options."""
    from tefflab.errors import InputError

    if installs is False and install_missing:
        raise InputError("--install-missing and --no-install: one of them")
    return "no" if installs is False else "yes" if installs or install_missing else "ask"


def numbers(text: str, *, takes_one: bool = False) -> tuple[int, ...]:
    """The numbers of workers of a list by commas; none where it is empty. `takes_one`: where one alone is right."""
    from tefflab.errors import InputError

    most = most_workers()
    if not all(name.isdecimal() and 1 <= int(name) <= most for name in names(text)):
        wanted = f"a number from 1 to {most}" if takes_one else f"numbers from 1 to {most}, by commas"
        raise InputError(f"--workers {text}: give {wanted}; leave it out for the cores that are here")
    return tuple(dict.fromkeys(map(int, names(text))))


def one_store(argument: str, option: str) -> str:
    """The store that the argument or the option names; the usual one without both."""
    from tefflab.errors import InputError

    if argument and option and argument != option:
        raise InputError(f"{argument} and --store {option}: name one store")
    return argument or option or "default"


def share(text: str) -> float:
    """`5%` as 0.05."""
    from tefflab.errors import InputError

    try:
        found = float(text.removesuffix("%")) / 100
    except ValueError:
        found = 0.0
    if not (text.endswith("%") and 0 < found <= 1):
        raise InputError(f"--slower-than {text}: a percentage above 0 and up to 100, as 5%")
    return found


def systems(text: str) -> tuple[str, ...]:
    """The names of a list by commas, each once, as rows have them."""
    from tefflab.systems.naming import canonical

    return tuple(dict.fromkeys(map(canonical, names(text))))


def names(text: str) -> tuple[str, ...]:
    """The names of a list by commas, each once. Raises TeffError where there are commas only."""
    from tefflab.errors import InputError

    found = tuple(dict.fromkeys(name for part in text.split(",") if (name := part.strip())))
    if text and not found:
        raise InputError(f"{text!r} names nothing: names are separated by commas")
    return found
