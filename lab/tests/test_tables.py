"""The METG table, its remarks and last words, at all widths, and what programs read instead."""

import io
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console, RenderableType
from tefflab.analysis.results import ELSEWHERE, NO_TURN, MeasuredCase, MetgRow, Progress
from tefflab.benchmarks.task_graph.caveats import caveats, ceiling_spread, remarks
from tefflab.benchmarks.task_graph.closing import (
    Ratio,
    curve_sentence,
    curve_suggestions,
    sentence,
    suggestions,
)
from tefflab.benchmarks.task_graph.readings import WorkAxis, ceiling_of, noisy_runs
from tefflab.benchmarks.task_graph.tables import Heading, MetgTable, curve_table, series_table, to_json

from cases import case, curve, estimate, interval, row, troubled, variants, with_rows
from samples import sitting
from simulated_sitting import Silent, plan, sat
from tefflab.analysis.statistics import Interval
from tefflab.host.machine import Revision
from tefflab.json_lines import json_lines
from tefflab.measure.comparing import answer
from tefflab.output import quantities
from tefflab.output.caveats import sitting_caveats
from tefflab.output.last_words import LastWords
from tefflab.output.live import summary
from tefflab.output.table import Column, Table
from tefflab.records.store import Damage
from tefflab.systems.registry import Registry


def advice(given: MeasuredCase, again: str, store: str) -> list[tuple[str, str]]:
    """As much of it as is shown."""
    return LastWords("", suggestions(given, again, store)).suggestions


def by_ends(given: MeasuredCase) -> Ratio:
    """Ratios from the two intervals alone."""
    known = {each.variant.id: each.metg for each in given.rows if each.metg}

    def ratio(a: str, b: str) -> Interval:
        return Interval(known[a].value / known[b].value, known[a].low / known[b].high, known[a].high / known[b].low)

    return ratio


def last_sentence(given: MeasuredCase) -> str:
    return sentence(given, by_ends(given))


def printed(given: MeasuredCase, width: int = 100, colored: bool = False) -> str:
    return shown(MetgTable(given), width, colored)


def shown(what: RenderableType, width: int = 100, colored: bool = False) -> str:
    console = Console(
        file=io.StringIO(), width=width, highlight=False, force_terminal=colored,
        color_system="truecolor" if colored else None,
    )  # fmt: skip
    console.print(what)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def headings(given: MeasuredCase) -> list[str]:
    return [each.heading for each in caveats(given)]


@pytest.mark.parametrize("width", [80, 100, 120, 160])
@pytest.mark.parametrize("given", [case(1), case(14), troubled(), case(0)], ids=lambda each: each.name)
def test_the_table_fits_the_terminal_and_loses_no_number(given: MeasuredCase, width: int) -> None:
    text = printed(given, width)
    assert max(cell_len(line) for line in text.splitlines()) <= width
    assert not any("…" in line for line in text.splitlines() if not line.startswith("1 failed: ")), "but for a reason"
    assert text.count("7.8 %") == sum(each.runs > 0 for each in given.rows)


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
        given = with_rows(case(1), rows)
        plain = re.sub(r"\x1b\[[0-9;]*m", "", printed(given, width, colored))
        assert max(cell_len(line) for line in plain.splitlines()) <= width
        assert [line.removeprefix("● ").split()[0] for line in plain.splitlines() if "/of_a_rather_long_name" in line][
            :18
        ] == ids


def test_what_a_column_means_is_said_where_the_column_is_shown() -> None:
    columns = [
        Column("system", ["one"], "left"),
        Column("CPU while\nidle", ["3 %"], meaning="of all workers"),
        Column("times\na futex", ["2.1"], priority=1, meaning="of the machine"),
    ]
    said = ["CPU while idle: of all workers", "times a futex: of the machine"]
    assert shown(Table(columns), 60).splitlines()[-2:] == said
    assert shown(Table(columns), 18).splitlines()[-2:] == ["CPU while idle: of", "all workers"]


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


def remarked(given: MeasuredCase, width: int = 80) -> list[str]:
    return [each.plain for each in remarks(given, width)]


