"""Every system that is built runs every pattern at several widths, validated by the core."""

import json
import os
import subprocess

import pytest

from tefflab import project_root
from tefflab.systems import Variant, load_systems

ROOT = project_root()
VARIANTS = [variant for system in load_systems(ROOT) for variant in system.variants]
PATTERNS = [
    "trivial",
    "no_comm",
    "stencil_1d",
    "stencil_1d_periodic",
    "sweep",
    "dom",
    "tree",
    "tree_in_out",
    "fft",
    "all_to_all",
    "nearest",
    "spread",
    "random_nearest",
    "random_spread",
]
PERIODIC = {"spread", "random_nearest", "random_spread"}
WIDTHS = (1, 2, 7, 16)


def _lines() -> list[str]:
    return [
        f"-type {pattern} -width {width} -steps 20 -radix {min(3, width)}"
        f"{' -period 1' if pattern in PERIODIC else ''} -kernel compute_bound -iter 2"
        " -and -type stencil_1d -width 3 -steps 9 -output 100"
        for pattern in PATTERNS
        for width in WIDTHS
    ]


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("variant", VARIANTS, ids=[variant.id for variant in VARIANTS])
def test_a_system_runs_every_pattern_validated_beside_a_second_graph(variant: Variant, workers: int) -> None:
    if not variant.program_path(ROOT).exists():
        pytest.skip(f"{variant.program} is not built here")
    finished = subprocess.run(
        [*variant.command_line(ROOT, workers), "--batch", "--workers", str(workers)],
        input="\n".join(_lines()),
        env={**os.environ, **variant.environment_for(ROOT, workers)},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    records = [json.loads(line) for line in finished.stdout.splitlines()]
    assert len(records) == len(_lines())
    for line, record in zip(_lines(), records, strict=True):
        assert "error" not in record, f"{line}: {record['error']}"
        assert record["validation"]["passed"], line
        assert record["workers"] == workers


def test_a_wrong_line_in_a_batch_is_answered_and_the_batch_goes_on() -> None:
    variant = VARIANTS[0]
    if not variant.program_path(ROOT).exists():
        pytest.skip(f"{variant.program} is not built here")
    finished = subprocess.run(
        [*variant.command_line(ROOT, 1), "--batch"],
        input="-type stensil\n\n-type fft\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    wrong, right = (json.loads(line) for line in finished.stdout.splitlines())
    assert "stensil" in wrong["error"]
    assert right["validation"]["passed"]
