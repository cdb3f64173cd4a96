"""Connecting hosts: what would change, changing it, and taking it back. What is taken back follows from what is in the
files of the hosts, whoever has changed them since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from memory_v2.hosts.files import FileChange, Unclear, bytes_of, real_path, why_unwritable, write
from memory_v2.hosts.host import SERVER, Edit, Host, Launch, UserEnvironment, whole_file
from memory_v2.locations import IGNORE_ALL, PROJECT_MEMORY
from memory_v2.plan import SKIP, Plan, Step
from memory_v2.storage.local.disk import advice
from memory_v2.text.amounts import counted
from memory_v2.tree.finding import Finding


def plan(user: UserEnvironment, launch: Launch, hosts: Iterable[Host], is_undone: bool = False) -> list[FileChange]:
    """What connecting these hosts changes, file by file, or what taking it back does. Nothing is written."""
    projects = [user.project, Path(launch.options[-1])] if user.project else []
    edits: dict[Path, list[tuple[str, Edit]]] = {}
    for title, edit in _edits(user, launch, hosts):
        edits.setdefault(edit.file, []).append((title, edit))
    return [_change(file, own, projects, is_undone) for file, own in edits.items()]


def _change(file: Path, edits: Sequence[tuple[str, Edit]], projects: Iterable[Path], is_undone: bool) -> FileChange:
    """What the edits of these hosts make of a file."""
    before, text, problem = _present(file, projects)
    changed: list[str] = []
    present: list[str] = []
    for _, edit in edits:
        was, is_out = text, is_undone or edit.is_revoked
        if not problem and not (is_out and text == ""):
            try:
                text = edit.take_out(text) if is_out else edit.put(text)
            except Unclear as error:
                problem = str(error)
        if text != was:
            changed.append(edit.about)
        elif not is_out or problem:
            present.append(edit.about)
    after: bytes | None = text.encode("utf-8")
    if after == (before or b""):
        after = before
    else:
        after = None if is_undone and not text.strip() else after
        problem = problem or why_unwritable(file)
    titles, purposes = dict.fromkeys(title for title, _ in edits), dict.fromkeys(changed or present)
    return FileChange(file, tuple(titles), tuple(purposes), before, before if problem else after, problem)


def apply(changes: Iterable[FileChange]) -> list[FileChange]:
    """Writes the changes, each file atomically; returns them with the problems that came up."""
    return [_written(change) if change.is_change else change for change in changes]


def undo(user: UserEnvironment, launch: Launch, hosts: Iterable[Host], others: Iterable[Host] = ()) -> list[FileChange]:
    """Takes out what connects these hosts to the memory of this name, and removes the files and folders that are empty
    then; returns what was changed, and what was left alone and why. What connects one of the others too stays."""
    changes = plan(user, replace(launch, is_allowed=True), hosts, is_undone=True)
    shared = {edit.file for host in others if _is_connected(user, launch, host) for edit in host.edits(user, launch)}
    undone = apply(replace(change, hosts=()) for change in changes if change.file not in shared)
    for change in undone:
        for folder in change.file.parents if change.is_change and change.after is None else ():
            if folder in (user.home, user.project):
                break
            with suppress(OSError):  # others have put something into it
                folder.rmdir()
    return [change for change in undone if change.is_change or change.problem]


def _is_connected(user: UserEnvironment, launch: Launch, host: Host) -> bool:
    return any(SERVER in change.purposes for change in plan(user, launch, [host], is_undone=True) if change.is_change)


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


def _edits(user: UserEnvironment, launch: Launch, hosts: Iterable[Host]) -> Iterator[tuple[str, Edit]]:
    for host in hosts:
        yield from ((host.title, edit) for edit in host.edits(user, launch))
    if user.project:  # what an agent notes is not committed by accident
        ignore = Path(launch.options[-1]) / PROJECT_MEMORY.parent / ".gitignore"
        yield "git", whole_file(ignore, "keeps the memory out of the repository", IGNORE_ALL, may_stay=True)


def _present(file: Path, projects: Iterable[Path]) -> tuple[bytes | None, str, str]:
    """The file as it is, its text, and why it is left alone. A link out of one of these projects is not followed: a
    repository may carry it."""
    if any(file.is_relative_to(top) and not real_path(file).is_relative_to(real_path(top)) for top in projects):
        return None, "", "a symbolic link leads out of the project there; remove the link"
    try:
        before = bytes_of(file)
        return before, (before or b"").decode("utf-8"), ""
    except Unclear as error:
        return None, "", str(error)
    except UnicodeDecodeError:
        return None, "", "it is not UTF-8"
    except OSError as error:
        return None, "", f"it cannot be read: {advice(error)}"


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
