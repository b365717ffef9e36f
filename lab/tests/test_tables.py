"""The tables of METG and of curves at all widths, their notes and last sentences, and what programs read instead."""

import io
import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import pytest
from rich.cells import cell_len
from rich.console import Console, RenderableType

from cases import ByEnds, beside, case, curve, estimate, interval, measured, row, troubled, variants
from samples import sitting
from simulated_sitting import Silent, plan, sat
from tefflab.analysis.curves import Curve
from tefflab.analysis.distance import Distance
from tefflab.analysis.rows import ELSEWHERE, NO_TURN, Row
from tefflab.analysis.statistics import Interval, Progress
from tefflab.benchmarks.task_graph.tables import (
    CEILING,
    OVERHEAD,
    Measured,
    WorkAxis,
    curve_section,
    curve_sentence,
    metg_section,
    metg_sentence,
    notes,
)
from tefflab.host.machine import Revision
from tefflab.measure.comparing import answer
from tefflab.output import quantities
from tefflab.output.caveats import sitting_caveats
from tefflab.output.live import summary
from tefflab.output.sections import Section
from tefflab.output.table import Column, Table
from tefflab.records.store import Damage
from tefflab.systems.registry import Registry

ONE = Interval(1.0, 0.9, 1.1)


def stencil(rows: Iterable[Row], curves: Sequence[Curve] = (), *others: Row, steps: int | None = None) -> Measured:
    return measured("stencil_1d", rows, curves, others=others, steps=steps)


def printed(given: Measured, width: int = 100, colored: bool = False) -> str:
    return shown(metg_section(given), width, colored)


def shown(what: RenderableType, width: int = 100, colored: bool = False) -> str:
    console = Console(
        file=io.StringIO(), width=width, highlight=False, force_terminal=colored,
        color_system="truecolor" if colored else None,
    )  # fmt: skip
    console.print(what)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def headings(given: Measured) -> list[str]:
    """Of the notes."""
    return [each.partition(":")[0] for each in notes(given)]


def noted(given: Measured, heading: str) -> str:
    """The one note under this heading."""
    (found,) = (each for each in notes(given) if each.startswith(f"{heading}: "))
    return found.removeprefix(f"{heading}: ")


@pytest.mark.parametrize("width", [80, 100, 120, 160])
@pytest.mark.parametrize("given", [case(1), case(14), troubled(), case(0)], ids=lambda each: each.name)
def test_the_table_fits_the_terminal_and_loses_no_number(given: Measured, width: int) -> None:
    text = printed(given, width)
    assert max(cell_len(line) for line in text.splitlines()) <= width
    assert "…" not in text
    in_note = any(each.value for each in given.rows)
    assert text.count("7.8 %") == sum(each.runs > 0 for each in given.rows) + in_note


def test_a_row_says_metg_interval_overhead_ceiling_rounds_and_noise() -> None:
    line = next(line for line in printed(case(4), 140).splitlines() if line.startswith("heron"))
    assert line.split("  ")[0] == "heron"
    for cell in ("Heron", "2.2.6", "1.13 µs", "1.08 – 1.19 µs", "553 ns", "92.1 GFLOP/s", " 5 ", "7.8 %"):
        assert cell in line


def test_where_there_is_little_room_what_matters_least_is_left_to_the_report() -> None:
    titles = ["version", "title", "ceiling", "rounds", "noisy", "overhead"]
    gone = []
    for width in range(200, 46, -1):
        head = " ".join(printed(case(6), width).splitlines()[2:4])
        gone += [title for title in titles if title not in head and title not in gone]
        for title in ("system", "METG(50 %)", "95 % interval"):
            assert title in head
    assert gone == titles


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_no_line_is_longer_than_the_width_and_none_is_wrapped_for_long_ids_and_many_rows(width: int) -> None:
    ids = [f"system_{number}/of_a_rather_long_name" for number in range(18)]
    rows = [
        row(replace(who, id=id_, title="A title that is much too long " * 3), each)
        for who, id_, each in zip(variants(18), ids, [estimate(1e-6), estimate(3e-3, relation=">")] * 9, strict=True)
    ]
    for colored in (False, True):
        given = stencil(rows)
        plain = re.sub(r"\x1b\[[0-9;]*m", "", printed(given, width, colored))
        assert max(cell_len(line) for line in plain.splitlines()) <= width
        assert [line.removeprefix("● ").split()[0] for line in plain.splitlines() if "/of_a_rather_long_name" in line][
            :18
        ] == [*ids[::2], *ids[1::2]]


