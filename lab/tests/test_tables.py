"""The METG table and its footnotes, at all widths, and what programs read instead."""

import io
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console, RenderableType

from cases import case, curve, estimate, interval, row, troubled, variants, with_rows
from samples import sitting
from tefflab.analysis.results import MeasuredCase
from tefflab.analysis.statistics import Interval
from tefflab.host.machine import Revision
from tefflab.output import quantities
from tefflab.output.caveats import caveats, sitting_caveats
from tefflab.output.series_tables import curve_table
from tefflab.output.tables import MetgTable, to_json
from tefflab.records.store import Damage


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
    assert "…" not in text
    assert text.count("7.8 %") == sum(each.runs > 0 for each in given.rows)


def test_a_row_says_metg_interval_overhead_ceiling_rounds_and_noise() -> None:
    line = next(line for line in printed(case(4), 140).splitlines() if line.startswith("Heron"))
    assert line.split("  ")[0] == "Heron"
    for cell in ("2.2.6", "1.13 µs", "1.08 – 1.19 µs", "553 ns", "92.1 GFLOP/s", " 5 ", "7.8 %"):
        assert cell in line


def test_where_there_is_little_room_columns_become_lines_below() -> None:
    wide, narrow = printed(case(6), 140), printed(case(6), 80)
    for title in ("version ", "ceiling "):
        assert title in wide.splitlines()[2]
        assert title not in narrow.splitlines()[2]
    assert "versions – Floor 0.2.0 · Swift" in narrow
    assert "ceiling – 92.1 GFLOP/s" in narrow
    assert "versions –" not in wide


def test_colours_are_for_terminals_alone() -> None:
    plain, colored = printed(case(3)), printed(case(3), colored=True)
    assert "\x1b[" not in plain
    assert "●" not in plain
    assert "\x1b[38;2;0;114;178m●" in colored


def test_bounds_and_failures_are_said_in_their_rows() -> None:
    text = printed(troubled(), 120)
    for said in ("< 130 ns", "> 20.0 ms", "19.0 – ∞ ms", "not measured"):
        assert said in text


def test_each_footnote_is_marked_in_the_rows_it_is_on() -> None:
    lines = printed(troubled(), 160).splitlines()
    bound = next(line for line in lines if "lower bound" in line)
    marked = next(line for line in lines if line.startswith("Magpie loops"))
    assert bound[0] in marked
    assert bound[0] not in next(line for line in lines if line.startswith("Floor"))


def test_markup_in_a_name_is_no_markup() -> None:
    who = replace(variants(1)[0], title="Odd [bold]name[/]", version="[red]1[/]")
    assert "Odd [bold]name[/]" in printed(with_rows(case(1), [row(who, estimate(1e-6))]), 140)


def test_everything_odd_about_a_row_is_a_caveat() -> None:
    assert headings(troubled()) == [
        "not measured",
        "note",
        "upper bound",
        "lower bound",
        "open interval",
        "wide interval",
        "under 1000 timesteps",
        "above the ceiling",
        "drift",
    ]


def test_a_sound_case_has_no_caveat_but_the_drift() -> None:
    who = variants(2)
    sound = MeasuredCase("s", "", 0.5, tuple(row(each, estimate(1e-6, 0.04)) for each in who), (curve(who[0], 1e-6),))
    assert headings(sound) == ["drift"]


@pytest.mark.parametrize(("rounds", "heading"), [(1, "one round"), (2, "two rounds")])
def test_few_rounds_are_a_caveat(rounds: int, heading: str) -> None:
    metg = replace(estimate(1e-6, 0.3), rounds=rounds, drift=None)
    assert headings(with_rows(case(0), [row(variants(1)[0], metg)])) == [heading]


def test_much_noise_and_unsteady_ceilings_are_caveats() -> None:
    first, second = (row(who, estimate(1e-6, 0.04)) for who in variants(2))
    rows = [replace(first, noisy_share=0.4), replace(second, ceiling=interval(70e9, 0.01))]
    found = {each.heading: each for each in caveats(with_rows(case(0), rows))}
    assert "Floor (40 %)" in found["very noisy"].text
    assert "between 70.0 GFLOP/s and 92.1 GFLOP/s" in found["unsteady ceiling"].text


def test_what_holds_of_the_whole_sitting_is_said_once() -> None:
    base = sitting()
    machine = base.machine.model_copy(
        update={"hypervisor": "KVM", "cgroup_quota_cores": 1.5, "governor": "powersave"}
    )  # fmt: skip
    spoilt = base.model_copy(update={"machine": machine, "revision": Revision(commit=None, dirty=False)})
    damage = [Damage(Path("records.jsonl"), 7, "torn line")]
    found = {each.heading: each.text for each in sitting_caveats(spoilt, [case(2), case(1)], damage)}
    assert list(found) == ["noisy runs", "virtual machine", "quota", "clock", "no revision", "unreadable"]
    assert found["noisy runs"].startswith("15 of 192 runs (7.8 %)")
    assert found["unreadable"].startswith("records.jsonl:7: torn line")


def test_a_clean_sitting_on_bare_metal_has_nothing_to_be_said_against_it() -> None:
    clean = sitting().model_copy(update={"revision": Revision(commit="a" * 40, dirty=False)})
    assert sitting_caveats(clean, [], []) == []


def test_json_holds_rows_curves_and_caveats_and_no_infinity() -> None:
    given = troubled()
    text = to_json([given])
    (read,) = json.loads(text, parse_constant=pytest.fail)
    assert (read["name"], read["threshold"]) == ("spread", 0.5)
    assert [each["metg"]["relation"] if each["metg"] else None for each in read["rows"]] == [
        "<", "=", "=", "=", "=", ">", None,
    ]  # fmt: skip
    assert read["rows"][3]["metg"]["high"] is None
    assert [len(each["points"]) for each in read["curves"]] == [len(each.points) for each in given.curves]
    assert "lower bound" in [each["heading"] for each in read["caveats"]]


def test_an_interval_open_at_both_ends_has_no_unit() -> None:
    assert quantities.duration_range(0.0, math.inf) == "0 – ∞"
    assert quantities.duration_range(0.0, 2e-6) == "0 – 2.00 µs"


def test_systems_that_are_missing_for_one_reason_share_a_line() -> None:
    unmeasured = [replace(row(each, estimate(1e-6)), metg=None) for each in variants(2)]
    text = " ".join(printed(with_rows(case(2), unmeasured), 200).split())
    names = ", ".join(each.variant.title for each in unmeasured)
    assert f"not measured – {names}: the sitting ended before their turn" in text


def test_a_curve_says_where_launches_differ_so_much_that_nothing_is_known() -> None:
    given = case(1)
    (curve,) = given.curves
    wild = replace(curve.points[0], efficiency=Interval(0.5, 0.0, 4e6))
    known = replace(curve.points[1], efficiency=Interval(0.5, 0.25, 1.5))
    text = shown(curve_table(replace(given, curves=(replace(curve, points=(wild, known)),))))
    assert text.count("not known") == 1
    assert "25 – 150 %" in text
