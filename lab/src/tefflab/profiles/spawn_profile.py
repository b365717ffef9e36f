"""Where worker time goes in a spawn pattern, by the categories of the Sandia report (SAND2012-10594).

A program looks at its workers from a timer (`bench/spawn/profile.schema.json`) and prints the stacks it saw. Here the
debugger's tables turn each place into functions, inlined ones included, and each stack gets a category. The first
function with a rule decides, from the innermost outwards. A system's rules stand in its `system.toml`; the rules of the
patterns and the C library are here, for all systems.
"""

import json
import posixpath
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from rich.console import Group
from rich.markup import escape
from rich.text import Text
from scipy.stats import binomtest

from tefflab import project_root
from tefflab.benchmarks.cases import ListedCase
from tefflab.benchmarks.spawn import BENCHMARK as SPAWN
from tefflab.errors import InputError, TeffError, shortened
from tefflab.host.processes import answer
from tefflab.host.terminal import titled_table
from tefflab.output.quantities import duration, percent
from tefflab.profiles.symbols import UNKNOWN as NO_NAME
from tefflab.profiles.symbols import ask_addr2line, base_name
from tefflab.records.plan import counted_workers
from tefflab.records.record import validator
from tefflab.systems.programs import ask_cases
from tefflab.systems.systems import Attribution, Program

CATEGORIES = tuple(Attribution.model_fields)
UNKNOWN = "unknown"  # no rule names it
TAKEN = "taken by the OS"  # the worker was ready to run, and did not
_WORTH_A_LINE = 0.005  # of the time: functions of a category with less are left out
TIMEOUT = 300.0  # seconds, besides those asked for
_OUTSIDE = ("/usr/", "/lib", "[", "linux-vdso")  # places without code of the systems or of this project

Frame = str  # FILE:FUNCTION that was being executed; the module where its source file is not known
Told = Mapping[str, Any]  # of a program's answer to `--profile`, by the names of its schema

COMMON = {
    "task": ("bench/spawn/*",),
    "allocation": ("libc.so*:*alloc*", "libc.so*:*free*", "libc.so*:*brk", "libstdc++.so*:operator *"),
    "yielding": ("libc.so*:*sched_yield", "libc.so*:*nanosleep"),
}


def profiled_cases(
    programs: Sequence[Program], cases: Sequence[str], *, is_chosen: bool
) -> list[tuple[Program, ListedCase]]:
    """Each program whose functions are known, at each case. TeffError for a chosen program without them."""
    if missing := [each.id for each in programs if each.profile is None and is_chosen]:
        raise InputError(f"{missing[0]}: its system.toml has no [program.profile]")
    able = [each for each in programs if each.profile is not None]
    listed = [ListedCase.model_validate(each) for each in ask_cases(able[0])] if able else []
    chosen = SPAWN.choose(listed, {"cases": cases})
    return [(program, case) for program in able for case in chosen]


def take_profile(program: Program, name: str, flags: str, workers: int, seconds: float) -> Told:
    """Runs a pattern on a system and says where its workers' time went. TeffError where that can't be done."""
    words = [*program.command_line(workers), "--workers", str(workers), "--profile", str(seconds), *flags.split()]
    try:
        done = answer(words, environment=program.environment_for(workers), timeout=TIMEOUT + seconds)
    except subprocess.TimeoutExpired:
        raise TeffError(f"{program.id}: did not end within {TIMEOUT + seconds:.0f} s") from None
    line = next((text for text in done.stdout.splitlines() if text.startswith("{")), "")
    told = parse_profile(program.id, line or json.dumps({"error": done.stderr.strip() or "no answer"}))
    return attribute(program.id, name, told, program.profile or Attribution(), frames_of(told["places"]))


def parse_profile(program: str, line: str) -> Told:
    """The program's answer. TeffError with the program's reason if it is an error, or with the fault of the line."""
    try:
        told = json.loads(line)
    except json.JSONDecodeError:
        raise TeffError(f"{program}: no valid profile: {shortened(line)}") from None
    if isinstance(told, dict) and "error" in told:
        raise TeffError(f"{program}: {told['error']}")
    for fault in validator(project_root(), SPAWN.name, "profile").iter_errors(told):
        place = ".".join(map(str, fault.instance_path))
        raise TeffError(f"{program}: no valid profile ({place}: {fault.message}): {shortened(line)}")
    assert isinstance(told, dict)
    return told


