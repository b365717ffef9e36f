"""The options and arguments that commands share, each declared once."""

import json
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from tefflab import project_root
from tefflab.cli import completion
from tefflab.cli.grammar import FLAGS, File, Former, Number, Text, argument, option
from tefflab.systems.naming import canonical

if TYPE_CHECKING:
    from tefflab.systems.packages import Installing


@cache
def most_workers() -> int:
    """That a program of bench/ takes."""
    head = json.loads((project_root() / "bench" / "driver" / "record.schema.json").read_text(encoding="utf-8"))
    most: int = head["properties"]["workers"]["maximum"]
    return most


def _numbers(without: str) -> Callable[[str], int]:
    """Reads a number of several. `without` says what it means to give none."""

    def read(said: str) -> int:
        if not said.isdecimal() or not 1 <= int(said) <= most_workers():
            raise ValueError(f"give numbers from 1 to {most_workers()}, by commas; leave it out for {without}")
        return int(said)

    return read


PERCENT = {"%": 0.01}  # a unit of shares
FILE = File()
NAME = Text(completion.systems)
_NAMES = Text(of_each=str)
SHARE = Number(5.0, 0.1, 100, units={"%": 1.0}, scale=0.01, unclear=1)  # in per cent
_MINUTES = Number(5.0, 0.1, units={"min": 1.0, "m": 1.0, "s": 1 / 60, "h": 60.0}, scale=60)
_SYSTEMS = "NAME, NAME/WAY or NAME@VERSION, by commas. [all]"
_CASES = "CASE, KIND:CASE or a group; an unknown one lists them."
_SIMULATE = "A cluster that is not here, as cori or cori,quiet."
_LOAD = "Beside each run, as spin:50@1 or spin:25,50@0,1/100ms."

SYSTEMS = option("--systems NAMES", _SYSTEMS, Text(completion.systems, canonical), default=())
ALL_VARIANTS = option("--all-variants", "Each system in all of its ways.")
CASES = option("--cases NAMES", _CASES, _NAMES, default=())
SIMULATE = option("--simulate CLUSTER", _SIMULATE, Text(), default="")
AGAINST = option("--against SYSTEM", "The system by whose values the others' are divided. [the usual]", NAME)
LOAD = option("--load LOAD", _LOAD, Text())
MINUTES = option("--minutes seconds M", "Time for measuring, at most; from 0.1.", _MINUTES)
ROUNDS = option("--rounds R", "Rounds of each, at most; from 2.", Number(25, 2))
WORKERS = option(
    "--workers N,M", "Numbers of workers. [the usual]", Text(of_each=_numbers("the cores that are here")), default=()
)
ONE_OF_WORKERS = option("--workers N", "Number of workers. [the usual]", Number(2, 1, most_workers))
STORE = option(
    "--store NAME", "Folder below results/ that keeps the runs, or a path.", Text(completion.stores), default="default"
)
RESUME = option("--resume", "Go on with the store's last sitting.")
INSTALL_MISSING = option("--install-missing", "First install what comes on request.")
INSTALLS = option("--yes/--no-install installs", "Install packages without asking, or none.", default=None)
NODES = option(
    "--nodes A,B",
    "Numbers of nodes; --workers: of each.",
    Text(of_each=_numbers("this machine")),
    default=(),
)
LAUNCHER = option("--launcher WORDS", "Starts ranks, as mpirun or srun. [the usual]", Text())
HOSTS = option("--hosts NAMES", "Machines that share the ranks, by commas.", Text())
BATCH = option("--batch TEMPLATE", "Run as a job of Slurm or PBS, by this template.", FILE)
JSON = option("--json as_json", "Print rows as JSON, one a line.")
PICTURE = option("--picture FILE", "Draw it, as FILE.svg and FILE.png.", FILE)
STORED = argument(
    "[STORE[:SITTING]] store",
    "A folder below results/; its last sittings, or this one. [default]",
    Text(completion.stores),
    default="default",
)
FORMER_STORE = Former("--store", "store", now="an argument: name the store without --store", type=Text())
GRAPH_FLAGS = argument("[FLAGS]... flags", kind=FLAGS, nargs=-1)

OVER_NODES = (NODES, LAUNCHER, HOSTS)
OF_KINDS = {each.opts[0]: each for each in (CASES, AGAINST, LOAD, SIMULATE)}  # that some kinds take
MEASURING_NOW = (CASES, MINUTES, ROUNDS, WORKERS)  # to compare
MEASURING = (MINUTES, ROUNDS, WORKERS, STORE, RESUME, BATCH, JSON)
INSTALLING = (INSTALL_MISSING, INSTALLS)


def installing(installs: bool | None) -> "Installing":
    """Whether packages may be installed, by --yes or --no-install."""
    return "ask" if installs is None else "yes" if installs else "no"
