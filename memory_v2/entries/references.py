"""References: what an entry names, where that leads, and which entries name it.

An entry stores what it names, as it was written. What that is, and who names whom, is computed when it is asked for, so
that a reference follows an entry into the archive, and both directions always agree. Nothing is guessed: a name that
several entries have leads nowhere until an entry says which.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from memory_v2.entries.entry import Domain, Entry, Reference, domain_named
from memory_v2.entries.entry_paths import place_named
from memory_v2.entries.file import RELATED
from memory_v2.tree.block import Block, parse_blocks
from memory_v2.tree.finding import Finding
from memory_v2.tree.path import find_links, fold, link_key

Leads: TypeAlias = Literal["entry", "domain", "page", "itself", "ambiguous", "nowhere"]

_SHARD = re.compile(
    r"\b(?:shard:\s?|(?:see|connect(?:ed|s)?\s+with|voir|connect(?:er|ez|ée?s?)\s+avec)\s+(?:the\s+|le\s+)?shard:?\s+)"
    r"([^\W_][\w-]{0,99}+)(?![\w-])",
    re.I,
)
"""What a text names as a shard. A name of more than 100 characters is that of no domain, page or entry."""
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
_NOT_PROSE = ("fence", "code", "html", "front matter")


def named_in(text: str) -> tuple[Reference, ...]:
    """What a text names explicitly, in order and each once: `shard:x`, `see shard x`, `connect with shard x`, `voir
    shard x` and `[[x]]`. Code names nothing."""
    if "[[" not in text and "shard" not in text.casefold():
        return ()
    targets: dict[str, None] = {}
    for block in parse_blocks(text):
        found = [*_shards(block), *((link.start, link.target.strip()) for link in find_links(block))]
        targets.update((target, None) for _, target in sorted(found))
    return tuple(Reference(RELATED, target) for target in targets)


def references_of(entry: Entry) -> tuple[Reference, ...]:
    """All references of an entry: those of its header, then what else its text names."""
    in_header = {reference.target for reference in entry.references}
    in_text = (reference for reference in named_in(entry.text) if reference.target not in in_header)
    return (*dict.fromkeys(entry.references), *in_text)


def folded(target: str) -> str:
    """What is compared of a target in the index: an entry's id, however its file was named; folded."""
    written = target.strip().removesuffix(".md")
    place = place_named(written)
    return (place.id if place else written).casefold()


def without_shards(text: str) -> str:
    """The text without its references to shards, whose words say nothing about the text itself."""
    return _SHARD.sub(" ", text)


def _shards(block: Block) -> Iterator[tuple[int, str]]:
    if block.kind in _NOT_PROSE:
        return
    prose = _CODE_SPAN.sub(lambda code: " " * len(code[0]), block.text)
    for found in _SHARD.finditer(prose):
        yield found.start(), found[1]


@dataclass(frozen=True, slots=True)
class Lead:
    """Where a reference leads: what it is, and to which ids, paths or names; several if it is ambiguous, none if it
    leads nowhere."""

    kind: Leads
    targets: tuple[str, ...] = ()


class Targets:
    """Everything that a reference can lead to: entries, also archived ones, domains and pages."""

    def __init__(self, entries: Iterable[Entry], domains: Iterable[Domain] = (), pages: Iterable[str] = ()) -> None:
        self._domains = tuple(domains)
        self._pages = {fold(page): page for page in pages}
        self._ids: dict[str, str] = {}
        self._named: dict[str, list[str]] = defaultdict(list)
        for entry in entries:
            self._ids[entry.id.casefold()] = entry.id
            self._named[entry.name.casefold()].append(entry.id)
            for origin in entry.derived_from:
                if "/" not in origin:  # an imported entry is still named by its older id
                    self._named[origin.casefold()].append(entry.id)

    def lead(self, target: str, of: str | None = None) -> Lead:
        """Where a target leads; `of` is the id of the entry that names it."""
        written = target.strip().removesuffix(".md")
        place = place_named(written)  # its id leads to the entry wherever it is now
        if (found := self._ids.get((place.id if place else written).casefold())) is not None:
            return Lead("itself" if found == of else "entry", (found,))
        if "/" not in written and (named := self._named.get(written.casefold())):
            if len(named) > 1:
                return Lead("ambiguous", tuple(sorted(named)))
            return Lead("itself" if named[0] == of else "entry", (named[0],))
        if (domain := domain_named(written, self._domains)) is not None:
            return Lead("domain", (domain.name,))
        page = self._pages.get(link_key(written) or "")
        return Lead("page", (page,)) if page else Lead("nowhere")


def incoming(entries: Iterable[Entry], targets: Targets) -> Mapping[str, tuple[Reference, ...]]:
    """For each id, path and domain that is named: by which entries, as references that point back to them."""
    back: dict[str, list[Reference]] = defaultdict(list)
    for entry in sorted(entries, key=lambda one: one.id):
        for reference in references_of(entry):
            lead = targets.lead(reference.target, entry.id)
            if lead.kind in ("entry", "domain", "page"):
                back[lead.targets[0]].append(Reference(reference.relation, entry.id))
    return {target: tuple(dict.fromkeys(references)) for target, references in back.items()}


def reference_findings(entries: Iterable[Entry], targets: Targets) -> Iterator[Finding]:
    """The references that lead nowhere, to several entries, or back to their own entry."""
    for entry in entries:
        for reference in references_of(entry):
            lead = targets.lead(reference.target, entry.id)
            if problem := _problem(reference, lead):
                yield Finding(f"{lead.kind}-reference", "notice", entry.id, 0, problem)


def _problem(reference: Reference, lead: Lead) -> str:
    spelled = f"the reference to {reference.target!r} ({reference.relation})"
    if lead.kind == "nowhere":
        return f"{spelled} leads to no entry, page or domain"
    if lead.kind == "ambiguous":
        return f"{spelled} is ambiguous: {', '.join(lead.targets)}; write the whole id"
    return f"{spelled} leads to the entry itself" if lead.kind == "itself" else ""
