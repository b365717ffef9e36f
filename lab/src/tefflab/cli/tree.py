"""The commands of `teff`, each declared once: its help, its parameters, and the function that it calls. The kinds of
benchmark declare `teff measure KIND`, `teff metg` and `teff contention`: the lab keeps their descriptions
(`tefflab.benchmarks.declared`), since to load kinds takes longer than help may."""

import shutil
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import click

from tefflab.benchmarks import graph_flags
from tefflab.cli import completion, options
from tefflab.cli.grammar import FLAGS, Command, Former, Number, Text, Tree, argument, option
from tefflab.errors import InputError
from tefflab.host.terminal import say

if TYPE_CHECKING:
    from tefflab.benchmarks.benchmark import Option

_OWN = "command"  # the kind that `--` means
_EFFICIENCY = Number(0.5, 0.05, 0.95, units=options.PERCENT)

RUN = Command(
    "run",
    "single_runs.run",
    """Run one case of a kind of benchmark on one system, or on each of several; each run validates itself.

    KIND is graph, if it is left out: then it takes the published Task Bench's flags, and -and begins another graph.

    Example:  teff run all graph -type stencil_1d -kernel compute_bound -iter 1000

    Example:  teff run all --ranks 3 -type fft -width 7""",
    argument("SYSTEM", "An id that `teff systems` shows, @VERSION of it, several by commas, or all.", options.NAME),
    argument("[KIND] [FLAGS]... words", kind=FLAGS, nargs=-1),
    option("--ranks N", "Processes, of a system that spreads over several.", Number(2, 1, options.most_workers)),
    options.ONE_OF_WORKERS,
    options.LAUNCHER,
    options.HOSTS,
    option("--trace FILE", "Trace the run, for ui.perfetto.dev, if the system can.", options.FILE),
    options.JSON,
    Former("--benchmark", "kind", now="teff run SYSTEM KIND"),
    epilog=graph_flags.HELP,
)
GRAPH = Command(
    "graph",
    "graphs.describe",
    """Say what a graph's flags describe: as text, with --json as its tasks, with --svg as a picture.

    Takes the published Task Bench's flags as they are. Several graphs, with -and between them, stand side by side.

    Example:  teff graph --svg fft.svg -type fft -width 8 -steps 9""",
    options.GRAPH_FLAGS,
    options.JSON,
    option("--svg FILE", "Draw it into this file.", options.FILE),
    epilog=graph_flags.HELP,
)
EXPERIMENT = Command(
    "experiment",
    "measuring.measure_experiment",
    """Measure and draw a figure of the paper, or another experiment; without a name, list them.

    Without --minutes and --rounds, as its file says.

    Example:  teff experiment fig7""",
    argument("[NAME] name", "A file of experiments/, without .toml. [list them]", Text(completion.experiment)),
    options.SYSTEMS,
    options.ALL_VARIANTS,
    *options.OVER_NODES,
    options.SIMULATE,
    *options.MEASURING,
    *options.INSTALLING,
)
EXPLAIN = Command(
    "explain",
    "explaining.explain",
    """Say whether tasks are too short or too long, what bounds a run, and where the threads' time goes.

    A program with OpenMP, oneTBB or libteff runs twice, plain and with a collector, and is not compiled again. A trace
    and an app have the same report. For an app, other numbers of tasks are tried. Spawn patterns have another report.

    Example:  teff explain --apply -- env OMP_SCHEDULE=dynamic,{1} ./program

    Example:  teff explain lulesh -size 20 -tasks 64""",
    argument(
        "[TRACE|APP|spawn] target",
        "A trace of libteff; an app and its flags; spawn[:PATTERN].",
        Text(),
    ),
    options.GRAPH_FLAGS,
    option("--systems NAMES", "NAME or NAME/WAY, by commas. [all; of APP teff/t]", options.SYSTEMS.type, default=()),
    option("--tasks -tasks N", "Tasks of a loop of APP, at first.", Number(64, 1)),
    option("--runs N", "Of an app's settings, 0 or more [3]; of a program [2].", Number(3, 0, 100)),
    option("--apply applies", "Try the advice: the command has {N}, or {/N} tasks."),
    option("--curve", "Measure how short such tasks may be here, in 2 minutes."),
    option("--also RUNTIME", "Try a program of GCC's on this runtime, as libomp.", Text()),
    option("--fail-below SHARE", "End with 1 if the program is less efficient.", options.SHARE),
    option("--picture FILE", "Draw it, as FILE.svg and FILE.png; x.json: a timeline.", options.FILE),
    options.CASES,
    options.ONE_OF_WORKERS,
    option("--seconds S", "Of each system and pattern, 0.01 to 600. [3]", Number(3.0, 0.01, 600)),
    option("--functions", "Of patterns: also where in a category time went."),
    options.JSON,
    option("--ranks -ranks N", hidden=True),
    Former("--trace", "target", now="teff explain TRACE"),
    Former("--system", "systems", now="--systems", type=options.SYSTEMS.type),
    Former("--patterns", "cases", now="--cases", type=options.CASES.type),
    takes_programs=True,
)
SIMULATE = Command(
    "simulate",
    "simulating.simulate",
    """Simulate how policies share cores: barriers, places, takeover, data flow.

    Simulated curves stand beside each other, and beside those that `teff contention` has measured.

    Example:  teff simulate --cores 12 --shares 25,50,75""",
    argument(
        "[STORE[:SITTING]] store",
        "Compare with the curves that `teff contention` kept there.",
        Text(completion.stores),
    ),
    option("--case KIND:CASE", "Of the store. [its first]", Text()),
    option("--cores N", "Cores, a worker on each. [2]", Number(12, 1, 1024)),
    option("--loaded N", "Cores of which a competitor takes a share. [1]", Number(1, 1, 1024)),
    option("--shares P,Q", "Of each loaded core, in per cent. [10,25,50,75,90]"),
    option("--period TIME", "The competitor works once in it. [10ms]"),
    option("--tasks N", "Tasks of a step. [8 for each core]", Number(64, 1, 100_000)),
    option("--steps N", "Steps. [50]", Number(50, 1, 1_000_000), default=50),
    option("--task TIME", "How long a task takes. [250us]", default="250us"),
    option("--dependences KIND", "Of tasks without barriers: stencil, tree or none. [stencil]", default="stencil"),
    option("--takeover TIME", "After it, a ready task may leave its place. [20us]", default="20us"),
    options.PICTURE,
    options.JSON,
    options.FORMER_STORE,
)
PREDICT = Command(
    "predict",
    "predicting.predict",
    """Predict at how many nodes a program's efficiency falls to 50 %, and its time there.

    From one run of the program on one node, and from METG over nodes, measured or simulated. Assumes that each core has
    as many tasks on more nodes, of less work each.

    Example:  teff predict cluster --time 12s --tasks 4000""",
    options.STORED,
    option("--time TIME", "Of the run, as 12s.", Text()),
    option("--tasks S", "Of each core in the run.", Number(4000.0, 1e-3)),
    option("--run FILE", "Instead of both: what `teff explain --json` printed.", options.FILE),
    option("--threshold E", "Efficiency asked for, 0.05 to 0.95. [the sitting's]", _EFFICIENCY),
    options.SYSTEMS,
    options.PICTURE,
    options.JSON,
)
SHOW = Command(
    "show",
    "publishing.show",
    """Show the tables of a sitting again, from its store; nothing is measured.

    Example:  teff show default""",
    options.STORED,
    options.JSON,
)
REPORT = Command(
    "report",
    "publishing.report",
    """Make pictures and report of a sitting again, from its store, and say where they are; nothing is measured.

    Example:  teff report default""",
    options.STORED,
    options.FORMER_STORE,
    Former("--json", "as_json", now="teff show --json", is_flag=True),
)
EXPORT = Command(
    "export",
    "publishing.export",
    """Give measured values to other programs: a row for each variant and case, with its interval, rounds and noise.

    csv, md and parquet are tables. gbench is the JSON of Google Benchmark, github what github-action-benchmark reads
    (customSmallerIsBetter), bencher the Bencher Metric Format, hyperfine what hyperfine's scripts read. pdf has the
    pictures. toml is a cluster's file for --simulate, with what the systems of `teff experiment costs` cost here.

    Example:  teff export default --as github -o benchmarks.json""",
    options.STORED,
    option(
        "--as form FORMAT",
        "csv, md, parquet, gbench, github, bencher, hyperfine, toml or pdf. [by the ending of FILE, or csv]",
        default="",
    ),
    option("--output -o file FILE", "Write it here. [print]", options.FILE),
    options.FORMER_STORE,
)
COMPARE = Command(
    "compare",
    "comparing.compare",
    """Say whether two systems of a sitting differ, or each system between two sittings.

    A and B are two systems of STORE, compared round by round, or two stores. Between stores it says what the machine
    did, by the rows of at least four other systems; with fewer, compare --against one that did not change.

    Example:  teff compare before after

    Example:  teff compare mine baseline --fail-if-slower 5%""",
    argument("A", "A store below results/, STORE:SITTING, or a system.", Text(completion.stores_and_systems)),
    argument("B", "Another, or the same.", Text(completion.stores_and_systems)),
    argument("[STORE] [FLAGS]... words", kind=FLAGS, nargs=-1),
    options.AGAINST,
    option(
        "--fail-if-slower threshold SHARE",
        "Measure A and B now; end with 3 if A is slower by this share, with 4 if unknown.",
        options.SHARE,
    ),
    option("--kind KIND", "What is measured, as spawn. [metg]", Text()),
    *options.MEASURING_NOW,
    option("--store NAME", "Keep what is measured now here. [watch]", Text(completion.stores)),
    options.JSON,
)
WATCH = Command(
    "watch",
    "comparing.watch_as_before",
    """Say by the exit code whether a system is slower than a baseline.

    Example:  teff watch --system mine --against baseline""",
    option("--system a NAME", required=True),
    option("--against b NAME", required=True),
    option("--slower-than threshold SHARE", kind=options.SHARE, default="5%"),
    option("--benchmark kind KIND"),
    *options.MEASURING_NOW,
    option("--store NAME"),
    options.JSON,
    options.GRAPH_FLAGS,
    hidden=True,
)
_ON_REQUEST = argument("[NAME]... names", "Systems that come on request.", Text(completion.on_request), nargs=-1)
SYSTEMS = Tree(
    "systems",
    "List the systems under test; add or remove some; say what disturbs measurement here.\n\n"
    "Example:  teff systems list --json",
    Command(
        "list",
        "systems.list_systems",
        """List the systems under test: their facts, whether they are here, and how to get the others.

        Nothing is installed or built, unless --set-up asks for it.

        Example:  teff systems list --json""",
        options.JSON,
        options.INSTALLS,
        option("--set-up", "First install and build every system that can be set up."),
    ),
    Command(
        "add",
        "systems.add",
        """Bring systems that no command sets up by itself: from apt, PyPI and other registries.

        Each goes into a separate folder below .teff/systems, so that none breaks another. Without a name, list them
        with licence and size.

        Example:  teff systems add --all""",
        _ON_REQUEST,
        option("--all every", "Every one of them."),
        options.JSON,
        Former("--list", "listing", now="teff systems add", is_flag=True),
        Former("--remove", "removing", now="teff systems remove", is_flag=True),
    ),
    Command(
        "remove",
        "systems.remove",
        """Remove what `teff systems add` brought: these systems, or all of them.

        Example:  teff systems remove""",
        _ON_REQUEST,
    ),
    Command(
        "doctor",
        "systems.doctor",
        """Say what on this machine disturbs measurement, and what can be done about it.

        Leaves with 0 whatever it finds; for scripts, --json has a `status` of each finding: ok, warn or unknown.

        Example:  teff systems doctor""",
        options.JSON,
    ),
    usual="list",
    is_bare=True,
)
DEV = Tree(
    "dev",
    "Check this project, or build its documentation.\n\nExample:  teff dev test --quick",
    Command(
        "test",
        "checking.check",
        """Check everything: format, lint, the laws of the layout, the C++ tests, the sanitizers, the lab.

        Example:  teff dev test --quick format lab

        Example:  teff dev test systems teff""",
        argument("[STEP]... names", "Only these steps. [all] Behind `systems`: names of systems.", nargs=-1),
        option("--quick", "Leave out the sanitizers, the second compiler and the browser."),
        options.INSTALLS,
    ),
    Command(
        "docs",
        "checking.build_docs",
        """Build the documentation's site, which opens offline, and say where it is.

        Example:  teff dev docs""",
    ),
)


