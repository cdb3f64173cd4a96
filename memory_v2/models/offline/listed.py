"""What is known of the pages that a catalogue lists: what each is called, what it is about, and where it belongs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from memory_v2.models.briefs import SplitBrief
from memory_v2.models.offline.naming import common_stems, terms_of
from memory_v2.text.dates import find_dates, named_span
from memory_v2.text.plain import plain
from memory_v2.text.words import has_cjk, stem, unbroken_words, words
from memory_v2.tree.block import readable
from memory_v2.tree.front_matter import read_front_matter
from memory_v2.tree.link import link_key
from memory_v2.tree.page import ChildLink, Page
from memory_v2.tree.path import child_path, fold

TITLE_COUNT = 20
"""How many mentions in the text a word of the title is worth, and a tag."""
MAX_TEXT = 4_000
"""How much of a page is read for what it is about, in characters: the beginning says it, and pages are many."""
MAX_ASKED = 3
"""How many of the pages that a group lists are asked for their folder: they were put together by it or not."""
MAX_RUN = 16
"""Up to how many characters a run without spaces is one word to look for; a longer one is a sentence."""
_NOT_PROSE = frozenset(["fence", "code", "html", "front matter"])


@dataclass(frozen=True)
class Listed:
    """A listed page. `text` is the beginning of its prose, `tags` and `folder` are where its author put it. A group is
    a page made for links only, to which more may be added; `below` are the titles of what it lists."""

    number: int
    link: ChildLink
    title: str
    text: str = ""
    tags: tuple[str, ...] = ()
    folder: str = ""
    is_group: bool = False
    below: tuple[str, ...] = field(default=())

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.link.target.rsplit("/", 1)[-1]

    @cached_property
    def title_stems(self) -> tuple[str, ...]:
        """The stems of the words of the title that somebody may look for, in order."""
        return stems_of(self.title)

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each term is mentioned; those of the title and the tags count many times."""
        found = Counter(term[0] for term in terms_of(f"{self.link.description}\n{self.text}") if len(term) == 1)
        for term in {term[0] for words_ in (self.title, *self.tags, *self.below) for term in terms_of(words_)}:
            found[term] += TITLE_COUNT
        return found

    @property
    def period(self) -> str:
        """The month of a page that is named for a day and nothing else, or the year of one named for a month."""
        for words_ in (self.name, self.title):
            if (span := named_span(words_)) and words_[4:]:
                return words_[:4] if len(words_) == 7 else f"{span.start:%Y-%m}"
        found = find_dates(self.title)
        if len(found) != 1:
            return ""
        span, start, end = found[0]
        rest = f"{self.title[:start]} {self.title[end:]}"
        is_day = span.start == span.end
        return f"{span.start:%Y-%m}" if is_day and not [term for term in terms_of(rest) if is_telling(term[0])] else ""


@dataclass(frozen=True)
class Group:
    """Listed pages that go to one page: a new one, or `home`, a group that is there. `name` and `title` are empty if
    nothing but the pages themselves can name it."""

    members: tuple[Listed, ...]
    home: Listed | None = None
    name: str = ""
    title: str = ""


def stems_of(title: str) -> tuple[str, ...]:
    """The stems of the words of a title that somebody may look for, in order, each once."""
    return tuple(dict.fromkeys(stem(word) for word in looked_for(title)))


def looked_for(title: str) -> list[str]:
    """The words of a title that somebody may look for, in order. In a script without spaces that is what stands between
    two marks, unless that is long."""
    found = []
    for word in unbroken_words(title):
        if not has_cjk(word):
            found += [word] if len(word) > 2 else []
        else:
            found += [word] if len(word) <= MAX_RUN else words(word)
    return found


_SAYS_LITTLE = frozenset(
    ["daily", "weekly", "monthly", "log", "diary", "journal", "memory", "session", "report", "sync"]
)


def is_telling(stemmed: str) -> bool:
    """Whether a word says more than that something was noted."""
    return stemmed not in _SAYS_LITTLE and stemmed not in common_stems()


