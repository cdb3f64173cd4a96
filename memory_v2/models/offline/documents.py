"""Whether a text is a document, which becomes a page of its own; and how that page is called and listed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from memory_v2.models.briefs import WriteBrief
from memory_v2.models.offline.describing import describe_page
from memory_v2.models.offline.naming import MAX_TITLE, heading_name, telling_terms, telling_words, undated
from memory_v2.models.offline.outline import date_of, is_conversation, is_of_a_time
from memory_v2.text.dates import find_dates
from memory_v2.text.days import without_relative_days
from memory_v2.text.slug import is_meaningful, slug
from memory_v2.text.words import capitalized, content_words, has_cjk, plain, shorten
from memory_v2.tree.block import Block, readable
from memory_v2.tree.front_matter import read_front_matter
from memory_v2.tree.path import ROOT, fold, is_page_path

LONG_TEXT = 1_000
"""From how many bytes a text without a title may be a document. A shorter one is a note, filed by its subject."""
NO_NOTE = 2_000
"""From how many bytes prose is a document, however it is set: no page about something else takes that much in."""
LONG_PARAGRAPH = 150
"""From how many bytes a paragraph is one of connected prose; shorter ones, one after another, are facts."""
SHORT_NOTE = 500
"""Up to how many bytes a titled text is a note about what its title names, if a page or section is called so."""
MAX_FOLDERS = 4
"""How many folders of a source a path keeps, the lowest ones: deeper ones are about somebody's disk."""
INTRODUCTION = 200
"""From how many bytes a note about something new gets a page of its own at once. Shorter ones wait on the root."""
MAX_LABEL = 60
"""Limits a line that introduces a list and names it, in characters."""
LEAST_ITEMS = 3
"""How many items at least a list has that is a document by the line that introduces it."""
MIN_SHARED = 0.5
"""The least share of the title's words that stand in a group's line."""
LASTING = "long-term memory"
"""What a file called like the root, the `MEMORY.md` of an agent, is called if it has no title."""
_IN_EACH_FOLDER = frozenset(["readme", "index", "agents", "overview", "introduction"])
_SEPARATOR = re.compile(r"[/\\]+")
_EXTENSION = re.compile(r"(?:\.(?:md|markdown|rst|txt|html?))?\.[A-Za-z]\w{0,4}$")
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.I)
_LEADING = re.compile(r"(?:[-*+>•]\s+|\d+[.)]\s+)*((?:[^\W\d_][\w-]*)(?: (?=[^a-z\W])[^\W\d_][\w-]*){0,2})(?!\w)")
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_PLACEHOLDER = re.compile(r"\{\{[^{}]*\}\}|\{[%#][^{\n]*?[%#]\}")
_A_FILE = re.compile(r"(?<!\S)([\w-]+)\.(?:md|markdown|rst|txt)(?!\w)", re.I)
_CLOCK = re.compile(r"\W{0,3}(\d{1,2}:\d{2}(?::\d{2})?)")
_NUMBERED = re.compile(r"\D-\d{1,2}$")
_FIRST = re.compile(r"(.{2,40}?)(?::|,|\s[-–—])\s|([^\s:：，]{2,20})[：，]")
_FIELD = re.compile(
    r"(?P<subject>subject|betreff|asunto|assunto|objet|oggetto|主题|主題|件名)\s?[:：](?P<words>.*)"
    r"|(?:from|to|cc|date|sent|von|an|datum|gesendet|de|para|enviado|à|envoyé|da|inviato|发件人|寄件者|收件人|差出人|宛先)\s?[:：]",
    re.I,
)
"""A line at the head of an e-mail."""
_REPLY = re.compile(r"(?:(?:re|fwd?|aw|wg|tr|rv|res|enc|antw|回复|转发)\s?[:：]\s*)+", re.I)
_APART = re.compile(r"(?<!\d)[-_\s]+|[-_\s]+(?!\d)")
"""What stands between the words of a file's name, and not between the numbers of a date."""


