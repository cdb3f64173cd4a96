"""Where new text goes, what a model may do with it, and what it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_v2.errors import (
    InvalidPath,
    InvalidSetting,
    InvalidText,
    ModelError,
    NotAllowed,
    PageExists,
    StorageConflict,
)
from memory_v2.memory import Memory
from memory_v2.models.base import Reply, ToolCall
from memory_v2.tree.block import parse_blocks
from tests.operations.scenes import SMALL, Crowded, body, call, calls, offline, problems, scripted
from tests.properties.whole import faults, missing, pages_of, stands, texts_of
from tests.tree.texts import EXAMPLES

FACT = "Silica uses pytest 8.3 since 2026-02-03."


def silica(traces_in: Path | None = None) -> Memory:
    """Two pages with sections of their own below the root."""
    memory = offline(traces_in=traces_in)
    memory.write("# Silica\n\n## Testing\n\npytest is used.\n\n## Deploy\n\nFly.io is used.\n", "projects/silica")
    memory.write("# Garden\n\nTomatoes are planted in May.\n", "garden")
    return memory


def test_results_are_printed_in_one_line() -> None:
    memory = offline()
    written = memory.write("Tomatoes are planted in May.\n\nLeeks in March.", "garden")
    assert str(written) == f"garden: written in revision {written.revision}"
    assert str(memory.write("Leeks in March.", "garden")) == "garden: nothing new"
    best = memory.search("tomatoes")[0]
    assert str(best) == f"{best.citation}: Tomatoes are planted in May."


# offline: where it goes


def test_a_text_with_the_title_of_the_root_is_the_root_while_that_is_empty() -> None:
    memory, text = offline(), "# Memory\n\nThe office is in Porto.\n\n## Team\n\n- Ana runs the kitchen.\n"
    assert memory.write(text).path == "memory"
    assert memory.read("memory").startswith(text)
    memory.write("# Memory\n\nThe ferry leaves at noon.\n")
    assert memory.read("memory").startswith("# Memory\n\nThe office is in Porto.\n")


def test_a_section_goes_below_its_heading_and_the_heading_is_not_doubled() -> None:
    memory = silica()
    memory.write("## Testing\n\nCoverage is 90 percent.\n", "projects/silica")
    assert "pytest is used.\n\nCoverage is 90 percent.\n\n## Deploy" in memory.read("projects/silica")
    assert memory.read("projects/silica").count("## Testing") == 1


@pytest.mark.parametrize(
    "text", ["Alice likes green tea", "- Alice likes green tea.", "*   Alice  likes\n    green tea\n"]
)
def test_what_stands_there_in_another_dress_is_nothing_new(text: str) -> None:
    memory = offline()
    memory.write("- Alice likes green tea\n- Bob likes coffee\n")
    before = memory.read()
    result = memory.write(text)
    assert (result.outcome, result.said_in, result.path) == ("nothing new", ("memory",), "memory")
    assert result.revisions == ()
    assert memory.read() == before


@pytest.mark.parametrize("text", EXAMPLES.values(), ids=EXAMPLES.keys())
def test_a_text_of_any_kind_comes_twice_and_the_planner_decides_both_times(text: str) -> None:
    memory = offline(SMALL)
    if not text.strip("\ufeff \t\r\n") or not is_text(text):
        with pytest.raises(InvalidText):
            memory.write(text)
        return
    for _ in range(2):
        result = memory.write(text)
        assert (result.decided_by, result.degraded) == ("offline", "")
        assert faults(pages_of(memory.storage), SMALL) == []
    assert missing([block.content for block in parse_blocks(text)], texts_of(pages_of(memory.storage))) == []


def is_text(text: str) -> bool:
    try:
        return bool(text.encode())
    except UnicodeEncodeError:
        return False


def test_a_dated_entry_goes_to_the_page_of_its_month() -> None:
    memory = offline(SMALL)
    for month in (1, 2, 3):
        memory.write("".join(f"## 2026-{month:02d}-{day:02d}\n\n{'Worked on it. ' * 20}\n\n" for day in (3, 9, 20)))
    assert memory.storage.exists("2026-01")
    result = memory.write("2026-01-25: Found the cause of it.")
    assert result.path == "2026-01"


# with a path


@pytest.mark.parametrize("path", ["../x", "/abs", ".metadata/x", "CON", "a\nb", "[[a]]", "x" * 300, "a.md"])
def test_a_path_that_no_page_may_have_is_refused_before_anything_is_stored(path: str) -> None:
    memory = offline()
    with pytest.raises(InvalidPath):
        memory.write(FACT, path)
    assert memory.storage.list_files() == []


def test_a_path_that_differs_only_in_case_is_refused() -> None:
    memory = silica()
    with pytest.raises(PageExists):
        memory.write(FACT, "Garden")
    with pytest.raises(PageExists):
        memory.write(FACT, "Projects/other")


@pytest.mark.parametrize("text", ["", "  \n\t\r\n", "\ufeff", "\u00a0\n", "\u2028", "\u200b", "a\ud800"])
def test_what_is_no_text_is_refused(text: str) -> None:
    memory = offline()
    with pytest.raises(InvalidText):
        memory.write(text)
    with pytest.raises(InvalidText):
        memory.write(text, "a", "append")
    assert memory.storage.list_files() == []


@pytest.mark.parametrize(
    ("description", "text", "expected"),
    [
        ("Tomatoes are planted in May.", "# Boats\n\nTwo boats are for sale.", "Two boats are for sale."),
        ("Tomatoes are planted in May.", "# Garden\n\nTomatoes are planted in June.", "Tomatoes are planted in June."),
        ("where things grow", "# Boats\n\nTwo boats are for sale.", "where things grow"),
    ],
)
def test_a_page_that_is_replaced_is_described_by_words_that_are_on_it(
    description: str, text: str, expected: str
) -> None:
    memory = silica()
    root = memory.storage.read("memory").data.decode().replace("Tomatoes are planted in May.", description)
    memory.storage.write("memory", root.encode())
    before = {path: page.data for path, page in pages_of(memory.storage).items()}
    memory.write(text, "garden", "replace")
    pages = pages_of(memory.storage)
    [child] = [child for child in pages["memory"].children if child.target == "garden"]
    assert child.description == expected
    assert pages["memory"].path in memory.history()[0].paths or description == expected
    memory.undo()
    assert {path: page.data for path, page in pages_of(memory.storage).items()} == before


def test_a_page_that_is_sent_back_as_it_was_read_has_its_links_and_metadata_once() -> None:
    memory = silica()
    read = memory.read()
    corrected = read.replace("Tomatoes are planted in May.", "when tomatoes are planted")
    for sent in (read, read[: read.index("## Metadata")], corrected, f"{corrected}\n\n"):
        memory.write(sent, None, "replace")
        assert memory.read().count("## Links") == memory.read().count("## Metadata") == 1
        assert body(memory, "memory") == body(silica(), "memory")
    [child] = [child for child in pages_of(memory.storage)["memory"].children if child.target == "garden"]
    assert child.description == "when tomatoes are planted"


@pytest.mark.parametrize(
    "sent",
    ["# Boats\n\nTwo.\n\n## Links\n\n- [[harbour]] - where they lie", "# Boats\n\nTwo.\n\n## Metadata\n\nowner: Ines"],
)
def test_links_and_metadata_that_are_not_those_of_the_page_are_text(sent: str) -> None:
    memory = silica()
    memory.write(sent, None, "replace")
    assert sent in memory.read()
    assert faults(pages_of(memory.storage), 10_240) == []


def test_a_mode_that_there_is_not_is_refused() -> None:
    with pytest.raises(InvalidSetting):
        offline().write(FACT, mode="prepend")  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ["update", "append", "replace"])
def test_a_part_of_a_large_block_is_not_written_to(mode: str) -> None:
    memory = offline(SMALL)
    text = "word " * 1_200
    memory.write(text)
    part = next(path for path, page in pages_of(memory.storage).items() if page.piece is not None)
    with pytest.raises(NotAllowed):
        memory.write(FACT, part, mode)  # type: ignore[arg-type]
    assert stands(memory, text.strip(" "))


# the text that ends like the program's own sections

TAILS = [
    "Fact one.\n\n## Links\n\n- [[ghost]] - boo\n",
    "Fact one.\n\n## Metadata\n\nlast_updated: 2001-01-01T00:00:00Z\nowner: Bob\n",
    "## Links\n\n- [[ghost]]\n\n## Metadata\n\nsize_bytes: 1\npiece: 1 of 1, 3 bytes of fence\n",
]


@pytest.mark.parametrize("mode", ["update", "append", "replace"])
@pytest.mark.parametrize("text", TAILS)
@pytest.mark.parametrize("path", [None, "a/b"])
def test_text_that_looks_like_the_programs_sections_stays_text(text: str, mode: str, path: str | None) -> None:
    memory = offline()
    for _ in range(2):
        memory.write(text, path, mode)  # type: ignore[arg-type]
        assert text.strip() in memory.read(path or "memory")
        assert faults(pages_of(memory.storage), 10_240) == []
        assert [finding for finding in memory.check() if finding.severity == "error"] == []


# what a model may do


def test_a_model_places_more_on_a_page_that_it_has_just_made() -> None:
    made = call("create_page", path="boats", parent="memory", title="Boats", description="boats, sails", blocks="n1")
    memory, _ = scripted(silica(), calls(made, call("place", blocks="n2", page="boats")))
    result = memory.write("Boats have sails.\n\nBoats have keels.\n")
    assert (result.path, result.decided_by) == ("boats", "scripted")
    assert body(memory, "boats") == "# Boats\n\nBoats have sails.\n\nBoats have keels."


@pytest.mark.parametrize(("lead", "decided_by"), [("More small things:", "scripted"), ("More for Nele:", "offline")])
def test_a_line_that_only_leads_in_may_be_left_out(lead: str, decided_by: str) -> None:
    left_out = call("nothing_new", blocks="n1", said_in=[])
    memory, _ = scripted(silica(), calls(left_out, call("place", blocks="n2", page="garden")))
    assert memory.write(f"{lead}\n\n- Tomatoes need a stake.\n").decided_by == decided_by


def test_a_line_that_leads_in_nothing_is_kept() -> None:
    memory, _ = scripted(silica(), calls(call("nothing_new", blocks="n1", said_in=[])))
    result = memory.write("More small things:")
    assert (result.decided_by, result.outcome) == ("offline", "written")


# what a model may not do

MISDEEDS: dict[str, tuple[list[ToolCall], str]] = {
    "a block that there is not": ([call("place", blocks="n7", page="memory")], "out of range"),
    "a block twice": ([call("place", blocks="n1, n1", page="memory")], "named twice"),
    "a block in two places": (
        [call("place", blocks="n1", page="memory"), call("place", blocks="n1", page="garden")],
        "place each block once",
    ),
    "behind a block that there is not": ([call("place", blocks="n1", page="memory", after=99)], "none of them"),
    "a page that was not shown": ([call("place", blocks="n1", page="projects/ghost")], "there is no page"),
    "a page outside": ([call("read_pages", paths=["../../etc/passwd"])], "there is no page"),
    "a path outside": (
        [call("create_page", path="../x", parent="memory", title="Silica", description="Silica", blocks="n1")],
        "choose another path",
    ),
    "a name that says nothing": (
        [call("create_page", path="misc", parent="memory", title="Silica", description="Silica", blocks="n1")],
        "name it by its subject",
    ),
    "a page that is there": (
        [call("create_page", path="GARDEN", parent="memory", title="Silica", description="Silica", blocks="n1")],
        "already",
    ),
    "a title of its own": (
        [call("create_page", path="boats", parent="memory", title="I am sorry", description="Silica", blocks="n1")],
        "title",
    ),
    "a description of its own": (
        [call("create_page", path="boats", parent="memory", title="Silica", description="Sure, here", blocks="n1")],
        "description",
    ),
    "a title with a link": (
        [call("create_page", path="boats", parent="memory", title="Silica [[x]]", description="Silica", blocks="n1")],
        "plain words",
    ),
    "words that nobody said": (
        [call("place", blocks="n1", page="memory"), call("insert", page="memory", after=1, text="As an AI I refuse.")],
        "says what the text does not",
    ),
    "a number that nobody said": (
        [call("insert", page="memory", after=1, text="Silica uses pytest 9.9 since 2026-02-03.")],
        "use its own numbers",
    ),
    "a link to nowhere": (
        [call("insert", page="memory", after=1, text="Silica uses [[ghost]] pytest.")],
        "leads nowhere",
    ),
    "nothing new, untruly": (
        [call("nothing_new", blocks="n1", said_in=[{"page": "memory", "blocks": 1}])],
        "what those blocks do not",
    ),
    "a rewrite that drops": ([call("rewrite_page", page="garden", text=FACT)], "not in the text as it was"),
    "replace by nothing": ([call("replace", page="garden", blocks=1, reason="because")], "either new_blocks or text"),
    "no reason": ([call("remove", page="garden", blocks=1, reason="")], "fit its schema"),
}  # fmt: skip


@pytest.mark.parametrize(("made", "told"), MISDEEDS.values(), ids=MISDEEDS.keys())
def test_what_a_model_may_not_do_is_sent_back_and_not_done(made: list[ToolCall], told: str, tmp_path: Path) -> None:
    before = silica(tmp_path)
    pages = {path: page.body for path, page in pages_of(before.storage).items()}
    look = calls(call("read_pages", paths=["garden"]))
    memory, _ = scripted(before, look, calls(*made), Reply("I am done."), Reply("I am done."))
    result = memory.write(FACT)
    assert any(told in problem for problem in problems(memory, result)), problems(memory, result)
    stood = len(made) > 1  # the first call was accepted, and places the text
    assert (result.decided_by, result.degraded == "") == ("scripted" if stood else "offline", stood)
    after = pages_of(memory.storage)
    assert stands(memory, FACT)
    assert after.keys() == pages.keys()
    assert all(after[path].body.replace(f"{FACT}\n\n", "") == pages[path] for path in pages)


@pytest.mark.parametrize(
    "blind",
    [
        call("replace", page="garden", blocks="2", new_blocks="n1", reason="it has changed"),
        call("place", blocks="n1", page="garden", after=2),
        call("nothing_new", blocks="n1", said_in=[{"page": "garden", "blocks": "2"}]),
        call("rewrite_page", page="garden", text=FACT, dropped=[{"blocks": "1-2", "reason": "it has changed"}]),
    ],
    ids=lambda call: call.name,
)
def test_a_page_that_an_answer_asks_to_read_has_not_been_shown_to_it(blind: ToolCall, tmp_path: Path) -> None:
    before = silica(tmp_path)
    before.write("Zebras are striped.")
    was = before.read("garden")
    look = call("read_pages", paths=["garden"])
    memory, model = scripted(before, calls(look, blind), calls(call("place", blocks="n1", page="memory")))
    result = memory.write("The zoo has opened.")
    assert "'garden' has not been shown" in problems(memory, result)[0]
    assert "Tomatoes are planted" in model.sent[1].messages[-2]
    assert (memory.read("garden"), result.path, result.degraded) == (was, "memory", "")


@pytest.mark.parametrize(
    ("text", "decided", "lacks"),
    [
        (
            "The blue flowerpot stands on the balcony.",
            call("nothing_new", blocks="n1", said_in=[{"page": "pots", "blocks": "2"}]),
            "blue",
        ),
        (
            "grace runs the nightly summaries on ollama.",
            call("insert", page="pots", after=2, text="Nightly summaries: grace runs them."),
            "ollama",
        ),
        (
            "the yellow flowerpot stands on the balcony, near linus.",
            call("replace", page="pots", blocks="2", text="The flowerpot stands on the balcony.", reason="it moved"),
            "linus, near, yellow",
        ),
    ],
)
def test_a_word_that_a_decision_would_lose_is_named_and_then_stored(
    text: str, decided: ToolCall, lacks: str, tmp_path: Path
) -> None:
    before = offline(traces_in=tmp_path)
    before.write("# Pots\n\nThe red flowerpot stands on the balcony.\n", "pots")
    read, place = calls(call("read_pages", paths=["pots"])), calls(call("place", blocks="n1", page="pots"))
    memory, model = scripted(before, read, calls(decided), place)
    result = memory.write(text)
    named = model.sent[2].messages[-1].partition("(")[2].partition(")")[0]
    assert sorted(named.split(", ")) == lacks.split(", ")
    assert stands(memory, text)
    assert (result.decided_by, result.degraded) == ("scripted", "")


LIVES = "Alice has lived in Paris since May."


def test_headings_are_judged_against_the_page_that_they_are_placed_on() -> None:
    """They stand on another page already, on which there are words of the model's own too."""
    text = f"## Harbour\n\n### North\n\nThe pier is long.\n\nThe crane is tall.\n\n{LIVES}"
    place = call("place", blocks="n1-n3", page="garden"), call("place", blocks="n1, n2, n4", page="memory")
    insert = call("insert", page="garden", after=1, text=f"- {LIVES}")
    memory, _ = scripted(silica(), calls(call("read_pages", paths=["garden"])), calls(place[0], insert, place[1]))
    result = memory.write(text)
    assert (result.decided_by, result.degraded) == ("scripted", "")
    for path, sentence in (("garden", "The pier is long."), ("memory", "The crane is tall.")):
        assert f"## Harbour\n\n### North\n\n{sentence}" in body(memory, path)