def test_what_a_reader_can_do_takes_at_most_four_lines() -> None:
    noisy = tuple(replace(each, noisy_share=0.5) for each in troubled().rows)
    given = replace(troubled(), rows=noisy, others=(replace(case(1), round_trip=328e-9, share=0.1),))
    assert remarked(given) == [
        "1 failed: kestrel: the program ended with signal 11 before its first record; se…",
        "more minutes: 3 of 6 intervals are wider than ± 5 %",
        "a quieter machine: 50 % of the runs were noisy",
        "left out: runs with cores 328 ns apart: see the report",
    ]
    assert remarked(replace(given, others=()))[-1].startswith("< and >: the value lies beyond")


def test_timesteps_that_the_user_chose_are_a_remark() -> None:
    (line,) = [each for each in remarked(replace(case(3), steps=5), 60) if each.startswith("-steps")]
    assert line == "-steps 5: start and end weigh more than in runs of 1000"
    assert "-steps 4000: METG of runs of this length only" in remarked(replace(case(3), steps=4000))


def test_timesteps_that_the_user_chose_are_a_remark_on_curves_too() -> None:
    text = shown(curve_table(replace(case(1), steps=5)))
    assert "-steps 5 – start and end weigh more than in runs of 1000" in text
    assert "-steps 4000 – efficiency of runs of this length only" in shown(curve_table(replace(case(1), steps=4000)))
    assert "-steps" not in shown(curve_table(case(1)))


def test_many_that_are_missing_are_named_as_far_as_a_line_goes() -> None:
    for note, heading, end in (
        ("was ended by signal 9 (SIGKILL) without answering", "failed", "; the report says why"),
        (ELSEWHERE, "not measured", "; the report says why"),
        (NO_TURN, "no turn", "; about 4 minutes more: --resume"),
    ):
        given = with_rows(case(0), [row(who, None, note) for who in variants(18)])
        for width in (60, 80):
            (line,) = remarked(replace(given, minutes=4), width)
            assert cell_len(line) <= width
            assert line.startswith(f"18 {heading}: floor")
            assert line.endswith(f" and others{end}")


def test_how_a_system_failed_stands_below_the_table_where_it_fits() -> None:
    how = "was ended by signal 9 (SIGKILL) without answering"
    given = with_rows(case(0), [row(variants(1)[0], None, how)])
    assert remarked(given) == [f"1 failed: floor: {how}"]
    assert remarked(given, 60) == ["1 failed: floor: was ended by signal 9 (SIGKILL) without an…"]
    assert remarked(given, 40) == ["1 failed: floor; the report says why"]
    assert re.search(r"^floor +failed ", printed(given), re.MULTILINE)


def test_why_a_run_was_not_valid_is_said_as_far_as_the_line_goes() -> None:
    how = "graph 0 timestep 3 point 5: its input 1 of 3 is that of point 4 at timestep 1, and should be at timestep 2"
    (line,) = remarked(with_rows(case(0), [row(variants(1)[0], None, how)]))
    assert line == "1 failed: floor: graph 0 timestep 3 point 5: its input 1 of 3 is that of point …"
    assert cell_len(line) == 80
    two = with_rows(case(0), [row(who, None, how) for who in variants(2)])
    assert remarked(two)[0].startswith("2 failed: floor, swift: graph 0 timestep 3 point 5: its input")


def test_who_had_no_turn_is_not_said_to_have_failed_and_how_much_more_time_it_needs_is() -> None:
    given = with_rows(case(0), [row(variants(1)[0], estimate(1e-6)), row(variants(2)[1], None, NO_TURN)])
    assert "1 no turn: swift; about 2 minutes more: --resume" in printed(replace(given, minutes=2))
    assert "1 no turn: swift; go on with --resume" in remarked(given)
    assert advice(replace(given, minutes=9), "./teff metg", "default")[0] == (
        "./teff metg --resume --minutes 9",
        "measures systems without a turn",
    )


