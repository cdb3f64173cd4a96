"""An audit: all checks over a folder of notes, what is ignored in the notes themselves, and what a baseline knows."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from memory_v2.errors import StorageError, UsageError
from memory_v2.files.decoding import read_data
from memory_v2.files.left_out import LeftOut
from memory_v2.files.listing import SourceFile
from memory_v2.notes.audit.findings import CODES, SEVERITIES, Finding, Severity, at_least, checked_codes, settled
from memory_v2.notes.audit.found import Audited, found_in
from memory_v2.notes.index_files import write_document
from memory_v2.tree.block import decode, split_lines

_JOIN = ",\n  "
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

    def holds(self, one: Finding) -> bool:
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
    findings: tuple[Finding, ...]
    known: int = 0
    ignored: int = 0

    @property
    def counts(self) -> Mapping[str, int]:
        """How many findings of each code there are, in the order of the table."""
        found = Counter(one.code for one in self.findings)
        return {name: found[name] for name in CODES if found[name]}

    def reaches(self, severity: Severity) -> bool:
        """Whether a finding is as grave as this, or graver."""
        return any(one.severity in at_least(severity) for one in self.findings)


def audit_of(audited: Audited, choice: Choice) -> Audit:
    """The audit of a folder of notes."""
    found = found_in(audited, "dark" in choice.select)
    wanted = [one for one in settled(found) if choice.holds(one)]
    ignoring = {path: _ignoring(audited.files[path]) for path in {one.path for one in wanted} if path in audited.files}
    heeded = [one for one in wanted if not ignoring.get(one.path, {}).get(one.line, frozenset()) & {one.code, ""}]
    new = [one for one in heeded if one.fingerprint not in choice.known]
    order = {name: (SEVERITIES.index(code.severity), place) for place, (name, code) in enumerate(CODES.items())}
    findings = tuple(sorted(new, key=lambda one: (order[one.code], one.path, one.line)))
    return Audit(audited.today, len(audited.notes), findings, len(heeded) - len(new), len(wanted) - len(heeded))


def _ignoring(file: Path) -> dict[int, frozenset[str]]:
    """The codes that a comment says to ignore, by line: on its own and on the one below. No code stands for all."""
    data = read_data(SourceFile(file.name, file))
    found: dict[int, frozenset[str]] = {}
    if isinstance(data, LeftOut) or b"silica:" not in data:
        return found
    for number, line in enumerate(split_lines(decode(data)), 1):
        for comment in _IGNORE.finditer(line):
            codes = frozenset(re.findall(r"[\w-]+", comment[1]) or [""])
            for place in (number, number + 1):
                found[place] = found.get(place, frozenset()) | codes
    return found


def read_baseline(file: Path) -> frozenset[str]:
    """The fingerprints of a baseline. Raises `UsageError`."""
    try:
        known = json.loads(file.read_text("utf-8"))["findings"]
        return frozenset(one["fingerprint"] for one in known)
    except OSError as error:
        raise UsageError(f"cannot read the baseline {file}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{file} is no baseline; --write-baseline makes one") from error


def write_baseline(file: Path, findings: Iterable[Finding], known: Collection[str] = ()) -> None:
    """Writes a baseline of these findings, and of what another baseline knows. Raises `StorageError`."""
    told = [{"code": one.code, "path": one.path, "fingerprint": one.fingerprint} for one in findings]
    lines = [json.dumps(one, ensure_ascii=False) for one in (*told, *({"fingerprint": one} for one in known))]
    text = f'{{"generated_by": "silica notes audit",\n "findings": [\n  {_JOIN.join(sorted(lines))}\n ]}}\n'
    try:
        write_document(file, [text])
    except OSError as error:
        raise StorageError(f"the baseline cannot be written to {file}: {error.strerror or error}") from error
