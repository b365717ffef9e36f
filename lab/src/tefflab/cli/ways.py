"""Which ways of the systems a command builds: those that it measures, and no others."""

from collections.abc import Mapping, Sequence

from tefflab.benchmarks.benchmark import AnyBenchmark
from tefflab.measure.measurement import Present
from tefflab.systems.building import Ways
from tefflab.systems.probing import Probe, is_unexplained, why_not_there
from tefflab.systems.registry import Registry
from tefflab.systems.systems import Program, System, best_of


def ways_of(kind: AnyBenchmark, systems: Sequence[str], *, all_variants: bool = False) -> Ways:
    """The programs to build for a measurement of `systems`: all ways of each, or the best way and the named ways. If
    CMake leaves the best way out, the next way takes its place."""

    def ways(system: System) -> list[list[Program]]:
        programs = kind.programs(system)
        if all_variants or not programs:
            return [[each] for each in programs]
        named = [[each] for each in programs if each.long_name in systems]
        if named and systems and system.name not in systems:
            return named
        kinds = dict.fromkeys(each.measured for each in programs)
        return [*named, *(_best_first([each for each in programs if each.measured == one]) for one in kinds)]

    return ways


def _best_first(programs: Sequence[Program]) -> list[Program]:
    best = best_of(programs)
    return sorted(programs, key=lambda each: each is not best)


def is_silent(programs: Sequence[Program], probes: Mapping[str, Probe]) -> bool:
    """Whether the best program was built and does not answer, and others could be built in its place."""
    absent = {each.id: why_not_there(each) for each in programs if not probes[each.id].found}
    return bool(absent) and absent.get(best_of(programs).id) == "" and any(map(is_unexplained, absent.values()))


def not_built(
    registry: Registry, kind: AnyBenchmark, systems: Sequence[str], found: Sequence[Present]
) -> tuple[str, ...]:
    """The ways of the measured systems that no command has built yet."""
    here = {each.program.system_name for each in found}
    asked = (each for each in registry.systems if each.name in here and (not systems or each.name in systems))
    return tuple(each.id for system in asked for each in kind.programs(system) if is_unexplained(why_not_there(each)))