def test_what_a_column_means_is_said_where_the_column_is_shown() -> None:
    columns = [
        Column("system", ["one"], "left"),
        Column("CPU while\nidle", ["3 %"], meaning="of all workers"),
        Column("times\na futex", ["2.1"], priority=1, meaning="of the machine"),
    ]
    said = ["CPU while idle: of all workers", "times a futex: of the machine"]
    assert shown(Table(columns), 60).splitlines()[-2:] == said
    narrow = " ".join(shown(Table(columns), 18).split())
    assert narrow.endswith(" CPU while idle: of all workers in a wider terminal also: times a futex")


def test_columns_that_must_stay_and_do_not_fit_follow_each_other_in_blocks() -> None:
    columns = [Column("who", ["a", "b"], "left"), *(Column(f"number {each}", ["12345678", "9"]) for each in range(5))]
    lines = shown(Table(columns), 30).splitlines()
    assert [line.split() for line in lines[:2]] == [
        ["who", "number", "0", "number", "1", "number", "2"],
        ["a", "12345678", "12345678", "12345678"],
    ]
    assert sum(line.startswith("who") for line in lines) == 2
    assert max(map(len, lines)) <= 30


def test_a_table_without_columns_is_its_title() -> None:
    assert shown(Table([], "serial, 1 worker")).strip() == "serial, 1 worker"


def test_colours_are_for_terminals_alone() -> None:
    plain, colored = printed(case(3)), printed(case(3), colored=True)
    assert "\x1b[" not in plain
    assert "●" not in plain
    assert "\x1b[38;2;0;114;178m●" in colored


def test_bounds_and_failures_are_said_in_their_rows() -> None:
    text = printed(troubled(), 120)
    for said in ("< 130 ns", "> 20.0 ms", "> 19.0 ms", "kestrel", "failed"):
        assert said in text


def test_everything_odd_about_a_row_is_a_note_below_the_table_the_most_important_first() -> None:
    assert headings(troubled())[-6:] == [
        "<",
        ">",
        "open interval",
        "under 1000 timesteps",
        "above the ceiling",
        "drift",
    ]
    *_, noted_one, longer, longest, _ = (each.id for each in variants(7))
    assert f"{noted_one}: two rounds were cut off by the time limit" in notes(troubled())
    assert noted(troubled(), "under 1000 timesteps").startswith(f"{longer} (100), {longest} (40): start and end")


def test_a_terminal_has_four_notes_at_most_and_the_report_all() -> None:
    text = printed(troubled(), 200).splitlines()
    table = metg_section(troubled())
    assert text[-4:] == [*table.notes[:3], f"{len(table.notes) - 3} more remarks in the report"]


def test_a_sound_case_has_no_note_but_the_drift() -> None:
    one, two = variants(2)
    sound = stencil([row(each, estimate(1e-6, 0.04)) for each in (one, two)], [curve(one, 1e-6)])
    assert headings(sound) == ["5 rounds; at most 7.8 % of a system's runs noisy", "drift"]


def test_runs_at_another_distance_of_the_cores_never_count() -> None:
    """Runs of long tasks don't count, either: the distance of the cores changes them, too."""
    moved = replace(stencil([]), where=Distance(55e-9, 0.57), others=[328e-9])
    assert notes(moved) == [
        "left out: runs with cores 328 ns apart",
        "cores moved: the host moved the cores. Only the 57 % of the runs count here in which a cache line "
        "took about 55.0 ns from one core to its neighbour and back",
    ]
    assert "METG(50 %) – stencil_1d, cores 55.0 ns apart" in printed(moved)
    assert notes(replace(moved, where=Distance(55e-9, 0.99), others=())) == []


