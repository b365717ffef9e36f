"""`teff graph`."""

import typer

SETTINGS = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": ["--help"]}


def command(context: typer.Context) -> None:
    """Say what a graph's flags describe, as text or with --json as a list of tasks; nothing is run.

    Takes the published Task Bench's flags as they are.

    Example:  teff graph --json -type fft -width 8 -steps 9
    """
    from tefflab import project_root
    from tefflab.programs import call_program

    root = project_root()
    words = context.args if "--json" in context.args else [*context.args, "-vv"]
    call_program(root, root / ".teff" / "build" / "bin" / "task_graph", words)
