"""Which systems are here: sets them up, builds the ways of them that are measured and no others, and asks them."""

from collections.abc import Iterator, Mapping, Sequence

from tefflab.benchmarks.benchmark import AnyBenchmark
from tefflab.errors import TeffError
from tefflab.host.terminal import progress, say
from tefflab.measure.measurement import Present, present, refuse_unknown
from tefflab.systems.bringing import bring_version
from tefflab.systems.building import Ways
from tefflab.systems.naming import owner_of
from tefflab.systems.packages import Installing
from tefflab.systems.probing import Probe, is_unexplained, probe_all, why_not_there
from tefflab.systems.registry import Registry, no_such_system
from tefflab.systems.setup import ensure, not_here, warn
from tefflab.systems.systems import BENCH_FOLDER, BROKEN_FOLDER, Program, System, best_of


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


def prepare(
    registry: Registry,
    kind: AnyBenchmark,
    systems: Sequence[str],
    *,
    all_variants: bool = False,
    installing: Installing = "ask",
) -> None:
    """Sets up the systems asked for, and builds the ways that are measured. TeffError if this kind of benchmark can't
    be built, or if a version of a system can't be had or is another than asked for."""
    asked = asked_for(registry, kind, systems)
    folder = f"{BENCH_FOLDER}/{kind.name}"
    ways = ways_of(kind, systems, all_variants=all_variants)
    problems = ensure(registry, asked, console=progress(), ways=ways, extra_apt=kind.apt, installing=installing)
    if reason := problems.get(folder):
        raise TeffError(f"nothing can be measured: {folder}: {reason}")
    for each in asked:
        if each.asked and (programs := kind.programs(each)):
            best = programs if all_variants else [best_of(programs)]
            named = [one for one in programs if one.long_name in systems or (one in best and each.name in systems)]
            bring_version(registry, named, progress())


def asked_for(registry: Registry, kind: AnyBenchmark, systems: Sequence[str]) -> list[System]:
    """The systems of these names or ids; where none is named, all that run this kind of benchmark. Raises TeffError
    for a name that no system has."""
    named = {owner_of(name) for name in systems}
    known = registry.named(systems)
    if unknown := sorted(named - {each.name for each in known}):
        raise no_such_system(unknown[0], [each.name for each in known if kind.programs(each)])
    refuse_unknown(registry, kind, systems)
    return [each for each in known if (each.name in named if named else kind.programs(each))]


def whoever_is_here(
    registry: Registry, kind: AnyBenchmark, systems: Sequence[str], *, all_ways: bool = False
) -> list[Present]:
    """The requested systems that are here, each in all of its ways. It warns of a named system that is not here, with
    the reason, and of a stand-in for the best of a system unless `all_ways` are measured. No other system is started
    for this."""
    asked = asked_for(registry, kind, systems)
    with progress().status("asking the systems whether they are there"):
        probes = probe_all(asked, kind.programs)
    if silent := [each for each in asked if is_silent(kind.programs(each), probes)]:
        ensure(registry, silent, console=progress(), ways=ways_of(kind, (), all_variants=True))
        probes |= probe_all(silent, kind.programs)
    here = [each for each in asked if any(probes[one.id].found for one in kind.programs(each))]
    if systems:
        offer([each for each in asked if each not in here and not each.is_installed])
    found = present(registry, kind, systems, probes)
    for program, reason in _missed(kind, asked, systems, probes, all_ways=all_ways):
        warn(progress(), program.id, reason)
    return found


def _missed(
    kind: AnyBenchmark,
    asked: Sequence[System],
    named: Sequence[str],
    probes: Mapping[str, Probe],
    *,
    all_ways: bool,
) -> Iterator[tuple[Program, str]]:
    """The programs that a user expects and that are not there, each with its reason. A user expects each way that the
    command names, the best way of each system, and each program that nothing builds. The
    set-up has reported the programs that do not compile, but not the stand-in for a best one."""
    for system in asked:
        programs = kind.programs(system)
        here = [each for each in programs if probes[each.id].found]
        for each in (one for one in programs if not probes[one.id].found):
            reason = probes[each.id].reason or ""
            is_best = each is best_of(programs)
            is_replaced = here and is_best and (system.name in named or not named) and not all_ways
            is_system_named = system.name in named and not here and is_best
            is_asked = all_ways or is_best
            is_expected = each.long_name in named or is_system_named or (is_asked and is_unexplained(reason))
            is_offered = system.install.on_request and not here and not system.is_installed
            is_said = (system.root / BROKEN_FOLDER / each.identity).is_file() or is_offered
            if is_replaced:
                yield each, f"{reason}; {best_of(here).id} is measured instead"
            elif is_expected and not is_said:
                yield each, reason


def offer(absent: Sequence[System]) -> None:
    """Says which of them come on request."""
    if missing := not_here(absent):
        say(f"not here: {missing}")
