"""What is done besides `teff metg`: curves and experiments, and reports of what was measured before."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.table import Table

from tefflab.benchmarks.configuration import check
from tefflab.benchmarks.experiments import EXPERIMENTS_FOLDER, SpawnExperiment, find_experiment, load_experiments
from tefflab.cli.session import Wish, measure_flags, prepare, present, show, watched
from tefflab.cli.spawn import SpawnWish, spawn
from tefflab.errors import BAD_INPUT, TeffError
from tefflab.host.terminal import output, path_text, progress
from tefflab.measure.measurement import RESULTS_FOLDER, Competitor, Results, begin, judged, plan_of
from tefflab.output.publish import publish
from tefflab.records.store import Sitting, Store
from tefflab.records.stored import open_sitting
from tefflab.systems.systems import load_systems, usable_cores


def sweep(root: Path, flags: Sequence[str], wish: Wish, points: int, longest: float) -> None:
    """Measures the curves of one configuration, from tasks of one iteration to tasks of `longest` seconds."""
    measure_flags(root, flags, wish, kind="curve", longest_task=longest, points=points)


def experiment(root: Path, name: str, wish: Wish) -> None:
    """Measures and draws the experiment of this name; `wish` without seconds or rounds takes its own."""
    asked = find_experiment(root, name)
    if isinstance(asked, SpawnExperiment):
        spawn(root, _spawn_wish(asked, wish))
        return
    wish = replace(wish, seconds=wish.seconds or 60 * asked.minutes, rounds=wish.rounds or asked.rounds)
    of_paradigm = [each for each in load_systems(root) if each.variants and asked.paradigm in (None, each.paradigm)]
    wanted = wish.systems or tuple(each.name for each in of_paradigm)
    if not wanted:
        raise TeffError(f"experiment {name} is of systems of the paradigm {asked.paradigm!r}; no system is. Name some")
    prepare(root, wanted)
    store = Store.create(root / RESULTS_FOLDER / wish.store)
    if wish.resume:
        sitting = _unfinished_experiment(store, name)
    else:
        workers = wish.workers or usable_cores()
        found = present(root, wanted)
        plan = asked.plan(found if wish.systems or asked.variants == "all" else best_of_each(found), workers)
        for question in plan.questions:
            check(root, question.configuration(workers))
        sitting = begin(root, store, plan)
    show(root, store, watched(root, store, sitting, wish), wish)


def _spawn_wish(asked: SpawnExperiment, wish: Wish) -> SpawnWish:
    """Measured with one worker, twice as many and so on, and with all."""
    most = wish.workers or usable_cores()
    return SpawnWish(
        systems=wish.systems,
        patterns=asked.patterns,
        trees=asked.trees,
        workers=(*(1 << power for power in range(most.bit_length()) if 1 << power < most), most),
        seconds=wish.seconds or 60 * asked.minutes,
        rounds=wish.rounds or asked.rounds,
        store=wish.store,
        as_json=wish.as_json,
        resume=wish.resume,
        title=asked.title,
        experiment=asked.name,
    )


def best_of_each(found: Sequence[Competitor]) -> list[Competitor]:
    """Of each system the first variant that is here."""
    best: dict[str, Competitor] = {}
    for each in found:
        best.setdefault(each.id.partition("/")[0], each)
    return list(best.values())


def experiment_list(root: Path) -> Table:
    """A line an experiment."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("experiment", "what it shows", "paper", "minutes"):
        table.add_column(title, justify="right" if title == "minutes" else "left")
    for each in load_experiments(root):
        table.add_row(each.name, each.description, f"figure {each.figure}" if each.figure else "", f"{each.minutes:g}")
    if not table.row_count:
        raise TeffError(f"there are no experiments in {root / EXPERIMENTS_FOLDER}")
    return table


def experiment_objects(root: Path) -> list[dict[str, object]]:
    """What `experiment_list` shows, and all else that the files say."""
    return [each.model_dump(mode="json", exclude_defaults=True) for each in load_experiments(root)]


def report(root: Path, name: str, *, as_json: bool) -> None:
    """Makes everything that can be seen of a sitting again from its store, and says where it is."""
    store, sitting = open_sitting(root, name)
    results = Results(sitting, plan_of(sitting), judged(store, sitting), interrupted=False)
    file = publish(store, results, output(), as_json)
    (progress() if as_json else output()).print(path_text(file, root), soft_wrap=True)


def _unfinished_experiment(store: Store, name: str) -> Sitting:
    sitting = store.sitting()
    was = plan_of(sitting).experiment
    if was != name:
        what = f"of experiment {was}" if was else "of no experiment"
        raise TeffError(
            f"the last sitting in {store.folder} is {what}: --resume can't go on with {name} there",
            exit_code=BAD_INPUT,
        )
    return sitting
