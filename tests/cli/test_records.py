"""Looking back: what was decided, why, and at what cost."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_v2.cli.output import width
from memory_v2.cli.traces import story
from memory_v2.errors import ModelError, NotAllowed, PageNotFound
from memory_v2.memory import Memory
from memory_v2.models.base import Reply, ToolCall, Usage
from memory_v2.models.offline import OfflinePlanner
from memory_v2.models.scripted import Answer, ScriptedModel
from memory_v2.settings import DEFAULT_TRACES
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.trace.event_kinds import KINDS
from memory_v2.trace.story import MAX_LINES
from tests.house.test_import import HEAVY, ONLY_WHEN_WRITING, loaded_by
from tests.operations.scenes import Crowded

from .program import Ended, Program
from .test_terminal import seen

EVIL = "\x1b]0;title\x07 \x1b[2J \x9b31m \u202e \u2028"
HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]")
PAID = Usage(3120, 88, 2048)


def scripted(program: Program, *replies: Answer, name: str = "some:model") -> Memory:
    """The program's memory, with a model that answers from a script."""
    return Memory(LocalStorage(program.folder), ScriptedModel(replies, name))


def answer(*calls: ToolCall, text: str = "", usage: Usage = PAID, money: float | None = 0.0123) -> Reply:
    return Reply(text, calls, usage, "tool_use", money)


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name, arguments)


PLACED = answer(call("place", blocks="n1", page="memory"))


def traces(program: Program) -> list[Path]:
    return sorted((program.folder / ".metadata" / "traces").glob("*.jsonl"))


def changed(file: Path, change: Callable[[dict[str, Any]], object]) -> str:
    """The lines of a trace, each event changed."""
    events = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    for event in events:
        change(event)
    return "".join(json.dumps(event) + "\n" for event in events)


def events_of(program: Program, kind: str, name: str = "last") -> list[dict[str, Any]]:
    """The events of one kind in a trace."""
    return [one for one in program.quick("trace", name, "--json").json["events"] if one["event"] == kind]


def rows(program: Program, *options: str) -> list[list[str]]:
    return [line.split("\t") for line in program.done("trace", *options).splitlines()]


def refused(ended: Ended, *said: str) -> None:
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, b"", 1), ended
    for words in said:
        assert words in ended.err


# the list


def test_where_nothing_was_done_yet_that_is_said_and_nothing_is_made(program: Program) -> None:
    for options in ([], ["--json"]):
        shown = program.quick("trace", *options)
        assert shown.code == 0
        assert f"{program.folder} has no traces yet" in shown.err
        assert "SILICA_MEMORY_TRACES" in shown.err
    assert program.done("trace") == ""
    assert program.quick("trace", "--json").json == {"traces": []}
    assert not program.folder.exists()


def test_in_a_pipe_each_trace_is_a_line_the_newest_last(grown: Program) -> None:
    grown.done("write", "--to", "people", "Grace writes\tcompilers\nand naval charts")
    grown.done("search", "Who keeps the books?")
    grown.done("rename", "people", "persons")
    grown.quick("merge", "nowhere")
    assert [row[0] for row in rows(grown)] == [file.stem for file in traces(grown)]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", row[1]) for row in rows(grown))
    assert [[row[2], row[3], row[4], row[9]] for row in rows(grown)] == [
        ["write", "people: Grace writes compilers and naval charts", "offline", "1 page"],
        ["search", "Who keeps the books?", "offline", "1 found"],
        ["rename", "people → persons", "", "3 pages"],
        ["merge", "nowhere", "", "PageNotFound"],
    ]
    assert rows(grown)[0][5:9] == ["1", "0", "0", "0.000000"]


def test_only_the_newest_are_listed_and_as_many_as_asked_for(grown: Program) -> None:
    for number in range(3):
        grown.done("write", "--mode", "append", f"Fact {number}")
    assert [row[3] for row in rows(grown, "-n", "2")] == ["Fact 1", "Fact 2"]
    assert [one["about"] for one in grown.quick("trace", "--json", "-n", "1").json["traces"]] == ["Fact 2"]
    shown = seen(grown.on_terminal("trace", "--limit", "2").text)
    assert "Fact 0" not in shown
    assert "1 older not shown; -n 3 lists all" in shown
    assert "older" not in seen(grown.on_terminal("trace").text)


