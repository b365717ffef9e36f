"""The reference of libteff, made from its headers: a declaration's signature and the comment above it, as Markdown.

It reads C++ as this project writes it: a comment of `//` lines stands right above its declaration, and the content of a
namespace is not indented.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tefflab.errors import TeffError

_TOKEN = re.compile(r"""//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])'|::|.""", re.DOTALL)
_CODE_WORD = re.compile(r"[\w:.]+\([^()\s]*\)|\w+(?:::\w+)+|TEFF_\w+(?:=\w+)?|[A-Za-z]+_\w+")
_LABEL = re.compile(r"\s*(public|protected|private):")


@dataclass
class Declaration:
    """A declaration of a header: `signature` without bodies, `comment` without slashes, `source` as it stands."""

    comment: list[str]
    signature: str
    source: str
    remark: str = ""  # the comment at the end of its line
    members: list["Declaration"] = field(default_factory=list)  # the public ones, of a class
    apart: bool = True  # from what stands above it, by an empty line

    @property
    def name(self) -> str:
        """Of a class, a function, a constant or an alias."""
        kind = "class|struct|concept|using|enum class|enum"
        named = re.search(rf"(?:{kind})(?: \[\[\w+\]\])? (\w+)|(\w+)\(|(\w+) =", self.head)
        return next((word for word in named.groups() if word), "") if named else ""

    @property
    def head(self) -> str:
        """The signature without its template parameters and their requirements."""
        return re.sub(r"^template <.*?>\n(?: *requires[^\n]*\n)?", "", self.signature, flags=re.DOTALL)

    @property
    def is_shown(self) -> bool:
        return not re.search(r"= delete|= default|^friend |^using [\w:]+::\w+;", self.signature)


def declarations(text: str) -> list[Declaration]:
    """The declarations of a file outside of `detail`."""
    text = re.sub(r"^namespace detail \{.*?^\}  // namespace detail$", "", text, flags=re.DOTALL | re.MULTILINE)
    opening = r'(?:inline )?namespace.*\{|extern "C" \{'
    text = re.sub(rf"^(?:#.*|{opening}|\}}  // (?:namespace|extern).*)$", "", text, flags=re.MULTILINE)
    return list(_split(text))


def find(text: str, name: str, *, file: str) -> list[Declaration]:
    """All declarations of a name: overloads, too."""
    found = [each for each in declarations(text) if each.name == name]
    if not found:
        raise TeffError(f"{file} declares no {name!r}")
    return found


def contract(declared: Declaration) -> str:
    """A declaration as the reference shows it: signature, then its comment as prose, then the members likewise."""
    parts = [_code(_line(declared)), _prose(declared.comment)]
    for group in _grouped(declared.members):
        if group[0].members:
            parts += [contract(each) for each in group]
        else:
            parts += [_code("\n".join(map(_line, group))), _prose(group[0].comment)]
    return "\n\n".join(part for part in parts if part)


def _grouped(members: list[Declaration]) -> list[list[Declaration]]:
    """Members that one comment is about, or none."""
    groups: list[list[Declaration]] = []
    for member in members:
        if not member.is_shown:
            continue
        if groups and not member.comment and (not member.apart or not groups[-1][0].comment):
            groups[-1].append(member)
        else:
            groups.append([member])
    return groups


def _split(text: str) -> Iterator[Declaration]:
    """Cuts the inside of a namespace or class into its declarations."""
    at = 0
    while at < len(text):
        above = at
        comment, at = _comment(text, at)
        apart = "\n\n" in text[above:at]
        if at >= len(text):
            return
        label = _LABEL.match(text, at)
        if label and label[1] != "public":
            return  # by this project's order, nothing public follows
        if label:
            at = label.end()
            continue
        declared, at = _statement(text, at)
        declared.comment, declared.apart = comment, apart
        yield declared


def _comment(text: str, at: int) -> tuple[list[str], int]:
    """The comment that stands right above the next declaration, and where that begins."""
    lines: list[str] = []
    while at < len(text):
        end = text.find("\n", at) % (len(text) + 1)
        line = text[at:end].strip()
        if line.startswith("//"):
            lines.append(line[2:].removeprefix(" "))
        elif line:
            break
        else:
            lines = []
        at = end + 1
    return lines, at


def _statement(text: str, at: int) -> tuple[Declaration, int]:
    """The declaration that begins at `at`, and where the text goes on."""
    signature = ""
    skipping = ""  # the part that the signature does not show: a body, or a constructor's initialisers
    members: list[Declaration] = []
    depth = 0
    begin = end = at
    for token in _TOKEN.finditer(text, at):
        end = token.end()
        word = token[0]
        is_class = bool(re.search(r"(?:^|\n|>\s)\s*(?:class|struct) [^()]*$", signature))
        if depth == 0 and word == ":" and ")" in signature and not skipping:
            skipping = "initialisers"
        if depth == 0 and word == "{" and (is_class or "(" in signature):
            skipping = "body"
            inside = end
        depth += (word in "({[") - (word in ")}]")
        if not skipping:
            signature += word
        if depth == 0 and word == "}" and skipping == "body":
            if is_class:
                public = max(text.find("public:", inside, token.start()), inside)
                members = list(_split(text[public : token.start()]))
                signature = re.sub(r" : detail::\w+\s*$", "", signature)
                end = text.index(";", end) + 1
            break
        if depth == 0 and word == ";":
            break
    rest = text[end : text.find("\n", end) % (len(text) + 1)]
    remark = rest.partition("//")[2].strip()
    signature = _unindented(signature.rstrip().removesuffix(";").rstrip() + ";")
    return Declaration([], signature, text[begin:end].strip("\n"), remark, members), end + len(rest)


def _unindented(signature: str) -> str:
    first, *others = signature.strip().split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in others), default=0)
    return "\n".join([first, *(line[margin:] for line in others)]) if others else first


def _line(declared: Declaration) -> str:
    return f"{declared.signature}  // {declared.remark}" if declared.remark else declared.signature


def _code(lines: str) -> str:
    return f"```cpp\n{lines}\n```"


def _prose(comment: list[str]) -> str:
    """A comment as Markdown: indented lines are code, and words of a sentence that look like code are shown as code."""
    out: list[str] = []
    code = False
    for line in comment:
        indented = line.startswith("  ") and not (out and out[-1].startswith(("- ", "  ")) and not code)
        if indented and not code:
            out += ["", "```cpp"]
        elif code and line and not indented:
            out += ["```", ""]
            code = False
        code = code or indented
        starts_list = line.startswith("- ") and out and not out[-1].startswith(("- ", "  "))
        if starts_list:
            out.append("")
        out.append(line[2:] if code and line else _sentence(line))
    if code:
        out.append("```")
    return "\n".join(out)


def _sentence(line: str) -> str:
    parts = line.split("`")
    for at in range(0, len(parts), 2):
        parts[at] = "".join(_escaped(parts[at]))
    return "`".join(parts)


def _escaped(text: str) -> Iterator[str]:
    at = 0
    for word in _CODE_WORD.finditer(text):
        yield re.sub(r"([*_\[\]<>])", r"\\\1", text[at : word.start()])
        yield f"`{word[0]}`"
        at = word.end()
    yield re.sub(r"([*_\[\]<>])", r"\\\1", text[at:])
