"""Experiments: a TOML file each below `experiments/`, a figure each. What one asks and draws is in the file alone.

`experiments/README.md` says what the keys mean.
"""

import itertools
import shlex
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from tefflab.benchmarks.configuration import parse, read_flags
from tefflab.durations import seconds
from tefflab.errors import BAD_INPUT, TeffError
from tefflab.measure.measurement import ChartKind, Competitor, Plan, Question
from tefflab.measure.spawn_sitting import questions
from tefflab.output.quantities import size
from tefflab.records.record import first_fault

EXPERIMENTS_FOLDER = Path("experiments")

NonEmpty = Annotated[str, Field(min_length=1)]
_Graphs = Annotated[tuple[str, ...], Field(min_length=1)]  # the flags of each that runs at once


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Setting(_Strict):
    """One value of what is varied: how it reads, where it stands on an axis, and what it does to the flags."""

    text: str
    x: float | None
    graphs: tuple[str, ...]  # the flags of each that runs at once
    columns: int | None = None  # a worker has


class Vary(_Strict):
    """What is varied: numbers, which a picture may have as its axis, or named cases."""

    name: NonEmpty
    values: Annotated[list[float], Field(min_length=1)] | None = None  # rising
    flags: str | None = None  # for each value, with {value} in it
    copies: bool = False  # each value is how many of the graph run at once
    columns: bool = False  # each value is how many columns a worker has
    unit: Literal["", "bytes"] = ""
    cases: Annotated[dict[NonEmpty, str | _Graphs], Field(min_length=1)] | None = None  # name -> flags

    @model_validator(mode="after")
    def _says_values_or_cases(self) -> Self:
        if (self.values is None) == (self.cases is None):
            raise ValueError("give either values or cases")
        if self.values is None:
            if self.flags is not None or self.copies or self.columns or self.unit:
                raise ValueError("flags, copies, columns and unit go with values; a case has its own flags")
            return self
        if self.copies + self.columns + (self.flags is not None) != 1:
            raise ValueError("values need one of flags with {value} in them, copies = true and columns = true")
        if self.flags is not None and "{value}" not in self.flags:
            raise ValueError(f"flags {self.flags!r} have no {{value}} in them")
        if any(low >= high for low, high in itertools.pairwise(self.values)):
            raise ValueError("values must rise")
        if self.flags is None and any(value < 1 or value != int(value) for value in self.values):
            raise ValueError("copies and columns are whole numbers from 1")
        return self

    @property
    def settings(self) -> list[_Setting]:
        if self.cases is not None:
            graphs = {name: (flags,) if isinstance(flags, str) else flags for name, flags in self.cases.items()}
            return [_Setting(text=name, x=None, graphs=each) for name, each in graphs.items()]
        assert self.values is not None
        return [self._setting(value) for value in self.values]

    def _setting(self, value: float) -> _Setting:
        number = f"{value:g}" if value != int(value) else str(int(value))
        text = size(int(value)) if self.unit == "bytes" else number
        graphs = ((self.flags or "").replace("{value}", number),) * (int(value) if self.copies else 1)
        return _Setting(text=text, x=value, graphs=graphs, columns=int(value) if self.columns else None)


class _Figure(_Strict):
    """What all experiments say of themselves."""

    title: NonEmpty
    description: NonEmpty  # one line
    figure: str | None = None  # its number in the paper
    rounds: Annotated[int, Field(ge=2)]
    minutes: Annotated[float, Field(gt=0)]

    name: str = ""  # the file's, never in it


class SpawnExperiment(_Figure):
    """A figure of the spawn patterns: a picture each, of all systems that have them."""

    kind: Literal["spawn"]
    patterns: tuple[NonEmpty, ...] = ()  # all where none is given
    trees: tuple[NonEmpty, ...] = ("T3",)

    @model_validator(mode="after")
    def _patterns_are_known(self) -> Self:
        try:
            questions(self.patterns, self.trees)
        except TeffError as error:
            raise ValueError(str(error)) from None
        return self


