"""Sections: a table with its notes, in a terminal; and what the notes of all kinds of benchmark say."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from cases import estimate, row, variants
from tefflab.analysis.rows import Row
from tefflab.output.quantities import noise_text
from tefflab.output.sections import Section, absences, notes_of
from tefflab.output.table import Column
from tefflab.records.plan import Variant


@pytest.mark.parametrize(
    ("notes", "meanings", "shown"),
    [
        ("abcd", 0, ["a", "b", "c", "d"]),
        ("abcde", 0, ["a", "b", "c", "2 more remarks in the report"]),
        ("abcde", 2, ["a", "4 more remarks in the report"]),
    ],
)
def test_four_remarks_at_most_stand_below_a_table_beside_what_its_columns_mean(
    notes: str, meanings: int, shown: list[str]
) -> None:
    columns = [Column(f"column {each}", ["cell"], meaning="of all") for each in range(meanings)]
    text = io.StringIO()
    Console(file=text, width=80).print(Section("T", columns, list(notes)))
    assert text.getvalue().splitlines()[-len(shown) :] == shown


def test_a_reason_is_said_once_for_all_systems_and_cases_that_it_is_true_of() -> None:
    one, two, three = variants(3)

    def without(variant: Variant, case: str, note: str, workers: int = 2) -> Row:
        return row(variant, None, note, case=case, workers=workers)

    many = [f"case {number}" for number in range(9)]
    rows = [without(each, case, "no turn") for each in (one, two) for case in many]
    rows += [without(three, case, "no turn") for case in many[:4]]
    rows.append(without(three, "case 8", "died"))
    assert absences(rows) == [
        f"{one.id}, {two.id}: no turn",
        f"{three.id}: no turn (case 0; case 1; case 2; case 3)",
        f"{three.id}: died (case 8)",
    ]
    assert absences([*rows, without(three, "case 0", "died", workers=1)]) == [
        f"{one.id}, {two.id}: no turn (with 2 workers)",
        f"{three.id}: no turn (case 0; case 1; case 2; case 3; with 2 workers)",
        f"{three.id}: died (case 8; case 0)",
    ]


def test_a_reason_says_the_load_beside_which_it_is_true_and_rounds_are_those_of_all_rows() -> None:
    one, two = variants(2)
    loads = ["2 workers", "2 workers, spin:25@1", "2 workers, spin:50@1"]
    rows = [replace(row(one, estimate(1.0)), where=load, rounds=3 + number) for number, load in enumerate(loads)]
    rows += [
        replace(row(two, None if load else estimate(1.0), "no turn" if load else ""), where=load) for load in loads
    ]
    rows[3] = replace(row(two, estimate(1.0)), where=loads[0], rounds=4)
    assert absences(rows) == [f"{two.id}: no turn (beside spin:25@1 and spin:50@1)"]
    assert notes_of(rows)[-1].startswith("3 to 5 rounds; ")
    assert notes_of(rows[:1])[-1].startswith("3 rounds; ")


def test_over_several_nodes_no_run_is_called_noisy() -> None:
    alone = row(variants(1)[0], estimate(1e-6), nodes=1, rounds=3, runs=9, noisy_share=0.0)
    over_nodes, simulated = (
        replace(alone, nodes=2),
        replace(alone, variant=replace(alone.variant, simulated="cori, quiet")),
    )
    assert [noise_text(each) for each in (alone, over_nodes, simulated)] == ["0 %", "-", "-"]
    assert notes_of([over_nodes, simulated])[-1] == "3 rounds"
    assert notes_of([alone, over_nodes])[-1] == "3 rounds; at most 0 % of a system's runs noisy"