PLACED = call("place", blocks="n1", page="garden")
INSERTED = call("insert", page="memory", after=1, text=f"- {LIVES}")
REPLACED = call("replace", page="garden", blocks="2", text=f"{LIVES} Tomatoes are planted in May.", reason="joined")
REWRITTEN = call("rewrite_page", page="memory", text=f"# Memory\n\nZebras are striped.\n\n{LIVES}")


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        (PLACED, REWRITTEN, "place each block once"),
        (REWRITTEN, PLACED, "place each block once"),
        (PLACED, INSERTED, "leave it out of your own words"),
        (INSERTED, PLACED, "in your own words on memory"),
        (INSERTED, REPLACED, "you have written this on memory already"),
        (REPLACED, INSERTED, "you have written this on garden already"),
        (REPLACED, PLACED, "in your own words on garden"),
        (PLACED, REPLACED, "leave it out of your own words"),
        (INSERTED, call("insert", page="garden", after=1, text=LIVES), "you have written this on memory already"),
        (INSERTED, call("rewrite_page", page="garden", text=f"# Garden\n\n{LIVES}\n\nTomatoes are planted in May."),
         "in your own words on memory"),
    ],
)  # fmt: skip
def test_the_same_words_are_taken_once_however_a_model_says_them(
    first: ToolCall, second: ToolCall, told: str, tmp_path: Path
) -> None:
    before = silica(tmp_path)
    before.write("Zebras are striped.")
    look = calls(call("read_pages", paths=["garden", "memory"]))
    memory, _ = scripted(before, look, calls(first, second), Reply("Done."))
    result = memory.write(LIVES)
    assert told in problems(memory, result)[0]
    assert (result.decided_by, result.degraded) == ("scripted", "")
    assert sum(page.body.count("Alice has lived in Paris") for page in pages_of(memory.storage).values()) == 1


