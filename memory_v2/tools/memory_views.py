"""What Claude's memory tool sees of the tree: folders and files, with numbered lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from memory_v2.errors import InvalidPath, PageNotFound, ToolProblem
from memory_v2.memory import Memory
from memory_v2.tools.answer import LONGEST, how_many_fit
from memory_v2.tools.memory_paths import Place, file_path, listed, place
from memory_v2.tree.exact import is_bare, text_of
from memory_v2.tree.merged import tidied
from memory_v2.tree.page import Page, parse_page
from memory_v2.tree.path import ROOT

_NUMBER_WIDTH = 6
_CHOOSE = ". Please provide a valid path."


def view(memory: Memory, path: str, view_range: Sequence[int] | None) -> str:
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


def _listing(memory: Memory, at: Place, pages: Mapping[str, int]) -> str:
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


def is_folder(memory: Memory, at: Place) -> bool:
    """Whether a command names a folder."""
    return at.is_top or (at.may_be_folder and at.is_folder(files(memory)))


def existing(path: str, hint: str = "") -> Place:
    """What a path names. Raises `ToolProblem` if nothing can have it."""
    try:
        return place(path)
    except InvalidPath as error:
        raise ToolProblem(f"The path {path} does not exist{hint}") from error


def named_file(memory: Memory, path: str) -> Place:
    """The file that a command names. Raises `ToolProblem` if it is a folder."""
    at = existing(path, hint=_CHOOSE)
    if at.is_top or (is_folder(memory, at) and at.page not in files(memory)):
        raise ToolProblem(f"The path {path} is not a file.")
    return at


def page_at(memory: Memory, at: Place) -> Page:
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
