"""The documentation site's additions to Markdown (mkdocs.yml, `hooks`).

    ::: runtime/include/teff/join.hpp join

stands for the contract of `teff::join`, made from the header. Of a .cpp file it is the definition as it stands.
`::: mini-apps` stands for their table (`app_table`). Besides, the site has a page for each system (`system_pages`).
"""

import re
from functools import cache
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from tefflab import project_root
from tefflab.systems.registry import Registry
from tools.app_table import app_table
from tools.declarations import contract, find
from tools.system_pages import Page, pages

DIRECTIVE = re.compile(r"^::: (?P<file>\S+) (?P<name>\S+)$", re.MULTILINE)
_APPS = re.compile(r"^::: mini-apps$", re.MULTILINE)
_BEFORE = "Explanation"  # the part of the site before which the systems stand


@cache
def _systems() -> list[Page]:
    return pages(Registry(project_root()))


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Lists the pages of the systems."""
    nav: list[Any] = list(config.nav or [])
    place = next((number for number, part in enumerate(nav) if _BEFORE in part), len(nav))
    nav.insert(place, {"Systems": [{each.title: each.place} for each in _systems()]})
    config.nav = nav
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages of the systems."""
    for each in _systems():
        files.append(File.generated(config, each.place, content=each.markdown))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs for each page."""
    return DIRECTIVE.sub(_expanded, _APPS.sub(lambda _: app_table(project_root()), markdown))


def _expanded(directive: re.Match[str]) -> str:
    file, name = directive["file"], directive["name"]
    found = find((project_root() / file).read_text(encoding="utf-8"), name, file=file)
    if file.endswith(".cpp"):
        return "\n\n".join(f"```cpp\n{each.source}\n```" for each in found)
    return "\n\n".join(contract(each) for each in found)