@pytest.mark.parametrize("section", [metg_section, curve_section])
def test_timesteps_that_the_user_chose_are_a_remark(section: Callable[[Measured], Section]) -> None:
    def steps(count: int | None) -> list[str]:
        given = stencil(case(3).rows, case(3).curves, steps=count)
        return [each for each in section(given).notes if each.startswith("-steps")]

    assert steps(5) == ["-steps 5: start and end weigh more than in runs of 1000"]
    assert steps(4000) == ["-steps 4000: these are of runs of this length only"]
    assert steps(None) == []


@pytest.mark.parametrize(
    ("note", "heading"),
    [("was ended by signal 9 (SIGKILL)", "failed"), (ELSEWHERE, "not measured"), (NO_TURN, "no turn")],
)
def test_systems_that_are_missing_for_one_reason_share_a_note(note: str, heading: str) -> None:
    given = stencil([row(who, None, note) for who in variants(3)])
    assert notes(given) == [f"{', '.join(who.id for who in variants(3))}: {note}"]
    assert re.search(rf"^floor +{heading} ", printed(given), re.MULTILINE)


@pytest.mark.parametrize("ends", [(0.0, math.inf), (1e-9, 1e-3)])
def test_an_unknown_interval_of_many_rounds_is_not_said_to_be_of_too_few(ends: tuple[float, float]) -> None:
    value = estimate(1e-6, low=ends[0], high=ends[1])
    one, two = variants(2)
    given = stencil([row(one, value, rounds=32), row(two, replace(value, rounds=2), rounds=32)])
    assert "too few runs" not in printed(given)
    assert re.search(r"^floor +1.00 µs \? +unknown ", printed(given), re.MULTILINE)


def test_an_unknown_interval_is_said_to_be_of_too_few_runs() -> None:
    unknown = [estimate(1e-6, low=0.0, high=math.inf), estimate(1e-6, low=1e-9, high=1e-3)]
    given = stencil([row(who, each) for who, each in zip(variants(2), unknown, strict=True)])
    assert printed(given).count("too few runs") == 2
    assert "∞" not in printed(given)


@pytest.mark.parametrize("rounds", [1, 2])
def test_an_interval_of_two_rounds_is_unknown_however_narrow_it_is(rounds: int) -> None:
    one, two = variants(2)
    given = stencil([row(one, replace(estimate(1e-6, 0.02), rounds=rounds)), row(two, estimate(2e-6, 0.04))])
    assert re.search(r"^floor +1.00 µs \? +too few runs ", printed(given), re.MULTILINE)
    assert re.search(r"^swift +2.00 µs +1.92 – 2.08 µs ", printed(given), re.MULTILINE)
    assert re.search(r"^(● )?floor +1.00 µs \? +too few runs ", shown(metg_section(given, given)), re.MULTILINE)
    assert metg_sentence(given) == "On this machine swift keeps the cores half busy with tasks of 2.00 µs."


@pytest.mark.parametrize(
    "unknown", [Interval(681e-6, 37e-9, 12.5), Interval(681e-6, 0.0, math.inf), Interval(681e-6, 300e-6, 690e-6)]
)
def test_an_overhead_that_is_not_known_to_a_factor_of_two_has_a_question_mark(unknown: Interval) -> None:
    of = row(variants(1)[0], estimate(1.4e-3))

    def told(value: Interval, rounds: int = 5) -> str:
        empty = next(each for each in beside(of) if each.quantity == OVERHEAD)
        return printed(stencil([of], (), replace(empty, value=value, rounds=rounds)))

    assert "681 µs ?" in told(unknown)
    known = Interval(681e-6, 400e-6, 1.3e-3)
    assert re.search("681 µs  ", told(known))
    assert "681 µs ?" in told(known, rounds=2)


