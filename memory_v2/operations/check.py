"""Checking the tree, and repairing what can be repaired."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from memory_v2.agent.limits import Cost
from memory_v2.operations.commit import commit
from memory_v2.operations.context import Context
from memory_v2.operations.draft import Draft, link_orphans
from memory_v2.operations.findings import find_problems, known_targets, moved_pages
from memory_v2.operations.follow import followed
from memory_v2.operations.freshness import refresh
from memory_v2.operations.overgrown import split_overgrown
from memory_v2.operations.results import Finding, Result
from memory_v2.storage.history import Change
from memory_v2.tree.block import Block
from memory_v2.tree.edit import appended
from memory_v2.tree.link import link_key
from memory_v2.tree.merged import is_torn, merged_sections
from memory_v2.tree.page import ChildLink, Page, new_page, read_page
from memory_v2.tree.path import ROOT


@dataclass(frozen=True)
class Checkup:
    """The problems in the tree. After a repair, `findings` are those that remain of `found`, and `changes` is what the
    repair changed."""

    findings: tuple[Finding, ...]
    found: tuple[Finding, ...] = ()
    changes: Result | None = None

    def with_cost(self, cost: Cost, trace: str) -> Self:
        """The checkup with the cost of the repair and the name of its trace."""
        return replace(self, changes=self.changes and self.changes.with_cost(cost, trace))

    @property
    def mended(self) -> tuple[Finding, ...]:
        """The findings that were repaired. Lines may have moved, so they are compared by page and message."""
        remaining = {(finding.kind, finding.path, finding.message) for finding in self.findings}
        return tuple(f for f in self.found if f.mend and (f.kind, f.path, f.message) not in remaining)


def check(context: Context, apply: bool = False) -> Checkup:
    """Returns all findings, errors first. With `apply` it repairs what it can and returns the findings that remain."""
    refresh(context, even_if_fresh=True)
    findings = tuple(find_problems(context))
    if not apply or not any(finding.mend for finding in findings):
        return Checkup(findings, findings, Result(ROOT) if apply else None)
    changes = _mend(context)
    return Checkup(tuple(find_problems(context)), findings, changes)


def _mend(context: Context) -> Result:
    """Makes pages of files with decomposed names, settles conflicts in the program's sections, creates a missing root,
    follows pages that were renamed by hand, removes children that do not exist, links unreachable pages and splits
    overgrown ones."""
    if context.storage.decomposed_names(rename=True):  # in the history, that is an edit by hand
        refresh(context, even_if_fresh=True)
    settled = _settle(context)
    draft = Draft(context)
    paths = sorted(draft.paths())
    if paths and not draft.exists(ROOT):
        draft.put(new_page(ROOT, "Memory"))
    known = known_targets(draft.paths(), context.storage, context.storage.ignored_files())
    paths = [path for path in paths if path not in context.index.unreadable and not is_torn(draft.page(path))]
    moved = moved_pages(context, {path: draft.page(path) for path in paths}, draft.graph(), known)
    for path in paths:
        # Gathered: text below the program's sections is moved above them.
        page = followed(draft.page(path), moved, context.now())
        draft.put(page)
        broken = [child for child in page.children if link_key(child.target) not in known]
        if broken:
            draft.put(_unlist(page, broken))
    link_orphans(draft)
    revision = commit(draft)
    splits, problem = split_overgrown(context, paths)
    return Result(ROOT, tuple(filter(None, (settled, revision)))).with_splits(splits, problem)


def _settle(context: Context) -> Change:
    """Settles conflicts in the program's sections as they are, so that whoever settles the same has the same bytes."""
    draft = Draft(context)
    for path in draft.paths() - context.index.unreadable.keys():
        draft.before(path)
        stored = draft.read[path]  # to the byte
        if stored and (merged := merged_sections(read_page(path, stored.data))) and merged.page:
            draft.put(merged.page)
    return commit(draft, exact=True)


def _unlist(page: Page, broken: list[ChildLink]) -> Page:
    """Moves the lines of children that do not exist into the text, with the link as code, so that no word is lost."""
    lines = {child.line for child in broken}
    kept = page.without_children(lambda child: child.line in lines)
    texts = [Block(_as_code(child), "item") for child in broken]
    return appended(kept, [(block,) for block in texts])


def _as_code(child: ChildLink) -> str:
    start, end = child.line.index("[["), child.line.index("]]") + 2
    return f"{child.line[:start]}`{child.line[start:end]}`{child.line[end:]}"
