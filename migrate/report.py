"""The report of an import: totals that add up, what went where, and what a person should look at."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from memory_v2.files.left_out import LeftOut
from memory_v2.migrate.contradictions import names_of, said_in
from memory_v2.migrate.ledger import totals_of
from memory_v2.migrate.source import Scan, SourceDocument
from memory_v2.migrate.standing import texts_of
from memory_v2.migrate.verify import Verification
from memory_v2.plan import Plan
from memory_v2.progress import with_progress
from memory_v2.serialize import document as as_document
from memory_v2.storage.local.disk import explained, replace_bytes
from memory_v2.text.contradictions import Contradiction, Said, contradictions
from memory_v2.text.secrets import find_secrets, masked, opening
from memory_v2.tree.alike import alike

LEAST_WORDS = 10
"""How many different words a passage has at least to be told as a duplicate."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something about a document that a person should look at; `line` is 0 for the whole document."""

    name: str
    text: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Documents, or passages of documents, that say the same: each a name, and the lines of a passage. `share` is how
    much of their words they have in common at least, and `opening` how a passage begins."""

    places: tuple[tuple[str, tuple[int, int] | None], ...]
    share: float
    opening: str = ""


@dataclass(frozen=True)
class Report:
    """What came of an import: its plan after it was carried out, and what to look at. `secrets` are masked;
    `verification` says where each block is."""

    plan: Plan
    remarks: tuple[Remark, ...] = ()
    secrets: tuple[Remark, ...] = ()
    dead: tuple[Remark, ...] = ()
    duplicates: tuple[Duplicate, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
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
        totals = {"documents": documents, **totals_of(self.plan.steps)}
        totals |= {"files": documents + len(self.left_out), "left_out": len(self.left_out)}
        return totals | (self.verification.totals if self.verification else {})

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it: the totals first."""
        return {"totals": self.totals} | {field.name: getattr(self, field.name) for field in fields(self)}


def make_report(scan: Scan, plan: Plan, verification: Verification | None = None) -> Report:
    """The report on a scan of a folder and the plan that was carried out for it. Nothing is read but the documents."""
    documents = scan.documents
    names = names_of(documents)
    passages: list[tuple[str, tuple[int, int], str]] = []
    said: list[Said] = []
    secrets: list[Remark] = []
    for document in with_progress(documents, "documents compared"):
        said += said_in(document, names)
        secrets += [
            Remark(document.name, f"{secret.kind} {secret.shown}", secret.line)
            for secret in find_secrets(document.text)
        ]
        passages += _passages(document)
    same = [
        Duplicate(tuple((documents[number].name, None) for number in group.members), group.share)
        for group in alike([document.text for document in documents])
    ]
    copies = {name for duplicate in same for name, _ in duplicate.places[1:]}
    left_out = tuple(replace(one, reason=masked(one.reason)) for one in scan.left_out)
    return Report(
        plan=replace(plan, facts={**plan.facts, "left_out": left_out}),
        remarks=tuple(Remark(one.name, masked(note)) for one in documents for note in one.notes),
        secrets=tuple(secrets),
        dead=tuple(Remark(one.name, masked(reference)) for one in documents for reference in one.dead),
        duplicates=(*same, *_repeated([passage for passage in passages if passage[0] not in copies])),
        contradictions=tuple(contradictions(said)),
        verification=verification,
    )


def write_reports(reports: Sequence[Report], file: Path) -> None:
    """Writes the reports: as JSON if the name of the file ends in `.json`, else as Markdown. Raises `StorageError`."""
    from memory_v2.migrate.render_report import report_markdown

    if file.suffix.lower() == ".json":
        text = json.dumps({"reports": as_document(reports)}, ensure_ascii=False, indent=1) + "\n"
    else:
        text = "\n".join(map(report_markdown, reports))
    with explained("write", file):
        replace_bytes(file, text.encode("utf-8", "backslashreplace"))


def _passages(document: SourceDocument) -> list[tuple[str, tuple[int, int], str]]:
    """The blocks of a document that may stand in others too: the document, the lines, the text."""
    return [
        (document.name, (lines.start, lines.stop - 1), block.content)
        for block, lines in texts_of(document.text)
        if block.kind not in ("heading", "front matter")
    ]


def _repeated(passages: Sequence[tuple[str, tuple[int, int], str]]) -> list[Duplicate]:
    """The passages that stand in several documents."""
    found = []
    for group in alike([text for _, _, text in passages], LEAST_WORDS):
        places = tuple((passages[number][0], passages[number][1]) for number in group.members)
        if len({name for name, _ in places}) > 1:
            found.append(Duplicate(places, group.share, opening(passages[group.members[0]][2])))
    return found