def test_a_page_rewritten_with_a_text_that_says_a_line_twice_has_it_twice() -> None:
    rewritten = call("rewrite_page", page="memory", text="# Memory\n\n- Tea.\n- Rain.\n- Tea.\n")
    memory, _ = scripted(offline(), calls(rewritten))
    result = memory.write("- Tea.\n- Rain.\n- Tea.\n")
    assert (result.decided_by, result.degraded) == ("scripted", "")
    assert body(memory).count("- Tea.") == 2


def test_a_write_with_a_path_stays_on_that_page() -> None:
    memory, _ = scripted(silica(), calls(call("place", blocks="n1", page="memory")), ModelError("gone"))
    result = memory.write(FACT, "garden")
    assert FACT in memory.read("garden")
    assert result.decided_by == "offline"


@pytest.mark.parametrize("removed_first", [True, False])
def test_the_only_copy_of_a_text_cannot_be_taken_out_as_nothing_new(removed_first: bool) -> None:
    memory = offline()
    memory.write(FACT)
    known = call("nothing_new", blocks="n1", said_in=[{"page": "memory", "blocks": "2"}])
    remove = call("remove", page="memory", blocks="2", reason="it is said twice")
    memory, _ = scripted(memory, calls(*([remove, known] if removed_first else [known, remove])))
    memory.write(FACT)
    assert FACT in memory.read()


