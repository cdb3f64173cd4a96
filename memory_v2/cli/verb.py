"""What a verb is: a function that tells what came of it, and options that are the arguments of a method of the memory.

A verb is declared once, with `@verb(Memory.rename, "old", "new")`: the signature and the annotations of the method give
its arguments and options, with their help, their choices and their defaults; the names that follow are positional. The
function's own annotated arguments are added, its docstring is the help, and what it yields is printed. A function with
nothing but a docstring calls the method and shows its result.
"""

from __future__ import annotations

import inspect
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import date
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from types import SimpleNamespace
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeAlias,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import click

from memory_v2.cli.chosen_memory import ChosenMemory
from memory_v2.cli.output import Output, print_output, working
from memory_v2.cli.show import show
from memory_v2.errors import InvalidText, SilicaError
from memory_v2.validate import checked_day

_SHIELD = "\0"
"""Marks an argument that is text although it begins like an option; no argument can contain it by itself."""
WHICH_MEMORY = "Choose the memory before the verb: silica memory [--path FOLDER] [--model NAME] {verb} …"
"""The end of the help of each verb."""
_BEFORE_THE_VERB = ("--path", "--project", "--persona", "--model")


@dataclass(frozen=True)
class Option:
    """How an argument is given on the command line, where its name and its type do not say it: `flags`, such as
    `-n --limit`, what stands for its value in the help, the `least` number that it may be, or the `type` that click is
    told. Of its `metavar`, `FILE` is no folder and `FOLDER` no file. `count` -1 takes any number of arguments."""

    about: str = ""
    flags: str = ""
    metavar: str = ""
    least: float | None = None
    type: Any = None
    is_positional: bool = False
    count: int = 1


def _choice(context: click.Context) -> Mapping[str, Any]:
    """The options that choose the memory: those of the nearest group above a verb that has them."""
    while group := context.parent:
        if "path" in group.params:
            return group.params
        context = group
    return {}


def _pages(context: click.Context, _: click.Parameter, begun: str) -> list[str]:
    """The pages whose names go on as begun, for the shell to complete them."""
    with suppress(SilicaError, OSError):
        names = ("path", "model", "project", "persona")
        memory = ChosenMemory.from_options(*map(_choice(context).get, names))
        with memory.opened() as opened:
            return [path for path in sorted(opened.storage.list_files()) if path.startswith(begun)]
    return []


Words: TypeAlias = Annotated[tuple[str, ...], Option(metavar="[TEXT]...", is_positional=True, count=-1)]
TextFile: TypeAlias = Annotated[Path | None, Option("Read the text from this file ('-': standard input).")]
PageOrRoot: TypeAlias = Annotated[str, Option(metavar="PAGE", is_positional=True)]
Yes: TypeAlias = Annotated[bool, "Do not ask for confirmation. A question is only asked on a terminal."]
Most: TypeAlias = Annotated[int, Option("The maximum number listed.", "-n --limit", least=1)]
GraphForm: TypeAlias = Annotated[
    Literal["json", "mermaid", "dot"] | None, Option("The output format.  [default: json]", "--format")
]

FLAGS: Mapping[str, str] = {
    "max_results": "-n --limit",
    "tag": "--tag --tags",
    "tags": "--tag --tags",
    "references": "--ref",
    "apply": "--apply/--dry-run",
}
"""The options of arguments that are not called by their names."""
METAVARS: Mapping[str, str] = {
    name: metavar
    for metavar, names in {
        "PAGE": ("path", "under", "near"),
        "DAY": ("since", "until", "date"),
        "NAME": ("source", "agent", "domain", "by", "channel", "session", "persona"),
        "COUNT": ("max_results", "max_tokens", "steps"),
        "SHARE": ("confidence", "importance", "threshold"),
        "ENTRY": ("id", "superseded_by", "references", "only"),
        "TAG": ("tag", "tags"),
        "TEXT": ("why",),
        "NUMBER": ("min_confidence",),
        "DAYS": ("older_than",),
        "PLACE": ("location",),
        "3-5": ("lines",),
        **{name.upper(): (name,) for name in ("decay", "kind", "home")},
    }.items()
    for name in names
}
"""What stands for the value of an argument in the help, by its name; one without is called after its type."""


def _word(argument: str) -> str:
    """The type of an argument that is text: as it was given, without the mark."""
    return argument.removeprefix(_SHIELD)


def _arguments(function: Callable[..., Any] | None) -> dict[str, inspect.Parameter]:
    """The arguments of a function or a method, but for what it works with."""
    return dict(list(inspect.signature(function).parameters.items())[1:]) if function else {}


def _hint(function: Any, argument: inspect.Parameter) -> Any:
    """The type of one argument; those of others may be for type checkers only."""
    only = SimpleNamespace(__annotations__={"it": argument.annotation})
    return get_type_hints(only, vars(inspect.getmodule(function)), include_extras=True)["it"]


