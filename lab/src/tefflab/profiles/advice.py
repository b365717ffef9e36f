"""Advice on the length of tasks: METG of this machine, the setting of a run, and the search for the quickest."""

import json
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any

from tefflab.benchmarks.graphs import is_usual
from tefflab.benchmarks.task_graph.tables import metg_name
from tefflab.durations import seconds
from tefflab.errors import InputError
from tefflab.host.machine import read_machine
from tefflab.profiles.granularity import Metg
from tefflab.records.store import Store, file_of, new_sitting_name, stores_in
from tefflab.systems.registry import Registry

USUAL = Metg(1.6e-6, "a stencil of libteff's data flow on two cores; measure yours: teff metg --systems teff/flow")
_WAY = "teff/flow"  # whose METG counts: its tasks name their memory
_METG = metg_name(0.5)


def metg_of(registry: Registry, said: str) -> Metg:
    """As the user says, as it was measured last on this machine, or the usual one."""
    if said:
        return Metg(seconds(said), f"--metg {said}")
    return _measured(registry, (_WAY,)) or USUAL


def metg_of_runtime(registry: Registry, runtime: str) -> Metg | None:
    """Of the quickest way of those that run on a runtime, whose titles name it, as it was measured last here."""
    programs = (program for system in registry.systems for program in system.programs)
    ways = [each.id for each in programs if f"({runtime})" in each.title and each.benchmark == "task_graph"]
    return _measured(registry, (*ways, _WAY) if runtime == "libteff" else ways)


def _measured(registry: Registry, ways: Collection[str]) -> Metg | None:
    """The least METG of these systems in the last sitting on this machine that has one."""
    machine, now = read_machine().id, new_sitting_name()
    found: list[tuple[str, float, str]] = []
    for store in stores_in(registry.results):
        folder = registry.results / store
        own = {each.sitting for each in Store(folder).sittings() if each.machine.id == machine}
        file = file_of(folder, "estimates")
        for row in map(_object, file.read_text(encoding="utf-8").splitlines() if file.is_file() else ()):
            sitting, value, is_known = str(row.get("sitting")), row.get("value"), row.get("low") and row.get("high")
            is_metg = row.get("system_id") in ways and (row.get("quantity"), row.get("relation")) == (_METG, "=")
            is_here = sitting in own and sitting < now  # or else a clock was wrong
            if is_metg and is_here and value and is_known and is_usual(str(row.get("configuration"))):
                found.append((sitting, -float(value), f"{row['system_id']} in {store}:{sitting}"))
    if not found:
        return None
    _, value, source = max(found)
    return Metg(-value, source)


def _object(line: str) -> dict[str, Any]:
    """A line of a store; empty if it can't be read."""
    with suppress(ValueError):
        if isinstance(row := json.loads(line), dict):
            return row
    return {}


def search(starts: Collection[int], seconds_of: Callable[[int], float]) -> dict[int, float]:
    """The times of `starts`, then of half and twice the quickest (one task is the least), until it lies between two."""
    tried: dict[int, float] = {}
    missing = starts
    while missing:
        tried |= {tasks: seconds_of(tasks) for tasks in missing}
        best = min(tried, key=lambda each: tried[each])
        missing = {max(1, best // 2), 2 * best} - tried.keys()
    return tried


def setting_of(line: str) -> int:
    """Into how many tasks the run of a record has cut a loop. TeffError if its app has no such setting."""
    record = _object(line)
    parameters = record.get("parameters", {})
    app, way = parameters.get("app"), record.get("way")
    by_trace = "trace it by teff run --trace, and explain the trace"
    if (app, way) == ("sssp", "tasks"):  # its tasks have as many vertices as a round is worth
        way_out = f"say --systems teff/graph, or {by_trace}"
        raise InputError(f"{app}: its tasks with priorities do not read -tasks; {way_out}")
    if "tasks" not in parameters or way == "loops":
        raise InputError(f"{app}: -tasks does not cut its loops; {by_trace}")
    return int(parameters["tasks"])
