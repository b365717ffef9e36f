"""The work of the GitHub action in action.yml: runs `teff compare --fail-if-slower`, writes a table to the summary of the job, and makes a
slowdown an error.

Exit code 4, the verdict *unknown*, is a warning, and the job goes on: a shared runner may be too noisy.
"""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

OPTIONS = {  # of `teff compare`, by the variable that action.yml sets
    "SLOWER_THAN": "--fail-if-slower",
    "BENCHMARK": "--kind",
    "MINUTES": "--minutes",
    "WORKERS": "--workers",
}
SLOWER, UNKNOWN, INTERRUPTED = 3, 4, 130  # exit codes of `teff compare --fail-if-slower`
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def main() -> int:
    store = Path(os.environ["RUNNER_TEMP"]) / "teff-watch"
    said = {option: value for name, option in OPTIONS.items() if (value := os.environ.get(name, ""))}
    options = [word for pair in said.items() for word in pair]
    teff = Path(os.environ["GITHUB_ACTION_PATH"]) / "teff"
    sides = os.environ["SYSTEM"], os.environ["AGAINST"]
    command = [teff, "compare", *sides, "--json", "--store", store, *options, *shlex.split(os.environ.get("FLAGS", ""))]
    watch = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    add("GITHUB_OUTPUT", f"store={store}\n")
    if not watch.stdout.strip():
        annotate("error", f"teff compare failed with exit code {watch.returncode}; the log of this step says why")
        return watch.returncode or 1
    found = [json.loads(line) for line in watch.stdout.splitlines()]
    add("GITHUB_OUTPUT", f"verdict={found[0]['verdict_of_all']}\n")
    add("GITHUB_STEP_SUMMARY", summary(found))
    if watch.returncode == UNKNOWN:
        annotate("warning", sentence(found))
        return 0
    if watch.returncode == SLOWER:
        annotate("error", sentence(found))
    elif watch.returncode:
        how = "was interrupted" if watch.returncode == INTERRUPTED else "failed"
        annotate("error", f"teff compare {how} (exit code {watch.returncode}): its verdict is of the rounds before that")
    return watch.returncode


def add(variable: str, text: str) -> None:
    """To the file of GitHub's that this variable names."""
    with Path(os.environ[variable]).open("a", encoding="utf-8") as file:
        file.write(text)


def annotate(level: str, text: str) -> None:
    print(f"::{level}::{text.replace('%', '%25')}")


def sentence(found: Sequence[dict[str, Any]]) -> str:
    one = found[0]
    a, b, verdict = one["a"]["system_id"], one["b"]["system_id"], one["verdict_of_all"]
    if verdict == "unknown":
        return f"whether {a} is slower than {b} can't be told; the log of this step says what may help"
    if verdict == "not slower":
        return f"{a} is not slower than {b}; a slowdown of {200 * one['threshold']:.3g} % would have been seen"
    worst = max((each for each in found if each["verdict"] == "slower"), key=lambda each: each["ratio"]["value"])
    return f"{a} is slower than {b}: at {worst['place']} by {100 * (worst['ratio']['value'] - 1):.3g} %"


def summary(found: Sequence[dict[str, Any]]) -> str:
    """A table in Markdown, a row a place."""
    sides = (f"{side.upper()}: {found[0][side]['system_id']}" for side in ("a", "b"))
    head = ["", *sides, "A / B", "95 % interval", "", "rounds"]
    rows = [
        [
            each["place"],
            duration(each["a"]["value"]),
            duration(each["b"]["value"]),
            number(each["ratio"], "value"),
            f"{number(each['ratio'], 'low')} – {number(each['ratio'], 'high')}",
            each["verdict"],
            str(each["rounds"]),
        ]
        for each in found
    ]
    lines = [head, ["---"] * len(head), *rows]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"### Teff watch: {found[0]['verdict_of_all']}\n\n{sentence(found)}.\n\n{table}"


def number(of: dict[str, float | None] | None, end: str) -> str:
    value = of[end] if of else None
    return "-" if value is None else f"{value:.3g}"


def duration(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    size, unit = next((each for each in UNITS if seconds >= each[0]), UNITS[-1])
    return f"{seconds / size:.3g} {unit}"


if __name__ == "__main__":
    sys.exit(main())
