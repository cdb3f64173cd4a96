"""The report of an import: totals that add up, what went where, and what a person should look at."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, get_args

from memory_v2.files.left_out import LeftOut
from memory_v2.migrate.contradictions import names_of, said_in
from memory_v2.migrate.outcome import Outcome, Status
from memory_v2.migrate.source import Scan, SourceDocument
from memory_v2.migrate.standing import texts_of
from memory_v2.migrate.verify import Verification
from memory_v2.progress import with_progress
from memory_v2.serialize import document as as_document
from memory_v2.storage.local.disk import explained, replace_bytes
from memory_v2.text.contradictions import Contradiction, Said, contradictions
from memory_v2.text.secrets import find_secrets, masked, opening
from memory_v2.tree.alike import alike

LEAST_WORDS = 10
"""How many different words a passage has at least to be told as a duplicate."""
STATUSES: tuple[Status, ...] = get_args(Status)


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
    """What came of an import. `gone` are documents of earlier runs that are in the source no more; `secrets` are
    masked; `verification` says where each block is."""

    source: str
    format: str
    outcomes: tuple[Outcome, ...]
    left_out: tuple[LeftOut, ...] = ()
    gone: tuple[Outcome, ...] = ()
    remarks: tuple[Remark, ...] = ()
    secrets: tuple[Remark, ...] = ()
    dead: tuple[Remark, ...] = ()
    duplicates: tuple[Duplicate, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    verification: Verification | None = None

    @property
    def totals(self) -> dict[str, int]:
        """How many documents there are, and how many of each status, which is the same; and how many files, which are
        the documents and what was left out. With a verification the same of blocks."""
        counts = Counter(outcome.status for outcome in self.outcomes)
        totals = {"documents": len(self.outcomes)} | {status: counts[status] for status in STATUSES}
        totals |= {"files": len(self.outcomes) + len(self.left_out), "left_out": len(self.left_out)}
        return totals | (self.verification.totals if self.verification else {})

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it: the totals first."""
        return {"totals": self.totals} | {field.name: getattr(self, field.name) for field in fields(self)}


def make_report(
    source: Path,
    scan: Scan,
    outcomes: Sequence[Outcome],
    gone: Sequence[Outcome] = (),
    verification: Verification | None = None,
) -> Report:
    """The report on a scan of a folder and what became of its documents. A document without an outcome has failed: the
    run ended before it. Nothing is read but the documents."""
    known = {outcome.name: outcome for outcome in outcomes}
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
    return Report(
        source=str(source),
        format=scan.format,
        outcomes=tuple(known.get(one.name) or _not_reached(one) for one in documents),
        left_out=tuple(replace(one, reason=masked(one.reason)) for one in scan.left_out),
        gone=tuple(gone),
        remarks=tuple(Remark(one.name, masked(note)) for one in documents for note in one.notes),
        secrets=tuple(secrets),
        dead=tuple(Remark(one.name, masked(reference)) for one in documents for reference in one.dead),
        duplicates=(*same, *_repeated([passage for passage in passages if passage[0] not in copies])),
        contradictions=tuple(contradictions(said)),
        verification=verification,
    )


def write_reports(reports: Sequence[Report], file: Path) -> None:
    """Writes the reports: as JSON if the name of the file ends in `.json`, else as Markdown. Raises `StorageError`."""
    from memory_v2.migrate.told import report_markdown

    if file.suffix.lower() == ".json":
        text = json.dumps({"reports": as_document(reports)}, ensure_ascii=False, indent=1) + "\n"
    else:
        text = "\n".join(map(report_markdown, reports))
    with explained("write", file):
        replace_bytes(file, text.encode("utf-8", "backslashreplace"))


def _not_reached(document: SourceDocument) -> Outcome:
    return Outcome(document.name, "failed", reason="the run ended before it")


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
