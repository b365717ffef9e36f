"""The machine of each node of a sitting. `python -m tefflab.host.node CEILING` runs on each, and prints it as JSON."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel, ValidationError

import tefflab
from tefflab.errors import TeffError
from tefflab.host.machine import Machine, read_machine
from tefflab.host.processes import answer, how_it_ended
from tefflab.host.ranks import last_words, on_nodes

_RANKS = ("SLURM_NODEID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")  # variables of a launcher: the node's number, from 0
_KERNEL = "-type trivial -kernel compute_bound -steps 250 -iter 4096"
_RUNS = 5  # of the kernel, of which the best says the rate
_PATIENCE = 120.0  # seconds, for a launcher may wait for the nodes
_SLOW = 1.1  # a factor between the rates of two nodes
_GAPS = 0.10  # of the time, lost in gaps on a noisy node
_APART = 1.5  # a factor between the distances of the cores


class Node(BaseModel, extra="forbid", frozen=True):
    """One node. Nodes have numbers, from 1, for stores get published."""

    number: int
    machine: Machine
    rate: float | None = None  # FLOP/s of all its cores
    gap_share: float | None = None  # of the time, lost while nothing else was to run
    round_trip: float | None = None  # of a cache line, between neighbouring cores [s]


def ask_nodes(programs: Path, count: int, look: Callable[[], object] = lambda: None) -> tuple[Node, ...]:
    """Asks the first nodes which machines they are, and returns them by their numbers. `programs` is the folder of the
    built programs; `look` is called each second. TeffError with the launcher's words if a node does not answer."""
    asked = [programs / "start_ranks", "node", sys.executable, "-m", "tefflab.host.node", programs / "ceiling"]
    paths = {"PYTHONPATH": str(Path(tefflab.__file__).parents[1]), "TEFF_VARIABLES": "PYTHONPATH"}
    try:
        done = answer(list(map(str, asked)), environment=on_nodes(count) | paths, timeout=_PATIENCE, look=look)
    except OSError as failure:
        raise TeffError(f"the nodes do not say what they are: {failure}") from None
    except subprocess.TimeoutExpired:
        raise TeffError(f"the nodes do not say within {_PATIENCE:g} s what they are") from None
    said = [line for line in done.stdout.splitlines() if line.lstrip().startswith("{")]
    try:
        nodes = sorted(map(Node.model_validate_json, said), key=lambda each: each.number)
    except ValidationError as error:
        raise TeffError(f"a node says something else than what it is: {error.errors()[0]['msg']}") from None
    if len(nodes) != count:
        words = last_words(done.stderr) or f": {how_it_ended(done.returncode)}"
        raise TeffError(f"{len(nodes)} of {count} nodes say what they are{words}")
    return tuple(nodes)


def differences(nodes: Sequence[Node]) -> dict[int, list[str]]:
    """The differences of each node from the others, by its number."""
    if not nodes:
        return {}
    found = {each.number: list(_other_parts(each.machine, nodes)) for each in nodes}
    best = max((each.rate or 0.0 for each in nodes), default=0.0)
    trips = sorted(each.round_trip for each in nodes if each.round_trip) or [0.0]
    for each in nodes:
        own = found[each.number]
        if each.rate and best > _SLOW * each.rate:
            own.append(f"cores {best / each.rate:.1f} x as slow")
        if each.gap_share and each.gap_share > _GAPS:
            own.append(f"{100 * each.gap_share:.0f} % of its time is lost in gaps")
        if each.round_trip and each.round_trip > _APART * trips[0]:
            own.append(f"cores {each.round_trip / trips[0]:.1f} x as far apart")
    return {number: texts for number, texts in found.items() if texts}


def _other_parts(machine: Machine, nodes: Sequence[Node]) -> Iterator[str]:
    """The parts of a machine that most of the nodes have otherwise."""
    for name, title in (("cpu", "CPU"), ("cores_usable", "cores"), ("governor", "governor"), ("kernel", "kernel")):
        usual, times = Counter(getattr(each.machine, name) for each in nodes).most_common(1)[0]
        if (own := getattr(machine, name)) != usual:
            yield f"{title}: {own or 'none'}" + (f", not {usual}" if times > 1 or len(nodes) == 2 else "")


def _self(ceiling: str) -> Node:
    """This node. The better of several runs says the rate: noise only lowers it."""
    number = next((int(said) for name in _RANKS if (said := os.environ.get(name))), 0) + 1
    machine = read_machine()
    command = [ceiling, "--workers", str(machine.cores_usable), *_KERNEL.split(), "-width", str(machine.cores_usable)]
    told = []
    for _ in range(_RUNS):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        told += [json.loads(done.stdout)] if done.returncode == 0 else []
    if not told:
        return Node(number=number, machine=machine)
    best = min(told, key=lambda record: record["elapsed_seconds"])
    gaps = sorted(max(record["noise"][f"gap_share_{when}"] for when in ("before", "after")) for record in told)
    return Node(
        number=number,
        machine=machine,
        rate=best["flops"] / best["elapsed_seconds"],
        gap_share=gaps[len(gaps) // 2],
        round_trip=best["noise"].get("round_trip_seconds"),
    )


if __name__ == "__main__":
    print(_self(sys.argv[1]).model_dump_json(), flush=True)
