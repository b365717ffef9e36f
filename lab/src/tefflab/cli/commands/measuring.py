"""The commands that measure: one for each that a kind of benchmark declares (`tefflab.benchmarks`).

Kinds are loaded only for one of their commands. Completion and the list of all commands may not take so long: for them
the lab keeps the commands' descriptions (`tefflab.cli.declared`).
"""

import inspect
import os
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from typer.core import TyperCommand

from tefflab.benchmarks import graph_flags
from tefflab.cli.brief import BriefCommand
from tefflab.cli.commands import options

if TYPE_CHECKING:
    from tefflab.benchmarks.benchmark import AnyBenchmark, Command, Option

_ALIKE = 0.8  # of an option and what was meant to be it; `--steps` is less like `--systems`


def described_commands() -> dict[str, TyperCommand]:
    """By name, in the order of the kinds: to be listed or completed, not to be called."""
    from tefflab.cli.declared import declared

    return {command.name: _typer_command(None, command) for command in declared()}


def measuring_commands() -> dict[str, TyperCommand]:
    """By name, in the order of the kinds."""
    if "_TEFF_COMPLETE" in os.environ:
        return described_commands()
    from tefflab.benchmarks.benchmark import benchmarks

    return {command.name: _typer_command(kind, command) for kind in benchmarks() for command in kind.commands}


def _typer_command(kind: "AnyBenchmark | None", command: "Command") -> TyperCommand:
    """As typer makes a command of a function: here the function's parameters are made, too. Without a kind it is never
    called, only completed."""

    def measure(context: typer.Context, **said: Any) -> None:
        from tefflab import project_root
        from tefflab.cli.session import Options, run_command
        from tefflab.cli.tracing import trace_cases
        from tefflab.systems.registry import Registry

        assert kind is not None
        _refuse_misspelled(context)
        own = {each.name: said[each.name] for each in command.options}
        asked = Options(
            systems=options.systems(said["systems"]),
            workers=options.numbers(said["workers"], takes_one=command.takes_one_number),
            seconds=60 * said["minutes"],
            rounds=said["rounds"],
            store=said["store"],
            resume=said["resume"],
            install_missing=said["install_missing"],
            installing=options.installing(said["installs"], install_missing=said["install_missing"]),
            all_variants=said["all_variants"],
            as_json=said["as_json"],
            load=said.get("beside", ""),
            own=own,
            flags=tuple(context.args),
        )
        perform = trace_cases if own.get("trace") else run_command
        perform(Registry(project_root()), kind, command, asked)

    parameters = {
        "context": (typer.Context, inspect.Parameter.empty),
        "systems": (options.Systems, ""),
        "all_variants": (options.AllVariants, False),
        **{each.name: (_annotation(each), each.default) for each in command.options},
        **({} if any(each.flag == "--load" for each in command.options) else {"beside": (options.Beside, "")}),
        "minutes": (options.Minutes, 5.0),
        "rounds": (options.Rounds, command.rounds),
        "workers": (_workers(command), ""),
        "store": (options.Store, "default"),
        "resume": (options.Resume, False),
        "install_missing": (options.InstallMissing, False),
        "installs": (options.Installs, None),
        "as_json": (options.AsJson, False),
    }
    measure.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
            for name, (annotation, default) in parameters.items()
        ]
    )
    measure.__annotations__ = {name: annotation for name, (annotation, _) in parameters.items()}
    measure.__doc__ = f"{command.help}\n\nExample:  {command.example}"
    one = typer.Typer(add_completion=False, rich_markup_mode=None)
    epilog = graph_flags.HELP_OF_MEASURING if command.takes_flags else None
    settings = options.TAKES_FLAGS if command.takes_flags else None
    one.command(command.name, cls=BriefCommand, epilog=epilog, context_settings=settings)(measure)
    return cast("TyperCommand", typer.main.get_command(one))


def _refuse_misspelled(context: typer.Context) -> None:
    """A word that is almost one of the command's options was meant to be it."""
    from difflib import get_close_matches

    from tefflab.errors import InputError

    known = [name for each in context.command.params for name in each.opts if name.startswith("--")]
    for word in context.args:
        name = word.partition("=")[0]
        if name.startswith("--") and (near := get_close_matches(name, known, 1, _ALIKE)):
            raise InputError(f"no option is called {name}; did you mean {near[0]}?")


def _annotation(option: "Option") -> Any:
    if isinstance(option.default, bool):
        return Annotated[bool, typer.Option(option.flag, help=option.help)]
    if isinstance(option.default, str):
        return Annotated[str, options.text(option.flag, *option.aliases, help_=option.help, metavar=option.metavar)]
    least = 0 if option.least is None else option.least
    units = options.PERCENT if option.most is not None and option.most < 1 else None
    number = options.number(option.flag, option.help, option.default, least, option.most, units=units)
    return Annotated[type(option.default), number]


def _workers(command: "Command") -> Any:
    what, metavar = ("Workers", "N") if command.takes_one_number else ("Numbers of workers, by commas", "N,M")
    return Annotated[str, options.text("--workers", help_=f"{what}. [{command.workers}]", metavar=metavar)]
