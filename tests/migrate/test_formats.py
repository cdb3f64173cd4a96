"""What is read from folders of Markdown, vaults, and the memories of agents."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from memory_v2.migrate.formats import choose, scan_paths
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
