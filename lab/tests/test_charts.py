"""The pictures, read from their charts. All that was estimated is drawn where it lies, and colour is never alone. The
same data gives the same bytes."""

import math
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pypdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import case, curve, estimate, measured, row, troubled, variants, with_rows
from pictures import axis, data, parts, spec_of, words
from samples import sitting
from tefflab.analysis.curves import Curve, CurvePoint
from tefflab.analysis.rows import Row
from tefflab.analysis.statistics import Interval
from tefflab.benchmarks.task_graph import BENCHMARK
from tefflab.benchmarks.task_graph.estimates import GraphEstimates
from tefflab.benchmarks.task_graph.pictures import efficiency_chart, metg_chart, named, pictures, rate_chart
from tefflab.benchmarks.task_graph.plan import GraphPlan
from tefflab.benchmarks.task_graph.tables import Measured
from tefflab.errors import TeffError
from tefflab.output.charts.axes import linear_axis, log_axis, parameter_axis
from tefflab.output.charts.lines import values_chart
from tefflab.output.charts.looks import NIGHT, PAPER, SHAPES, contrast, looks, readable
from tefflab.output.charts.rows import rows_chart
from tefflab.output.charts.sheet import PALE, Head, Picture, save, save_pages, wrapped

CHARTS = [metg_chart, efficiency_chart, rate_chart]
CASES = {
    "one system": case(1),
    "fourteen systems": case(14),
    "bounds, open ends and failures": troubled(),
    "no system": measured("nothing", []),
    "nothing measured": with_rows(case(0), [row(variants(1)[0], None, note="why " * 60)]),
    "a long name": replace(troubled(), case=troubled().case.model_copy(update={"name": "w" * 150})),
}
HEAD = Head("Title", ["Meaning"], "Footer")
TEXTS = {1.0: "1", 2.0: "2", 3.0: "3"}


def of_cases(chart: str, cases: Sequence[Measured]) -> Picture:
    plan = GraphPlan(
        asks="metg", title="", variants=(), cases=tuple(each.case for each in cases), charts=(chart,), x_label="radix"
    )
    ((_, picture),) = pictures(plan, cases, "Footer")
    return picture


def values(rows: Sequence[Row]) -> Picture:
    return values_chart(rows, TEXTS, "radix", HEAD)


def marks(picture: Picture) -> list[dict[str, Any]]:
    """Of the plot, not of the legend."""
    return [each for each in data(picture, "fill", "said") if each["said"]]


def arrows(picture: Picture) -> list[tuple[float, int]]:
    """Where each is, and its turn."""
    return [(each["value"], each["turn"]) for each in data(picture, "arrow")]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("chart", CHARTS)
def test_every_case_can_be_drawn_and_its_texts_are_in_the_picture(
    chart: Callable[[Measured, str, str], Picture], name: str
) -> None:
    picture = chart(CASES[name], "", "machine and day")
    drawn = "".join(ET.fromstring(picture.svg).itertext())
    for said in (picture.title, "machine and day"):
        assert said.replace(" ", "") in drawn.replace(" ", "")
    assert "NaN" not in picture.svg


def test_every_system_is_marked_at_its_metg_and_overhead() -> None:
    shown = case(9)
    times = [each["value"] for each in marks(metg_chart(shown))]
    for each in shown.rows:
        overhead = shown.overhead(each)
        assert each.value
        assert overhead
        assert overhead.value
        assert times.count(each.value.value) == 1
        assert times.count(overhead.value.value) == 1


def test_an_overhead_that_is_hardly_known_has_no_mark() -> None:
    shown = case(2)
    first, second = shown.rows
    vague = replace(shown.beside[first.id, "overhead"], value=Interval(61e-9, 1e-9, 1e-3))
    times = [
        each["value"]
        for each in marks(metg_chart(replace(shown, beside={**shown.beside, (first.id, "overhead"): vague})))
    ]
    assert 61e-9 not in times
    known = shown.beside[second.id, "overhead"].value
    assert known
    assert known.value in times


