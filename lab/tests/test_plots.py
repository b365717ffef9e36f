"""The pictures: no text is cut off or covered, colour is never alone, the same data gives the same bytes."""

import math
import random
import xml.etree.ElementTree as ET
from base64 import b64decode
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations, pairwise, permutations
from pathlib import Path

import numpy as np
import pytest
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from tefflab.analysis.results import CaseRow, Curve, CurvePoint, MeasuredCase
from tefflab.benchmarks.task_graph.pictures import footer
from tefflab.benchmarks.task_graph.pictures.curves import efficiency_chart, rate_chart
from tefflab.benchmarks.task_graph.pictures.metg import metg_chart, metg_dots_chart, metg_lines_chart

from cases import case, curve, estimate, row, troubled, variant, variants, with_rows
from samples import sitting
from tefflab.analysis.crossing import Relation
from tefflab.analysis.statistics import Interval, MetgEstimate
from tefflab.benchmarks.case_rows import median_of_rounds
from tefflab.output.plots.flags import levels
from tefflab.output.plots.intervals import band
from tefflab.output.plots.lines import TIME, Quantity, Varied, varied_chart, workers_chart
from tefflab.output.plots.looks import NIGHT, PAPER, contrast, looks, readable
from tefflab.output.plots.ratios import RatioRow, ratios_chart
from tefflab.output.plots.sheet import MARKERS, PALE, SMALL, save, text_width, wrap
from tefflab.output.quantities import size
from tefflab.output.report import TableSection

FOOTER = footer(sitting(), [case(3)])
CHARTS = [metg_chart, efficiency_chart, rate_chart]
CASES = {
    "one system": case(1),
    "fourteen systems": case(14),
    "bounds, open ends and failures": troubled(),
    "no system": MeasuredCase("nothing", "", 0.5, (), ()),
    "nothing measured": with_rows(case(0), [row(variants(1)[0], None, note="why " * 60)]),
    "a long name": MeasuredCase("w" * 150, "-flag value " * 40, 0.75, troubled().rows, troubled().curves),
}


def texts(figure: Figure) -> list[tuple[str, Bbox]]:
    """Every text that is drawn, with its box in pixels, laid out as `save` does it."""
    with rc_context({"text.hinting": "none"}):
        figure.canvas.draw()
        return [
            (text.get_text(), text.get_window_extent())
            for text in figure.findobj(Text)
            if isinstance(text, Text) and text.get_visible() and text.get_text().strip()
        ]


def assert_legible(figure: Figure) -> None:
    found = texts(figure)
    assert found
    sheet = figure.bbox
    for text, box in found:
        assert sheet.x0 <= box.x0 < box.x1 <= sheet.x1 + 0.5, f"{text!r} is cut off at a side"
        assert sheet.y0 <= box.y0 < box.y1 <= sheet.y1 + 0.5, f"{text!r} is cut off above or below"
    for (one, a), (other, b) in combinations(found, 2):
        width = min(a.x1, b.x1) - max(a.x0, b.x0)
        height = min(a.y1, b.y1) - max(a.y0, b.y0)
        assert width <= 0.5 or height <= 0.3 * min(a.height, b.height), f"{one!r} lies on {other!r}"


def marks(figure: Figure) -> list[tuple[str, float, float]]:
    """Marker, x and y of every mark in the axes."""
    return [
        (str(line.get_marker()), float(x), float(y))
        for line in figure.axes[0].get_lines()
        if line.get_marker() not in ("None", "", None)
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
    ]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("chart", CHARTS)
def test_no_text_is_cut_off_or_lies_on_another(chart: Callable[[MeasuredCase, str], Figure], name: str) -> None:
    assert_legible(chart(CASES[name], FOOTER))


@pytest.mark.parametrize("count", [1, 3, 14])
@pytest.mark.parametrize("xs", [[float(each) for each in range(10)], [16.0 * 4**each for each in range(10)]])
def test_no_text_of_a_varied_parameter_lies_on_another(xs: Sequence[float], count: int) -> None:
    cases = [case(count, f"radix {x:g}", 1 + number / 3) for number, x in enumerate(xs)]
    texts = "{:g}".format if xs[0] == 0 else lambda x: size(int(x))
    assert_legible(metg_lines_chart(cases, "dependencies per task", xs, FOOTER, x_text=texts))


