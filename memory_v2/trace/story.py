"""A trace told as lines: what was asked of whom, what was shown, what was decided, why, and what it cost; and the
summary that a list of traces shows of each.

A line is a sequence of parts, each with a name for how it should look. Nothing here knows of colours or terminals, and
the texts are as they are in the trace: whoever prints them must escape control characters.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeAlias

from memory_v2.text.amounts import counted, size, spent
from memory_v2.trace.recording import Event, Trace
from memory_v2.tree.block import encode, readable, split_lines


class Part(NamedTuple):
    """A piece of a line, and what it is: `quote`, a line of a text, and `value`, an argument, may be long; `+`, `-` and
    `@` are lines of a diff; the others are `dim`, `name`, `tool`, `good`, `bad`, `warning`, or nothing special."""

    text: str
    look: str = ""


Line: TypeAlias = Sequence[Part]
_Piece: TypeAlias = str | tuple[str, str]

MAX_LINES = 12
"""Lines shown of a long text: enough to recognise it, and a whole step still fits on a screen."""

TASKS = {
    "write": "where the text goes",
    "split": "how the page is divided",
    "search": "what answers the question",
    "consolidate": "which pages the entries go to",
    "route": "which domains the entries belong to",
}
UNREAD = {
    "objections": "it is sent back: the guard objects",
    "no_call": "it is asked to call a tool",
}
"""What a model that reads no prose was told, by template."""
STOPS = {
    "length": "the answer is cut off here",
    "refusal": "it refuses",
    "other": "it stops here and does not say why",
}


def story(events: Iterable[Event], full: bool = False, width: Callable[[str], int] = len) -> Iterator[Line]:
    """What happened, line by line. `full` leaves nothing out: it adds the system prompt, the tools, and a diff of the
    changes. `width` gives the columns that a text takes."""
    telling = _Story(full, width)
    for event in events:
        if tell := getattr(telling, f"tell_{event['event']}", None):
            yield from tell(event)


class _Story:
    """What the next event's lines depend on: what came before it."""

    def __init__(self, full: bool, width: Callable[[str], int]) -> None:
        self.full = full
        self.width = width
        self.first_model = ""
        self.task = ""
        self.undecided = ""
        self.came_to_something = False

    # the operation

    def tell_begin(self, event: Event) -> Iterator[Line]:
        self.first_model = event["model"]
        started = datetime.fromisoformat(event["started"]).astimezone(UTC)
        yield _line((f"{started:%Y-%m-%d %H:%M:%S} UTC, with {event['model']}", "dim"))
        if self.full:
            limits = ", ".join(f"{name}={limit:,}" for name, limit in event["limits"].items())
            page = f"; a page may have {size(event['threshold'])}" if "threshold" in event else ""
            yield _line((f"limits: {limits}{page}", "dim"))
        yield from self._called(event["operation"], event["arguments"], "")

    def tell_conflict(self, event: Event) -> Iterator[Line]:
        yield ()
        yield _line(("conflict", "warning"), f": {event['error']}; so it is done again on what is there now")

    def tell_commit(self, event: Event) -> Iterator[Line]:
        self.came_to_something = True
        yield ()
        if self.undecided == "write":
            yield _line("nobody has decided, so the text is put below all else")
        if not event["pages"]:
            yield _line(f"no page was changed; the text is recorded, as revision {event['revision']}")
            return
        yield _line(f"stored, as revision {event['revision']}:")
        widest = max((self.width(change["path"]) for change in event["pages"]), default=0)
        for change in event["pages"]:
            room = " " * (widest - self.width(change["path"]) + 2)
            yield _line("  ", (change["path"], "name"), room, _extent(change["before"], change["after"]))
        for change in event["pages"] if self.full else ():
            yield ()
            yield from _diff(change)

    def tell_found(self, event: Event) -> Iterator[Line]:
        self.came_to_something = True
        places = event["places"]
        yield ()
        yield _line(f"found {counted(len(places), 'place')}{':' if places else ''}")
        yield from self._some([_line("  ", (place, "name")) for place in places], "  ")

    def tell_error(self, event: Event) -> Iterator[Line]:
        self.came_to_something = True
        yield ()
        yield _line(("failed", "bad"), f": {event['message']} ({event['kind']})")

    def tell_end(self, event: Event) -> Iterator[Line]:
        if not self.came_to_something:
            yield ()
            yield _line("no page was changed")
        cost = event["cost"]
        calls = counted(cost["calls"], "call") if cost["calls"] else "no model was asked"
        took = [calls, _paid(cost), f"{cost['seconds']:.2f} s"]
        yield ()
        yield _line((" · ".join(filter(None, took)), "dim"))

    def tell_unreadable(self, event: Event) -> Iterator[Line]:
        yield _line(f"  (what stood here, {event['was']}, could not be kept as JSON)")

    # the conversation

    def tell_ask(self, event: Event) -> Iterator[Line]:
        self.task = event["task"]
        instead = " instead" if self.undecided and event["model"] != self.first_model else ""
        yield ()
        yield _line((event["model"], "name"), f" is asked{instead}: {TASKS.get(self.task, self.task)}")
        if "system" not in event:
            yield _line(("  it is given the task as data, and reads no words", "dim"))
        elif self.full:
            yield _line("  the system's words:")
            yield from self._quoted(event["system"], "    ")
            yield _line("  the tools:")
            for tool in event["tools"]:
                yield from self._quoted(f"{tool['name']}: {tool['description']}", "    ")
                yield from self._quoted(json.dumps(tool["schema"], ensure_ascii=False), "      ")

    def tell_message(self, event: Event) -> Iterator[Line]:
        text, is_told = event.get("text", ""), UNREAD.get(event["template"])
        if event["role"] == "tool" and event["error"]:
            why = text if self.full else text.partition("\n\n")[0]
            yield from self._said(f"  {event['name']} ", why, ("is refused", "bad"))
        elif text:
            who = event["name"] if event["role"] == "tool" else "it is told" if is_told else "it is shown"
            yield from self._said(f"  {who}", text)
        elif is_told and event["role"] == "user":
            yield _line(f"  {is_told}")

    def tell_reply(self, event: Event) -> Iterator[Line]:
        paid = _paid(event)
        yield _line("  it answers", (f" · {paid} · {event['seconds']:.2f} s" if paid else "", "dim"))
        if event["text"].strip():
            yield from self._said("    in words", event["text"])
        for call in event["calls"]:
            yield from self._called(call["name"], call["arguments"], "    ")
            if malformed := call.get("malformed"):
                yield from self._said("      with arguments that are no JSON object", malformed)
        if stop := STOPS.get(event["stop"]):
            yield _line(f"    {stop}")
        elif not event["calls"]:
            yield _line("    it calls no tool")

    def tell_failed(self, event: Event) -> Iterator[Line]:
        passing = "; that may pass" if event["retryable"] else ""
        yield _line("  ", ("no answer", "bad"), f": {event['error']}{passing}")

    def tell_decided(self, event: Event) -> Iterator[Line]:
        self.undecided = self.task if event["reason"] else ""
        if self.undecided:
            yield _line("  ", ("given up", "bad"), f": {event['reason']}")
        else:
            yield _line("  ", ("decided", "good"), ", and checked:")
            yield from self._some([_line(f"    {one}") for one in event["checked"]], "    ")

    # pieces

    def _called(self, name: str, arguments: Any, indent: str) -> Iterator[Line]:
        """A call on one line; below it, on lines of their own, texts of several lines and lists of objects."""
        if not isinstance(arguments, Mapping):  # a model may give anything
            yield _line(indent, (name, "tool"), " ", (_value(arguments), "value"))
            return
        short = {key: value for key, value in arguments.items() if not _is_long(value)}
        yield _line(indent, (name, "tool"), *_pairs(short))
        for key, value in arguments.items():
            if _is_long(value):
                yield _line(f"{indent}  {key}:")
                inner = f"{indent}    "
                yield from (
                    self._quoted(value, inner)
                    if isinstance(value, str)
                    else self._some([_line(inner[:-1], *_pairs(one)) for one in value], inner)
                )

    def _said(self, who: str, text: str, *how: _Piece) -> Iterator[Line]:
        """What somebody said: after the words that announce it if it is one line, else below them."""
        lines = _lines(text.lstrip())
        if len(lines) > 1:
            yield _line(who, *how, ":")
            yield from self._quoted(text, " " * (len(who) - len(who.lstrip()) + 2))
        else:
            yield _line(who, *how, *((": ", (lines[0], "value")) if lines else ()))

    def _quoted(self, text: str, indent: str) -> Iterator[Line]:
        mark: tuple[_Piece, ...] = (indent, ("│", "dim"))
        lines = [_line(*mark, *((" ", (line, "quote")) if line else ())) for line in map(str.rstrip, _lines(text))]
        yield from self._some(lines, *mark, " ")

    def _some(self, lines: list[Line], *indent: _Piece) -> Iterator[Line]:
        """All lines, or the first and how many more."""
        most = len(lines) if self.full or len(lines) <= MAX_LINES + 1 else MAX_LINES
        yield from lines[:most]
        if left := len(lines) - most:
            yield _line(*indent, (f"… {left:,} more lines", "dim"))


