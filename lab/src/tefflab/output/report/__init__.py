"""The report of a sitting: one HTML file that opens anywhere, offline, with every number and every caveat.

`page.html` is the page, `page.css` its style, and `page.js` lets a click in a picture's legend grey what it names. The
pictures are the SVG of the pictures' files, which needs no script and no Vega.
"""

import re
from collections.abc import Sequence
from datetime import UTC
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tefflab.host.machine import Machine
from tefflab.output import quantities
from tefflab.output.caveats import sitting_caveats
from tefflab.output.charts.lines import PHASES
from tefflab.output.charts.looks import NIGHT, PAPER, readable
from tefflab.output.charts.sheet import HAIR, INK, PALE, RULE, SOFT, Picture
from tefflab.output.sections import Section
from tefflab.output.table import meanings
from tefflab.records.run import Sitting
from tefflab.records.store import Damage
from tefflab.whole_files import write_whole

_GIB = 1024**3
_NIGHTLY = {
    PAPER: "var(--ground)",
    INK: "var(--ink)",
    SOFT: "var(--soft)",
    RULE: "var(--rule)",
    HAIR: "var(--hair)",
    PALE: "var(--grey)",
    **dict.fromkeys(PHASES.values(), "var(--raised)"),
}  # by the colour on white


def write_report(
    path: Path,
    sitting: Sitting,
    damage: Sequence[Damage],
    title: str,
    sections: Sequence[Section],
    pictures: Sequence[Picture],
    absent: Sequence[str],
    noise: tuple[int, int],
) -> None:
    """Writes the report of `sitting` to `path`; folders are made. `absent`: systems that could not be measured, and
    why. `noise`: how many runs were noisy, of how many."""
    drawn = [_inline(each) for each in pictures]
    pages = Environment(loader=PackageLoader(__name__, ""), autoescape=True, undefined=StrictUndefined)
    pages.trim_blocks = pages.lstrip_blocks = True
    text = pages.get_template("page.html").render(
        title=title,
        sitting=sitting,
        started=sitting.started_at.astimezone(UTC),
        sections=sections,
        pictures=[(each.title, svg) for each, svg in zip(pictures, drawn, strict=True)],
        nightly=_nightly(drawn),
        absent=absent,
        remarks=sitting_caveats(sitting, *noise, damage),
        facts=_facts(sitting.machine),
        meanings=meanings,
        css=_part("page.css"),
        script=_part("page.js"),
    )
    write_whole(path, text)


def _inline(picture: Picture) -> Markup:
    """The SVG as a part of a page: as wide as the page allows, and a mark tells its numbers at the pointer."""
    svg = re.sub(r'(<svg [^>]*?) width="[^"]*" height="[^"]*"', r"\1", picture.svg, count=1)
    svg = re.sub(r' (?:role|aria-roledescription|aria-hidden|pointer-events)="[^"]*"', "", svg)
    return Markup(re.sub(r'<(path|line) (aria-label="([^"]+)"[^>]*)/>', r"<\1 \2><title>\3</title></\1>", svg))


def _nightly(pictures: Sequence[Markup]) -> Markup:
    """The rules that make the colours of pictures readable on a dark ground."""
    found = sorted({color for each in pictures for color in re.findall(r'="(#[0-9a-f]{6})"', each)})
    rules = ((color, _NIGHTLY.get(color) or readable(color, NIGHT)) for color in found)
    return Markup("\n").join(
        Markup('.picture [fill="{0}"] {{ fill: {1}; }} .picture [stroke="{0}"] {{ stroke: {1}; }}').format(day, night)
        for day, night in rules
    )


def _part(name: str) -> Markup:
    """A file beside this one, for the page to hold as it is."""
    return Markup(files(__name__).joinpath(name).read_text(encoding="utf-8"))


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
