"""`teff metg`, `teff measure KIND`, `teff contention` and `teff experiment` choose a kind, and check its options."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tefflab.benchmarks.benchmark import (
    AnyBenchmark,
    Command,
    experiment_list,
    find_benchmark,
    find_command,
    find_experiment,
    load_experiments,
)
from tefflab.cli.publishing import ALL_VARIANTS
from tefflab.cli.session import Options, measure_plan
from tefflab.cli.telling import tell
from tefflab.cli.tracing import trace_cases
from tefflab.errors import InputError, TeffError
from tefflab.host.load import Load
from tefflab.measure.presence import Selection
from tefflab.systems.registry import Registry


def measure_kind(
    registry: Registry,
    path: str,
    workers: Sequence[int] | int | None,
    flags: Sequence[str] = (),
    programs: Sequence[str] = (),
    **said: Any,
) -> None:
    """For the command of this path, with the values of its options."""
    kind, command = find_command(path)
    defaults = {each.name: each.default for each in command.options}
    given = {name: said.pop(name) for name in defaults if name in said}
    own = defaults | {name: value for name, value in given.items() if value is not None}
    own |= {"commands": programs} if programs else {}
    perform = trace_cases if own.get("trace") else run_command
    counts = (workers,) if isinstance(workers, int) else tuple(workers or ())
    perform(registry, kind, command, Options(**said, workers=counts, own=own, flags=flags))


def run_command(registry: Registry, kind: AnyBenchmark, command: Command, options: Options) -> None:
    """Measures for a command of a kind of benchmark, or goes on with the store's last sitting of that kind."""
    if options.resume and (beside := _said_of_the_plan(command, options)):
        raise InputError(f"--resume goes on with what its sitting measures; leave out {' '.join(beside)}")
    if len(Load.parse_all(options.load or "")) > 1 and command.takes_one_number:
        raise InputError(f"--load {options.load}: one share is measured at a time here")
    if not options.resume:
        command.check(registry, options.own, options.flags)
        kind = kind.narrowed({**options.own, "systems": options.systems})
    if kind.own_commands and options.systems and not kind.simulated:
        raise InputError("a command of yours is measured without systems: leave out --systems")
    named = list(dict.fromkeys(each.title for each in kind.own_commands)) or options.systems
    measure_plan(registry, kind, options.within(command.minutes, command.rounds), command.path, command.plan, named)


def _said_of_the_plan(command: Command, options: Options) -> list[str]:
    """The options, and the words of flags, that define the measurement."""
    shared = {
        "--systems": options.systems,
        "--workers": options.workers,
        "--load": options.load,
        "--nodes": options.nodes,
        ALL_VARIANTS: options.all_variants,
        "--": options.own.get("commands"),
    }
    own = {each.flag: options.own.get(each.name) not in (each.default, (), None) for each in command.options}
    return [*(flag for flag, is_said in (shared | own).items() if is_said), *options.flags]


def measure_experiment(registry: Registry, name: str | None, simulate: str = "", **said: Any) -> None:
    """Lists them where none is named."""
    options = Options(**said, own={"simulate": simulate})
    if name is not None:
        experiment(registry, name, options)
    else:
        there = load_experiments(registry.root)
        lines = (each.model_dump(mode="json", exclude_defaults=True) for each in there)
        tell(options.as_json, lambda: lines, lambda: experiment_list(registry.root))


def experiment(registry: Registry, name: str, options: Options) -> None:
    """Measures and draws the experiment of this name."""
    asked = find_experiment(registry.root, name)
    kind = find_benchmark(asked.benchmark)
    if not options.resume:
        kind = kind.narrowed({**asked.model_dump(), **options.own, "systems": options.systems})
    named = options.systems
    options = options.within(asked.minutes, asked.rounds)
    options = replace(
        options, all_variants=options.all_variants or asked.variants == "all", nodes=options.nodes or asked.nodes
    )
    if not named and not kind.own_commands:
        every = Selection(registry, kind, over_nodes=bool(options.nodes)).systems
        taken = tuple(each.name for each in every if asked.takes(each))
        if not taken:
            raise TeffError(
                f"experiment {name}: no system is of the kind that its file names; name some with --systems"
            )
        options = replace(options, systems=taken)
    measure_plan(registry, kind, options, f"experiment {name}", asked.plan, named, name)
