"""The last words after the tables of spawn, wake, programs, messages, micro and apps."""

from collections.abc import Sequence

import pytest
from tefflab.analysis.results import NO_TURN, CaseRow, Verdict
from tefflab.benchmarks.case_closing import sentence, suggestions

from cases import variants
from tefflab.analysis.statistics import Interval
from tefflab.benchmarks.benchmark import benchmarks
from tefflab.benchmarks.cases import CaseBenchmark
from tefflab.output.last_words import remarks

WHO = variants(4)
TOLD, OPEN = Interval(1.0, 0.9, 1.1), Interval(1.0, 0.0, float("inf"))
LESSON = "a knot costs what it costs"


def row(
    number: int, verdict: Verdict, value: Interval | None = TOLD, note: str = "", noisy: float = 0.0, rounds: int = 0
) -> CaseRow:
    return CaseRow(WHO[number], "knot", 1, value, value, verdict, {}, 5 if value else rounds, noisy, note)


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        (
            [
                [row(1, "first"), row(2, "behind")],
                [row(2, "first"), row(1, "level")],
                [row(2, "first"), row(3, "behind")],
            ],
            f"{WHO[1].id} and {WHO[2].id} are each first or level in 2 of 3 places; a knot costs what it costs.",
        ),
        (
            [[row(0, "floor"), row(1, "first"), row(2, "behind")], [row(1, "first"), row(2, "unknown")]],
            f"{WHO[1].id} is first or level in 1 of 1 place; a knot costs what it costs.",
        ),
        ([[row(1, "first", OPEN), row(2, "unknown")]], "Too little is known yet to name the first. A knot costs"),
        ([[row(0, "floor"), row(1, "first")]], "A knot costs what it costs."),
        ([[row(1, "failed", None, "died")]], "No system has a value yet. A knot costs"),
        ([], "No system has a value yet. A knot costs"),
    ],
)
def test_the_sentence_says_who_is_first_as_far_as_that_is_known(groups: Sequence[Sequence[CaseRow]], said: str) -> None:
    assert sentence(groups, LESSON).startswith(said)


@pytest.mark.parametrize(
    ("rows", "first"),
    [
        ([row(1, "first"), row(2, "behind")], f"./teff compare {WHO[1].id} {WHO[2].id} --store s"),
        ([row(1, "first"), row(2, "unknown")], "./teff knots --resume --minutes 15 --store s"),
        ([row(1, "first"), row(2, "failed", None, NO_TURN)], "./teff knots --resume --minutes 15 --store s"),
        ([row(1, "failed", None, "died")], "./teff knots --resume --store s"),
        (
            [row(1, "first"), row(2, "behind"), row(3, "failed", None, "died", rounds=3)],
            "./teff knots --resume --store s",
        ),
        (
            [row(1, "first"), row(2, "behind"), row(3, "failed", None, "it has no knots")],
            f"./teff compare {WHO[1].id} {WHO[2].id} --store s",
        ),
        ([row(1, "first", noisy=0.9), row(2, "behind")], "./teff systems doctor"),
    ],
)
def test_what_to_try_next_suits_what_was_seen(rows: Sequence[CaseRow], first: str) -> None:
    assert next(suggestions([rows], "./teff knots", " --store s"))[0] == first


def test_every_kind_says_what_its_numbers_mean() -> None:
    kinds = [kind for kind in benchmarks() if isinstance(kind, CaseBenchmark)]
    assert len({kind.lesson for kind in kinds}) == len(kinds) > 5


def test_four_remarks_at_most_stand_below_a_table_beside_what_its_columns_mean() -> None:
    assert remarks("abcd") == "abcd"
    assert remarks("abcde") == ["a", "b", "c", "2 more remarks in the report"]
    assert remarks("abcde", beside=2) == ["a", "4 more remarks in the report"]