class Experiment(_Figure):
    """A figure of task graphs: what is asked of which systems, how long, and how it is drawn."""

    kind: Literal["curve", "metg"]
    flags: str = ""
    columns_per_worker: Annotated[int, Field(ge=1)] = 1  # the width, where flags do not say it
    vary: tuple[Vary, ...] = ()
    charts: Annotated[tuple[ChartKind, ...], Field(min_length=1)]
    variants: Literal["best", "all"] = "best"
    paradigm: str | None = None  # only systems of this one
    threshold: Annotated[float, Field(gt=0, lt=1)] = 0.5
    points: Annotated[int, Field(ge=3)] = 12  # of a curve
    longest: str = "3ms"  # task of a curve

    @field_validator("longest")
    @classmethod
    def _longest_is_a_duration(cls, text: str) -> str:
        try:
            seconds(text)
        except TeffError as error:
            raise ValueError(str(error)) from None
        return text

    @model_validator(mode="after")
    def _charts_can_be_drawn(self) -> Self:
        ranked = [chart for chart in self.charts if chart.startswith("metg")]
        if ranked and self.kind == "curve":
            raise ValueError(f'charts: {ranked[0]} needs kind = "metg"')
        numbers = [vary.name for vary in self.vary if vary.values is not None]
        if "metg_lines" in self.charts and len(numbers) != 1:
            raise ValueError(f"charts: metg_lines needs one [[vary]] with values; there are {len(numbers)}")
        if sum(vary.columns for vary in self.vary) > 1:
            raise ValueError("vary: only one can be of columns")
        return self

    def questions(self, workers: int) -> tuple[Question, ...]:
        """Every combination of what is varied, the last [[vary]] fastest."""
        return tuple(self._question(each, workers) for each in itertools.product(*(one.settings for one in self.vary)))

    def plan(self, contenders: Sequence[Competitor], workers: int) -> Plan:
        return Plan(
            kind=self.kind,
            title=self.title,
            questions=self.questions(workers),
            contenders=tuple(contenders),
            workers=workers,
            threshold=self.threshold,
            longest_task=seconds(self.longest),
            points=self.points,
            experiment=self.name,
            charts=self.charts,
            x_label=next((vary.name for vary in self.vary if vary.values is not None), ""),
        )

    def _question(self, settings: Sequence[_Setting], workers: int) -> Question:
        columns = next((one.columns for one in settings if one.columns is not None), self.columns_per_worker)
        # Of two that are of several graphs at once, all pairs run.
        graphs = [
            shlex.split(" ".join((self.flags, *flags)))
            for flags in itertools.product(*(one.graphs for one in settings))
        ]
        for flags in graphs:
            if not any(name == "width" for name, *_ in read_flags(flags)):
                flags += ["-width", str(columns * workers)]
        configuration = parse(list(itertools.chain(graphs[0], *(["-and", *flags] for flags in graphs[1:]))), workers)
        named = list(zip(self.vary, settings, strict=True))
        words = [one.text if vary.cases else f"{vary.name} {one.text}" for vary, one in named]
        question = Question.of(configuration, ", ".join(words) or None)
        number = next((one for vary, one in named if vary.values is not None), None)
        return question.model_copy(
            update={
                "x": number.x if number else None,
                "x_text": number.text if number else "",
                "group": ", ".join(one.text for vary, one in named if vary.values is None) if number else "",
            }
        )


def load_experiment(path: Path) -> Experiment | SpawnExperiment:
    """Raises TeffError, naming the file, the key and the rule."""
    try:
        keys = tomllib.loads(path.read_text(encoding="utf-8"))
        if "name" in keys:
            raise TeffError(f"{path}: name: an experiment is called as its file is", exit_code=BAD_INPUT)
        kind = SpawnExperiment if keys.get("kind") == "spawn" else Experiment
        experiment = kind.model_validate(keys | {"name": path.stem})
    except tomllib.TOMLDecodeError as error:
        raise TeffError(f"{path}: {error}", exit_code=BAD_INPUT) from None
    except ValidationError as error:
        raise TeffError(f"{path}: {first_fault(error)}", exit_code=BAD_INPUT) from None
    return experiment


def load_experiments(root: Path) -> list[Experiment | SpawnExperiment]:
    """Every experiment of the checkout, as their names sort with numbers as numbers."""
    files = (root / EXPERIMENTS_FOLDER).glob("*.toml")
    return [load_experiment(file) for file in sorted(files, key=lambda file: (len(file.stem), file.stem))]


def find_experiment(root: Path, name: str) -> Experiment | SpawnExperiment:
    """The experiment of this name. TeffError, naming those there are, for another."""
    path = root / EXPERIMENTS_FOLDER / f"{name}.toml"
    if Path(name).name != name or not path.is_file():
        known = sorted((file.stem for file in path.parent.glob("*.toml")), key=lambda stem: (len(stem), stem))
        raise TeffError(f"no experiment is called {name!r}; there are: {' '.join(known)}", exit_code=BAD_INPUT)
    return load_experiment(path)
