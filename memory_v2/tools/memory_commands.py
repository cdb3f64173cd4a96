"""The six commands of Claude's memory tool, carried out on the tree.

A command answers with the words of Anthropic's own local helper; docs/claude-memory-tool.md shows both side by side.
`answer_memory_command` needs no SDK; `memory_v2.tools.claude_memory` has the classes for the SDK's tool runner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import islice
from typing import Any

from memory_v2.errors import InvalidPath, NotAllowed, PageExists, PageNotFound, SilicaError, ToolProblem
from memory_v2.memory import Memory
from memory_v2.tools.answer import LONGEST
from memory_v2.tools.dispatch import ToolResult, as_object, next_move, refusal
from memory_v2.tools.memory_paths import file_path, place
from memory_v2.tools.memory_views import existing, files, is_folder, named_file, numbered, page_at, text_at, view
from memory_v2.tree.exact import text_lines, text_of, with_line_ends_of
from memory_v2.tree.page import parse_page
from memory_v2.tree.path import ROOT

CLAUDE_MEMORY_TOOL = {"type": "memory_20250818", "name": "memory"}
"""Claude's memory tool for the `tools` of the Messages API."""
MOST_SEARCHED = 200
"""Limits the pages below a page in which a text is looked for that the page itself does not have."""
LONGEST_NAMED = 1_000
"""Limits the part of `old_str` that an error repeats, in characters."""
MOST_LINES = 50
"""Limits the lines that an error lists."""


@dataclass(frozen=True, slots=True)
class View:
    """Shows a folder, or a file with numbered lines."""

    path: str
    view_range: list[int] | None = None


@dataclass(frozen=True, slots=True)
class Create:
    """Creates a file."""

    path: str
    file_text: str


@dataclass(frozen=True, slots=True)
class StrReplace:
    """Replaces a part of a file that occurs once."""

    path: str
    old_str: str
    new_str: str = ""


@dataclass(frozen=True, slots=True)
class Insert:
    """Inserts lines into a file."""

    path: str
    insert_line: int
    insert_text: str


@dataclass(frozen=True, slots=True)
class Delete:
    """Deletes a file, or a folder with all that is in it."""

    path: str


@dataclass(frozen=True, slots=True)
class Rename:
    """Renames a file or a folder."""

    old_path: str
    new_path: str


def answer_memory_command(memory: Memory, given: Mapping[str, Any] | str) -> ToolResult:
    """Carries out the `input` of a call of Claude's memory tool. A command that is wrong or fails gives a result with
    `is_error`, and changes nothing."""
    try:
        text = _answer(memory, given)
    except ToolProblem as problem:  # as it is: its words are those of the helper
        return ToolResult(str(problem), {"error": {"kind": "ToolProblem", "message": str(problem)}}, is_error=True)
    except InvalidPath as error:
        return refusal(error, "Choose another path, such as /memories/projects/silica.md.")
    except NotAllowed as error:
        return refusal(error)
    except SilicaError as error:
        return refusal(error, next_move(error))
    return ToolResult(text, {"text": text})


def _answer(memory: Memory, given: Mapping[str, Any] | str) -> str:
    from memory_v2.agent.arguments import checked  # imports pydantic

    told = as_object("memory", given)
    name = told.get("command")
    if not isinstance(name, str) or name not in _COMMANDS:
        raise ToolProblem(f"Unknown command: {str(name)[:80]}. The commands are {', '.join(_COMMANDS)}.")
    kind, run = _COMMANDS[name]
    known = {one.name for one in fields(kind)}  # arguments that a later version of the tool may have are let pass
    asked = checked(f"memory {name}", kind, {key: value for key, value in told.items() if key in known})
    return run(memory, kind(**asked))


def _create(memory: Memory, asked: Create) -> str:
    at = place(asked.path)
    if is_folder(memory, at):
        raise ToolProblem(f"File {asked.path} already exists")
    try:
        memory.create(at.page, asked.file_text)
    except PageExists as error:
        raise ToolProblem(f"File {asked.path} already exists") from error
    return f"File created successfully at: {asked.path}"


