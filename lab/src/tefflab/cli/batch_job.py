"""`--batch TEMPLATE`: a job of a batch system runs the command on the nodes that it gets, and its output is shown here.

The users of a centre adapt the template, and the lab fills in {command}, {nodes}, {minutes} and {output}. The lab uses
no library for that: PSI/J and submitit write the script themselves, so a user would say the modules and rules of a
centre in the words of the library.
"""

import math
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TextIO

from rich.console import Console

from tefflab.carried import is_unpacked
from tefflab.errors import INTERRUPTED, InputError, TeffError
from tefflab.host.batch_system import BATCH_SYSTEMS, BatchSystem
from tefflab.host.processes import answer, how_it_ended
from tefflab.host.ranks import launcher_and_hosts
from tefflab.host.terminal import path_text
from tefflab.measure.time_budget import GRACE
from tefflab.records.store import new_sitting_name
from tefflab.systems.logged import Waiting
from tefflab.whole_files import write_whole

JOBS = "jobs"  # the folder of a store that keeps their scripts and outputs
_PLACES = ("command", "nodes", "minutes", "output")
_PLACE = re.compile(r"(?<!\$)\{(\w+)\}")  # ${nodes} is the shell's
_NEEDED = ("command", "output")
_BEFORE_AND_AFTER = 3  # minutes of a job beside the measuring
_LOOK = 0.5  # seconds between two looks at the output of a job
_ASK_EVERY = 10  # looks between two questions to the batch system, which many users ask
_PATIENCE = 60.0  # seconds in which an interrupted job ends by itself


class Template:
    """A job's script with places to fill. InputError where no job can be made from it."""

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            self._text = file.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise InputError(f"--batch {file}: {getattr(error, 'strerror', None) or error}") from None
        marked = [each for each in BATCH_SYSTEMS if re.search(rf"^{each.mark} ", self._text, re.MULTILINE)]
        if len(marked) != 1:
            known = [f"{each.mark} ({each.name})" for each in BATCH_SYSTEMS]
            both = f"has lines of both {' and '.join(known)}"
            raise self._wrong(both if marked else f"no line begins with {' or '.join(known)}")
        self.system = marked[0]
        has = {found[1] for found in _PLACE.finditer(self._text)}
        for name in has.difference(_PLACES):
            if near := get_close_matches(name, _PLACES, 1):  # else the braces are the shell's
                raise self._wrong(f"knows no {{{name}}}, but {{{near[0]}}}")
        for name in _NEEDED:
            if name not in has:
                raise self._wrong(f"has no {{{name}}}")

    def expect_ranks(self, nodes: int | None) -> None:
        """InputError if neither it nor the user says what starts ranks on several nodes."""
        says = any(launcher_and_hosts()) or re.search("TEFF_(LAUNCHER|HOSTS)", self._text)
        if (nodes or 1) > 1 and not says:
            raise self._wrong(f"says by neither TEFF_LAUNCHER nor TEFF_HOSTS what starts ranks on {nodes} nodes")

    def _wrong(self, why: str) -> InputError:
        return InputError(f"--batch {self._file}: {why}; docs/how-to/measure-a-cluster.md shows a template")

    def filled(self, command: str, nodes: int, seconds: float, output: Path, code: Path) -> str:
        """The script of a job that measures for so many seconds, and writes the exit code of the command to a file."""
        minutes = math.ceil(seconds * GRACE / 60) + _BEFORE_AND_AFTER
        command = f"({command}); code=$?; echo $code >{shlex.quote(str(code))}; (exit $code)"
        values = {"command": command, "nodes": str(nodes), "minutes": str(minutes), "output": shlex.quote(str(output))}
        return _PLACE.sub(lambda found: values.get(found[1], found[0]), self._text)


def command_of_job(root: Path, words: Sequence[str]) -> str:
    """The command of these words in the same folder, without --batch. A node of the job shows no rows as JSON, and
    installs nothing."""
    kept = [word for word in words if word != "--json" and not word.startswith("--batch=")]
    if "--batch" in kept:
        del kept[(place := kept.index("--batch")) : place + 2]
    program = Path(sys.argv[0]).absolute() if is_unpacked(root) else root / "teff"
    installs = [] if {"--yes", "--no-install", "--"} & set(kept) else ["--no-install"]  # commands of the user need none
    return f"cd {shlex.quote(str(Path.cwd()))} && {shlex.join([str(program), *kept, *installs])}"


