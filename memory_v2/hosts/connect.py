"""Connecting hosts: what would change, changing it, and taking it back."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from memory_v2.errors import StorageError
from memory_v2.hosts.files import FileChange, Unclear, bytes_of, why_unwritable, write
from memory_v2.hosts.host import Edit, Host, Launch, Place, whole_file
from memory_v2.hosts.known import HOSTS
from memory_v2.locations import IGNORE_ALL, PROJECT_MEMORY
from memory_v2.plan import SKIP, Plan, Step
from memory_v2.storage.local.disk import advice, explained, read_bytes, replace_bytes
from memory_v2.text.amounts import counted
from memory_v2.tree.finding import Finding

RECORDS = Path(".silica") / "connections"
"""Below the home folder: what was there before each `--apply`. It may hold keys: only its owner can read it."""


@dataclass(slots=True)
class _Draft:
    before: bytes | None
    text: str
    hosts: list[str] = field(default_factory=list)
    purposes: list[str] = field(default_factory=list)
    problem: str = ""


def plan(place: Place, launch: Launch, hosts: Iterable[Host]) -> list[FileChange]:
    """What connecting these hosts changes, file by file. Nothing is written."""
    drafts: dict[Path, _Draft] = {}
    for title, edit in _edits(place, launch, hosts):
        draft = drafts.get(edit.file) or drafts.setdefault(edit.file, _draft(edit.file))
        draft.hosts += [title] if title not in draft.hosts else []
        draft.purposes += [edit.about] if edit.about not in draft.purposes else []
        if not draft.problem:
            try:
                draft.text = edit.put(draft.text)
            except Unclear as error:
                draft.problem = str(error)
    return [_change(file, draft) for file, draft in drafts.items()]


def apply(place: Place, launch: Launch, hosts: Sequence[Host], changes: Sequence[FileChange]) -> list[FileChange]:
    """Writes the changes, each file atomically, after noting what is there now; returns them with the problems that
    came up. Raises `StorageError` if it cannot be noted."""
    wanted = [change for change in changes if change.is_change]
    if wanted:
        _note(place, launch, hosts, wanted)
    return [_written(change) if change.is_change else change for change in changes]


def undo(place: Place) -> list[FileChange] | None:
    """Takes the newest `apply` back: every file that is as it was left gets its old bytes; from a file that was changed
    since, only our part is taken out. `None` if there is nothing to take back. Raises `StorageError`."""
    folder = place.home / RECORDS
    with explained("read", folder):
        records = sorted(folder.glob("*.json")) if folder.is_dir() else []
    if not records:
        return None
    with explained("read", records[-1]):
        data = read_bytes(records[-1])
    try:
        record = json.loads(data)
        edits = _noted_edits(place, record)
        back = [_taken_back(noted, edits.get(noted["path"], [])) for noted in record["files"]]
    except (ValueError, KeyError, TypeError) as error:
        raise StorageError(f"{records[-1]} does not say what was there before; move it away") from error
    if not any(change.problem for change in back):
        for noted in record["files"]:
            for made in noted["made"]:
                with suppress(OSError):  # others have put something into it
                    Path(made).rmdir()
        with explained("delete", records[-1]):
            records[-1].unlink()
        for empty in (folder, folder.parent):
            with suppress(OSError):  # other records, or the memory, are in it
                empty.rmdir()
    return back


def connection_plan(changes: Sequence[FileChange], is_applied: bool = False, **facts: Any) -> Plan:
    """The changes as a plan: a step for each file, with what it is for and the lines that come and go. A file that is
    left alone is told in the warnings."""
    steps: list[Step] = []
    new: set[bytes | None] = set()
    for change in changes:
        about = ": ".join(filter(None, (", ".join(change.hosts), ", ".join(change.purposes))))
        is_twin = change.before is None and change.after in new  # the same skill for several hosts
        new.add(change.after)
        lines = ["the same text as above"] if is_twin else change.diff()
        told = {"hosts": list(change.hosts), "purposes": list(change.purposes), "problem": change.problem}
        told |= {"diff": "".join(f"{line}\n" for line in lines)} if change.is_change else {}
        action = "take back" if facts.get("undone") else "change" if change.before else "create"
        why = "left alone" if change.problem else "nothing to do"
        steps.append(
            Step(action, str(change.file), reason=about, facts=told, applied=is_applied)
            if change.is_change
            else Step(SKIP, str(change.file), reason=f"{about} ({why})", facts=told)
        )
    alone = [change for change in changes if change.problem]
    warnings = [Finding("left-alone", "error", str(one.file), 0, f"left alone: {one.problem}") for one in alone]
    return Plan(
        "init", counted(sum(change.is_change for change in changes), "file"), tuple(steps), tuple(warnings), facts
    )


def _edits(place: Place, launch: Launch, hosts: Iterable[Host]) -> Iterable[tuple[str, Edit]]:
    for host in hosts:
        yield from ((host.title, edit) for edit in host.edits(place, launch))
    if place.project:  # what an agent notes is not committed by accident
        ignore = Path(launch.options[-1]) / PROJECT_MEMORY.parent / ".gitignore"
        yield "git", whole_file(ignore, "keeps the memory out of the repository", IGNORE_ALL)


def _noted_edits(place: Place, record: dict[str, Any]) -> dict[str, list[Edit]]:
    """The edits that were applied, by file."""
    project = record["project"]
    place = replace(place, project=Path(project) if project else None)
    launch = Launch(tuple(record["program"]), tuple(record["options"]), record["name"], place.platform)
    edits: dict[str, list[Edit]] = {}
    for _, edit in _edits(place, launch, [host for host in HOSTS if host.name in record["hosts"]]):
        edits.setdefault(str(edit.file), []).append(edit)
    return edits


def _draft(file: Path) -> _Draft:
    try:
        before = bytes_of(file)
        return _Draft(before, (before or b"").decode("utf-8"))
    except Unclear as error:
        return _Draft(None, "", problem=str(error))
    except UnicodeDecodeError:
        return _Draft(None, "", problem="it is not UTF-8")
    except OSError as error:
        return _Draft(None, "", problem=f"it cannot be read: {advice(error)}")


def _change(file: Path, draft: _Draft) -> FileChange:
    after = draft.text.encode("utf-8")
    if after == (draft.before or b""):
        after_bytes = draft.before
    else:
        after_bytes = after
        draft.problem = draft.problem or why_unwritable(file)
    told = (file, tuple(draft.hosts), tuple(draft.purposes), draft.before)
    return FileChange(*told, draft.before if draft.problem else after_bytes, draft.problem)


def _written(change: FileChange) -> FileChange:
    problem = "it was changed in the meantime; run this again"
    try:
        if bytes_of(change.file) == change.before:
            write(change.file, change.after)
            return change
    except Unclear as error:
        problem = str(error)
    except OSError as error:
        problem = f"it cannot be written: {advice(error)}"
    return replace(change, after=change.before, problem=problem)


def _note(place: Place, launch: Launch, hosts: Sequence[Host], changes: Sequence[FileChange]) -> None:
    """Writes down what is needed to take the changes back, before any of them is made."""
    folder = place.home / RECORDS
    names = [file.stem for file in folder.glob("*.json")] if folder.is_dir() else []
    number = max((int(name) for name in names if name.isdecimal()), default=0) + 1
    record = {
        "program": launch.program,
        "options": launch.options,
        "name": launch.name,
        "project": str(place.project) if place.project else None,
        "hosts": [host.name for host in hosts],
        "files": [
            {
                "path": str(change.file),
                "before": None if change.before is None else base64.b64encode(change.before).decode(),
                "after": _digest(change.after),
                "made": [str(above) for above in change.file.parents if not above.exists()],
            }
            for change in changes
        ],
    }
    with explained("note what is there in", folder):
        replace_bytes(folder / f"{number:06}.json", json.dumps(record, indent=1).encode())


def _digest(data: bytes | None) -> str:
    return hashlib.sha256(data or b"").hexdigest()


def _taken_back(noted: dict[str, Any], edits: Sequence[Edit]) -> FileChange:
    file = Path(noted["path"])
    before = None if noted["before"] is None else base64.b64decode(noted["before"])
    told = FileChange(file, purposes=tuple(dict.fromkeys(edit.about for edit in edits)))
    try:
        now = bytes_of(file)
        after = before
        if now not in (None, before) and _digest(now) != noted["after"]:
            after = _without_ours(now or b"", before or b"", edits)
        if now is None:
            after = None  # somebody has deleted it
        if now != after:
            if problem := why_unwritable(file):
                raise Unclear(problem)
            write(file, after)
        return replace(told, before=now, after=after)
    except (Unclear, UnicodeDecodeError) as error:
        return replace(told, problem=str(error))
    except OSError as error:
        return replace(told, problem=f"it cannot be written: {advice(error)}")


def _without_ours(now: bytes, before: bytes, edits: Sequence[Edit]) -> bytes:
    text, old = now.decode("utf-8"), before.decode("utf-8")
    for edit in edits:
        left = edit.take_out(text)
        if left != text and old and edit.take_out(old) != old:
            raise Unclear("it was changed since, and was connected before too; take our part out yourself")
        text = left
    return text.encode("utf-8")
