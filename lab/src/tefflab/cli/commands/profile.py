"""`teff profile`: where worker time goes in a spawn pattern."""

from typing import Annotated

import typer

from tefflab.cli import completion


def command(
    systems: Annotated[
        str,
        typer.Option(
            "--systems",
            help="Names from `teff systems`, by commas. [all that can be profiled]",
            autocompletion=completion.systems,
        ),
    ] = "",
    patterns: Annotated[str, typer.Option("--patterns", help="Of serial,parallel,fib-both,fib-one,tree. [all]")] = "",
    trees: Annotated[str, typer.Option("--trees", help="Of T1,T1L,T2,T3,T5.")] = "T3",
    workers: Annotated[int, typer.Option("--workers", min=0, help="0 is all cores.")] = 0,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.01, max=600, help="Of running, for each system and pattern.")
    ] = 3.0,
    functions: Annotated[bool, typer.Option("--functions", help="Also where in a category time went.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a line of JSON a system and pattern.")] = False,
) -> None:
    """Say where worker time goes in a spawn pattern: task, spawning, scheduler, load balance and so on.

    Example:  teff profile --patterns fib-both,tree
    """
    import json

    from rich.markup import escape

    from tefflab import project_root
    from tefflab.benchmarks.profile import take_profile
    from tefflab.cli.session import prepare
    from tefflab.cli.spawn import profiled
    from tefflab.errors import FAILED, TeffError
    from tefflab.host.terminal import output, progress
    from tefflab.measure.spawn_sitting import questions
    from tefflab.output.profile_table import to_table
    from tefflab.systems.systems import load_systems, usable_cores

    def names(text: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name in text.split(",") if name))

    failed = False
    root = project_root()
    asked = questions(names(patterns), names(trees))
    able = [system.name for system in load_systems(root) if any(program.profile for program in system.spawn)]
    prepare(root, names(systems) or able)
    for program in profiled(root, names(systems)):
        for question in asked:
            try:
                with progress().status(f"{program.id}: {question.name}"):
                    spent = take_profile(
                        root, program, question.name, question.flags, workers or usable_cores(), seconds
                    )
            except TeffError as error:  # of one pattern: it may have the others
                progress().print(f"teff: {escape(str(error))}", soft_wrap=True)
                failed = True
                continue
            if as_json:
                typer.echo(json.dumps(spent.to_json(), ensure_ascii=False))
            else:
                output().print(to_table(spent, functions=functions), "")
    if failed:
        raise typer.Exit(FAILED)
