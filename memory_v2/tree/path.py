"""Paths of pages: which are valid, which are taken, and which file names are pages, in every store; and the links of a
text, which name them: `[[path]]`, `[[path|words]]` and `[[path#heading]]`, anywhere except in code.

A path such as `projects/silica` consists of segments joined by `/`, in Unicode NFC. It must work on every file system
and in `[[links]]`, so the strictest rule of all applies. An invalid path is rejected, never silently repaired.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from memory_v2.errors import InvalidPath
from memory_v2.text.words import capitalized, composed
from memory_v2.tree.block import Block, markdown, split_lines

ROOT = "memory"
ENTRIES = "entries"
"""The folder of the entries, whose files are no pages. So no page has this path, nor one below it, in any case."""
MAX_SEGMENT_BYTES = 100
"""Limits one part of a path, in bytes. File systems allow 255; this leaves room for suffixes of temporary files."""
MAX_PATH_BYTES = 240
"""Limits a whole path, in bytes: Windows allows 260 characters, some of which `.md` and the folder need."""
MAX_DEPTH = 12
"""Limits the depth of a path, in parts. Grown trees need three or four; people's own may be deeper."""
SPELLED_ALIKE = 0.8
"""What share of their letters, in order, two names have in common that may be meant by each other: one letter of five
may be wrong."""

_FORBIDDEN = frozenset('<>:"|?*\\[]#^')
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{device}{digit}" for device in ("com", "lpt") for digit in "0123456789¹²³"]
)
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def page_path(text: str) -> str:
    """The path `text` in NFC. Raises `InvalidPath`, naming the rule that it breaks, if it is not valid."""
    if not isinstance(text, str):
        raise InvalidPath(f"a path is text, not {type(text).__name__}")
    path = composed(text)
    if not path:
        raise InvalidPath("a path cannot be empty")
    if len(path.encode("utf-8", "surrogatepass")) > MAX_PATH_BYTES:
        raise InvalidPath(f"a path is at most {MAX_PATH_BYTES} bytes long: {path[:40]!r}…")
    if path.startswith("/"):
        raise InvalidPath(f"a path starts at the memory, not at '/': {path!r}")
    segments = path.split("/")
    if len(segments) > MAX_DEPTH:
        raise InvalidPath(f"a path is at most {MAX_DEPTH} levels deep: {path!r}")
    for segment in segments:
        if problem := _segment_problem(segment):
            raise InvalidPath(f"{problem}: {path!r}")
    return path


def new_page_path(text: str) -> str:
    """The path of a page that may be new, in NFC. Raises `InvalidPath` also if it is kept for the entries."""
    path = page_path(text)
    if is_reserved(path):
        raise InvalidPath(f"the name {ENTRIES!r} is kept for the entries; choose another path than {path!r}")
    return path


@lru_cache(maxsize=10_000)
def _segment_problem(segment: str) -> str | None:
    if not segment:
        return "a path has no empty parts"
    if segment.startswith("."):
        return "no part of a path starts with a dot"
    if segment != segment.strip() or segment.endswith("."):
        return "no part of a path starts or ends with a blank, or ends with a dot"
    if any(unicodedata.category(c) in _INVISIBLE for c in segment):
        return "a path has no control or invisible characters"
    if wrong := sorted(_FORBIDDEN.intersection(segment)):
        return f"a path cannot hold {', '.join(map(repr, wrong))}"
    if segment.casefold().endswith(".md"):
        return "leave '.md' off"
    if segment.split(".")[0].strip().casefold() in _DEVICES:
        return f"{segment!r} is the name of a device on Windows"
    if len(segment.encode()) > MAX_SEGMENT_BYTES:
        return f"a part of a path is at most {MAX_SEGMENT_BYTES} bytes long"
    return None


def is_entry(path: str) -> bool:
    """Whether a stored file belongs to the entries, and is no page."""
    return path.startswith(f"{ENTRIES}/")


def is_reserved(path: str) -> bool:
    """Whether a page cannot have this path, since it is kept for the entries."""
    return fold(path.partition("/")[0]) == ENTRIES


def unreserved(path: str) -> str:
    """The path, or one like it that a page can have."""
    first, slash, rest = path.partition("/")
    return f"{first}-pages{slash}{rest}" if is_reserved(path) else path


def is_page_path(text: str) -> bool:
    """Whether `text` is a valid path and already in NFC."""
    try:
        return page_path(text) == text
    except InvalidPath:
        return False


def fold(path: str) -> str:
    """A normal form: two paths share it if a disk that ignores case cannot tell them apart."""
    return composed(path.casefold())


def prefixes(path: str) -> list[str]:
    """`a/b/c` → `["a", "a/b", "a/b/c"]`."""
    segments = path.split("/")
    return ["/".join(segments[: i + 1]) for i in range(len(segments))]