def listed_on(brief: SplitBrief) -> list[Listed]:
    """What is known of each page that the page of the brief lists, in order."""
    return [_listed(brief, number, link) for number, link in enumerate(brief.view.page.children, 1)]


def _listed(brief: SplitBrief, number: int, link: ChildLink) -> Listed:
    page = brief.about(link.target)
    told, _, _ = plain(link.description).rpartition(": ")
    told = told or plain(link.description)
    name = link.target.rsplit("/", 1)[-1].replace("-", " ")
    if page is None:
        return Listed(number, link, told or name)
    if _is_group(brief, link, page):
        below = tuple(title_in(child) for child in page.children)
        text = "\n".join(child.description for child in page.children)[: 2 * MAX_TEXT]
        return Listed(number, link, page.title, text, folder=_folder_of_all(brief, page), is_group=True, below=below)
    title = readable(page.title)
    if fold(title) == fold(link.target.rsplit("/", 1)[-1]):  # it has no title of its own
        title = told or name
    text = "\n".join(readable(block.words) for block in page.blocks if block.kind not in _NOT_PROSE)[:MAX_TEXT]
    tags = read_front_matter(page.body).tags if page.body.startswith(("---", "\ufeff---")) else ()
    return Listed(number, link, plain(title), text, tags, _folder(brief, page))


def title_in(link: ChildLink) -> str:
    """The title of a page in the line by which it is listed: what stands before the last colon."""
    told = plain(link.description)
    return told.rpartition(": ")[0] or told or link.target.rsplit("/", 1)[-1].replace("-", " ")


@lru_cache(maxsize=4_096)
def said_in(link: ChildLink) -> frozenset[str]:
    """The stems of the words of a line: of the name and the description."""
    return frozenset(stems_of(f"{link.target.rsplit('/', 1)[-1].replace('-', ' ')} {plain(link.description)}"))


def _is_group(brief: SplitBrief, link: ChildLink, page: Page) -> bool:
    """Whether a page was made by a split, holds nothing but links, or a log of the time it is named for, and can be
    added to."""
    name = link.target.rsplit("/", 1)[-1]
    own = child_path(brief.view.page.path, name)
    return (
        "split_from" in page.properties
        and bool(page.children)
        and (all(block.kind == "heading" for block in page.blocks) or named_span(name) is not None)
        and link_key(link.target) == fold(own)
        and fold(link.target) != fold(brief.view.page.path)
        and not brief.is_piece(link.target)
    )


def _folder(brief: SplitBrief, page: Page) -> str:
    """The folder of the page's source, or else the folder in which the page stands, below the one of the catalogue."""
    if source := page.properties.get("source", ""):
        return source.replace("\\", "/").rpartition("/")[0].strip("/")
    above = child_path(brief.view.page.path, "x")[:-1]
    folder = page.path.rpartition("/")[0]
    return folder[len(above) :] if folder.startswith(above) else folder


def _folder_of_all(brief: SplitBrief, group: Page) -> str:
    """The folder of the pages that a group lists, if they have one in common."""
    found: list[str] = []
    waiting = [child.target for child in reversed(group.children)]
    for _ in range(4 * MAX_ASKED):
        if not waiting or len(found) == MAX_ASKED:
            break
        page = brief.about(waiting.pop())
        if page is not None and "source" not in page.properties and page.children:
            waiting += [child.target for child in reversed(page.children[:MAX_ASKED])]
        elif page is not None:
            found.append(_folder(brief, page))
    return shared_folder(found)


def shared_folder(folders: Sequence[str]) -> str:
    """The folder that holds all of these."""
    parts = [folder.split("/") for folder in folders if folder]
    if not parts or len(parts) < len(folders):
        return ""
    shared = []
    for level in zip(*parts, strict=False):
        if len(set(level)) > 1:
            break
        shared.append(level[0])
    return "/".join(shared)
