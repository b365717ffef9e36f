"""Which systems are here: sets them up, builds the ways of them that are measured and no others, and asks them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from tefflab.benchmarks.benchmark import AnyBenchmark
from tefflab.errors import InputError, TeffError
from tefflab.host.terminal import progress, say
from tefflab.records.plan import Variant
from tefflab.systems.bringing import bring_version
from tefflab.systems.naming import owner_of
from tefflab.systems.own_command import OwnCommand
from tefflab.systems.packages import Installing
from tefflab.systems.probing import Probe, is_unexplained, probe_all, why_not_there
from tefflab.systems.registry import Registry, no_adapter, no_such_system
from tefflab.systems.setup import ensure, not_here, warn
from tefflab.systems.systems import BROKEN_FOLDER, Program, System, best_of

_ALONE = "runs on one machine"
_OWN_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # Okabe and Ito, 2008


@dataclass(frozen=True)
class Present:
    """A variant that is here, and the program that runs it."""

    variant: Variant
    program: Program

    @classmethod
    def of_user(cls, command: OwnCommand, number: int) -> "Present":
        """The user's own command, the `number`th from 0 on, as if it were a system."""
        color = _OWN_COLORS[number % len(_OWN_COLORS)]
        return cls(Variant(command.id, command.title, "", color, 0, simulated=command.simulated), command)