def test_a_ratio_whose_interval_says_nothing_is_a_mark_and_stretches_no_axis() -> None:
    to, other = variants(2)
    told, vague = Interval(0.8, 0.5, 1.2), Interval(0.9, 1e-6, 1e4)
    rows = [RatioRow("told", {other.id: told}), RatioRow("vague", {other.id: vague})]
    figure = ratios_chart(rows, to, [other], "Ratios", "Time", FOOTER)
    assert_legible(figure)
    low, high = figure.axes[0].get_xlim()
    assert 0.01 < low < high < 100
    assert sorted(x for _, x, _ in marks(figure)) == [0.8, 0.9]
    spans = [
        line for line in figure.axes[0].get_lines() if len(set(line.get_xdata())) == 2 and line.get_marker() == "None"
    ]
    assert [tuple(line.get_xdata()) for line in spans if line.get_xdata()[0] != 1.0] == [(0.5, 1.2)]


@pytest.mark.parametrize("launches", [1, 2, 3])
def test_a_band_takes_as_many_launches_as_an_interval(launches: int) -> None:
    who = variants(1)[0]
    times = [median_of_rounds({number: [x * (1 + 0.01 * number)] for number in range(launches)}) for x in (1.0, 2.0)]
    rows = [
        CaseRow(who, "knot", workers, time, None, "floor", {}, launches, 0.0, "")
        for workers, time in zip((1, 2), times, strict=True)
    ]
    varied = Varied("ranks", [(1.0, "1"), (2.0, "2")], [[each] for each in rows], [{who.id: time} for time in times])
    figures = [
        workers_chart(rows, "Knots", "Time", FOOTER),
        varied_chart(varied, "Knots", "Time", FOOTER, quantity=TIME),
    ]
    for figure in figures:
        assert_legible(figure)
        has_band = any(
            not np.isnan(path.vertices).any() and len(path.vertices)
            for each in figure.axes[0].collections
            for path in each.get_paths()
        )
        hollow = [line for line in figure.axes[0].get_lines() if line.get_markerfacecolor() == PAPER]
        assert has_band == (launches == 3)
        assert len(hollow) == (0 if has_band else 2)
        assert any("Hollow marks have no interval" in text for text, _ in texts(figure)) != has_band


@pytest.mark.parametrize("count", [0, 1, 14])
def test_no_text_of_a_category_lies_on_another(count: int) -> None:
    cases = [case(count, f"pattern_{number}", 1 + number / 3) for number in range(count)]
    assert_legible(metg_dots_chart([*cases, troubled()], "METG(50 %) by pattern", FOOTER))


def test_every_system_is_marked_at_its_metg_and_overhead() -> None:
    given = case(9)
    drawn = marks(metg_chart(given))
    times = [x for _, x, _ in drawn]
    for each in given.rows:
        assert each.metg
        assert each.overhead
        assert times.count(each.metg.value) == 1
        assert times.count(each.overhead.value) == 1


def test_an_overhead_that_is_hardly_known_has_no_mark() -> None:
    given = case(2)
    vague = replace(given.rows[0], overhead=Interval(61e-9, 1e-9, 1e-3))
    times = [x for _, x, _ in marks(metg_chart(with_rows(given, [vague, given.rows[1]])))]
    assert 61e-9 not in times
    assert given.rows[1].overhead
    assert given.rows[1].overhead.value in times


def test_the_smallest_metg_stands_on_top() -> None:
    given = case(5)
    heights = {x: y for _, x, y in marks(metg_chart(given))}
    order = [heights[each.metg.value] for each in given.rows if each.metg]
    assert order == sorted(order, reverse=True)


@pytest.mark.parametrize(("relation", "arrows"), [("=", 0), ("<", 1), (">", 1)])
def test_a_bound_has_an_arrow(relation: str, arrows: int) -> None:
    rows = [row(variants(1)[0], estimate(1e-6, relation=relation))]  # type: ignore[arg-type]
    figures = [
        metg_chart(with_rows(case(1), rows)),
        metg_lines_chart([with_rows(case(1), rows)], "radix", [1]),
        metg_dots_chart([with_rows(case(1), rows)], "by pattern"),
    ]
    for figure in figures:
        drawn = [each for each in figure.axes[0].texts if getattr(each, "arrow_patch", None) is not None]
        assert len(drawn) == arrows


