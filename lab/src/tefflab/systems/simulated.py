"""Clusters that are not here: a file of `bench/task_graph/simulated/` describes each, and what systems cost on it. A
program simulates task graphs there. It answers as a system's program does, so it is measured in the place of one."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from tefflab import project_root
from tefflab.durations import seconds
from tefflab.errors import InputError, TeffError, first_fault
from tefflab.host.doctor import detours_here
from tefflab.systems.needs import NonEmpty
from tefflab.systems.own_command import OwnCommand
from tefflab.systems.systems import BUILD_FOLDER, Name
from tefflab.systems.toml_files import read_toml

CLUSTERS = Path("bench/task_graph/simulated")  # a TOML file each
SIMULATED = "simulated:"  # before a system's name, so that no row of it is taken for a measured one
SIMULATOR = "simulated_nodes"  # the program
_HERE = "here"  # the noise of this machine


def _time(said: object) -> object:
    """Seconds of a duration in a file."""
    try:
        return seconds(said) if isinstance(said, str) else said
    except TeffError as error:
        raise ValueError(str(error)) from None


Time = Annotated[float, BeforeValidator(_time), Field(ge=0)]
_Rate = Annotated[float, Field(gt=0)]


class _Described(BaseModel):
    """A table of a cluster's file."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Node(_Described):
    cores: Annotated[int, Field(ge=1)]
    flops: _Rate  # a second, of all cores
    bytes: _Rate | None = None  # of memory, the same; None: it is not known


class Level(_Described):
    """Nodes that are equally far from each other: a node, a group of a dragonfly, a switch of a fat tree."""

    nodes: Annotated[int, Field(ge=1)] = 1  # of one; the last level has all
    latency: Time
    bandwidth: _Rate | None = None  # of one message [bytes/s]; None: bytes take no time
    gap: Time = 0.0  # between two messages that leave one
    shared_bandwidth: _Rate | None = None  # of all messages that leave one [bytes/s]


class Costs(_Described):
    """What a system costs on a core of the cluster, as it was measured on one node."""

    title: NonEmpty
    task: Time
    dependence: Time = 0.0  # of an input from the same rank
    message: Time = 0.0  # to send one and to receive one
    message_byte: Time = 0.0
    latency: Time = 0.0  # of a message, beyond that of the level


class Detours(_Described):
    rate: Annotated[float, Field(ge=0)]  # a second and node
    length: Time  # of one, in the mean


class Late(_Described):
    share: Annotated[float, Field(ge=0, lt=1)]  # of the messages between nodes
    length: Time  # in the mean


class Model(_Described):
    """What disturbs the cluster; and the levels, if the model is of another network."""

    detours: tuple[Detours, ...] = ()
    late: Late | None = None
    jitter: Time = 0.0  # of a task, in the mean
    level: Annotated[tuple[Level, ...], Field(min_length=1)] | None = None


class Cluster(_Described):
    title: NonEmpty
    node: Node
    level: Annotated[tuple[Level, ...], Field(min_length=1)]
    system: Annotated[dict[Name, Costs], Field(min_length=1)]
    model: Annotated[dict[Name, Model], Field(min_length=1)]  # the first is the usual one

    @model_validator(mode="after")
    def _here_is_measured(self) -> "Cluster":
        if _HERE in self.model:
            raise ValueError(f"model.{_HERE}: this name is for the noise that is measured on this machine")
        return self