@pytest.mark.parametrize("ends", [(0.0, math.inf), (1e-9, 1e-3)])
def test_an_unknown_interval_of_many_rounds_is_not_said_to_be_of_too_few(ends: tuple[float, float]) -> None:
    wild = replace(row(variants(1)[0], estimate(1e-6, low=ends[0], high=ends[1])), rounds=32)
    assert wild.metg is not None
    few = replace(row(variants(2)[1], replace(wild.metg, rounds=2)), rounds=32)
    given = with_rows(case(0), [wild, few])
    assert "too few runs" not in printed(given)
    assert re.search(r"^floor +1.00 µs \? +unknown ", printed(given), re.MULTILINE)
    assert remarked(given) == ["unknown: floor: 32 rounds differ too much, swift: 2 of 32 rounds count"]
    assert remarked(given, 60) == ["unknown: floor: 32 rounds differ too much and others"]
    assert headings(given) == ["unknown interval", "drift"]
    assert (
        "floor (32 rounds differ too much), swift (2 of 32 rounds count): only rounds with calm"
        in caveats(given)[0].text
    )
    assert [command for command, _ in advice(given, "./teff metg", "default")] == [
        "./teff systems doctor",
        "./teff metg --resume --minutes 15",
    ]


def test_an_unknown_interval_is_said_to_be_of_too_few_runs() -> None:
    unknown = [estimate(1e-6, low=0.0, high=math.inf), estimate(1e-6, low=1e-9, high=1e-3)]
    given = with_rows(case(0), [row(who, each) for who, each in zip(variants(2), unknown, strict=True)])
    assert printed(given).count("too few runs") == 2
    assert "more minutes: 2 of 2 intervals are unknown; 5 rounds more may tell" in printed(given)
    assert remarked(given, 60) == ["more minutes: 2 of 2 intervals are unknown"]
    assert "∞" not in printed(given)


@pytest.mark.parametrize("rounds", [1, 2])
def test_an_interval_of_two_rounds_is_unknown_however_narrow_it_is(rounds: int) -> None:
    one, two = variants(2)
    few = row(one, replace(estimate(1e-6, 0.02), rounds=rounds))
    given = with_rows(case(0), [few, row(two, estimate(2e-6, 0.04))])
    assert re.search(r"^floor +1.00 µs \? +too few runs ", printed(given), re.MULTILINE)
    assert re.search(r"^swift +2.00 µs +1.92 – 2.08 µs ", printed(given), re.MULTILINE)
    assert re.search(r"^ +floor +1.00 µs \? +too few runs ", shown(series_table([given])), re.MULTILINE)
    assert f"more minutes: 1 of 2 intervals is unknown; {4 - rounds} rounds more may tell" in printed(given)
    assert last_sentence(given) == (
        "Give swift tasks of at least 2.00 µs: with these it keeps the cores half busy; "
        "too little is known yet of floor."
    )


@pytest.mark.parametrize(
    "unknown", [Interval(681e-6, 37e-9, 12.5), Interval(681e-6, 0.0, math.inf), Interval(681e-6, 300e-6, 690e-6)]
)
def test_an_overhead_that_is_not_known_to_a_factor_of_two_has_a_question_mark(unknown: Interval) -> None:
    given = row(variants(1)[0], estimate(1.4e-3))
    assert "681 µs ?" in printed(with_rows(case(0), [replace(given, overhead=unknown)]))
    known = Interval(681e-6, 400e-6, 1.3e-3)
    assert re.search("681 µs  ", printed(with_rows(case(0), [replace(given, overhead=known)])))
    assert "681 µs ?" in printed(with_rows(case(0), [replace(given, overhead=known, rounds=2)]))


def test_while_it_measures_a_missing_interval_is_said_to_be_missing() -> None:
    value = Interval(1.32e-6, 1.32e-6 * 0.96, 1.32e-6 * 1.04)
    assert summary([Progress("stencil", value, 0.04, 2)]) == "1.32 µs (no interval yet)"
    assert summary([Progress("stencil", value, 0.04, 3)]) == "1.32 µs ± 4.0 %"


def closed(rows: Sequence[tuple[float, float]]) -> str:
    """The sentence on systems of these METGs with so wide intervals."""
    people = [replace(who, id=name) for who, name in zip(variants(len(rows)), "abcde", strict=False)]
    made = [row(who, estimate(*each)) for who, each in zip(people, rows, strict=True)]
    return last_sentence(with_rows(case(0), made))


