"""The site's table of mini-apps, from what each says of itself: `describe_NAME()` in `bench/apps/src/NAME`."""

import re
from pathlib import Path

_DESCRIPTION = re.compile(r"^description describe_\w+\(\) \{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
_CASE = re.compile(r'\{"([\w-]+)",\s*"[^"]*",\s*"[^"]*"(,\s*false)?')


def app_table(root: Path) -> str:
    """A row for each app: with its page, if it has one, and its cases, the usual ones in bold."""
    rows = [
        _row(found[1], root / "docs" / "explanation")
        for file in sorted((root / "bench" / "apps" / "src").glob("*/*.cpp"))
        if (found := _DESCRIPTION.search(file.read_text(encoding="utf-8")))
    ]
    return "\n".join(["| app | what it computes | ways | cases |", "| --- | --- | --- | --- |", *rows])


def _row(description: str, pages: Path) -> str:
    name, title = (_said(description, key) for key in ("name", "title"))
    app = f"[`{name}`]({name}.md)" if (pages / f"{name}.md").is_file() else f"`{name}`"
    ways = ", ".join(re.findall(r"way_kind::(\w+)", description))
    ranks = "" if ".over_ranks = false" in description else ", over ranks"
    cases = ", ".join(f"`{case}`" if named else f"**`{case}`**" for case, named in _CASE.findall(description))
    return f"| {app} | {title} | {ways}{ranks} | {cases} |"


def _said(description: str, key: str) -> str:
    found = re.search(rf'\.{key} = "([^"]*)"', description)
    assert found, f"no .{key}: {description}"
    return found[1]
