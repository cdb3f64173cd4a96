"""Rewriting the history in a git repository: each commit that holds something gets a successor without it.

Commits before the first of them keep their ids; each later one gets a new id, since an id follows from what came
before. The new commits are staged as objects that no ref leads to. Adopting them moves the refs, and then removes every
object that no ref leads to any more, from packs too.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from memory_v2.storage.format import REPAIR
from memory_v2.storage.history import Extent, HistoryDamaged, Revision, Rewrite, Rules
from memory_v2.storage.local import git_objects
from memory_v2.storage.local.disk import replace_bytes, sync_folder
from memory_v2.storage.local.git_objects import BRANCH, CHECKED_OUT, UNFLUSHED, ObjectWriter
from memory_v2.tree.path import SUFFIX

_BY_GIT = ("logs", "lost-found", "packed-refs", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "COMMIT_EDITMSG", "gc.log")
"""What plain git may have left in a repository that names or holds old commits; the refs have files of their own."""
_DERIVED = ("pack/multi-pack-index", "info/commit-graph", "info/commit-graphs")
"""What plain git may have made of the objects, to find them faster."""
_LINK_TO_COMMIT = 0o160000


class GitRewrite(Rewrite):
    """The `Rewrite` of the repository in `place`. `work` runs an act with it open. Each commit is read once. `staged`
    makes of the new commit of each ref what `History.adopt` needs."""

    def __init__(
        self,
        place: Path,
        rules: Rules,
        work: Callable[[Callable[[Any], Any]], Any],
        staged: Callable[[dict[str, str]], dict[str, Any]] = lambda refs: {"refs": refs},
    ) -> None:
        self._place = place
        self._rules = rules
        self._work = work
        self._staged = staged
        self._new: dict[bytes, bytes] = {}
        """For each commit that was read, the one that it becomes."""
        self._blobs: dict[bytes, bytes] = {}
        self._made: dict[bytes, Any] = {}
        self._revisions = 0

    def extent(self) -> Extent:
        self._work(self._refs)
        return Extent(self._revisions, sum(old != new for old, new in self._blobs.items()))

    def stage(self, record: Revision) -> dict[str, Any]:
        def act(repo: Any) -> dict[str, Any]:
            refs, store = self._refs(repo), _Staged(repo.object_store, self._made)
            newest = refs[BRANCH]
            commit = git_objects.new_commit(record, store[newest].tree, [newest])
            objects = ObjectWriter(repo.object_store, self._place)
            objects.pack_loose()  # so that nothing depends on files that still hold what is to be forgotten
            objects.write_pack([*self._made.values(), commit])
            return self._staged({name.decode(): new.decode() for name, new in (refs | {BRANCH: commit.id}).items()})

        staged: dict[str, Any] = self._work(act)
        return staged

    def _refs(self, repo: Any) -> dict[bytes, bytes]:
        """What the commit of each ref becomes."""
        store, symbolic = _Staged(repo.object_store, self._made), repo.refs.get_symrefs()
        refs = {name: _commit_of(store, repo.refs[name]) for name in repo.refs.allkeys() if name not in symbolic}
        return {name: self._follow(store, commit_id) for name, commit_id in refs.items()}

    def _follow(self, store: _Staged, newest: bytes) -> bytes:
        waiting = [newest]
        while waiting:
            if waiting[-1] in self._new:
                waiting.pop()
                continue
            commit = store[waiting[-1]]
            if missing := [parent for parent in commit.parents if parent not in self._new]:
                waiting += missing
            else:
                self._new[waiting.pop()] = self._rewritten(store, commit)
        return self._new[newest]

    def _rewritten(self, store: _Staged, commit: Any) -> bytes:
        """The id of what a commit becomes: its own if nothing in it or before it changes."""
        new = commit.copy()
        new.parents = [self._new[parent] for parent in commit.parents]
        before = store[commit.parents[0]].tree if commit.parents else None
        changes, is_changed = self._changes(store, before, commit.tree)
        if is_changed or (commit.parents and store[new.parents[0]].tree != before):
            new.tree = _changed_tree(store, store[new.parents[0]].tree if commit.parents else None, changes)
        new.author, new.committer = map(self._rules.page, (commit.author, commit.committer))
        is_changed |= self._tell(new) or (new.author, new.committer) != (commit.author, commit.committer)
        self._revisions += is_changed
        if not is_changed and new.tree == commit.tree and new.parents == commit.parents:
            return bytes(commit.id)
        new.gpgsig = None
        store.add_object(new)
        return bytes(new.id)

    def _changes(self, store: _Staged, old: bytes | None, new: bytes) -> tuple[list[tuple[bytes, Any, Any]], bool]:
        """The files that a commit changes, as they become, removals first; and whether that differs from what it is."""
        changes, is_changed = [], False
        for paths, modes, blobs in store.packed.tree_changes(old, new):
            file, mode, blob = paths[1] or paths[0], modes[1], blobs[1]
            path = self._file(file)
            becomes = None if blob is None else self._blob(store, blob, mode)
            was = None if blobs[0] is None else self._blob(store, blobs[0], modes[0])
            is_changed |= path != file or (becomes, was) != (blob, blobs[0])
            if path is not None:
                changes.append((path, mode, becomes))
        return sorted(changes, key=lambda change: change[2] is not None), is_changed

    def _file(self, file: bytes) -> bytes | None:
        name = file.decode("utf-8", "surrogateescape")
        if not name.endswith(SUFFIX):
            return file
        path = self._rules.path(name.removesuffix(SUFFIX))
        return None if path is None else f"{path}{SUFFIX}".encode("utf-8", "surrogateescape")

    def _blob(self, store: _Staged, blob_id: bytes, mode: int) -> bytes:
        from dulwich.objects import Blob

        if mode == _LINK_TO_COMMIT:
            return blob_id
        if blob_id not in self._blobs:
            data = store[blob_id].as_raw_string()
            blob = Blob.from_string(self._rules.page(data))
            if blob.id != blob_id:
                store.add_object(blob)
            self._blobs[blob_id] = blob.id
        return self._blobs[blob_id]

    def _tell(self, commit: Any) -> bool:
        """Rewrites the message; returns whether it says something else then. What it undoes may have a new id."""
        told = git_objects.read_message(commit.message.decode("utf-8", "replace"))
        rewritten = self._rules.revision(told)
        undone = self._new.get(told.undoes.encode(), b"").decode() or told.undoes
        if (rewritten, undone) == (told, told.undoes):
            return False
        commit.message = git_objects.message_of(replace(rewritten, undoes=undone)).encode()
        return rewritten != told


class _Staged:
    """The objects of a repository, and those made for it. Trees are copied, since dulwich changes those it gets."""

    def __init__(self, packed: Any, made: dict[bytes, Any]) -> None:
        self.packed = packed
        self._made = made

    def __getitem__(self, object_id: bytes) -> Any:
        return self._made[object_id].copy() if object_id in self._made else self.packed[object_id]

    def add_object(self, made: Any) -> None:
        self._made[made.id] = made


def adopt(place: Path, repo: Any, staged: Mapping[str, Any]) -> None:
    """Moves the refs of the repository in `place` to the staged commits, and removes every object that none of them
    leads to. Raises `HistoryDamaged` if they are not there."""
    from dulwich.refs import check_ref_format

    refs = staged["refs"]  # `repo.path` is not the place if the settings of the repository name a worktree
    for name, commit_id in refs.items():  # the journal may have come with the memory from a stranger
        is_ref = name.startswith("refs/") and check_ref_format(name.encode())
        if not is_ref or commit_id.encode() not in repo.object_store:
            raise HistoryDamaged(
                f"the history in {place} cannot become what was staged, {name!r} leads nowhere; "
                f"{REPAIR}, and forget it again"
            )
    for name, commit_id in (refs | {CHECKED_OUT.decode(): refs[BRANCH.decode()]}).items():
        replace_bytes(place / name, f"{commit_id}\n".encode("ascii"))
    for name in _BY_GIT:
        _remove(place / name)
    _remove(place / UNFLUSHED)
    sync_folder(place)
    _remove_unreachable(repo, place)


def _remove_unreachable(repo: Any, place: Path) -> None:
    from dulwich.gc import find_reachable_objects

    store, folder = repo.object_store, place / "objects"
    kept = find_reachable_objects(store, repo.refs)
    objects = ObjectWriter(store, place)
    for pack in list(store.packs):
        held = set(pack)
        if held <= kept:
            continue
        if alive := [store[object_id] for object_id in held & kept]:
            objects.write_pack(alive)
        base = Path(pack.data.path).with_suffix("")
        pack.close()
        for file in base.parent.glob(f"{base.name}.*"):
            file.unlink()
    for file in (*folder.glob("[0-9a-f][0-9a-f]/*"), *folder.glob(".*"), *folder.glob("pack/tmp*")):
        if "".join(file.parts[-2:]).encode() not in kept:
            file.unlink(missing_ok=True)
    for name in _DERIVED:
        _remove(folder / name)
    for changed in (folder, folder / "pack", *folder.glob("[0-9a-f][0-9a-f]")):
        sync_folder(changed)


def _remove(place: Path) -> None:
    with suppress(FileNotFoundError):
        if place.is_dir():
            shutil.rmtree(place)
        else:
            place.unlink()


def _commit_of(store: _Staged, object_id: bytes) -> bytes:
    """The commit that a ref names, also through a tag with a message of its own, which is not kept."""
    while (found := store[object_id]).type_name == b"tag":
        object_id = found.object[1]
    return object_id


def _changed_tree(store: _Staged, tree_id: bytes | None, changes: list[tuple[bytes, Any, Any]]) -> bytes:
    from dulwich.object_store import commit_tree_changes
    from dulwich.objects import Tree

    tree: Any = store[tree_id] if tree_id else Tree()
    changed: Any = commit_tree_changes(store, tree, changes)  # type: ignore[arg-type]  # has all that is asked
    return bytes(changed)
