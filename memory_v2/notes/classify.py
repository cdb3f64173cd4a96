"""What an item is, and how sure that is: a contact, a decision, a lesson, a metric, an issue, or pending; and whether
it is over.

A label on the line itself (`**Key lesson**: …`, an open box) is a marker, and so are words that state it outright
(`declined`, `does not work`, `not yet`); a heading or an introducing line above it is weaker, words that only mention
it (`error`, `decision`) are weakest. What is quoted, code, a tool's output or a template says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal, TypeAlias

from memory_v2.files.listing import without_suffix
from memory_v2.notes.languages import (
    CATEGORIES,
    WORD,
    Category,
    Field,
    bare,
    cues,
    labels_as,
    mentioned,
    mentions,
    pattern,
    says,
    says_something,
)
from memory_v2.notes.measures import is_change, readings
from memory_v2.notes.note import Item
from memory_v2.notes.people import Aliases, handles, heading_name, linked
from memory_v2.text.days import STAMP

Grade: TypeAlias = Literal["marker", "heading", "keyword"]
Verdict: TypeAlias = tuple[Grade, str]
"""A grade, and the words that say so."""
GRADES: tuple[Grade, ...] = ("marker", "heading", "keyword")
"""From the surest to the least sure."""
LONGEST_LABEL = 5
"""How many words a label has at most: what is longer before a colon is a sentence."""
LONGEST_SAID = 1_500
"""The longest item that is judged by words inside it, in characters: a longer one is about many things."""

LASTING = "memory"
"""The name of the file in which agents keep what lasts."""
OPEN: frozenset[Category] = frozenset(["issues", "pending"])
"""What a section of any document may list. Its rules or its contacts may be those that it describes."""

_STAMP = re.compile(rf"\[?{STAMP}\]?[ \t:—–-]*|\d\d?:\d\d[ \t:—–-]*")
_BOLD = re.compile(r"(?:\*\*|__)((?:(?!\*\*|__).)+?)(?:\*\*|__)(\s*[:：])?")
_LABEL = re.compile(r"(?<![\W_])[\W_]*([^:：\n]{2,60})[:：](?!//|\d\d)")
"""It begins where a run of marks does: else a drawing of thousands of them is looked through from each of them."""
_CODE = re.compile(r"`[^`\n]*`")
_ADDRESS = re.compile(r"[:：][\s*_]*([\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,})(?![\w@])")
"""An e-mail address behind a label. Elsewhere it may be anything, such as where a program writes to."""
_IN_BRACKETS = re.compile(r"\s*[(（][^()（）]*[)）]")
_ONLY_LABEL = re.compile(r"[^:：]{0,160}[:：][\s*_]*")
_FOOTER = re.compile(r"(\*|_)(?![*_\s])(?:(?!\1).)+\1\Z|\*\*[^*]+\*{1,2}[:：]?\Z", re.S)
"""A line in italics alone, as reports end with; and bold words alone, which introduce what follows."""
_LABELLED = re.compile(r"\*\*[^*\n]+(?:[:：]\*\*|\*\*\s*[:：])")
_MEASURE = re.compile(r"[$€£]\d|\d ?(?:%|ms|s|sec|seconds?|min|minutes?|hours?|kb|mb|gb|tokens?)(?!\w)")
"""A number with its unit."""
_PART = re.compile(r"\W*(?:[^\W\d]+ ?\d+|第?\w{1,3}阶段)\b")
"""How the heading of a part of a plan begins, such as `Phase 2: …`."""
_SIGNS: tuple[tuple[str, Category], ...] = (
    ("⚠", "issues"),
    ("❌", "issues"),
    ("🐛", "issues"),
    ("🚨", "issues"),
    ("💡", "lessons"),
    ("⏳", "pending"),
    ("☐", "pending"),
    ("⬜", "pending"),
    ("🔲", "pending"),
)
_SIGN = re.compile(r"[*_ ]*(?:[✅☑✔✓]|" + "|".join(sign for sign, _ in _SIGNS) + ")")
_TOOL = re.compile(
    r"(?:assistant|tool|system|function|toolresult|tool_result|observation)\s*[:：>]|\{\s*[\"'}]|\[\s*[{\"]"
    r"|</?(?:tool|function|system|result|output|invoke)\w*"
    r"|\$ \S|>>> |\[?(?:DEBUG|INFO|WARN|TRACE)\]?[ :]|Traceback \(|\s*at \S+\(.*:\d+\)|npm (?:ERR|WARN)",
    re.I,
)
_TEMPLATE = re.compile(
    r"\{\{.*?\}\}|\{%.*?%\}|<[A-Za-zÀ-ÿ][^<>\n]{0,60}>|\[(?:[A-Z][a-z]+ ?){1,4}\](?!\()|YYYY|\bTBD\b|_{4,}"
)

_MAY_BE_TEMPLATE = re.compile(r"[{<\[]|YYYY|TBD|____")
"""One of these is in each place of a form. Most lines have none, which is told faster."""


def is_template(name: str) -> bool:
    """Whether a file is a form to be filled in, by its name."""
    *above, last = without_suffix(name.casefold()).replace("_", "-").split("/")
    return bool({"template", "templates"}.intersection((*above, *last.split("-"))))


def is_foreign(text: str) -> bool:
    """Whether an item is the output of a tool, a place in a form that nobody has filled in, or only a day."""
    said = _STAMP.sub("", text, count=1)
    if _TOOL.match(said):
        return True
    rest = _STAMP.sub("", _LABEL.sub("", said, count=1).lstrip("*_ "), count=1)
    own = _TEMPLATE.sub("", rest) if _MAY_BE_TEMPLATE.search(rest) else rest
    return not WORD.search(own)


def is_footer(item: Item) -> bool:
    """Whether an item is in italics or bold alone: it signs a note, or introduces what follows."""
    return item.kind == "paragraph" and all(map(_FOOTER.match, item.text.splitlines()))


def named_in(item: Item, aliases: Aliases) -> list[str]:
    """The people that an item names, surest first."""
    head = heading_name(_STAMP.sub("", item.text, count=1))
    found = [*linked(item.text), *aliases.named(item.text), *([head] if head else []), *handles(item.text)]
    return list(dict.fromkeys(map(aliases.known, found)))


def classified(item: Item, name: str, people: Sequence[str]) -> dict[Category, Verdict]:
    """The categories of an item, each with its grade and the words that say so. A marker of one category goes before
    the heading of another."""
    if _ONLY_LABEL.fullmatch(item.text):  # it introduces what is below, and says nothing itself
        return {}
    marked, above = _by_marker(item), _by_heading(item, name)
    if list(marked) == ["issues"] and "pending" in above:  # a task that has a problem is still one
        marked["pending"] = above["pending"]
    found = {**(marked or above), **_by_statement(item, is_labelled=bool(marked))}
    verdicts = {name: verdict for name, verdict in found.items() if _bears_out(item, name, verdict[0], people)}
    for category, by in _by_keyword(item, people).items():
        if category not in verdicts and _bears_out(item, category, "keyword", people):
            verdicts[category] = ("keyword", by)
    return verdicts


def _by_marker(item: Item) -> dict[Category, Verdict]:
    found: dict[Category, Verdict] = {}
    for label in labels(item.text):
        plain = bare(label)
        found_in = ((category, words) for category in CATEGORIES for words in cues(plain, category, "markers"))
        said = [one for one in found_in if labels_as(plain, *one)]
        if said:
            category, words = max(said, key=lambda one: len(one[1]))  # `critical discovery` is more than `discovery`
            found.setdefault(category, ("marker", words))
    cells = item.text.split("|") if item.kind == "row" else [item.text]
    signed = [cell for cell in cells if _SIGN.match(cell)]
    for sign, category in _SIGNS if len(signed) == 1 else ():  # with several, a row compares
        if any(cell.lstrip("*_ ").startswith(sign) for cell in cells):
            found.setdefault(category, ("marker", sign))
    if item.is_done is not None and not found:
        found["pending"] = ("marker", "[ ]" if not item.is_done else "[x]")
    if linked(item.text) and item.text.startswith("[["):
        found.setdefault("contacts", ("marker", "[[people]]"))
    if address := _ADDRESS.search(item.text):
        found.setdefault("contacts", ("marker", address[1]))
    if "metrics" not in found and is_change(item.text):
        found["metrics"] = ("marker", "from … to")
    return found


def labels(text: str) -> Iterator[str]:
    """The words with which a line says what it is: before a colon at its start, and bold words before a colon."""
    if ":" not in text and "：" not in text:  # as in most lines
        return
    text = _CODE.sub(" ", text)
    said = _STAMP.sub("", text.lstrip("*_ "), count=1)
    first = _LABEL.match(_IN_BRACKETS.sub("", said))
    if first and len(first[1].split()) <= LONGEST_LABEL:
        yield first[1]
    for bold in _BOLD.finditer(text):
        words = bold[1]
        if not bold[2]:
            words, colon, _ = words.partition(":") if ":" in words else words.partition("：")
            if not colon:
                continue
        words = _IN_BRACKETS.sub("", words)
        if 0 < len(words.split()) <= LONGEST_LABEL:
            yield words


def _by_heading(item: Item, name: str) -> Mapping[Category, Verdict]:
    """By the nearest line above that says something, else by a title further up, else by the name of the file."""
    if is_footer(item):
        return {}
    stem, is_log = _named(name)
    is_log = is_log or item.day is not None
    for words in map(_first_cell, reversed(item.leads)):
        is_label = len(_IN_BRACKETS.sub("", words).split()) <= LONGEST_LABEL
        if found := _said_by(words, ("titles", "headings", "markers") if is_label else ("titles", "headings"), is_log):
            return found
    for words in item.headings[-1:]:
        if found := _said_by(words, ("titles", "headings"), is_log):
            return found
        label, colon, _ = words.partition(":")  # `Problem: …` is told below; a decision, by the heading itself
        if colon and (found := _said_by(label, ("markers",))) and "issues" in found:
            return found
    is_labelled = item.kind == "paragraph" and _LABELLED.match(item.text)
    has_label = is_labelled or any(map(_FOOTER.match, item.leads))  # a fix, or the files it touched
    for words in () if has_label else reversed(item.headings[:-1]):
        if found := _said_by(words, ("titles",), is_log):
            return found
    if not has_label and item.dated_by in ("", "front matter") and _is_part_of_plan(item):
        return {"pending": ("heading", item.headings[-1])}
    return _said_by(stem, ("titles",))


def _is_part_of_plan(item: Item) -> bool:
    words = bare(item.headings[-1]) if item.headings else ""
    return _PART.match(words) is not None and says(words, "pending", "parts")


@lru_cache(maxsize=64)
def _named(name: str) -> tuple[str, bool]:
    """The words in the name of a file, and whether it is a log or what was kept of logs by them, even if it has no day.
    Any other one is about a subject."""
    stem = re.sub(r"[_-]+", " ", without_suffix(name.rpartition("/")[2]))
    return stem, bare(stem) == LASTING or says(bare(stem), "logs", "names")


def _opening(words: str, category: Category) -> list[str]:
    """The phrase with which an item begins, or goes on behind its label: `**Leads:** never …`."""
    if not says(words, category, "openings"):
        return []
    start = re.match(r"[\W_]*(?:[^:：]{2,60}[:：][\W_]*)?", words)
    opened = (start.end() if start else 0, len(words) - len(words.lstrip("*_ ")))
    found = pattern(category, "openings")
    return [one[0] for at in opened if (one := found.match(words, at))]


def _first_cell(words: str) -> str:
    """Of the head of a table its first cell: that says what the rows are, and the others what they have."""
    return words.strip("|").partition("|")[0] if words.startswith("|") else words


@lru_cache(maxsize=4096)
def _said_by(words: str, fields: tuple[Field, ...], is_log: bool = True) -> Mapping[Category, Verdict]:
    """What a heading or a line that introduces others says of them."""
    plain = bare(words)
    found: dict[Category, Verdict] = {}
    for category in CATEGORIES if is_log else OPEN:
        said = [
            cue
            for field in fields
            for cue in cues(plain, category, field)
            if field != "markers" or labels_as(plain, category, cue)
        ]
        if said and not _is_condition(plain, category):
            found[category] = ("heading", words)
    return found


def _is_condition(plain: str, category: Category) -> bool:
    """Whether what is said of a problem or a matter may only come: `if it fails`."""
    return category in ("issues", "pending") and says(plain, "conditional", "words")


def _bears_out(item: Item, category: Category, grade: Grade, people: Sequence[str]) -> bool:
    """Whether the item has what its category needs: a contact somebody, a metric a number."""
    if category == "metrics":
        is_measured = grade == "heading" and _MEASURE.search(bare(item.text)) is not None
        return is_measured or bool(readings(item.text, grade != "keyword"))
    if category == "contacts" and grade == "heading":
        is_of_one = bool(item.headings) and not _said_by(item.headings[-1], ("titles", "headings"))
        return bool(people) or (is_of_one and _LABEL.match(item.text) is not None)
    if category in ("issues", "decisions", "lessons") and grade == "heading":
        return not any(says(bare(label), "issues", "answers") for label in labels(item.text))
    return True


def _by_statement(item: Item, is_labelled: bool) -> dict[Category, Verdict]:
    """By words that state it outright, unless on a condition."""
    if len(item.text) > LONGEST_SAID:
        return {}
    words = bare(item.text)
    found: dict[Category, Verdict] = {}
    for category in CATEGORIES if says_something(words) else ():
        said = cues(words, category, "statements") or ([] if is_labelled else _opening(words, category))
        if said and not _is_condition(words, category):
            found[category] = ("marker", said[0])
    return found


def _by_keyword(item: Item, people: Sequence[str]) -> dict[Category, str]:
    if len(item.text) > LONGEST_SAID:
        return {}
    found: dict[Category, str] = {}
    words = bare(item.text)
    said = mentioned(words)
    for category in CATEGORIES:
        if category == "metrics":
            if numbers := readings(item.text, is_stated=False):
                found[category] = numbers[0].name
        elif category in said:
            found[category] = mentions(words, category)[0]
    head = heading_name(_STAMP.sub("", item.text, count=1))
    if known := [name for name in people if name != head]:  # a link, an alias or a handle
        found.setdefault("contacts", known[0])
    elif "contacts" in found and not people and not re.search(r"[A-ZÀ-Þ][\w-]+", item.text[1:]):
        del found["contacts"]
    return found


REACH = 16
"""How many characters before `done` are looked at for a `not`."""
_STRUCK = re.compile(r"[\W_]*~~.+~~[\W_]*", re.S)
_STRUCK_FIRST = re.compile(r"[\W_]*~~(.+?)~~", re.S)
_TICKED = re.compile(r"^[\W_]*[✅☑✔]|[✅☑✔]\ufe0f?[\W_]*$")
_SUPERSEDED = re.compile(r"\[superseded[|\]]|^\W*superseded\b", re.I)
"""As ClawVault marks what it has replaced, and as people begin such a line."""
_NOT = re.compile(r"\b(?:not|n't|never|yet|nicht|noch|no|nao|ainda|pas|aun|todavia)\b|[未没不]|n't")


def is_closed(item: Item) -> bool:
    """Whether an item says that it is over, or its heading does."""
    if item.is_done:
        return True
    if is_struck(item) or _TICKED.search(item.text):
        return True
    words = bare(item.text)
    closings = pattern("closed", "words").finditer(words) if says(words, "closed", "words") else ()
    starts = [one.start() for one in closings if _stands_apart(words, one)]
    if any(not _NOT.search(words[max(0, start - REACH) : start]) for start in starts):
        return True
    above = (*item.headings[-1:], *item.leads)
    return any(_TICKED.search(words) or says(bare(words), "closed", "headings") for words in above)


def is_struck(item: Item) -> bool:
    """Whether all of an item is struck out."""
    return _STRUCK.fullmatch(item.text) is not None


def struck_part(item: Item) -> str:
    """What is struck out of an item that begins so: all of it, or what a remark follows. Empty if nothing is."""
    found = _STRUCK_FIRST.match(item.text)
    return found[1] if found else ""


def is_superseded(item: Item) -> bool:
    """Whether an item says that something else holds in its place: `[superseded|by=…]`, `Superseded by …`."""
    if _SUPERSEDED.search(item.text):
        return True
    words = bare(item.text)
    found = pattern("ageing", "superseded").finditer(words) if says(words, "ageing", "superseded") else ()
    return any(_stands_apart(words, one) for one in found)


def _stands_apart(words: str, found: re.Match[str]) -> bool:
    """Whether that is at the beginning, at the end, a label or in brackets."""
    before, after = words[: found.start()].rstrip(" *_"), words[found.end() :].lstrip(" *_.!")
    return not before or not after or before[-1:] in "([（【:：—–-" or after[:1] in "])）】"