def test_no_model_empties_a_page_with_a_short_text(tmp_path: Path) -> None:
    memory = offline(traces_in=tmp_path)
    memory.write("".join(f"- Fact number {n} about many a thing that was said\n" for n in range(60)))
    remove = call("remove", page="memory", blocks="2-61", reason="all of it is old")
    read = calls(call("read_pages", paths=["memory"]))
    memory, _ = scripted(memory, read, calls(call("place", blocks="n1", page="memory"), remove))
    result = memory.write("A short text.")
    assert "take out more than" in problems(memory, result)[0]
    assert all(f"Fact number {n} " in memory.read() for n in range(60))


def test_a_block_that_is_forgotten_is_asked_for_once_and_then_filed_by_the_planner() -> None:
    place = calls(call("place", blocks="n1", page="memory"))
    memory, model = scripted(silica(), place, calls(call("read_pages", paths=["garden"])), calls())
    result = memory.write("First fact.\n\nSecond fact about Zebras.\n")
    assert "n2 is nowhere yet" in model.sent[1].messages[-1]
    assert result.decided_by == "offline"
    assert "First fact.\n\nSecond fact about Zebras.\n" in memory.read(result.path)
    memory, _ = scripted(silica(), place, calls(call("place", blocks="n2", page="memory", after=1)))
    result = memory.write("First fact.\n\nSecond fact about Zebras.\n")
    assert (result.decided_by, result.degraded) == ("scripted", "")