def test_the_smallest_metg_stands_on_top_with_its_texts_in_the_same_line() -> None:
    shown = case(5)
    picture = metg_chart(shown)
    heights = {each["value"]: each["y"] for each in marks(picture)}
    order = [heights[each.value.value] for each in shown.rows if each.value]
    assert order == sorted(order)
    assert len(set(order)) == 5
    places = {each["text"]: each["y"] for each in data(picture, "text")}
    assert places["122 ns"] == places["117 – 129 ns"] == order[0]
    assert places["floor"] < order[0] < places["Floor"]


def test_a_failed_system_says_so_in_its_line_and_why_below() -> None:
    said = words(metg_chart(troubled()))
    assert "failed" in said
    assert "kestrel" in said
    assert any("kestrel: the program ended with signal 11" in text for text in said)
    assert "heron: two rounds were cut off by the time limit" in said


@pytest.mark.parametrize(("relation", "turns"), [("=", []), ("<", [180, 180, 90]), (">", [0, 0, 270])])
def test_a_bound_has_an_arrow_towards_the_truth(relation: str, turns: list[int]) -> None:
    shown = with_rows(case(1, x=1.0), [row(variants(1)[0], estimate(1e-6, relation=relation))])  # type: ignore[arg-type]
    drawn = [metg_chart(shown), of_cases("metg_dots", [shown]), of_cases("metg_lines", [shown])]
    assert [turn for picture in drawn for _, turn in arrows(picture)] == turns
    assert ("→" in " ".join(words(drawn[0]))) == bool(turns)


def test_an_interval_that_leaves_the_axis_is_drawn_to_its_end_with_an_arrow() -> None:
    who = variants(2)
    picture = metg_chart(with_rows(case(2), [row(who[0], estimate(1e-6)), row(who[1], estimate(2e-6, low=0.0))]))
    low = axis(picture, "x")["scale"]["domain"][0]
    (mark,) = [each for each in marks(picture) if each["value"] == 2e-6]
    assert mark["low"] == low
    assert arrows(picture) == [(low, 180)]


def test_a_value_whose_interval_says_nothing_is_hollow_and_stretches_no_axis() -> None:
    to, other = variants(2)
    told, vague = (
        replace(row(other, None), unit="1", value=value)
        for value in (Interval(0.8, 0.5, 1.2), Interval(0.9, 1e-6, 1e4))
    )
    picture = rows_chart({"told": [told], "vague": [vague]}, f"time / that of {to.title}", HEAD, rule=1.0)
    low, high = axis(picture, "x")["scale"]["domain"]
    assert 0.01 < low < high < 100
    assert [(each["value"], each["fill"] == PAPER, each["low"]) for each in marks(picture)] == [
        (0.8, False, 0.5),
        (0.9, True, None),
    ]
    assert any("Hollow marks have no interval" in text for text in words(picture))


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_a_band_takes_as_many_rounds_as_an_interval(rounds: int) -> None:
    rows = [
        replace(row(variants(1)[0], None), x=x, value=Interval(x, 0.9 * x, 1.1 * x).after(rounds)) for x in (1.0, 2.0)
    ]
    picture = values(rows)
    drawn = [each for each in marks(picture) if each["value"]]
    assert [each["low"] is not None for each in drawn] == [rounds == 3] * 2
    assert [each["fill"] == PAPER for each in drawn] == [rounds < 3] * 2
    assert any("Hollow marks have no interval" in text for text in words(picture)) == (rounds < 3)


def test_a_line_breaks_where_a_system_was_not_measured_and_a_note_says_why() -> None:
    who = variants(1)[0]
    rows = [
        replace(row(who, each, note=""), x=x)
        for x, each in zip(TEXTS, (estimate(1e-6), None, estimate(2e-6)), strict=True)
    ]
    rows[1] = replace(rows[1], note="has died", case="radix 2")
    picture = values(rows)
    drawn = {each["x"]: each["value"] for each in data(picture, "series")}
    assert drawn == {1.0: 1e-6, 2.0: None, 3.0: 2e-6}
    assert "floor: has died (radix 2)" in words(picture)