def _type(kind: Any, given: Option, metavar: str) -> Any:
    """What click is told of the type of an argument."""
    types = (kind, *get_args(kind))
    choices = next((get_args(each) for each in types if get_origin(each) is Literal), ())
    if given.type or choices:
        return given.type or click.Choice(choices)
    if Path in types:
        return click.Path(path_type=Path, dir_okay=metavar != "FILE", file_okay=metavar != "FOLDER")
    if given.least is not None:
        return click.IntRange(int(given.least)) if int in types else click.FloatRange(given.least)
    return next((each for each in (int, float) if each in types), None)


def _day(_: click.Context, option: click.Parameter, text: str | None) -> date | None:
    return checked_day(option.opts[0], text)


def _parameter(name: str, kind: Any, about: Any, default: Any, flags: str, is_positional: bool) -> click.Parameter:
    """An argument of a function as one of the command line, or as an option."""
    given = about if isinstance(about, Option) else Option(about)
    is_positional = is_positional or given.is_positional
    types = (kind, *get_args(kind))
    is_given = default is not inspect.Parameter.empty
    is_several = get_origin(kind) in (Iterable, tuple) and not is_positional
    metavar = given.metavar or METAVARS.get(name, name.upper() if is_positional else "")
    metavar = metavar or ("" if given.least is None else "COUNT")
    settings: dict[str, Any] = {
        "type": _type(kind, given, metavar) or (_word if is_positional else None),
        "required": not (is_given or is_several or kind is bool or type(None) in types or "[" in metavar),
        "shell_complete": _pages if metavar == "PAGE" else None,
        **({"default": default} if is_given else {}),
    }
    if is_positional:
        shown = metavar if settings["required"] or "[" in metavar else f"[{metavar}]"
        return click.Argument([name], nargs=given.count, metavar=shown, **settings)
    if bool in types:
        settings |= {"is_flag": True, "type": None}
    if isinstance(settings["type"], click.Choice):
        metavar = given.metavar
    settings["callback"] = _day if date in types and str not in types else None
    settings["multiple"] = is_several
    settings["show_default"] = kind is not bool and is_given and default not in (None, "", ())
    spelled = (flags or given.flags or FLAGS.get(name) or f"--{name.replace('_', '-')}").split()
    return click.Option([*spelled, name], metavar=metavar or None, help=given.about, **settings)


def _chosen_before(ctx: click.Context, args: Sequence[str]) -> str:
    """The line that was typed, with the options that choose the memory where they go."""
    given = _choice(ctx)
    chosen = {name: str(value) for name in _BEFORE_THE_VERB if (value := given.get(name[2:]))}
    rest, words = [], iter(args)
    for word in words:
        name, is_whole, value = word.partition("=")
        if name in _BEFORE_THE_VERB:
            chosen[name] = value if is_whole else next(words, "…")
        else:
            rest.append(word)
    verb = [name for name in ctx.command_path.split()[1:] if name != "memory"]
    return shlex.join(["silica", "memory", *chain(*chosen.items()), *verb, *rest]).replace("'…'", "…")


class Verb(click.Command):
    """One verb. Its help and its errors say where the options that choose the memory go."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does, but `- a list item` is text: no option contains a blank."""
        try:
            return super().parse_args(ctx, self._shielded(args))
        except click.NoSuchOption as error:
            if error.option_name not in _BEFORE_THE_VERB or not self.epilog:
                raise
            page = "; to name a page use --to" if error.option_name == "--path" and self.name == "write" else ""
            line = _chosen_before(ctx, args)
            raise click.UsageError(f"{error.option_name} goes before the verb: {line}{page}", ctx) from error

    def _shielded(self, args: list[str]) -> list[str]:
        takes_value = {name for o in self.params if isinstance(o, click.Option) and not o.is_flag for name in o.opts}
        shielded: list[str] = []
        for number, arg in enumerate(args):
            if arg == "--":
                return shielded + args[number:]
            is_text = arg.startswith("-") and any(c.isspace() for c in arg) and arg.split("=")[0] not in takes_value
            is_value = number > 0 and args[number - 1] in takes_value
            shielded.append(_SHIELD + arg if is_text and not is_value else arg)
        return shielded