@pytest.mark.parametrize(
    "reply",
    [
        Reply(""),
        Reply("I cannot", stop_reason="refusal"),
        ModelError("overloaded"),
        RuntimeError("bug"),
        Reply("x", stop_reason="length"),
    ],
)
def test_a_text_is_stored_whatever_the_model_answers(reply: Reply | Exception) -> None:
    memory, _ = scripted(offline(), reply, reply)
    result = memory.write(FACT)
    assert stands(memory, FACT)
    assert result.decided_by == "offline"
    assert result.degraded.startswith("scripted: ")


# others write too


@pytest.mark.parametrize("mode", ["update", "append"])
@pytest.mark.parametrize("rivals", [1, 3, 4])
def test_what_others_write_meanwhile_is_kept_and_the_text_is_stored_once(rivals: int, mode: str) -> None:
    storage = Crowded(0)
    memory = offline(storage=storage)
    memory.write("What was there.")
    storage.rivals = rivals
    result = memory.write(FACT, None, mode)  # type: ignore[arg-type]
    assert memory.read().count(FACT) == 1
    assert all(said in memory.read() for said in storage.said)
    assert len(storage.said) == rivals
    assert result.path == "memory"


def test_a_page_that_is_never_still_is_an_error_and_nothing_is_stored() -> None:
    storage = Crowded(0)
    memory = offline(storage=storage)
    memory.write("What was there.")
    storage.rivals = 1_000
    with pytest.raises(StorageConflict):
        memory.write(FACT)
    assert FACT not in memory.read()


