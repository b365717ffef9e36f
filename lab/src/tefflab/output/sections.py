"""Sections: a table with its notes, as the terminal prints it and as a report shows it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from tefflab.analysis.rows import Row
from tefflab.analysis.statistics import FEWEST_ROUNDS
from tefflab.output.quantities import percent
from tefflab.output.table import Column, Table, meanings

_NOTES = 4  # below a table of the terminal, at most
_NAMED = 3  # cases in a note


@dataclass(frozen=True, slots=True)
class Section:
    """A table under its title. `details` stand below the title, `headings` above rows, by the row."""

    title: str
    columns: Sequence[Column] = ()
    notes: Sequence[str] = ()
    details: str = ""
    headings: Mapping[int, str] = field(default_factory=dict)
    is_detail: bool = False  # which only a report has room for

    @property
    def rows(self) -> Iterator[tuple[str, ...]]:
        """The cells, row by row."""
        return zip(*([str(cell) for cell in column.cells] for column in self.columns), strict=True)

    def __rich_console__(self, _console: Console, _options: ConsoleOptions) -> RenderResult:
        """With as many notes as there is room for; the report has all."""
        yield Text(self.title, style="bold")
        if self.details:
            yield Text(self.details, style="dim")
        yield Table(self.columns, headings=self.headings)
        room = _NOTES - len(meanings(self.columns))
        shown = list(self.notes)
        if len(shown) > room:
            shown[room - 1 :] = [f"{len(shown) - room + 1} more remarks in the report"]
        yield from (Text(note, style="dim") for note in shown)


def explained(sections: Iterable[Section]) -> list[Section]:
    """The last one with a question mark says what that means, before all other notes."""
    found = list(sections)
    doubtful = [
        place
        for place, each in enumerate(found)
        if any(str(cell).endswith("?") for column in each.columns for cell in column.cells)
    ]
    for place in doubtful[-1:]:
        meaning = f"?: of fewer than {FEWEST_ROUNDS} launches, or an interval that says nothing: measure longer"
        found[place] = replace(found[place], notes=[meaning, *found[place].notes])
    return found


def absences(rows: Iterable[Row]) -> list[str]:
    """`ID, ID: REASON` of the rows that have no value; where their systems have one elsewhere, with the places. Systems
    with one reason and the same places share a line."""
    every = list(rows)
    places: dict[tuple[str, str], list[Row]] = {}
    for row in every:
        if row.note and row.value is None:
            places.setdefault((row.id, row.note), []).append(row)
    together: dict[tuple[str, str], list[str]] = {}
    for (id_, note), own in places.items():
        together.setdefault((note, _places(own, every)), []).append(id_)
    return [f"{', '.join(ids)}: {note}{place}" for (note, place), ids in together.items()]


def warnings(rows: Iterable[Row]) -> list[str]:
    """`ID: NOTE` of the rows that have both a value and a note."""
    return list(dict.fromkeys(f"{row.id}: {row.note}" for row in rows if row.note and row.value))


def _places(some: Sequence[Row], rows: Sequence[Row]) -> str:
    """` (CASES; with 2 workers; beside LOAD)`, as far as it tells these rows from the others."""
    cases, workers = dict.fromkeys(row.case for row in some), {row.workers for row in some}
    loads = dict.fromkeys(map(_load_of, some))
    named = list(cases)[: len(cases) if len(cases) <= _NAMED + 1 else _NAMED]  # the tables show which others there are
    others = [f"{len(cases) - len(named)} others"] if len(named) < len(cases) else []
    told = ["; ".join([*named, *others])] if len(cases) < len({row.case for row in rows}) else []
    if workers != {row.workers for row in rows}:
        told.append(f"with {' and '.join(map(str, sorted(workers)))} worker{'s' * (workers != {1})}")
    if loads.keys() != set(map(_load_of, rows)):
        told.append(f"beside {' and '.join(each or 'none' for each in loads)}")
    return f" ({'; '.join(told)})" if told else ""


def _load_of(row: Row) -> str:
    """That ran beside it: what stands behind the workers in `2 workers, spin:50@1`."""
    return row.where.partition(", ")[2]


def notes_of(rows: Sequence[Row], how: str = "") -> list[str]:
    """A line for each reason why a row has no value, and for each oddity of a row that has one. The last line has the
    rounds behind the rows (`3 to 5 rounds; at most 4 % of a system's runs noisy`), and `how` they were used."""
    odd, measured = [*absences(rows), *warnings(rows)], [row for row in rows if row.value]
    if not measured:
        return odd
    least, most = (of(row.rounds for row in measured) for of in (min, max))
    rounds = f"{least} to {most}" if least < most else str(most)
    found = filter(None, (f"{rounds} round{'s' * (most != 1)}", noise_of(measured)))
    return [*odd, f"{'; '.join(found)}{how}"]


def noise_of(rows: Sequence[Row]) -> str:
    """`at most 4 % of a system's runs noisy`; empty if no run is called so."""
    shares = [row.noisy_share for row in rows if row.counts_noise]
    return f"at most {percent(max(shares))} of a system's runs noisy" if shares else ""
