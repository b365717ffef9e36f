"""`teff install`."""

from typing import Annotated

import typer

from tefflab.cli import completion


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Systems of the list.", autocompletion=completion.on_request),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Every system of the list.")] = False,
    as_list: Annotated[bool, typer.Option("--list", help="Say what there is, with its licence and size.")] = False,
    removing: Annotated[bool, typer.Option("--remove", help="Remove what this command brought.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as lines of JSON.")] = False,
) -> None:
    """Bring systems that no command sets up by itself: from apt, PyPI and other registries.

    Each goes into a separate folder below .teff/systems, so that none breaks another. Without a name, list them.

    Example:  teff install --list
    """
    from tefflab import project_root
    from tefflab.cli.requested import bring, list_offers, take_away
    from tefflab.errors import InputError
    from tefflab.systems.registry import Registry

    said = names or []
    if as_list or not (said or all_):
        if said or all_ or removing:
            words = [*said, *(["--all"] if all_ else []), *(["--remove"] if removing else [])]
            raise InputError(f"{' '.join(words)}: name systems to install or remove, or ask for the --list alone")
        list_offers(Registry(project_root()), as_json=as_json)
        return
    if as_json:
        raise InputError("--json is for the list")
    if said and all_:
        raise InputError(f"{' '.join(said)} and --all: one of them")
    (take_away if removing else bring)(Registry(project_root()), said)
