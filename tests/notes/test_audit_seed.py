"""What an audit compares between an index and its logs: ports, names, and lines that say the same in one file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.notes.test_audit import told

LOG = "memory/2026-02-20.md"


@pytest.mark.parametrize(
    ("index", "log", "code"),
    [
        ("- The gateway listens on port 8080", "- The gateway listens on port 9090 now", "metric-drift"),
        ("- Gateway port: 8080", "- Gateway port: 9090", "metric-drift"),
        ("- API port 8080", "- Changed the API port to 9090", "metric-drift"),
        ("## Gateway\n\n- Port: 8080", "## Gateway\n\n- Port: 9090", "contradiction"),
    ],
)
def test_a_port_that_a_newer_log_contradicts_is_told(tmp_path: Path, index: str, log: str, code: str) -> None:
    (found,) = told(tmp_path, {"MEMORY.md": f"# Memory\n\n{index}\n", LOG: f"# 2026-02-20\n\n{log}\n"}, code)
    assert "8080 here, and 9090 in" in found.message and found.path == "MEMORY.md"


@pytest.mark.parametrize(
    ("index", "log"),
    [
        ("- The gateway listens on port 8080", "- The printer listens on port 9090"),
        ("- The gateway listens on port 8080", "- The gateway listens on port 8080"),
    ],
)
def test_the_ports_of_others_contradict_nothing(tmp_path: Path, index: str, log: str) -> None:
    files = {"MEMORY.md": f"# Memory\n\n{index}\n", LOG: f"# 2026-02-20\n\n{log}\n"}
    assert not told(tmp_path, files, "contradiction")
    assert not told(tmp_path, files, "metric-drift")


def test_what_one_file_says_twice_is_told_once(tmp_path: Path) -> None:
    twice = "The blue pump in the shed behind the old house leaks on cold mornings in March"
    text = f"# Memory\n\n- {twice} again\n- Water in the evening, not at noon\n- {twice}\n"
    (found,) = told(tmp_path, {"MEMORY.md": text}, "duplicate")
    assert (found.line, found.also) == (3, ("MEMORY.md:5",))


def test_whom_an_index_names_and_no_log_has_named_for_long_is_told(tmp_path: Path) -> None:
    logs = {f"memory/2026-01-{day:02}.md": "- Rain, with Grace Hopper\n" for day in range(1, 9)}
    files = {
        "MEMORY.md": "# Memory\n\n## People\n\n- **Ada Byron** keeps the books, with @carol_x and Grace Hopper\n",
        **logs,
        "memory/2025-12-01.md": "- Ada Byron left\n",
        "memory/2026-02-25.md": "- Grace Hopper came\n",
    }
    found = told(tmp_path, files, "unmentioned")
    assert [one.message for one in found] == [
        "no log has named @carol_x in 10 logs",
        "no log has named Ada Byron since 2025-12-01, 91 days ago",
    ]
    assert not told(
        tmp_path / "few", {name: files[name] for name in ("MEMORY.md", "memory/2025-12-01.md")}, "unmentioned"
    )


def test_a_feeling_about_a_companion_is_no_decision(tmp_path: Path) -> None:
    from tests.notes.folder import notes_of

    with notes_of(
        tmp_path, {LOG: "- He sees me as a companion, not a tool\n- NOT participating in minting\n"}
    ) as notes:
        assert [(one.category, one.first_line) for one in notes.extract()] == [("decisions", 2)]
