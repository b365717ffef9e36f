"""The commands that measure, which kinds of benchmark declare (`tefflab.benchmarks`): `teff measure KIND`, `teff metg`
and `teff contention`; and `teff measure -- COMMAND`, of anybody's programs.

Kinds are loaded only to measure. Help and completion may not take so long: for them the lab keeps the commands'
descriptions (`tefflab.cli.declared`).
"""

from functools import cache
from typing import TYPE_CHECKING, Any

import click

from tefflab.benchmarks import graph_flags
from tefflab.cli import options
from tefflab.cli.grammar import Command, Former, Groups, Number, Text, Tree

if TYPE_CHECKING:
    from tefflab.benchmarks.benchmark import Option

_OWN = "command"  # the kind that `--` means


@cache
def measuring() -> dict[str, Command]:
    """By what the user types behind `teff`, in the order of the kinds."""
    from tefflab.cli.declared import declared

    return {each.path: _command(each) for each in declared()}


class Measure(Tree):
    """`KIND:CASE` stands for `KIND --cases CASE`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return [path.partition(" ")[2] for path in measuring() if " " in path]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        return measuring().get(f"measure {cmd_name}")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        kind, _, case = args[0].partition(":")
        return super().resolve_command(ctx, [kind, *(["--cases", case] if case else []), *args[1:]])

    def groups(self, ctx: click.Context) -> Groups:
        rows = [("-- COMMAND" if name == _OWN else name, self.help_of(ctx, name)) for name in self.list_commands(ctx)]
        return {"What": rows}


MEASURE = Measure(
    "measure",
    usual=_OWN,
    help="Measure every system that is here, in turns: table, pictures, a report; or commands of yours.\n\n"
    "Example:  teff measure spawn --load spin:50@1\n\n"
    "Example:  teff measure -- ./a --- ./b --threads {workers}",
)


def _command(described: Any) -> Command:
    """Of a kept description, whose kind is loaded once it measures."""

    def measure(flags: tuple[str, ...] = (), programs: tuple[str, ...] = (), **said: Any) -> None:
        from tefflab import project_root
        from tefflab.benchmarks.benchmark import find_command
        from tefflab.cli.session import Options, run_command
        from tefflab.cli.tracing import trace_cases
        from tefflab.systems.registry import Registry

        kind, command = find_command(described.path)
        names = {each.name for each in described.options}
        own = {name: said.pop(name) for name in names if name in said}
        own |= {"commands": programs} if programs else {}
        perform = trace_cases if own.get("trace") else run_command
        perform(Registry(project_root()), kind, command, Options(**said, own=own, flags=flags))

    shared = options.MEASURING if described.measures_systems else options.MEASURING[:-3] + options.MEASURING[-1:]
    return Command(
        described.path.rpartition(" ")[2],
        callback=measure,
        params=[
            *((options.SYSTEMS, options.ALL_VARIANTS) if described.measures_systems else ()),
            *(_option(each) for each in described.options),
            *(() if any(each.flag == "--load" for each in described.options) else (options.LOAD,)),
            *shared,
            *((options.GRAPH_FLAGS,) if described.takes_flags else ()),
        ],
        help=f"{described.help}\n\nExample:  {described.example}",
        epilog=graph_flags.HELP_OF_MEASURING if described.takes_flags else "",
        takes_programs=described.takes_programs,
    )


def _option(of: "Option") -> click.Option:
    """Of a kind, as it declares it."""
    if of.flag in options.OF_KINDS:
        return options.OF_KINDS[of.flag]
    if of.now:
        return Former(of.flag, of.name, now=of.now, type=Text())
    if isinstance(of.default, bool):
        return click.Option([of.flag], is_flag=True, help=of.help)
    if isinstance(of.default, str):
        return click.Option([of.flag], type=Text(), default=of.default, metavar=of.metavar, help=of.help)
    least = 0 if of.least is None else of.least
    units = options.PERCENT if of.most is not None and of.most < 1 else None
    number = Number(of.default, least, of.most, units=units)
    return click.Option([of.flag], type=number, default=of.default, metavar="N", help=of.help, show_default=True)