def test_the_legend_has_the_value_at_the_end_of_times_and_the_best_of_shares() -> None:
    one, two = variants(2)
    times = [
        replace(row(who, estimate(y)), x=x)
        for who, ys in ((one, (1.0, 2.0)), (two, (3.0, 1.5)))
        for x, y in zip(TEXTS, ys, strict=False)
    ]
    said = words(values(times))
    assert said.index("1.50 s at 2") < said.index("2.00 s at 2")
    shares = [
        replace(each, unit="1", value=each.value and replace(each.value, value=each.value.value / 4)) for each in times
    ]
    said = words(values(shares))
    assert said.index("75 % at 1") < said.index("50 % at 2")


def test_phases_are_shaded_where_the_best_line_is_good_and_beside() -> None:
    rates = [[1e3, 2e3, 3e3, 2.8e3, 1e3], [2e3, 2.75e3, 2.9e3, 2e3, 0.5e3]]
    xs = {x: f"{x:g}" for x in (1.0, 2.0, 4.0, 8.0, 16.0)}
    rows = [
        replace(row(who, None), x=x, unit="zones/s", value=Interval(y, 0.97 * y, 1.03 * y))
        for who, own in zip(variants(2), rates, strict=True)
        for x, y in zip(xs, own, strict=True)
    ]
    picture = values_chart(rows, xs, "tasks of a loop", HEAD, phases=True)
    assert {"too coarse", "good", "too fine"} <= set(words(picture))
    width = next(each["width"] for each in spec_of(picture)["vconcat"][0]["hconcat"])
    low, high = axis(picture, "x")["scale"]["domain"]
    shades = sorted((each for each in data(picture, "end") if "dash" not in each), key=lambda each: each["x"])
    edges = [low * (high / low) ** (each["end"] / width) for each in shades]
    assert [round(each, 2) for each in edges[:2]] == [1.41, 11.31]  # beside 2 and beside 8


def test_marks_that_would_touch_stand_on_levels_of_their_own() -> None:
    rows = [row(who, estimate(1e-6)) for who in variants(4)]
    heights = sorted(each["y"] for each in marks(of_cases("metg_dots", [with_rows(case(4), rows)])))
    assert len(heights) == 4
    assert all(below - above > 10 for above, below in pairwise(heights))


def test_the_last_line_of_ratios_stands_out() -> None:
    rows = [replace(row(who, estimate(1.1)), unit="1") for who in variants(2)]
    picture = rows_chart({"one": rows, "geometric mean": rows}, "ratio", HEAD, rule=1.0, bold="geometric mean")
    weights = {each["text"]: each["weight"] for each in data(picture, "text")}
    assert (weights["one"], weights["geometric mean"]) == ("normal", "bold")
    assert [part["data"] for part in parts(picture) if part["data"] == [{"value": 1.0}]]


def test_metg_is_marked_on_the_threshold_unless_it_is_a_bound() -> None:
    shown = troubled()
    drawn = {each.variant.id for each in shown.curves}
    first = next(each for each in shown.rows if each.value and each.relation == "=" and each.id in drawn)
    assert first.value
    vague = replace(first, value=replace(first.value, low=0.0, high=math.inf))
    shown = replace(shown, rows=[vague if each is first else each for each in shown.rows])
    on_it = {each["x"]: each for each in marks(efficiency_chart(shown)) if each["y"] == shown.threshold}
    known = {each.value.value: each for each in shown.rows if each.value and each.relation == "=" and each.id in drawn}
    assert sorted(on_it) == sorted(known)
    hollow = {x for x, each in on_it.items() if each["fill"] == PAPER}
    assert hollow == {x for x, each in known.items() if not each.is_told}
    assert len(hollow) < len(known)
    assert first.value.value in hollow


