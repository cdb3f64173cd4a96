"""The outermost edge of the command line: every error becomes one sentence and an exit code."""

from __future__ import annotations

import io
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import click

from memory_v2.cli.output import did_you_mean, drop_output, out, out_json, tell
from memory_v2.cli.verb import loaded
from memory_v2.errors import (
    Cancelled,
    EntryNotFound,
    ModelError,
    PageExists,
    PageNotFound,
    StorageConflict,
    StorageError,
    UsageError,
)

FINDINGS = 1
USAGE = 2
NOT_FOUND = 3
STORAGE = 4
MODEL = 5
FAULT = 70
INTERRUPTED = 130
PIPE_CLOSED = 141

_CODES: tuple[tuple[type[Exception], int], ...] = (
    (PageNotFound, NOT_FOUND),
    (EntryNotFound, NOT_FOUND),
    (PageExists, NOT_FOUND),
    (StorageConflict, NOT_FOUND),
    (UsageError, USAGE),
    (StorageError, STORAGE),
    (ModelError, MODEL),
    (Cancelled, INTERRUPTED),
    (click.ClickException, USAGE),
)
"""The first match counts: a conflict is a storage error too."""


class VerbGroup(click.Group):
    """A group of verbs, or of groups of them."""

    below = "VERB"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does; for --json before the verb, the error says where it goes."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.option_name != "--json":
                raise
            where = f"{ctx.command_path} {self.below} --json"
            raise click.UsageError(f"--json goes after the verb: {where}", ctx) from error


COMMANDS = {"view": "view", "serve": "agents"}
"""Commands beside the groups, with their modules. `view` is the verb, for the memory that the settings choose."""


class Program(VerbGroup):
    """The program as a whole. `main` always ends in `SystemExit` with one of the codes above."""

    below = "memory VERB"

    def list_commands(self, ctx: click.Context) -> list[str]:
        """`memory` and `notes`, then the others."""
        return [*super().list_commands(ctx), *COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """As click does; the module of a command beside the groups is imported when it is asked for."""
        module = COMMANDS.get(cmd_name)
        return loaded(module, cmd_name) if module else super().get_command(ctx, cmd_name)

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, *_: Any, **extra: Any) -> Any:
        """Runs the program; `args` are those of the process if none are given."""
        if args is None:  # what the shell gave is read as UTF-8, whatever the locale is
            args = [os.fsencode(arg).decode("utf-8", "surrogateescape") for arg in sys.argv[1:]]
        given = list(args)
        wanted = given[: given.index("--")] if "--" in given else given
        _speak_utf8()
        _tell_warnings()
        _end_by_sigterm()
        extra.pop("standalone_mode", None)
        run = super().main
        code = _ended(lambda: run(given, prog_name or "silica", standalone_mode=False, **extra), "--json" in wanted)
        sys.exit(code)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """As click does, where help is printed."""
        with _printing():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """As click does, where everything else is printed."""
        with _printing():
            return super().invoke(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does; for a verb one level below, the error says where it is."""
        for name, group in self.commands.items():
            is_known = args[0] in self.list_commands(ctx)
            if not is_known and isinstance(group, click.Group) and args[0] in group.list_commands(ctx):
                raise click.UsageError(f"did you mean '{ctx.command_path} {name} {args[0]}'?", ctx)
        return super().resolve_command(ctx, args)


class _PipeClosed(Exception):
    """The reader of the output has closed it."""


@contextmanager
def _printing() -> Iterator[None]:
    """A group without a verb prints its help. A closed pipe is no error of ours."""
    try:
        try:
            yield
        except click.exceptions.NoArgsIsHelpError as error:
            out(error.format_message())
            raise click.exceptions.Exit from None
    except BrokenPipeError as error:  # before click turns it into exit code 1
        raise _PipeClosed from error


def _ended(run: Callable[[], Any], as_json: bool) -> int:
    try:
        code = run()
    except _PipeClosed:
        drop_output()
        return PIPE_CLOSED
    except click.Abort as stopped:  # by Ctrl-C, or by the end of input at a question
        sentence = ": ".join(filter(None, ["stopped", str(stopped.__cause__ or "")]))
        document, code = {"kind": "Interrupted", "message": sentence}, INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the outermost edge
        document, code = error_document(error), exit_code(error)
        if code == FAULT:
            import traceback

            traceback.print_exception(error)
    else:
        return code if isinstance(code, int) else 0
    tell(document["message"])
    if as_json:
        with suppress(BrokenPipeError, StorageError):
            out_json({"error": document})
    return code


def exit_code(error: Exception) -> int:
    """The exit code for an error."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), FAULT)


def error_document(error: Exception) -> dict[str, str]:
    """An error as JSON documents have it."""
    return {"kind": _kind(error), "message": _sentence(error, exit_code(error))}


def _sentence(error: Exception, code: int) -> str:
    if isinstance(error, PageNotFound):
        if error.similar:
            return f"{error}; {did_you_mean(error.similar)}"
        return f"{error}; " + (error.hint or "'silica memory ls' lists all pages")
    if isinstance(error, click.ClickException):
        words = " ".join(error.format_message().split()).rstrip(".")
        context = error.ctx if isinstance(error, click.UsageError) else None
        hint = f"; see '{context.command_path} --help'" if context and not words.endswith("?") else ""
        return words[:1].lower() + words[1:] + hint
    if code == FAULT:
        return f"this is a bug in silica ({type(error).__name__}); please report it with the lines above"
    return str(error)


def _kind(error: Exception) -> str:
    """The name of the error's public class."""
    if isinstance(error, click.ClickException):
        return UsageError.__name__
    return next(kind.__name__ for kind in type(error).__mro__ if not kind.__name__.startswith("_"))


class _NoticeHandler(logging.Handler):
    """Prints the package's warnings as notices, without a traceback."""

    def emit(self, record: logging.LogRecord) -> None:
        tell(record.getMessage())


def _tell_warnings() -> None:
    package = logging.getLogger("memory_v2")
    if not any(isinstance(handler, _NoticeHandler) for handler in package.handlers):
        package.addHandler(_NoticeHandler(logging.WARNING))


def _end_by_sigterm() -> None:
    """SIGTERM ends the program as Ctrl-C does: what was begun is put in order first."""
    if threading.current_thread() is threading.main_thread():  # as Python demands
        signal.signal(signal.SIGTERM, signal.default_int_handler)


def _speak_utf8() -> None:
    """Prints UTF-8, as pages are, whatever the locale."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
