"""The last words after a METG table: what it means to the reader in one sentence, and what to try next."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from tefflab.analysis.results import MeasuredCase, MetgRow
from tefflab.analysis.statistics import MetgEstimate, is_told
from tefflab.output.caveats import MUCH_NOISE, is_uncertain
from tefflab.output.quantities import digits, duration, percent
from tefflab.output.readings import noisy_runs

_COMMANDS = 2


@dataclass(frozen=True, slots=True)
class Closing:
    """As rich prints it. `again` is the command that went before, without options; `store` keeps what was measured."""

    case: MeasuredCase
    again: str
    store: str

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(sentence(self.case))
        yield Text()
        yield Text("Try next:", style="bold")
        for command, why in suggestions(self.case, self.again, self.store):
            explained = f"  {command}  # {why}"
            yield Text(explained if cell_len(explained) <= options.max_width else f"  {command}", overflow="fold")


def sentence(case: MeasuredCase) -> str:
    """The best system beside the median of all that were measured: the spread that a choice of system decides on."""
    known = _crossed(case.rows)
    busy = "half busy" if case.threshold == 0.5 else f"{percent(case.threshold)} busy"
    if not known:
        return f"No system was seen to go from less than {percent(case.threshold)} efficiency to more."
    row, best = known[0]
    doubt = "" if is_told(best.low, best.high) else "; too few runs yet to be sure"
    first = f"On this machine {row.variant.id} keeps the cores {busy} with tasks of {duration(best.value)}"
    if len(known) == 1:
        return f"{first}, and less than that with smaller ones{doubt}."
    other, middle = known[len(known) // 2]
    which = f"{other.variant.id}, the median of {len(known)}," if len(known) > 2 else other.variant.id
    times = f"{digits(middle.value / best.value, 2)} times as long"
    return f"{first}{_level(known)}; {which} needs {duration(middle.value)}, {times}{doubt}."


def suggestions(case: MeasuredCase, again: str, store: str) -> list[tuple[str, str]]:
    """Two commands, each with what it does."""
    return [each for each, _ in zip(_all_suggestions(case, again, store), range(_COMMANDS), strict=False)]


def _all_suggestions(case: MeasuredCase, again: str, store: str) -> Iterator[tuple[str, str]]:
    """The most needed first."""
    noisy, runs = noisy_runs(case)
    kept = "" if store == "default" else f" --store {store}"
    if runs and noisy / runs > MUCH_NOISE:
        yield "./teff doctor", "what else runs on this machine"
    if any(is_uncertain(row) for row in case.rows) or not case.rows:
        yield f"{again} --resume --minutes 15{kept}", "narrows the intervals"
    known = _crossed(case.rows)
    if len(known) > 1:
        best, other = known[0][0].variant.id, known[len(known) // 2][0].variant.id
        yield f"./teff compare {best} {other}{kept}", "their ratio with its interval"
        yield f"./teff sweep --systems {best},{other}", "their whole curves"
    yield "./teff experiment", "what else can be measured and drawn"
    yield "./teff systems", "who else could be measured"


def _crossed(rows: Sequence[MetgRow]) -> list[tuple[MetgRow, MetgEstimate]]:
    return [(row, row.metg) for row in rows if row.metg and row.metg.relation == "="]


def _level(known: Sequence[tuple[MetgRow, MetgEstimate]]) -> str:
    """Who can't be told apart from the best, where its interval says anything."""
    best = known[0][1]
    level = [row.variant.id for row, each in known[1:] if each.low <= best.high]
    if not level or not is_told(best.low, best.high):
        return ""
    return f" (so may {level[0]})" if len(level) == 1 else f" (so may {len(level)} others)"
