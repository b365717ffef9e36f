"""The notes of kinds of benchmark that compare all systems with one."""

from tefflab.analysis.results import CaseRow

from cases import variants
from tefflab.benchmarks.compared import notes_of
from tefflab.records.plan import Variant


def test_a_reason_is_said_once_for_all_systems_and_cases_that_it_is_true_of() -> None:
    one, two, three = variants(3)

    def without(variant: Variant, case: str, note: str, workers: int = 2) -> CaseRow:
        return CaseRow(variant, case, workers, None, None, "failed", {}, 0, 0.0, note)

    many = [f"case {number}" for number in range(9)]
    rows = [without(each, case, "no turn") for each in (one, two) for case in many]
    rows += [without(three, case, "no turn") for case in many[:4]]
    rows.append(without(three, "case 8", "died"))
    assert notes_of(rows) == [
        f"{one.id}, {two.id}: no turn",
        f"{three.id}: no turn (case 0; case 1; case 2; case 3)",
        f"{three.id}: died (case 8)",
    ]
    assert notes_of([*rows, without(three, "case 0", "died", workers=1)]) == [
        f"{one.id}, {two.id}: no turn (with 2 workers)",
        f"{three.id}: no turn (case 0; case 1; case 2; case 3; with 2 workers)",
        f"{three.id}: died (case 8; case 0)",
    ]