def test_what_a_model_was_paid_is_listed_and_so_is_a_price_that_nobody_knows(grown: Program) -> None:
    scripted(grown, PLACED).write("Grace writes compilers.")
    scripted(grown, answer(call("place", blocks="n1", page="memory"), money=None)).write("Linus likes penguins.")
    assert [row[4:] for row in rows(grown)] == [
        ["some:model", "1", "3120", "88", "0.012300", "1 page"],
        ["some:model", "1", "3120", "88", "?", "1 page"],
    ]
    head, first, second, *_ = seen(grown.on_terminal("trace", columns=120).text).splitlines()
    assert head.split()[-6:] == ["by", "calls", "in", "out", "money", "outcome"]
    assert first.split()[-7:] == ["some:model", "1", "3,120", "88", "$0.0123", "1", "page"]
    assert second.split()[-7:] == ["some:model", "1", "3,120", "88", "?", "1", "page"]


def test_the_short_name_on_a_terminal_names_the_trace(grown: Program) -> None:
    grown.done("write", "--mode", "append", "One more")
    (file,) = traces(grown)
    short = seen(grown.on_terminal("trace").text).splitlines()[1].split()[0]
    assert file.stem.endswith(f"-{short}")
    assert grown.done("trace", short).startswith(f"trace {file.stem}\n")
    twin = file.with_name(f"20000101T000000000000-write-{short}.jsonl")
    twin.write_bytes(file.read_bytes())
    names = [line.split()[0] for line in seen(grown.on_terminal("trace").text).splitlines()[1:]]
    assert names == [twin.stem, file.stem]


def test_a_summary_tells_all_that_the_list_knows(grown: Program) -> None:
    scripted(grown, ModelError("the key is no good")).write("Grace writes compilers.", "people")
    grown.quick("merge", "nowhere")
    degraded, failed = grown.quick("trace", "--json").json["traces"]
    assert degraded.pop("cost").keys() == {
        "calls",
        "input_tokens",
        "output_tokens",
        "cached_tokens",
        "cache_write_tokens",
        "seconds",
        "money",
    }
    assert degraded.pop("started")
    assert degraded == {
        "name": traces(grown)[0].stem,
        "operation": "write",
        "about": "people: Grace writes compilers.",
        "model": "some:model",
        "decided_by": ["offline"],
        "degraded": ["some:model: the model failed: the key is no good"],
        "changed_pages": ["people"],
        "found": None,
        "error": None,
    }
    assert failed["error"] == {"kind": "PageNotFound", "message": "there is no page 'nowhere'"}
    assert (failed["decided_by"], failed["changed_pages"]) == ([], [])


# the story


def test_the_story_of_a_model_that_reads_words_is_told_step_by_step(grown: Program) -> None:
    memory = scripted(
        grown,
        answer(call("read_pages", paths=["projects"]), call("place", blocks="n1", page="nowhere")),
        answer(call("place", blocks="n1", page="memory", after=2), text="Among the people, then."),
    )
    size = {name: len(data) for name, data in grown.files().items()}
    memory.write("Grace writes compilers.")
    after = len(grown.files()["memory.md"])
    shown, _, problem, done = [event["text"] for event in events_of(grown, "message")]
    (decided,) = events_of(grown, "decided")
    head, moment, *lines = grown.done("trace", "last").splitlines()
    assert head == f"trace {traces(grown)[-1].stem}"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, with some:model", moment)
    told = re.sub(r"\d+\.\d\d s", "0.00 s", "\n".join(line for line in lines if "│" not in line))
    paid = "3,120 tokens in (2,048 cached), 88 out, $0.0123 · 0.00 s"
    steps = (
        'write text="Grace writes compilers." mode=update',
        "some:model is asked: ",
        "  it is shown:\n",
        f" · {paid}\n",
        '    read_pages paths=["projects"]\n    place blocks=n1 page=nowhere\n',
        "  read_pages:\n",
        f"  place is refused: {problem.splitlines()[0]}\n",
        f" · {paid}\n",
        "Among the people, then.\n",
        "    place blocks=n1 page=memory after=2\n",
        f"  place: {done.strip()}\n",
        "  decided",
        *(f"    {one}\n" for one in decided["checked"]),
        f"{events_of(grown, 'commit')[0]['revision']}:\n",
        f"  memory  {size['memory.md']:,} → {after:,} bytes\n",
        "2 calls · 6,240 tokens in (4,096 cached), 176 out, $0.0246 · 0.00 s",
    )
    assert re.fullmatch(".*?".join(map(re.escape, steps)), told, re.DOTALL), told
    place = lines.index("  it is shown:") + 1
    first = [f"    │ {line}".rstrip() for line in shown.splitlines()[:MAX_LINES]]
    assert lines[place : place + MAX_LINES] == first
    assert "    │ [n1] Grace writes compilers." in first
    assert decided["checked"]
    assert "nowhere" in problem.splitlines()[0]