@cache
def measuring() -> dict[str, Command]:
    """The commands that measure, by what the user types behind `teff`, in the order of the kinds."""
    from tefflab.benchmarks.declared import declared

    return {each.path: _measuring(each) for each in declared()}


def _measuring(of: Any) -> Command:
    """The command of a kept description."""
    is_load_own = any(each.flag == "--load" for each in of.options)
    return Command(
        of.path.rpartition(" ")[2],
        "measuring.measure_kind",
        f"{of.help}\n\nExample:  {of.example}",
        *((options.SYSTEMS, options.ALL_VARIANTS) if of.measures_systems else ()),
        *map(_option, of.options),
        *(() if is_load_own else (options.LOAD,)),
        *(options.OVER_NODES if of.takes_nodes else ()),
        *(
            options.ONE_OF_WORKERS if each is options.WORKERS and of.takes_one_number else each
            for each in options.MEASURING
        ),
        *(options.INSTALLING if of.measures_systems else ()),
        *((options.GRAPH_FLAGS,) if of.takes_flags else ()),
        epilog=graph_flags.HELP_OF_MEASURING if of.takes_flags else "",
        takes_programs=of.takes_programs,
        given={"path": of.path},
    )


def _option(of: "Option") -> click.Option:
    """Of a kind, as it declares it."""
    if of.flag in options.OF_KINDS:
        return options.OF_KINDS[of.flag]
    if of.now:
        return Former(of.flag, of.name, now=of.now, type=Text())
    if isinstance(of.default, bool):
        return option(of.flag, of.help)
    if isinstance(of.default, str):
        return option(f"{of.flag} {of.metavar}", of.help, Text(), default=of.default)
    units = options.PERCENT if of.most is not None and of.most < 1 else None
    number = Number(of.default, of.least or 0, of.most, units=units)
    return option(f"{of.flag} N", of.help, number, default=of.default, show_default=True)


