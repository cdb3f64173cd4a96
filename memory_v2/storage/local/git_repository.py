"""The git repository of a history: its refs, its commits and their messages, and its folder, made whole and swept of
what a killed process left in it."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from memory_v2.errors import StorageError
from memory_v2.storage.history import EXTERNAL, HistoryDamaged, Revision
from memory_v2.storage.local.disk import (
    expect_regular,
    is_temporary,
    leave_to_owner_above,
    lstat,
    make_folder,
    sync_folder,
)
from memory_v2.storage.local.git_objects import UNFLUSHED

TEXT = "Text:"
"""The line before the text of a write, each line of which is marked as quoted."""
TEXT_AS_JSON = "Text as JSON:"
"""The same for a text with a null character, at which git would end the message."""
QUOTED = "> "

_TRAILER = re.compile(r"^(Operation|Decided-by|Degraded|Undoes): (.*)$")


def message_of(revision: Revision) -> str:
    """The commit's message, as git shows it."""
    lines = revision.in_lines
    trailers = (
        ("Operation", lines.operation),
        ("Decided-by", lines.decided_by),
        ("Degraded", lines.degraded),
        ("Undoes", lines.undoes),
    )
    why = "\n".join(f"- {why}" for why in lines.why)
    named = "\n".join(f"{name}: {value}" for name, value in trailers if value)
    return "\n\n".join(filter(None, [f"{lines.kind}: {lines.summary}", why, _quoted(lines.text), named])) + "\n"


def read_message(message: str) -> Revision:
    """The revision whose message `message_of` wrote; a commit that somebody else made has its first line only."""
    first, _, rest = message.partition("\n")
    kind, colon, summary = first.partition(": ")
    parts = [part for part in rest.strip("\n").split("\n\n") if part]
    text = next((part for part in parts if part.startswith((f"{TEXT}\n", f"{TEXT_AS_JSON}\n"))), "")
    paragraphs = [part.strip().splitlines() for part in parts if part != text]
    trailers: dict[str, str] = {}
    if paragraphs and all(_TRAILER.match(line) for line in paragraphs[-1]):
        trailers = {match[1]: match[2] for line in paragraphs.pop() if (match := _TRAILER.match(line))}
    return Revision(
        kind=kind if colon else EXTERNAL,
        summary=summary if colon else first,
        operation=trailers.get("Operation", ""),
        decided_by=trailers.get("Decided-by", ""),
        degraded=trailers.get("Degraded", ""),
        undoes=trailers.get("Undoes", ""),
        why=tuple(line.removeprefix("- ") for part in paragraphs for line in part),
        text=_unquoted(text),
    )


def _quoted(text: str) -> str:
    """A text as one paragraph of a message."""
    if not text:
        return ""
    if "\0" in text:
        return f"{TEXT_AS_JSON}\n{json.dumps(text, ensure_ascii=False)}"
    return "\n".join([TEXT, *(f"{QUOTED}{line}" for line in text.split("\n"))])


def _unquoted(paragraph: str) -> str:
    """The text that `_quoted` made a paragraph of."""
    first, _, rest = paragraph.partition("\n")
    if first == TEXT_AS_JSON:
        try:
            return str(json.loads(rest))
        except ValueError:  # somebody has edited the message
            return rest
    return "\n".join(line.removeprefix(QUOTED) for line in rest.split("\n"))


BRANCH = b"refs/heads/main"
CHECKED_OUT = b"refs/silica/checked-out"
AUTHOR = b"Silica Memory <silica@localhost>"
MAKING = "history-making-"
"""The name of a new repository's folder begins with this until the repository is complete."""
TORN_SECONDS = 60.0
"""The age, in seconds, at which a temporary file is taken for one of a dead process. Writing one takes milliseconds."""


def new_commit(revision: Revision, tree: bytes, parents: list[bytes]) -> Any:
    """The commit that records a revision."""
    from dulwich.objects import Commit

    commit: Any = Commit()
    commit.tree, commit.parents = tree, parents
    commit.author = commit.committer = AUTHOR
    # git knows no time before 1970
    commit.author_time = commit.commit_time = max(int(revision.when.timestamp()), 0)
    commit.author_timezone = commit.commit_timezone = 0
    commit.encoding = b"UTF-8"
    commit.message = message_of(revision).encode()
    return commit


def make_repository(place: Path) -> None:
    """Creates the repository under another name and renames it when it is complete, so that a crash leaves no
    incomplete one."""
    from dulwich.repo import Repo

    make_folder(place.parent)
    for half in place.parent.glob(f"{MAKING}*"):
        shutil.rmtree(half, ignore_errors=True)
    made = place.with_name(f"{MAKING}{os.urandom(4).hex()}.git")
    made.mkdir(mode=0o700)
    try:
        Repo.init_bare(str(made), default_branch=b"main").close()
        for inside in (made, *made.rglob("*")):
            leave_to_owner_above(inside)
        sync_folder(made / "refs")
        made.rename(place)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    sync_folder(place.parent)


def check_files(place: Path) -> None:
    """Raises `StorageError` if a folder of the repository is a symbolic link, which may lead to one of others, and
    `HistoryDamaged` if a pipe or a device is where git has a file: to open it may take for ever."""
    folders = (place / name for name in ("refs", "refs/heads", "refs/silica", "objects", UNFLUSHED))
    links = [folder for folder in (place, *folders) if folder.is_symlink()]
    with suppress(FileNotFoundError), os.scandir(place / "objects") as inside:
        links += [place / "objects" / entry.name for entry in inside if entry.is_symlink()]
    if links:
        raise StorageError(f"{links[0]} is a symbolic link; a memory keeps its history inside its own folder")
    files = (place / name for name in ("HEAD", "config", "packed-refs", BRANCH.decode(), CHECKED_OUT.decode()))
    for file in (*files, *place.glob("objects/info/*"), *place.glob("objects/pack/*")):
        check_file(place, file)


def check_file(place: Path, file: Path) -> None:
    """Raises `HistoryDamaged` if something else than a regular file is there."""
    try:
        expect_regular(file, lstat(file))
    except OSError as error:
        raise HistoryDamaged(f"the history in {place} is damaged: {file.name}: {error.strerror}") from error


def sweep(place: Path) -> None:
    """Removes temporary files of processes that were killed while they recorded or packed."""
    for file in (*place.glob("objects/.*"), *place.glob("objects/pack/*")):
        with suppress(OSError):
            is_torn = is_temporary(file.name) or file.suffix == ".lock" or file.name.startswith("tmp")
            if is_torn and time.time() - file.stat().st_mtime > TORN_SECONDS:
                file.unlink()


def unlock(place: Path) -> None:
    """Removes the locks of a process that died while it recorded or packed. Call it under the storage's lock, so that
    they are not ours, and after some milliseconds: for as long plain git holds them."""
    for name in ("refs/heads/*.lock", "objects/pack/*.idx.lock"):
        for lock in place.glob(name):
            with suppress(OSError):
                lock.unlink()