def test_a_long_message_is_cut_and_says_how_much_more_there_is(grown: Program) -> None:
    scripted(grown, PLACED).write("Grace writes compilers. " + "And more. " * 40)
    message = events_of(grown, "message")[0]["text"].rstrip().splitlines()
    cut = [line for line in grown.done("trace", "last").splitlines() if "│" in line]
    assert len(cut) == MAX_LINES + 1
    assert cut[-1] == f"    │ … {len(message) - MAX_LINES} more lines"
    assert all(width(line) <= 160 for line in cut)
    narrow = [line for line in seen(grown.on_terminal("trace", "last", columns=60).text).splitlines() if "│" in line]
    assert len(narrow) == MAX_LINES + 1
    assert all(width(line) <= 60 for line in narrow)
    assert max(map(width, narrow)) == 60
    full = grown.done("trace", "last", "--full")
    assert all(f"    │ {line}".rstrip() in full.splitlines() for line in message)
    assert "more lines" not in full


def test_the_full_story_has_the_systems_words_the_tools_and_the_diff(grown: Program) -> None:
    scripted(grown, PLACED).write("Grace writes compilers.")
    short, full = grown.done("trace", "last"), grown.done("trace", "last", "--full")
    (ask,) = events_of(grown, "ask")
    words_of_the_system = ask["system"].splitlines()[0]
    described = {tool["name"]: tool["description"].splitlines()[0] for tool in ask["tools"]}
    assert len(words_of_the_system) > 80
    for words in (
        f"  the system's words:\n    │ {words_of_the_system}\n",
        *(f"    │ {tool}: {description}\n" for tool, description in described.items()),
        "  +Grace writes compilers.\n",
        "\nlimits: turns=16, ",
    ):
        assert words in full
        assert words not in short
    assert "  --- a/memory.md" in full.splitlines()
    assert '"additionalProperties": false' in full
    assert "--full" in grown.on_terminal("trace", "last").text
    assert "--full" not in grown.on_terminal("trace", "last", "--full").text


def test_of_the_planner_it_is_said_that_it_reads_no_words(grown: Program) -> None:
    grown.done("write", "--to", "people", "Grace writes compilers.")
    told = grown.done("trace", "last", "--full").splitlines()
    place = told.index("offline is asked: where the text goes")
    assert told[place + 1 : place + 6] == [
        "  it is given the task as data, and reads no words",
        "  it answers",
        "    place blocks=n1 page=people",
        "  decided, and checked:",
        f"    {events_of(grown, 'decided')[0]['checked'][0]}",
    ]
    assert not any("write/system" in line or "write/task" in line for line in told)
    assert "│" not in "\n".join(told)
    assert re.fullmatch(r"1 call · \d+\.\d\d s", told[-1])