class Measure(Tree):
    """`KIND:CASE` stands for `KIND --cases CASE`."""

    def late(self) -> Mapping[str, click.Command]:
        return {path.partition(" ")[2]: each for path, each in measuring().items() if " " in path}

    def groups(self) -> Mapping[str, Sequence[str]]:
        return {"What": list(self.late())}

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        kind, _, case = args[0].partition(":")
        if self.get_command(ctx, kind) is None and shutil.which(args[0]):
            raise InputError(f"{args[0]}: a command of yours stands behind --: teff measure -- {' '.join(args)}")
        return super().resolve_command(ctx, [kind, *(["--cases", case] if case else []), *args[1:]])


MEASURE = Measure(
    "measure",
    "Measure every system that is here, in turns: table, pictures, a report; or commands of yours.\n\n"
    "Example:  teff measure spawn --load spin:50@1\n\n"
    "Example:  teff measure -- ./a --- ./b --threads {workers}",
    usual=_OWN,
)
GROUPS = {
    "Measure": ("metg", "measure", "contention", "experiment", "run"),
    "Look into a graph, a run or a policy": ("graph", "explain", "predict", "simulate"),
    "Read what was measured": ("show", "compare", "report", "export"),
    "Systems, this machine, this project": ("systems", "dev"),
}
FORMER = {  # names that commands had in earlier versions: they work for one MINOR version, and say the new name
    "sweep": "measure graph",
    **{kind: f"measure {kind}" for kind in ("spawn", "wake", "programs", "messages", "micro", "apps")},
    "profile": "explain",
    "advise": "explain",
    "install": "systems add",
    "doctor": "systems doctor",
    "test": "dev test",
    "docs": "dev docs",
}


class Teff(Tree):
    """All commands, in the order of the help."""

    def groups(self) -> Mapping[str, Sequence[str]]:
        return GROUPS

    def late(self) -> Mapping[str, click.Command]:
        return {path: each for path, each in measuring().items() if " " not in path}

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, *rest = args
        if now := FORMER.get(name):
            if not ctx.resilient_parsing:
                say(f"teff {name} is now teff {now}")
            is_of_patterns = name == "profile" and "--" not in rest
            args = [*now.split(), *(["spawn"] * is_of_patterns), *rest]
        return super().resolve_command(ctx, args)


_LOOKING = (GRAPH, EXPLAIN, PREDICT, SIMULATE)
COMMANDS = (MEASURE, EXPERIMENT, RUN, *_LOOKING, SHOW, COMPARE, REPORT, EXPORT, SYSTEMS, DEV, WATCH)