def test_metg_is_marked_on_the_threshold_unless_it_is_a_bound() -> None:
    given = troubled()
    on_it = [x for _, x, y in marks(efficiency_chart(given)) if y == given.threshold]
    drawn = {each.variant.id for each in given.curves}
    assert sorted(on_it) == [
        row.metg.value for row in given.rows if row.metg and row.metg.relation == "=" and row.variant.id in drawn
    ]


def test_the_line_of_the_picture_is_the_one_that_metg_is_read_from() -> None:
    given = case(5)
    drawn = [list(zip(line.get_xdata(), line.get_ydata(), strict=True)) for line in given_lines(given)]  # type: ignore[arg-type]
    for curve_ in given.curves:
        fitted = [(each.granularity, each.efficiency) for each in curve_.trace if each.band]
        assert fitted
        assert drawn.count(fitted) == 1


def test_the_thin_lines_are_said_to_be_fits_and_never_fall() -> None:
    given = case(5)
    for line in given_lines(given):
        if line.get_marker() == "None" and len(line.get_xdata()) > 2:  # type: ignore[arg-type]
            heights = [float(each) for each in line.get_ydata()]  # type: ignore[union-attr]
            assert all(low <= high * 1.001 for low, high in pairwise(heights))
    for chart in (efficiency_chart, rate_chart):
        said = " ".join(text for text, _ in texts(chart(given)))
        assert "thin: a smooth fit to the dots" in said.replace("\n", " ")


def test_a_band_is_drawn_whole_or_not_at_all_and_then_a_note_says_so() -> None:
    given = case(2)
    first, second = given.curves
    wide = [number for number, each in enumerate(first.trace) if each.band][-1]
    vague = replace(first.trace[wide], band=(0.5, 0.9))
    curves = (replace(first, trace=(*first.trace[:wide], vague, *first.trace[wide + 1 :])), second)
    for shown, bands, note in ((given, 2, False), (replace(given, curves=curves), 1, True)):
        figure = efficiency_chart(shown)
        assert len(figure.axes[0].patches) == bands
        said = [text for text, _ in texts(figure) if text.startswith("No band")]
        assert said == [f"No band, for it would be too wide to say anything: {first.variant.id}."] * note


def given_lines(given: MeasuredCase) -> list[Line2D]:
    return efficiency_chart(given).axes[0].get_lines()


def test_no_line_joins_the_points() -> None:
    dots = [line for line in given_lines(case(5)) if len(line.get_xdata()) > 1 and line.get_marker() != "None"]  # type: ignore[arg-type]
    assert len(dots) == 5
    assert all(line.get_linestyle() == "None" for line in dots)


def test_at_most_eight_systems_are_told_by_name_at_their_curves_and_the_others_are_grey() -> None:
    given = case(14)
    figure = efficiency_chart(given)
    names = [text for text, _ in texts(figure)]
    ids = [each.variant.id for each in given.rows]
    told = [name for name in ids if name in names]
    assert len(told) == 8
    assert not any("/" in name for name in told)
    assert f"Grey: {', '.join(name for name in ids if name not in told)}." in " ".join(names)
    assert [line.get_color() for line in figure.axes[0].get_lines()].count(PALE) == 6


@pytest.mark.parametrize("seed", range(50))
def test_no_flag_lies_on_another_or_on_a_pole(seed: int) -> None:
    chance = random.Random(seed)
    starts = [chance.uniform(0, 7) for _ in range(1 + seed % 20)]
    widths = [chance.uniform(0.3, 2) for _ in starts]
    rows = levels(starts, widths)
    for (x, width, row_), (other, _, lower) in permutations(zip(starts, widths, rows, strict=True), 2):
        if x < other < x + width:  # the pole of `other` is below this flag, and so is the flag of `other`
            assert lower < row_


def test_empty_tasks_are_in_no_curve_of_efficiency() -> None:
    assert all(y > 0 for _, _, y in marks(efficiency_chart(case(3))))


def test_the_problem_size_is_in_iterations_where_a_kernel_counts_no_work() -> None:
    points = tuple(
        CurvePoint(n, Interval(1e-6, 1e-6, 1e-6), Interval(0.5, 0.5, 0.5), Interval(1e6, 1e6, 1e6), 0.0, 5, 0)
        for n in (1, 10, 100)
    )
    figure = rate_chart(MeasuredCase("busy", "", 0.5, (), (Curve(variants(1)[0], "task/s", points),)))
    assert [x for _, x, _ in marks(figure)] == [1.0, 10.0, 100.0]
    assert any("iterations" in text for text, _ in texts(figure))


