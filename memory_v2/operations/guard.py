"""Checks of a model's own words before they are stored."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from memory_v2.errors import ToolProblem
from memory_v2.operations.spoken import SAYING
from memory_v2.text.calendar import DAY_OR_MONTH
from memory_v2.text.dates import find_dates, is_month
from memory_v2.text.lists import general
from memory_v2.text.negation import affirmed, denied
from memory_v2.text.retelling import lost_words
from memory_v2.text.sentences import clauses
from memory_v2.text.slug import is_meaningful, slug
from memory_v2.text.words import content_words, has_cjk, words
from memory_v2.tree.block import Block, parse_blocks
from memory_v2.tree.link import find_links
from memory_v2.tree.path import new_page_path

MAX_TITLE = 120
"""The longest title, in characters."""
MAX_DESCRIPTION = 240
"""The longest description, in characters."""
GROUNDED_SHARE = 0.7
"""The least share of the words in each sentence of a model's own that must occur in its sources."""
DESCRIBED_SHARE = 0.2
"""The same for a description, which may use more general words."""
BEGINNING = 5
"""How many characters the forms of a word have in common in a title or description: `deploys`, `deployed`."""
SAID_SHARE = 0.6
"""The same for the words of a new block that has only general ones, or none between spaces."""
SHORTEST_REPEAT = 4
"""The fewest words of a block that count as repeated within a longer one. Shorter ones may be a name."""

_NUMBER = re.compile(r"\d+(?:[.,:/\-]\d+)*")
_CODE = re.compile(r"`([^`\r\n]+)`")
_NAME = re.compile(r"(?<![.!?:]\s)(?<!^)(?<![\w'’])[A-ZÀ-ÖØ-ÞА-Я][\w'’]+", re.M)


def details(text: str) -> set[str]:
    """What must survive of a text word for word: numbers, dates, versions, names, code and links."""
    found = {m[0] for m in _NUMBER.finditer(text)}
    found |= {m[1].strip().casefold() for m in _CODE.finditer(text)}
    found |= {m[0].casefold() for m in _NAME.finditer(text)}
    found |= {link.target.strip().casefold() for block in parse_blocks(text) for link in find_links(block)}
    return found - {""}


def missing_from(block: Block, said: str, above: str = "") -> list[str]:
    """The details and other words of a block that a text lacks; or the beginning of the block, if the text has too few
    of its words. `above` is what stands above the text: titles, headings and paths. Empty for a horizontal rule."""
    if block.kind == "rule":
        return []
    missing = sorted(detail for detail in details(block.content) if not _is_said(detail, said))
    missing += [clause.strip()[:80] for clause in affirmed(block.content, said)]
    if missing := missing or lost_words(block.content, f"{said}\n{above}"):
        return missing
    own = set(content_words(block.content)) or set(words(block.content))
    if not own:
        return [] if block.content.strip().casefold() in said.casefold() else [block.content.strip()[:80]]
    if own - general() and not has_cjk(block.content):
        return []
    there = set(content_words(said)) | set(words(said))
    return [] if len(own & there) >= SAID_SHARE * len(own) else [block.content.strip()[:80]]


def denied_by(block: Block, said: str) -> list[str]:
    """The beginnings of the clauses of a block of which a text says the opposite."""
    return [] if block.kind == "rule" else [clause.strip()[:80] for clause in denied(block.content, said)]


def _is_said(detail: str, said: str) -> bool:
    """Whether a text contains a detail as a whole, or as a plural or genitive: port 8080 does not contain port 80."""
    if _NUMBER.fullmatch(detail):
        return detail in {m[0] for m in _NUMBER.finditer(said)}
    return re.search(rf"(?<!\w){re.escape(detail)}(?:['’]?s)?(?!\w)", said, re.IGNORECASE) is not None


def repeats(own: str, told: str) -> bool:
    """Whether words of a model's own, in normal form, are those of a block, or hold it as a whole with others."""
    if own == told or told not in own or len(words(told)) < SHORTEST_REPEAT:
        return own == told
    return has_cjk(told) or re.search(rf"(?<!\w){re.escape(told)}(?!\w)", own) is not None


def check_own_words(text: str, sources: Iterable[str], what: str) -> str:
    """Returns a model's own words if the sources support them; raises `ToolProblem` otherwise."""
    joined = "\n".join(sources)
    if invented := sorted({m[0] for m in _NUMBER.finditer(text)} - _numbers_said(joined)):
        raise ToolProblem(f"{what} holds {', '.join(invented[:5])}, which the text does not; use its own numbers only")
    told = _terms(joined)
    parts = (part for line in text.splitlines() for part in clauses(line, at_commas=False))
    claims = [own for part in parts if (own := _terms(part) - SAYING)]
    invented = next((sorted(own - told) for own in claims if len(own & told) < GROUNDED_SHARE * len(own)), [])
    if invented or not claims:
        named = f" ({', '.join(invented[:5])})" if invented else ""
        raise ToolProblem(
            f"{what} says what the text does not{named}; say only what it says, in its own terms, or place its blocks"
        )
    return text