@dataclass(frozen=True)
class DocumentPage:
    """A page to be created for a text: where, below which page, and the words by which it is listed."""

    path: str
    parent: str
    title: str
    description: str


def read_document(brief: WriteBrief) -> DocumentPage | None:
    """The page to be created for a text that is a document; `None` for a note, a log or a conversation, and for a text
    without a word to call a page by."""
    if brief.path is not None or not _is_document(brief):
        return None
    folders, file_name = _place_of(brief.source.name)
    title = _title(brief, file_name)
    told = " ".join(_PLACEHOLDER.sub(" ", title).split()).strip(" :-–—")
    told = told if re.search(r"\w", told) else title_of_file(file_name) or title
    path = next(_free_paths(brief, folders, file_name, told), None)
    if path is None:
        return None
    if folders and title.casefold() in _IN_EACH_FOLDER and "/" in path:
        title = told = capitalized(f"{path.split('/')[-2].replace('-', ' ')} {title}")
    parent = _shelf_for(brief, title, path.rpartition("/")[0] if folders else "")
    blocks = (
        brief.blocks if told == title else [block for block in brief.blocks if block is not title_block(brief.blocks)]
    )
    return DocumentPage(path, parent, title, describe_page(told, blocks[1:] if _label_of(blocks) else blocks))


def read_introduction(brief: WriteBrief, known: Iterable[str]) -> DocumentPage | None:
    """The page to be created for a note that says more than a line about something new that it begins with the name of;
    `known` are the texts in which that name may stand as one."""
    if brief.path is not None or brief.size < INTRODUCTION:
        return None
    if not (name := _leading_name(brief, known)) or date_of(brief.blocks) is not None or is_conversation(brief.blocks):
        return None
    path = slug(name)
    if not is_meaningful(path) or path in brief.tree.taken:
        return None
    return DocumentPage(path, _shelf_for(brief, name, ""), name, describe_page(name, brief.blocks))


def _leading_name(brief: WriteBrief, known: Iterable[str]) -> str:
    """The name that a text begins with, if a capital within a sentence shows that it is one; or nothing."""
    first = next((block for block in brief.blocks if block.content.strip()), None)
    found = _LEADING.match(plain(readable(first.content))) if first and first.kind in ("paragraph", "item") else None
    if found is None or not found[1][0].isupper() or len(telling_terms(found[1])) < len(found[1].split()):
        return ""
    within = re.compile(rf"[\w,;)] {re.escape(found[1])}(?!\w)")
    texts = (readable(brief.text), *known)
    return found[1] if any(within.search(" ".join(text.split())) for text in texts) else ""


# whether it is one


def title_block(blocks: Sequence[Block]) -> Block | None:
    """The heading of the first level with which a text begins, if it names more than a day."""
    first = next((block for block in blocks if block.kind != "front matter" and block.content.strip()), None)
    if first is None or first.kind != "heading" or first.level != 1 or not plain(first.words):
        return None
    rest = undated(first.words)
    return first if rest == first.words or content_words(rest) else None


def _label_of(blocks: Sequence[Block]) -> str:
    """The words of a line that introduces a list, such as `Our machines:`, if a text is such a list; or nothing. They
    are a title also tomorrow, so `today` is not among them."""
    items = sum(block.kind == "item" for block in blocks[1:])
    words = plain(readable(blocks[0].content))
    is_label = blocks[0].kind == "paragraph" and len(words) <= MAX_LABEL and words.endswith((":", "："))
    is_list = LEAST_ITEMS <= items == len(blocks) - 1
    title = without_relative_days(words.rstrip(":： "))
    return title if is_label and is_list and telling_terms(title) else ""


def _mail_subject(blocks: Sequence[Block]) -> str:
    """The subject of an e-mail without the signs of a reply, if a text begins with it and another line of its head; or
    nothing."""
    lines = readable(blocks[0].content).splitlines() if blocks[0].kind == "paragraph" else []
    head = list(takewhile(bool, map(_FIELD.match, lines)))
    subject = next((field["words"] for field in head if field and field["subject"]), "")
    return plain(_REPLY.sub("", subject.strip(), count=1)) if len(head) > 1 else ""


