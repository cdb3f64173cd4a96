"""How each format is known and read, and which one is taken where a folder could be of two."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from memory_v2.errors import UsageError
from memory_v2.files.listing import LeftOut, left_out_in_a_line
from memory_v2.migrate.formats import choose, scan_paths
from memory_v2.migrate.planning import make_plan
from memory_v2.migrate.run import run
from memory_v2.tree.block import encode
from tests.migrate.folders import (
    CLAUDE_CODE,
    CLAUDE_HOME,
    CLAWVAULT,
    FORMATS,
    MEMORY_TOOL,
    SILICA_V2,
    VAULT,
    WORKSPACE,
    documents,
    left_out,
    places,
    read,
    write,
)
from tests.operations.scenes import offline


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_known_by_what_is_in_the_folder(tmp_path: Path, name: str) -> None:
    assert choose(write(tmp_path, FORMATS[name])).name == name


# a vault


def test_links_of_a_vault_lead_where_they_lead_in_obsidian(tmp_path: Path) -> None:
    found = documents(read(tmp_path, VAULT))
    home = found["Home.md"]
    assert home.links == ("Garden/Garden.md", "Sport/Boats.md", "people/ann.md")
    assert home.dead == ("[[nobody]]",)
    assert found["Garden/Water tank.md"].links == ("Garden/Beds/Tomatoes.md",)
    assert found["Garden/Beds/Tomatoes.md"].links == ("Garden/Garden.md", "Home.md", "Garden/Water tank.md")
    assert found["Garden/Beds/Tomatoes.md"].dead == ()
    assert found["Sport/Boats.md"].links == ()
    assert found["Sport/Boats.md"].dead == ("gone.md",)


def test_the_front_matter_of_a_note_is_told(tmp_path: Path) -> None:
    garden = documents(read(tmp_path, VAULT))["Garden/Garden.md"]
    assert (garden.title, garden.tags, garden.day) == ("The garden", ("outside", "plants"), date(2026, 5, 1))
    assert garden.text == VAULT["Garden/Garden.md"]  # to the letter


def test_a_note_about_its_folder_is_the_page_of_the_folder(tmp_path: Path) -> None:
    assert places(read(tmp_path, VAULT)) == {
        "Home.md": "home",
        "Garden/Garden.md": "garden",
        "Garden/Beds/Tomatoes.md": "garden/beds/tomatoes",
        "Garden/Water tank.md": "garden/water-tank",
        "Sport/Boats.md": "sport/boats",
        "people/ann.md": "people/ann",
    }


def test_what_is_no_note_of_a_vault_is_left_out_and_told(tmp_path: Path) -> None:
    left = left_out(read(tmp_path, VAULT))
    assert {name: each.is_expected for name, each in left.items()} == {
        ".obsidian/": True,
        ".trash/": True,
        "shed.png": False,
        "map.canvas": False,
    }


def test_a_link_that_may_mean_two_notes_means_the_nearer_one_and_is_told(tmp_path: Path) -> None:
    files = {
        "a/note.md": "[[plan]]\n",
        "a/plan.md": "a\n",
        "b/deep/plan.md": "b\n",
        "c/plan.md": "c\n",
        "top.md": "[[deep/plan]] [[PLAN.md]]\n",
    }
    found = documents(read(tmp_path, files))
    assert (found["a/note.md"].links, found["a/note.md"].notes) == (("a/plan.md",), ())
    assert found["top.md"].links == ("b/deep/plan.md", "a/plan.md")
    assert "a/plan.md or c/plan.md or b/deep/plan.md" in found["top.md"].notes[0]


def test_links_are_told_in_their_order_and_not_those_in_code(tmp_path: Path) -> None:
    note = (
        "[b](b.md)\n\n[[c]]\n\n```\n[d](d.md) [[d]]\n```\n\n- `[d](d.md)`\n- [e][x] ![f](<f.md> 'F')\n\n[x]: e.md\n"
        "\n    [d](d.md)\n\n<!-- [d](d.md) -->\n"
    )
    files = {f"{name}.md": f"{name}\n" for name in "bcdef"}
    assert documents(read(tmp_path, files | {"a.md": note}))["a.md"].links == ("b.md", "c.md", "f.md", "e.md")


def test_links_in_front_matter_are_links(tmp_path: Path) -> None:
    note = '---\nup: "[[home]]"\nrelated:\n    - "[[b|the other]]"\n    - "[[gone]]"\n---\nText.\n'
    found = documents(read(tmp_path, {"a.md": note, "x/b.md": "b\n", "home.md": "h\n"}))["a.md"]
    assert (found.links, found.dead) == (("home.md", "x/b.md"), ("[[gone]]",))


def test_what_is_told_about_a_note_is_text_even_if_the_note_is_not(tmp_path: Path) -> None:
    note = b"---\ntitle: caf\xe9\ntags: [\xe9]\naliases: [b\xe9]\n---\n[[gone \xe9]] [[b\xe9]]\n"
    found = documents(read(tmp_path, {"a.md": note}))["a.md"]
    assert (found.title, found.tags, found.dead) == ("caf", ("\ufffd",), ("[[gone \ufffd]]",))
    assert encode(found.text) == note


# places


def test_the_page_of_a_folder_is_one_note(tmp_path: Path) -> None:
    files = {
        "a/README.md": "r\n",
        "a/index.md": "i\n",
        "b/README.md": "r\n",
        "b.md": "b\n",
        "README.md": "# My notes\n",
    }
    assert places(read(tmp_path, files)) == {
        "a/README.md": "a/readme",
        "a/index.md": "a",
        "b/README.md": "b/readme",
        "b.md": "b",
        "README.md": "my-notes",
    }


def test_a_folder_called_memory_is_the_root_only_at_the_top(tmp_path: Path) -> None:
    files = {"memory/memory/a.md": "a\n", "x/memory/README.md": "r\n", "x/memory/b.md": "b\n", "x/MEMORY.md": "m\n"}
    assert places(read(tmp_path, files)) == {
        "memory/memory/a.md": "a",
        "x/memory/README.md": "x/memory",
        "x/memory/b.md": "x/memory/b",
        "x/MEMORY.md": "x/long-term-memory",
    }


# the memories of agents


def test_the_logs_of_a_workspace_are_together_and_have_their_days(tmp_path: Path) -> None:
    scan = read(tmp_path, WORKSPACE)
    assert places(scan) == {
        "MEMORY.md": "long-term-memory",
        "USER.md": "user",
        "memory/2026-02-03.md": "daily-logs/2026-02-03",
        "memory/2026-02-04-market.md": "daily-logs/2026-02-04-market",
        "memory/archive/2026-01-01.md": "archive/2026-01-01",
        "memory/topics/soil.md": "topics/soil",
    }
    found = documents(scan)
    assert found["memory/2026-02-04-market.md"].day == date(2026, 2, 4)
    assert found["memory/2026-02-04-market.md"].links == ("memory/2026-02-03.md",)
    assert found["MEMORY.md"].day is None  # never that of the file
    assert "JSON" in left_out(scan)["memory/state.json"].reason


def test_logs_are_known_without_what_lasts_if_there_are_several(tmp_path: Path) -> None:
    files = {f"2026-02-0{n}.md": "Rain.\n" for n in range(1, 4)}
    assert places(read(tmp_path / "three", files))["2026-02-01.md"] == "daily-logs/2026-02-01"
    assert read(tmp_path / "one", {"2026-02-01.md": "Rain.\n"}).format == "markdown"


def test_the_memory_of_claude_code_in_a_project_is_read_with_its_notes(tmp_path: Path) -> None:
    scan = read(tmp_path, CLAUDE_CODE)
    assert places(scan) == {
        "CLAUDE.md": "claude",
        "docs/style.md": "docs/style",
        ".claude/memory/MEMORY.md": "long-term-memory",
        ".claude/memory/user.md": "user",
        ".claude/rules/tests.md": "rules/tests",
    }
    found = documents(scan)
    assert (found["CLAUDE.md"].links, found["CLAUDE.md"].dead) == (("docs/style.md",), ("gone.md",))
    user = found[".claude/memory/user.md"]
    assert (user.title, user.description) == ("The user", "Who it is")
    assert found[".claude/memory/MEMORY.md"].links == (".claude/memory/user.md",)
    assert {name: each.is_expected for name, each in left_out(scan).items()} == {
        ".claude/commands/": False,
        ".claude/settings.json": True,
    }


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("", {"CLAUDE.md": "claude", "build.md": "projects/home-me-app/build"}),
        ("projects", {"build.md": "projects/home-me-app/build"}),
        ("projects/-home-me-app", {"build.md": "projects/home-me-app/build"}),
        ("projects/-home-me-app/memory", {"build.md": "build"}),
    ],
)
def test_any_folder_of_claude_codes_home_can_be_read(tmp_path: Path, inside: str, expected: dict[str, str]) -> None:
    home = write(tmp_path / ".claude", CLAUDE_HOME)
    scan = read(home / inside, {})
    found = {name.rpartition("/")[2]: place for name, place in places(scan).items()}
    assert found.pop("MEMORY.md").endswith("long-term-memory")
    assert found == expected
    assert [name for name, each in left_out(scan).items() if not each.is_expected] == ["plugins/"] * (not inside)


def test_a_memory_of_claude_code_that_was_copied_is_known_by_its_topics(tmp_path: Path) -> None:
    topic = "---\nname: Build\nmetadata:\n  node_type: memory\n  type: project\n---\nmake\n"
    assert choose(write(tmp_path, {"MEMORY.md": "- [Build](build.md)\n", "build.md": topic})).name == "claude-code"


@pytest.mark.parametrize("above", ["", "memories"])
def test_all_text_of_the_memory_tool_is_read(tmp_path: Path, above: str) -> None:
    folder = tmp_path / ("store" if above else "memories")
    scan = read(folder, {f"{above}/{name}".lstrip("/"): content for name, content in MEMORY_TOOL.items()})
    assert scan.format == "claude-memory-tool"
    assert sorted(places(scan).values()) == ["customers/guide-xml", "preferences", "progress-json", "todo"]
    assert len(scan.left_out) == 2


def test_the_templates_of_a_clawvault_are_left_out_and_own_ones_are_read(tmp_path: Path) -> None:
    scan = read(tmp_path, CLAWVAULT)
    found = documents(scan)
    assert [*found] == ["decisions/2026-02-19.md", "projects/boat.md", "templates/mine.md"]
    assert found["decisions/2026-02-19.md"].links == ("projects/boat.md",)
    assert found["projects/boat.md"].day == date(2026, 2, 18)
    assert left_out(scan)["templates/daily.md"].is_expected


def test_the_pages_of_the_public_branch_are_read(tmp_path: Path) -> None:
    scan = read(tmp_path, {**SILICA_V2, "stray.md": "Not written by Silica.\n"})
    assert left_out(scan)["stray.md"].is_expected is False
    assert places(scan) == {
        ".content": "memory",
        "notes/.content/.content": "notes",
        "projects/.content": "projects",
        "projects/silica/.content": "projects/silica",
    }
    found = documents(scan)
    assert found[".content"].links == ("projects/.content",)
    assert found["projects/.content"].links == ("projects/silica/.content",)
    assert found["projects/.content"].dead == ("gone.md",)
    assert found["projects/silica/.content"].links == ("projects/.content",)
    assert not left_out(scan)["projects/boat/.content"].is_expected  # what stood there is lost
    assert left_out(scan)["projects/silica/..content.k2j1.tmp"].is_expected


def test_the_only_persona_of_the_public_branch_is_read(tmp_path: Path) -> None:
    scan = read(tmp_path, {f"default/{name}": content for name, content in SILICA_V2.items()})
    assert places(scan)["default/.content"] == "memory"
    assert places(scan)["default/projects/silica/.content"] == "projects/silica"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"projects/silica/features": "- undo\n", "projects/website": "Static.\n", "profile/preferences": "Tea.\n"},
            {
                "profile/preferences": "profile/preferences",
                "projects/silica/features": "projects/silica/features",
                "projects/website": "projects/website",
            },
        ),
        (
            {"memory": "# Memory\n\n- [[python]] - async\n", "python": "async\n", ".metadata/graph.json": "{}"},
            {"memory": "memory", "python": "python"},
        ),
    ],
)
def test_a_memory_whose_files_have_no_suffix_is_read(
    tmp_path: Path, files: dict[str, str], expected: dict[str, str]
) -> None:
    [(_, scan)] = scan_paths([write(tmp_path, {**files, "logo": b"\x89PNG\xff"})])
    assert (scan.format, places(scan)) == ("plain-files", expected)
    assert "logo" in [left.name for left in scan.left_out]


BELOW = "\n## Metadata\n\nlast_updated: 2025-01-15T10:30:00Z\nsize_bytes: 823\n"
LISTED = "\n## Links\n\n- [[projects]] - What I work on\n"


def test_the_pages_of_a_memory_come_without_what_the_program_wrote_below_them(tmp_path: Path) -> None:
    text = "# Memory\n\nThe root of it all.\n"
    folder = write(tmp_path, {"memory": text + LISTED + BELOW, "projects": f"# Projects\n\nSilica.\n{BELOW}"})
    [(source, scan)] = scan_paths([folder])
    memory = offline()
    run(memory, scan, make_plan(memory, scan, source))
    root = memory.read()
    assert root.count("# Memory") == root.count("## Links") == root.count("## Metadata") == 1
    assert "The root of it all." in root and "- [[projects]] - Projects: What I work on" in root
    assert [one.text for one in scan.documents] == [text, "# Projects\n\nSilica.\n"]


@pytest.mark.parametrize(
    "theirs",
    [
        LISTED,
        BELOW + "owner: ada\n",
        "\n## Links\n\n- [[nowhere]] - What is not here\n" + BELOW,
    ],
)
def test_what_a_person_may_have_written_below_a_text_stays(tmp_path: Path, theirs: str) -> None:
    text = f"# Memory\n\nThe root of it all.\n{theirs}"
    [(_, scan)] = scan_paths([write(tmp_path, {"memory": text, "projects": "Silica.\n"})])
    assert scan.documents[0].text == text


V1 = {"tea.md": "Green.\n", "tea.metadata.json": '{"summary": "Which tea."}'}


@pytest.mark.parametrize("other", [VAULT, SILICA_V2, WORKSPACE])
def test_two_formats_in_one_folder_are_said_and_one_is_taken_when_told(
    tmp_path: Path, other: Mapping[str, str | bytes]
) -> None:
    folder = write(tmp_path, {**other, **V1})
    with pytest.raises(UsageError, match=r"silica-v1 .*--format"):
        scan_paths([folder])
    [(_, scan)] = scan_paths([folder], "silica-v1")
    assert places(scan)["tea.md"] == "tea"


@pytest.mark.parametrize(
    ("one", "other", "taken"),
    [
        (VAULT, CLAWVAULT, "clawvault"),
        (VAULT, WORKSPACE, "daily-logs"),
        (VAULT, CLAUDE_CODE, "claude-code"),
        (CLAUDE_CODE, WORKSPACE, "daily-logs"),
    ],
)
def test_a_folder_that_several_programs_use_is_read_with_all_its_notes(
    tmp_path: Path, one: Mapping[str, str | bytes], other: Mapping[str, str | bytes], taken: str
) -> None:
    alone = [
        places(scan) for files in (one, other) for _, scan in scan_paths([write(tmp_path / str(id(files)), files)])
    ]
    [(_, scan)] = scan_paths([write(tmp_path / "both", {**one, **other})])
    assert scan.format == taken
    assert {*places(scan)} == {name for each in alone for name in each}


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "it is empty"),
        ({"a.json": "{}", "b/c.json": "{}"}, "2 × there is no reader for JSON"),
        ({"a.md": "", "b.txt": " \n"}, "2 × an empty file"),
        ({".git/config": ""}, "kept by a program"),
    ],
)
def test_a_folder_with_nothing_to_import_is_refused_with_what_it_holds(
    tmp_path: Path, files: Mapping[str, str], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        scan_paths([write(tmp_path, files)])


def test_what_is_left_out_is_told_in_a_line_and_what_may_matter_comes_first() -> None:
    left_out = [
        LeftOut(".git/", "kept by a program", is_expected=True),
        *(LeftOut(f"{n}.json", "no reader for JSON") for n in range(3)),
        LeftOut("b.png", "no reader for pictures"),
    ]
    told = "3 × no reader for JSON; b.png: no reader for pictures; .git/: kept by a program"
    assert left_out_in_a_line(left_out) == told
    assert left_out_in_a_line(left_out, 1) == "3 × no reader for JSON; 2 other reasons"
    assert left_out_in_a_line([]) == ""


def test_what_is_not_there_or_not_known_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a\n")
    for path in (tmp_path / "gone", tmp_path / "a.md" / "b.md"):
        with pytest.raises(UsageError, match="there is no file or folder"):
            scan_paths([path])
    with pytest.raises(UsageError, match="not a folder"):
        choose(tmp_path / "a.md")
    with pytest.raises(UsageError, match=r"'paper'.*obsidian"):
        choose(tmp_path, "paper")
    with pytest.raises(UsageError, match="single file"):
        scan_paths([tmp_path / "a.md"], "silica-v1")


def test_single_files_are_read_from_their_folders(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "[b](b.txt)\n", "b.txt": "b\n", "c.md": "c\n", "x/d.md": "d\n", "x/e.json": "{}"})
    scans = dict(scan_paths([tmp_path / name for name in ("a.md", "b.txt", "x/d.md", "x/e.json", "a.md")]))
    assert {folder: places(scan) for folder, scan in scans.items()} == {
        tmp_path: {"a.md": "a", "b.txt": "b"},
        tmp_path / "x": {"d.md": "d"},
    }
    assert scans[tmp_path].documents[0].links == ("b.txt",)
    assert [left.name for left in scans[tmp_path / "x"].left_out] == ["e.json"]


def test_a_file_in_a_folder_that_is_read_too_is_read_once(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "a\n", "x/d.md": "d\n"})
    [(folder, scan)] = scan_paths([tmp_path / "x" / "d.md", tmp_path])
    assert (folder, len(scan.documents)) == (tmp_path, 2)


def node(key: str, parent: str | None, role: str, *parts: Any) -> dict[str, Any]:
    return {"id": key, "parent": parent, "message": {"author": {"role": role}, "content": {"parts": [*parts]}}}


OF_CHATGPT = [
    {
        "id": "c1",
        "title": "Leeks in March",
        "create_time": 1_772_000_000.5,
        "current_node": "d",
        "mapping": {
            one["id"]: one
            for one in (
                node("a", None, "system", "You are helpful."),
                node("b", "a", "user", "When are leeks planted?", {"asset_pointer": "x"}),
                node("c", "b", "assistant", "In May."),
                node("d", "b", "assistant", "In March.", "With a spade."),
            )
        },
    },
    {"id": "c2", "title": "Nothing", "mapping": {}, "current_node": None},
]
OF_CLAUDE = [
    {
        "uuid": "u1",
        "name": "The pump",
        "created_at": "2026-02-03T10:00:00.000000Z",
        "chat_messages": [
            {"sender": "human", "text": "Why does it leak?"},
            {
                "sender": "assistant",
                "text": "",
                "content": [{"type": "text", "text": "The seal is worn."}, {"type": "x"}],
            },
        ],
    }
]


@pytest.mark.parametrize("is_zip", [True, False])
@pytest.mark.parametrize(
    ("told", "place", "day", "text"),
    [
        (
            OF_CHATGPT,
            "conversations/2026-02/leeks-in-march",
            date(2026, 2, 25),
            "# Leeks in March\n\n**User:**\n\nWhen are leeks planted?\n\n**Assistant:**\n\nIn March.\n\n"
            "With a spade.\n\n",
        ),
        (
            OF_CLAUDE,
            "conversations/2026-02/the-pump",
            date(2026, 2, 3),
            "# The pump\n\n**User:**\n\nWhy does it leak?\n\n**Assistant:**\n\nThe seal is worn.\n\n",
        ),
    ],
)
def test_each_conversation_is_a_page(tmp_path: Path, told: Any, place: str, day: date, text: str, is_zip: bool) -> None:
    source = tmp_path / "export"
    source.mkdir()
    (source / "conversations.json").write_text(json.dumps(told))
    if is_zip:
        with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
            archive.write(source / "conversations.json", "deep/conversations.json")
        source = tmp_path / "export.zip"
    ((found, scan),) = scan_paths([source])
    assert (found, scan.format) == (source, "conversations")
    assert [(one.place, one.day, one.text) for one in scan.documents] == [(place, day, text)]
    assert len(scan.documents) + len(scan.left_out) == len(told)
    memory = offline()
    assert run(memory, scan, make_plan(memory, scan, source)).plan.facts["totals"]["created"] == 1
    assert text.strip() in memory.read(place)
    again = make_plan(memory, scan, source)
    assert [step.action for step in again.steps] == ["skip"]


@pytest.mark.parametrize("data", [b"{", b"[" * 100_000, b"\xff"])
def test_what_cannot_be_read_is_refused(tmp_path: Path, data: bytes) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("conversations.json", data)
    with pytest.raises(UsageError, match="cannot be read"):
        scan_paths([tmp_path / "a.zip"])


@pytest.mark.parametrize("told", [[], {}, [1], [{"mapping": 3}], [{"chat_messages": [3, {"sender": 1}]}]])
def test_what_has_no_conversation_has_nothing_to_import(tmp_path: Path, told: Any) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("conversations.json", json.dumps(told))
    with pytest.raises(UsageError, match="nothing to import"):
        scan_paths([tmp_path / "a.zip"])
