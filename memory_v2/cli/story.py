"""A trace told as lines: what was asked of whom, what was shown, what was decided, why, and what it cost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from memory_v2.cli.show import counted, cut, pad, plain, plain_lines, screen_width, size, spent, style, width

if TYPE_CHECKING:
    from memory_v2.agent.trace import Event

MAX_LINES = 12
"""Lines of a message that are shown, if not all are."""
WIDEST_LINE = 160
"""Columns of such a line in a pipe; on a terminal it has as many as the terminal."""
MAX_VALUE = 240
"""Columns of one argument, or of what is said in one line."""

TASKS = {
    "write": "where the text goes",
    "split": "how the page is divided",
    "search": "what answers the question",
}
UNREAD = {
    "objections": "it is sent back: the guard objects",
    "no_call": "it is asked to call a tool",
}
"""What a model was told that reads no words, by template."""
STOPS = {
    "length": "the answer is cut off here",
    "refusal": "it refuses",
    "other": "it stops here, and says not why",
}


def story(events: Iterable[Event], full: bool = False) -> Iterator[str]:
    """What happened, line by line: coloured on a terminal, to which no text of a page does anything. `full` leaves
    nothing out: the system's words and the tools are shown too, and what was changed as a diff."""
    return _Story(full).lines(events)