def _str_replace(memory: Memory, asked: StrReplace) -> str:
    at = named_file(memory, asked.path)
    page = page_at(memory, at)
    text, old = text_of(page), asked.old_str
    if not old:
        raise ToolProblem(
            "No replacement was performed: old_str is empty. Give the text to replace, or use insert to add lines."
        )
    named = f"old_str `{old if len(old) <= LONGEST_NAMED else old[:LONGEST_NAMED] + '…'}`"
    old, new = with_line_ends_of(text, old, asked.new_str)
    if (found := text.count(old)) == 0:
        where = _elsewhere(memory, page.path, old)
        raise ToolProblem(f"No replacement was performed, {named} did not appear verbatim in {asked.path}.{where}")
    if found > 1:
        lines = ", ".join(str(line) for line in islice(_lines_with(text, old), MOST_LINES))
        more = ", …" if found > MOST_LINES else ""
        raise ToolProblem(
            f"No replacement was performed. Multiple occurrences of {named} in lines: {lines}{more}. "
            "Please ensure it is unique"
        )
    result = memory.replace_text(at.page, old, new)
    stored = [change for change in result.revisions[0].pages if change.path == at.page] if result.revisions else []
    now = text_of(parse_page(at.page, (stored[0].after or b"").decode("utf-8", "replace"))) if stored else text
    lines_now, changed = now.split("\n"), text.count("\n", 0, text.find(old))
    first, last = max(0, changed - 2), min(len(lines_now), changed + 3)
    snippet = [numbered(number + 1, lines_now[number]) for number in range(first, last)]
    told = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
    return _cut("\n".join([told, *snippet]))


def _insert(memory: Memory, asked: Insert) -> str:
    at = named_file(memory, asked.path)
    page = page_at(memory, at)
    lines = len(text_lines(text_of(page)))
    if not 0 <= asked.insert_line <= lines:
        raise ToolProblem(
            f"Invalid `insert_line` parameter: {asked.insert_line}. It should be within the range [0, {lines}]."
        )
    memory.insert(at.page, asked.insert_line, asked.insert_text)
    return f"The file {asked.path} has been edited."


def _delete(memory: Memory, asked: Delete) -> str:
    at = existing(asked.path)
    if at.is_top:
        raise ToolProblem("Cannot delete the /memories directory itself")
    if at.page == ROOT:
        raise ToolProblem(f"Cannot delete {asked.path}: all files hang on it. Use str_replace to remove text from it.")
    try:
        if is_folder(memory, at):
            memory.delete_folder(at.page)
        else:
            memory.delete(at.page)
    except PageNotFound as error:
        raise ToolProblem(f"The path {asked.path} does not exist") from error
    except NotAllowed as error:
        raise ToolProblem(f"Cannot delete {asked.path}: {error}") from error
    return f"Successfully deleted {asked.path}"


def _rename(memory: Memory, asked: Rename) -> str:
    old, new = existing(asked.old_path), place(asked.new_path)
    if old.is_top:
        raise ToolProblem("Cannot rename the /memories directory itself")
    pages = files(memory)
    if new.is_folder(pages) or new.page in pages:
        raise ToolProblem(f"The destination {asked.new_path} already exists")
    try:
        if old.is_folder(pages):
            memory.rename_folder(old.page, new.page)
        else:
            memory.rename(old.page, new.page)
    except PageNotFound as error:
        raise ToolProblem(f"The path {asked.old_path} does not exist") from error
    except PageExists as error:
        raise ToolProblem(f"The destination {asked.new_path} already exists") from error
    except NotAllowed as error:
        raise ToolProblem(f"Cannot rename {asked.old_path}: {error}") from error
    return f"Successfully renamed {asked.old_path} to {asked.new_path}"


def _view(memory: Memory, asked: View) -> str:
    return view(memory, asked.path, asked.view_range)


_COMMANDS: Mapping[str, tuple[type[Any], Callable[[Memory, Any], str]]] = {
    "view": (View, _view),
    "create": (Create, _create),
    "str_replace": (StrReplace, _str_replace),
    "insert": (Insert, _insert),
    "delete": (Delete, _delete),
    "rename": (Rename, _rename),
}


def _lines_with(text: str, part: str) -> Iterator[int]:
    """The lines in which the part begins, from 1."""
    start = text.find(part)
    while start >= 0:
        yield text.count("\n", 0, start) + 1
        start = text.find(part, start + 1)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}[cut here]"


def _elsewhere(memory: Memory, page: str, text: str) -> str:
    """Where a text is that a split has moved to a page below."""
    children = memory.graph().children
    queue = list(children.get(page, ())) if text.strip() else []
    for path in queue:
        if text in text_at(memory, path):
            return f" It is in {file_path(path)} now."
        if len(queue) < MOST_SEARCHED:
            queue += children.get(path, ())
    return ""