@dataclass
class Job:
    """A job that a batch system has taken. `submitted` ends with it, but sbatch sees the end up to a minute later."""

    system: BatchSystem
    id: str
    submitted: "subprocess.Popen[str]"
    output: Path
    code_file: Path

    @classmethod
    def submit(cls, system: BatchSystem, script: Path, output: Path, code_file: Path) -> "Job":
        """TeffError where the batch system does not take it."""
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
                f"--batch: {system.submit[0]} is not here; type it on a login node of {system.name}"
            ) from None
        assert process.stdout
        assert process.stderr
        number = process.stdout.readline().partition(";")[0].strip()  # sbatch may add the name of a cluster
        if not number:
            why = " ".join(process.stderr.read().split())
            raise TeffError(f"{system.name} does not take {path_text(script)}: {why}")
        return cls(system, number, process, output, code_file)

    @property
    def code(self) -> int | None:
        """Its exit code; None as long as it runs."""
        said = self.code_file.read_text().strip() if self.code_file.exists() else ""
        return int(said) if said else self.submitted.poll()

    def follow(self, console: Console, out: TextIO) -> int:
        """Shows why the job waits, and then its output, until it has ended; returns its exit code. Ctrl-C ends it."""
        waiting = Waiting(console, f"job {self.id} waits in the queue: ")
        with self.output.open(encoding="utf-8", errors="replace") as said, waiting:
            try:
                looks, why = 0, ""
                while (code := self.code) is None:
                    if text := said.read():
                        waiting.hide()
                        out.write(text)
                        out.flush()
                    elif said.tell() == 0:
                        why = why if looks % _ASK_EVERY else self.system.why_queued(self.id)
                        if re.search(self.system.never, why):
                            raise TeffError(f"job {self.id} can never start: {why}")
                        waiting.look(why) if why else waiting.hide()
                    looks += 1
                    time.sleep(_LOOK)
                return code
            except (KeyboardInterrupt, TeffError):
                waiting.hide()
                console.print(f"teff: ends job {self.id}", soft_wrap=True, highlight=False)
                self._end()
                raise
            finally:
                out.write(said.read())
                out.flush()
                self.submitted.terminate()

    def _end(self) -> None:
        """Interrupts the job, whose lab then keeps and shows what it has. Removes it if it waits in the queue, does not
        end in time, or the user presses Ctrl-C again."""
        with suppress(KeyboardInterrupt):
            if not self.system.why_queued(self.id):
                answer([*self.system.interrupt, self.id])
                deadline = time.monotonic() + _PATIENCE
                while self.code is None and time.monotonic() < deadline:
                    time.sleep(_LOOK)
        if self.code is None:
            answer([*self.system.remove, self.id])


def run_as_job(
    console: Console, template: Template, command: str, nodes: int, seconds: float, folder: Path, out: TextIO
) -> int:
    """Submits a job, whose script and output lie in `folder`, and follows it; returns its exit code."""
    script = folder / f"{new_sitting_name()}.sh"
    output, code_file = script.with_suffix(".out"), script.with_suffix(".code")
    write_whole(script, template.filled(command, nodes, seconds, output, code_file))
    output.touch()
    job = Job.submit(template.system, script, output, code_file)
    console.print(f"teff: {job.system.name} has job {job.id}: {path_text(script)}", soft_wrap=True, highlight=False)
    try:
        code = job.follow(console, out)
    except KeyboardInterrupt:
        kept = "and what it has measured is kept" if output.stat().st_size else "before it began"
        raise TeffError(f"interrupted: job {job.id} is ended, {kept}", exit_code=INTERRUPTED) from None
    if code:
        ended = f"teff: job {job.id} {how_it_ended(code)}; its output: {path_text(output)}"
        console.print(ended, soft_wrap=True, highlight=False)
    return code
