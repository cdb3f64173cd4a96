"""What may be the path of a page.

A path is `projects/silica`: segments joined by `/`, in Unicode NFC. It is written on every file system and into
`[[links]]`, so it obeys the strictest of them; a path that does not is refused, never repaired in silence.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from memory_v2.errors import InvalidPath

ROOT = "memory"
MAX_SEGMENT_BYTES = 100
MAX_PATH_BYTES = 240
MAX_DEPTH = 12

_FORBIDDEN = frozenset('<>:"|?*\\[]#^')
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{device}{digit}" for device in ("com", "lpt") for digit in "0123456789¹²³"]
)
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def page_path(text: str) -> str:
    """The path `text` in NFC; raises `InvalidPath`, saying which rule it breaks, if no page may have it."""
    if not isinstance(text, str):
        raise InvalidPath(f"a path is text, not {type(text).__name__}")
    path = unicodedata.normalize("NFC", text)
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
        return f"a path cannot hold {' '.join(wrong)}"
    if segment.casefold().endswith(".md"):
        return "leave '.md' off"
    if segment.split(".")[0].strip().casefold() in _DEVICES:
        return f"{segment!r} is the name of a device on Windows"
    if len(segment.encode()) > MAX_SEGMENT_BYTES:
        return f"a part of a path is at most {MAX_SEGMENT_BYTES} bytes long"
    return None


def is_page_path(text: str) -> bool:
    """Whether `text` is a path as it stands: valid, and in NFC already."""
    try:
        return page_path(text) == text
    except InvalidPath:
        return False


def fold(path: str) -> str:
    """The form in which two paths are equal when a case-insensitive disk holds them to be the same."""
    return unicodedata.normalize("NFC", path.casefold())


def prefixes(path: str) -> list[str]:
    """`a/b/c` → `["a", "a/b", "a/b/c"]`."""
    segments = path.split("/")
    return ["/".join(segments[: i + 1]) for i in range(len(segments))]


class TakenPaths:
    """Which paths no new page may have, because of the pages there are: on a disk that ignores case `Projects/a` and
    `projects/b` would lie in one folder, of which only one spelling can be kept."""

    def __init__(self, pages: Iterable[str]) -> None:
        self._pages: dict[str, str] = {}
        self._spelled: dict[str, str] = {}
        for path in pages:
            self.add(path)

    def add(self, path: str) -> None:
        """From now on this path is taken too."""
        self._pages[fold(path)] = path
        for prefix in prefixes(path):
            self._spelled.setdefault(fold(prefix), prefix)

    def page(self, path: str) -> str | None:
        """The page of this path, in its own spelling, whatever the case in which it is asked for."""
        return self._pages.get(fold(path))

    def below(self, path: str) -> bool:
        """Whether a page is there, or any below it."""
        return fold(path) in self._spelled

    def clash(self, path: str) -> str | None:
        """The page or folder that the path, or a folder above it, equals in all but case."""
        for prefix in prefixes(path):
            if (taken := self._spelled.get(fold(prefix), prefix)) != prefix:
                return taken
        return None

    def __contains__(self, path: str) -> bool:
        return self.page(path) is not None or self.clash(path) is not None


def child_path(parent: str, name: str) -> str:
    """Where a child called `name` of the page `parent` lives: the root's children at the top, others below their page,
    or, where that would be too deep or too long, below one above it."""
    above = [] if parent == ROOT else parent.split("/")[: MAX_DEPTH - 1]
    while above and len("/".join([*above, name]).encode()) > MAX_PATH_BYTES // 2:
        above.pop()
    return "/".join([*above, name])
