"""`teff compare`: of stored sittings; with --fail-if-slower it measures two systems in turns, and says by its exit code
whether one is slower."""

import time
from collections.abc import Sequence
from operator import or_
from typing import Any

import click
from click.exceptions import Exit

from tefflab.analysis.comparison import Comparison
from tefflab.analysis.pairs import Verdict, are_clear, judged, pairs_of, verdict
from tefflab.benchmarks.benchmark import Estimates, find_benchmark
from tefflab.cli.session import Options, measured_live, request_of
from tefflab.cli.telling import tell
from tefflab.errors import INTERRUPTED, InputError, TeffError
from tefflab.host.terminal import output, progress, say
from tefflab.measure.comparing import answer, are_stores
from tefflab.measure.measurement import begin
from tefflab.measure.presence import Present, Selection
from tefflab.output.comparison_table import Effort, pairs_table, sentence, slower_rows, to_tables
from tefflab.records.store import Store, checked_name
from tefflab.systems.naming import canonical, owner_of
from tefflab.systems.registry import Registry
from tefflab.systems.systems import best_of

_ROUNDS = 100  # at most, where the user does not say it
SLOWER = 3
UNKNOWN = 4
_EXIT_CODES = {"not slower": 0, "slower": SLOWER, "unknown": UNKNOWN}


def compare(
    registry: Registry, a: str, b: str, words: Sequence[str], against: str | None, as_json: bool, **measuring: Any
) -> None:
    """Two stores, or two systems of a store, which `words` names. With a threshold the exit code says the verdict; two
    systems without a store are measured now, and `words` are flags."""
    threshold = measuring.pop("threshold")
    is_kept = bool(words and not words[0].startswith("-")) or _are_stored(registry, a, b)
    if threshold is not None and not is_kept:
        if against:
            raise InputError(f"--against {against}: is for two stores; A and B are measured beside each other")
        watch(registry, a, b, flags=words, threshold=threshold, as_json=as_json, **measuring)
        return
    if former := measuring.pop("store"):
        say(f"teff compare --store is now an argument: teff compare {a} {b} {former}")
    store, *more = [*([former] if former else []), *words] or [None]
    if beside := more or [name for name, value in measuring.items() if value]:
        names = {each.name: each.opts[0] for each in click.get_current_context().command.params}
        raise InputError(f"{names.get(beside[0], beside[0])}: is for what is measured now, with --fail-if-slower")
    answers, reasons = answer(registry, a, b, store, against)
    for reason in reasons:
        progress().print(f"teff: {reason}", soft_wrap=True, markup=False)
    lines = [line for each in answers for line in each.to_json()]
    if threshold is None:
        tell(as_json, lambda: lines, lambda: to_tables(answers))
        return
    found = [(each, _verdict(each, threshold)) for one in answers for each in one.comparisons]
    words_of = ({"threshold": threshold, "verdict": word} for _, word in found)
    tell(as_json, lambda: map(or_, lines, words_of), lambda: to_tables(answers))
    found = [(each, word) for each, word in found if not each.a.is_beside]
    (progress() if as_json else output()).print(slower_rows(found, a, b), soft_wrap=True, markup=False, highlight=False)
    raise Exit(_EXIT_CODES[verdict(word for _, word in found)])


def _are_stored(registry: Registry, a: str, b: str) -> bool:
    """Whether both are stores, and neither is a system's name."""
    systems = {each.name for each in registry.systems}
    return are_stores(registry, a, b) and not systems & {owner_of(canonical(each)) for each in (a, b)}


def _verdict(of: Comparison, threshold: float) -> Verdict:
    """Unknown of a bound, and of too few rounds."""
    return "unknown" if of.relation != "=" or of.significant is None else judged(of.told, threshold)


def watch_as_before(registry: Registry, a: str, b: str, **said: Any) -> None:
    """`teff watch`, as it was called."""
    say(f"teff watch is now teff compare {a} {b} --fail-if-slower {100 * said['threshold']:g}%")
    watch(registry, a, b, **said)


def watch(
    registry: Registry,
    a: str,
    b: str,
    flags: Sequence[str],
    threshold: float,
    kind: str | None,
    cases: Sequence[str],
    store: str | None,
    as_json: bool,
    **limits: Any,
) -> None:
    """Leaves with 0 if `a` is not slower than `b`, else with SLOWER or UNKNOWN."""
    benchmark = find_benchmark(kind or "graph")
    command = benchmark.commands[0]
    own = {each.name: each.default for each in command.options} | ({"cases": cases} if cases else {})
    options = Options(store=store or "watch", as_json=as_json, flags=flags, own=own, **limits)
    options = options.within(command.minutes, options.rounds or _ROUNDS)
    if command.takes_one_number and len(options.workers) > 1:
        raise InputError(f"--workers {','.join(map(str, options.workers))}: {kind or 'graph'} takes one number")
    if flags and not command.takes_flags:
        raise InputError(f"{' '.join(flags)}: {kind} takes no flags")
    if cases and all(each.name != "cases" for each in command.options):
        raise InputError(f"--cases: {kind or 'graph'} has none; its flags say what")
    command.check(registry, own, flags)
    names = canonical(a), canonical(b)
    here = Selection(registry, benchmark, names).set_up()
    two: list[Present] = []
    for name in names:  # this `SYSTEM/WAY`, or the best of this system
        ways = [each for each in here if name in (each.program.system_name, each.program.long_name)]
        if not ways:
            raise TeffError(f"{name} is not here; see `teff systems`")
        best = best_of([each.program for each in ways])
        two += [each for each in ways if each.program is best]
    a, b = (each.variant.id for each in two)
    if a == b:
        raise InputError(f"{' and '.join(names)} are the same: nothing to compare")
    opened = Store.create(registry.results / checked_name(options.store))
    head = begin(registry, opened, benchmark, command.plan(request_of(registry, options, two)))

    def is_clear(known: Estimates) -> bool:
        return are_clear(pairs_of(known.rows, a, b, threshold))

    began = time.monotonic()
    estimates, ended = measured_live(registry, opened, benchmark, head, options, is_clear)
    effort = Effort(time.monotonic() - began, *options.limits, bool(ended))
    if failures := opened.failures(head.sitting):
        raise TeffError("; ".join(f"{each.system_id}: {each.reason}" for each in failures))
    pairs = pairs_of(estimates.rows, a, b, threshold)
    found = verdict(each.verdict for each in pairs)
    said = {"kind": command.name, "verdict_of_all": found}
    quantity = next((each.a.quantity for each in pairs), benchmark.measured)
    lines = (each.to_json() | said for each in pairs)
    tell(as_json, lambda: lines, lambda: pairs_table(pairs, quantity, a, b, effort))
    if as_json:
        progress().print(f"teff: {sentence(pairs, a, b, effort)}", soft_wrap=True, markup=False)
    raise Exit(INTERRUPTED if ended else _EXIT_CODES[found])