class TakenPaths:
    """The paths that a new page cannot have: because of existing pages, or because they are kept for the entries. On a
    disk that ignores case, `Projects/a` and `projects/b` would share a folder, which can have only one spelling."""

    def __init__(self, pages: Iterable[str]) -> None:
        self._pages: dict[str, str] = {}
        self._spelled: dict[str, str] = {ENTRIES: f"{ENTRIES}/"}  # the spelling of no page, so that all clash with it
        for path in pages:
            self.add(path)

    def add(self, path: str) -> None:
        """Marks this path as taken."""
        self._pages[fold(path)] = path
        for prefix in prefixes(path):
            self._spelled.setdefault(fold(prefix), prefix)

    def with_paths(self, added: Iterable[str]) -> TakenPaths:
        """These and more: quicker than to begin anew."""
        more = TakenPaths(())
        more._pages, more._spelled = self._pages.copy(), self._spelled.copy()
        for path in added:
            more.add(path)
        return more

    def page(self, path: str) -> str | None:
        """The page with this path, whatever its case, in the spelling of the page."""
        return self._pages.get(fold(path))

    def below(self, path: str) -> bool:
        """Whether there is a page with this path or below it."""
        return fold(path) in self._spelled

    def clash(self, path: str) -> str | None:
        """The existing page or folder from which the path, or a folder above it, differs only in case."""
        for prefix in prefixes(path):
            if (taken := self._spelled.get(fold(prefix), prefix)) != prefix:
                return taken
        return None

    def __contains__(self, path: str) -> bool:
        return self.page(path) is not None or self.clash(path) is not None


def child_path(parent: str, name: str) -> str:
    """The path of a new child of `parent`. Children of the root are at the top, others below their parent, or below a
    page above it if the path would be too deep or too long."""
    above = [] if parent == ROOT else parent.split("/")[: MAX_DEPTH - 1]
    while above and len("/".join([*above, name]).encode()) > MAX_PATH_BYTES // 2:
        above.pop()
    return "/".join([*above, name])


def title_of_path(path: str, text: str = "") -> str:
    """The last part of a path as a title, with the capitals that its words have in the text."""
    name = path.rsplit("/", 1)[-1]
    words = re.sub("[-_]", " ", name).split() or [name]
    pattern = rf"(?<!\w){' +'.join(map(re.escape, words))}(?!\w)"
    spelled = (match[0] for match in re.finditer(pattern, text, re.I))
    return capitalized(next((each for each in spelled if each != each.lower()), " ".join(words)))


def similar_paths(path: str, paths: Iterable[str]) -> list[str]:
    """The paths that may have been meant: those that end in the same name, and those that are spelled alike."""
    from difflib import get_close_matches  # only for a page that there is not

    known = {each.casefold(): each for each in paths}
    same_name = [each for each in known.values() if each.rsplit("/", 1)[-1] == path.rsplit("/", 1)[-1]]
    alike = [known[key] for key in get_close_matches(path.casefold(), known, n=3)]
    return list(dict.fromkeys([*same_name[:3], *alike]))


def misspelled(path: str, paths: Iterable[str]) -> list[str]:
    """The other paths that may have been meant by this one: each name is spelled alike, with the same digits."""
    from difflib import SequenceMatcher

    def alike(names: tuple[str, str]) -> bool:
        one, other = ([each for each in name if each.isdigit()] for name in names)
        return one == other and SequenceMatcher(None, fold(names[0]), fold(names[1])).ratio() >= SPELLED_ALIKE

    near = (each for each in similar_paths(path, paths) if each != path and each.count("/") == path.count("/"))
    return [each for each in near if all(map(alike, zip(path.split("/"), each.split("/"), strict=True)))]


SUFFIX = ".md"
_ENTRY_PLACE = re.compile(rf"{ENTRIES}/(?:agents/[^/]+/memory/(?:vault|archive)|shared/(?:observations|archive))/.")
RESERVED = f"the name {ENTRIES!r} is kept for the entries"


def is_markdown(name: str) -> bool:
    """Whether a file of this name looks like a page."""
    return name[-len(SUFFIX) :].lower() == SUFFIX


def is_entry_place(path: str) -> bool:
    """Whether a file below `entries` is where entries are: `entries/agents/hawk/memory/vault/…`."""
    return _ENTRY_PLACE.match(path) is not None


def name_problem(name: str) -> str | None:
    """Why a Markdown file of this name is not a page; `None` if it is."""
    if problem := file_problem(name):
        return problem
    return f"{RESERVED}; rename it" if is_reserved(name.removesuffix(SUFFIX)) else None


