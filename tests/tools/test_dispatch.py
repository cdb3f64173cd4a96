"""A tool call gives a short answer that says what happened and what to do next, whatever the model has sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_v2.errors import StorageError
from memory_v2.memory import Memory
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tools import TOOLS, ToolResult, dispatch
from memory_v2.tools.answer import LONGEST
from memory_v2.tree.edit import text_of
from memory_v2.tree.page import parse_page
from tests.effort import effort
from tests.operations.scenes import offline
from tests.properties.whole import clock, faults, pages_of

NAMES = [tool.name for tool in TOOLS]
ROOM = 1_000
"""What an answer may have beside the text that is limited, in characters: where it is from, and how to read on."""
TRICKS = (
    "../outside",
    "/etc/passwd",
    "a/../../b",
    ".metadata/history",
    "C:\\windows",
    "CON",
    "a\0b",
    "a\nb",
    "[[memory]]",
    "memory.md",
    "x" * 5_000,
    "a/" * 200,
    "\u202ecilis",
    " ",
)


@pytest.fixture
def memory() -> Memory:
    memory = offline()
    memory.write("# Silica\n\n- Silica uses pytest (2026-02-03)\n- Ines pays the boat\n", "projects/silica")
    memory.write("The garden has leeks.", "garden")
    return memory


def told(memory: Memory, name: str, **arguments: Any) -> str:
    """The text of an answer that is no error."""
    result = dispatch(memory, name, arguments)
    assert not result.is_error, result.text
    return result.text


def stored(memory: Memory) -> tuple[object, ...]:
    """All that a tool can change."""
    entries = [(place.path, memory.entries.store.data(place.path)) for place in memory.entries.store.places()]
    return pages_of(memory.storage), sorted(entries), [one.id for one in memory.history()]


def refused(memory: Memory, name: Any, arguments: Any) -> ToolResult:
    """The answer to a call that is wrong: an error that changed nothing."""
    before = stored(memory)
    result = dispatch(memory, name, arguments)
    assert result.is_error, result.text
    assert stored(memory) == before
    assert result.document["error"]["message"] == result.text
    assert len(result.text) < 1_500
    return result


# what the tools do


def test_a_fact_is_written_found_read_deleted_and_brought_back() -> None:
    memory = offline()
    assert "write_memory begins it" in refused(memory, "read_memory", {}).text
    assert "'memory'" in told(memory, "write_memory", content="Silica uses pytest 8.3.")
    assert "pytest 8.3" in told(memory, "search_memory", query="What tests Silica?")
    assert told(memory, "read_memory") == memory.read()
    told(memory, "write_memory", content="Ines pays the boat.", path="people/ines")
    before = pages_of(memory.storage)
    for name, arguments in (("delete_memory", {}), ("write_memory", {"content": "More.", "mode": "append"})):
        changed = dispatch(memory, name, {"path": "people/ines", **arguments})
        assert repr(changed.document["revision"]) in changed.text
        assert "people/ines" in told(memory, "undo_memory", revision=changed.document["revision"])
        assert pages_of(memory.storage) == before


def test_an_observation_is_captured_beside_the_pages_once(memory: Memory) -> None:
    pages = pages_of(memory.storage)
    observed = {"content": "Build 41 took nine minutes on Porto.", "date": "2026-02-03"}
    told_of = {"tags": ["ci"], "confidence": 0.8, "decay": "linear-30d", "source": "the runner", "agent": "hawk"}
    first = dispatch(memory, "capture_memory", {**observed, **told_of})
    assert first.document["id"] in first.text
    entry = memory.entries.read_entry(first.document["id"])
    assert (entry.id, entry.tags, entry.confidence) == ("hawk/obs-2026-02-03-001", ("ci",), 0.8)
    assert (str(entry.decay), entry.source.author, entry.text) == (
        "linear-30d",
        "the runner",
        f"{observed['content']}\n",
    )
    again = dispatch(memory, "capture_memory", {**observed, "agent": "hawk"})
    assert (again.document["was_known"], again.document["id"]) == (True, entry.id)
    near = told(
        memory, "capture_memory", agent="hawk", content="Build 42 took nine minutes on Porto.", date="2026-02-03"
    )
    assert entry.id in near
    assert pages_of(memory.storage) == pages


def test_a_captured_secret_is_told_and_masked(memory: Memory) -> None:
    key = "sk-proj-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY"
    result = dispatch(memory, "capture_memory", {"content": f"The key of the shop is {key}."})
    assert "secret" in result.text
    assert key not in result.text + json.dumps(result.document)


def test_a_text_has_its_source_and_its_day(memory: Memory) -> None:
    told(memory, "write_memory", content="The kiln is at 1,240 degrees.", source="standup", date="2026-01-15")
    hit = memory.search("How hot is the kiln?")[0]
    assert (hit.source, hit.date) == ("standup", date(2026, 1, 15))
    assert "said on 2026-01-15; from standup" in told(memory, "search_memory", query="How hot is the kiln?")


def test_what_is_said_twice_is_told_with_its_page(memory: Memory) -> None:
    assert "on 'garden'" in told(memory, "write_memory", content="The garden has leeks.")


def test_a_write_ends_with_the_lines_that_it_may_contradict_wherever_they_stand(memory: Memory) -> None:
    told(memory, "write_memory", content="Tollgate's staging listens on port 8080.", path="projects/tollgate")
    told(memory, "write_memory", content="- Mira signs Tollgate off.\n- The gate is green.", path="people/mira")
    said = told(memory, "write_memory", content="Tollgate's staging has moved to port 8443.", path="ops")
    before, near = said.split("Near it stands")
    assert "undo_memory" in before
    assert "replace_in_memory" in near.splitlines()[0]
    assert near.splitlines()[1] == "`projects/tollgate`: Tollgate's staging listens on port 8080."
    assert "has moved" not in near
    told(memory, "replace_in_memory", path="projects/tollgate", old=near.splitlines()[1].split(": ", 1)[1], new="")


def test_a_write_says_nothing_of_lines_that_are_not_near(memory: Memory) -> None:
    assert "Near it" not in told(memory, "write_memory", content="Harbour crane 4 is out of order.", path="harbour")
    assert "Near it" not in told(memory, "write_memory", content="Harbour crane 4 is out of order.", path="cranes")


def test_the_lines_near_a_write_are_few(memory: Memory) -> None:
    for number in range(20):
        told(
            memory,
            "write_memory",
            content=f"Crane {number} at the harbour lifts {number} tons.",
            path=f"cranes/{number}",
        )
    near = told(memory, "write_memory", content="Crane 99 at the harbour lifts 3 tons.").split("Near it stands")[1]
    assert len(near.splitlines()[1:]) == 2
    assert near.splitlines()[1] == "`cranes/3`: Crane 3 at the harbour lifts 3 tons."


def test_an_id_that_names_nothing_is_refused_with_where_ids_are(memory: Memory) -> None:
    for wrong in ("ffffffff", "xyz", memory.history()[0].id[:3]):
        error = refused(memory, "undo_memory", {"revision": wrong}).text
        assert "memory_history" in error
        assert "silica memory history" not in error


def test_the_history_says_of_a_text_that_was_there_already_that_nothing_was_changed(memory: Memory) -> None:
    for _ in range(2):
        told(memory, "write_memory", content="Harbour crane 4 is out of order.", path="harbour")
    newest, written = told(memory, "memory_history").splitlines()[:2]
    assert newest.endswith("nothing was changed") and "pages: harbour" in written.replace("memory, ", "")


def test_the_history_lists_the_ids(memory: Memory) -> None:
    listed = told(memory, "memory_history", path="garden")
    assert listed.splitlines()[0].startswith(memory.history("garden")[0].id)
    assert "1 older change" in told(memory, "memory_history", max_results=1)


def test_a_page_that_may_be_misspelled_is_made_and_the_one_that_was_meant_is_named(memory: Memory) -> None:
    assert " That page is new; did you mean 'garden'?" in told(memory, "write_memory", path="gardn", content="Peas.")
    assert "did you mean" not in told(memory, "write_memory", path="gardn", content="Beans.")
    assert "did you mean" not in told(memory, "write_memory", path="harbour", content="Berth 4.")


def test_the_history_of_a_page_that_never_was_is_an_error_with_the_nearest_names(memory: Memory) -> None:
    result = refused(memory, "memory_history", {"path": "gardn"})
    assert result.text == dispatch(memory, "read_memory", {"path": "gardn"}).text
    assert "Did you mean garden?" in result.text
    memory.delete("garden")
    assert "delete" in told(memory, "memory_history", path="garden")


def test_the_graph_of_a_page_has_its_links_only(memory: Memory) -> None:
    assert set(told(memory, "get_memory_graph").splitlines()) == {
        "memory → projects/silica, garden",
        "garden",
        "projects/silica",
    }
    assert told(memory, "get_memory_graph", path="garden").splitlines() == ["memory → garden", "garden"]


def test_a_page_is_divided_on_request() -> None:
    memory = offline()
    sections = "".join(f"## {n} harbour\n\n" + f"- Ines pays berth {n} in Porto.\n" * 20 + "\n" for n in range(9))
    memory.write(sections, "harbour", "replace")
    result = dispatch(memory, "split_memory", {"path": "harbour"})
    assert result.document["new_files"]
    assert all(repr(path) in result.text for path in result.document["new_files"])


@pytest.mark.parametrize("tool", TOOLS, ids=NAMES)
def test_null_is_the_same_as_leaving_an_argument_out(tool: Any, memory: Memory) -> None:
    required = tool.schema.get("required", ())
    given = dict.fromkeys(required, "garden")
    nulls = dict.fromkeys(set(tool.schema["properties"]) - set(required))
    assert not dispatch(memory, tool.name, {**given, **nulls}).is_error


def test_arguments_may_be_the_text_that_openai_sends(memory: Memory) -> None:
    assert "leeks" in dispatch(memory, "read_memory", '{"path": "garden", "from_line": null}').text
    assert dispatch(memory, "list_memory_files", "").text == dispatch(memory, "list_memory_files", None).text


# bounded in size


def test_a_long_page_is_cut_at_a_line_and_can_be_read_to_its_end(tmp_path: Path) -> None:
    lines = [f"- Fact {number} of the harbour is paid by Ines in Porto.\n" for number in range(2_000)]
    (tmp_path / "memory.md").write_text("".join(lines))
    memory = Memory.open(tmp_path)
    read, line = "", 1
    for _ in range(20):
        result = dispatch(memory, "read_memory", {"from_line": line})
        assert len(result.text) < LONGEST + ROOM
        assert result.document["text"].endswith("\n")
        read += result.document["text"]
        if result.document["next_line"] is None:
            break
        line = result.document["next_line"]
        assert f"from_line {line}]" in result.text
    assert read == "".join(lines)


def test_a_line_that_is_too_long_is_cut_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "memory.md").write_text("x" * 100_000 + "\nlast\n")
    memory = Memory.open(tmp_path)
    first = told(memory, "read_memory")
    assert len(first) < LONGEST + ROOM
    assert "line 1 is cut" in first
    assert "from_line 2]" in first
    assert "last" in told(memory, "read_memory", from_line=2)


def test_blank_lines_at_the_end_of_a_page_do_not_make_it_empty(tmp_path: Path) -> None:
    (tmp_path / "memory.md").write_text("one\n\n\n")
    (tmp_path / "blank.md").write_text("\n\n")
    memory = Memory.open(tmp_path)
    assert "empty" not in told(memory, "read_memory", from_line=2)
    assert "empty" in told(memory, "read_memory", path="blank")


def test_a_line_behind_the_end_is_an_error(memory: Memory) -> None:
    assert "from_line" in refused(memory, "read_memory", {"path": "garden", "from_line": 500}).text


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    folder = tmp_path_factory.mktemp("crowded")
    for number in range(250):
        name = f"harbour-{number:03}-" + "berth-" * 10
        (folder / f"{name}.md").write_text(f"# Berth {number}\n\n" + f"Ines pays for berth {number}. " * 60)
    return Memory.open(folder)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("list_memory_files", {}),
        ("get_memory_graph", {}),
        ("search_memory", {"query": "Who pays for the berth?", "max_results": 50}),
        ("memory_history", {"max_results": 50}),
        ("write_memory", {"content": "- Ines pays the boat in Porto.\n" * 900, "path": "boat", "mode": "append"}),
        ("undo_memory", {}),
    ],
)
def test_an_answer_is_bounded_in_size(name: str, arguments: dict[str, Any], crowded: Memory) -> None:
    result = dispatch(crowded, name, arguments)
    assert not result.is_error, result.text
    assert len(result.text) < LONGEST + ROOM
    assert len(json.dumps(result.document)) < 8 * LONGEST


def test_a_list_that_is_cut_can_be_read_to_its_end(crowded: Memory) -> None:
    every, seen, after = {page.path for page in crowded.list_files()}, set[str](), None
    for _ in range(20):
        result = dispatch(crowded, "list_memory_files", {"after": after})
        pages = [page["path"] for page in result.document["pages"]]
        assert not seen.intersection(pages)
        seen.update(pages)
        if not result.document["left_out"]:
            break
        after = pages[-1]
        assert repr(after) in result.text
    assert seen == every


def test_a_list_may_be_of_one_folder(memory: Memory) -> None:
    assert told(memory, "list_memory_files", folder="projects/").startswith("projects/silica · ")
    assert "leave folder out" in refused(memory, "list_memory_files", {"folder": "nowhere"}).text


# bad input


@pytest.mark.parametrize("name", NAMES)
def test_arguments_that_are_no_object_are_refused(name: str, memory: Memory) -> None:
    wrong: tuple[Any, ...] = ([], 7, "[1]", "{", '"x"', '{"path": ', "[" * 100_000, True, b"\xff")
    for arguments in wrong:
        assert name in refused(memory, name, arguments).text


def test_a_tool_that_does_not_exist_is_refused_with_those_that_do(memory: Memory) -> None:
    for name in ("", "read", "READ_MEMORY", "rm -rf", "x" * 100_000, None, 7, ["read_memory"]):
        assert all(known in refused(memory, name, {}).text for known in NAMES)


@pytest.mark.parametrize("tool", TOOLS, ids=NAMES)
def test_wrong_types_missing_and_unknown_arguments_are_refused_by_name(tool: Any, memory: Memory) -> None:
    fitting = {"path": "garden", "content": "x", "query": "x"}
    for name in tool.schema["properties"]:
        for wrong in ({"a": 1}, [1], b"\xff\xfe", object(), float("nan"), "\ud800"):
            arguments = {**{n: v for n, v in fitting.items() if n in tool.schema["properties"]}, name: wrong}
            assert name in refused(memory, tool.name, arguments).text
    for name in tool.schema.get("required", ()):
        assert name in refused(memory, tool.name, {}).text
    given = {n: v for n, v in fitting.items() if n in tool.schema["properties"]}
    assert "surprise" in refused(memory, tool.name, {**given, "surprise": 1}).text


@pytest.mark.parametrize("wrong", [True, False])
@pytest.mark.parametrize(
    ("name", "argument"),
    [("read_memory", "from_line"), ("search_memory", "max_results"), ("capture_memory", "confidence")],
)
def test_a_truth_value_is_no_number(name: str, argument: str, wrong: bool, memory: Memory) -> None:
    given = {"read_memory": {}, "search_memory": {"query": "leeks"}, "capture_memory": {"content": "leeks"}}[name]
    told_back = refused(memory, name, {**given, argument: wrong}).text
    assert f"{argument}: Input should be a number, not {str(wrong).lower()}" in told_back


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("write_memory", {"content": "x" * 1_000_000}),
        ("search_memory", {"query": "x" * 1_000_000}),
        ("read_memory", {"path": "x" * 1_000_000}),
        ("read_memory", {"x" * 1_000_000: 1}),
        ("undo_memory", {"revision": "f" * 1_000_000}),
        ("read_memory", {"from_line": 10**30}),
        ("search_memory", {"query": "x", "max_results": 10**30}),
        ("write_memory", {"content": " \n"}),
        ("search_memory", {"query": ""}),
        ("write_memory", {"content": "x", "mode": "delete"}),
        ("write_memory", {"content": "x", "date": "2026-13-40"}),
        ("write_memory", {"content": "x", "date": "2999-01-01"}),
        ("write_memory", {"content": "x", "source": "a\nb"}),
        ("capture_memory", {"content": "x" * 1_000_000}),
        ("capture_memory", {"content": " \n"}),
        ("capture_memory", {"content": "x", "agent": "../outside"}),
        ("capture_memory", {"content": "x", "agent": "x" * 5_000}),
        ("capture_memory", {"content": "x", "tags": ["a\nb"]}),
        ("capture_memory", {"content": "x", "confidence": 1.5}),
        ("capture_memory", {"content": "x", "decay": "soon"}),
        ("capture_memory", {"content": "x", "date": "2026-13-40"}),
        ("delete_memory", {"path": "memory"}),
        ("delete_memory", {"path": ""}),
        ("undo_memory", {"revision": "ffffffff"}),
        ("undo_memory", {"revision": "'; drop table"}),
    ],
)
def test_huge_empty_and_impossible_values_are_refused(name: str, arguments: dict[str, Any], memory: Memory) -> None:
    refused(memory, name, arguments)


def test_a_wrong_path_is_refused_with_those_that_are_like_it(memory: Memory) -> None:
    for path in ("Projects/Silica", "projects/silca", "work/silica"):
        assert "projects/silica" in refused(memory, "read_memory", {"path": path}).text


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
WORDS = st.sampled_from(["boat", "garden", "memory", "Who pays?", "- Ines pays.", "update", "2026-01-01", "a/b"])
CALLS = st.sampled_from(TOOLS).flatmap(
    lambda tool: st.tuples(
        st.just(tool.name), st.dictionaries(st.sampled_from(sorted(tool.schema["properties"])), WORDS | JSON)
    )
)


@settings(max_examples=effort(30, 2_000))
@given(st.lists(CALLS, max_size=6))
def test_no_call_raises_or_breaks_the_tree(made: list[tuple[str, dict[str, Any]]]) -> None:
    memory = offline()
    memory.write("Ines pays the boat.", "boat")
    for name, arguments in made:
        before = pages_of(memory.storage)
        result = dispatch(memory, name, arguments)
        assert result.text
        assert json.loads(json.dumps(result.document)) == result.document
        assert not result.is_error or pages_of(memory.storage) == before
    assert not faults(pages_of(memory.storage), memory.threshold)


# what goes wrong besides


class Broken(VolatileStorage):
    """A storage whose disk is full."""

    is_full = False

    def commit(self, change: Any, check: Callable[[], object] | None = None) -> Any:
        """Fails while the disk is full."""
        if self.is_full:
            raise StorageError("there is no space left on the device")
        return super().commit(change, check)


def test_a_storage_that_fails_is_an_error_that_says_so() -> None:
    storage = Broken(clock)
    memory = offline(storage=storage)
    memory.write("Ines pays the boat.", "boat")
    storage.is_full = True
    result = dispatch(memory, "delete_memory", {"path": "boat"})
    assert result.is_error
    assert "no space left" in result.text
    assert result.document["error"]["kind"] == "StorageError"
    storage.is_full = False
    assert "Ines pays the boat." in memory.read("boat")


def test_a_search_within_so_many_tokens_returns_answers_ready_to_quote(memory: Memory) -> None:
    memory.write("# Silica\n\n## Testing\n\nSilica uses pytest (2026-02-03).\n", "projects/silica")
    found = dispatch(memory, "search_memory", {"query": "pytest", "max_tokens": 100}).text
    assert "projects › silica › Testing · 2026-02-03 · line 8\nSilica uses pytest" in found
    assert "under Testing" in dispatch(memory, "search_memory", {"query": "pytest"}).text


@pytest.mark.parametrize(
    ("narrowed", "found"),
    [
        ({"agent": "hawk"}, ["hawk/obs-2026-02-10-001"]),
        ({"tags": ["ctr", "red"]}, ["hawk/obs-2026-02-10-001"]),
        ({"tags": ["ctr"], "since": "2026-02-11"}, ["fury/obs-2026-02-12-001"]),
        ({"agent": None, "tags": None, "since": None}, ["hawk/obs-2026-02-10-001", "fury/obs-2026-02-12-001", ""]),
    ],
)
def test_a_search_is_narrowed_to_an_agent_tags_and_days(
    memory: Memory, narrowed: dict[str, Any], found: list[str]
) -> None:
    memory.write("The dashboard is red on Mondays.", "dashboards")
    memory.entries.capture("The dashboard is red.", "hawk", tags=["ctr", "red"], date="2026-02-10")
    memory.entries.capture("The dashboard is blue.", "fury", tags=["ctr"], date="2026-02-12")
    results = dispatch(memory, "search_memory", {"query": "dashboard"} | narrowed).document["results"]
    assert sorted(one.get("entry", "") for one in results) == sorted(found)


def test_a_search_says_if_the_memory_does_not_answer(memory: Memory) -> None:
    memory.write("The kiln was fired in May.")
    found = dispatch(memory, "search_memory", {"query": "Which mortgage did the bank offer for the kiln?"}).text
    assert "The kiln" in found
    assert "does not seem to answer" in found


def test_a_search_says_what_was_searched_for_in_place_of_a_typing_error(memory: Memory) -> None:
    memory.write("The kiln was fired in February.")
    answer = dispatch(memory, "search_memory", {"query": "febuary"})
    assert "The kiln" in answer.text and "'february' was searched for" in answer.text
    assert answer.document["respelled"] == {"febuary": "february"}


def test_a_write_says_whether_what_stood_there_stays(memory: Memory) -> None:
    told(memory, "write_memory", content="Silica deploys on Tuesdays.", path="silica")
    assert "replace_in_memory" in told(memory, "write_memory", content="Silica deploys on Fridays.", path="silica")
    assert "No longer there" in told(memory, "write_memory", content="New.", path="silica", mode="replace")
    assert "No longer there" not in told(memory, "write_memory", content="First.", path="another")


def test_words_are_replaced_to_the_letter_and_the_answer_quotes_what_is_gone(memory: Memory) -> None:
    told(memory, "write_memory", content="Silica deploys on *Tuesdays*.\n\nAda signs.", path="silica")
    answer = dispatch(memory, "replace_in_memory", {"path": "silica", "old": "*Tuesdays*", "new": "Fridays"})
    assert "Silica deploys on Fridays.\n\nAda signs." in memory.read("silica")
    assert "Before: 'Silica deploys on *Tuesdays*.'. Now: 'Silica deploys on Fridays.'." in answer.text
    assert answer.document["revision"] in answer.text and "Ada" not in answer.text


@pytest.mark.parametrize(
    ("text", "words", "left"),
    [
        ("- One.\n- Two.\n- Three.\n", "Two.", "- One.\n- Three.\n"),
        ("- One.\n- Two.\n- Three.\n", "- Two.\n", "- One.\n- Three.\n"),
        ("1. One.\n2. [x] Two.\n", "Two.", "1. One.\n"),
        ("One.\n\nTwo.\n\nThree.\n", "Two.", "One.\n\nThree.\n"),
        ("One.\n\nTwo.\n\nThree.\n", "Three.", "One.\n\nTwo.\n"),
        ("One.\n\nTwo.\n\nThree.\n", "One.", "Two.\n\nThree.\n"),
        ("One.\r\n\r\n- Two.\r\n- Three.\r\n", "Two.", "One.\r\n\r\n- Three.\r\n"),
        ("- One or two.\n", "or two", "- One.\n"),
        ("- One or two.\n", "or ", "- One two.\n"),
        ("- One or two.\n", "or", "- One two.\n"),
        ("- One two\n", "two", "- One\n"),
        ("- One.\n- Two.\n  - Of two.\n", "Two.", "- One.\n- \n  - Of two.\n"),
        ("Only.\n", "Only.", ""),
    ],
)
def test_words_that_are_taken_out_leave_no_gap(memory: Memory, text: str, words: str, left: str) -> None:
    memory.create("page", text)
    told(memory, "replace_in_memory", path="page", old=words, new="")
    assert text_of(parse_page("page", memory.read("page"))) == left


def test_the_line_that_tells_where_replaced_words_came_from_is_not_quoted_as_words(memory: Memory) -> None:
    for day, words in (("2026-01-12", "Rent is 1,465 euros."), ("2026-02-03", "Broadband costs 29 euros.")):
        told(memory, "write_memory", content=words, path="flat", source="Ada", date=day)
    answer = dispatch(memory, "replace_in_memory", {"path": "flat", "old": "29", "new": "31", "source": "Ben"})
    assert "*Source: Ben" in memory.read("flat") and "2026-02-03" not in memory.read("flat")
    assert "Before: 'Broadband costs 29 euros.'." in answer.text


@pytest.mark.parametrize("old", ["Mondays", "s", ""])
def test_words_that_do_not_stand_there_once_are_refused_and_nothing_changes(memory: Memory, old: str) -> None:
    told(memory, "write_memory", content="Silica deploys on Tuesdays.", path="silica")
    before = memory.read("silica")
    answer = dispatch(memory, "replace_in_memory", {"path": "silica", "old": old, "new": "x"})
    assert answer.is_error and "read_memory" in answer.text
    assert memory.read("silica") == before


def test_what_a_split_moves_is_not_told_as_gone() -> None:
    memory = offline(threshold=2_048)
    told(memory, "write_memory", content="# Log\n\n## One\n\nA pump is red.\n", path="log")
    for number in range(60):
        answer = told(
            memory, "write_memory", content=f"## Part {number}\n\nThe pump {number} is in shed {number}.", path="log"
        )
        assert "No longer there" not in answer