def _is_document(brief: WriteBrief) -> bool:
    blocks, size, name = brief.blocks, brief.size, brief.source.name
    if any(block.kind == "front matter" for block in blocks):
        return True
    if title := title_block(blocks):  # a short note below "This week" has no subject by its title
        return size > SHORT_NOTE or bool(telling_terms(title.words)) or bool(brief.source)
    if name:
        return size > SHORT_NOTE or brief.source.is_document
    if _mail_subject(blocks):
        return True
    if date_of(blocks) is not None or is_conversation(blocks):
        return False
    if _label_of(blocks):
        return True
    headings = [block for block in blocks if block.kind == "heading"]
    if size > SHORT_NOTE and headings and (blocks[0] is headings[0] or size >= LONG_TEXT):
        tops = sum(1 for block in headings if block.level <= headings[0].level)
        # Larger sections with nothing above them are of different things, and each makes a page.
        return size <= brief.threshold or tops == 1 or blocks[0] is not headings[0]
    paragraphs = sorted(block.size for block in blocks if block.kind == "paragraph")
    if size < LONG_TEXT or 2 * sum(paragraphs) < size:
        return False
    return size >= NO_NOTE or (len(paragraphs) >= 3 and paragraphs[len(paragraphs) // 2] >= LONG_PARAGRAPH)


# what it is called


def _place_of(source: str) -> tuple[list[str], str]:
    """The folders of a source as parts of a path, and the name of its file without what tells its format."""
    name = _SCHEME.sub("", source.strip()).split("?")[0].split("#")[0]
    is_absolute = source.strip().startswith(("/", "\\", "~")) or re.match(r"[A-Za-z]:[/\\]", source.strip()) is not None
    parts = [part for part in _SEPARATOR.split(name) if part.strip(" .~")]
    if not parts:
        return [], ""
    folders = parts[-3:-1] if is_absolute else parts[:-1]
    return [part for folder in folders if (part := slug(folder))][-MAX_FOLDERS:], _EXTENSION.sub("", parts[-1])


def _title(brief: WriteBrief, file_name: str) -> str:
    """The title of a text: its own, that of its front matter, its subject or label, the name of its file, its first
    heading, or else its most telling words."""
    if (own := title_block(brief.blocks)) is not None:
        return plain(readable(own.words))
    named = title_of_file(LASTING if file_name.casefold() == ROOT else file_name)
    headings = [block for block in brief.blocks if block.kind == "heading" and plain(block.words)]
    is_one = sum(1 for block in headings if block.level <= headings[0].level) == 1
    title = (
        plain(read_front_matter(brief.text).title)
        or capitalized(_mail_subject(brief.blocks) or _label_of(brief.blocks))
        or (named if is_meaningful(slug(named)) else "")
        or (plain(readable(headings[0].words)) if is_one else "")
        or capitalized(next(iter(telling_words(brief.blocks)), ""))
        or next((words for block in brief.blocks if (words := plain(readable(block.words)))), "")
    )
    return shorten(title, MAX_TITLE)


def title_of_file(name: str) -> str:
    """What a file is called, as a title: `my-notes_2026-02-03` is `My notes 2026-02-03`."""
    return capitalized(plain(_APART.sub(" ", name).strip()))


def _free_paths(brief: WriteBrief, folders: Sequence[str], file_name: str, title: str) -> Iterator[str]:
    """The paths that a new page may have, best first."""
    for name in _names(brief, folders, file_name, title):
        for path in ("/".join([*folders, name]), name) if is_meaningful(name) else ():
            if is_page_path(path) and path not in brief.tree.taken:
                yield path


def _names(brief: WriteBrief, folders: Sequence[str], file_name: str, title: str) -> Iterator[str]:
    """Names as the text writes them: the subject of the title, then with more of what tells it from its namesakes."""
    title = title.split("\\n")[0] or title  # a line end that was written as two characters
    title = _A_FILE.sub(" ", title) if slug(_A_FILE.sub("", title)) else _A_FILE.sub(r"\1", title)
    short, of_file = _name_of(title), slug(LASTING if file_name.casefold() == ROOT else file_name.replace("_", " "))
    if of_file and (_share(of_file, title) or not title_block(brief.blocks) or not short):
        yield of_file
    yield short
    if day := brief.source.day:
        yield slug(f"{short} {day.isoformat()}", 60)
    yield from (slug(f"{more} {short}") for more in reversed(folders))
    headings = [heading_name(readable(block.words)) for block in brief.blocks[1:] if block.kind == "heading"]
    for word in [*telling_words(brief.blocks, 4), *headings, of_file]:
        more = slug(word)
        if not set(more.split("-")) <= set(short.split("-")) and not _NUMBERED.search(f"{short}-{more}"):
            yield _name_of(f"{title} {word}") if find_dates(title) else slug(f"{short} {word}", 60)
    yield from (f"{short}-{number}" for number in range(2, 1_000))


def _name_of(title: str) -> str:
    """The title as a name. A date within it comes first, with its time, so that no number is read as part of it; a
    number at the end is one of the title's."""
    bare = _BRACKETS.sub(" ", title)
    dates = [(span, start, end) for span, start, end in find_dates(bare) if span.granularity == "day"]
    if len(dates) == 1:
        (span, start, end), *_ = dates
        clock = _CLOCK.match(bare[end:])
        after = bare[end + clock.end() :] if clock else bare[end:]
        if slug(bare[:start]) and (clock or slug(after)):
            return slug(f"{span.start} {clock[1] if clock else ''} {bare[:start]} {after}")
    name = slug(bare)
    return slug(title) if not name or _NUMBERED.search(name) else name


def _share(name: str, title: str) -> bool:
    """Whether a file's name says something of the title."""
    own, told = set(content_words(name.replace("-", " "))), set(content_words(readable(title)))
    return bool(own & told) or (has_cjk(name) and name in slug(title))


# which page lists it


def _shelf_for(brief: WriteBrief, title: str, folder: str) -> str:
    """The page that is to list a document with this title, whose path is in this folder: the group that lists most
    pages of the folder; or the page of the subject that the title names before its colon, comma or dash; or the lowest
    group that a reader reaches from the root who takes the one line with most words of the title."""
    tree = brief.tree
    if folder:
        start = fold(folder) + "/"
        parents = Counter(tree.parents[path] for path in tree.parents if fold(path).startswith(start))
        groups = [path for path in parents if tree.lists_only(path) and not fold(path).startswith(start)]
        return min(groups, key=lambda path: (-parents[path], path), default=ROOT)
    first = _FIRST.match(title)
    name = slug(first[1] or first[2]) if first else ""
    same = [path for path in tree.parents if name and path.rsplit("/", 1)[-1] == name and not is_of_a_time(path)]
    if same:
        return min(same, key=lambda path: (path.count("/"), path))
    looked_for, found, group = set(telling_terms(title)), ROOT, _next_group(brief, ROOT, title)
    while looked_for and group and group != ROOT:
        found, group = group, _next_group(brief, group, title)
    return found


def _next_group(brief: WriteBrief, page: str, title: str) -> str | None:
    looked_for = set(telling_terms(title))
    lines = [edge for edge in brief.tree.links.get(page, ()) if edge.child]
    said = (f"{edge.target.rsplit('/', 1)[-1].replace('-', ' ')} {edge.label}" for edge in lines)
    shared = [
        (len(looked_for.intersection(content_words(line))), edge.target) for line, edge in zip(said, lines, strict=True)
    ]
    (best, path), (second, _), *_ = [*sorted(shared, reverse=True), (0, ""), (0, "")]
    is_it = best > second and best >= MIN_SHARED * len(looked_for)
    return path if is_it and not is_of_a_time(path) and brief.tree.lists_only(path) else None
