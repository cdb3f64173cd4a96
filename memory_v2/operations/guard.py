"""Checks of a model's own words before they are stored. They may say to last what new text says for the moment: `today`
becomes a date, `forget that` a `(before: …)`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, timedelta
from functools import lru_cache

from memory_v2.errors import ToolProblem
from memory_v2.text.dates import find_dates, is_month
from memory_v2.text.days import DAY_OR_MONTH
from memory_v2.text.retelling import affirmed, denied, lost_words
from memory_v2.text.slug import is_meaningful, slug
from memory_v2.text.words import clauses, content_words, general, has_cjk, plain, words
from memory_v2.tree.block import Block, parse_blocks
from memory_v2.tree.page import MAX_DESCRIPTION
from memory_v2.tree.path import find_links, new_page_path

_DAYS = (
    (0, "today now heute jetzt hoy ahora hoje agora aujourd'hui maintenant 今天 今日"),
    (1, "yesterday gestern ayer ontem hier 昨天 昨日"),
)
"""How many days ago, and the words for it."""
_WEEKDAYS = (
    "monday montag lunes lundi segunda",
    "tuesday dienstag martes mardi terça",
    "wednesday mittwoch miércoles mercredi quarta",
    "thursday donnerstag jueves jeudi quinta",
    "friday freitag viernes vendredi sexta",
    "saturday samstag sábado samedi",
    "sunday sonntag domingo dimanche",
)
_SAYING = "noted told said known recorded then gesagt notiert bekannt dahin dicho anotado sabido entonces dito dit noté"
SAYING = frozenset(_SAYING.split())
"""Words with which own words tell when something was said: `(noted on 2026-03-20)`."""
_TAKEN_BACK = (
    "forget ignore disregard please instead anymore longer vergiss bitte statt anstatt olvida lugar esqueça oublie "
    "lieu change changes changed move moves moved switch switches switched postponed replaced ändert geändert verlegt "
    "verschoben wechselt umgestellt cambia cambian cambió cambiado mueve movido change changé déplacé muda mudou mudado"
)
"""The words with which something is taken back or changed."""
_FORMERLY = re.compile(r"[(（][^()（）]*\b(?:before|until|till)\b")
_BEFORE = re.compile(
    r"[(（;,]\s*(?:before|previously|formerly|until then|vorher|bisher|bis dahin|antes|hasta entonces|avant)\b"
    r"[^:()（）]{0,30}:([^()（）]+)",
    re.I,
)
_NO_LONGER = re.compile(
    r"\b(?:no longer|no more|not \w+ any ?more|nicht mehr|kein\w* mehr|ya no|já não|não mais|ne \w+ plus)\b",
    re.I,
)


def dates_meant(text: str, said_on: Collection[date]) -> str:
    """The dates that own words about a text may hold though it does not: of the days on which it may have been said, of
    the day before if it says `yesterday`, and of the nearest Monday before and after if it says `Monday`."""
    said = text.casefold()
    offsets = [-days for days, names in _DAYS if not days or any(name in said for name in names.split())]
    meant = [day + timedelta(days) for day in said_on for days in offsets]
    for weekday, names in enumerate(_WEEKDAYS):
        if any(name in said for name in names.split()):
            ahead = ((weekday - day.weekday()) % 7 for day in said_on)
            meant += (
                day + timedelta(days + week) for day, days in zip(said_on, ahead, strict=True) for week in (-7, 0)
            )
    return " ".join(f"{day} {day.day}" for day in meant)


def words_told(own: str, said_on: Collection[date], text: str) -> str:
    """What own words tell of a new text in a lasting form: words such as `today`; and where they tell something as what
    was before, what the text says of it with `no longer`."""
    told = [names for days, names in _DAYS if any(f"{day - timedelta(days)}" in own for day in said_on)]
    told += [_TAKEN_BACK] if _FORMERLY.search(own) else []
    before = set(content_words(" ".join(_BEFORE.findall(own))))
    taken_back = (clause for clause in clauses(text) if _NO_LONGER.search(clause))
    return ". ".join([" ".join(told), *(clause for clause in taken_back if before.intersection(content_words(clause)))])


MAX_TITLE = 120
"""The longest title, in characters."""
GROUNDED_SHARE = 0.7
"""The least share of the words in each sentence of a model's own that must occur in its sources."""
DESCRIBED_SHARE = 0.2
"""The same for a description, which may use more general words."""
BEGINNING = 5
"""How many characters the forms of a word have in common in a title or description: `deploys`, `deployed`."""
SAID_SHARE = 0.6
"""The same for the words of a new block that has only general ones, or none between spaces."""
LONGEST_LEAD = 60
"""Limits a line that only leads in what follows, in characters: `More small things:`."""
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
    of its words. `above` is what is above the text: titles, headings and paths. Empty for a horizontal rule."""
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
    the details that they do not have; nothing, if it is a lead. `placed` maps each new block to its page."""
    heading, parts = blocks[number - 1], list[int]()
    if heading.kind != "heading":
        return [] if placed else [f"n{number} is all that there is: place it"]
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


def only_leads(block: Block) -> bool:
    """Whether a block says nothing of its own: a heading, or a short line that leads in what follows."""
    lead = block.content.strip()
    is_lead = block.kind == "paragraph" and lead.endswith((":", "：")) and len(lead) <= LONGEST_LEAD
    return block.kind == "heading" or (is_lead and not details(lead))


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
    """Raises `ToolProblem` if a line has a word of letters and digits that its sources do not have, nor their plain
    words."""
    mixed = {word for word in words(line) if any(map(str.isdigit, word)) and any(map(str.isalpha, word))}
    if (invented := mixed.difference(words(sources))) and (invented := invented.difference(words(plain(sources)))):
        raise ToolProblem(f"{what} holds {', '.join(sorted(invented)[:5])}, which the page does not; use its own words")


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


_IN_BRACKETS = re.compile(r"\((?:[^()]|\([^()]*\))*\)|（[^（）]*）|~~[^~]*~~")
_FORMER_TIMES = re.compile(r"\b(?:before|previously|formerly|no longer|instead of)\b[^.;\n]*", re.IGNORECASE)


def stale_values(line: str, before: str, after: str, page: str) -> list[str]:
    """The values in a line that blocks had which were taken out (`before`), and that what is there now does not
    have (`after`), except as something that was so before. Names are looked for on the whole page as it is now."""
    now, formerly = _said_now(after), "\n".join(_IN_BRACKETS.findall(after))
    aside = "\n".join(_IN_BRACKETS.findall(before))
    return sorted(
        value
        for value in details(before)
        if _stands(value, line)
        and not _stands(value, now)
        and not (_stands(value, aside) and _stands(value, formerly))
        and not (value[0].isalpha() and _stands(value, _said_now(page)))
    )


def _said_now(text: str) -> str:
    """A text without what it says in brackets, or of former times."""
    return _FORMER_TIMES.sub(" ", _IN_BRACKETS.sub(" ", text))


def _stands(value: str, text: str) -> bool:
    """Whether a text has a value, in the singular or the plural."""
    if value.casefold() in words(text) or re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE):
        return True
    terms = set(content_words(value))
    return bool(terms) and value[0].isalpha() and terms <= set(content_words(text))
