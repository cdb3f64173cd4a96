"""The six commands of Claude's memory tool, carried out on the tree, whose pages it sees as numbered files:
`/memories/projects/silica.md` is `projects/silica`.

A file is called like its page with `.md`, or like its page alone if the last part of that has an ending of its own, as
in `/memories/plan.txt`. A command may leave `.md` out wherever no folder is called so.

A command answers with the words of Anthropic's own local helper; docs/claude-memory-tool.md shows both side by side.
`answer_memory_command` needs no SDK; `memory_v2.tools.claude_memory` has the classes for the SDK's tool runner.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from inspect import signature
from itertools import islice
from typing import Any

from memory_v2.agent.arguments import checked
from memory_v2.errors import InvalidPath, NotAllowed, PageExists, PageNotFound, SilicaError, ToolProblem
from memory_v2.memory import Memory
from memory_v2.tools.answer import LONGEST, ToolResult, how_many_fit
from memory_v2.tools.dispatch import as_object, next_move, refusal
from memory_v2.tree.edit import is_bare, text_lines, text_of, with_line_ends_of
from memory_v2.tree.merged import tidied
from memory_v2.tree.page import Page, parse_page
from memory_v2.tree.path import ROOT, page_path

ROOT_FOLDER = "/memories"
LONGEST_PATH = 1_000
"""Limits a path, in characters: answers repeat it."""
_ENDING = ".md"


@dataclass(frozen=True, slots=True)
class MemoryPath:
    """What a command names: the path `given`, and the page or folder, which is empty for `/memories` itself."""

    given: str
    page: str

    @property
    def is_top(self) -> bool:
        """Whether it is `/memories`."""
        return not self.page

    @property
    def may_be_folder(self) -> bool:
        """Whether it may be a folder: it does not name a file."""
        return not self.given.rstrip("/").endswith(_ENDING)

    def is_folder(self, pages: Collection[str]) -> bool:
        """Whether it is a folder, if these are the pages: some are below it, and the path is not that of a file."""
        is_file = self.page in pages and self.given.endswith(file_name(self.page))
        return self.is_top or (
            self.may_be_folder and not is_file and any(page.startswith(f"{self.page}/") for page in pages)
        )


def place(path: str) -> MemoryPath:
    """What a path names. Raises `ToolProblem` if it is outside of `/memories`, and `InvalidPath` if no page can have
    it."""
    if len(path) > LONGEST_PATH:
        raise ToolProblem(f"The path {path[:80]}… is longer than {LONGEST_PATH:,} characters. Choose a shorter path.")
    if path != ROOT_FOLDER and not path.startswith(f"{ROOT_FOLDER}/"):
        raise ToolProblem(f"Path must start with {ROOT_FOLDER}, got: {path}")
    inside = posixpath.normpath(path[len(ROOT_FOLDER) :].lstrip("/") or ".")
    if inside == ".." or inside.startswith("../"):
        raise ToolProblem(f"Path {path} would escape {ROOT_FOLDER} directory")
    return MemoryPath(path, "" if inside == "." else page_path(inside.removesuffix(_ENDING)))


def file_name(page: str) -> str:
    """The name of the file that stands for a page, below its folder."""
    name = page.rsplit("/", 1)[-1]
    return name if "." in name else name + _ENDING


def file_path(page: str) -> str:
    """The path of the file that stands for a page."""
    return posixpath.join(ROOT_FOLDER, posixpath.dirname(page), file_name(page))


def listed(pages: Collection[str], folder: str) -> Iterator[tuple[str, str]]:
    """What a folder shows, two levels deep: the path from the folder of each file, with its page; and of each folder,
    which ends in `/`, with the path before its pages. Sorted by name."""
    above = f"{folder}/" if folder else ""
    shown: dict[tuple[str, ...], tuple[str, str]] = {}
    for page in pages:
        if not page.startswith(above):
            continue
        *folders, _ = parts = page[len(above) :].split("/")
        for depth in range(1, min(len(folders), 2) + 1):
            within = "/".join(folders[:depth])
            shown[tuple(folders[:depth])] = (f"{within}/", f"{above}{within}/")
        if len(parts) <= 2:
            shown[(*folders, file_name(page))] = ("/".join([*folders, file_name(page)]), page)
    return (shown[key] for key in sorted(shown))


_NUMBER_WIDTH = 6
_CHOOSE = ". Please provide a valid path."


def view(memory: Memory, path: str, view_range: list[int] | None = None) -> str:
    """A folder two levels deep, or a file, or the lines of it from the first to the last in `view_range`."""
    at = existing(path, hint=_CHOOSE)
    if is_folder(memory, at):
        return _listing(memory, at, files(memory))
    page = page_at(memory, at)
    lines = text_of(page).split("\n")
    first, last = 1, len(lines)
    if view_range and len(view_range) == 2:
        first = max(1, view_range[0])
        last = last if view_range[1] == -1 else min(last, view_range[1])
    shown: list[str] = []
    size = 0
    for number in range(first, last + 1):
        line = numbered(number, lines[number - 1])
        size += len(line) + 1
        if shown and size > LONGEST:
            shown.append(f"[cut here; to read on: view with view_range [{number}, -1]]")
            break
        shown.append(line if len(line) <= LONGEST else f"{line[:LONGEST]}[the line is cut here]")
    else:
        if last == len(lines):
            shown += _further(page)
    return f"Here's the content of {path} with line numbers:\n" + "\n".join(shown)


def _further(page: Page) -> list[str]:
    """The pages that a page lists, so that a reader finds what a split has moved."""
    described = [
        file_path(child.target) + (f" - {child.description}" if child.description else "") for child in page.children
    ]
    shown = how_many_fit(described)
    more = [f"[{len(described) - shown:,} more]"] if shown < len(described) else []
    return ["[more about this is in]", *described[:shown], *more] if described else []


def _listing(memory: Memory, at: MemoryPath, pages: Mapping[str, int]) -> str:
    lines = [f"{_size(sum(_inside(pages, f'{at.page}/' if at.page else '')))}\t{at.given}"]
    entries, size = list(listed(pages.keys(), at.page)), 0
    for number, (path, where) in enumerate(entries):
        with suppress(PageNotFound):  # somebody else has deleted it just now
            held = sum(_inside(pages, where)) if path.endswith("/") else len(text_at(memory, where).encode())
            lines.append(f"{_size(held)}\t{at.given.rstrip('/')}/{path}")
            size += len(lines[-1]) + 1
        if size > LONGEST and number + 1 < len(entries):
            lines.append(f"[{len(entries) - number - 1:,} more; view a folder to see what is in it]")
            break
    told = f"Here're the files and directories up to 2 levels deep in {at.given}, excluding hidden items:"
    return "\n".join([told, *lines])


def files(memory: Memory) -> dict[str, int]:
    """The pages that are shown as files, with their sizes: all but a root that has no text of its own."""
    pages = {page.path: page.size_bytes for page in memory.list_files()}
    if ROOT in pages and is_bare(parse_page(ROOT, memory.read(ROOT))):
        del pages[ROOT]
    return pages


def is_folder(memory: Memory, at: MemoryPath) -> bool:
    """Whether a command names a folder."""
    return at.is_top or (at.may_be_folder and at.is_folder(files(memory)))


def existing(path: str, hint: str = "") -> MemoryPath:
    """What a path names. Raises `ToolProblem` if nothing can have it."""
    try:
        return place(path)
    except InvalidPath as error:
        raise ToolProblem(f"The path {path} does not exist{hint}") from error


def named_file(memory: Memory, path: str) -> MemoryPath:
    """The file that a command names. Raises `ToolProblem` if it is a folder."""
    at = existing(path, hint=_CHOOSE)
    if at.is_top or (is_folder(memory, at) and at.page not in files(memory)):
        raise ToolProblem(f"The path {path} is not a file.")
    return at


def page_at(memory: Memory, at: MemoryPath) -> Page:
    """The page of a file. Raises `ToolProblem` if there is none."""
    try:
        return tidied(parse_page(at.page, memory.read(at.page)))
    except PageNotFound as error:
        raise ToolProblem(f"The path {at.given} does not exist{_CHOOSE}") from error


def text_at(memory: Memory, path: str) -> str:
    """The text of a page. Raises `PageNotFound`."""
    return text_of(tidied(parse_page(path, memory.read(path))))


def _inside(pages: Mapping[str, int], folder: str) -> list[int]:
    return [size for page, size in pages.items() if page.startswith(folder)]


def _size(count: int) -> str:
    """`0B`, `512B`, `1.5K`, `3M`."""
    power = min(max(count.bit_length() - 1, 0) // 10, 3)
    size = count / 1024**power
    return f"{size:.0f}{'BKMG'[power]}" if size == int(size) else f"{size:.1f}{'BKMG'[power]}"


def numbered(number: int, line: str) -> str:
    """A line of a file as it is shown."""
    return f"{number:>{_NUMBER_WIDTH}}\t{line}"


CLAUDE_MEMORY_TOOL = {"type": "memory_20250818", "name": "memory"}
"""Claude's memory tool for the `tools` of the Messages API."""
MOST_SEARCHED = 200
"""Limits the pages below a page in which a text is looked for that the page itself does not have."""
LONGEST_NAMED = 1_000
"""Limits the part of `old_str` that an error repeats, in characters."""
MOST_LINES = 50
"""Limits the lines that an error lists."""


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
    told = as_object("memory", given)
    name = told.get("command")
    if not isinstance(name, str) or name not in _COMMANDS:
        raise ToolProblem(f"Unknown command: {str(name)[:80]}. The commands are {', '.join(_COMMANDS)}.")
    run = _COMMANDS[name]
    _, *known = signature(run).parameters  # arguments that a later version of the tool may have are let pass
    asked = checked(f"memory {name}", run, {key: value for key, value in told.items() if key in known})
    return run(memory, **asked)


