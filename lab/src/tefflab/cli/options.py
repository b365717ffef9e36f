"""The options and arguments that commands share, each declared once."""

import json
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tefflab import project_root
from tefflab.cli import completion
from tefflab.cli.grammar import FLAGS, Counts, Names, Number, Text
from tefflab.systems.naming import canonical

if TYPE_CHECKING:
    from tefflab.systems.packages import Installing

PERCENT = {"%": 0.01}  # a unit of shares
FILE = click.Path(path_type=Path)
_OF_MINUTES = {"min": 1.0, "m": 1.0, "s": 1 / 60, "h": 60.0}


@cache
def most_workers() -> int:
    """That a program of bench/ takes."""
    head = json.loads((project_root() / "bench" / "driver" / "record.schema.json").read_text(encoding="utf-8"))
    most: int = head["properties"]["workers"]["maximum"]
    return most


SYSTEMS = click.Option(
    ["--systems"],
    type=Names(completion.systems, canonical),
    default=(),
    metavar="NAMES",
    help="NAME: a system, in its best way; NAME/WAY: in this one; NAME@VERSION: of a version. By commas. [all]",
)
ALL_VARIANTS = click.Option(["--all-variants"], is_flag=True, help="Each system in all of its ways.")
CASES = click.Option(
    ["--cases"],
    type=Names(),
    default=(),
    metavar="NAMES",
    help="CASE or KIND:CASE, or a group of cases, by commas; an unknown one lists them. [the usual]",
)
TREES = click.Option(
    ["--trees"],
    type=Names(),
    default=(),
    metavar="NAMES",
    help="Published trees, by commas; an unknown one lists them. [its default]",
)
AGAINST = click.Option(
    ["--against"],
    type=Text(completion.systems),
    metavar="SYSTEM",
    help="The system by whose values the others' are divided. [the usual]",
)
MINUTES = click.Option(
    ["--minutes", "seconds"],
    type=Number(5.0, 0.1, units=_OF_MINUTES, scale=60),
    metavar="M",
    help="Time for measuring, at most; from 0.1.",
)
ROUNDS = click.Option(["--rounds"], type=Number(25, 2), metavar="R", help="Rounds of each, at most; from 2.")
WORKERS = click.Option(
    ["--workers"], type=Counts(most_workers), default=(), metavar="N,M", help="Numbers of workers. [the usual]"
)
LOAD = click.Option(
    ["--load"],
    type=Text(),
    metavar="LOAD",
    help="Beside each run, as spin:50@1: half of core 1; spin:25,50@0,1/100ms: two loads, in turns, in this period.",
)
STORE = click.Option(
    ["--store"], default="default", metavar="NAME", help="The folder below results/ that keeps the runs, or a path."
)
RESUME = click.Option(["--resume"], is_flag=True, help="Go on with the store's last sitting.")
INSTALL_MISSING = click.Option(["--install-missing"], is_flag=True, help="First install what comes on request.")
INSTALLS = click.Option(
    ["--yes/--no-install", "installs"], default=None, help="Install packages without asking, or none."
)
LAUNCHER = click.Option(
    ["--launcher"], type=Text(), metavar="WORDS", help="Starts ranks, as mpirun or srun. [the usual]"
)
HOSTS = click.Option(["--hosts"], type=Text(), metavar="NAMES", help="Machines that share the ranks, by commas.")
JSON = click.Option(["--json", "as_json"], is_flag=True, help="Print rows as JSON, one a line.")
PICTURE = click.Option(["--picture"], type=FILE, metavar="FILE", help="Draw it, as FILE.svg and FILE.png.")
STORED = click.Argument(
    ["store"],
    required=False,
    type=Text(),
    default="default",
    metavar="[STORE[:SITTING]]",
    help="A folder below results/; its last sittings, or this one. [default]",
)
GRAPH_FLAGS = click.Argument(["flags"], nargs=-1, type=FLAGS, metavar="[FLAGS]...")

OF_KINDS = {each.opts[0]: each for each in (CASES, TREES, AGAINST, LOAD)}  # declared here, taken by some kinds
MEASURING = (MINUTES, ROUNDS, WORKERS, STORE, RESUME, INSTALL_MISSING, INSTALLS, JSON)


def installing(installs: bool | None) -> "Installing":
    """Whether packages may be installed, by --yes or --no-install."""
    return "ask" if installs is None else "yes" if installs else "no"


def start_ranks_by(launcher: str | None, hosts: str | None) -> None:
    """Every program of several ranks that this process starts is started so."""
    os.environ |= {name: said for name, said in (("TEFF_LAUNCHER", launcher), ("TEFF_HOSTS", hosts)) if said}
