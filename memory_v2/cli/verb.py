"""What all verbs of `silica memory` share: the memory, `--json`, and how their arguments are read."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Concatenate, ParamSpec, TypeVar

import click

from memory_v2.cli.output import tell, working
from memory_v2.errors import InvalidText, PageNotFound, SilicaError, UsageError
from memory_v2.locations import PROJECT_MEMORY, keep_out_of_git, persona_memory, project_folder, worktree
from memory_v2.operations.operation import argument
from memory_v2.tree.path import similar_paths

if TYPE_CHECKING:
    from memory_v2.memory import Memory

P = ParamSpec("P")
Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_SHIELD = "\0"
"""Marks an argument that is text although it begins like an option; no argument can contain it by itself."""

WHICH_MEMORY = "Choose the memory before the verb: silica memory [--path FOLDER] [--model NAME] {verb} …"
"""The end of the help of each verb."""
_BEFORE_THE_VERB = ("--path", "--project", "--persona", "--model")


@dataclass(frozen=True, slots=True)
class ChosenMemory:
    """The options before the verb. `path` is the folder that they choose, if any; `project` is the project's folder,
    and `checkout` the worktree of it that was named."""

    path: str | None
    model: str | None
    project: Path | None = None
    persona: str | None = None
    checkout: Path | None = None

    @property
    def option(self) -> str:
        """The option that chose the folder."""
        return "--project" if self.project else "--persona" if self.persona else "--path"

    @property
    def name(self) -> str:
        """What an agent with several memories may call this one; empty for a folder."""
        project = self.project and f"the memory of the project {self.project.name}"
        return project or (f"the memory of the persona {self.persona}" if self.persona else "")

    @classmethod
    def from_options(
        cls,
        path: str | None,
        model: str | None,
        project: Path | None,
        persona: str | None,
    ) -> ChosenMemory:
        """The memory of the one option that is given. Raises `UsageError`, `InvalidSetting`."""
        given = [
            name for name, one in (("--path", path), ("--project", project), ("--persona", persona)) if one is not None
        ]
        if len(given) > 1:
            raise UsageError(f"give {' or '.join(given)}: each of them chooses the memory")
        checkout = project and worktree(project)
        project = project and project_folder(project)
        folder = persona_memory(persona) if persona is not None else project and project / PROJECT_MEMORY
        path = str(folder) if folder else path
        return cls(path, model, project, persona, checkout)

    @contextmanager
    def opened(self, **options: Any) -> Iterator[Memory]:
        """The memory. One that is made for a project stays out of its repository, as `init` has it."""
        from memory_v2.memory import Memory  # the verbs of `silica notes` need none

        is_new = self.project is not None and not (self.project / PROJECT_MEMORY).exists()
        try:
            with Memory.open(self.path, options.pop("model", self.model), **options) as memory:
                yield memory
        finally:
            if self.project is not None and is_new:
                keep_out_of_git(self.project)


class Verb(click.Command):
    """One verb. Its help and its errors say where the options that choose the memory go."""

    def __init__(self, *args: Any, **extra: Any) -> None:
        super().__init__(*args, **extra)
        self.epilog = WHICH_MEMORY.format(verb=self.name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does, but `- a list item` is text: no option contains a blank."""
        try:
            return super().parse_args(ctx, self._shielded(args))
        except click.NoSuchOption as error:
            if error.option_name not in _BEFORE_THE_VERB:
                raise
            page = "; to name a page use --to" if error.option_name == "--path" and self.name == "write" else ""
            rule = f"{error.option_name} goes before the verb: silica memory {error.option_name} … {self.name}{page}"
            raise click.UsageError(rule, ctx) from error

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


def loaded(place: str, name: str = "") -> click.Command:
    """The verb in a module of the command line: `module:function`, or `module` for the function of this name."""
    module, _, function = place.partition(":")
    verb: click.Command = getattr(import_module(f"memory_v2.cli.{module}"), function or name)
    return verb


