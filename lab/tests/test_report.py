"""The report: one file with every number and caveat, that a browser opens offline and whose curves can be toggled."""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page
from tefflab.analysis.results import MeasuredCase
from tefflab.benchmarks.task_graph.caveats import caveats
from tefflab.benchmarks.task_graph.readings import value_text
from tefflab.benchmarks.task_graph.report import strips, write_metg_report

from cases import case, curve, estimate, row, troubled, variants, with_rows
from samples import sitting
from tefflab.analysis.statistics import Interval
from tefflab.records.store import Damage


def written(folder: Path, *cases: MeasuredCase, damage: list[Damage] | None = None) -> Path:
    file = folder / "new" / "report.html"
    write_metg_report(file, sitting(), cases, damage or [], "A <title> & more")
    return file


class _Text(HTMLParser):
    """The page for a reader without scripts, and every address that it names."""

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.addresses: list[str] = []
        self._silent = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent = tag in ("script", "style")
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "action", "data")]

    def handle_endtag(self, _tag: str) -> None:
        self._silent = False

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.text.append(data)


def read(file: Path) -> _Text:
    parser = _Text()
    parser.feed(file.read_text(encoding="utf-8"))
    return parser


def prose(file: Path) -> str:
    return re.sub(r"\s+", " ", "".join(read(file).text).replace("\xa0", " "))


def data_of(file: Path) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', file.read_text(encoding="utf-8"))
    assert found
    return json.loads(found[1])


def test_it_says_every_metg_caveat_and_fact_without_a_script(tmp_path: Path) -> None:
    given = troubled()
    text = prose(written(tmp_path, given, damage=[Damage(Path("records.jsonl"), 17, "torn line")]))
    assert "Thin: a smooth fit to the dots" in text
    for each in given.rows:
        assert each.variant.title in text
        assert value_text(each) in text
    for said in (
        "> 8.57 µs",
        "signal 11",
        "lower bound – magpie/other_1",
        "under 1000 timesteps – magpie (100)",
        "7.8 %",
    ):
        assert said in text
    for said in ("records.jsonl:17: torn line", "changed source", "Sample CPU (x86_64)", "teff metg", "gcc 12"):
        assert said in text


def test_it_names_no_address_outside_itself(tmp_path: Path) -> None:
    addresses = read(written(tmp_path, case(3), troubled())).addresses
    assert addresses
    assert all(each == "data:," or each.startswith("#") for each in addresses)


def test_each_link_leads_somewhere(tmp_path: Path) -> None:
    file = written(tmp_path, case(3), troubled())
    ids = re.findall(r'\bid="([^"]+)"', file.read_text(encoding="utf-8"))
    assert len(ids) == len(set(ids))
    assert {each[1:] for each in read(file).addresses if each.startswith("#")} <= set(ids)


def test_names_and_reasons_are_text_and_never_markup(tmp_path: Path) -> None:
    odd = replace(variants(1)[0], title="</script><b>Odd</b> & co", version="<i>1</i>")
    rows = [row(odd, estimate(1e-6)), row(variants(2)[1], None, note="<script>alert(1)</script>")]
    file = written(tmp_path, MeasuredCase("<n>", "<c>", 0.5, tuple(rows), (curve(odd, 1e-6),)))
    source = file.read_text(encoding="utf-8")
    for markup in ("<b>Odd", "<i>1", "<script>alert", "<n>", "<c>", "<title> &"):
        assert markup not in source
    assert data_of(file)["sections"][0][0]["lines"][0]["name"] == odd.title


def test_what_is_drawn_lies_inside_its_axes(tmp_path: Path) -> None:
    for section in data_of(written(tmp_path, case(14), troubled()))["sections"]:
        for chart in section:
            for line in chart["lines"]:
                assert len(line["points"]) == len(line["texts"])
                parts = [line["points"], line["fitted"], line["band"], *line["beyond"]]
                assert all(0 <= place <= 1 for part in parts for point in part for place in point)


def test_at_most_eight_curves_are_told_by_name_the_best_of_each_system_first(tmp_path: Path) -> None:
    (section,) = data_of(written(tmp_path, case(14)))["sections"]
    for chart in section:
        assert len(chart["told"]) == 8
        assert not any("/" in name for name in chart["told"])
        assert chart["told"] == [line["id"] for line in chart["lines"] if line["id"] in chart["told"]]
    (few,) = data_of(written(tmp_path, case(3)))["sections"]
    assert few[0]["told"] == [line["id"] for line in few[0]["lines"]]


