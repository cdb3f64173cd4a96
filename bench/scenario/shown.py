"""What a model was shown of the tree for a text, and what of it was of use."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bench.scenario.key import Text
from bench.scenario.play import Step
from memory_v2.tree.page import parse_page
from memory_v2.tree.path import ROOT

_PAGE = re.compile(r"^page (\S+) · ", re.M)
_PASSAGE = re.compile(r"^\[p\d+\] (\S+) \[", re.M)
_END = "\n====="


@dataclass(frozen=True, slots=True)
class Shown:
    """The first message for one text. `pages` gives the characters of each page in it, `passages` names the pages of
    single places, `needed` the pages whose body the decision then changed, and `size` is all that was sent, with the
    tools, in characters."""

    pages: dict[str, int]
    passages: frozenset[str]
    needed: frozenset[str]
    size: int

    @property
    def useless(self) -> int:
        """The characters of pages that were not needed, the root excepted."""
        return sum(size for path, size in self.pages.items() if path not in self.needed and path != ROOT)


def shown_to(step: Step) -> Shown | None:
    """What was shown for a text; `None` if no model was asked in words."""
    asked, messages = step.trace.of("ask"), step.trace.of("message")
    if not isinstance(step.asked, Text) or not messages or "text" not in messages[0]:
        return None
    text = str(messages[0]["text"])
    pages = text[text.index("===== PAGES") :]
    pages, _, rest = pages.removeprefix("=====").partition(_END)
    starts = [*_PAGE.finditer(pages)]
    ends = [*(found.start() for found in starts[1:]), len(pages)]
    sizes = {found[1]: end - found.start() for found, end in zip(starts, ends, strict=True)}
    changed = (page for event in step.trace.of("commit")[:1] for page in event["pages"] if page["before"] is not None)
    needed = {page["path"] for page in changed if _body(page, "before") != _body(page, "after")}
    size = len(text) + len(str(asked[0]["system"])) + len(json.dumps(asked[0]["tools"], ensure_ascii=False))
    return Shown(sizes, frozenset(_PASSAGE.findall(rest)), frozenset(needed), size)


def of_shown(steps: Iterable[Step]) -> Iterator[str]:
    """The needed pages that were shown, and how much was shown that was not needed."""
    told = [shown for step in steps if (shown := shown_to(step)) is not None]
    if not told:
        return
    needed = sum(len(one.needed) for one in told)
    at_once = sum(len(one.needed & one.pages.keys()) for one in told)
    passages = sum(len((one.needed & one.passages) - one.pages.keys()) for one in told)
    useless, size = sum(one.useless for one in told), sum(one.size for one in told)
    yield f"\npages that a text changed: {needed}; shown at once: {at_once}, and by a passage only: {passages}"
    yield f"page text that was of no use: {useless / size:.1%} of what a write sends first"


def _body(page: dict[str, str | None], when: str) -> str:
    return parse_page(str(page["path"]), page[when] or "").body