def strokes(picture: Picture) -> list[dict[str, Any]]:
    return [each for each in data(picture, "part") if each["thick"]]


def test_the_thick_line_is_the_one_that_metg_is_read_from() -> None:
    shown = case(5)
    drawn = [
        list(zip(each["x"], each["y"], strict=True)) for each in strokes(efficiency_chart(shown)) if each["thick"] > 2
    ]
    for each in shown.curves:
        fitted = [(point.granularity, point.efficiency) for point in each.trace if point.band]
        assert fitted
        assert drawn.count(fitted) == 1


def test_a_band_is_drawn_whole_or_not_at_all_and_then_a_note_says_so() -> None:
    shown = case(2)
    first, second = shown.curves
    wide = [number for number, each in enumerate(first.trace) if each.band][-1]
    vague = replace(first.trace[wide], band=(0.5, 0.9))
    curves = (replace(first, trace=(*first.trace[:wide], vague, *first.trace[wide + 1 :])), second)
    for each, bands, note in ((shown, 2, False), (replace(shown, curves=curves), 1, True)):
        picture = efficiency_chart(each)
        assert len([each for each in data(picture, "part") if not each["thick"]]) == bands
        said = [text for text in words(picture) if text.startswith("No band")]
        assert said == [f"No band, for it would be too wide to say anything: {first.variant.id}."] * note


def test_at_most_eight_curves_are_told_by_name_the_best_of_each_system_first_and_the_others_are_grey() -> None:
    shown = case(14)
    told = named(shown)
    picture = efficiency_chart(shown)
    said = words(picture)
    ids = [each.id for each in shown.rows]
    assert len(told) == 8
    assert not any("/" in name for name in told)
    assert [name for name in ids if name in said] == told
    assert f"Grey: {', '.join(name for name in ids if name not in told)}." in " ".join(said)
    assert len({each["said"] for each in strokes(picture) if each["color"] == PALE}) == 6
    assert named(case(3)) == [each.id for each in case(3).rows]


def test_a_dot_says_its_numbers_and_empty_tasks_are_in_no_curve() -> None:
    dots = [each for each in marks(efficiency_chart(case(3))) if each["size"] == 22]
    assert all(each["y"] > 0 for each in dots)
    for said in ("a task (", "efficiency", "GFLOP/s", "iterations, 5 runs"):
        assert said in dots[0]["said"]


def test_the_problem_size_is_in_iterations_where_a_kernel_counts_no_work() -> None:
    points = tuple(
        CurvePoint(n, Interval(1e-6, 1e-6, 1e-6), Interval(0.5, 0.5, 0.5), Interval(1e6, 1e6, 1e6), 0.0, 5, 0)
        for n in (1, 10, 100)
    )
    picture = rate_chart(measured("busy", [], [Curve(variants(1)[0], "task/s", points)]))
    assert [each["x"] for each in marks(picture)] == [1.0, 10.0, 100.0]
    assert "iterations" in axis(picture, "x")["axis"]["title"]


def test_the_ceiling_is_drawn_where_it_is_known() -> None:
    assert "the ceiling, 92.1 GFLOP/s" in " ".join(words(rate_chart(case(2))))
    curves = [replace(each, ceiling=None) for each in case(2).curves]
    assert "the ceiling," not in " ".join(words(rate_chart(replace(case(2), curves=curves))))


def test_a_curve_alone_needs_no_table() -> None:
    alone = measured("sweep", [], [curve(variants(1)[0], 1e-6)])
    for chart in (efficiency_chart, rate_chart):
        assert marks(chart(alone))


def test_an_experiments_picture_has_its_title_and_those_of_cases_their_names() -> None:
    shown = [case(2, "radix 1"), case(2, "radix 5")]
    plan = GraphPlan(
        asks="metg", title="Figure 7", variants=(), cases=tuple(each.case for each in shown), experiment="fig7"
    )
    drawn = dict(pictures(plan, shown, "Footer"))
    assert list(drawn) == ["fig7-radix-1", "fig7-radix-5", "fig7-efficiency-radix-1", "fig7-efficiency-radix-5"]
    assert [each.title for each in drawn.values()][::2] == ["Figure 7 – radix 1", "Efficiency – radix 1"]


