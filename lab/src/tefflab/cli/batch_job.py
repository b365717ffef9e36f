"""`--batch TEMPLATE`: a job of a batch system runs the command on the nodes that it gets, and its output is shown here.

The template is the script of the job, which the users of a centre adapt; the lab fills in {command}, {nodes}, {minutes}
and {output}. No library is between: PSI/J, submitit and dask-jobqueue write the script themselves, so a user would say
modules and rules of the centre in their words.
"""

import math
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from rich.console import Console

from tefflab.carried import is_unpacked
from tefflab.errors import INTERRUPTED, InputError, TeffError
from tefflab.host.batch_system import BATCH_SYSTEMS, BatchSystem
from tefflab.host.terminal import path_text
from tefflab.measure.time_budget import GRACE
from tefflab.records.store import new_sitting_name
from tefflab.systems.logged import Waiting
from tefflab.whole_files import write_whole

JOBS = "jobs"  # the folder of a store that keeps their scripts and outputs
_PLACE = re.compile(r"(?<!\$)\{(command|nodes|minutes|output)\}")  # ${nodes} is the shell's
_NEEDED = ("command", "output")
_BEFORE_AND_AFTER = 3  # minutes of a job beside the measuring
_LOOK = 0.5  # seconds between two looks at the output of a job
_ASK_EVERY = 10  # looks between two questions to the batch system, which many users ask
_PATIENCE = 60.0  # seconds in which an interrupted job ends by itself


class Template:
    """A job's script with places to fill. InputError where no job can be made from it."""

    def __init__(self, file: Path) -> None:
        try:
            self._text = file.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise InputError(f"--batch {file}: {getattr(error, 'strerror', None) or error}") from None
        marked = [each for each in BATCH_SYSTEMS if re.search(rf"^{each.mark} ", self._text, re.MULTILINE)]
        if len(marked) != 1:
            known = " or of ".join(f"{each.name} ({each.mark})" for each in BATCH_SYSTEMS)
            raise InputError(f"--batch {file}: has lines of {'both' if marked else 'neither'}: {known}; one is needed")
        self.system = marked[0]
        has = {found[1] for found in _PLACE.finditer(self._text)}
        for name in _NEEDED:
            if name not in has:
                raise InputError(
                    f"--batch {file}: has no {{{name}}}; docs/how-to/measure-a-cluster.md shows a template"
                )

    def filled(self, command: str, nodes: int, seconds: float, output: Path) -> str:
        """The script of a job that measures for so many seconds."""
        minutes = math.ceil(seconds * GRACE / 60) + _BEFORE_AND_AFTER
        values = {"command": command, "nodes": str(nodes), "minutes": str(minutes), "output": str(output)}
        return _PLACE.sub(lambda found: values[found[1]], self._text)


def command_of_job(root: Path, words: Sequence[str]) -> str:
    """The command of these words in the same folder, without --batch. A node of the job shows no rows as JSON, and
    installs nothing."""
    kept = [word for word in words if word != "--json" and not word.startswith("--batch=")]
    if "--batch" in kept:
        del kept[(place := kept.index("--batch")) : place + 2]
    program = Path(sys.argv[0]).absolute() if is_unpacked(root) else root / "teff"
    installs = [] if {"--yes", "--no-install", "--"} & set(kept) else ["--no-install"]  # commands of the user need none
    return f"cd {shlex.quote(str(Path.cwd()))} && {shlex.join([str(program), *kept, *installs])}"


def run_as_job(
    console: Console, template: Template, command: str, nodes: int, seconds: float, folder: Path, out: TextIO
) -> int:
    """Submits a job, whose script and output lie in `folder`, and follows it; returns its exit code. TeffError where
    the batch system does not take it, and after Ctrl-C, which ends the job."""
    script = folder / f"{new_sitting_name()}.sh"
    output = script.with_suffix(".out")
    write_whole(script, template.filled(command, nodes, seconds, output))
    output.touch()
    system = template.system
    try:
        process = subprocess.Popen(
            [*system.submit, str(script)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,  # the terminal interrupts the lab alone
        )
    except OSError:
        raise TeffError(
            f"--batch: {system.submit[0]} is not here: type this on a login node of {system.name}"
        ) from None
    assert process.stdout
    assert process.stderr
    job = process.stdout.readline().partition(";")[0].strip()  # sbatch may add the name of a cluster
    if not job:
        raise TeffError(f"{system.name} does not take {path_text(script)}: {' '.join(process.stderr.read().split())}")
    console.print(f"teff: {system.name} has job {job}: {path_text(script)}", soft_wrap=True, highlight=False)
    with output.open(encoding="utf-8", errors="replace") as said:
        try:
            _follow(console, system, job, process, said, out)
        except KeyboardInterrupt:
            console.print(f"teff: ends job {job}", soft_wrap=True, highlight=False)
            _end(system, job, process)
            raise TeffError(f"interrupted; the runs of job {job} are kept", exit_code=INTERRUPTED) from None
        finally:
            out.write(said.read())
            out.flush()
    if process.returncode:
        console.print(
            f"teff: job {job} ended with exit code {process.returncode}; its output: {path_text(output)}",
            soft_wrap=True,
            highlight=False,
        )
    return process.returncode


def _follow(
    console: Console, system: BatchSystem, job: str, process: "subprocess.Popen[str]", said: TextIO, out: TextIO
) -> None:
    """Shows why the job waits, and then its output, until it has ended."""
    with Waiting(console, f"job {job} waits in the queue: ") as queue:
        looks, why = 0, ""
        while process.poll() is None:
            if text := said.read():
                queue.hide()
                out.write(text)
                out.flush()
            elif said.tell() == 0:
                why = why if looks % _ASK_EVERY else system.why_queued(job)
                queue.look(why) if why else queue.hide()
            looks += 1
            time.sleep(_LOOK)


def _end(system: BatchSystem, job: str, process: "subprocess.Popen[str]") -> None:
    """Interrupts the job, whose lab then keeps and shows what it has. Removes it if it waits in the queue, does not end
    in time, or the user presses Ctrl-C again."""
    ways = [system.remove] if system.why_queued(job) else [system.interrupt, system.remove]
    for way in ways:
        subprocess.run([*way, job], capture_output=True, check=False)
        with suppress(KeyboardInterrupt):
            deadline = time.monotonic() + _PATIENCE
            while time.monotonic() < deadline:
                if process.poll() is not None or system.is_over(job):
                    process.terminate()  # sbatch sees the end up to a minute later
                    return
                time.sleep(_LOOK)
