"""What a write has taken out of the text of pages, as an agent is told of it: a fact that is not true any more may
still stand, and one that is may be gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from memory_v2.storage.history import Change
from memory_v2.text.plain import plain
from memory_v2.tree.block import decode, split_lines
from memory_v2.tree.page import parse_page


def taken_out(changes: Iterable[Change]) -> tuple[list[str], bool]:
    """The lines that stood on a page before and stand on none now, without markup; and whether anything stood on a page
    whose text has changed."""
    before: dict[str, list[str]] = {}
    after: dict[str, list[str]] = {}
    for page in (page for change in changes for page in change.pages):
        before.setdefault(page.path, _lines(page.path, page.before))
        after[page.path] = _lines(page.path, page.after)
    left = Counter(line for lines in after.values() for line in lines)
    left.subtract(line for lines in before.values() for line in lines)
    gone = Counter({line: -count for line, count in left.items() if count < 0})
    stood = any(len(lines) > 1 and lines != after[path] for path, lines in before.items())  # one is its title
    return [line for lines in before.values() for line in dict.fromkeys(lines) if gone.pop(line, 0)], stood


def _lines(path: str, data: bytes | None) -> list[str]:
    page = parse_page(path, decode(data or b""))
    texts = (block.text for block in page.blocks if block.kind != "front matter")
    return [told for text in texts for line in split_lines(text) if (told := plain(line).lstrip("# "))]
