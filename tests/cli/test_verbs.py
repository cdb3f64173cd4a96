"""Each verb, as a person in a pipe sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_v2.cli import app

from .program import Program

VERBS = [name.partition(".")[2] for names in app.SECTIONS.values() for name in names.split()]


def test_silica_alone_prints_help(program: Program) -> None:
    alone = program.silica()
    assert alone.code == 0
    assert alone.text.startswith("Usage: silica ")


def test_the_help_lists_the_verbs_by_purpose_those_of_every_day_first(program: Program) -> None:
    memory = program.silica("memory", "--help")
    for said in ("SILICA_MEMORY_PATH", "SILICA_MEMORY_MODEL", "--path FOLDER", "--model NAME", "before the verb"):
        assert said in memory.text
    sections = [part.splitlines() for part in memory.text.split("\n\n") if part.split(":")[0] in ("Every day", "More")]
    assert [line.split()[0] for first, *lines in sections for line in lines] == VERBS
    assert (sections[0][0], len(sections[0])) == ("Every day:", 12)


def test_a_memory_without_a_verb_tells_where_it_is_what_is_newest_and_what_to_do_next(program: Program) -> None:
    empty = program.quick()
    assert (empty.code, empty.text) == (0, "")
    assert 'is empty; begin with: silica memory write "…"' in empty.err
    assert not program.folder.exists()
    program.quick("write", "--to", "boats", "Boats have keels.")
    where, *newest, following = program.quick().text.splitlines()
    assert where.startswith(f"{program.folder}: 2 pages, ")
    assert {line.split()[-1] for line in newest} == {"memory", "boats"}
    assert following.startswith("next: silica memory search")


def test_the_version_is_that_of_the_package(program: Program) -> None:
    from memory_v2 import __version__

    assert program.silica("--version").text == f"silica {__version__}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_can_complete_verbs_and_options(program: Program, shell: str) -> None:
    asked = {"_SILICA_COMPLETE": f"{shell}_complete", "COMP_CWORD": "2" if shell != "fish" else "wri"}
    assert "write" in program.silica(env={**asked, "COMP_WORDS": "silica memory wri"}).text
    assert "_SILICA_COMPLETE" in program.silica(env={"_SILICA_COMPLETE": f"{shell}_source"}).text


def test_a_memory_begins_with_one_command_and_no_setting(program: Program) -> None:
    written = program.silica("memory", "write", "Silica", "uses pytest")
    assert (written.code, written.err) == (0, "")
    page = program.home / ".silica" / "memory_v2" / "memory.md"
    assert written.text == f"memory · {page.stat().st_size} bytes\n"
    assert "Silica uses pytest\n" in page.read_text("utf-8")


def test_the_folder_comes_from_the_option_else_from_the_environment(program: Program) -> None:
    there = {"SILICA_MEMORY_PATH": str(program.home / "there")}
    assert program.silica("memory", "write", "one", env=there).code == 0
    assert program.silica("memory", "--path", "here", "write", "two", env=there).code == 0
    assert "one" in (program.home / "there" / "memory.md").read_text("utf-8")
    assert "two" in (program.home / "here" / "memory.md").read_text("utf-8")


def test_a_write_says_where_it_went_and_how_large_the_page_is(grown: Program) -> None:
    told = grown.done("write", "--to", "projects/silica", "Ruff lints it")
    size = (grown.folder / "projects/silica.md").stat().st_size
    assert told == f"memory › projects › projects/silica · {size:,} bytes\n"


def test_a_write_says_which_day_is_kept_with_the_text(grown: Program) -> None:
    told = grown.done("write", "--to", "people", "--date", "2026-02-03", "Ada paints.")
    assert " · said on 2026-02-03" in told
    assert "said on" not in grown.done("write", "--to", "people", "Ada sings.")


def test_what_is_known_already_is_not_written_twice(grown: Program) -> None:
    before = grown.files()
    told = grown.done("write", "- Silica uses pytest for testing (2026-02-03)")
    assert told == "nothing new: already in projects/silica\n"
    assert grown.files() == before


def test_text_comes_from_standard_input_from_a_file_or_from_the_arguments(program: Program) -> None:
    file = program.home / "notes.txt"
    file.write_bytes("naïve\r\n".encode())
    assert program.quick("write", "--mode", "append", stdin="Grüße\n".encode()).code == 0
    assert program.quick("write", "--mode", "append", "-", stdin=b"from a dash\n").code == 0
    assert program.quick("write", "--mode", "append", "--file", str(file)).code == 0
    assert program.quick("write", "--mode", "append", "--file", "-", stdin=b"from a file that is a dash\n").code == 0
    assert program.quick("write", "--mode", "append", "two", "words").code == 0
    text = (program.folder / "memory.md").read_bytes().decode()
    for said in ("Grüße\n", "from a dash\n", "naïve\r\n", "from a file that is a dash\n", "two words\n"):
        assert said in text


def test_a_list_item_is_text_and_no_option(program: Program) -> None:
    program.done("write", "- prefers tabs", "--mode", "append")
    program.done("write", "--mode", "append", "--", "--bare")
    program.done("write", "--to", "log", "--mode", "append", "- n is a number")
    assert "- prefers tabs\n" in program.done("read")
    assert "--bare\n" in program.done("read")
    assert "- n is a number" in program.done("search", "- n is what")


def test_replace_puts_the_text_in_the_place_of_the_body(grown: Program) -> None:
    grown.done("write", "--mode", "replace", "--to", "projects/silica", "Only this")
    assert "pytest" not in grown.done("read", "projects/silica")
    assert grown.done("check").startswith("all is well")


def test_a_page_is_read_byte_for_byte(program: Program) -> None:
    data = "# Töne\r\n\r\nblank at the end \t\r\n\x1b[31m日本\u200d語\n\nno line end".encode()
    program.page("memory", data)
    assert program.quick("read").out == data
    assert program.quick("read", "memory").out == data


def test_a_hit_is_told_with_place_date_score_way_and_verbatim_words(grown: Program) -> None:
    told = grown.done("search", "-n", "1", "How", "is", "Silica", "tested?")
    head, *lines = told.splitlines()
    assert head.startswith("projects/silica:3-3  2026-02-03  ")
    assert head.endswith("  memory › projects › silica")
    assert 0 < float(head.split()[2]) <= 1
    assert lines == ["    - Silica uses pytest for testing (2026-02-03)"]


def test_hits_are_apart_by_an_empty_line_and_no_more_than_asked_for(grown: Program) -> None:
    assert len(grown.done("search", "--limit", "2", "Silica").split("\n\n")) == 2


def test_finding_nothing_is_no_failure(grown: Program) -> None:
    found = grown.quick("search", "xylophone")
    assert (found.code, found.out, found.err) == (0, b"", "silica: nothing found\n")


def test_a_typing_error_is_told_and_what_was_meant_is_found(grown: Program) -> None:
    found = grown.quick("search", "-n", "1", "pyetst")
    assert found.out.decode().endswith("    - Silica uses pytest for testing (2026-02-03)\n")
    assert found.err == "silica: the memory does not have 'pyetst'; 'pytest' was searched for\n"
    assert grown.quick("search", "pyetst", "--json").json["respelled"] == {"pyetst": "pytest"}


def test_ls_in_a_pipe_is_one_page_to_a_line_for_other_programs(grown: Program) -> None:
    rows = [line.split("\t") for line in grown.done("ls").splitlines()]
    assert [row[0] for row in rows] == ["memory", "people", "projects", "projects/silica"]
    assert [int(row[1]) for row in rows] == [(grown.folder / f"{row[0]}.md").stat().st_size for row in rows]
    assert [row[3] for row in rows] == ["2", "1", "1", "0"]
    assert all(row[2].endswith("Z") and len(row[2]) == 20 for row in rows)


def test_the_tree_is_drawn_with_sizes_and_descriptions(grown: Program) -> None:
    size = {name: f"{len(data)} bytes" for name, data in grown.files().items()}
    assert grown.done("tree").splitlines() == [
        f"memory  {size['memory.md']}",
        f"├── projects  {size['projects.md']}  what is being built",
        f"│   └── projects/silica  {size['projects/silica.md']}  a memory for agents",
        f"└── people  {size['people.md']}",
    ]


def test_pages_out_of_reach_stand_below_the_tree_with_a_hint(grown: Program) -> None:
    grown.page("lost", "# Lost and found\n")
    shown = grown.quick("tree")
    assert shown.text.splitlines()[-2:] == ["not reachable from the root:", "  lost  17 bytes  Lost and found"]
    assert "silica memory check --apply" in shown.err


def test_a_chain_of_a_thousand_pages_is_drawn(program: Program) -> None:
    program.page("memory", "# Memory\n\n## Links\n\n- [[p0]]\n")
    for number in range(1_000):
        program.page(f"p{number}", f"# P\n\n## Links\n\n- [[p{number + 1}]]\n" if number < 999 else "# P\n")
    assert len(program.done("tree").splitlines()) == 1_001
    assert len(program.quick("tree", "--json").json["pages"]) == 1_001


def test_for_a_page_that_there_is_not_the_nearest_name_is_told(grown: Program) -> None:
    ended = grown.quick("read", "projcts/silica")
    assert ended.code == 3
    assert ended.err.startswith("silica: there is no page 'projcts/silica'; did you mean 'projects/silica'")


def test_a_page_that_may_be_misspelled_is_made_and_the_one_that_was_meant_is_named(grown: Program) -> None:
    ended = grown.quick("write", "--to", "projcts/silica", "Silica has three tabs")
    assert (ended.code, ended.text.split(" · ")[0]) == (0, "memory › projcts/silica")
    assert (
        "projcts/silica is a new page; did you mean 'projects/silica'? 'silica memory undo' takes it back" in ended.err
    )
    for path in ("projcts/silica", "projects/silica", "projects/quay-1", "projects/quay-2", "persons"):
        assert "did you mean" not in grown.quick("write", "--to", path, f"Another fact of {path}").err


def test_the_graph_is_printed_in_three_forms(grown: Program) -> None:
    assert (
        grown.quick("graph").json
        == grown.quick("graph", "--json").json
        == grown.quick("graph", "--format", "json").json
    )
    assert grown.done("graph", "--format", "mermaid").startswith("graph TD\n")
    dot = grown.done("graph", "--format", "dot")
    assert '"memory" -> "projects";' in dot
    assert dot.endswith("}\n")


def test_a_page_is_split_on_demand(program: Program) -> None:
    sections = [
        f"## {name}\n\n" + f"All that is known of {name.lower()}. " * 30 for name in ("Kitchen", "Garden", "Cellar")
    ]
    program.done("write", "--mode", "append", "\n\n".join(sections))
    told = program.done("split")
    assert told.startswith("memory split by ")
    children = told.strip().split(" into ")[1].split(", ")
    assert len(children) > 1
    assert {f"{child}.md" for child in children} < program.files().keys()


def test_a_page_that_holds_together_is_left_whole_and_says_why(grown: Program) -> None:
    assert grown.done("split", "people").startswith("people not split: ")


def test_a_page_is_merged_and_renamed_and_links_follow(grown: Program) -> None:
    assert grown.done("rename", "projects", "work") == "projects renamed to work\n"
    assert "work/silica" in grown.done("read", "people")
    assert grown.done("merge", "work/silica") == "work/silica merged into work\n"
    assert "pytest" in grown.done("read", "work")
    assert grown.done("check").startswith("all is well: 3 pages")


def test_a_deleted_page_says_where_its_children_went(grown: Program) -> None:
    grown.page("people", "# People\n\nAda keeps the books.\n")
    assert grown.done("delete", "projects").splitlines() == [
        "projects deleted",
        "  projects/silica moved to memory",
    ]
    assert grown.done("check") == "all is well: 3 pages\n"


def test_check_tells_each_finding_in_a_line_and_mends_on_demand(grown: Program) -> None:
    grown.page("lost", "# Lost\n\nSee [[nowhere]].\n")
    found = grown.quick("check")
    assert found.code == 0
    assert found.text.splitlines() == [
        "error unreachable lost:0 no link leads here from the root (mend: link it from the page above)",
        "notice dangling-link lost:3 [[nowhere]] names no page",
    ]
    assert "--apply" in found.err
    assert grown.quick("check", "--fail").code == 1
    mended = grown.quick("check", "--apply", "--fail")
    assert mended.code == 0
    assert mended.text.splitlines() == [
        "mended unreachable lost:0 no link leads here from the root (done: link it from the page above)",
        "notice dangling-link lost:3 [[nowhere]] names no page",
        "changed memory",
    ]
    assert "[[lost]]" in grown.done("read")


def test_an_absent_memory_says_how_to_begin_and_stays_absent(program: Program) -> None:
    for verb in (["ls"], ["tree"], ["search", "x"]):
        shown = program.quick(*verb)
        assert (shown.code, shown.out) == (0, b"")
        assert 'silica memory write "…"' in shown.err
        assert str(program.folder) in shown.err
    read = program.quick("read")
    assert (read.code, read.out) == (3, b"")
    assert 'begin with: silica memory write "…"' in read.err
    assert program.done("check") == "all is well: 0 pages\n"
    assert not program.folder.exists()


def test_the_package_runs_as_a_module_and_as_a_script(program: Program) -> None:
    import subprocess
    import sys

    script = Path(sys.executable).with_name("silica")
    if not script.exists():
        pytest.skip("the package is not installed here")
    done = subprocess.run([script, "--version"], capture_output=True, cwd=program.home, env=program.environment())
    assert done.stdout == program.silica("--version").out


def test_a_source_and_a_day_are_kept_with_a_text(program: Program) -> None:
    program.done("write", "Warm.", "--to", "kiln", "--source", "standup.md", "--date", "2025-02-03")
    assert "\nsource: standup.md\ndate: 2025-02-03\n" in program.done("read", "kiln")
    program.done("write", "Cold.", "--source", "mail of 2025-02-04")
    assert "*Source: mail of 2025-02-04 · 2025-02-04*" in program.done("read")


@pytest.mark.parametrize(
    ("name", "options", "day"),
    [
        ("2025-02-03.md", [], "2025-02-03"),
        ("2025-02-03.md", ["--date", "2025-02-05"], "2025-02-05"),
        ("2999-02-03.md", [], ""),
        ("notes.md", [], ""),
    ],
)
def test_a_day_in_the_name_of_a_file_counts(
    program: Program, tmp_path: Path, name: str, options: list[str], day: str
) -> None:
    (tmp_path / name).write_text("The kiln is warm.\n")
    program.done("write", "--to", "kiln", "--file", str(tmp_path / name), *options)
    page = program.done("read", "kiln")
    assert (f"\ndate: {day}\n" in page) if day else ("date:" not in page.replace("last_updated:", ""))


def test_a_day_in_the_name_of_a_file_that_is_to_come_by_the_memorys_clock_does_not_count(
    program: Program, tmp_path: Path
) -> None:
    (tmp_path / "2026-01-06.md").write_text("The kiln is warm.\n")
    clock = {"SILICA_MEMORY_NOW": "2026-01-06T04:00:00Z", "SILICA_MEMORY_TIMEZONE": "America/Los_Angeles"}
    done = program.silica("memory", "write", "--to", "kiln", "--file", str(tmp_path / "2026-01-06.md"), env=clock)
    assert done.code == 0
    assert "\ndate:" not in program.silica("memory", "read", "kiln").text


def test_a_search_says_where_a_text_came_from(program: Program) -> None:
    program.done("write", "The kiln is warm.", "--source", "standup.md")
    assert "  from standup.md\n" in program.done("search", "kiln")


def test_a_dry_run_of_a_write_shows_the_change_and_makes_none(grown: Program) -> None:
    before = grown.files()
    shown = grown.quick("write", "--dry-run", "Silica has a logo.", "--to", "projects/silica")
    assert shown.code == 0 and "+Silica has a logo." in shown.text and "projects/silica" in shown.err
    told = grown.quick("write", "--dry-run", "--json", "Silica has a logo.").json
    assert told["dry_run"] and told["changed_pages"] and "logo" in told["changes"]
    assert grown.files() == before and "logo" not in grown.quick("history").text
    assert "dry_run" not in grown.quick("write", "--json", "Silica has a logo.").json


def test_answers_for_a_prompt_fit_into_so_many_tokens(program: Program) -> None:
    program.page("projects/silica", "# Silica\n\n## Testing\n\nSilica uses pytest (2026-02-03).\n")
    shown = program.done("search", "--max-tokens", "100", "pytest")
    assert shown == "projects › silica › Testing · 2026-02-03 · line 5\nSilica uses pytest (2026-02-03).\n"
    assert program.run("search", "--max-tokens", "9", "pytest").code == 2


def test_what_a_place_was_ranked_by_is_shown_if_asked_for(program: Program) -> None:
    program.page("silica", "# Silica\n\nThe kiln was fired on 2026-02-03.\n")
    shown = program.done("search", "--explain", "Was the kiln fired on 3 February 2026?")
    assert shown.startswith(program.done("search", "Was the kiln fired on 3 February 2026?"))
    assert "    +4.00  the day asked for\n" in shown


def test_what_the_memory_does_not_answer_is_told_and_the_nearest_places_shown(program: Program) -> None:
    days = "".join(f"## Week {n}\n\nThe kiln was fired {n} times.\n\n" for n in range(9))
    program.page("silica", f"# Silica\n\n{days}")
    query = "Which mortgage rate did the bank offer for the kiln?"
    some = program.run("search", query)
    assert (some.code, "does not seem to answer this" in some.err) == (0, True)
    assert some.text.count("silica:") == 3
    assert program.run("search", "--all", query).text.count("silica:") == 9
    document = program.run("search", "--json", query).json
    assert (document["answered"], document["verdict"], len(document["results"])) == (False, "no", 9)
    assert not program.run("search", "How many times was the kiln fired?").err
    assert "perhaps an answer" in program.run("search", "How often was the kiln fired in week 3?").err


def test_an_older_version_of_the_first_answer_is_marked(program: Program) -> None:
    program.page("gerda", "# Gerda\n\n- 2026-03-01: Gerda lives in Kassel.\n- 2026-04-01: Gerda has moved to Bonn.\n")
    shown = program.done("search", "Where does Gerda live?")
    assert [("2026-04-01" in line, "earlier" in line) for line in shown.splitlines() if "gerda:" in line] == [
        (True, False),
        (False, True),
    ]


def test_a_search_can_be_narrowed_and_matches_lines(program: Program) -> None:
    program.page("projects/silica", "# Silica\n\n- 2026-02-03: pytest 8\n- 2026-02-04: pytest 9\n")
    program.page("garden", "# Garden\n\nNo pytest here.\n")
    assert "garden" not in program.done("search", "--under", "projects", "pytest")
    assert "2026-02-03" not in program.done("search", "--since", "2026-02-04", "--under", "projects", "pytest")
    shown = program.done("search", "--regex", r"pytest \d").splitlines()
    assert [line.strip() for line in shown if "pytest" in line] == ["- 2026-02-03: pytest 8", "- 2026-02-04: pytest 9"]
    assert program.run("search", "--regex", "(").code == 2
    assert program.run("search", "--under", "nowhere", "pytest").code == 3


def test_a_project_s_memory_that_a_write_makes_stays_out_of_the_repository(program: Program) -> None:
    project = program.home / "boats"
    (project / ".git").mkdir(parents=True)
    other = {"SILICA_MEMORY_PATH": str(program.home / "other")}
    for verb in (["ls"], ["write", "Ada keeps the books."]):
        assert program.silica("memory", "--project", str(project), *verb, env=other).code == 0
        assert (project / ".silica").exists() == (verb[0] == "write")
    assert (project / ".silica" / ".gitignore").read_text() == "*\n"
    assert not (program.home / "other").exists()
    (project / ".silica" / ".gitignore").unlink()  # somebody wants it committed
    assert program.silica("memory", "--project", str(project), "write", "Grace.").code == 0
    assert not (project / ".silica" / ".gitignore").exists()


def test_a_folder_of_other_files_is_not_told_to_be_well(program: Program) -> None:
    program.folder.mkdir(parents=True)
    (program.folder / "notes").write_text("Text.\n")
    told = program.done("check")
    assert "all is well" not in told and "files that are no pages" in told
    for verb in ("ls", "tree"):
        listed = program.quick(verb).err
        assert "is empty" not in listed and "files that are no pages" in listed
    for page in ([], ["projects/silica"]):
        read = program.quick("read", *page)
        assert (read.code, "'; the folder has files that are no pages: " in read.err) == (3, True)


def test_replacing_says_which_words_became_which(program: Program) -> None:
    program.quick("write", "--to", "boats", "The keel is\nof oak.")
    first, second = program.quick("replace", "boats", "is\nof oak", "is of elm").text.splitlines()
    assert first.startswith("boats \u00b7 ")
    assert second == "  is of oak \u2192 is of elm"
    assert program.quick("replace", "boats", " of elm", "").text.endswith("  of elm \u2192 (nothing)\n")
