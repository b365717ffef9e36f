"""How commands are read and explained: help begins with an example. Types of values parse each word once."""

import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from tefflab.benchmarks import graph_flags
from tefflab.errors import INTERRUPTED, InputError, TeffError
from tefflab.host.terminal import drop_output, say

_EXAMPLE = "Example:  "
_WIDTH = 78
_SHORTEST = 30  # a sentence's beginning that still says something
_ALIKE = 0.8  # of an option and what was meant to be it; `--steps` is less like `--systems`


class Command(click.Command):
    """A command whose help begins with an example."""

    def __init__(
        self,
        name: str,
        calls: str,
        text: str,
        *params: click.Parameter,
        takes_programs: bool = False,
        given: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        """`calls`: MODULE.FUNCTION of `tefflab.cli`, imported once the command runs, with the registry, the parameters
        and what is `given`. `takes_programs`: the parameter `programs` has the words behind `--`."""
        super().__init__(name, callback=self._call, params=list(params), help=inspect.cleandoc(text), **settings)
        self.calls = calls
        self.given = given or {}
        self.takes_programs = takes_programs
        self.ignore_unknown_options = any(each.type is FLAGS for each in params)

    @property
    def function(self) -> Callable[..., Any]:
        module, _, name = self.calls.partition(".")
        found: Callable[..., Any] = getattr(import_module(f"tefflab.cli.{module}"), name)
        return found

    def _call(self, **said: Any) -> Any:
        import tefflab
        from tefflab.systems.registry import Registry

        return self.function(Registry(tefflab.project_root()), **self.given, **said)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """What follows `--` is another program's. Before it `-h` asks for help; as an option, it would be found among
        the letters of `-width`."""
        own = list(takewhile(lambda word: word != "--", args))
        behind = args[len(own) :]
        if self.takes_programs:
            ctx.params["programs"], behind = tuple(behind[1:]), []
        try:
            left = super().parse_args(ctx, ["--help" if word == "-h" else word for word in own] + behind)
        except click.UsageError as error:
            for word in own if isinstance(error, click.NoSuchOption) else ():
                refuse_misspelled(word, self)
            if isinstance(error, click.NoSuchOption) and (there := _having(error.option_name, ctx.find_root().command)):
                raise InputError(f"{error.option_name} is an option of {', '.join(there)}") from None
            error.ctx = error.ctx or ctx  # the parser, which misses a value, does not know whose it is
            raise
        for each in self.params:
            if isinstance(each, Former):
                each.give_way(ctx)
        return left

    def invoke(self, ctx: click.Context) -> Any:
        """If a program refuses its flags, the message points to this command's help."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise TeffError("interrupted", exit_code=INTERRUPTED) from None
        except TeffError as error:
            said = str(error).replace("see --help", f"see {ctx.command_path} --help")
            raise TeffError(said, exit_code=error.exit_code) from None

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return super().collect_usage_pieces(ctx) + ["[-- COMMAND...]"] * self.takes_programs

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _explain(self.help or "", lambda: self.format_usage(ctx, formatter), formatter)
        for kind, title in (("argument", "Arguments"), ("option", "Options")):
            shown = [each for each in self.get_params(ctx) if each.param_type_name == kind and each.type is not FLAGS]
            _list(title, filter(None, (each.get_help_record(ctx) for each in shown)), formatter)
        if self.epilog:
            formatter.write_paragraph()
            formatter.write_text(graph_flags.filled(self.epilog))


class Tree(click.Group):
    """Commands under one name. If the first word is an option, the user means the `usual` command. If `is_bare`, the
    user also means it without any word."""

    def __init__(
        self, name: str, text: str, *commands: click.Command, usual: str = "", is_bare: bool = False, **settings: Any
    ) -> None:
        super().__init__(name, commands, help=text, **{"no_args_is_help": False} | settings)
        self.own = dict(self.commands)
        self.usual = usual
        self.is_bare = is_bare

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        first = args[0] if args else ""
        if first in ("--help", "-h") or not (first or self.is_bare or self.invoke_without_command):
            args = ["--help"]
        elif self.usual and (first.startswith("-") or not (first or ctx.resilient_parsing)):
            args = [self.usual, *args]
        return super().parse_args(ctx, args)

    def late(self) -> Mapping[str, click.Command]:
        """Commands that take time to find, and are only found once a name is none of the others'."""
        return {}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.own:
            self.commands = {**self.own, **self.late()}
        return super().get_command(ctx, cmd_name)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # the reader (`teff systems | head`) has seen enough
            drop_output()
            ctx.exit()

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return [name for names in self.groups().values() for name in names]

    def groups(self) -> Mapping[str, Sequence[str]]:
        """The commands by the titles of its help."""
        return {"Commands": list(self.commands)}

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A line for each command or option, with the first thing that its help says."""
        usage = f"Usage:  {ctx.command_path} COMMAND [OPTIONS]    (COMMAND --help: its options)\n"
        _explain(self.help or "", lambda: formatter.write(usage), formatter)
        for title, names in self.groups().items():
            _list(title, [self._row(ctx, name) for name in names], formatter, is_brief=True)
        options = filter(None, (each.get_help_record(ctx) for each in self.get_params(ctx)))
        _list("Options", options, formatter, is_brief=True)

    def _row(self, ctx: click.Context, name: str) -> tuple[str, str]:
        """The word that the user types, and its help. The usual command needs no name before the words behind `--`."""
        command = self.get_command(ctx, name)
        is_left_out = name == self.usual and isinstance(command, Command) and command.takes_programs
        return "-- COMMAND" if is_left_out else name, (command and command.help) or ""


def option(said: str, text: str = "", kind: Any = None, **settings: Any) -> click.Option:
    """`--as form FORMAT`: flags, the name of the parameter if it is another, and what stands for a value in the help.
    An option without a value is a switch."""
    words = said.split()
    metavar = next((word for word in words if word.isupper()), None)
    is_switch = True if metavar is None and "/" not in said else None
    names = [word for word in words if word != metavar]
    return click.Option(names, help=text, type=kind, metavar=metavar, is_flag=is_switch, **settings)


def argument(said: str, text: str = "", kind: Any = None, **settings: Any) -> click.Argument:
    """`[STORE] store`: as the help has it, in brackets if it may be left out, and the parameter if it is another."""
    metavar, _, name = said.rpartition(" ")
    is_wanted = not said.startswith("[")
    return click.Argument([name.lower()], help=text, type=kind, metavar=metavar or name, required=is_wanted, **settings)


def refuse_misspelled(word: str, of: click.Command) -> None:
    """InputError for a word that is almost one of the command's options, say with one dash."""
    known = [name for each in of.params if isinstance(each, click.Option) for name in each.opts]
    name = word.partition("=")[0]
    if name.startswith("-") and f"-{name}" in known:
        raise InputError(f"{name}: an option has two dashes; say -{name}")
    if name.startswith("--") and name not in known and (near := get_close_matches(name, known, 1, _ALIKE)):
        raise InputError(f"no option is called {name}; did you mean {near[0]}?")


def _having(flag: str, command: click.Command, path: str = "teff") -> list[str]:
    """The commands with this option: this one, or commands below it."""
    if isinstance(command, Tree):
        below = {**command.late(), **command.own}.items()
        return [found for name, each in below for found in _having(flag, each, f"{path} {name}")]
    return [path] if any(flag in each.opts for each in command.params) else []


def _explain(text: str, write_usage: Callable[[], None], formatter: click.HelpFormatter) -> None:
    """The examples, the usage, and then what is said before the examples."""
    said, _, example = text.partition(_EXAMPLE)
    if example:
        formatter.write(f"{_EXAMPLE}{example.strip()}\n\n")
    write_usage()
    if said:
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(" ".join(said.split()))


def _list(
    title: str, rows: Iterable[tuple[str, str]], formatter: click.HelpFormatter, *, is_brief: bool = False
) -> None:
    """Names and what is said of them; `is_brief`: as much as fits a line."""
    if found := list(rows):
        room = _WIDTH - 4 - max(len(name) for name, _ in found)
        with formatter.section(title):
            formatter.write_dl([(name, beginning(said, room) if is_brief else said) for name, said in found])


def beginning(text: str, most: int) -> str:
    """The beginning of a text, as far as it fits: its sentence, or the part before a colon, or before a comma."""
    sentence = " ".join(text.split()).partition(". ")[0].rstrip(".")
    if len(sentence) <= most:
        return sentence
    for mark in ("[;:] ", ", "):
        ends = [found.start() for found in re.finditer(mark, sentence) if _SHORTEST <= found.start() <= most]
        if ends:
            return sentence[: ends[-1]]
    return f"{sentence[: most - 1]}…"


class Text(click.ParamType[Any]):
    """A text that is not empty. A given but empty value, as from an unset shell variable, does not mean the default.
    With `of_each` it is names by commas, each once. That makes a name what rows and stores have."""

    name = "text"

    def __init__(
        self, completes: Callable[[str], list[str]] | None = None, of_each: Callable[[str], Any] | None = None
    ) -> None:
        self._completes = completes
        self._of_each = of_each

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        if not value.strip(", ") and _is_typed(param, ctx):
            self.fail("it names nothing; leave it out for the usual", param, ctx)
        if self._of_each is None:
            return value
        try:
            return tuple(dict.fromkeys(self._of_each(name) for part in value.split(",") if (name := part.strip())))
        except ValueError as rule:
            raise InputError(f"{_flag(param)} {value}: {rule}") from None

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        del ctx, param
        from click.shell_completion import CompletionItem

        return [CompletionItem(each) for each in (self._completes(incomplete) if self._completes else ())]


class File(click.Path):
    """The path of a file, which is not empty either. No command takes - for a stream."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "-":
            self.fail("- is no file's name here; name a file", param, ctx)
        return super().convert(Text().convert(value, param, ctx), param, ctx)


class Number(click.ParamType[float]):
    """A number: whole ones alone where the example is one. The user may add one of `units`, which multiplies it. The
    command gets the number times `scale`. A number up to `unclear` needs a unit: it may be meant as a share of one."""

    name = "number"

    def __init__(
        self,
        example: float,
        least: float,
        most: float | Callable[[], float] | None = None,
        *,
        units: Mapping[str, float] | None = None,
        scale: float = 1,
        unclear: float = 0,
    ) -> None:
        self._example, self._least, self._most = example, least, most
        self._units, self._scale, self._unclear = units or {}, scale, unclear

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        del ctx
        kind = int if isinstance(self._example, int) else float
        words = str(value).strip()
        unit, factor = next((each for each in self._units.items() if words.endswith(each[0])), ("", 1))
        flag = _flag(param)
        try:
            found = kind(words.removesuffix(unit)) * factor
        except ValueError:
            found = None
        end = self._most() if callable(self._most) else self._most
        if found is None or not math.isfinite(found) or not self._least <= found <= (end or found):
            span = f"from {self._least:g} {'on' if end is None else f'to {end:.15g}'}"
            whole = "whole " * (kind is int)
            example = f"{self._example:g}{'%' if self._unclear else ''}"
            raise InputError(f"{flag} {value}: give a {whole}number {span}, as {flag} {example}")
        if self._unclear and not unit and found <= self._unclear:
            raise InputError(f"{flag} {value}: say {100 * found:g}% if it is a share of one, else {found:g}%")
        return found * self._scale


class Flags(click.ParamType[str]):
    """The words of a program's flags, which stand among the options."""

    name = "flags"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        del param
        if ctx is not None and not ctx.resilient_parsing:
            refuse_misspelled(value, ctx.command)
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        """Completes the value of a graph's flag."""
        from click.shell_completion import CompletionItem

        words = ctx.params.get(param.name or "") or ("",)
        values = graph_flags.values().get(words[-1].lstrip("-"), ())
        return [CompletionItem(value) for value in values if value.startswith(incomplete)]


FLAGS = Flags()


class Former(click.Option):
    """A hidden option of earlier versions. `now` has taken its place, and the parameter `into` gets its value."""

    def __init__(self, flag: str, into: str, *, now: str, **settings: Any) -> None:
        super().__init__([flag, f"former_{into}_{flag.strip('-')}"], hidden=True, **settings)
        self.into = into
        self.now = now

    def give_way(self, ctx: click.Context) -> None:
        """Says the new form, and fills its parameter. InputError where both are given and differ."""
        value = ctx.params.pop(self.name or "", None)
        if not _is_typed(self, ctx):
            return
        said = ctx.params.get(self.into)
        if said != value and ctx.get_parameter_source(self.into) is ParameterSource.COMMANDLINE:
            raise InputError(f"{said} and {self.opts[0]} {value}: give one of them")
        say(f"{ctx.command_path} {self.opts[0]} is now {self.now}")
        ctx.params[self.into] = value


def _is_typed(param: click.Parameter | None, ctx: click.Context | None) -> bool:
    name = (param and param.name) or ""
    return ctx is None or ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE


def _flag(param: click.Parameter | None) -> str:
    return param.opts[0] if param else ""
