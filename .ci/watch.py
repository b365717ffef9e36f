"""The work of the GitHub action in action.yml: runs `teff compare --fail-if-slower`, writes a table to the summary of
the job, and makes a slowdown an error.

Exit code 4, the verdict *unknown*, is a warning, and the job goes on: a shared runner may be too noisy.
"""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

OPTIONS = {  # of `teff compare`, by the variable that action.yml sets
    "SLOWER_THAN": "--fail-if-slower",
    "BENCHMARK": "--kind",
    "MINUTES": "--minutes",
    "WORKERS": "--workers",
}
SLOWER, UNKNOWN, INTERRUPTED = (
    3,
    4,
    130,
)  # exit codes of `teff compare --fail-if-slower`
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def main() -> int:
    store = Path(os.environ["RUNNER_TEMP"]) / "teff-watch"
    said = {option: value for name, option in OPTIONS.items() if (value := os.environ.get(name, ""))}
    options = [word for pair in said.items() for word in pair]
    teff = Path(os.environ["GITHUB_ACTION_PATH"]) / "teff"
    sides = os.environ["SYSTEM"], os.environ["AGAINST"]
    command = [
        teff,
        "compare",
        *sides,
        "--json",
        "--store",
        store,
        *options,
        *shlex.split(os.environ.get("FLAGS", "")),
    ]
    watch = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    add("GITHUB_OUTPUT", f"store={store}\n")
    pairs = [json.loads(line) for line in watch.stdout.splitlines() if line]
    if not pairs and watch.returncode not in (UNKNOWN, INTERRUPTED):
        annotate(
            "error",
            f"teff compare failed with exit code {watch.returncode}; the log of this step says why",
        )
        return watch.returncode or 1
    verdict = pairs[0]["verdict_of_all"] if pairs else "unknown"  # no place was measured on both
    told = sentence(pairs, verdict)
    add("GITHUB_OUTPUT", f"verdict={verdict}\n")
    add("GITHUB_STEP_SUMMARY", f"### Teff watch: {verdict}\n\n{told}.\n\n{table(pairs)}")
    if watch.returncode == UNKNOWN:
        annotate("warning", told)
        return 0
    if watch.returncode == SLOWER:
        annotate("error", told)
    elif watch.returncode:
        how = "was interrupted" if watch.returncode == INTERRUPTED else "failed"
        annotate(
            "error",
            f"teff compare {how} (exit code {watch.returncode}): its verdict is of the rounds before that",
        )
    return watch.returncode


def add(variable: str, text: str) -> None:
    """To the file of GitHub's that this variable names."""
    with Path(os.environ[variable]).open("a", encoding="utf-8") as file:
        file.write(text)


def annotate(level: str, text: str) -> None:
    print(f"::{level}::{text.replace('%', '%25')}")


def sentence(pairs: list[dict[str, Any]], verdict: str) -> str:
    a, b = os.environ["SYSTEM"], os.environ["AGAINST"]
    if verdict == "unknown":
        return f"whether {a} is slower than {b} can't be told; the log of this step says what may help"
    if verdict == "not slower":
        return f"{a} is not slower than {b}; a slowdown of {200 * pairs[0]['threshold']:.3g} % would have been seen"
    worst = max(
        (each for each in pairs if each["verdict"] == "slower"),
        key=lambda each: each["ratio"]["value"],
    )
    return f"{a} is slower than {b}: at {worst['place']} by {100 * (worst['ratio']['value'] - 1):.3g} %"


def table(pairs: list[dict[str, Any]]) -> str:
    """In Markdown, a row a place."""
    head = [
        "",
        f"A: {os.environ['SYSTEM']}",
        f"B: {os.environ['AGAINST']}",
        "A / B",
        "95 % interval",
        "",
        "rounds",
    ]
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
        for each in pairs
    ]
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


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