def test_a_split_is_told_child_by_child(program: Program) -> None:
    sections = [f"## {name}\n\n" + f"All of {name.lower()}. " * 60 for name in ("Kitchen", "Garden", "Cellar")]
    program.page("memory", "# Memory\n\n" + "\n\n".join(sections))
    program.done("split")
    told = program.done("trace", "split").splitlines()
    assert "split path=memory" in told
    assert "offline is asked: how the page is divided" in told
    place = told.index("      children:")
    children = [line.split()[0] for line in told[place + 1 :] if line.startswith("        name=")]
    assert len(children) > 1
    sizes = {f"  {name.removesuffix('.md')}": len(data) for name, data in program.files().items()}
    for child in children:
        assert any(line.startswith(f"  {child.removeprefix('name=')} ") and "  new, " in line for line in told)
    last = next(line for line in told if line.startswith("  memory "))
    assert last.endswith(f" → {sizes['  memory']:,} bytes")


def test_the_places_that_a_search_found_are_told(grown: Program) -> None:
    grown.done("search", "pytest")
    told = grown.done("trace", "search")
    assert "\nfound 1 place:\n  projects/silica:3-3\n" in told
    assert "no page was changed" not in told
    grown.done("search", "xylophone")
    assert "\nfound 0 places\n" in grown.done("trace", "last")


def test_a_removed_page_and_an_operation_that_changes_nothing_are_told(grown: Program) -> None:
    size = len(grown.files()["projects/silica.md"])
    grown.done("delete", "projects/silica")
    assert f"  projects/silica  removed, with {size} bytes\n" in grown.done("trace", "last")
    grown.done("check", "--apply")
    assert "\nno page was changed\n\nno model was asked · " in grown.done("trace", "last")
    assert rows(grown)[-1][9] == "no change"


def test_why_somebody_else_took_over_is_told(grown: Program) -> None:
    memory = scripted(grown, ModelError("overloaded", retryable=True), ModelError("the key is no good"))
    memory.write("Grace writes compilers.", "people")
    lines = [line for line in grown.done("trace", "last").splitlines() if "│" not in line]
    place = lines.index("some:model is asked: where the text goes")
    assert lines[place + 1 : place + 7] == [
        "  it is shown:",
        "  no answer: overloaded; that may pass",
        "  no answer: the key is no good",
        "  given up: the model failed: the key is no good",
        "",
        "offline is asked instead: where the text goes",
    ]
    assert rows(grown)[-1][4:] == ["offline", "1", "0", "0", "0.000000", "1 page, degraded"]


def test_an_answer_that_is_of_no_use_is_told_as_it_was(grown: Program) -> None:
    broken = ToolCall("place", {}, malformed='{"blocks": "n1"')
    memory = scripted(
        grown,
        answer(broken),
        Reply("I would rather\ntalk about it.", usage=PAID, money=None),
        Reply("", usage=PAID, stop_reason="length", money=None),
    )
    memory.write("Grace writes compilers.", "people")
    told = grown.done("trace", "last")
    _, problem, no_call = [event["text"] for event in events_of(grown, "message")[:3]]
    for words in (
        '    place\n      with arguments that are no JSON object: {"blocks": "n1"\n',
        f"  place is refused: {problem.splitlines()[0]}\n",
        "    in words:\n      │ I would rather\n      │ talk about it.\n    it calls no tool\n"
        f"  it is told: {no_call.strip()}\n",
        ", price not known · ",
        "    the answer is cut off here\n",
        "  given up: the model answered without using a tool\n",
    ):
        assert words in told
    scripted(grown, Reply("No.", stop_reason="refusal")).write("Linus likes penguins.", "people")
    assert "    in words: No.\n    it refuses\n  given up: the model refused\n" in grown.done("trace", "last")


def test_a_decision_that_the_guard_sends_back_is_told(grown: Program) -> None:
    half = answer(call("insert", page="memory", after=1, text="Grace writes compilers."))
    scripted(grown, PLACED, half).write("Grace writes compilers.\n\nLinus likes penguins.")
    told = grown.done("trace", "last")
    (objections,) = [event["text"] for event in events_of(grown, "message") if event["template"] == "objections"]
    assert f"  it is told:\n    │ {objections.splitlines()[0]}" in told
    assert f"  given up: {events_of(grown, 'decided')[0]['reason']}\n" in told