@dataclass(frozen=True)
class Selection:
    """The systems that a command names, of those that run a kind of benchmark; all of them where it names none. A
    `SYSTEM/NAME` is one way of a system. A system's name alone stands for its best way, or with `all_ways` for all."""

    registry: Registry
    kind: AnyBenchmark
    names: Sequence[str] = ()
    all_ways: bool = False
    over_nodes: bool = False  # only programs that can be started on several

    def programs(self, system: System) -> list[Program]:
        """The programs of a system that are to be measured."""
        return [each for each in self.kind.programs(system) if each.spreads_over_nodes or not self.over_nodes]

    @property
    def left_out(self) -> str:
        """Why systems are not measured over nodes: those that could be started on several are named."""
        alone = [each for each in self.registry.systems if self.kind.programs(each) and not self.programs(each)]
        spread = [each.name for each in alone if each.distributed]
        own = [f"{' '.join(spread)} (they start their processes themselves, on this machine)"] if spread else []
        others = [f"{len(alone) - len(spread)} systems of one machine"] if len(alone) > len(spread) else []
        return " and ".join([*own, *others])

    @cached_property
    def systems(self) -> list[System]:
        """TeffError for a name that no system has, nor a program of one that runs this kind of benchmark."""
        every = self.registry.named(self.names)
        programs = [program for system in every for program in self.programs(system)]
        owners = dict.fromkeys(program.system_name for program in programs)
        known = _names(programs)
        alone = _names([program for system in every for program in self.kind.programs(system)]) - known
        if refused := [name for name in self.names if name in alone]:
            reasons = {each.name: each.on_one_machine or _ALONE for each in every}
            why = "; ".join(f"{name}: {reasons[owner_of(name)]}" for name in refused)
            there = " ".join(each.name for each in self.registry.systems if self.programs(each))
            raise InputError(f"{why}; there are, over nodes: {there}")
        for name in self.names:
            if name in known:
                continue
            if name in {system.name for system in every}:
                raise no_adapter(name, self.kind.measured, owners)
            if ways := [program.long_name for program in programs if program.system_name == owner_of(name)]:
                raise InputError(f"no system is called {name!r}; there are: {' '.join(ways)}")
            raise no_such_system(owner_of(name), list(owners))
        named = {owner_of(name) for name in self.names}
        return [each for each in every if (each.name in named if named else self.programs(each))]

    def ways(self, system: System) -> list[list[Program]]:
        """The programs to build: all ways of a system, or the best way and the named ways. If CMake leaves the best
        way out, the next way takes its place."""
        programs = self.programs(system)
        if self.all_ways:
            return [[each] for each in programs]
        named = [[each] for each in programs if each.long_name in self.names]
        if named and system.name not in self.names:
            return named
        kinds: dict[str, list[Program]] = {}
        for each in programs:
            kinds.setdefault(each.measured, []).append(each)
        best = [(best_of(own), own) for own in kinds.values()]
        return [*named, *([first, *(each for each in own if each is not first)] for first, own in best)]

    def prepare(self, installing: Installing = "ask") -> None:
        """Sets up the systems, and builds the ways that are measured. TeffError if a version can't be had or is another
        than asked for."""
        ensure(
            self.registry,
            self.systems,
            console=progress(),
            ways=self.ways,
            extra_apt=self.kind.apt,
            installing=installing,
        )
        for each in self.systems:
            if each.asked and (programs := self.programs(each)):
                best = programs if self.all_ways else [best_of(programs)]
                is_named = each.name in self.names
                named = [one for one in programs if one.long_name in self.names or (is_named and one in best)]
                bring_version(self.registry, named, progress())

    def here(self) -> list[Present]:
        """The systems that are here, each in all of its ways. It warns of a named system that is not here, with the
        reason, and of a stand-in for the best of a system unless all ways are measured."""
        with progress().status("asking the systems whether they are there"):
            probes = probe_all(self.systems, self.programs)
        silent = []  # the best program was built and does not answer, and others could be built in its place
        for each in self.systems:
            programs = self.programs(each)
            absent = {one.id: why_not_there(one) for one in programs if not probes[one.id].found}
            if absent and absent.get(best_of(programs).id) == "" and any(map(is_unexplained, absent.values())):
                silent.append(each)
        if silent:
            ways = replace(self, names=(), all_ways=True).ways
            ensure(self.registry, silent, console=progress(), ways=ways)
            probes |= probe_all(silent, self.programs)
        here = [each for each in self.systems if any(probes[one.id].found for one in self.programs(each))]
        if self.names:
            offer([each for each in self.systems if each not in here and not each.is_installed])
        found = self.present(probes)
        for program, reason in self._missed(probes):
            warn(progress(), program.id, reason)
        return found

    def set_up(self, installing: Installing = "ask") -> list[Present]:
        """Prepares the systems, and says what is here."""
        self.prepare(installing)
        return self.here()

    def present(self, probes: Mapping[str, Probe]) -> list[Present]:
        """The programs that answered. TeffError if none did, with the reason for each system that is named."""
        chosen: list[Present] = []
        missing: list[str] = []
        for system in self.systems:
            programs = self.programs(system)
            of_other_versions = sum(each.program.identity == programs[0].identity for each in chosen)
            is_named = not self.names or system.name in self.names
            for index, program in enumerate(programs):
                probe = probes[program.id] if is_named or program.long_name in self.names else None
                if probe and probe.found:
                    chosen.append(Present(_variant(system, of_other_versions + index, program, probe), program))
                elif probe and (program.long_name in self.names or program is best_of(programs)):
                    missing.append(f"{program.id}: {probe.reason}")
        if not chosen and not self.names:
            raise TeffError("none of the systems is here; see `teff systems`")
        if not chosen:
            raise TeffError(f"none of the systems asked for can be measured: {'; '.join(missing)}; see `teff systems`")
        return chosen

    def _missed(self, probes: Mapping[str, Probe]) -> Iterator[tuple[Program, str]]:
        """The programs that a user expects and that are not there, each with its reason. A user expects each way that
        the command names, the best way of each system, and each program that nothing builds. The set-up has reported
        the programs that do not compile."""
        for system in self.systems:
            programs = self.programs(system)
            here = [each for each in programs if probes[each.id].found]
            is_named = system.name in self.names
            for each in (one for one in programs if one not in here):
                reason = probes[each.id].reason or ""
                is_best = each is best_of(programs)
                is_asked = (self.all_ways or is_best) and is_unexplained(reason)
                is_expected = each.long_name in self.names or (is_named and not here and is_best) or is_asked
                is_offered = system.install.on_request and not here and not system.is_installed
                is_said = (system.root / BROKEN_FOLDER / each.identity).is_file() or is_offered
                if here and is_best and (is_named or not self.names) and not self.all_ways:
                    yield each, f"{reason}; {best_of(here).id} is measured instead"
                elif is_expected and not is_said:
                    yield each, reason

    def measured(self, found: Sequence[Present]) -> list[Present]:
        """Of those here, the best of each system, besides the ways that are named; or all. Of several kinds of
        benchmark, each has its best."""
        if self.all_ways:
            return list(found)
        ways: dict[tuple[str, str], list[Program]] = {}
        for each in found:
            ways.setdefault((each.program.system_name, each.program.measured), []).append(each.program)
        named = self.names
        best = {best_of(programs).id for (name, _), programs in ways.items() if not named or name in named}
        return [each for each in found if each.program.id in best or each.program.long_name in named]

    def others(self, found: Sequence[Present]) -> tuple[str, ...]:
        """The ways of the measured systems that are not measured: those here, and those that no command has built."""
        measured = self.measured(found)
        here = {each.program.system_name for each in found}
        asked = (
            each for each in self.registry.systems if each.name in here and (not self.names or each.name in self.names)
        )
        every = (each for system in asked for each in self.programs(system))
        return (
            *(each.variant.id for each in found if each not in measured),
            *(each.id for each in every if is_unexplained(why_not_there(each))),
        )


def _names(programs: Sequence[Program]) -> set[str]:
    """All that a user may call them."""
    return {name for each in programs for name in (each.system_name, each.id, each.long_name)}


def _variant(system: System, index: int, program: Program, probe: Probe) -> Variant:
    title = program.title if system.title.lower() in program.title.lower() else f"{system.title}: {program.title}"
    if program.asked:
        title += f", {program.asked.named.version}"
    version, ceiling = probe.version or "", program.ceiling or ""
    return Variant(program.id, title, version, system.color, index, system.is_sequential, ceiling)


def offer(absent: Sequence[System]) -> None:
    """Says which of them come on request."""
    if missing := not_here(absent):
        say(f"not here: {missing}")