def attribute(program: str, pattern: str, told: Told, rules: Attribution, frames: Sequence[Sequence[Frame]]) -> Told:
    """The profile as --json prints it. `frames` has the functions of each place, the innermost first.

    A share is a category's part of all looks at workers, with its 95 % interval (Wilson) and its worker time a task.
    `functions` are the most frequent of each category, with their looks.
    """
    every = {category: (*getattr(rules, category), *COMMON.get(category, ())) for category in CATEGORIES}
    sought = [(category, rule) for category, own in every.items() for rule in own]
    looks: Counter[str] = Counter({TAKEN: told["missed"]})
    functions: dict[str, Counter[str]] = {}
    for stack in told["stacks"]:
        frame, category = category_of([frame for place in stack["places"] for frame in frames[place]], sought)
        looks[category] += stack["count"]
        functions.setdefault(category, Counter())[frame] += stack["count"]
    total = looks.total()
    if not total:
        raise TeffError(f"{program}: no worker was sampled in {told['elapsed_seconds']:.3g} s; ask for more")
    time = told["elapsed_seconds"] * told["threads"] / told["tasks"]
    shares = []
    for category in (*CATEGORIES, UNKNOWN, TAKEN):
        seen, value = looks[category], looks[category] / total
        ends = binomtest(seen, total).proportion_ci(method="wilson")
        share = {"category": category, "looks": seen, "value": value, "low": ends.low, "high": ends.high}
        shares.append(share | {"seconds_per_task": value * time})
    return {
        "system_id": program,
        "pattern": pattern,
        "workers": told["threads"],
        **{name: told[name] for name in ("tasks", "runs", "elapsed_seconds", "period_seconds", "lost")},
        "shares": shares,
        "functions": {category: dict(seen.most_common(8)) for category, seen in functions.items()},
    }


def category_of(frames: Sequence[Frame], rules: Sequence[tuple[str, str]]) -> tuple[Frame, str]:
    """From the innermost outwards, the first function that a rule names, by the longest rule that does. One
    outside (the C library, the compiler's headers) without a rule counts for its caller; another ends the search."""
    for frame in frames:
        patterns = ((category, rule, f"*/{rule}" if ":" in rule else f"*/{rule}:*") for category, rule in rules)
        if found := [(len(rule), category) for category, rule, how in patterns if fnmatchcase(f"/{frame}", how)]:
            return frame, max(found)[1]
        if not frame.startswith(_OUTSIDE):
            return frame, UNKNOWN
    return frames[0], UNKNOWN


def frames_of(places: Sequence[Told]) -> list[list[Frame]]:
    """The functions at each place, those in line first."""
    frames: list[list[Frame]] = [[] for _ in places]
    for module in dict.fromkeys(place["module"] for place in places):
        here = [index for index, place in enumerate(places) if place["module"] == module]
        told = ask_addr2line(module, [places[index]["offset"] for index in here])
        for index, functions in zip(here, told, strict=True):
            frames[index] = [_frame(places[index], *each) for each in functions or [(NO_NAME, NO_NAME)]]
    return frames


def _frame(place: Told, function: str, where: str) -> Frame:
    path = where.rpartition(":")[0]
    name = base_name(function) if function != NO_NAME else place["symbol"] or NO_NAME
    inside = path if path.startswith("/") else place["module"]
    return f"{posixpath.normpath(inside)}:{name}"


def to_table(spent: Told, *, functions: bool) -> Group:
    """A row a category; where `functions`, below it where in it the workers were."""
    title = f"{spent['system_id']}: {spent['pattern']}, {counted_workers(spent['workers'])}"
    table = titled_table(title, "worker time", "share", "95 %", "a task")
    total = sum(share["looks"] for share in spent["shares"])
    for share in spent["shares"]:
        category = share["category"]
        if category == UNKNOWN and not share["looks"]:
            continue
        interval = f"{100 * share['low']:.1f} – {100 * share['high']:.1f}"
        name = category.replace("_", " ")
        table.add_row(name, percent(share["value"]), interval, duration(share["seconds_per_task"]))
        for frame, looks in spent["functions"].get(category, {}).items():
            if (functions or category == UNKNOWN) and looks / total >= _WORTH_A_LINE:
                path, _, function = frame.partition(":")
                where = escape(f"{path.rpartition('/')[2]}: {function}")
                table.add_row(f"  [dim]{where}[/]", f"[dim]{percent(looks / total)}[/]")
    lines = [
        f"{total} looks in {spent['elapsed_seconds']:.3g} s, {spent['runs']} runs of "
        f"{spent['tasks'] // max(spent['runs'], 1)} tasks; each run validated"
    ]
    if spent["lost"]:
        lines.append(f"{spent['lost']} more looks found no room and are not counted")
    return Group(table, *(Text(line, style="dim") for line in lines))
