"""Looking back at what happened to the pages, and going back to it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from memory_v2.cli.output import width
from memory_v2.errors import ModelError
from tests.house.test_import import HEAVY, ONLY_WHEN_WRITING, loaded_by

from .program import Program
from .test_failures import assert_sentence
from .test_json import COST, RESULT
from .test_records import PLACED, scripted
from .test_terminal import seen

OPERATION = {"id", "when", "kind", "summary", "agent", "decided_by", "degraded", "changed_pages", "undone_by"}
ID = re.compile("[0-9a-f]{12}")


def rows(program: Program, *options: str) -> list[list[str]]:
    return [line.split("\t") for line in program.done("history", *options).splitlines()]


def newest(program: Program) -> str:
    return rows(program)[0][0]


# history


def test_where_nothing_was_done_yet_that_is_said_and_nothing_is_made(program: Program) -> None:
    for options in ([], ["--json"]):
        shown = program.quick("history", *options)
        assert shown.code == 0
        assert f"{program.folder} has no history yet" in shown.err
    assert program.done("history") == ""
    assert program.quick("history", "--json").json == {"operations": []}
    assert "nothing to pack" in program.done("gc")
    assert_sentence(program.quick("undo", "--yes"), 2, "there is nothing to undo")
    assert not program.folder.exists()


def test_in_a_pipe_each_operation_is_a_line_the_newest_first(grown: Program) -> None:
    grown.done("write", "--to", "people", "Grace writes\tcompilers\nand naval history")
    grown.done("search", "Who keeps the books?")
    grown.done("rename", "people", "persons")
    grown.quick("merge", "nowhere")
    listed = rows(grown)
    assert all(ID.fullmatch(row[0]) for row in listed)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", row[1]) for row in listed)
    assert [row[2:] for row in listed] == [
        ["rename", "people → persons", "", "memory, people, persons", ""],
        ["write", "Grace writes compilers and naval history", "offline", "people", ""],
        [
            "outside",
            "pages that were there before the history began",
            "",
            "memory, people, projects, projects/silica",
            "",
        ],
    ]


def test_what_was_edited_by_hand_is_listed_and_can_be_undone(written: Program) -> None:
    before = written.files()
    written.page("people", before["people.md"] + b"Linus likes penguins\n")
    assert rows(written)[0][2:] == ["outside", "edited by hand: people", "", "people", ""]
    assert written.done("undo", "last").splitlines()[1:] == ["  as before: people"]
    assert written.files() == before


def test_only_what_changed_a_page_is_listed_and_only_as_many_as_asked_for(written: Program) -> None:
    assert [row[3] for row in rows(written)] == ["Ada keeps the books", "Grace writes compilers"]
    assert [row[3] for row in rows(written, "people")] == ["Ada keeps the books"]
    assert [row[3] for row in rows(written, "-n", "1")] == ["Ada keeps the books"]
    assert len(written.quick("history", "--json", "-n", "1").json["operations"]) == 1
    assert len(rows(written, "--limit", "1")) == 1
    nothing = written.quick("history", "peolpe")
    assert (nothing.code, nothing.out) == (3, b"")
    assert "there is no page 'peolpe'; did you mean 'people'?" in nothing.err
    assert "1 older not shown; -n 2 lists all" in seen(written.on_terminal("history", "-n", "1").text)
    assert "older" not in seen(written.on_terminal("history").text)


def test_what_was_undone_is_marked(written: Program) -> None:
    written.done("undo")
    assert [(row[2], row[6]) for row in rows(written)] == [("undo", ""), ("write", "undone"), ("write", "")]
    undo, write, _ = written.quick("history", "--json").json["operations"]
    assert write["undone_by"].startswith(undo["id"])


@pytest.mark.parametrize("columns", [160, 80, 60])
def test_on_a_terminal_the_list_has_room_and_lines_up(grown: Program, columns: int) -> None:
    scripted(grown, PLACED, name="somebody:with-a-long-name").write("日本語 " + "long " * 60)
    grown.done("undo")
    head, *lines = seen(grown.on_terminal("history", columns=columns).text).splitlines()
    assert len(lines) == 3
    assert all(width(line) <= columns for line in [head, *lines])
    assert lines[1].endswith("  1  undone") == (columns > 60)
    assert lines[1].endswith("  undone")
    assert width(head.split("undone")[0]) == width(lines[1].split("undone")[0])
    assert ("somebody:with-a-long-name" in lines[1]) == (columns > 80)
    assert "日本語 lon" in lines[1]
    assert "…" in lines[1]


def test_columns_that_hold_nothing_are_not_on_the_terminal(program: Program) -> None:
    program.done("write", "--mode", "append", "One more")
    shown = program.on_terminal("history", columns=160).text
    assert seen(shown).splitlines()[0].split() == ["id", "when", "(UTC)", "what", "about", "pages"]
    assert f"\x1b[36m{newest(program)}\x1b[0m" in shown


# show


def test_an_operation_is_shown_with_who_decided_why_and_the_diff(written: Program) -> None:
    name = newest(written)
    first, *told = written.done("show", name[:4].upper()).splitlines()
    assert re.fullmatch(rf"{name}  \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d UTC", first)
    assert told[:5] == [
        "",
        "write: Ada keeps the books",
        f"  {name}, decided by offline",
        "  in the tree to the letter: n1",
        "  nothing else was changed",
    ]
    diff = told[told.index("--- a/memory.md") :]
    assert "+- [[people]] - Ada keeps the books" in diff
    assert diff[diff.index("--- /dev/null") :][:4] == [
        "--- /dev/null",
        "+++ b/people.md",
        "@@ -0,0 +1,9 @@",
        "+# People",
    ]


def test_a_write_is_shown_with_the_splits_that_followed_in_the_order_in_which_they_were_done(program: Program) -> None:
    sections = [f"## {name}\n\n" + f"All of {name.lower()}. " * 300 for name in ("Kitchen", "Garden", "Cellar")]
    result = program.quick("write", "--mode", "append", "--json", "\n\n".join(sections)).json
    assert result["split_triggered"]
    shown = program.quick("show", newest(program), "--json").json
    assert shown.keys() == OPERATION | {"revisions", "changes"}
    kinds = [revision["kind"] for revision in shown["revisions"]]
    assert (kinds[0], set(kinds[1:])) == ("write", {"split"})
    assert shown["revisions"][-1]["id"].startswith(shown["id"])
    assert (shown["kind"], len(rows(program))) == ("write", 1)
    told = program.done("show", newest(program))
    assert told.index("\nwrite: ") < told.index("\nsplit: ") < told.index("--- /dev/null")
    program.done("undo")
    assert program.files() == {}


def test_why_another_model_decided_is_shown(written: Program) -> None:
    scripted(written, ModelError("the key is no good")).write("Linus likes penguins", "people")
    assert "  degraded: the model failed: the key is no good\n" in written.done("show", newest(written))
    shown = written.quick("show", newest(written), "--json").json
    assert (shown["decided_by"], shown["degraded"]) == (["offline"], ["the model failed: the key is no good"])
    assert shown["revisions"][0]["why"] == ["in the tree to the letter: n1", "nothing else was changed"]


def test_who_asked_for_a_change_is_shown(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SILICA_MEMORY_AGENT", "codex")
    program.done("write", "Linus likes penguins")
    assert ", asked for by codex, decided by offline" in program.done("show", "last")
    captured = program.done("capture", "Penguins swim").split()[0]
    program.done("entries", "retract", captured, "--why", "it was a duck")
    assert ", asked for by codex" in program.done("show", "last")


def test_the_last_operation_is_shown_by_that_name(written: Program) -> None:
    assert written.done("show", "last") == written.done("show", newest(written))


def test_an_undo_says_what_another_one_would_take_back(program: Program) -> None:
    for text in ("Tea is cheap.", "The kiln is cold."):
        program.done("write", text)
    undone = program.quick("undo", "--yes")
    assert "The kiln is cold." in undone.err + undone.text
    assert "another undo would undo" in undone.err
    assert "Tea is cheap." in undone.err
    assert "another undo" not in program.quick("undo", "--yes").err


def test_an_undo_and_what_it_took_back_name_each_other(written: Program) -> None:
    name = newest(written)
    written.done("undo")
    assert written.done("show", name).splitlines()[0].endswith(f" UTC, undone by {newest(written)}")
    shown = written.quick("show", newest(written), "--json").json
    (revision,) = shown["revisions"]
    trace = written.quick("trace", "--json").json["traces"][1]["name"]
    assert f"  undoes {revision['undoes']}\n" in written.done("show", newest(written))
    assert trace.endswith(revision["undoes"])


@pytest.mark.parametrize("verb", ["show", "diff", "undo", "restore"])
@pytest.mark.parametrize("name", ["0000", "zzzz", "abc", "", "x" * 5_000], ids=lambda name: name[:4])
def test_a_name_that_names_nothing_is_refused(written: Program, verb: str, name: str) -> None:
    before = written.files()
    assert_sentence(written.quick(verb, name), 2, "there is no operation whose id begins with", "silica memory history")
    assert written.files() == before


# diff


def test_what_differs_between_two_moments_is_a_unified_diff(written: Program) -> None:
    write, first = (row[0] for row in rows(written))
    written.page("people", written.files()["people.md"].replace(b"Ada", b"Grace"))
    of_the_root, of_the_page = written.done("diff", write).split("--- a/people.md\n")
    assert of_the_root.startswith("--- a/memory.md\n")  # the line by which the root lists the page follows
    assert of_the_page.splitlines() == [
        "+++ b/people.md",
        "@@ -1,6 +1,6 @@",
        " # People",
        " ",
        "-Ada keeps the books",
        "+Grace keeps the books",
        " ",
        " ## Metadata",
        " ",
    ]
    assert "+Ada keeps the books\n" in written.done("diff", first, write)
    assert "-Ada keeps the books\n" in written.done("diff", write, first)
    same = written.quick("diff", write, write)
    assert (same.code, same.out, same.err) == (0, b"", "silica: no difference\n")
    told = written.quick("diff", first, write, "--json").json
    assert (told["old"], told["new"], told["changed_pages"]) == (first, write, ["memory", "people"])
    assert "+Ada keeps the books\n" in told["changes"]
    assert written.quick("diff", write, "--json").json["new"] is None


def test_a_diff_is_coloured_on_a_terminal_only(written: Program) -> None:
    write, first = (row[0] for row in rows(written))
    for call in (["diff", first, write], ["show", write]):
        shown = written.on_terminal(*call).text
        assert "\x1b[32m+Ada keeps the books\x1b[0m" in shown
        assert "\x1b[31m---" in shown
        assert "\x1b[36m@@ " in shown
        assert "\x1b[" not in written.on_terminal(*call, env={"NO_COLOR": "1"}).text
        assert b"\x1b" not in written.quick(*call).out


def test_line_ends_that_are_all_that_differs_are_visible(written: Program) -> None:
    data = written.files()["people.md"]
    written.page("people", data.replace(b"books\n", b"books\r\n"))
    told = written.done("diff", rows(written)[1][0])
    assert "-Ada keeps the books\n+Ada keeps the books\\x0d\n" in told


# undo


def test_the_newest_is_undone_to_the_byte_and_then_the_one_before(program: Program) -> None:
    states = [program.files()]
    for text in ("Grace writes compilers", "Linus likes penguins"):
        program.done("write", "--to", "people", text)
        states.append(program.files())
    second, first = (row[0] for row in rows(program))
    assert program.done("undo").splitlines() == [
        f"undone: {second} (write: Linus likes penguins)",
        "  as before: memory, people",
    ]
    assert program.files() == states[1]
    assert program.done("undo").splitlines() == [
        f"undone: {first} (write: Grace writes compilers)",
        f"  removed: {'memory, people' if 'memory.md' in states[1] else 'people'}",
    ]
    assert program.files() == states[0] == {}
    assert_sentence(program.quick("undo"), 2, "there is nothing to undo")


def test_what_was_there_before_the_history_began_is_not_undone(grown: Program) -> None:
    before = grown.files()
    assert_sentence(grown.quick("undo"), 2, "there is nothing to undo")
    assert_sentence(grown.quick("undo", newest(grown)), 2, newest(grown))
    assert grown.files() == before
    grown.done("write", "--to", "people", "Grace writes compilers")
    grown.done("undo")
    assert grown.files() == before
    assert_sentence(grown.quick("undo"), 2, "there is nothing to undo")
    assert grown.files() == before


def test_an_undo_is_undone_by_its_name(written: Program) -> None:
    before = written.files()
    written.done("undo")
    assert written.files() != before
    written.done("undo", newest(written))
    assert written.files() == before


def test_what_cannot_be_undone_is_refused_in_one_sentence_and_nothing_is_changed(written: Program) -> None:
    write, first = (row[0] for row in rows(written))
    before = written.files()
    assert_sentence(written.quick("undo", first), 2, "'memory' was changed after", "undo what came later first")
    told = written.quick("undo", first, "--json")
    assert (told.code, told.json["error"]["kind"]) == (2, "NotAllowed")
    assert written.files() == before
    written.done("undo", write)
    before = written.files()
    assert_sentence(written.quick("undo", write), 2, f"{write} was undone already, by {newest(written)}")
    assert written.files() == before


def test_where_nothing_can_be_undone_nothing_is_asked(written: Program) -> None:
    name = newest(written)
    written.done("undo")
    refused = written.on_terminal("undo", name)
    assert (refused.code, "Undo" in refused.text) == (2, False)
    written.done("undo")
    empty = written.on_terminal("undo")
    assert (empty.code, "there is nothing to undo" in empty.text) == (2, True)


def test_an_undo_is_told_as_json(written: Program) -> None:
    name = newest(written)
    told = written.quick("undo", "--json").json
    assert told.keys() == RESULT | {"operation"}
    assert told["cost"].keys() == COST
    assert told["operation"].keys() == OPERATION
    assert (told["operation"]["id"], told["operation"]["summary"]) == (name, "Ada keeps the books")
    assert told["changed_pages"] == ["memory", "people"]
    assert told["revision"] == newest(written)
    assert "-Ada keeps the books\n" in told["changes"]


# restore


def test_a_page_is_brought_back_and_the_others_stay(written: Program) -> None:
    name = newest(written)
    written.done("write", "--mode", "replace", "--to", "people", "Nobody")
    written.done("write", "--mode", "append", "The root goes on")
    assert written.done("restore", name, "people").splitlines() == [
        f"people restored to the state after {name} (write: Ada keeps the books)",
        "  restored: memory, people",  # the line by which the root lists the page follows
    ]
    assert "Ada keeps the books\n" in written.done("read", "people")
    assert "The root goes on\n" in written.done("read")
    assert rows(written)[0][2] == "restore"
    written.done("undo")
    assert "Nobody\n" in written.done("read", "people")


def test_a_page_that_was_deleted_is_brought_back_by_its_name(written: Program) -> None:
    name = newest(written)
    written.done("delete", "people")
    written.done("restore", name, "people")
    assert "Ada keeps the books\n" in written.done("read", "people")
    assert written.done("check") == "all is well: 2 pages\n"


def test_all_pages_are_brought_back_to_the_byte(written: Program) -> None:
    name, before = newest(written), written.files()
    written.done("rename", "people", "persons")
    written.done("write", "--to", "memory", "--mode", "replace", "Nothing but this")
    assert written.done("restore", name).splitlines() == [
        f"all pages restored to the state after {name} (write: Ada keeps the books)",
        "  restored: memory, people",
        "  removed: persons",
    ]
    assert written.files() == before
    assert "already in the state" in written.done("restore", name)


def test_a_page_that_was_not_there_then_is_not_found(written: Program) -> None:
    first = rows(written)[1][0]
    before = written.files()
    assert_sentence(written.quick("restore", first, "people"), 3, "'people'")
    assert written.files() == before


def test_a_restore_is_told_as_json(written: Program) -> None:
    first = rows(written)[1][0]
    told = written.quick("restore", first, "--json").json
    assert told.keys() == RESULT | {"operation"}
    assert told["operation"]["id"] == first
    assert sorted(told["changed_pages"]) == ["memory", "people"]


# blame


def test_each_line_is_told_with_what_brought_it(written: Program) -> None:
    write = newest(written)
    written.page("people", written.files()["people.md"] + b"by\thand")
    outside = newest(written)
    lines = [line.split("\t", 5) for line in written.done("blame", "people").splitlines()]
    page = written.files()["people.md"].decode().splitlines()
    assert [line[5] for line in lines] == page
    assert [line[4] for line in lines] == [str(number) for number in range(1, len(page) + 1)]
    assert [line[0] for line in lines] == [*[write] * (len(page) - 1), outside]
    assert (lines[0][2:4], lines[-1][2:4]) == (["write", "offline"], ["outside", ""])
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", line[1]) for line in lines)
    told = written.quick("blame", "people", "--json").json
    assert told["path"] == "people"
    assert "".join(line["text"] for line in told["lines"]) == written.files()["people.md"].decode()
    assert told["lines"][0].keys() == {"line", "text", "id", "when", "kind", "decided_by"}
    assert told["lines"][-1]["id"].startswith(outside)
    assert "Grace writes compilers" in written.done("blame")


def test_a_line_that_was_brought_back_is_of_who_wrote_it(program: Program) -> None:
    program.done("write", "Ada leads the team.")
    ada = newest(program)
    program.done("write", "--mode", "append", "Bob cooks on Fridays.")
    bob = newest(program)
    program.done("undo", "--yes")
    program.done("undo", newest(program), "--yes")
    program.done("write", "--mode", "append", "Cy sings.")
    program.done("restore", bob, "--yes")
    told = [line.split("\t", 5) for line in program.done("blame").splitlines()]
    assert {line[5]: line[0] for line in told if line[5].endswith(".")} == {
        "Ada leads the team.": ada,
        "Bob cooks on Fridays.": bob,
    }


def test_on_a_terminal_long_lines_of_a_page_are_cut(written: Program) -> None:
    written.done("write", "--mode", "append", "--to", "people", "long " * 60)
    lines = seen(written.on_terminal("blame", "people", columns=60).text).splitlines()
    assert lines[0].split() == ["id", "date", "line", "text"]
    assert all(width(line) <= 60 for line in lines)
    (long,) = [line for line in lines if "long long" in line]
    assert long.endswith("…")


# gc


def test_the_history_is_packed_and_tells_the_same(written: Program) -> None:
    before = written.done("history"), written.done("show", newest(written)), written.done("blame", "people")
    loose = written.folder / ".metadata" / "history.git" / "objects"
    assert [file for file in loose.glob("??/*") if file.is_file()]
    packed = written.done("gc")
    assert re.fullmatch(r"history packed: [\d,]+ → [\d,]+ bytes, \d+ objects\n", packed)
    assert not [file for file in loose.glob("??/*") if file.is_file()]
    assert (written.done("history"), written.done("show", newest(written)), written.done("blame", "people")) == before
    told = written.quick("gc", "--json").json
    assert told == {"objects": 0, "bytes_before": told["bytes_after"], "bytes_after": told["bytes_after"]}
    again = written.done("gc")
    assert "nothing to pack" in again
    assert f"{told['bytes_after']:,} bytes" in again
    written.done("write", "--mode", "append", "One more")
    written.done("undo")


# all of them

CALLS = [["history"], ["show", "{}"], ["diff", "{}"], ["undo"], ["restore", "{}"], ["blame"]]


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_a_history_that_is_damaged_is_told_in_one_sentence(written: Program, packed: bool, call: list[str]) -> None:
    name = newest(written)
    if packed:
        written.done("gc")
    place = written.folder / ".metadata" / "history.git"
    for file in (*place.glob("objects/??/*"), *place.glob("unflushed/*"), *place.glob("objects/pack/*.pack")):
        file.chmod(0o600)
        file.write_bytes(file.read_bytes()[:7])
    before = written.files()
    ended = written.quick(*(part.format(name) for part in call))
    assert_sentence(ended, 4, "history.git is damaged")
    assert written.files() == before


def test_looking_back_loads_no_more_than_it_needs(written: Program) -> None:
    import_only = loaded_by("from memory_v2.cli.app import silica")
    assert not import_only.intersection((*HEAVY, *ONLY_WHEN_WRITING, "dulwich", "difflib"))
    for verb in ("history", "blame"):
        code = (
            "from memory_v2.cli.app import silica\ntry:\n"
            f"    silica.main(['memory', '--path', {str(written.folder)!r}, {verb!r}])\n"
            "except SystemExit as end:\n    assert end.code == 0"
        )
        loaded = loaded_by(code)
        assert "dulwich" in loaded
        assert not loaded.intersection((*HEAVY, "jinja2"))


def test_names_in_any_script_are_told_as_they_are(program: Program) -> None:
    for name in ("日本語/メモ", "cafe\u0301"):
        program.done("write", "--to", name, "--mode", "append", f"Text of {name}")
    assert "日本語/メモ" in program.done("history", "日本語/メモ")
    assert "café" in program.done("history", "cafe\u0301")
    assert "+++ b/café.md\n" in program.done("show", newest(program))
    assert json.loads(program.run("history", "--json", env={"LC_ALL": "C"}).out)["operations"][0]["changed_pages"][0]
    assert Path(program.folder / "café.md").exists()


def test_the_text_of_a_write_that_changed_no_page_is_shown_with_it(written: Program) -> None:
    written.done("write", "Grace   writes\ncompilers")
    assert rows(written)[0][2:4] == ["write", "Grace writes compilers"]
    assert rows(written)[0][5] == ""
    assert "no page was changed; the text is recorded, as revision" in written.done("trace", "last")
    told = written.done("show", newest(written))
    assert "  > Grace   writes\n  > compilers\n" in told
    shown = written.quick("show", newest(written), "--json").json
    assert (shown["revisions"][0]["text"], shown["changed_pages"]) == ("Grace   writes\ncompilers", [])
    assert_sentence(written.quick("undo", newest(written), "--yes"), 2, "has changed no page", "nothing to undo")