def test_the_footer_says_machine_time_revision_and_noise() -> None:
    class Known(GraphEstimates):
        cases = (case(3),)

    asked = GraphPlan(asks="metg", title="", variants=(), cases=(case(3).case,), charts=("metg",))
    ((_, picture),) = Known(BENCHMARK, sitting(), asked, [], []).pictures()
    (foot,) = [text for text in words(picture) if "teff" in text]
    assert foot.replace("\N{NO-BREAK SPACE}", " ") == (
        "Sample CPU, 2 cores, 8 GiB, Linux 6.1.0 · 2026-11-20 22:00 UTC · teff abc+ · 15 of 192 runs noisy"
    )


def test_colour_is_never_alone() -> None:
    known = looks(variants(7)).values()
    assert len({(each["dash"], each["shape"]) for each in known}) == 7
    assert {each["shape"] for each in known} == set(SHAPES)


@pytest.mark.parametrize("number", range(2, 15))
def test_no_two_variants_of_a_system_look_alike(number: int) -> None:
    known = looks(replace(each, color="#d55e00" if i % 2 else "#0072b2") for i, each in enumerate(variants(number)))
    assert len({(each["color"], each["shape"]) for each in known.values()}) == number


def test_a_variant_looks_the_same_in_whatever_order_it_comes() -> None:
    assert looks(variants(14)) == looks(reversed(variants(14)))


def test_a_variant_has_the_same_mark_beside_few_others_as_alone() -> None:
    every = variants(7)
    together = looks(every[:3])
    kept = [each for each in every[:3] if looks([each])[each.id] == together[each.id]]
    assert len(kept) >= 2, "a mark changes only where another variant has it"


def test_a_variant_has_one_mark_in_all_pictures_of_a_case() -> None:
    shown = troubled()
    (crossing,) = [each["shape"] for each in marks(efficiency_chart(shown)) if (each["x"], each["y"]) == (1e-3, 0.5)]
    (dot,) = [each["shape"] for each in marks(metg_chart(shown)) if each["value"] == 1e-3]
    assert crossing == dot


@pytest.mark.parametrize("ground", [PAPER, NIGHT])
@pytest.mark.parametrize("color", ["#ffffff", "#000000", "#F0E442", "#0072B2", "#555555", "#15181c"])
def test_every_colour_is_made_to_be_seen_on_its_ground(color: str, ground: str) -> None:
    assert contrast(readable(color, ground), ground) >= (3 if ground == PAPER else 4.5)


def test_a_colour_that_is_seen_already_is_kept() -> None:
    assert readable("#0072b2", PAPER) == "#0072b2"


def test_text_is_broken_between_words_and_a_word_only_where_it_must_be() -> None:
    assert wrapped("one two", 1000) == ["one two"]
    assert wrapped("one two", 40) == ["one", "two"]
    parts_of = wrapped("w" * 50, 100)
    assert len(parts_of) > 1
    assert "".join(parts_of) == "w" * 50


@pytest.mark.parametrize("chart", CHARTS)
def test_the_same_case_gives_the_same_bytes(chart: Callable[[Measured], Picture], tmp_path: Path) -> None:
    first, again = ([file.read_bytes() for file in save(chart(troubled()), tmp_path / name)] for name in ("a", "b.svg"))
    assert first == again
    for name in ("a.pdf", "b.pdf"):
        save_pages([chart(troubled()), chart(case(2))], tmp_path / name)
    assert len(pypdf.PdfReader(tmp_path / "a.pdf").pages) == 2