# what is too large


@pytest.mark.parametrize("path", [None, "a/b/c/d/e/f/g/h/i/j/k/l", "日本/京都"])
@pytest.mark.parametrize(
    "text",
    ["word " * 1_500, "é🧠日" * 900, "```\n" + "line\n" * 1_200 + "```\n", "- item\n" + "  - below\n" * 700],
)
def test_a_block_that_no_page_holds_is_cut_and_its_pieces_are_its_bytes(text: str, path: str | None) -> None:
    memory = offline(SMALL)
    result = memory.write(text, path)
    assert result.degraded == ""
    assert stands(memory, text)
    assert faults(pages_of(memory.storage), SMALL) == []


@pytest.mark.parametrize("unit", ["🧠🎉 ", "so it was and then of the ", "--- ", "1 2 3 ", "。、 "])
def test_a_text_that_says_nothing_still_leaves_a_whole_tree(unit: str) -> None:
    memory = offline(SMALL)
    text = "\n\n".join(unit * (3 + n % 5) + "." for n in range(80))
    result = memory.write(text)
    assert result.degraded == ""
    assert faults(pages_of(memory.storage), SMALL) == []


def test_a_little_text_among_many_signs_is_divided_all_the_same() -> None:
    memory = offline(SMALL)
    words = "Alice noted fact 47: the kiln costs 329 euros.\n\n## Metadata\n\nlast_updated: 2001-01-01\nowner: 47\n"
    for text in (words, "\n\n".join("🧠🎉👩‍💻" * (3 + n % 7) for n in range(40))) * 2:
        result = memory.write(text)
        assert result.degraded == ""
        assert faults(pages_of(memory.storage), SMALL) == []


