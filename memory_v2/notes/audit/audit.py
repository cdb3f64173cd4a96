"""An audit: all checks over a folder of notes, what is ignored in the notes themselves, and what a baseline knows."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from memory_v2.errors import StorageError, UsageError
from memory_v2.notes.audit import ageing, contradictions, duplicates, files, gaps, links
from memory_v2.notes.audit.context import AuditContext
from memory_v2.notes.audit.findings import CODES, SEVERITIES, NoteFinding, Severity, at_least, checked_codes, settled
from memory_v2.notes.cache import CachedFile, NotesCache
from memory_v2.notes.index_files import write_document
from memory_v2.notes.parsing import read_note
from memory_v2.tree.block import encode

Check: TypeAlias = Callable[[AuditContext], Iterator[NoteFinding]]
CHECKS: tuple[Check, ...] = (
    files.own,
    files.budgets,
    contradictions.differing,
    duplicates.repeated,
    contradictions.drift,
    ageing.stale,
    ageing.unfinished,
    ageing.unmentioned,
    links.linking,
    gaps.missing,
    gaps.dark,
)
_IGNORE = re.compile(r"<!--\s*silica:\s*ignore\b([\w\s,-]*?)-->")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which findings are wanted: only these codes, or all but those; with a first day, those alone that speak from that
    day on. `known` are the fingerprints of a baseline."""

    select: Collection[str] = ()
    ignore: Collection[str] = ()
    since: date | None = None
    known: Collection[str] = ()

    def __post_init__(self) -> None:
        checked_codes((*self.select, *self.ignore))

    def holds(self, one: NoteFinding) -> bool:
        """Whether a finding is wanted, whatever a baseline knows."""
        if (self.select and one.code not in self.select) or one.code in self.ignore:
            return False
        return self.since is None or (one.day is not None and one.day >= self.since)


@dataclass(frozen=True, slots=True)
class Audit:
    """The findings in a folder of so many notes, the gravest first; `known` tells how many more a baseline knows, and
    `ignored` how many the notes themselves say to ignore."""

    day: date
    notes: int
    findings: tuple[NoteFinding, ...]
    known: int = 0
    ignored: int = 0

    @property
    def counts(self) -> Mapping[str, int]:
        """How many findings of each code there are, in the order of the table."""
        numbers = Counter(finding.code for finding in self.findings)
        return {name: numbers[name] for name in CODES if numbers[name]}

    def reaches(self, severity: Severity) -> bool:
        """Whether a finding is as grave as this, or graver."""
        return any(finding.severity in at_least(severity) for finding in self.findings)


def audit_notes(context: AuditContext, choice: Choice, checks: Iterable[Check] = CHECKS) -> Audit:
    """The audit of a folder of notes, by these checks."""
    findings = [one for check in checks for one in check(context)]
    wanted = [one for one in settled(findings) if choice.holds(one)]
    ignored = {path: _ignored(context.lines(path)) for path in {one.path for one in wanted}}
    heeded = [one for one in wanted if not ignored[one.path].get(one.line, frozenset()) & {one.code, ""}]
    new = [one for one in heeded if one.fingerprint not in choice.known]
    order = {name: (SEVERITIES.index(code.severity), place) for place, (name, code) in enumerate(CODES.items())}
    ordered = tuple(sorted(new, key=lambda one: (order[one.code], one.path, one.line)))
    return Audit(context.today, len(context.notes), ordered, len(heeded) - len(new), len(wanted) - len(heeded))


def audit_texts(texts: Mapping[str, str], today: date, select: Collection[str]) -> Audit:
    """What these checks find in texts by name, which need not be files."""
    contents = {name: encode(text) for name, text in texts.items()}
    cache = NotesCache(None)
    cache.store_files(
        CachedFile(name, "", sha256(data).hexdigest(), read_note(name, data)) for name, data in contents.items()
    )
    context = AuditContext(Path(), cache, dict.fromkeys(texts, Path()), today, contents=contents)
    checks = (files.own, contradictions.differing, duplicates.repeated)
    try:
        return audit_notes(context, Choice(select=select), checks)
    finally:
        cache.close()


def _ignored(lines: Sequence[str]) -> dict[int, frozenset[str]]:
    """The codes that a comment says to ignore, by line: on its own and on the one below. No code stands for all."""
    ignored: dict[int, frozenset[str]] = {}
    for number, line in enumerate(lines, 1):
        for comment in _IGNORE.finditer(line) if "silica:" in line else ():
            codes = frozenset(re.findall(r"[\w-]+", comment[1]) or [""])
            for place in (number, number + 1):
                ignored[place] = ignored.get(place, frozenset()) | codes
    return ignored


def read_baseline(file: Path) -> frozenset[str]:
    """The fingerprints of a baseline. Raises `UsageError`."""
    try:
        known = json.loads(file.read_text("utf-8"))["findings"]
        return frozenset(one["fingerprint"] for one in known)
    except OSError as error:
        raise UsageError(f"cannot read the baseline {file}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f"{file} is no baseline; --write-baseline makes one") from error


def write_baseline(file: Path, findings: Iterable[NoteFinding], known: Collection[str] = ()) -> None:
    """Writes a baseline of these findings, and of what another baseline knows. Raises `StorageError`."""
    rows = [{"code": finding.code, "path": finding.path, "fingerprint": finding.fingerprint} for finding in findings]
    lines = ",\n  ".join(
        sorted(json.dumps(row, ensure_ascii=False) for row in (*rows, *({"fingerprint": one} for one in known)))
    )
    try:
        write_document(file, f'{{"generated_by": "silica notes audit",\n "findings": [\n  {lines}\n ]}}\n')
    except OSError as error:
        raise StorageError(f"the baseline cannot be written to {file}: {error.strerror or error}") from error