def _create(memory: Memory, path: str, file_text: str) -> str:
    at = place(path)
    if is_folder(memory, at):
        raise ToolProblem(f"File {path} already exists")
    try:
        memory.create(at.page, file_text)
    except PageExists as error:
        raise ToolProblem(f"File {path} already exists") from error
    return f"File created successfully at: {path}"


def _str_replace(memory: Memory, path: str, old_str: str, new_str: str = "") -> str:
    at = named_file(memory, path)
    page = page_at(memory, at)
    text, old = text_of(page), old_str
    if not old:
        raise ToolProblem(
            "No replacement was performed: old_str is empty. Give the text to replace, or use insert to add lines."
        )
    named = f"old_str `{old if len(old) <= LONGEST_NAMED else old[:LONGEST_NAMED] + '…'}`"
    old, new = with_line_ends_of(text, old, new_str)
    if (found := text.count(old)) == 0:
        where = _elsewhere(memory, page.path, old)
        raise ToolProblem(f"No replacement was performed, {named} did not appear verbatim in {path}.{where}")
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
    shown = "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
    shown += "\n".join(snippet)
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}[cut here]"


def _insert(memory: Memory, path: str, insert_line: int, insert_text: str) -> str:
    at = named_file(memory, path)
    page = page_at(memory, at)
    lines = len(text_lines(text_of(page)))
    if not 0 <= insert_line <= lines:
        raise ToolProblem(
            f"Invalid `insert_line` parameter: {insert_line}. It should be within the range [0, {lines}]."
        )
    memory.insert(at.page, insert_line, insert_text)
    return f"The file {path} has been edited."


