"""Experiments: each is a TOML file below `experiments/`, for one figure. The file alone defines its questions and its
pictures.

The kind of benchmark defines the keys; `experiments/README.md` explains them.
"""

from pathlib import Path

from pydantic import ValidationError

from tefflab.benchmarks.benchmark import Experiment, find_benchmark
from tefflab.errors import InputError, TeffError, first_fault
from tefflab.output.table import Column, Table
from tefflab.systems.toml_files import read_toml, readable

EXPERIMENTS_FOLDER = Path("experiments")
_USUAL = Experiment.model_fields["benchmark"].default


def load_experiment(path: Path) -> Experiment:
    """Raises TeffError, naming the file, the key and the rule."""
    keys = read_toml(path)
    try:
        if "name" in keys:
            raise InputError("name: an experiment is called as its file is")
        kind = find_benchmark(str(keys.get("benchmark", _USUAL)))
        return kind.experiment_type.model_validate(keys | {"name": path.stem})
    except TeffError as error:
        raise InputError(f"{path}: {error}") from None
    except ValidationError as error:
        raise InputError(f"{path}: {first_fault(error)}") from None


def load_experiments(root: Path) -> list[Experiment]:
    """Every experiment of the checkout that can be read, numbers as numbers; a warning names the others."""
    files = (root / EXPERIMENTS_FOLDER).glob("*.toml")
    return readable(sorted(files, key=lambda file: (len(file.stem), file.stem)), load_experiment)


def find_experiment(root: Path, name: str) -> Experiment:
    """The experiment of this name. TeffError, naming those there are, for another."""
    path = root / EXPERIMENTS_FOLDER / f"{name}.toml"
    if Path(name).name != name or not path.is_file():
        known = sorted((file.stem for file in path.parent.glob("*.toml")), key=lambda stem: (len(stem), stem))
        raise InputError(f"no experiment is called {name!r}; there are: {' '.join(known)}")
    return load_experiment(path)


def experiment_list(root: Path) -> Table:
    """A line an experiment."""
    there = load_experiments(root)
    if not there:
        raise TeffError(f"there are no experiments in {root / EXPERIMENTS_FOLDER}")
    return Table(
        [
            Column("experiment", [each.name for each in there], "left"),
            Column("what it shows", [each.description for each in there], "left"),
            Column("paper", [f"figure {each.figure}" if each.figure else "" for each in there], "left", priority=2),
            Column("minutes", [f"{each.minutes:g}" for each in there], priority=1),
        ]
    )