def test_if_nobody_decides_that_is_told(grown: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Reply:
        raise ModelError("it is on holiday")

    monkeypatch.setattr(OfflinePlanner, "respond", fail)
    grown.done("write", "Grace writes compilers.")
    told = grown.done("trace", "last")
    assert "  given up: the model failed: it is on holiday\n" in told
    assert "\nnobody has decided, so the text is put below all else\nstored, as revision " in told
    assert rows(grown)[-1][4:] == ["", "0", "0", "0", "0.000000", "1 page, degraded"]


def test_a_failed_operation_tells_why(grown: Program) -> None:
    grown.quick("merge", "nowhere")
    told = grown.done("trace", "last")
    assert "\nmerge path=nowhere\n\nfailed: there is no page 'nowhere' (PageNotFound)\n\nno model was asked" in told
    assert "no page was changed" not in told


def test_a_conflict_is_told_and_cannot_be_replayed(program: Program) -> None:
    program.folder.mkdir()
    storage = Crowded(1)
    storage.write("memory", b"# Memory\n")
    storage.cache_folder = program.folder / ".metadata"
    Memory(storage).write("Grace writes compilers.")
    told = program.done("trace", "last")
    assert "\nconflict: " in told
    assert told.count("offline is asked: where the text goes") == 2
    refused(program.quick("replay"), "another writer")


def test_the_events_are_printed_as_they_are(grown: Program) -> None:
    scripted(grown, PLACED).write("Grüße an 日本.")
    (file,) = traces(grown)
    events = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert grown.quick("trace", "last", "--json").json == {"trace": file.stem, "events": events[1:]}
    assert grown.quick("trace", "--json", "last").text.count("\n") == 1


def test_bytes_that_are_not_utf8_are_counted_as_they_are_and_shown_as_replaced(program: Program) -> None:
    data = b"# Old\n\ncaf\xe9\n"
    file = program.page("memory", data)
    program.done("write", "--mode", "append", "more")
    told = program.done("trace", "last", "--full")
    assert f"  memory  {len(data)} → {file.stat().st_size} bytes\n" in told
    assert "   caf\ufffd\n" in told
    (commit,) = events_of(program, "commit")
    assert commit["pages"][0]["before"].encode("utf-8", "surrogateescape") == data
    assert program.quick("replay").code == 0


# what a trace may do to a terminal


def test_no_text_of_a_trace_does_anything_to_a_terminal(program: Program) -> None:
    program.page("memory", f"# Root {EVIL}\n\nneedle {EVIL}\r\n\r{EVIL}\n")
    wrong = call("place", blocks=EVIL, page=f"{EVIL}\n{EVIL}", **{EVIL: [{EVIL: EVIL}]})
    memory = scripted(
        program,
        ModelError(EVIL, retryable=True),
        Reply(f"{EVIL}\n{EVIL}", (wrong, ToolCall(EVIL, {}, malformed=EVIL)), PAID, "tool_use"),
        answer(call("place", blocks="n1", page="memory"), text=EVIL),
        name=f"some:{EVIL}",
    )
    memory.write(f"more {EVIL}")
    with pytest.raises(PageNotFound):
        memory.merge("nowhere")
    with pytest.raises(NotAllowed):
        memory.delete("memory")
    memory.search(f"needle {EVIL}")
    (program.folder / ".metadata" / "traces" / f"2026\x1b[2J\t{EVIL[1:4]}.jsonl").write_text(EVIL)
    for options in ([], ["write"], ["write", "--full"], ["search", "--full"], ["delete"], ["2026\x1b"]):
        for options_too in (options, [*options, "--json"]):
            call_made = ["trace", *options_too]
            for shown in (seen(program.on_terminal(*call_made).text), *_both(program.quick(*call_made))):
                assert not HARMFUL.search(shown), call_made
    assert "needle \\x1b]0;title\\x07" in program.done("trace", "write", "--full")
    assert all(len(row) == 10 for row in rows(program))
    for shown in (seen(program.on_terminal("replay", "write").text), *_both(program.quick("replay", "write"))):
        assert not HARMFUL.search(shown)


def _both(ended: Ended) -> tuple[str, str]:
    return ended.text, ended.err


def poisoned(value: Any, key: str = "") -> Any:
    """An event with every text in it spoilt, but those that say what kind of event it is."""
    if isinstance(value, dict):
        return {name if key != "arguments" else name + EVIL: poisoned(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [poisoned(one) for one in value]
    return f"{EVIL}\n{value}" if isinstance(value, str) and key not in ("event", "started", "role", "stop") else value


def test_whatever_stands_in_an_event_its_story_does_nothing_to_a_terminal(grown: Program) -> None:
    guarded = answer(call("insert", page="memory", after=1, text="Grace writes compilers."))
    wrong = answer(ToolCall("place", {}, malformed="{"), call("open", many=[{"one": "more"}], text="two\nlines"))
    memory = scripted(grown, ModelError("busy", retryable=True), wrong, guarded, PLACED, Reply("No"), Reply("No"))
    memory.write("Grace writes compilers.\n\nLinus likes penguins.")
    memory.search("pytest")
    memory.undo()
    grown.quick("merge", "nowhere")
    events = [event for name in memory.traces() for event in memory.trace(name).events]
    events += [{"event": "conflict", "error": "too late"}, {"event": "unreadable", "was": "reply"}]
    assert KINDS.keys() - {"format"} <= {event["event"] for event in events}
    for full in (False, True):
        lines = list(story(map(poisoned, events), full))
        assert [line for line in lines if HARMFUL.search(line) or "\n" in line] == []
        assert any("\\x1b[2J" in line for line in lines)


def test_the_story_has_colours_on_a_terminal_only(grown: Program) -> None:
    scripted(grown, ModelError("gone")).write("Grace writes compilers.", "people")
    shown = grown.on_terminal("trace", "last", "--full").text
    for coloured in ("\x1b[31mgiven up\x1b[0m", "\x1b[32mdecided\x1b[0m", "\x1b[36mpeople\x1b[0m", "\x1b[32m+Grace"):
        assert coloured in shown
    assert b"\x1b" not in grown.quick("trace", "last", "--full").out
    assert "\x1b" not in grown.on_terminal("trace", "last", "--full", env={"NO_COLOR": "1"}).text


# traces that are none


def without(key: str, kind: str) -> Callable[[dict[str, Any]], object]:
    return lambda event: event.pop(key) if event["event"] == kind else None


def listed(key: str, value: object, kind: str) -> Callable[[dict[str, Any]], object]:
    return lambda event: event.update({key: value}) if event["event"] == kind else None


BROKEN: dict[str, bytes | Callable[[dict[str, Any]], object]] = {
    "empty": b"",
    "no JSON": b'{"event": "format", "format": 1}\n{"event": "beg',
    "not UTF-8": b"\xff\xfe\n",
    "of another format": b'{"event": "format", "format": 2}\n',
    "no object": b'{"event": "format", "format": 1}\n["begin"]\n',
    "nothing happened": b'{"event": "format", "format": 1}\n',
    "no arguments": without("arguments", "begin"),
    "no cost": without("cost", "end"),
    "no reads": without("reads", "end"),
    "no pages": without("pages", "commit"),
    "pages of no shape": listed("pages", ["people"], "commit"),
    "a moment that is none": listed("started", "yesterday", "begin"),
    "no reason": without("reason", "decided"),
    "a moment that is a number": listed("started", 1_700_000_000, "begin"),
    "a text that is a number": listed("text", 5, "reply"),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_file_that_is_no_trace_is_listed_as_broken_and_told_in_a_sentence(
    grown: Program, broken: bytes | Callable[[dict[str, Any]], object]
) -> None:
    grown.done("write", "Grace writes compilers.")
    (whole,) = traces(grown)
    data = broken if isinstance(broken, bytes) else changed(whole, broken).encode()
    file = whole.with_name("20000101T000000000000-write-zzz.jsonl")
    file.write_bytes(data)
    first, second = rows(grown)
    assert (first[0], first[9], second[9]) == (file.stem, "broken", "1 page")
    assert "no" in first[3]
    assert grown.quick("trace", "--json").json["traces"][0] == {"name": file.stem, "broken": first[3]}
    assert "broken" in seen(grown.on_terminal("trace").text)
    refused(grown.quick("trace", "zzz"), "no")


def test_a_name_that_names_none_or_several_is_wrong_use(grown: Program) -> None:
    for verb in ("trace", "replay"):
        refused(grown.quick(verb, "last"), "'last'")
    grown.done("write", "Grace writes compilers.")
    grown.done("write", "Linus likes penguins.")
    for verb in ("trace", "replay"):
        refused(grown.quick(verb, "nonsense"), "no trace", "'nonsense'", "silica memory trace")
        refused(grown.quick(verb, "write"), "2 traces", "'write'", "silica memory trace")
        refused(grown.quick(verb, ""), "2 traces")
    told = grown.quick("trace", "write", "--json")
    assert (told.code, told.json["error"]["kind"]) == (2, "NotAllowed")


# what belongs to it


def test_the_result_names_its_trace(grown: Program) -> None:
    written = grown.quick("write", "--json", "Grace writes compilers.").json["trace"]
    searched = grown.quick("search", "--json", "pytest").json["trace"]
    assert [file.stem for file in traces(grown)] == [written, searched]
    assert grown.quick("trace", written, "--json").json["trace"] == written


@pytest.mark.parametrize(
    ("money", "told"),
    [
        (0.0123, "1 call, 3,120 tokens in (2,048 cached), 88 out, $0.0123"),
        (0.00001, "1 call, 3,120 tokens in (2,048 cached), 88 out, <$0.0001"),
        (None, "1 call, 3,120 tokens in (2,048 cached), 88 out, price not known"),
        (0.0, "1 call, 3,120 tokens in (2,048 cached), 88 out"),
    ],
)
def test_a_write_tells_what_was_paid(
    grown: Program, monkeypatch: pytest.MonkeyPatch, money: float | None, told: str
) -> None:
    model = ScriptedModel([answer(call("place", blocks="n1", page="memory"), money=money)] * 2)
    monkeypatch.setattr(
        "memory_v2.agent.load.load_model", lambda name, *_: OfflinePlanner() if name == "offline" else model
    )
    written = grown.quick("--model", "some:model", "write", "Grace writes compilers.")
    assert written.text.endswith(f" bytes · {told}\n"), written
    as_json = grown.quick("--model", "some:model", "write", "--json", "Linus likes penguins.").json["cost"]
    assert (as_json["money"], as_json["input_tokens"], as_json["cache_write_tokens"]) == (money, 3120, 0)


def test_the_help_names_the_settings_and_what_the_exit_code_means(program: Program) -> None:
    told = " ".join(program.done("--help").split())
    for said in (
        "SILICA_MEMORY_LIMITS",
        "turns=8,tokens=50000,seconds=60,money=0.05",
        f"({DEFAULT_TRACES}; 0: none)",
        "SILICA_MEMORY_PRICES",
    ):
        assert said in told
    assert max(map(len, program.silica("memory", "--help").text.splitlines())) <= 80
    assert "with 1 if they differ" in " ".join(program.done("replay", "--help").split())


def test_looking_at_traces_loads_no_more_than_what_checks_them(grown: Program) -> None:
    grown.done("write", "Grace writes compilers.")
    for options in ("'trace'", "'trace', 'last', '--full'", "'trace', '--json'"):
        code = (
            "from memory_v2.cli.app import silica\ntry:\n"
            f"    silica.main(['memory', '--path', {str(grown.folder)!r}, {options}])\n"
            "except SystemExit as end:\n    assert end.code == 0"
        )
        assert loaded_by(code).intersection((*HEAVY, *ONLY_WHEN_WRITING)) <= {"pydantic"}
    assert not loaded_by("from memory_v2.cli.app import silica").intersection((*HEAVY, *ONLY_WHEN_WRITING))