def test_the_headline_names_the_smallest_and_who_is_level_with_it(tmp_path: Path) -> None:
    rows = [row(who, estimate(value)) for who, value in zip(variants(3), (1e-6, 1.05e-6, 3e-6), strict=True)]
    text = prose(written(tmp_path, with_rows(case(0), rows)))
    level = "Not to be told apart from it: swift. "
    smallest = "1.00 µs is the smallest METG(50 %) on stencil_1d: floor (Floor),"
    assert f"{smallest} 95 % interval 0.952 – 1.05 µs. {level}" in text
    assert "Not to be told apart" not in prose(written(tmp_path, with_rows(case(0), rows[::2])))
    unknown = replace(rows[0], metg=estimate(1e-6, low=0.0, high=math.inf))
    text = prose(written(tmp_path, with_rows(case(0), [unknown, rows[1]])))
    assert "1.05 µs is the smallest METG(50 %) on stencil_1d: swift" in text
    assert "is the smallest" not in prose(written(tmp_path, with_rows(case(0), [unknown])))
    vague = replace(rows[1], metg=estimate(1.05e-6, low=0.0, high=math.inf))
    assert "Not to be told apart" not in prose(written(tmp_path, with_rows(case(0), [rows[0], vague])))
    large = replace(rows[1], metg=estimate(3e-6, low=0.0, high=4e-6))
    assert "Not to be told apart" not in prose(written(tmp_path, with_rows(case(0), [rows[0], large])))


def test_what_is_hardly_known_is_neither_the_headline_nor_a_plain_number(tmp_path: Path) -> None:
    one, two = variants(2)
    few = replace(row(one, replace(estimate(1e-6), rounds=2)), overhead=Interval(681e-9, 37e-12, 12.5e-3))
    given = with_rows(case(0), [few, row(two, estimate(2e-6))])
    text = prose(written(tmp_path, given))
    assert "2.00 µs is the smallest METG(50 %) on stencil_1d: swift" in text
    assert "1.00 µs ? too few runs " in text
    assert " 681 ns ? " in text
    vague, sound = strips(given.rows)[1]
    assert (vague.low, vague.high, vague.overhead) == (vague.metg, vague.metg, None)
    assert sound.overhead is not None


def test_an_open_interval_has_an_arrow_at_its_open_end(tmp_path: Path) -> None:
    in_key = 1
    who = variants(1)[0]
    for ends, arrows in (({}, 0), ({"low": 0.0}, 1), ({"high": math.inf}, 1)):
        source = written(tmp_path, with_rows(case(0), [row(who, estimate(1e-6, **ends))])).read_text(encoding="utf-8")
        assert source.count('class="arrow"') == in_key + arrows


def test_each_caveat_on_rows_is_marked_in_these_rows(tmp_path: Path) -> None:
    source = written(tmp_path, troubled()).read_text(encoding="utf-8")
    rows = [each for each in source.split("<tr role") if "rowheader" in each]
    for number, caveat in enumerate((each for each in caveats(troubled()) if each.variants), start=1):
        marked = [f'href="#case-0-note-{number}"' in each for each in rows]
        assert marked == [row.variant.id in caveat.variants for row in troubled().rows]


def test_several_cases_are_shown_at_a_glance(tmp_path: Path) -> None:
    assert "At a glance" in prose(written(tmp_path, case(3), case(2, "radix 5")))
    assert "At a glance" not in prose(written(tmp_path, case(3)))


@pytest.mark.parametrize("given", [[], [case(0)], [with_rows(case(0), [row(variants(1)[0], None)])]])
def test_nothing_measured_is_a_report_too(tmp_path: Path, given: list[MeasuredCase]) -> None:
    assert "How these numbers were made" in prose(written(tmp_path, *given))


def test_the_same_sitting_gives_the_same_bytes(tmp_path: Path) -> None:
    assert written(tmp_path / "a", troubled()).read_bytes() == written(tmp_path / "b", troubled()).read_bytes()


class Visit:
    """A page, its requests to the network, and its complaints."""

    def __init__(self, page: Page, file: Path) -> None:
        self.page, self.file = page, file
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(file.as_uri())
        page.wait_for_selector(".plot svg")


@pytest.fixture(params=["light at 1280", "dark at 400"])
def visit(browser: Browser, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Visit]:
    scheme, _, width = request.param.split()
    page = browser.new_page(viewport={"width": int(width), "height": 800}, color_scheme=scheme)
    yield Visit(page, written(tmp_path, case(9), troubled()))
    page.close()


@pytest.mark.browser
def test_it_opens_from_a_file_without_a_request_or_a_complaint(visit: Visit) -> None:
    assert visit.requests == [visit.file.as_uri()]
    assert visit.complaints == []
    assert visit.page.title() == "A <title> & more"


@pytest.mark.browser
def test_half_of_a_laptops_screen_gets_a_table_and_a_telephone_cards(browser: Browser, tmp_path: Path) -> None:
    page = browser.new_page()
    page.goto(written(tmp_path, troubled()).as_uri())
    shown = "each => getComputedStyle(each).display"
    for width, row_is, columns in (
        (1280, "table-row", 8),
        (1100, "table-row", 8),
        (683, "table-row", 5),
        (400, "grid", 0),
    ):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.locator(".ranked tbody tr").first.evaluate(shown) == row_is, width
        assert sum(each.is_visible() for each in page.locator(".ranked thead").first.locator("th").all()) == columns
        assert page.evaluate("document.documentElement.scrollWidth") == width
    page.close()