def _line(*pieces: _Piece) -> Line:
    return tuple(Part(piece) if isinstance(piece, str) else Part(*piece) for piece in pieces)


def _lines(text: str) -> list[str]:
    return re.split("\r?\n", stripped) if (stripped := text.rstrip()) else []


def _pairs(arguments: Mapping[str, Any]) -> Iterator[_Piece]:
    for key, value in arguments.items():
        if value is not None:
            yield f" {key}="
            yield _value(value), "value"


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    is_word = isinstance(value, str) and value and not any(c.isspace() or c in "\"'=" for c in value)
    return value if is_word else json.dumps(value, ensure_ascii=False)


def _is_long(value: Any) -> bool:
    if isinstance(value, str):
        return "\n" in value.strip()
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _paid(told: Mapping[str, Any]) -> str:
    usage = told["usage"]
    paid = spent(usage["input_tokens"], usage["output_tokens"], usage["cached_tokens"], told["money"])
    return f"about {paid}" if paid and told.get("is_estimate") else paid


def _extent(before: str | None, after: str | None) -> str:
    if after is None:
        return f"removed, with {size(len(encode(before or '')))}"
    extent = size(len(encode(after)))
    return f"new, {extent}" if before is None else f"{len(encode(before)):,} → {extent}"


def _diff(change: Mapping[str, Any]) -> Iterator[Line]:
    before, after = (None if change[side] is None else readable(change[side]) for side in ("before", "after"))
    old, new = (f"{side}/{change['path']}.md" for side in "ab")
    lines = difflib.unified_diff(
        split_lines(before or ""),
        split_lines(after or ""),
        "/dev/null" if before is None else old,
        "/dev/null" if after is None else new,
    )
    for line in lines:
        yield _line("  ", (re.sub("\r?\n$", "", line), line[:1]))


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