def test_a_picture_is_written_as_svg_and_png_under_a_name_with_dots(tmp_path: Path) -> None:
    svg, png = save(metg_chart(case(2)), tmp_path / "new" / "radix 2.5")
    assert (svg.name, png.name) == ("radix 2.5.svg", "radix 2.5.png")
    assert ET.parse(svg).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert png.read_bytes().startswith(b"\x89PNG")


def test_no_picture_is_drawn_where_memory_is_limited_too_much(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _: (2**32, 2**32))
    with pytest.raises(TeffError, match="ulimit -v is 4194304, and pictures need 70000000: type ulimit -S -v 70000000"):
        save(metg_chart(case(2)), tmp_path / "a")


VALUES = st.lists(st.floats(1e-12, 1e12), min_size=1, max_size=5)


@given(VALUES)
def test_a_log_axis_holds_its_values_and_has_at_least_two_labels_and_not_too_many(values: list[float]) -> None:
    found = log_axis(values, "{:g}".format)
    assert all(found.low < value < found.high for value in values)
    assert 2 <= len([text for text in found.ticks.values() if text]) <= 7
    assert all(found.low <= tick <= found.high for tick in found.ticks)


@given(VALUES)
def test_a_value_is_placed_where_its_logarithm_lies_and_beyond_at_the_end(values: list[float]) -> None:
    found = log_axis(values, "{:g}".format)
    for value in values:
        assert math.isclose(found.low * (found.high / found.low) ** found.place(value), value, rel_tol=1e-9)
    assert [found.place(value) for value in (found.low / 2, math.inf)] == [0, 1]


@pytest.mark.parametrize("values", [[], [0.0], [math.inf]])
def test_nothing_to_show_is_shown_on_an_axis_all_the_same(values: list[float]) -> None:
    assert len(log_axis(values, "{:g}".format).ticks) >= 2


def test_short_axes_have_more_labels_in_a_decade_than_long_ones() -> None:
    def labels(*values: float) -> list[float]:
        return [tick for tick, text in log_axis(values, "{:g}".format, padding=0).ticks.items() if text]

    assert sorted(labels(1e-6, 4e-6)) == [1e-6, 1.5e-6, 2e-6, 3e-6]
    assert sorted(labels(1e-7, 1e-3)) == [1e-7, 1e-6, 1e-5, 1e-4, 1e-3]


@pytest.mark.parametrize(("most", "ticks"), [(1.0, 6), (0.95, 5), (3.1e9, 4), (7.0, 4)])
def test_an_axis_from_none_has_a_few_round_ticks(most: float, ticks: int) -> None:
    found = linear_axis(most, "{:g}".format)
    assert len(found.ticks) == ticks
    assert max(found.ticks) <= most < found.high


@pytest.mark.parametrize(
    ("xs", "is_log"), [((1, 2, 4), True), ((0, 2, 4), False), ((1, 2, 3), False), ((1, 60), True), ((5,), False)]
)
def test_a_parameter_that_grows_by_a_factor_is_drawn_by_its_logarithm(xs: tuple[float, ...], is_log: bool) -> None:
    found = parameter_axis({float(x): str(x) for x in xs}, "radix")
    assert found.is_log == is_log
    assert found.low < xs[0] <= xs[-1] < found.high


def test_no_two_looks_of_seven_systems_share_a_shape() -> None:
    known = looks(variants(7)).values()
    assert all(one["shape"] != other["shape"] for one, other in combinations(known, 2))


@pytest.mark.parametrize(("count", "is_below"), [(8, False), (9, True)])
def test_a_legend_of_many_stands_below_the_plot_which_then_takes_all_the_width(count: int, is_below: bool) -> None:
    rows = [row(who, estimate(1e-6 * (1 + number))) for number, who in enumerate(variants(count))]
    body = spec_of(rows_chart({"one line": rows}, "time", HEAD))["vconcat"][0]
    plot, names = body["vconcat" if is_below else "hconcat"]
    assert names["name"] == "legend"
    assert (plot["width"] > 600) == is_below
    assert names["height"] < 200