def test_the_last_sentence_sets_the_best_beside_the_median() -> None:
    first = "On this machine a keeps the cores half busy with tasks of 1.00 µs"
    assert closed([(1e-6, 0.05), (2e-6, 0.05), (24e-6, 0.05), (1e-3, 0.05), (2e-3, 0.05)]) == (
        f"{first}; c, the median of 5, needs 24.0 µs, 21.8 to 26.5 times as long."
    )
    assert closed([(1e-6, 0.05), (2e-6, 0.05)]) == f"{first}; b needs 2.00 µs, 1.81 to 2.21 times as long."
    assert closed([(1e-6, 0.05)]) == "Give a tasks of at least 1.00 µs: with these it keeps the cores half busy."


def test_the_last_sentence_says_what_the_rounds_say_and_not_what_the_two_intervals_would() -> None:
    given = with_rows(
        case(0), [row(who, estimate(each, 0.6)) for who, each in zip(variants(2), (1e-6, 2e-6), strict=True)]
    )
    assert " (so may swift)." in last_sentence(given)
    assert sentence(given, lambda _a, _b: Interval(2.0, 1.46, 2.74)).endswith(
        "; swift needs 2.00 µs, 1.46 to 2.74 times as long."
    )
    assert " (so may swift)." in sentence(given, lambda _a, _b: Interval(2.0, 0.9, 4.4))


def test_the_last_sentence_has_the_ratio_that_compare_prints(laboratory: Callable[..., Path]) -> None:
    root = laboratory(quick=(1e-6, "fine"), slow=(4e-6, "fine"))
    estimates = sat(root, plan("quick", "slow"), Silent(), rounds=4, name="default")
    ((found,),) = (each.comparisons for each in answer(Registry(root), "slow", "quick", None).answers)
    ends = f"{quantities.digits(found.ratio.low)} to {quantities.digits(found.ratio.high)} times as long"
    last_words = estimates.closing("metg", "default")
    assert last_words is not None
    assert ends in " ".join(shown(last_words).split())


def test_the_last_sentence_says_who_may_be_as_good_and_what_is_not_known() -> None:
    rows = [(1e-6, 0.05), (1.02e-6, 0.05), (24e-6, 0.05)]
    assert closed(rows).endswith(" with tasks of 1.00 µs (so may b).")
    assert last_sentence(with_rows(case(0), [])) == "No system has a value yet."
    bound = row(variants(1)[0], estimate(1e-6, relation=">"))
    assert last_sentence(with_rows(case(0), [bound])).startswith("No system was seen")
    assert "75 % busy" in last_sentence(replace(case(2), threshold=0.75))


@pytest.mark.parametrize("ends", [(0.0, math.inf), (0.9e-6, math.inf), (1e-9, 1e-3)])
def test_the_last_sentence_has_no_ratio_of_what_has_no_interval(ends: tuple[float, float]) -> None:
    one, two, three = variants(3)
    quick, slow = row(two, estimate(2e-6)), row(three, estimate(24e-6))
    unsure = row(one, replace(estimate(1e-6), low=ends[0], high=ends[1]))
    assert last_sentence(with_rows(case(0), [unsure])) == (
        "Too little is known yet of floor to say how small a task may be."
    )
    first = "On this machine swift keeps the cores half busy with tasks of 2.00 µs"
    doubt = "; too little is known yet of floor."
    alone = "Give swift tasks of at least 2.00 µs: with these it keeps the cores half busy"
    assert last_sentence(with_rows(case(0), [unsure, quick])) == f"{alone}{doubt}"
    bound = row(three, replace(estimate(1e-7, relation="<"), low=0.0, high=math.inf))
    assert last_sentence(with_rows(case(0), [bound, unsure])).startswith("Too little is known yet of 2 systems")
    assert last_sentence(with_rows(case(0), [unsure, quick, slow])) == (
        f"{first}; swift/other_1 needs 24.0 µs, 10.9 to 13.2 times as long{doubt}"
    )


@pytest.mark.parametrize("others", [[], [row(variants(2)[1], estimate(1e-6, 0.04))]])
def test_where_one_has_failed_the_advice_is_to_try_again(others: list[MetgRow]) -> None:
    given = with_rows(case(0), [*others, row(variants(1)[0], None, "was ended by signal 9 (SIGKILL)")])
    assert advice(given, "./teff metg", "mine")[0] == (
        "./teff metg --resume --store mine",
        "tries failed systems again",
    )