@pytest.mark.parametrize("length", [60, 120, 180, 230])
def test_a_page_with_a_long_path_is_divided_too(length: int) -> None:
    memory = offline(SMALL)
    path = "/".join(["a" * 59] * 4)[:length].strip("/")
    text = "".join(
        f"- Alice noted fact {n}: the boat costs {n * 7} euros since 2026-0{n % 9 + 1}.\n" for n in range(150)
    )
    result = memory.write(text, path)
    assert result.degraded == ""
    assert faults(pages_of(memory.storage), SMALL) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Set the variable PATH", "Set the variable path"),
        ("Yes.", "Yes!"),
        ("`rm x`", "rm x"),
        ("- a one\n- b two\n- c three", "- c three\n- b two\n- a one"),
        ("# Alpha\n\n## Status\n\n- green", "## Status"),
    ],
)
def test_what_is_nearly_the_same_is_written(first: str, second: str) -> None:
    memory = offline()
    memory.write(first)
    assert memory.write(second).outcome == "written"
    assert second in memory.read()


def test_a_folder_of_hundreds_of_notes_becomes_a_memory_by_its_first_write() -> None:
    memory = offline()
    for number in range(300):
        memory.storage.write(f"note-{number:03}", f"# {'Long title ' * 120}{number}\n\nNote {number}.\n".encode())
    assert memory.write("The first words of my own.").degraded == ""
    assert [finding for finding in memory.check() if finding.severity == "error"] == []


def test_a_text_is_never_filed_where_nobody_can_reach_it() -> None:
    memory = offline()
    memory.write("The beginning.")
    memory.storage.write("loose", b"# Loose\n\nA loose page about turnips.\n")
    assert memory.write("Turnips on the loose page are about ripe.").path == "memory"
    memory.write("More.", "loose")
    assert memory.check() == []


def test_a_fence_that_a_person_left_open_swallows_nothing() -> None:
    memory = offline()
    memory.storage.write("memory", b"# M\n\n```\nleft open\n")
    memory.write("A text behind it.", "memory", "append")
    assert "```\nleft open\n```\n\nA text behind it." in memory.read()


@pytest.mark.parametrize(
    ("stored", "new"),
    [
        ("The kettle is not blue.", "The kettle is blue."),
        ("The kettle is blue. The pot is not.", "The kettle is not blue."),
    ],
)
def test_a_text_is_not_said_already_by_its_opposite(stored: str, new: str, tmp_path: Path) -> None:
    memory = offline(traces_in=tmp_path)
    memory.write(stored)
    known = call("nothing_new", blocks="n1", said_in=[{"page": "memory", "blocks": 2}])
    memory, _ = scripted(memory, calls(known), calls(call("place", blocks="n1", page="memory")))
    result = memory.write(new)
    assert (result.outcome, result.degraded) == ("written", "")
    assert "says what those blocks do not" in problems(memory, result)[0]


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        ("# Kiln\n\nIt is hot.", "# Kiln\n\nIt has two doors.", "# Kiln\n\nIt is hot.\n\nIt has two doors."),
        (
            "# Kiln\n\nHot.\n\n## Doors\n\nTwo.",
            "# Kiln\n\n## Cone\n\n9.",
            "# Kiln\n\nHot.\n\n## Doors\n\nTwo.\n\n## Cone\n\n9.",
        ),
        (
            "# Kiln\n\nHot.\n\n## Doors\n\nTwo.",
            "# Kiln\n\nNew.",
            "# Kiln\n\nHot.\n\n## Doors\n\nTwo.\n\n# Kiln\n\nNew.",
        ),
        ("# Kiln\n\nIt is hot.", "# Kilns\n\nThere are two.", "# Kiln\n\nIt is hot.\n\n# Kilns\n\nThere are two."),
        ("# Kiln\n\nIt is hot.", "# Kiln", "# Kiln\n\nIt is hot.\n\n# Kiln"),
        ("Kiln is hot.", "# Kiln\n\nIt has two doors.", "# Kiln\n\nKiln is hot.\n\nIt has two doors."),
    ],
)
def test_a_text_that_is_appended_does_not_repeat_the_title_of_its_page(before: str, text: str, after: str) -> None:
    memory = offline()
    memory.write(before, "kiln")
    memory.write(text, "kiln", "append")
    assert body(memory, "kiln") == after
    assert next(iter(memory.storage.history.revisions())).text == ""
