"""Experiments: each is a TOML file below `experiments/`, for one figure. The file alone defines its questions and its
pictures.

The kind of benchmark defines the keys; `experiments/README.md` explains them.
"""

import tomllib
from pathlib import Path

from pydantic import ValidationError

from tefflab.benchmarks.benchmark import Experiment, find_benchmark
from tefflab.errors import BAD_INPUT, TeffError, first_fault

EXPERIMENTS_FOLDER = Path("experiments")
_USUAL = Experiment.model_fields["benchmark"].default


def load_experiment(path: Path) -> Experiment:
    """Raises TeffError, naming the file, the key and the rule."""
    try:
        keys = tomllib.loads(path.read_text(encoding="utf-8"))
        if "name" in keys:
            raise TeffError("name: an experiment is called as its file is", exit_code=BAD_INPUT)
        kind = find_benchmark(str(keys.get("benchmark", _USUAL)))
        return kind.experiment_type.model_validate(keys | {"name": path.stem})
    except (tomllib.TOMLDecodeError, TeffError) as error:
        raise TeffError(f"{path}: {error}", exit_code=BAD_INPUT) from None
    except ValidationError as error:
        raise TeffError(f"{path}: {first_fault(error)}", exit_code=BAD_INPUT) from None


def load_experiments(root: Path) -> list[Experiment]:
    """Every experiment of the checkout, as their names sort with numbers as numbers."""
    files = (root / EXPERIMENTS_FOLDER).glob("*.toml")
    return [load_experiment(file) for file in sorted(files, key=lambda file: (len(file.stem), file.stem))]


def find_experiment(root: Path, name: str) -> Experiment:
    """The experiment of this name. TeffError, naming those there are, for another."""
    path = root / EXPERIMENTS_FOLDER / f"{name}.toml"
    if Path(name).name != name or not path.is_file():
        known = sorted((file.stem for file in path.parent.glob("*.toml")), key=lambda stem: (len(stem), stem))
        raise TeffError(f"no experiment is called {name!r}; there are: {' '.join(known)}", exit_code=BAD_INPUT)
    return load_experiment(path)