def grey(section: Locator) -> list[str]:
    """The ids of the curves that are grey, in both charts."""
    return [each.get_attribute("data-curve") or "" for each in section.locator(".curve.grey").all()]


def flags(section: Locator) -> list[str]:
    return sorted(each.get_attribute("data-flag") or "" for each in section.locator(".flag").all())


@pytest.mark.browser
def test_a_click_on_the_legend_makes_a_curve_grey_in_both_charts_and_another_tells_it_by_name(visit: Visit) -> None:
    section = visit.page.locator("#case-0")
    button = section.get_by_role("button", name="heron")
    before = grey(section)
    assert "heron" not in before
    assert flags(section).count("heron") == 2
    button.click()
    assert sorted(grey(section)) == sorted([*before, "heron", "heron"])
    assert "heron" not in flags(section)
    assert button.get_attribute("aria-pressed") == "false"
    assert all(each.is_visible() for each in section.locator(".curve .stroke").all())
    button.click()
    assert grey(section) == before
    assert button.get_attribute("aria-pressed") == "true"


@pytest.mark.browser
def test_one_curve_can_be_told_by_name_alone_and_then_all_and_those_of_before(visit: Visit) -> None:
    section = visit.page.locator("#case-0")
    before = flags(section)
    section.get_by_role("button", name="heron").dblclick()
    assert flags(section) == ["heron", "heron"]
    section.get_by_role("button", name="all by name").click()
    assert grey(section) == []
    assert len(flags(section)) == 18
    assert section.get_by_role("button", name="all by name").count() == 0
    section.get_by_role("button", name="as at first").click()
    assert flags(section) == before
    assert section.get_by_role("button", name="as at first").count() == 0


@pytest.mark.browser
def test_a_grey_curve_stays_grey_when_the_window_changes(visit: Visit) -> None:
    section = visit.page.locator("#case-0")
    section.get_by_role("button", name="heron").click()
    before = section.locator(".plot svg").first.get_attribute("viewBox")
    visit.page.set_viewport_size({"width": 700, "height": 800})
    visit.page.wait_for_function(
        "before => document.querySelector('.plot svg').getAttribute('viewBox') !== before", arg=before
    )
    assert "heron" in grey(section)


@pytest.mark.browser
def test_a_point_tells_its_numbers_to_the_pointer(visit: Visit) -> None:
    dot = visit.page.locator('#case-0 .curve[data-curve="heron"] .dot').nth(6)
    dot.scroll_into_view_if_needed()
    box = dot.bounding_box()
    assert box
    visit.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tip = visit.page.locator("#case-0 .tip")
    for said in ("Heron", "a task (", "efficiency", "GFLOP/s", "iterations, 5 runs"):
        assert said in tip.inner_text()
    visit.page.mouse.move(0, 0)
    assert tip.count() == 0


@pytest.mark.browser
def test_nothing_is_wider_than_the_window(visit: Visit) -> None:
    for width in (320, 400, 640, 1152, 1153, 1280, 1920):
        visit.page.set_viewport_size({"width": width, "height": 800})
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width, f"at {width}"


@pytest.mark.browser
def test_no_control_is_printed_but_the_legend_is(visit: Visit) -> None:
    controls = visit.page.locator("button:not(.series), summary, .control")
    assert any(each.is_visible() for each in controls.all())
    visit.page.emulate_media(media="print")
    assert [each.inner_text() for each in controls.all() if each.is_visible()] == []
    assert all(each.is_visible() for each in visit.page.locator("button.series").all())
    printed = visit.page.locator("body").inner_text()
    assert "Grey: curves not told by name." in printed
    assert "Choose here" not in printed


@pytest.mark.browser
def test_nothing_is_wider_than_a_printed_page_and_it_is_printed_on_white(visit: Visit) -> None:
    visit.page.emulate_media(media="print")
    visit.page.set_viewport_size({"width": 680, "height": 1000})  # of a sheet of A4, without its margins
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 680
    assert visit.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


@pytest.mark.browser
def test_no_text_of_a_chart_is_cut_off_or_lies_on_another(visit: Visit) -> None:
    faults = visit.page.evaluate(
        """() => [...document.querySelectorAll('.plot > svg')].flatMap(svg => {
            const edge = svg.getBoundingClientRect();
            const boxes = [...svg.querySelectorAll('text')]
                .map(text => [text.textContent, text.getBoundingClientRect()]);
            const out = boxes.filter(([, b]) => b.left < edge.left - 1 || b.right > edge.right + 1
                || b.top < edge.top - 1 || b.bottom > edge.bottom + 1).map(([text]) => `${text} is cut off`);
            const over = boxes.flatMap(([one, a], i) => boxes.slice(i + 1)
                .filter(([, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0
                    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4)
                .map(([other]) => `${one} lies on ${other}`));
            return [...out, ...over];
        })"""
    )
    assert faults == []


@pytest.mark.browser
def test_without_scripts_the_points_are_listed(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(written(tmp_path, case(2)).as_uri())
    page.locator("summary").click()
    assert page.locator(".points li").first.is_visible()
    context.close()