class _Story:
    """What has to be known of the events before, to tell the next."""

    def __init__(self, full: bool) -> None:
        self.full = full
        self.columns = screen_width() or WIDEST_LINE
        self.first_model = ""
        self.task = ""
        self.undecided = ""
        self.came_to_something = False

    def lines(self, events: Iterable[Event]) -> Iterator[str]:
        tellers = {
            "begin": self._begin,
            "ask": self._ask,
            "message": self._message,
            "reply": self._reply,
            "failed": self._failed,
            "decided": self._decided,
            "conflict": self._conflict,
            "commit": self._commit,
            "found": self._found,
            "error": self._error,
            "end": self._end,
            "unreadable": self._unreadable,
        }
        for event in events:
            if teller := tellers.get(event["event"]):
                yield from teller(event)

    # the operation

    def _begin(self, event: Event) -> Iterator[str]:
        self.first_model = event["model"]
        started = datetime.fromisoformat(event["started"]).astimezone(UTC)
        yield style(f"{started:%Y-%m-%d %H:%M:%S} UTC, with {plain(event['model'])}", dim=True)
        if self.full:
            limits = ", ".join(f"{name}={limit:,}" for name, limit in event["limits"].items())
            yield style(f"limits: {limits}; a page may have {size(event['threshold'])}", dim=True)
        yield from self._called(event["operation"], event["arguments"], "")

    def _conflict(self, event: Event) -> Iterator[str]:
        yield ""
        yield f"{style('conflict', fg='yellow')}: {plain(event['error'])}; so it is done again on what is there now"

    def _commit(self, event: Event) -> Iterator[str]:
        self.came_to_something = True
        yield ""
        if self.undecided == "write":
            yield "nobody has decided, so the text is put below all else"
        yield f"stored, as revision {plain(event['revision'])}:"
        names = [plain(change["path"]) for change in event["pages"]]
        widest = max(map(width, names), default=0)
        for name, change in zip(names, event["pages"], strict=True):
            yield f"  {style(pad(name, widest), fg='cyan')}  {_extent(change['before'], change['after'])}"
        if self.full:
            for change in event["pages"]:
                yield ""
                yield from _diff(change)

    def _found(self, event: Event) -> Iterator[str]:
        self.came_to_something = True
        places = event["places"]
        yield ""
        yield f"found {counted(len(places), 'place')}{':' if places else ''}"
        yield from self._some([f"  {style(plain(place), fg='cyan')}" for place in places], "  ")

    def _error(self, event: Event) -> Iterator[str]:
        self.came_to_something = True
        yield ""
        yield f"{style('failed', fg='red')}: {plain(event['message'])} ({plain(event['kind'])})"

    def _end(self, event: Event) -> Iterator[str]:
        if not self.came_to_something:
            yield ""
            yield "no page was changed"
        cost, usage = event["cost"], event["cost"]["usage"]
        paid = spent(usage["input_tokens"], usage["output_tokens"], usage["cached_tokens"], cost["money"])
        calls = counted(cost["calls"], "call") if cost["calls"] else "no model was asked"
        yield ""
        yield style(" · ".join(filter(None, [calls, paid, f"{cost['seconds']:.2f} s"])), dim=True)

    def _unreadable(self, event: Event) -> Iterator[str]:
        yield f"  (what stood here, {plain(event['was'])}, could not be kept as JSON)"

    # the conversation

    def _ask(self, event: Event) -> Iterator[str]:
        self.task = str(event["task"])
        instead = " instead" if self.undecided and event["model"] != self.first_model else ""
        yield ""
        yield f"{style(plain(event['model']), fg='cyan')} is asked{instead}: {plain(TASKS.get(self.task, self.task))}"
        if "system" not in event:
            yield style("  it is given the task as data, and reads no words", dim=True)
        elif self.full:
            yield "  the system's words:"
            yield from self._quoted(event["system"], "    ")
            yield "  the tools:"
            for tool in event["tools"]:
                yield from self._quoted(f"{tool['name']}: {tool['description']}", "    ")
                yield from self._quoted(json.dumps(tool["schema"], ensure_ascii=False), "      ")

    def _message(self, event: Event) -> Iterator[str]:
        text = event.get("text", "")
        if event["role"] == "tool":
            name = plain(event["name"])
            if event["error"]:
                why = text if self.full else text.partition("\n\n")[0]
                yield from self._said(f"  {name} {style('is refused', fg='red')}", why)
            elif text:
                yield from self._said(f"  {name}", text)
        elif text:
            yield from self._said("  it is told" if event["template"] in UNREAD else "  it is shown", text)
        elif told := UNREAD.get(event["template"]):
            yield f"  {told}"

    def _reply(self, event: Event) -> Iterator[str]:
        usage = event["usage"]
        paid = spent(usage["input_tokens"], usage["output_tokens"], usage["cached_tokens"], event["money"])
        took = f" · {paid} · {event['seconds']:.2f} s" if paid else ""
        yield f"  it answers{style(took, dim=True)}"
        if event["text"].strip():
            yield from self._said("    in words", event["text"])
        for call in event["calls"]:
            yield from self._called(call["name"], call["arguments"], "    ")
            if malformed := call.get("malformed"):
                yield from self._said("      with arguments that are no JSON object", malformed)
        if stop := STOPS.get(event["stop"]):
            yield f"    {stop}"
        elif not event["calls"]:
            yield "    it calls no tool"

    def _failed(self, event: Event) -> Iterator[str]:
        passing = "; that may pass" if event["retryable"] else ""
        yield f"  {style('no answer', fg='red')}: {plain(event['error'])}{passing}"

    def _decided(self, event: Event) -> Iterator[str]:
        self.undecided = self.task if event["reason"] else ""
        if self.undecided:
            yield f"  {style('given up', fg='red')}: {plain(event['reason'])}"
        else:
            yield f"  {style('decided', fg='green')}, and checked:"
            yield from self._some([f"    {plain(one)}" for one in event["checked"]], "    ")

    # pieces

    def _called(self, name: str, arguments: Mapping[str, Any], indent: str) -> Iterator[str]:
        """A call in one line; below it what takes lines of its own: texts of several, and lists of objects."""
        short = {key: value for key, value in arguments.items() if value is not None and not _is_long(value)}
        yield f"{indent}{style(plain(name), bold=True)} {self._pairs(short)}".rstrip()
        for key, value in arguments.items():
            if isinstance(value, str) and _is_long(value):
                yield f"{indent}  {plain(key)}:"
                yield from self._quoted(value, f"{indent}    ")
            elif _is_long(value):
                yield f"{indent}  {plain(key)}:"
                yield from self._some([f"{indent}    {self._pairs(one)}" for one in value], f"{indent}    ")

    def _pairs(self, arguments: Mapping[str, Any]) -> str:
        return " ".join(f"{plain(key)}={self._value(value)}" for key, value in arguments.items() if value is not None)

    def _value(self, value: Any) -> str:
        if isinstance(value, float):
            return f"{value:.4g}"
        is_word = isinstance(value, str) and value and not any(c.isspace() or c in "\"'=" for c in value)
        return self._cut(plain(value if is_word else json.dumps(value, ensure_ascii=False)))

    def _cut(self, line: str) -> str:
        return line if self.full else cut(line, MAX_VALUE)

    def _said(self, what: str, text: str) -> Iterator[str]:
        """What somebody said: behind the words that announce it if it is one line, else below them."""
        lines = plain_lines(text).strip().splitlines()
        if len(lines) > 1:
            yield f"{what}:"
            yield from self._quoted(text, " " * (len(what) - len(what.lstrip()) + 2))
        else:
            yield f"{what}{': ' if lines else ''}{self._cut(''.join(lines))}"

    def _quoted(self, text: str, indent: str) -> Iterator[str]:
        mark = f"{indent}{style('│', dim=True)} "
        lines = plain_lines(text.rstrip()).splitlines()
        room = self.columns - len(indent) - 2
        shown = lines if self.full else [cut(line.expandtabs(4), room) for line in lines]
        yield from self._some([f"{mark}{line}".rstrip() for line in shown], mark)

    def _some(self, lines: list[str], indent: str) -> Iterator[str]:
        """All lines, or the first and how many more."""
        most = len(lines) if self.full or len(lines) <= MAX_LINES + 1 else MAX_LINES
        yield from lines[:most]
        if left := len(lines) - most:
            yield f"{indent}{style(f'… {left:,} more lines', dim=True)}"


def _is_long(value: Any) -> bool:
    if isinstance(value, str):
        return "\n" in value.strip()
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _extent(before: str | None, after: str | None) -> str:
    from memory_v2.tree.block import encode

    if after is None:
        return f"removed, with {size(len(encode(before or '')))}"
    extent = size(len(encode(after)))
    return f"new, {extent}" if before is None else f"{len(encode(before)):,} → {extent}"


def _diff(change: Mapping[str, Any]) -> Iterator[str]:
    from memory_v2.operations.results import Change, PageChange

    revision = Change("", (PageChange(change["path"], change["before"], change["after"]),))
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in plain_lines(revision.diff).splitlines():
        yield f"  {style(line, fg=colours.get(line[:1]))}"
