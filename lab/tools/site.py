"""What the documentation's site adds to Markdown (mkdocs.yml, `hooks`).

    ::: runtime/include/teff/join.hpp join

stands for the contract of `teff::join`, made from the header. Of a .cpp file it is the definition as it stands.
"""

import re
from typing import Any

from tefflab import project_root
from tools.declarations import contract, find

DIRECTIVE = re.compile(r"^::: (?P<file>\S+) (?P<name>\S+)$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs for each page."""
    return DIRECTIVE.sub(_expanded, markdown)


def _expanded(directive: re.Match[str]) -> str:
    file, name = directive["file"], directive["name"]
    found = find((project_root() / file).read_text(encoding="utf-8"), name, file=file)
    if file.endswith(".cpp"):
        return "\n\n".join(f"```cpp\n{each.source}\n```" for each in found)
    return "\n\n".join(contract(each) for each in found)