def test_the_ceiling_is_drawn_where_its_unit_is_that_of_the_rates() -> None:
    assert any("the ceiling, 92.1 GFLOP/s" in text for text, _ in texts(rate_chart(case(2))))
    other = case(2)
    curves = tuple(Curve(each.variant, "B/s", each.points) for each in other.curves)
    figure = rate_chart(MeasuredCase("memory", "", 0.5, other.rows, curves))
    assert not any("the ceiling," in text for text, _ in texts(figure))


def test_a_line_breaks_where_a_system_was_not_measured() -> None:
    who = variants(1)[0]
    rows = [estimate(1e-6), None, estimate(2e-6)]
    cases = [with_rows(case(1), [row(who, each)]) for each in rows]
    figure = metg_lines_chart(cases, "radix", [1, 2, 3])
    assert max(len(line.get_xdata()) for line in figure.axes[0].get_lines()) == 1  # type: ignore[arg-type]


def test_dots_that_would_touch_stand_on_levels_of_their_own() -> None:
    rows = [row(who, estimate(1e-6)) for who in variants(4)]
    drawn = marks(metg_dots_chart([with_rows(case(4), rows)], "by pattern"))
    heights = sorted(y for _, _, y in drawn)
    assert len(heights) == 4
    assert all(above - below > 0.1 for below, above in pairwise(heights))


def test_colour_is_never_alone() -> None:
    known = looks(variants(7)).values()
    assert len({(each.dash, each.shape) for each in known}) == 7
    assert {each.shape for each in known} == set(MARKERS)


@pytest.mark.parametrize("number", range(2, 15))
def test_no_two_variants_of_a_system_look_alike(number: int) -> None:
    known = looks(replace(each, color="#d55e00" if i % 2 else "#0072b2") for i, each in enumerate(variants(number)))
    assert len({(each.color, each.shape) for each in known.values()}) == number


def test_a_variant_looks_the_same_in_whatever_order_it_comes() -> None:
    assert looks(variants(14)) == looks(reversed(variants(14)))


def test_a_variant_has_the_same_mark_beside_few_others_as_alone() -> None:
    every = variants(7)
    together = looks(every[:3])
    kept = [each for each in every[:3] if looks([each])[each.id] == together[each.id]]
    assert len(kept) >= 2, "a mark changes only where another variant has it"


def test_a_variant_has_one_mark_in_all_pictures_of_a_case() -> None:
    given = troubled()
    (crossing,) = [marker for marker, x, y in marks(efficiency_chart(given)) if (x, y) == (1e-3, 0.5)]
    (dot,) = [marker for marker, x, _ in marks(metg_chart(given)) if x == 1e-3]
    assert crossing == dot


@pytest.mark.parametrize("ground", [PAPER, NIGHT])
@pytest.mark.parametrize("color", ["#ffffff", "#000000", "#F0E442", "#0072B2", "#555555", "#15181c"])
def test_every_colour_is_made_to_be_seen_on_its_ground(color: str, ground: str) -> None:
    assert contrast(readable(color, ground), ground) >= (3 if ground == PAPER else 4.5)


def test_a_colour_that_is_seen_already_is_kept() -> None:
    assert readable("#0072b2", PAPER) == "#0072b2"


def test_text_is_broken_between_words_and_a_word_only_where_it_must_be() -> None:
    assert wrap("one two", 10, SMALL) == ["one two"]
    assert wrap("one two", text_width("one tw", SMALL), SMALL) == ["one", "two"]
    parts = wrap("w" * 50, 1.0, SMALL)
    assert len(parts) > 1
    assert "".join(parts) == "w" * 50
    assert all(text_width(part, SMALL) <= 1.0 for part in parts)


def test_the_same_case_gives_the_same_bytes(tmp_path: Path) -> None:
    first = [file.read_bytes() for file in save(efficiency_chart(troubled(), FOOTER), tmp_path / "a")]
    again = [file.read_bytes() for file in save(efficiency_chart(troubled(), FOOTER), tmp_path / "b.svg")]
    assert first == again
    assert b"<dc:date>" not in first[0]