class SimulatedProgram(OwnCommand):
    """A system on a simulated cluster."""

    _machine: Mapping[str, Any] = PrivateAttr({})

    @classmethod
    def on(cls, machine: Mapping[str, Any], benchmark: str) -> "SimulatedProgram":
        """`machine` as `machine_of` makes it."""
        one = cls(benchmark=benchmark, name="simulated", title=machine["title"], program=SIMULATOR)
        one.id, one._machine = machine["id"], machine
        return one

    @property
    def simulated(self) -> str:
        return str(self._machine["told"]["name"])

    def command_line(self, workers: int, ranks: int | None = None, nodes: int | None = None) -> list[str]:
        del ranks
        told = self._machine["told"] | {"cores": workers // (nodes or 1)}
        return [str(project_root() / BUILD_FOLDER / "bin" / SIMULATOR), json.dumps(told, separators=(",", ":"))]


def peak(machine: Mapping[str, Any]) -> str:
    """The machine whose cores only compute, as the simulator reads it."""
    return json.dumps({key: machine["told"][key] for key in ("name", "flop", "byte")} | {"is_peak": True})


def is_disturbed(machine: Mapping[str, Any]) -> bool:
    """Whether two runs on it differ."""
    return any(machine["told"][key] for key in ("detours", "late", "jitter"))


def machines(asked: str, systems: tuple[str, ...]) -> list[dict[str, Any]]:
    """The machines that `--simulate CLUSTER,MODEL,..` asks for: each of these systems (all of them, if none is named)
    under each model. InputError for an unknown cluster, model or system."""
    words = asked.split(",")
    file, models = words[0], words[1:]
    cluster = load_cluster(file)
    chosen = models or [next(iter(cluster.model))]
    known = cluster.model | ({_HERE: noise_here(cluster.node.cores)} if _HERE in chosen else {})
    names = [each.removeprefix(SIMULATED) for each in systems] or list(cluster.system)
    for what, said, there in (("model", chosen, [*cluster.model, _HERE]), ("system", names, list(cluster.system))):
        if unknown := [each for each in said if each not in there]:
            raise InputError(f"--simulate {file} has no {what} {unknown[0]!r}; there are: {' '.join(there)}")
    return [_machine(cluster, Path(file).stem, name, model, known[model]) for name in names for model in chosen]


def load_cluster(said: str) -> Cluster:
    """By its name, or by its file. InputError for an unknown one, and for a fault in its file."""
    folder = project_root() / CLUSTERS
    is_file = said.endswith(".toml")
    path = Path(said) if is_file else folder / f"{said}.toml"
    if (not is_file and Path(said).name != said) or not path.is_file():
        there = " ".join(sorted(each.stem for each in folder.glob("*.toml")))
        raise InputError(f"--simulate {said}: no such cluster; there are: {there}; a file of yours ends with .toml")
    try:
        return Cluster.model_validate(read_toml(path))
    except ValidationError as error:
        raise InputError(f"{path}: {first_fault(error)}") from None


def noise_here(cores: int) -> Model:
    """The detours of this machine's cores, on as many cores as a node has."""
    detours = [Detours(rate=rate * cores, length=length) for rate, length in detours_here()]
    return Model(detours=tuple(detours))


def _machine(cluster: Cluster, name: str, system: str, model_name: str, model: Model) -> dict[str, Any]:
    """All that a plan keeps of one."""
    costs = cluster.system[system]
    cores = cluster.node.cores
    usual = model_name == next(iter(cluster.model))
    told = {
        "name": f"{name}, {model_name}",
        "system": system,
        "flop": cores / cluster.node.flops,
        "byte": cores / cluster.node.bytes if cluster.node.bytes else 0,
        **costs.model_dump(exclude={"title", "latency"}),
        "levels": [
            {"nodes": each.nodes, "latency": each.latency + costs.latency, "gap": each.gap}
            | {"byte": _inverse(each.bandwidth), "shared_byte": _inverse(each.shared_bandwidth)}
            for each in model.level or cluster.level
        ],
        **model.model_dump(include={"detours", "jitter"}),
        "late": model.late.model_dump() if model.late else {},
    }
    return {
        "id": f"{SIMULATED}{system}" + ("" if usual else f"/{model_name}"),
        "title": f"{costs.title} on simulated {cluster.title}: {model_name}",
        "cores": cores,
        "told": told,
    }


def _inverse(rate: float | None) -> float:
    return 1 / rate if rate else 0.0