@pytest.mark.parametrize("note", [NO_TURN, ELSEWHERE])
def test_who_was_not_measured_here_has_not_failed(note: str) -> None:
    one, two = variants(2)
    given = with_rows(case(0), [row(one, estimate(1e-6, 0.04)), row(two, None, note)])
    assert advice(given, "./teff metg", "mine")[0] == (
        "./teff metg --resume --minutes 5 --store mine",
        "measures systems without a turn",
    )


def test_what_to_try_next_suits_what_was_seen() -> None:
    one, two = variants(2)
    sound = with_rows(case(0), [row(one, estimate(1e-6, 0.04)), row(two, estimate(2e-6, 0.04))])
    assert [command for command, _ in advice(sound, "./teff metg", "default")] == [
        "./teff compare swift floor",
        "./teff sweep --systems floor,swift",
    ]
    wide = with_rows(sound, [row(who, estimate(1e-6, 0.3)) for who in variants(2)])
    assert advice(wide, "./teff metg", "mine")[0][0] == "./teff metg --resume --minutes 15 --store mine"
    noisy = with_rows(sound, [replace(each, noisy_share=0.5) for each in sound.rows])
    assert advice(noisy, "./teff metg", "default")[0][0] == "./teff systems doctor"
    assert len(advice(with_rows(sound, []), "./teff metg", "default")) == 2


def test_the_last_words_fit_the_terminal() -> None:
    people = [replace(who, id=f"{who.id}/of_a_rather_long_name") for who in variants(3)]
    given = with_rows(case(0), [row(who, estimate(1e-6, 0.04)) for who in people])
    said = sentence(given, by_ends(given)), suggestions(given, "./teff metg", "default")
    lines = shown(LastWords(*said), 80).splitlines()
    assert max(map(cell_len, lines)) <= 80
    assert lines[-3].startswith("Try next:")


def test_markup_in_a_name_is_no_markup() -> None:
    who = replace(variants(1)[0], title="Odd [bold]name[/]", version="[red]1[/]")
    assert "Odd [bold]name[/]  [red]1[/]" in printed(with_rows(case(1), [row(who, estimate(1e-6))]), 140)


def test_everything_odd_about_a_row_is_a_caveat() -> None:
    assert headings(troubled()) == [
        "failed",
        "note",
        "upper bound",
        "lower bound",
        "open interval",
        "wide interval",
        "under 1000 timesteps",
        "above the ceiling",
        "drift",
    ]


@pytest.mark.parametrize("ends", [(0.0, math.inf), (1e-9, 1e-3)])
def test_what_the_table_calls_too_few_runs_the_report_does_too(ends: tuple[float, float]) -> None:
    unknown = replace(estimate(1e-6), low=ends[0], high=ends[1], drift=None)
    given = with_rows(case(0), [row(variants(1)[0], unknown)])
    assert "too few runs" in printed(given)
    assert headings(given) == ["too few runs"]
    assert headings(with_rows(case(0), [row(variants(1)[0], replace(unknown, rounds=2))])) == ["few rounds"]


def test_a_sound_case_has_no_caveat_but_the_drift() -> None:
    who = variants(2)
    sound = MeasuredCase("s", "", 0.5, tuple(row(each, estimate(1e-6, 0.04)) for each in who), (curve(who[0], 1e-6),))
    assert headings(sound) == ["drift"]


def test_a_speed_that_is_hardly_known_is_said_so() -> None:
    vague = with_rows(case(0), [row(variants(1)[0], replace(estimate(1e-6, 0.04), drift=1.2))])
    (said,) = caveats(vague)
    assert said.text.startswith("The machine's mean speed over the sitting is not known to a factor of two. ")


def test_runs_at_another_distance_of_the_cores_never_count() -> None:
    """Runs of long tasks don't count, either: the distance of the cores changes them, too."""
    moved = replace(with_rows(case(0), []), curves=(), round_trip=55e-9, share=0.57)
    (said,) = caveats(moved)
    assert said.text == (
        "The host moved the cores during the sitting. Only the 57 % of the runs count here in which a cache line "
        "took about 55.0 ns from one core to its neighbour and back."
    )


