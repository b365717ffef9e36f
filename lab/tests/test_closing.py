"""The last words after the tables of all kinds of benchmark."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from cases import variants
from tefflab.analysis.rows import ELSEWHERE, NO_TURN, ByRound, Row, Verdict
from tefflab.analysis.statistics import Interval
from tefflab.benchmarks.benchmark import benchmarks
from tefflab.benchmarks.case_rows import ranked, verdict_text
from tefflab.benchmarks.cases import CaseBenchmark
from tefflab.benchmarks.closing import sentence, suggestions
from tefflab.output.last_words import LastWords

WHO = variants(4)
TOLD, OPEN = Interval(1.0, 0.9, 1.1), Interval(1.0, 0.0, float("inf"))
LESSON = "a knot costs what it costs"


def row(
    number: int, verdict: Verdict, value: Interval | None = TOLD, note: str = "", noisy: float = 0.0, rounds: int = 0
) -> Row:
    return Row(
        kind="knots",
        variant=replace(WHO[number], is_floor=verdict == "floor"),
        case="knot",
        configuration="",
        quantity="a knot",
        value=value,
        ratio=value,
        verdict=verdict,
        rounds=5 if value else rounds,
        noisy_share=noisy,
        note=note,
    )


def test_a_ratio_that_tells_too_little_is_no_level_one() -> None:
    first, near, wide = (
        replace(row(number, "unknown"), samples=ByRound(values))
        for number, values in (
            (1, {each: [1.0] for each in range(4)}),
            (2, {each: [1.0 + (-1) ** each / 100] for each in range(4)}),
            (3, {0: [0.2], 1: [1.1], 2: [1.2], 3: [9.0]}),
        )
    )
    known = {each.id: each for each in ranked([first, near, wide])}
    assert [known[WHO[number].id].verdict for number in (1, 2, 3)] == ["first", "level", "unknown"]
    assert verdict_text(known[WHO[3].id]).endswith(" ?")


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
def test_the_sentence_says_who_is_first_as_far_as_that_is_known(groups: Sequence[Sequence[Row]], said: str) -> None:
    assert sentence(groups, LESSON).startswith(said)


@pytest.mark.parametrize(
    ("rows", "first"),
    [
        ([row(1, "first"), row(2, "behind")], f"./teff compare {WHO[1].id} {WHO[2].id} s"),
        ([row(1, "first"), row(2, "unknown")], "./teff knots --resume --minutes 15 --store s"),
        ([row(1, "first"), row(2, "failed", None, NO_TURN)], "./teff knots --resume --minutes 15 --store s"),
        ([row(1, "first"), row(2, "failed", None, ELSEWHERE)], "./teff knots --resume --minutes 15 --store s"),
        ([row(1, "failed", None, "died")], "./teff knots --resume --store s"),
        (
            [row(1, "first"), row(2, "behind"), row(3, "failed", None, "died", rounds=3)],
            "./teff knots --resume --store s",
        ),
        (
            [row(1, "first"), row(2, "behind"), row(3, "failed", None, "it has no knots")],
            f"./teff compare {WHO[1].id} {WHO[2].id} s",
        ),
        ([row(1, "first", noisy=0.9), row(2, "behind")], "./teff systems doctor"),
    ],
)
def test_what_to_try_next_suits_what_was_seen(rows: Sequence[Row], first: str) -> None:
    assert next(suggestions([rows], "knots", "s"))[0] == first


def test_two_commands_are_shown() -> None:
    last = LastWords("", suggestions([[row(1, "first", noisy=0.9), row(2, "unknown")]], "knots", "default"))
    assert [command for command, _ in last.suggestions] == [
        "./teff systems doctor",
        "./teff knots --resume --minutes 15",
    ]


def test_every_kind_says_what_its_numbers_mean() -> None:
    kinds = [kind for kind in benchmarks() if isinstance(kind, CaseBenchmark)]
    assert len({kind.lesson for kind in kinds}) == len(kinds) > 5
