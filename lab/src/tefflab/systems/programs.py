"""Calls a bench program in the place of this process's own work: its output and exit code are passed on."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from tefflab.errors import BAD_INPUT, TeffError
from tefflab.host.terminal import progress
from tefflab.systems.setup import ensure
from tefflab.systems.systems import BUILD_FOLDER, Variant, load_systems, why_not_there


def find_variant(root: Path, name: str) -> Variant:
    """The variant with this id; TeffError where there is none."""
    variants = {variant.id: variant for system in load_systems(root) for variant in system.variants}
    if name not in variants:
        raise TeffError(f"no system is called {name!r}; there are: {' '.join(variants)}", exit_code=BAD_INPUT)
    return variants[name]


def core_program(root: Path) -> Path:
    """The program that says what flags describe."""
    return root / BUILD_FOLDER / "bin" / "task_graph"


def answer_of_core(root: Path, words: Sequence[str]) -> str:
    """What the core says of flags. TeffError with its own words where they are wrong."""
    asked = subprocess.run([str(core_program(root)), *words], capture_output=True, text=True, check=False)
    if asked.returncode != 0:
        raise TeffError(asked.stderr.strip().removeprefix("error: "), exit_code=BAD_INPUT)
    return asked.stdout


def call_program(
    root: Path,
    program: Path | str,
    words: Sequence[str],
    environment: Mapping[str, str] | None = None,
    variant: Variant | None = None,
) -> None:
    """Sets up what is missing, runs the program, and leaves with its exit code.

    TeffError where that is to start a variant whose program could not be built.
    """
    ensure(root, load_systems(root), console=progress())
    if variant and (reason := why_not_there(variant, root)):
        raise TeffError(f"{variant.id}: {reason}")
    finished = subprocess.run([str(program), *words], env={**os.environ, **(environment or {})}, check=False)
    raise typer.Exit(finished.returncode)
