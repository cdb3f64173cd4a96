"""`--json`: one document on standard output, whatever happens; notices on standard error."""

from __future__ import annotations

import json

from .program import Program

RESULT = {"path", "success", "revision", "changed_pages", "decided_by", "degraded", "cost", "changes", "trace"}
COST = {"calls", "input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "seconds", "money"}


def test_a_write_tells_all_that_the_result_knows(program: Program) -> None:
    told = program.quick("write", "--json", "日本語 is stored as it is").json
    assert told.keys() == RESULT | {"size_bytes", "outcome", "said_in", "secrets", "split_triggered", "new_files"}
    assert told["cost"].keys() == COST
    assert told["path"] == "memory"
    assert told["outcome"] == "written"
    assert told["decided_by"] == "offline"
    assert told["size_bytes"] == (program.folder / "memory.md").stat().st_size
    assert told["revision"]
    assert "+日本語 is stored as it is\n" in told["changes"]
    again = program.quick("write", "--json", "日本語 is stored as it is").json
    assert (again["outcome"], again["said_in"], again["revision"]) == ("nothing new", ["memory"], "")


def test_json_is_utf8_and_not_escaped(program: Program) -> None:
    assert "日本語".encode() in program.quick("write", "--json", "日本語").out
    assert program.run("read", "--json", env={"LC_ALL": "C"}).json["text"].count("日本語") == 1


def test_a_page_is_told_with_its_text_and_size(grown: Program) -> None:
    data = grown.files()["projects/silica.md"]
    told = grown.quick("read", "--json", "projects/silica").json
    assert told == {"path": "projects/silica", "title": "Silica", "size_bytes": len(data), "text": data.decode()}


def test_hits_are_told_with_all_they_have(grown: Program) -> None:
    told = grown.quick("search", "--json", "-n", "1", "pytest").json
    assert told.keys() == {"query", "results", "answered", "verdict", "decided_by", "degraded", "cost", "trace"}
    (hit,) = told["results"]
    assert hit["path"] == "projects/silica"
    assert hit["lines"] == [3, 3]
    assert hit["date"] == "2026-02-03"
    assert hit["breadcrumb"] == ["memory", "projects", "projects/silica"]
    assert hit["excerpt"] == "- Silica uses pytest for testing (2026-02-03)"
    names = {
        "path",
        "lines",
        "date",
        "speaks_of",
        "source",
        "section",
        "confidence",
        "signs",
        "earlier",
        "relevance_score",
        "breadcrumb",
        "context",
        "excerpt",
    }
    assert hit.keys() == names
    assert hit["speaks_of"] == ""


def test_no_hit_is_an_empty_list(grown: Program) -> None:
    assert grown.quick("search", "--json", "xylophone").json["results"] == []


def test_the_list_and_the_tree_tell_how_pages_hang_together(grown: Program) -> None:
    pages = {page["path"]: page for page in grown.quick("ls", "--json").json["pages"]}
    assert pages["projects/silica"]["linked_from"] == ["people", "projects"]
    assert pages["memory"]["links_to"] == ["projects", "people"]
    rows = grown.quick("tree", "--json").json["pages"]
    assert [(row["depth"], row["parent"], row["path"]) for row in rows] == [
        (0, None, "memory"),
        (1, "memory", "projects"),
        (2, "projects", "projects/silica"),
        (1, "memory", "people"),
    ]


def test_an_absent_memory_is_an_empty_list(program: Program) -> None:
    assert program.quick("ls", "--json").json == {"pages": []}
    assert program.quick("tree", "--json").json == {"pages": [], "unreachable": []}
    assert program.quick("graph").json == {"nodes": [], "edges": []}
    assert program.quick("check", "--json").json == {"pages": 0, "findings": [], "entries": 0}


def test_check_tells_its_findings_and_what_it_mended(grown: Program) -> None:
    grown.page("lost", "# Lost\n")
    finding = {
        "kind": "unreachable",
        "severity": "error",
        "path": "lost",
        "line": 0,
        "message": "no link leads here from the root",
        "mend": "link it from the page above",
    }
    failed = grown.quick("check", "--json", "--fail")
    assert (failed.code, failed.json) == (1, {"pages": 5, "findings": [finding], "entries": 0})
    mended = grown.quick("check", "--json", "--apply").json
    assert (mended["findings"], mended["mended"]) == ([], [finding])
    assert mended["result"].keys() == RESULT
    assert mended["result"]["changed_pages"] == ["memory"]
    assert grown.quick("history", "--json").json["operations"][0]["summary"] == "memory"


def test_a_deletion_tells_where_the_children_went(grown: Program) -> None:
    grown.page("people", "# People\n")
    told = grown.quick("delete", "--json", "projects").json
    assert told["moved"] == [{"path": "projects/silica", "parent": "memory"}]


def test_the_word_json_behind_a_double_dash_is_text(program: Program) -> None:
    failed = program.quick("write", "--to", "../up", "--", "--json")
    assert (failed.code, failed.out) == (2, b"")


def test_what_could_upset_a_terminal_is_a_number_in_json_and_the_same_when_it_is_read(program: Program) -> None:
    odd = "a\x1b[31m\x07 b\u009b31m c\u202e d\u2028e\x7f"
    program.page("memory", f"# Odd\n\n{odd}\n")
    shown = program.quick("read", "--json")
    assert json.loads(shown.out)["text"] == f"# Odd\n\n{odd}\n"
    assert all(c not in shown.text for c in "\x1b\x07\u009b\u202e\u2028\x7f")
