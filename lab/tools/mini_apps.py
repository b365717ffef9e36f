"""The mini-apps on the site, from what each says of itself: `describe_NAME()` in `bench/apps/src/NAME`."""

import re
from pathlib import Path

MINI_APPS = "mini-apps"  # what stands for them in a page, and in the navigation
_DESCRIPTION = re.compile(r"^description describe_\w+\(\) \{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
_CASE = re.compile(r'\{"([\w-]+)",\s*"[^"]*",\s*"[^"]*"(,\s*false)?')
_PAGES = "explanation"  # the folder of the site


def app_table(root: Path) -> str:
    """A row for each app: with its page, if it has one, and its cases, the usual ones in bold."""
    rows = [_row(root, each) for each in _descriptions(root)]
    return "\n".join(["| app | what it computes | ways | cases |", "| --- | --- | --- | --- |", *rows])


def app_pages(root: Path) -> list[dict[str, str]]:
    """The places of the apps' pages, by their titles."""
    pages = (_page(root, _said(each, "name")) for each in _descriptions(root))
    texts = ((page, page.read_text(encoding="utf-8")) for page in pages if page.is_file())
    return [{text.partition("\n")[0].removeprefix("# "): f"{_PAGES}/{page.name}"} for page, text in texts]


def _descriptions(root: Path) -> list[str]:
    files = sorted((root / "bench" / "apps" / "src").glob("*/*.cpp"))
    found = (_DESCRIPTION.search(file.read_text(encoding="utf-8")) for file in files)
    return [each[1] for each in found if each]


def _row(root: Path, description: str) -> str:
    name, title = (_said(description, key) for key in ("name", "title"))
    app = f"[`{name}`]({name}.md)" if _page(root, name).is_file() else f"`{name}`"
    ways = ", ".join(re.findall(r"way_kind::(\w+)", description))
    ranks = "" if ".over_ranks = false" in description else ", over ranks"
    cases = ", ".join(f"`{case}`" if named else f"**`{case}`**" for case, named in _CASE.findall(description))
    return f"| {app} | {title} | {ways}{ranks} | {cases} |"


def _page(root: Path, name: str) -> Path:
    return root / "docs" / _PAGES / f"{name}.md"


def _said(description: str, key: str) -> str:
    found = re.search(rf'\.{key} = "([^"]*)"', description)
    assert found, f"no .{key}: {description}"
    return found[1]