@pytest.mark.parametrize("rounds", [1, 2])
def test_few_rounds_are_a_caveat(rounds: int) -> None:
    metg = replace(estimate(1e-6, 0.3), rounds=rounds, drift=None)
    assert headings(with_rows(case(0), [row(variants(1)[0], metg)])) == ["few rounds"]


def test_much_noise_and_unsteady_ceilings_are_caveats() -> None:
    first, second = (row(who, estimate(1e-6, 0.04)) for who in variants(2))
    rows = [replace(first, noisy_share=0.4), replace(second, ceiling=interval(70e9, 0.01))]
    found = {each.heading: each for each in caveats(with_rows(case(0), rows))}
    assert "floor (40 %)" in found["noisy"].text
    assert "between 70.0 GFLOP/s and 92.1 GFLOP/s" in found["unsteady ceiling"].text


def test_ceilings_of_cores_and_of_an_accelerator_are_not_compared() -> None:
    first, second = (row(who, estimate(1e-6, 0.04)) for who in variants(2))
    far = replace(second, variant=replace(second.variant, ceiling="far_ceiling"), ceiling=interval(70e12, 0.01))
    assert ceiling_spread([first, far]) is None
    assert "unsteady ceiling" not in headings(with_rows(case(0), [first, far]))
    unsteady = replace(far, ceiling=interval(35e12, 0.01))
    found = {each.heading: each.text for each in caveats(with_rows(case(0), [first, far, unsteady]))}
    assert "between 35.0 TFLOP/s and 70.0 TFLOP/s" in found["unsteady ceiling"]
    ceiling = ceiling_of(with_rows(case(0), [far, first]))
    assert ceiling is not None
    assert first.ceiling is not None
    assert ceiling.value == first.ceiling.value, "the line in a picture of both is that of the cores"


def test_what_holds_of_the_whole_sitting_is_said_once() -> None:
    base = sitting()
    machine = base.machine.model_copy(
        update={"hypervisor": "KVM", "cgroup_quota_cores": 1.5, "governor": "powersave"}
    )  # fmt: skip
    spoilt = base.model_copy(update={"machine": machine, "revision": Revision(commit=None, dirty=False)})
    damage = [Damage(Path("records.jsonl"), 7, "torn line")]
    found = {each.heading: each.text for each in sitting_caveats(spoilt, *noisy_runs(case(2), case(1)), damage)}
    assert list(found) == ["noisy runs", "virtual machine", "quota", "clock", "no revision", "unreadable"]
    assert found["noisy runs"].startswith("15 of 192 runs (7.8 %)")
    (calm,) = sitting_caveats(
        base, *noisy_runs(with_rows(case(0), [replace(each, noisy_share=0.0) for each in case(2).rows])), []
    )[:1]
    assert (calm.heading, calm.text) == ("noisy runs", "None of 128 runs.")
    assert found["unreadable"].startswith("records.jsonl:7: torn line")


def test_a_clean_sitting_on_bare_metal_has_nothing_to_be_said_against_it() -> None:
    clean = sitting().model_copy(update={"revision": Revision(commit="a" * 40, dirty=False)})
    assert sitting_caveats(clean, 0, 0, []) == []


def test_json_holds_rows_curves_and_caveats_and_no_infinity() -> None:
    given = troubled()
    read = json.loads(json_lines([to_json(given)]))
    assert (read["name"], read["threshold"]) == ("spread", 0.5)
    assert [each["metg"]["relation"] if each["metg"] else None for each in read["rows"]] == [
        "<", "=", "=", "=", "=", ">", None,
    ]  # fmt: skip
    assert read["rows"][3]["metg"]["high"] is None
    assert [len(each["points"]) for each in read["curves"]] == [len(each.points) for each in given.curves]
    assert "lower bound" in [each["heading"] for each in read["caveats"]]


def test_an_interval_open_at_both_ends_is_not_written_as_numbers() -> None:
    assert quantities.duration_range(0.0, math.inf) == "too few runs"
    assert quantities.duration_range(1e-9, 2e-6) == "too few runs"
    assert quantities.duration_range(1e-6, math.inf) == "> 1.00 µs"
    assert quantities.duration_range(0.0, 2e-6) == "< 2.00 µs"


