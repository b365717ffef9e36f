"""The report of a sitting: one HTML file that opens anywhere, offline, with every number and every caveat.

`page.html` is the page and `page.css` its style. A kind of benchmark may extend it by its own page.
"""

import base64
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import matplotlib as mpl
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.figure import Figure

from tefflab.host.machine import Machine
from tefflab.output import quantities
from tefflab.output.caveats import sitting_caveats
from tefflab.output.table import Column
from tefflab.records.run import Sitting
from tefflab.records.store import Damage
from tefflab.whole_files import write_whole

_GIB = 1024**3


@dataclass(frozen=True)
class TableSection:
    """A section of a report, for any kind of benchmark: a table, a picture, and text about them."""

    title: str
    columns: Sequence[Column] = ()
    notes: Sequence[str] = ()
    figure: Figure | None = None

    @property
    def rows(self) -> Iterator[tuple[str, ...]]:
        """The cells, row by row."""
        return zip(*([str(cell) for cell in column.cells] for column in self.columns), strict=True)

    @property
    def picture(self) -> str:
        """As SVG in base64; empty where there is none."""
        if self.figure is None:
            return ""
        drawn = io.BytesIO()
        with mpl.rc_context({"svg.hashsalt": "teff", "svg.fonttype": "path", "text.hinting": "none"}):
            self.figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
        return base64.b64encode(drawn.getvalue()).decode()


def write_report(
    path: Path,
    sitting: Sitting,
    damage: Sequence[Damage],
    title: str,
    tables: Sequence[TableSection] = (),
    page: tuple[str, str] = (__name__, "page.html"),
    noise: tuple[int, int] = (0, 0),
    **shown: Any,
) -> None:
    """Writes the report of `sitting` to `path`, which should end in .html; folders are made. It asks for nothing
    from the network and needs no other file; without scripts it still shows all numbers.

    `page`: a template, beside a module of this name, of the values `shown`. `noise`: how many runs were noisy, of how
    many.
    """
    package, template = page
    text = (
        _pages(package)
        .get_template(template)
        .render(
            title=title,
            sitting=sitting,
            started=sitting.started_at.astimezone(UTC),
            tables=tables,
            remarks=sitting_caveats(sitting, *noise, damage),
            facts=_facts(sitting.machine),
            css=part(__name__, "page.css"),
            **shown,
        )
    )
    write_whole(path, text)


@cache  # so that each template is compiled once
def _pages(package: str) -> Environment:
    return Environment(
        loader=ChoiceLoader([PackageLoader(each, "") for each in (package, __name__)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def part(package: str, name: str) -> Markup:
    """A file beside a module, for a page to hold as it is."""
    return Markup(files(package).joinpath(name).read_text(encoding="utf-8"))


def _facts(machine: Machine) -> list[tuple[str, str]]:
    """The known facts of the machine, as label and text."""
    cores = f"{machine.cores_usable} usable of {machine.cores_present}"
    memory = f"{quantities.digits(machine.memory_bytes / _GIB)} GiB" if machine.memory_bytes else "unknown"
    if machine.memory_limit_bytes:
        memory += f", limited to {quantities.digits(machine.memory_limit_bytes / _GIB)} GiB"
    quota = "none" if machine.cgroup_quota_cores is None else f"{machine.cgroup_quota_cores:g} cores"
    return [
        ("Processor", f"{machine.cpu} ({machine.architecture})"),
        ("Cores", cores),
        ("Quota", quota),
        ("Memory", memory),
        ("Vector units", ", ".join(machine.simd) or "unknown"),
        ("Hypervisor", machine.hypervisor or "none seen"),
        ("Governor", machine.governor or "not told"),
        ("System", f"{machine.os}, kernel {machine.kernel}"),
        *((name, version) for name, version in machine.compilers.items()),
    ]
