"""The report of a sitting: one HTML file that opens anywhere, offline, with every number and every caveat.

`page.html` is the page and `page.css` its style.
"""

import base64
import io
from collections.abc import Sequence
from datetime import UTC
from functools import cache
from importlib.resources import files
from pathlib import Path

import matplotlib as mpl
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.figure import Figure

from tefflab.host.machine import Machine
from tefflab.output import quantities
from tefflab.output.caveats import sitting_caveats
from tefflab.output.sections import Section
from tefflab.output.table import meanings
from tefflab.records.run import Sitting
from tefflab.records.store import Damage
from tefflab.whole_files import write_whole

_GIB = 1024**3


def write_report(
    path: Path,
    sitting: Sitting,
    damage: Sequence[Damage],
    title: str,
    sections: Sequence[Section],
    figures: Sequence[Figure],
    absent: Sequence[str],
    noise: tuple[int, int],
) -> None:
    """Writes the report of `sitting` to `path`, which should end in .html; folders are made. It asks for nothing
    from the network and needs no other file.

    `absent`: what could not be measured, and why. `noise`: how many runs were noisy, of how many.
    """
    text = (
        _page()
        .get_template("page.html")
        .render(
            title=title,
            sitting=sitting,
            started=sitting.started_at.astimezone(UTC),
            sections=sections,
            pictures=[(figure.get_label(), _svg(figure)) for figure in figures],
            absent=absent,
            remarks=sitting_caveats(sitting, *noise, damage),
            facts=_facts(sitting.machine),
            meanings=meanings,
            css=Markup(files(__name__).joinpath("page.css").read_text(encoding="utf-8")),
        )
    )
    write_whole(path, text)


def _svg(figure: Figure) -> str:
    """In base64."""
    drawn = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "teff", "svg.fonttype": "path", "text.hinting": "none"}):
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    return base64.b64encode(drawn.getvalue()).decode()


@cache  # so that the template is compiled once
def _page() -> Environment:
    return Environment(
        loader=PackageLoader(__name__, ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


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