def _numbers_said(text: str) -> set[str]:
    """The numbers in a text, and the years and months of its dates."""
    numbers = {m[0] for m in _NUMBER.finditer(text)}
    for number in tuple(numbers):
        if re.fullmatch(DAY_OR_MONTH, number):
            numbers |= {number[:4], number[:7]}
    return numbers


def check_title(title: str, sources: Iterable[str]) -> str:
    """Returns a title if it is one short line that shares words with its sources; raises `ToolProblem` otherwise."""
    line, told = _line(title, MAX_TITLE, "a title"), "\n".join(sources)
    _check_identifiers(line, told, "the title")
    if any(_grounded(part, told) == 0 for part in clauses(line, at_commas=False)):
        raise ToolProblem("the title has no word in common with the page; name the page's subject")
    return line


def check_description(description: str, sources: Iterable[str]) -> str:
    """Returns a description if it is one line in the words of its sources; raises `ToolProblem` otherwise."""
    line, told = _line(description, MAX_DESCRIPTION, "a description"), "\n".join(sources)
    _check_identifiers(line, told, "the description")
    if _grounded(line, told) < DESCRIBED_SHARE:
        raise ToolProblem("the description says little of what is on the page; name it in its words: who, what, when")
    return line


def lost_with_heading(
    number: int, blocks: Sequence[Block], placed: Mapping[int, str], left_out: Collection[int]
) -> list[str]:
    """What is lost if a heading of a new text, by its number, is left out: its place if its parts stay together, and
    the details that they do not have. `placed` maps each new block to its page."""
    heading, parts = blocks[number - 1], list[int]()
    for other in range(number + 1, len(blocks) + 1):
        block = blocks[other - 1]
        if block.kind == "heading" and block.level <= heading.level:
            break
        if block.kind != "rule" and other not in left_out:
            parts.append(other)
    if len({placed.get(part, "") for part in parts}) < 2:
        return [f"n{number} heads parts that go to one page: place it there with them"]
    details_lost = {
        detail
        for part in parts
        for detail in details(heading.words)
        if not _is_said(detail, f"{blocks[part - 1].content}\n{placed.get(part, '')}")
    }
    if not details_lost:
        return []
    lost = ", ".join(sorted(details_lost)[:5])
    return [f"n{number} says {lost}, which its parts do not: place it over them on each page that they go to"]


def check_child(path: str) -> str:
    """Returns the path of a new page if it is valid and meaningful; raises `ToolProblem` or `InvalidPath` otherwise."""
    checked = new_page_path(path.strip())
    name = checked.rsplit("/", 1)[-1]
    if not is_meaningful(name):
        better = slug(name) or "a name"
        raise ToolProblem(f"{better!r} does not tell what is on the page; name it by its subject")
    return checked


def _line(text: str, limit: int, what: str) -> str:
    line = " ".join(text.split())
    if not line or len(line) > limit:
        raise ToolProblem(f"{what} is one line of 1 to {limit} characters; this one has {len(line)}")
    if any(unicodedata.category(c) in ("Cc", "Cs") for c in line) or "[[" in line or "]]" in line:
        raise ToolProblem(f"{what} is plain words, without links and control characters")
    return line


def _check_identifiers(line: str, sources: str, what: str) -> None:
    """Raises `ToolProblem` if a line has a word of letters and digits that its sources do not have."""
    mixed = {word for word in words(line) if any(map(str.isdigit, word)) and any(map(str.isalpha, word))}
    if mixed and (invented := sorted(mixed - set(words(sources)))):
        raise ToolProblem(f"{what} holds {', '.join(invented[:5])}, which the page does not; use its own words")


def _grounded(line: str, sources: str) -> float:
    """The share of a line's words that occur in its sources, or of its characters if either has no content words. Dates
    are ignored: `Apr–May 2023` is another way to write `2023-04` and `2023-05`."""
    undated = line
    for _, start, end in reversed(find_dates(line)):
        undated = f"{undated[:start]} {undated[end:]}"
    dated = undated != line
    own = {term for term in _terms(undated) if not any(map(str.isdigit, term)) and not (dated and is_month(term))}
    if not own and dated:
        return 1.0
    told = _terms(sources)
    if not own or not told:
        own, told = set(line.casefold()) - {" "}, set(sources.casefold())
    beginnings = {term[:BEGINNING] for term in told}
    return sum(term[:BEGINNING] in beginnings for term in own) / len(own)


@lru_cache(maxsize=8)
def _terms(text: str) -> set[str]:
    """The content words of a text, including the parts of names such as `last_updated`."""
    terms = set(content_words(text))
    if "_" in text:
        terms |= set(content_words(text.replace("_", " ")))
    return terms | set(words(text)) if has_cjk(text) else terms


def sizes(blocks: Sequence[Block], numbers: Iterable[int]) -> int:
    """The total size in bytes of the blocks with these numbers."""
    return sum(blocks[number - 1].size for number in numbers)
