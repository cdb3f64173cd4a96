"""The report of an import: totals that add up, what went where, and what a person should look at."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from memory_v2.files.left_out import LeftOut
from memory_v2.migrate.block_index import placed, texts_of
from memory_v2.migrate.ledger import totals_of
from memory_v2.migrate.source import Scan, SourceDocument
from memory_v2.migrate.verify import Verification
from memory_v2.plan import Plan
from memory_v2.progress import with_progress
from memory_v2.text.calendar import named_day
from memory_v2.text.contradictions import Said, Statement, contradictions, stated, subject_of
from memory_v2.text.days import heading_day, own_day
from memory_v2.text.secrets import find_secrets, masked, opening
from memory_v2.text.words import normal
from memory_v2.tree.alike import alike
from memory_v2.tree.block import parse_blocks, readable, split_lines
from memory_v2.tree.finding import Finding
from memory_v2.tree.front_matter import read_front_matter

LEAST_WORDS = 10
"""How many different words a passage has at least to be told as a duplicate."""
MOST_ALIKE = 4
"""How many names are told of what is a duplicate."""

_Place: TypeAlias = tuple[str, tuple[int, int] | None]
"""The name of a document, and the lines of a passage of it."""


@dataclass(frozen=True)
class Report:
    """What came of an import: its plan after it was carried out, whose warnings are what a person should look at, and
    where each block is."""

    plan: Plan
    verification: Verification | None = None

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The files of the source that are no documents."""
        return tuple(self.plan.facts["left_out"])

    @property
    def totals(self) -> dict[str, int]:
        """How many documents there are, and how many of each status, which is the same; and how many files, which are
        the documents and what was left out. With a verification the same of blocks."""
        documents = len(self.plan.steps)
        totals: dict[str, int] = {"documents": documents, **totals_of(self.plan.steps)}
        totals |= {"files": documents + len(self.left_out), "left_out": len(self.left_out)}
        return totals | (self.verification.totals if self.verification else {})

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it: the totals first."""
        return {"totals": self.totals, "plan": self.plan, "verification": self.verification}


def make_report(scan: Scan, plan: Plan, verification: Verification | None = None) -> Report:
    """The report on a scan of a folder and the plan that was carried out for it. Nothing is read but the documents."""
    left_out = tuple(replace(one, reason=masked(one.reason)) for one in scan.left_out)
    warnings = (*plan.warnings, *_to_look_at(scan.documents))
    return Report(replace(plan, facts={**plan.facts, "left_out": left_out}, warnings=warnings), verification)


def _to_look_at(documents: Sequence[SourceDocument]) -> Iterator[Finding]:
    """What a person should look at in documents; no secret is told."""
    names = names_of(documents)
    passages: list[tuple[_Place, str]] = []
    said: list[Said] = []
    for document in with_progress(documents, "documents compared"):
        for secret in find_secrets(document.text):
            yield _finding("secret", document.name, f"{secret.kind} {secret.shown}", secret.line)
        yield from (_finding("dead-reference", document.name, masked(one)) for one in document.dead)
        yield from (_finding("remark", document.name, masked(note)) for note in document.notes)
        said += said_in(document, names)
        for block, lines in texts_of(document.text):
            if block.kind not in ("heading", "front matter"):
                passages.append(((document.name, (lines.start, lines.stop - 1)), block.content))
    for contradiction in contradictions(said):
        values = " · ".join(
            f"{each.value} ({f'{each.day}, ' if each.day else ''}{each.name}:{each.line})"
            for each in contradiction.statements
        )
        first = contradiction.statements[0]
        yield _finding(
            "contradiction", first.name, f"{contradiction.subject}, {contradiction.label}: {values}", first.line
        )
    copies: set[str] = set()
    for group in alike([document.text for document in documents]):
        same = [documents[number].name for number in group.members]
        copies.update(same[1:])
        yield _duplicate([(name, None) for name in same], group.share)
    rest = [passage for passage in passages if passage[0][0] not in copies]
    for group in alike([text for _, text in rest], LEAST_WORDS):
        places = [rest[number][0] for number in group.members]
        if len({name for name, _ in places}) > 1:
            yield _duplicate(places, group.share, opening(rest[group.members[0]][1]))


def _duplicate(places: Sequence[_Place], share: float, begins: str = "") -> Finding:
    """Documents, or passages of documents, that say the same; `share` is how much of their words they have in common
    at least."""
    (name, lines), *others = places
    same = "the same" if share == 1 else f"{share:.0%} the same"
    more = f" and {len(others) - MOST_ALIKE:,} more" if len(others) > MOST_ALIKE else ""
    listed = ", ".join(place_in(*other) for other in others[:MOST_ALIKE])
    said = f": “{begins}”" if begins else ""
    return _finding("duplicate", name, f"{same} as {listed}{more}{said}", lines[0] if lines else 0)


def _finding(kind: str, name: str, message: str, line: int = 0) -> Finding:
    return Finding(kind, "notice", name, line, message)


def place_in(name: str, lines: Sequence[int] | None) -> str:
    """Lines of a document: `notes/a.md:3-5`."""
    if not lines:
        return name
    first, last = lines
    return f"{name}:{first}" if first == last else f"{name}:{first}-{last}"


# what each line says under a label, for `contradictions` to compare


def names_of(documents: Iterable[SourceDocument]) -> frozenset[str]:
    """What the documents are called."""
    return frozenset(normal(name) for document in documents for name in (document.title, _place(document)))


def said_in(document: SourceDocument, names: Collection[str]) -> Iterator[Said]:
    """What each line of a document says that gives a value under a label. `names` is what the documents of its source
    are called."""
    text = readable(document.text)
    day = document.day or read_front_matter(text).date or named_day(document.name)
    headings: list[tuple[int, str]] = []
    for block, lines in placed(parse_blocks(text)):
        if block.kind == "heading":
            headings = [*(heading for heading in headings if heading[0] < block.level), (block.level, block.words)]
        elif block.kind in ("paragraph", "item"):
            for number, line in zip(lines, split_lines(block.content), strict=False):
                if not (found := stated(line)):
                    continue
                above = [words for _, words in headings] or [document.title or _place(document)]
                days = [span.start for span in (own_day(line), *map(heading_day, reversed(above))) if span]
                if subject := subject_of(above, names):
                    statement = Statement(document.name, number, found[1], days[0] if days else day)
                    yield Said(subject, found[0], statement)


def _place(document: SourceDocument) -> str:
    return document.place.rsplit("/", 1)[-1].replace("-", " ")