def file_problem(name: str) -> str | None:
    """Why a Markdown file of this name can be neither a page nor an entry; `None` if it can."""
    if not name.endswith(SUFFIX):
        return f"the name of a page ends in {SUFFIX!r}, in lower case"
    path = name.removesuffix(SUFFIX)
    if _is_page_path(path):
        return None
    try:
        page_path(path)
    except InvalidPath as error:
        return str(error)
    return "its name is not in Unicode NFC, as names that a Mac has written may be; type the name anew"


def part_clashes(pages: dict[str, Any]) -> list[tuple[str, str]]:
    """Removes pages whose paths differ from another page's only in case; returns their file names and the reasons."""
    ignored = []
    for path, other in _case_clashes(pages).items():
        del pages[path]
        ignored.append((f"{path}{SUFFIX}", f"its path equals {other!r} in all but case; rename one of the two"))
    return ignored


_is_page_path = lru_cache(maxsize=1 << 20)(is_page_path)  # every walk asks for the same names: 0.1 µs, not 7


def _case_clashes(paths: Collection[str]) -> dict[str, str]:
    """The paths that a disk that ignores case confuses with another path or a folder, each with that other one.

    Of names that differ only in case, the last in code point order stays a page: the one in lower case. `MEMORY.md`
    beside a folder `memory`, as many agents have it, is a page: nothing is ever put below the root in that folder.
    """
    names = set(paths)
    for path in list(names):
        while (path := path.rpartition("/")[0]) and path not in names:
            names.add(path)
    if len({fold(name) for name in names}) == len(names):
        return {}
    chosen = {fold(name): name for name in sorted(names)}
    clashes = {}
    for path in paths:
        for prefix in prefixes(path):
            other = chosen[fold(prefix)]
            if other != prefix and (fold(path) != ROOT or other in paths):
                clashes[path] = other
                break
    return clashes


LINK = re.compile(r"\[\[([^\[\]|#\r\n\\]+)(#[^\[\]|\r\n]*)?(\\?\|[^\[\]\r\n]*)?\]\]")
_PLAIN = re.compile(r"(?: {0,3}(?:[-*+]|\d{1,9}[.)]) {1,4})?(?:[^\W\d_]|\[\[)[^\r\n]*(?:\r\n|\r|\n)?(?=[ \t\r\n]*\Z)")
"""One line that begins with a letter or a link, also as an item: it is prose, and need not be parsed."""
_TOKEN = re.compile(r"\\[\\`\[]|`+|\[\[")


@dataclass(frozen=True, slots=True)
class Link:
    """One link: its target, and its position in the text from `start` to `end`."""

    target: str
    start: int
    end: int
    heading: str = ""
    words: str = ""

    @property
    def key(self) -> str | None:
        """The folded path under which the target is looked up; `None` if the path is not valid for a page."""
        return link_key(self.target)

    def to(self, path: str) -> str:
        """The same link, to another page."""
        return f"[[{path}{self.heading}{self.words}]]"

    def unlinked(self) -> str:
        """The words that replace the link when its page is deleted."""
        return self.words.lstrip("\\|").strip() or self.target.strip()


@lru_cache(maxsize=10_000)
def link_key(target: str) -> str | None:
    """The folded path that a target names, without the `.md` that some editors append; `None` if it is not valid."""
    try:
        return fold(page_path(re.sub(r"\.md\Z", "", target.strip(), flags=re.I)))
    except InvalidPath:
        return None


def find_links(block: Block, place: int = 0) -> list[Link]:
    """The links of a block, in order, with their positions in a text in which the block begins at `place`. Code, front
    matter and pieces have no links."""
    if "[[" not in block.text or block.kind in ("fence", "code", "html", "front matter", "piece"):
        return []
    links = []
    for start, text in _prose(block.text):
        for opening in _open_brackets(text):
            if found := LINK.match(text, opening):
                target, heading, words = found.groups()
                at = place + start
                links.append(Link(target, at + found.start(), at + found.end(), heading or "", words or ""))
    return links


def _prose(text: str) -> Iterator[tuple[int, str]]:
    """The runs of lines that are prose: items and quotes may also contain fences and indented code."""
    if plain := _PLAIN.match(text):
        yield 0, plain[0]
        return
    lines = split_lines(text)
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line))
    ranges = {tuple(token.map) for token in markdown(text) if token.type == "inline" and token.map}
    for first, last in sorted(ranges):
        yield offsets[first], text[offsets[first] : offsets[last]]


def _open_brackets(text: str) -> Iterator[int]:
    """The positions of each `[[` that is neither escaped nor inside a code span."""
    position = 0
    while token := _TOKEN.search(text, position):
        position = token.end()
        mark = token[0]
        if mark[0] == "`":
            closing = re.compile(rf"(?<!`){mark}(?!`)").search(text, position)
            position = closing.end() if closing else position
        elif mark == "[[":
            yield token.start()
            position = token.start() + 1