def test_a_speed_that_is_hardly_known_is_said_so() -> None:
    vague = stencil([row(variants(1)[0], replace(estimate(1e-6, 0.04), drift=1.2))])
    assert noted(vague, "drift").startswith(
        "the machine's mean speed over the sitting is not known to a factor of two. "
    )


def ceiling(of: Row, rate: float) -> Row:
    return next(replace(each, value=interval(rate, 0.01)) for each in beside(of) if each.quantity == CEILING)


def test_ceilings_that_differ_say_that_the_machine_changed() -> None:
    first, second = (row(who, estimate(1e-6, 0.04)) for who in variants(2))
    given = stencil([first, second], (), ceiling(second, 70e9))
    assert "ceilings differ by x 1.3, from 70.0 GFLOP/s to 92.1 GFLOP/s" in notes(given)


def test_ceilings_of_cores_and_of_an_accelerator_are_not_compared() -> None:
    first, second, third = (row(who, estimate(1e-6, 0.04)) for who in variants(3))
    far, further = (replace(each, variant=replace(each.variant, ceiling="far_ceiling")) for each in (second, third))
    assert not any("ceilings" in each for each in notes(stencil([first, far], (), ceiling(far, 70e12))))
    unsteady = stencil([first, far, further], (), ceiling(far, 70e12), ceiling(further, 35e12))
    assert "ceilings differ by x 2.0, from 35.0 TFLOP/s to 70.0 TFLOP/s" in notes(unsteady)
    curves = [
        replace(curve(who.variant, 1e-6), ceiling=interval(rate, 0.01)) for who, rate in ((far, 70e12), (first, 92e9))
    ]
    line = stencil([far, first], curves).ceiling
    assert line is not None
    assert line.value == 92e9, "the line in a picture of both is that of the cores"


def test_while_it_measures_a_missing_interval_is_said_to_be_missing() -> None:
    value = Interval(1.32e-6, 1.32e-6 * 0.96, 1.32e-6 * 1.04)
    assert summary([Progress("stencil", value, 0.04, 2)]) == "1.32 µs (no interval yet)"
    assert summary([Progress("stencil", value, 0.04, 3)]) == "1.32 µs ± 4.0 %"


def closed(rows: Sequence[tuple[float, float]]) -> str:
    """The sentence on systems of these METGs with so wide intervals."""
    people = [replace(who, id=name) for who, name in zip(variants(len(rows)), "abcde", strict=False)]
    return metg_sentence(stencil(row(who, estimate(*each)) for who, each in zip(people, rows, strict=True)))


def test_the_last_sentence_sets_the_best_beside_the_median() -> None:
    first = "On this machine a keeps the cores half busy with tasks of 1.00 µs"
    assert closed([(1e-6, 0.05), (2e-6, 0.05), (24e-6, 0.05), (1e-3, 0.05), (2e-3, 0.05)]) == (
        f"{first}; c, the median of 5, needs 24.0 µs, 21.8 to 26.5 times as long."
    )
    assert closed([(1e-6, 0.05), (2e-6, 0.05)]) == f"{first}; b needs 2.00 µs, 1.81 to 2.21 times as long."
    assert closed([(1e-6, 0.05)]) == f"{first}."


def test_the_last_sentence_says_what_the_rounds_say_and_not_what_the_two_intervals_would() -> None:
    one, two = (row(who, estimate(each, 0.6)) for who, each in zip(variants(2), (1e-6, 2e-6), strict=True))
    assert ", and so may swift." in metg_sentence(stencil([one, two]))

    @dataclass(frozen=True)
    class ByRounds(ByEnds):
        """One ratio, whatever the ends."""

        def over(self, other: Self) -> Interval:
            del other
            return self.value

    sure, unsure = Interval(2.0, 1.46, 2.74), Interval(2.0, 0.9, 4.4)
    said = metg_sentence(stencil([one, replace(two, samples=ByRounds(sure))]))
    assert said.endswith("; swift needs 2.00 µs, 1.46 to 2.74 times as long.")
    assert ", and so may swift." in metg_sentence(stencil([one, replace(two, samples=ByRounds(unsure))]))


