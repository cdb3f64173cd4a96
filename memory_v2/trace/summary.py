"""The summary of a trace: what a list of traces shows of each."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from memory_v2.trace.recording import Trace

MAX_ABOUT = 200
"""Characters of what an operation was about: one line of a wide terminal."""


def summary(trace: Trace) -> dict[str, Any]:
    """What came of one operation, from its trace, which is a whole one. `model` is the one that was asked first;
    `decided_by` those whose decisions were carried out; `degraded` says why others were not; `found` is how many places
    a search found."""
    first = trace.of("begin")[0]
    conversations = list(zip(trace.of("ask"), trace.of("decided"), strict=False))
    commits, found, errors = (trace.of(event) for event in ("commit", "found", "error"))
    cost = trace.of("end")[0]["cost"]
    return {
        "name": trace.name,
        "started": datetime.fromisoformat(first["started"]).isoformat(),
        "operation": first["operation"],
        "about": _about(first["arguments"]),
        "model": first["model"],
        "decided_by": list(dict.fromkeys(ask["model"] for ask, decided in conversations if not decided["reason"])),
        "degraded": [f"{ask['model']}: {decided['reason']}" for ask, decided in conversations if decided["reason"]],
        "cost": {"calls": cost["calls"], **cost["usage"], "seconds": round(cost["seconds"], 6), "money": cost["money"]}
        | ({"is_estimate": True} if cost.get("is_estimate") else {}),
        "changed_pages": list(dict.fromkeys(change["path"] for commit in commits for change in commit["pages"])),
        "found": len(found[0]["places"]) if found else None,
        "error": {"kind": errors[0]["kind"], "message": errors[0]["message"]} if errors else None,
    }


def _about(arguments: dict[str, Any]) -> str:
    """What an operation was about, on one line: the question, the page, or the page and the start of the text."""
    page, text = arguments.get("path"), arguments.get("text") or arguments.get("query")
    moved = " → ".join(str(arguments[key]) for key in ("old", "new") if key in arguments)
    told = ": ".join(str(part) for part in (page, moved, text) if part)
    return " ".join(told.split())[:MAX_ABOUT]