def test_a_picture_is_written_as_svg_and_png_under_a_name_with_dots(tmp_path: Path) -> None:
    svg, png = save(metg_chart(case(2), FOOTER), tmp_path / "new" / "radix 2.5")
    assert (svg.name, png.name) == ("radix 2.5.svg", "radix 2.5.png")
    assert ET.parse(svg).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert png.read_bytes().startswith(b"\x89PNG")


def test_a_report_holds_a_picture_as_svg_without_its_date() -> None:
    drawn, again = (TableSection("one", figure=metg_chart(case(2), FOOTER)).picture for _ in range(2))
    svg = b64decode(drawn)
    assert ET.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    assert drawn == again
    assert b"<dc:date>" not in svg
    assert TableSection("none").picture == ""


def test_the_footer_says_machine_time_revision_and_noise() -> None:
    assert (
        FOOTER.replace("\N{NO-BREAK SPACE}", " ")
        == "Sample CPU, 2 cores, 8 GiB, Linux 6.1.0 · 2026-11-20 22:00 UTC · teff abc+ · 15 of 192 runs noisy"
    )


def test_as_many_values_as_cases_are_asked_for() -> None:
    with pytest.raises(ValueError, match="1 values of radix for 2 cases"):
        metg_lines_chart([case(1), case(1)], "radix", [1])


def test_a_curve_alone_needs_no_table() -> None:
    alone = MeasuredCase("sweep", "", 0.5, (), (curve(variants(1)[0], 1e-6),))
    for chart in (efficiency_chart, rate_chart):
        assert_legible(chart(alone, FOOTER))


def test_an_interval_that_says_nothing_is_drawn_as_nothing() -> None:
    def known(low: float, high: float, relation: Relation = "=", rounds: int = 3) -> MetgEstimate:
        return MetgEstimate(1.0, low, high, relation, 10.0, None, rounds, 20)

    assert not math.isfinite(sum(band(known(0.0, math.inf), 0.1, 9.0)))
    assert not math.isfinite(sum(band(Interval(1.0, 0.0, math.inf), 0.1, 9.0)))
    assert not math.isfinite(sum(band(known(0.5, 2.0, rounds=2), 0.1, 9.0)))
    assert band(known(0.0, 2.0), 0.1, 9.0) == (0.1, 2.0)
    assert band(known(0.5, math.inf), 0.1, 9.0) == (0.5, 9.0)
    assert band(known(0.0, math.inf, "<"), 0.1, 9.0) == (1.0, 9.0)


def test_an_experiments_picture_has_its_title_and_names_who_is_missing() -> None:
    missing = replace(case(2), missing=((variant(9), "has died"),))
    drawn = efficiency_chart(missing, FOOTER, "Figure 7")
    words = " ".join(text for text, _ in texts(drawn))
    assert " Figure 7 " in words
    assert f"{variant(9).id}: has died" in words


def test_phases_are_shaded_where_the_best_line_is_good_and_beside() -> None:
    tasks, sharing = variants(2)
    rates = {tasks.id: [1e3, 2e3, 3e3, 2.8e3, 1e3], sharing.id: [2e3, 2.75e3, 2.9e3, 2e3, 0.5e3]}
    xs = [1.0, 2.0, 4.0, 8.0, 16.0]
    rows = [
        [CaseRow(who, "knot", 2, Interval(1, 0.9, 1.1), None, "floor", {}, 3, 0.0, "") for who in (tasks, sharing)]
        for _ in xs
    ]
    found = [{id_: Interval(own[i], 0.97 * own[i], 1.03 * own[i]) for id_, own in rates.items()} for i in range(5)]
    varied = Varied("tasks of a loop", [(x, f"{x:g}") for x in xs], rows, found)
    zones = Quantity(lambda value: f"{value:g} zones/s", more_is_better=True)
    figure = varied_chart(varied, "Zones", "Work a second", FOOTER, quantity=zones, phases=True)
    assert_legible(figure)
    assert {"too coarse", "good", "too fine"} <= {text for text, _ in texts(figure)}
    spans = [each for each in figure.axes[0].patches if isinstance(each, Rectangle) and each.get_height() == 1]
    assert [round(each.get_x(), 2) for each in spans[1:]] == [1.41, 11.31]  # beside 2 and beside 8