@dataclass(frozen=True)
class Declared:
    """A verb as it is declared. The command is made of it when it is asked for: a run needs one of them."""

    function: Callable[..., Any]
    method: Callable[..., Any] | None
    positional: Sequence[str]
    doing: str
    has_json: bool
    flags: Mapping[str, str]
    epilog: ClassVar[str] = WHICH_MEMORY

    def command(self, name: str) -> click.Command:
        """The command of this name."""
        about, epilog = self.function.__doc__, self.epilog.format(verb=name)
        return Verb(name, params=list(self.parameters()), callback=self._run, help=about, epilog=epilog)

    def parameters(self) -> Iterator[click.Parameter]:
        """The arguments of the function, and of the method: all, or if the function takes no others those that it
        names."""
        own, of_method = _arguments(self.function), _arguments(self.method)
        takes_all = not self._has_body or any(each.kind is inspect.Parameter.VAR_KEYWORD for each in own.values())
        names = [name for name, each in own.items() if each.kind is not inspect.Parameter.VAR_KEYWORD]
        for name in dict.fromkeys([*names, *(of_method if takes_all else ())]):
            signatures = ((self.function, own.get(name)), (self.method, of_method.get(name)))
            hints = [(_hint(of, argument), argument.default) for of, argument in signatures if argument]
            hint, default = next((one for one in hints if get_origin(one[0]) is Annotated), hints[0])
            is_described = get_origin(hint) is Annotated
            kind, about = get_args(hint)[:2] if is_described else (hint, "")
            if is_described or name in self.positional:
                yield _parameter(name, kind, about, default, self.flags.get(name, ""), name in self.positional)
        if self.has_json:
            yield click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON document.")

    @contextmanager
    def opened(self, given: dict[str, Any]) -> Iterator[Any]:
        """What the function works with, by the name of its first argument: the `memory`, or the options that have
        `chosen` it."""
        chosen: ChosenMemory = click.get_current_context().obj
        if "chosen" in inspect.signature(self.function).parameters:
            yield chosen
            return
        with chosen.recovered() as memory:
            yield memory

    @property
    def _has_body(self) -> bool:
        """Whether the function has more than a docstring."""
        return bool(inspect.signature(self.function).parameters)

    def _run(self, as_json: bool = False, **given: Any) -> None:
        if "as_json" in inspect.signature(self.function).parameters:
            given["as_json"] = as_json
        with self.opened(given) as subject:
            print_output(self._output(subject, given), as_json)

    def _output(self, subject: Any, given: dict[str, Any]) -> Iterator[Output]:
        """What the verb tells. Until it begins to, a terminal says what it is `doing`."""
        output = self.function(subject, **given) if self._has_body else self._shown(subject, given)
        with working(self.doing) if self.doing else nullcontext():
            first = list(islice(output, 1))
        yield from chain(first, output)

    def _shown(self, memory: Any, given: dict[str, Any]) -> Iterator[Output]:
        """What the method returns, shown."""
        assert self.method is not None
        holder, name = self.method.__qualname__.lower().split(".")
        owner = getattr(memory, holder) if holder in ("entries", "checkpoints") else memory
        yield from show(getattr(owner, name)(**given))


def verb(
    method: Callable[..., Any] | None = None,
    *positional: str,
    doing: str = "",
    has_json: bool = True,
    kind: type[Declared] = Declared,
    **flags: str,
) -> Callable[[Callable[..., Any]], Any]:
    """Declares a verb that calls a method of the memory. `positional` names the arguments that are no options; `flags`
    are options that are spelled otherwise than their names."""
    return lambda function: kind(function, method, positional, doing, has_json, flags)


def misuse(rule: str) -> click.UsageError:
    """The error of a verb whose arguments do not go together."""
    return click.UsageError(rule, click.get_current_context())


def ended(code: int) -> click.exceptions.Exit:
    """What ends a verb with an exit code, when all is told."""
    return click.exceptions.Exit(code)


def loaded(module: str, function: str, name: str = "") -> click.Command:
    """The verb of a module of the command line. `show_verb` is that of `show`, where this means something else."""
    room = import_module(f"memory_v2.cli.{module}")
    found = getattr(room, f"{function}_verb", None) or getattr(room, function)
    return found.command(name or function) if isinstance(found, Declared) else cast("click.Command", found)


def given_text(words: tuple[str, ...], file: Path | None) -> str:
    """The text to write: the arguments, a file, or standard input. Raises `InvalidText` if it is not UTF-8."""
    if file is not None and words:
        raise misuse("give the text or --file, not both")
    if words and words != ("-",):
        return " ".join(words)
    if file is None and not words and (sys.stdin is None or sys.stdin.isatty()):
        raise misuse('no text given: pass it as an argument ("…"), with --file, or on standard input')
    is_file = file is not None and str(file) != "-"
    try:
        data = file.read_bytes() if file is not None and is_file else sys.stdin.buffer.read()
    except OSError as error:
        raise misuse(f"cannot read {file or 'standard input'}: {error.strerror or error}") from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        source = f"the file {file}" if is_file else "standard input"
        wrong = f"byte 0x{data[error.start]:02x} at offset {error.start}"
        raise InvalidText(f"{source} is not UTF-8 ({wrong}); nothing was written") from error
