"""The plan of a sitting: variants, cases, and how they are shown. The store keeps it beside the machine, for resuming
and for reports; a kind of benchmark adds its parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from tefflab.systems.naming import owner_of


def counted_workers(count: int) -> str:
    """`1 worker`, `2 workers`."""
    return f"{count} worker{'s' * (count != 1)}"


def counted_nodes(count: int) -> str:
    """`1 node`, `2 nodes`."""
    return f"{count} node{'s' * (count != 1)}"


@dataclass(frozen=True, slots=True)
class Variant:
    """One way of running a system, as it stands in plans, tables and pictures. `color` is the system's own; variants of
    a system share it and differ in dash or marker, by `variant_index` (0 for the first)."""

    id: str
    title: str
    version: str
    color: str
    variant_index: int
    is_floor: bool = False  # it has no tasks: it runs with one worker only, and no variant is compared with it
    ceiling: str = ""  # the program that measures its ceiling, if its kernels do not run on the cores
    simulated: str = ""  # the machine that it was simulated on; empty: it was measured

    @property
    def system(self) -> str:
        """The name of the system that it is a way to run, with its version where one was asked for."""
        return owner_of(self.id)

    @property
    def cluster(self) -> str:
        """`simulated cori`; empty if it was measured."""
        return f"simulated {self.simulated.partition(',')[0]}" if self.simulated else ""


class Frozen(BaseModel):
    """No unknown key, no change after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Case(Frozen):
    """One thing that every variant is asked about, and its place in a picture of several."""

    name: str
    flags: str
    workers: int  # of all nodes together
    nodes: int | None = None  # machines that share the workers; None: this machine
    ranks: int | None = None  # processes that share the workers; None: the system decides
    x: float | None = None  # its place on the axis of the varied parameter
    x_text: str = ""  # the text of that value
    group: str = ""  # cases of one group share a picture
    title: str = ""  # its work, if its name does not say it
    bodies: str = ""  # the kind of a program's bodies that are made as its tasks
    small: str = ""  # flags of a run that takes no system long, and foretells the time of the case's run
    small_times: float = 1.0  # the case's run takes so many times as long
    load: str = ""  # that runs beside it, as `tefflab.host.load` writes it
    cores: tuple[int, ...] = ()  # to which its programs are bound; empty: all that are here

    @property
    def configuration(self) -> str:
        """Its flags, and what else tells its runs from those of other cases."""
        beside = f" beside {self.load}" if self.load else ""
        on = f" on {','.join(map(str, self.cores))}" if self.cores else ""
        ranks = f" over {self.ranks} ranks" if self.ranks else ""
        nodes = f" over {counted_nodes(self.nodes)}" if self.nodes else ""
        return f"{self.flags}{ranks}{nodes}{beside}{on}"

    @property
    def is_distributed(self) -> bool:
        """Whether several nodes share it. Then noise is part of the result: the detours of one node delay all."""
        return self.nodes is not None and self.nodes > 1

    @property
    def where(self) -> str:
        """The nodes and workers, which the name of another case may lack, and the load."""
        nodes = counted_nodes(self.nodes) if self.nodes and counted_nodes(self.nodes) not in self.name else ""
        return ", ".join(filter(None, (nodes, counted_workers(self.workers), self.load)))

    @property
    def place(self) -> str:
        return f"{self.name}, {self.where}"


class Plan(Frozen):
    """All that a sitting asks. A kind of benchmark has a subclass where it asks for more."""

    title: str
    variants: tuple[Variant, ...]
    cases: tuple[Case, ...]
    commands: tuple[str, ...] = ()  # of the user, which are measured in the place of systems
    simulated: tuple[Mapping[str, Any], ...] = ()  # machines, on each of which a system is simulated
    others: tuple[str, ...] = ()  # ids of the measured systems' variants that are here and were not asked for
    named: tuple[str, ...] = ()  # the systems that the user asked for by name
    launcher: str = ""  # the words that start ranks; empty: the usual ones
    hosts: tuple[str, ...] = ()  # the machines that share the ranks; empty: as the launcher chooses
    experiment: str | None = None  # the experiment of this figure
    charts: tuple[str, ...] = ()  # the charts to draw; empty: the kind's default
    x_label: str = ""  # of the varied parameter

    @property
    def warning(self) -> str:
        """A warning for the user before it is measured; empty if there is none."""
        return ""

    @property
    def workers(self) -> Sequence[int]:
        """The numbers of workers, rising."""
        return sorted({case.workers for case in self.cases})
