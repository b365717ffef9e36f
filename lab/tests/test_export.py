"""`teff export`: the values of a store, in the formats of other programs."""

import csv
import io
import json
import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars
import pytest
from pypdf import PdfReader

from conftest import write_system
from samples import sitting
from simulated_sitting import variant
from tefflab.analysis.rows import ByRound, Row
from tefflab.analysis.statistics import Interval
from tefflab.cli.publishing import FORMATS, export
from tefflab.errors import InputError, TeffError
from tefflab.output.exports import Exported, to_parquet
from tefflab.systems.registry import Registry

DATA = Path(__file__).parent / "data" / "store"
PROGRAM = '[[program]]\nbenchmark = "spawn"\nname = "one"\ntitle = "one"\nprogram = "none"\n'


def value(low: float, high: float, **changes: Any) -> Exported:
    """A task of 2 µs, as one round says it."""
    of = Row(
        kind="spawn",
        variant=variant("a"),
        case="c",
        configuration="",
        quantity="a task",
        value=Interval(2e-6, low, high),
        rounds=3,
        noisy_share=0.25,
        samples=ByRound({1: [2e-6]}),
    )
    return Exported(sitting(), replace(of, **changes))


@pytest.fixture
def exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """The store of the tests, in a format."""
    shutil.copytree(DATA, tmp_path / "results" / "measured")
    write_system(tmp_path, "plain", PROGRAM)

    def printed(form: str) -> str:
        export(Registry(tmp_path), "measured", form, None)
        return capsys.readouterr().out

    return printed


def test_a_table_has_a_row_for_each_variant_and_case_of_each_kind(exported: Callable[[str], str]) -> None:
    rows = list(csv.DictReader(io.StringIO(exported("csv"))))
    metg = next(row for row in rows if row["variant"] == "quick" and row["quantity"].startswith("METG"))
    assert (metg["benchmark"], metg["relation"], metg["unit"]) == ("task_graph", "=", "s")
    assert float(metg["low"]) < float(metg["value"]) < float(metg["high"])
    assert metg["rounds"].isdigit()
    assert metg["machine"]
    assert metg["revision"]
    assert 0 <= float(metg["noisy_share"]) <= 1
    assert {row["quantity"] for row in rows if row["variant"] == "quick"} >= {"overhead", "a task"}
    places = [(row["variant"], row["case"], row["quantity"]) for row in rows]
    assert len(places) == len(set(places))


def test_markdown_has_as_many_lines_and_says_the_machine_once(exported: Callable[[str], str]) -> None:
    lines = exported("md").splitlines()
    assert len([line for line in lines if line.startswith("| ")]) == 2 + len(exported("csv").splitlines()) - 1
    assert len([line for line in lines if "UTC" in line]) == 2, "of the two sittings"


def read(form: str, text: str) -> dict[str, tuple[float, str]]:
    """The names, values and units that the reader of a format finds."""
    said: Any = json.loads(text)
    if form == "gbench":  # as its compare.py
        return {
            each["name"]: (each["real_time"], each["time_unit"])
            for each in said["benchmarks"]
            if each["run_type"] == "iteration" and each["cpu_time"] and each["iterations"]
        }
    if form == "github":  # as its extractCustomBenchmarkResult
        return {each["name"]: (each["value"], each["unit"]) for each in said}
    return {name: (measures["latency"]["value"], "ns") for name, measures in said.items()}


@pytest.mark.parametrize("form", ["gbench", "github", "bencher"])
def test_a_dashboard_finds_the_same_values_in_nanoseconds(form: str, exported: Callable[[str], str]) -> None:
    rows = csv.DictReader(io.StringIO(exported("csv")))
    wanted = {
        f"{row['variant']}: {row['case']}, {row['quantity']}": (pytest.approx(float(row["value"]) * 1e9), "ns")
        for row in rows
        if row["relation"] == "=" and row["unit"] == "s"
    }
    assert read(form, exported(form)) == wanted


def test_parquet_has_the_columns_of_the_csv(tmp_path: Path, exported: Callable[[str], str]) -> None:
    export(Registry(tmp_path), "measured", "parquet", tmp_path / "v.parquet")
    there = polars.read_parquet(tmp_path / "v.parquet")
    heads, *rows = csv.reader(io.StringIO(exported("csv")))
    assert (there.columns, there.height) == (heads, len(rows))


def test_parquet_takes_an_interval_after_many_rows_without_one(tmp_path: Path) -> None:
    to_parquet([*[value(0.0, math.inf)] * 200, value(1e-6, 3e-6)], tmp_path / "v.parquet")
    there = polars.read_parquet(tmp_path / "v.parquet")
    assert there["low"].to_list() == [None] * 200 + [1e-6]
    assert there["round_trip"].dtype == polars.Float64


def test_a_dashboard_gets_the_same_name_whatever_the_distance_of_the_cores() -> None:
    of = value(1e-6, 3e-6, where="cores 113 ns apart", round_trip=113e-9)
    assert (of.name, of.columns["round_trip"]) == ("a: c, a task", 113e-9)


def test_the_ending_of_a_file_is_its_format(tmp_path: Path, exported: Callable[[str], str]) -> None:
    for ending in (".md", ".CSV", ""):
        export(Registry(tmp_path), "measured", "", tmp_path / f"v{ending}")
        wanted = exported("md" if ending == ".md" else "csv")
        assert (tmp_path / f"v{ending}").read_text() == wanted
    with pytest.raises(InputError, match=r"v\.json: no format ends so; say one by --as: csv, md"):
        export(Registry(tmp_path), "measured", "", tmp_path / "v.json")


def test_pdf_has_a_page_for_each_picture(tmp_path: Path, exported: Callable[[str], str]) -> None:
    del exported
    export(Registry(tmp_path), "measured", "pdf", tmp_path / "a.pdf")
    assert len(PdfReader(tmp_path / "a.pdf").pages) == 4, "METG and efficiency of a graph, and two spawn patterns"


def test_an_open_end_is_empty_and_a_bound_is_said_to_be_one() -> None:
    of = value(0.0, math.inf).columns
    assert (of["low"], of["high"], of["rounds"], of["noisy_share"]) == (None, None, 1, 0.25)
    assert value(0.0, math.inf, value=Interval(2e-6, 0.0, math.inf, ">")).columns["relation"] == ">"


def test_what_can_not_be_exported_is_said_in_one_line(tmp_path: Path, exported: Callable[[str], str]) -> None:
    with pytest.raises(TeffError, match=f"^--as xml: there are {', '.join(FORMATS)}$"):
        exported("xml")
    with pytest.raises(TeffError, match=r"name a file, as -o measured\.parquet$"):
        exported("parquet")
    with pytest.raises(TeffError, match=r"name a file that can be written$"):
        export(Registry(tmp_path), "measured", "csv", tmp_path / "nowhere" / "a.csv")
