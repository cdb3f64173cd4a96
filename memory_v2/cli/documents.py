"""What `--json` prints: each result as plain data, with the names it has in Python."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory_v2.agent.limits import Cost
    from memory_v2.agent.trace import Trace
    from memory_v2.memory import Packed
    from memory_v2.operations.past import BlamedLine, PastOperation
    from memory_v2.operations.replay import Replay
    from memory_v2.operations.results import (
        Finding,
        PageInfo,
        Result,
        SearchResult,
        SearchResults,
        SplitResult,
        WriteResult,
    )
    from memory_v2.storage.history import Revision

MAX_ABOUT = 200
"""Characters that a list of traces shows of a text."""


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
        "trace": result.trace,
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
        "trace": results.trace,
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
    """Calls, tokens, seconds, and US dollars; `money` is null where the price of a call is not known."""
    return {"calls": cost.calls, **asdict(cost.usage), "seconds": round(cost.seconds, 6), "money": cost.money}


def summary_document(trace: Trace) -> dict[str, Any]:
    """What came of one operation, out of its trace. `model` is the one that was asked first; `decided_by` those whose
    decisions were carried out; `degraded` says why others were not; `found` is how many places, for a search."""
    first = trace.of("begin")[0]
    conversations = list(zip(trace.of("ask"), trace.of("decided"), strict=False))
    commits, found, errors, ends = (trace.of(event) for event in ("commit", "found", "error", "end"))
    return {
        "name": trace.name,
        "started": datetime.fromisoformat(first["started"]).isoformat(),
        "operation": str(first["operation"]),
        "about": _about(first["arguments"]),
        "model": str(first["model"]),
        "decided_by": list(dict.fromkeys(str(ask["model"]) for ask, decided in conversations if not decided["reason"])),
        "degraded": [f"{ask['model']}: {decided['reason']}" for ask, decided in conversations if decided["reason"]],
        "cost": _told_cost(ends[0]["cost"]) if ends else None,
        "changed_pages": list(dict.fromkeys(change["path"] for commit in commits for change in commit["pages"])),
        "found": len(found[0]["places"]) if found else None,
        "error": {"kind": errors[0]["kind"], "message": errors[0]["message"]} if errors else None,
    }


def trace_document(trace: Trace) -> dict[str, Any]:
    """One trace, its events as they were kept."""
    return {"trace": trace.name, "events": trace.events}


def replay_document(replay: Replay) -> dict[str, Any]:
    """What came of doing an operation again."""
    return {
        "trace": replay.trace,
        "operation": replay.operation,
        "agrees": replay.agrees,
        "pages": list(replay.pages),
        "differences": list(replay.differences),
    }


def operation_document(operation: PastOperation) -> dict[str, Any]:
    """An operation of the history; `undone_by` is the id of the undo that took it back, empty as long as none has."""
    revisions = operation.revisions[::-1]
    return {
        "id": operation.id,
        "when": operation.when.isoformat(),
        "kind": operation.first.kind,
        "summary": operation.first.summary,
        "decided_by": list(dict.fromkeys(entry.decided_by for entry in revisions if entry.decided_by)),
        "degraded": [entry.degraded for entry in revisions if entry.degraded],
        "changed_pages": list(operation.paths),
        "undone_by": operation.undone_by,
    }


def revision_document(entry: Revision) -> dict[str, Any]:
    """One commit of an operation; `why` are the words of what was decided and checked."""
    return {
        "id": entry.id,
        "when": entry.when.isoformat(),
        "kind": entry.kind,
        "summary": entry.summary,
        "decided_by": entry.decided_by,
        "degraded": entry.degraded,
        "undoes": entry.undoes,
        "why": list(entry.why),
        "changed_pages": list(entry.paths),
    }


def blame_document(line: BlamedLine) -> dict[str, Any]:
    """One line of a page, with its end; what is not in the history yet has no commit."""
    entry = line.entry
    return {
        "line": line.number,
        "text": line.text,
        "id": entry.id if entry else None,
        "when": entry.when.isoformat() if entry else None,
        "kind": entry.kind if entry else None,
        "decided_by": entry.decided_by if entry else None,
    }


def packed_document(packed: Packed) -> dict[str, Any]:
    """What came of packing the history."""
    return asdict(packed)


def _about(arguments: dict[str, Any]) -> str:
    """The beginning of what an operation was about, in a line: the question, the page, or the page and the text."""
    page, text = arguments.get("path"), arguments.get("text") or arguments.get("query")
    moved = " → ".join(str(arguments[key]) for key in ("old", "new") if key in arguments)
    told = ": ".join(str(part) for part in (page, moved, text) if part)
    return " ".join(told.split())[:MAX_ABOUT]


def _told_cost(cost: dict[str, Any]) -> dict[str, Any]:
    tokens = {kind: int(count) for kind, count in cost["usage"].items()}
    money = None if cost["money"] is None else float(cost["money"])
    return {"calls": int(cost["calls"]), **tokens, "seconds": round(cost["seconds"], 6), "money": money}
