"""The work of the GitHub action in action.yml: runs `teff watch`, writes a table to the summary of the job, and makes a
slowdown an error.

Exit code 4, the verdict *unknown*, is a warning, and the job goes on: a shared runner may be too noisy.
"""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

OPTIONS = {  # of `teff watch`, by the variable that action.yml sets
    "SYSTEM": "--system",
    "AGAINST": "--against",
    "SLOWER_THAN": "--slower-than",
    "BENCHMARK": "--benchmark",
    "MINUTES": "--minutes",
    "WORKERS": "--workers",
}
SLOWER, UNKNOWN, INTERRUPTED = 3, 4, 130  # exit codes of `teff watch`
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def main() -> int:
    store = Path(os.environ["RUNNER_TEMP"]) / "teff-watch"
    said = {option: value for name, option in OPTIONS.items() if (value := os.environ.get(name, ""))}
    options = [word for pair in said.items() for word in pair]
    teff = Path(os.environ["GITHUB_ACTION_PATH"]) / "teff"
    command = [teff, "watch", "--json", "--store", store, *options, *shlex.split(os.environ.get("FLAGS", ""))]
    watch = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    add("GITHUB_OUTPUT", f"store={store}\n")
    if not watch.stdout.strip():
        annotate("error", f"teff watch failed with exit code {watch.returncode}; the log of this step says why")
        return watch.returncode or 1
    found = json.loads(watch.stdout)
    add("GITHUB_OUTPUT", f"verdict={found['verdict']}\n")
    add("GITHUB_STEP_SUMMARY", summary(found))
    if watch.returncode == UNKNOWN:
        annotate("warning", sentence(found))
        return 0
    if watch.returncode == SLOWER:
        annotate("error", sentence(found))
    elif watch.returncode:
        how = "was interrupted" if watch.returncode == INTERRUPTED else "failed"
        annotate("error", f"teff watch {how} (exit code {watch.returncode}): its verdict is of the rounds before that")
    return watch.returncode


def add(variable: str, text: str) -> None:
    """To the file of GitHub's that this variable names."""
    with Path(os.environ[variable]).open("a", encoding="utf-8") as file:
        file.write(text)


def annotate(level: str, text: str) -> None:
    print(f"::{level}::{text.replace('%', '%25')}")


def sentence(found: dict[str, Any]) -> str:
    a, b = found["a"], found["b"]
    if found["verdict"] == "unknown":
        return f"whether {a} is slower than {b} can't be told; the log of this step says what may help"
    if found["verdict"] == "not slower":
        return f"{a} is not slower than {b}; a slowdown of {200 * found['threshold']:.3g} % would have been seen"
    worst = max(
        (each for each in found["pairs"] if each["verdict"] == "slower"), key=lambda each: each["ratio"]["value"]
    )
    return f"{a} is slower than {b}: at {worst['place']} by {100 * (worst['ratio']['value'] - 1):.3g} %"


def summary(found: dict[str, Any]) -> str:
    """A table in Markdown, a row a place."""
    head = ["", f"A: {found['a']}", f"B: {found['b']}", "A / B", "95 % interval", "", "rounds"]
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
        for each in found["pairs"]
    ]
    lines = [head, ["---"] * len(head), *rows]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"### Teff watch: {found['verdict']}\n\n{sentence(found)}.\n\n{table}"


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
