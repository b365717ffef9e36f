"""`teff systems`: the paper's Table 4, for this machine; what comes on request; what disturbs measurement here."""

import click

from tefflab.cli import completion, options
from tefflab.cli.grammar import Former, Text, Tree, command

_NAMES = click.Argument(
    ["names"], nargs=-1, type=Text(completion.on_request), metavar="[NAME]...", help="Systems that come on request."
)


@command(
    "list",
    options.JSON,
    options.INSTALLS,
    click.Option(["--set-up"], is_flag=True, help="First install and build every system that can be set up."),
)
def list_(as_json: bool, installs: bool | None, set_up: bool) -> None:
    """List the systems under test: their facts, whether they are here, and how to get the others.

    Nothing is installed or built, unless --set-up asks for it.

    Example:  teff systems list --json
    """
    import sys

    from tefflab import project_root
    from tefflab.host.terminal import output, progress
    from tefflab.output.systems_table import to_json, to_table
    from tefflab.systems.probing import probe_all, unbuilt
    from tefflab.systems.registry import Registry
    from tefflab.systems.setup import ensure

    registry = Registry(project_root())
    systems = registry.systems
    if set_up:
        ensure(registry, systems, console=progress(), installing=options.installing(installs))
    with progress().status(f"asking {len(systems)} systems whether they are there"):
        probes = probe_all(systems, lambda system: system.listed)
    if as_json:
        sys.stdout.write(to_json(systems, probes) + "\n")
    else:
        here = [each for each in systems if any(probes[one.id].found for one in each.listed)]
        output().print(to_table(systems, probes, unbuilt(here) if set_up else None))


@command(
    "add",
    _NAMES,
    click.Option(["--all", "every"], is_flag=True, help="Every one of them."),
    options.JSON,
    Former("--list", "listing", now="teff systems add", is_flag=True),
    Former("--remove", "removing", now="teff systems remove", is_flag=True),
)
def add(names: tuple[str, ...], every: bool, as_json: bool, listing: bool = False, removing: bool = False) -> None:
    """Bring systems that no command sets up by itself: from apt, PyPI and other registries.

    Each goes into a separate folder below .teff/systems, so that none breaks another. Without a name, list them with
    licence and size.

    Example:  teff systems add dask
    """
    from tefflab import project_root
    from tefflab.cli.requested import bring, list_offers, take_away
    from tefflab.errors import InputError
    from tefflab.systems.registry import Registry

    said = [*names, *(["--all"] * every), *(["--remove"] * removing)]
    if listing or not said:
        if said:
            raise InputError(f"{' '.join(said)}: name systems to install or remove, or ask for the --list alone")
        list_offers(Registry(project_root()), as_json=as_json)
        return
    if as_json:
        raise InputError("--json is for the list")
    if names and every:
        raise InputError(f"{' '.join(names)} and --all: one of them")
    (take_away if removing else bring)(Registry(project_root()), names)


@command("remove", _NAMES)
def remove(names: tuple[str, ...]) -> None:
    """Remove what `teff systems add` brought: these systems, or all of them.

    Example:  teff systems remove dask
    """
    from tefflab import project_root
    from tefflab.cli.requested import take_away
    from tefflab.systems.registry import Registry

    take_away(Registry(project_root()), names)


@command("doctor", options.JSON)
def doctor(as_json: bool) -> None:
    """Say what on this machine disturbs measurement, and what can be done about it.

    Leaves with 0 whatever it finds; for scripts, --json has a `status` of each finding: ok, warn or unknown.

    Example:  teff systems doctor
    """
    import sys

    from tefflab.host.doctor import examine, to_json, to_table
    from tefflab.host.terminal import output, progress

    with progress().status("looking at this machine"):
        findings = examine()
    if as_json:
        sys.stdout.write(to_json(findings) + "\n")
    else:
        output().print(to_table(findings))


SYSTEMS = Tree(
    "systems",
    {each.name: each for each in (list_, add, remove, doctor) if each.name},
    usual="list",
    is_bare=True,
    help="List the systems under test; add or remove some; say what disturbs measurement here.\n\n"
    "Example:  teff systems list --json",
)