def _delete(memory: Memory, path: str) -> str:
    at = existing(path)
    if at.is_top:
        raise ToolProblem("Cannot delete the /memories directory itself")
    if at.page == ROOT:
        raise ToolProblem(f"Cannot delete {path}: all files hang on it. Use str_replace to remove text from it.")
    try:
        if is_folder(memory, at):
            memory.delete_folder(at.page)
        else:
            memory.delete(at.page)
    except PageNotFound as error:
        raise ToolProblem(f"The path {path} does not exist") from error
    except NotAllowed as error:
        raise ToolProblem(f"Cannot delete {path}: {error}") from error
    return f"Successfully deleted {path}"


def _rename(memory: Memory, old_path: str, new_path: str) -> str:
    old, new = existing(old_path), place(new_path)
    if old.is_top:
        raise ToolProblem("Cannot rename the /memories directory itself")
    pages = files(memory)
    if new.is_folder(pages) or new.page in pages:
        raise ToolProblem(f"The destination {new_path} already exists")
    try:
        if old.is_folder(pages):
            memory.rename_folder(old.page, new.page)
        else:
            memory.rename(old.page, new.page)
    except PageNotFound as error:
        raise ToolProblem(f"The path {old_path} does not exist") from error
    except PageExists as error:
        raise ToolProblem(f"The destination {new_path} already exists") from error
    except NotAllowed as error:
        raise ToolProblem(f"Cannot rename {old_path}: {error}") from error
    return f"Successfully renamed {old_path} to {new_path}"


_COMMANDS: Mapping[str, Callable[..., str]] = {
    "view": view,
    "create": _create,
    "str_replace": _str_replace,
    "insert": _insert,
    "delete": _delete,
    "rename": _rename,
}


def _lines_with(text: str, part: str) -> Iterator[int]:
    """The lines in which the part begins, from 1."""
    start = text.find(part)
    while start >= 0:
        yield text.count("\n", 0, start) + 1
        start = text.find(part, start + 1)


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
