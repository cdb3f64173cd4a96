"""What `--json` prints: each result as plain data, with the names it has in Python."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory_v2.agent.limits import Cost
    from memory_v2.operations.results import (
        Finding,
        PageInfo,
        Result,
        SearchResult,
        SearchResults,
        SplitResult,
        WriteResult,
    )


def write_document(result: WriteResult) -> dict[str, Any]:
    """What became of a text."""
    return {
        "path": result.path,
        "size_bytes": result.size_bytes,
        "outcome": result.outcome,
        "said_in": list(result.said_in),
        "split_triggered": result.split_triggered,
        "new_files": list(result.new_files),
        **result_document(result),
    }


def split_document(result: SplitResult) -> dict[str, Any]:
    """What became of a page that was to be divided."""
    return {
        "path": result.path,
        "strategy": result.strategy,
        "reason": result.reason,
        "new_files": list(result.new_files),
        **result_document(result),
    }


def result_document(result: Result) -> dict[str, Any]:
    """What every change of the tree tells."""
    return {
        "path": result.path,
        "success": result.success,
        "revision": result.revision,
        "changed_pages": result.changed_pages,
        "decided_by": result.decided_by,
        "degraded": result.degraded,
        "cost": cost_document(result.cost),
        "changes": result.changes,
    }


def search_document(query: str, results: SearchResults) -> dict[str, Any]:
    """The answers to a question, and what they took."""
    return {
        "query": query,
        "results": [hit_document(result) for result in results],
        "decided_by": results.decided_by,
        "degraded": results.degraded,
        "cost": cost_document(results.cost),
    }


def hit_document(result: SearchResult) -> dict[str, Any]:
    """One answer; `lines` are its first and its last."""
    return {
        "path": result.path,
        "lines": list(result.lines),
        "date": result.date.isoformat() if result.date else None,
        "relevance_score": result.relevance_score,
        "breadcrumb": list(result.breadcrumb),
        "context": result.context,
        "excerpt": result.excerpt,
    }


def page_document(page: PageInfo) -> dict[str, Any]:
    """One page of the list."""
    return {
        "path": page.path,
        "title": page.title,
        "size_bytes": page.size_bytes,
        "last_updated": page.last_updated.isoformat(),
        "links_to": list(page.links_to),
        "linked_from": list(page.linked_from),
    }


def finding_document(finding: Finding) -> dict[str, Any]:
    """One finding; `line` 0 is the whole page."""
    return asdict(finding)


def cost_document(cost: Cost) -> dict[str, Any]:
    """Calls, tokens, seconds, and US dollars."""
    return {"calls": cost.calls, **asdict(cost.usage), "seconds": round(cost.seconds, 6), "money": cost.money}
