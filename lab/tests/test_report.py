"""The report: one file with every number and caveat, that a browser opens offline and whose curves can be greyed."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page

from cases import case, curve, estimate, measured, row, troubled, variants
from samples import sitting
from tefflab.benchmarks.task_graph.pictures import efficiency_chart, metg_chart, rate_chart
from tefflab.benchmarks.task_graph.tables import Measured, curve_section, metg_section, value_text
from tefflab.output.charts.looks import NIGHT, contrast
from tefflab.output.report import write_report
from tefflab.output.sections import absences
from tefflab.records.store import Damage


def written(folder: Path, *cases: Measured, damage: list[Damage] | None = None) -> Path:
    file = folder / "new" / "report.html"
    sections = [make(each) for each in cases for make in (metg_section, curve_section)]
    pictures = [draw(each) for each in cases for draw in (metg_chart, efficiency_chart, rate_chart)]
    absent = absences([row for each in cases for row in each.rows])
    write_report(file, sitting(), damage or [], "A <title> & more", sections, pictures, absent, (5, 64))
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


def test_it_says_every_metg_caveat_and_fact_without_a_script(tmp_path: Path) -> None:
    shown = troubled()
    text = prose(written(tmp_path, shown, damage=[Damage(Path("records.jsonl"), 17, "torn line")]))
    for each in shown.rows:
        assert each.variant.title in text
        assert value_text(each) in text
    for said in ("thin lines join the dots, the medians", "> 19.0 ms", "signal 11", "noisy runs: 5 of 64 runs (7.8 %)"):
        assert said in text
    for said in ("records.jsonl:17: torn line", "changed source", "Sample CPU (x86_64)", "teff metg", "gcc 12"):
        assert said in text


def test_its_pictures_are_there_without_a_script_and_each_dot_says_its_numbers(tmp_path: Path) -> None:
    source = written(tmp_path, case(3)).read_text(encoding="utf-8")
    assert source.count("<svg ") == 3
    (tip, *_) = re.findall(r"<title>(swift: [^<]*iterations[^<]*)</title>", source)
    for said in ("a task (", "efficiency", "GFLOP/s"):
        assert said in tip


def test_it_names_no_address_outside_itself(tmp_path: Path) -> None:
    addresses = read(written(tmp_path, case(3), troubled())).addresses
    assert addresses
    assert all(each == "data:," or each.startswith("#") for each in addresses)


def test_names_and_reasons_are_text_and_never_markup(tmp_path: Path) -> None:
    odd = replace(variants(1)[0], title="</script><b>Odd</b> & co", version="<i>1</i>")
    rows = [row(odd, estimate(1e-6)), row(variants(2)[1], None, note="<script>alert(1)</script>")]
    source = written(tmp_path, measured("<n>", rows, [curve(odd, 1e-6)], "-flag <c>")).read_text(encoding="utf-8")
    for markup in ("<b>Odd", "<i>1", "<script>alert", "<n>", "<c>", "<title> &"):
        assert markup not in source
    assert "&lt;/script&gt;&lt;b&gt;Odd" in source


@pytest.mark.parametrize("shown", [[], [case(0)], [measured("none", [row(variants(1)[0], None, note="it died")])]])
def test_nothing_measured_is_a_report_too(tmp_path: Path, shown: list[Measured]) -> None:
    assert "The machine" in prose(written(tmp_path, *shown))


def test_the_same_sitting_gives_the_same_bytes(tmp_path: Path) -> None:
    assert written(tmp_path / "a", troubled()).read_bytes() == written(tmp_path / "b", troubled()).read_bytes()


def test_every_colour_of_a_picture_is_readable_on_a_dark_ground(tmp_path: Path) -> None:
    source = written(tmp_path, case(9)).read_text(encoding="utf-8")
    nightly = dict(re.findall(r'\[fill="(#[0-9a-f]{6})"\] \{ fill: ([^;]*);', source))
    assert set(re.findall(r'fill="(#[0-9a-f]{6})"', source)) == nightly.keys()
    colors = [each for each in nightly.values() if each.startswith("#")]
    assert len(colors) >= 5
    assert all(contrast(each, NIGHT) >= 4.5 for each in colors)


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


def grey(picture: Locator) -> set[str]:
    """The names of what is grey."""
    return {(each.get_attribute("aria-label") or "").split(":")[0] for each in picture.locator(".grey").all()}


@pytest.mark.browser
def test_a_click_on_the_legend_greys_a_curve_with_all_its_dots_and_another_brings_it_back(visit: Visit) -> None:
    picture = visit.page.locator(".picture").nth(1)
    button = picture.get_by_role("button", name="heron", exact=True)
    assert grey(picture) == set()
    button.click()
    assert grey(picture) == {"heron"}
    assert picture.locator(".grey").count() > 10
    assert button.get_attribute("aria-pressed") == "false"
    button.press("Enter")
    assert grey(picture) == set()
    assert button.get_attribute("aria-pressed") == "true"


@pytest.mark.browser
def test_nothing_is_wider_than_the_window_but_a_picture_that_scrolls(visit: Visit) -> None:
    for width in (320, 400, 640, 1152, 1280, 1920):
        visit.page.set_viewport_size({"width": width, "height": 800})
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width, f"at {width}"


@pytest.mark.browser
def test_it_is_printed_on_white_in_the_colours_of_the_files(visit: Visit) -> None:
    visit.page.emulate_media(media="print")
    assert visit.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    name = visit.page.locator(".picture text[font-weight=bold]").first
    assert name.evaluate("each => getComputedStyle(each).fill") == "rgb(27, 31, 36)"


@pytest.mark.browser
def test_no_text_of_a_picture_is_cut_off_or_lies_on_another(visit: Visit) -> None:
    faults = visit.page.evaluate(
        """() => [...document.querySelectorAll('.picture > svg')].flatMap(svg => {
            const edge = svg.getBoundingClientRect();
            const boxes = [...svg.querySelectorAll('text')].filter(text => text.textContent)
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