def test_the_last_sentence_has_the_ratio_that_compare_prints(laboratory: Callable[..., Path]) -> None:
    root = laboratory(quick=(1e-6, "fine"), slow=(4e-6, "fine"))
    estimates = sat(root, plan("quick", "slow"), Silent(), rounds=4, name="default")
    ((found, _),) = (each.comparisons for each in answer(Registry(root), "slow", "quick", None)[0])
    ends = f"{quantities.digits(found.ratio.low)} to {quantities.digits(found.ratio.high)} times as long"
    last_words = estimates.closing("metg", "default")
    assert last_words is not None
    assert ends in " ".join(shown(last_words).split())


def test_the_last_sentence_says_who_may_be_as_good() -> None:
    assert closed([(1e-6, 0.05), (1.02e-6, 0.05)]).endswith(" with tasks of 1.00 µs, and so may b.")
    assert "75 % busy" in metg_sentence(replace(case(2), threshold=0.75))


@pytest.mark.parametrize("ends", [(0.0, math.inf), (0.9e-6, math.inf), (1e-9, 1e-3)])
def test_the_last_sentence_names_no_system_without_an_interval(ends: tuple[float, float]) -> None:
    one, two, three = variants(3)
    quick, slow = row(two, estimate(2e-6)), row(three, estimate(24e-6))
    unsure = row(one, replace(estimate(1e-6), low=ends[0], high=ends[1]))
    bound = row(three, replace(estimate(1e-7, relation="<"), low=0.0, high=math.inf))
    for rows in ([], [unsure], [bound, unsure]):
        assert metg_sentence(stencil(rows)) == "Too little is known yet to say how small a task may be."
    first = "On this machine swift keeps the cores half busy with tasks of 2.00 µs"
    assert metg_sentence(stencil([unsure, quick])) == f"{first}."
    assert metg_sentence(stencil([unsure, quick, slow])) == (
        f"{first}; swift/other_1 needs 24.0 µs, 10.9 to 13.2 times as long."
    )


def test_markup_in_a_name_is_no_markup() -> None:
    who = replace(variants(1)[0], title="Odd [bold]name[/]", version="[red]1[/]")
    assert "Odd [bold]name[/]  [red]1[/]" in printed(stencil([row(who, estimate(1e-6))]), 140)


def test_what_holds_of_the_whole_sitting_is_said_once() -> None:
    base = sitting()
    machine = base.machine.model_copy(
        update={"hypervisor": "KVM", "cgroup_quota_cores": 1.5, "governor": "powersave"}
    )  # fmt: skip
    spoilt = base.model_copy(update={"machine": machine, "revision": Revision(commit=None, dirty=False)})
    damage = [Damage(Path("records.jsonl"), 7, "torn line")]
    found = sitting_caveats(spoilt, 15, 192, damage)
    heads = ["noisy runs", "virtual machine", "quota", "clock", "no revision", "unreadable"]
    assert [each.partition(":")[0] for each in found] == heads
    assert found[0].startswith("noisy runs: 15 of 192 runs (7.8 %)")
    assert sitting_caveats(base, 0, 128, [])[0] == "noisy runs: None of 128 runs."
    assert found[-1].startswith("unreadable: records.jsonl:7: torn line")


def test_a_clean_sitting_on_bare_metal_has_nothing_to_be_said_against_it() -> None:
    clean = sitting().model_copy(update={"revision": Revision(commit="a" * 40, dirty=False)})
    assert sitting_caveats(clean, 0, 0, []) == []


