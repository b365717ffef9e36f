"""The documentation site's additions to Markdown (mkdocs.yml, `hooks`).

    ::: runtime/include/teff/join.hpp join

stands for the contract of `teff::join`, made from the header. Of a .cpp file it is the definition as it stands.
`::: mini-apps` stands for their table (`mini_apps`). Besides, the site has a page for each system (`system_pages`), and
one for README.md and other files of the root.
"""

import re
from functools import cache
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from tefflab import project_root
from tefflab.systems.registry import Registry
from tools.declarations import contract, find
from tools.mini_apps import MINI_APPS, app_pages, app_table
from tools.system_pages import FOLDER, Page, pages

DIRECTIVE = re.compile(r"^::: (?P<file>\S+) (?P<name>\S+)$", re.MULTILINE)
_APP_TABLE = re.compile(rf"^::: {MINI_APPS}$", re.MULTILINE)
_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s#]+)(?P<anchor>#[^)\s]*)?\)")
_OF_THE_ROOT = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}


@cache
def _systems() -> list[Page]:
    return pages(Registry(project_root()))


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Lists the pages of the systems and of the mini-apps where the navigation names their folders."""
    config.nav = _with_lists(config.nav)
    return config


def _with_lists(nav: Any) -> Any:
    if isinstance(nav, list):
        return [_with_lists(part) for part in nav]
    if isinstance(nav, dict):
        return {title: _with_lists(part) for title, part in nav.items()}
    if nav == MINI_APPS:
        return app_pages(project_root())
    return [{each.title: each.place} for each in _systems()] if nav == FOLDER else nav


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages of the systems and of the root's files."""
    made = {each.place: each.markdown for each in _systems()}
    for name, place in _OF_THE_ROOT.items():
        made[place] = as_a_page((project_root() / name).read_text(encoding="utf-8"))
    for place, markdown in made.items():
        files.append(File.generated(config, place, content=markdown))
    return files


def as_a_page(markdown: str) -> str:
    """A file of the root with its links as the site has them. A file that is no page of the site is named instead."""
    return _LINK.sub(_link_on_the_site, markdown)


def _link_on_the_site(link: re.Match[str]) -> str:
    target = link["target"]
    if not (project_root() / target).exists():
        return link[0]
    if target not in _OF_THE_ROOT and not target.startswith("docs/"):
        return f"{link['text']} (`{target}`)"
    place = _OF_THE_ROOT.get(target, target.removeprefix("docs/"))
    return f"{link['image']}[{link['text']}]({place}{link['anchor'] or ''})"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs for each page."""
    return DIRECTIVE.sub(_expanded, _APP_TABLE.sub(lambda _: app_table(project_root()), markdown))


def _expanded(directive: re.Match[str]) -> str:
    file, name = directive["file"], directive["name"]
    found = find((project_root() / file).read_text(encoding="utf-8"), name, file=file)
    if file.endswith(".cpp"):
        return "\n\n".join(f"```cpp\n{each.source}\n```" for each in found)
    return "\n\n".join(contract(each) for each in found)