def test_systems_that_are_missing_for_one_reason_share_a_caveat() -> None:
    unmeasured = [row(each, None, NO_TURN) for each in variants(2)]
    (found,) = caveats(with_rows(case(0), unmeasured))
    assert (found.heading, found.text) == ("no turn", "floor, swift: no turn in the time")


def test_a_curve_says_where_launches_differ_so_much_that_nothing_is_known() -> None:
    given = case(1)
    (curve,) = given.curves
    wild = replace(curve.points[0], efficiency=Interval(0.5, 0.0, 4e6))
    known = replace(curve.points[1], efficiency=Interval(0.5, 0.25, 1.5))
    text = shown(curve_table(replace(given, curves=(replace(curve, points=(wild, known)),))))
    assert text.count("too few runs") == 1
    assert "25 – 150 %" in text


def test_the_points_of_a_curve_stand_beside_the_size_of_the_task_that_they_are_sorted_by() -> None:
    lines = shown(curve_table(case(1))).splitlines()
    (curve,) = case(1).curves
    size = WorkAxis(case(1))
    assert size.title in lines[1]
    ticks = [size.tick(size.of(point)) for point in sorted(curve.points, key=size.of)]
    assert [line.startswith(tick) for line, tick in zip([each.strip() for each in lines[3:]], ticks, strict=False)] == [
        True
    ] * len(ticks)


def test_the_head_of_a_curves_table_breaks_between_flags_alone() -> None:
    configuration = "-type stencil_1d -width 2 -kernel compute_bound --no-validate -fraction 0.25"
    for width in range(40, 100):
        text = io.StringIO()
        Console(file=text, width=width).print(Heading("Efficiency – stencil_1d", configuration))
        lines = text.getvalue().splitlines()
        assert max(map(len, lines)) <= width
        assert " ".join(" ".join(lines).split()) == f"Efficiency – stencil_1d {configuration}"
        for pair in ("-type stencil_1d", "-kernel compute_bound", "-fraction 0.25"):
            assert any(pair in line for line in lines), (width, lines)


def test_a_table_of_curves_has_four_remarks_at_most_and_names_the_others() -> None:
    given = troubled()
    text = shown(curve_table(given), 200)
    remarked = [line for line in text.splitlines() if " – " in line and not line.startswith("Efficiency")]
    headings = [each.heading for each in caveats(given)]
    assert len(headings) > 4
    told = [line for line in remarked if line.partition(" – ")[0] in headings or "more in the report" in line]
    assert len(told) == 4
    assert told[-1].endswith(", ".join(headings[-2:]))


def test_curves_end_with_the_size_from_which_on_the_cores_are_busy_and_what_to_try_next() -> None:
    one, two = variants(2)
    given = replace(case(2), rows=())
    said = curve_sentence(given)
    assert said.startswith("Of the sizes measured, tasks of ")
    assert f"the smallest that leave half of the cores' rate, on {one.id}; on {two.id} they have to be of" in said
    (command, _), *_ = curve_suggestions(given, "mine")
    assert command.startswith("./teff metg --systems ")
    assert command.endswith(" --store mine")
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
    said = f"oo little is known yet of {sure.variant.id} to say which tasks leave half of the cores' rate."
    assert curve_sentence(replace(given, curves=(unknown,))) == f"T{said}"
    beside = curve_sentence(replace(given, curves=(unknown, other)))
    assert beside.endswith(f" are the smallest that leave half of the cores' rate, on {other.variant.id}. T{said}")


def test_curves_name_the_first_size_that_reaches_the_rate_with_its_whole_interval() -> None:
    given = replace(case(2), rows=())
    curve = given.curves[0]
    points = sorted(curve.points, key=lambda each: each.granularity.value)
    doubtful = next(each for each, one in enumerate(points) if one.efficiency.low >= 0.5)
    points[doubtful] = replace(points[doubtful], efficiency=Interval(0.55, 0.45, 0.65))
    said = curve_sentence(replace(given, curves=(replace(curve, points=tuple(points)),)))
    assert f"tasks of {quantities.duration(points[doubtful + 1].granularity.value)} are the smallest" in said