def test_json_holds_bounds_and_no_infinity() -> None:
    read = [json.loads(json.dumps(each.to_json(), allow_nan=False)) for each in troubled().rows]
    told = {each["system_id"]: each for each in read}
    bounds = {id_: each["relation"] for id_, each in told.items() if each["relation"] != "="}
    first, _, _, open_, _, longest, failed = (each.id for each in variants(7))
    assert bounds == {first: "<", longest: ">"}
    assert told[first]["low"] is None
    assert [each["system_id"] for each in read if each["value"] and each["high"] is None] == [open_, longest]
    assert (told[failed]["value"], told[failed]["verdict"]) == (None, "failed")


def test_an_interval_open_at_both_ends_is_not_written_as_numbers() -> None:
    assert quantities.duration_range(0.0, math.inf) == "too few runs"
    assert quantities.duration_range(1e-9, 2e-6) == "too few runs"
    assert quantities.duration_range(1e-6, math.inf) == "> 1.00 µs"
    assert quantities.duration_range(0.0, 2e-6) == "< 2.00 µs"


def test_a_curve_says_where_launches_differ_so_much_that_nothing_is_known() -> None:
    given = case(1)
    (curve,) = given.curves
    wild = replace(curve.points[0], efficiency=Interval(0.5, 0.0, 4e6))
    known = replace(curve.points[1], efficiency=Interval(0.5, 0.25, 1.5))
    text = shown(curve_section(replace(given, curves=(replace(curve, points=(wild, known)),))))
    assert text.count("too few runs") == 1
    assert "25 – 150 %" in text


def test_the_points_of_a_curve_stand_beside_the_size_of_the_task_that_they_are_sorted_by() -> None:
    section = curve_section(case(1))
    (curve,) = case(1).curves
    size = WorkAxis(case(1).curves)
    assert section.columns[0].title == size.title
    ticks = [size.tick(size.of(point)) for point in sorted(curve.points, key=size.of)]
    assert [cells[0] for cells in section.rows] == ticks
    assert section.headings == {0: curve.variant.id}


def test_curves_end_with_the_size_from_which_on_the_cores_are_busy_and_what_to_try_next() -> None:
    one, two = variants(2)
    given = replace(case(2), rows=())
    said = curve_sentence(given)
    assert said.startswith("Of the sizes measured, tasks of ")
    assert f"the smallest that leave half of the cores' rate, on {one.id}; on {two.id} they have to be of" in said
    assert curve_sentence(replace(given, curves=())).startswith("No system was seen to reach half")


@pytest.mark.parametrize("is_contradicted", [True, False])
def test_curves_end_with_no_size_from_a_point_that_is_not_known(is_contradicted: bool) -> None:
    given = replace(case(2), rows=())
    sure, other = given.curves
    points = sorted(sure.points, key=lambda each: each.granularity.value)
    if is_contradicted:  # by the longest tasks
        doubtful = [*points[:-1], replace(points[-1], efficiency=Interval(0.39, 0.38, 0.4))]
    else:
        doubtful = [replace(each, efficiency=replace(each.efficiency, low=0.0, high=math.inf)) for each in points]
    unknown = replace(sure, points=tuple(doubtful))
    assert curve_sentence(replace(given, curves=(unknown,))).startswith("No system was seen to reach half")
    beside = curve_sentence(replace(given, curves=(unknown, other)))
    assert beside.endswith(f" are the smallest that leave half of the cores' rate, on {other.variant.id}.")


def test_curves_name_the_first_size_that_reaches_the_rate_with_its_whole_interval() -> None:
    given = replace(case(2), rows=())
    curve = given.curves[0]
    points = sorted(curve.points, key=lambda each: each.granularity.value)
    doubtful = next(each for each, one in enumerate(points) if one.efficiency.low >= 0.5)
    points[doubtful] = replace(points[doubtful], efficiency=Interval(0.55, 0.45, 0.65))
    said = curve_sentence(replace(given, curves=(replace(curve, points=tuple(points)),)))
    assert f"tasks of {quantities.duration(points[doubtful + 1].granularity.value)} are the smallest" in said