class MemoryVerbs(click.Group):
    """The verbs by purpose, each in one of these modules of the command line, which is imported when the verb is asked
    for."""

    command_class = Verb

    def __init__(self, *args: Any, sections: Mapping[str, Mapping[str, str]], **extra: Any) -> None:
        super().__init__(*args, **extra)
        self._sections = sections
        self._modules = {verb: module for verbs in sections.values() for verb, module in verbs.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of the modules, not by name."""
        return list(self._modules)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A section for each purpose."""
        longest = max(map(len, self._modules))
        for purpose, verbs in self._sections.items():
            found = ((verb, self.get_command(ctx, verb)) for verb in verbs)
            room = formatter.width - longest - 6
            with formatter.section(purpose):
                formatter.write_dl([(f"{verb:{longest}}", c.get_short_help_str(room)) for verb, c in found if c])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """As click does; for a name that no verb has, all are imported, so that click can name those like it."""
        for name in (cmd_name,) if cmd_name in self._modules else self._modules:
            self.commands[name] = loaded(self._modules[name], name)
        return self.commands.get(cmd_name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does; for --json before the verb, the error says where it goes."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.option_name != "--json":
                raise
            raise click.UsageError(f"--json goes after the verb: {ctx.command_path} VERB --json", ctx) from error


class GroupOfVerbs(click.Group):
    """Verbs below one of `silica memory`, in the order in which they are written."""

    command_class = Verb

    def __init__(self, *args: Any, **extra: Any) -> None:
        super().__init__(*args, **extra)
        self.epilog = WHICH_MEMORY.format(verb=self.name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Not by name."""
        return list(self.commands)


def word(argument: str) -> str:
    """The type of an argument that is text: as it was given, without the mark."""
    return argument.removeprefix(_SHIELD)


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
format_option = click.option(
    "--format", "form", type=click.Choice(["json", "mermaid", "dot"]), help="The output format.  [default: json]"
)


def option_for(method: Callable[..., Any], name: str, *flags: str, **extra: Any) -> Callable[[Decorated], Decorated]:
    """The option for an argument of a method: its default, choices and help are those of the signature."""
    kind, about, default, choices = argument(method, name)
    if kind is bool:
        extra["is_flag"] = True
    elif choices:
        extra["type"] = click.Choice(choices)
    if default is inspect.Parameter.empty:
        return click.option(*flags, required=True, help=about, **extra)
    return click.option(*flags, default=default, show_default=default not in (None, False), help=about, **extra)


def with_memory(verb: Callable[Concatenate[Memory, P], None]) -> Callable[P, None]:
    """Opens the chosen memory for a verb."""

    @click.pass_obj
    @wraps(verb)
    def run(chosen: ChosenMemory, /, *args: P.args, **options: P.kwargs) -> None:
        with chosen.opened() as memory:
            with working("finishing what was interrupted"):
                recovered = memory.recover()
            for done in recovered:  # told first, so that nobody does it again
                tell(str(done))
            for waiting in memory.waiting():
                tell(waiting)
            try:
                verb(memory, *args, **options)
            except PageNotFound as error:
                with suppress(SilicaError):  # a hint is not worth another error
                    error.similar = similar_paths(error.path, [page.path for page in memory.list_files()])
                raise

    return run


def given_text(words: tuple[str, ...], file: Path | None) -> str:
    """The text to write: the arguments, a file, or standard input. Raises `InvalidText` if it is not UTF-8."""
    from_input = words == ("-",) or (not words and file is None)
    if file is not None:
        if words:
            raise click.UsageError("give the text or --file, not both", click.get_current_context())
        return _standard_input() if str(file) == "-" else _decoded(_bytes_of(file), f"the file {file}")
    if not from_input:
        return " ".join(words)
    if not words and (sys.stdin is None or sys.stdin.isatty()):
        raise click.UsageError(
            'no text given: pass it as an argument ("…"), with --file, or on standard input',
            click.get_current_context(),
        )
    return _standard_input()


def _standard_input() -> str:
    stream: BinaryIO = sys.stdin.buffer
    return _decoded(stream.read(), "standard input")


def _bytes_of(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        reason = f"cannot read {file}: {error.strerror or error}"
        raise click.UsageError(reason, click.get_current_context()) from error


def _decoded(data: bytes, source: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        wrong = f"byte 0x{data[error.start]:02x} at offset {error.start}"
        raise InvalidText(f"{source} is not UTF-8 ({wrong}); nothing was written") from error
