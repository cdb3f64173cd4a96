"""Small made-up folders, one of each kind that people have, and how to look at what was read from one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from memory_v2.files.listing import LeftOut
from memory_v2.migrate.formats import scan_paths
from memory_v2.migrate.scan import Scan, SourceDocument


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Writes these files, by their names within the folder."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def read(folder: Path, files: Mapping[str, str | bytes], format_name: str | None = None) -> Scan:
    """What is read from a folder of these files."""
    [(_, scan)] = scan_paths([write(folder, files)], format_name)
    return scan


def documents(scan: Scan) -> dict[str, SourceDocument]:
    return {document.name: document for document in scan.documents}


def places(scan: Scan) -> dict[str, str]:
    return {document.name: document.place for document in scan.documents}


def left_out(scan: Scan) -> dict[str, LeftOut]:
    return {left.name: left for left in scan.left_out}


VAULT: Mapping[str, str | bytes] = {
    ".obsidian/app.json": "{}",
    ".obsidian/plugins/x/README.md": "A plugin.",
    ".trash/old.md": "Thrown away.",
    "Home.md": "# Home\n\n[[Garden]], [[boats|the boats]], ![[shed.png]]\n\n"
    "[[Ann]], [[Sommer]], [[nobody]] and `[[code]]`.\n",
    "Garden/Garden.md": "---\ntitle: The garden\ntags: [outside, '#plants']\naliases: [Sommer]\n"
    "date: 2026-05-01\n---\nBeds.\n",
    "Garden/Beds/Tomatoes.md": "See [the garden](../Garden.md#soil), [home](/Home.md)\n"
    "and [water](../Water%20tank.md), [it](x.py).\n",
    "Garden/Water tank.md": "Holds 300 l. ![[Tomatoes#Feeding]]\n",
    "Sport/Boats.md": "Two of them: [gone](gone.md), [site](https://example.org/a.md), [top](#top).\n",
    "people/ann.md": "---\ntitle: Ann\n---\nPaints.\n",
    "shed.png": b"\x89PNG\r\n\x1a\n\0\0",
    "map.canvas": "{}",
}
WORKSPACE: Mapping[str, str | bytes] = {
    "MEMORY.md": "# Long-term\n\nAnswers are short.\n",
    "USER.md": "# User\n\nLikes tea.\n",
    "memory/2026-02-03.md": "# 2026-02-03\n\n- Planted.\n",
    "memory/2026-02-04-market.md": "Sold 4 crates, see [yesterday](2026-02-03.md).\n",
    "memory/archive/2026-01-01.md": "New year.\n",
    "memory/topics/soil.md": "# Soil\n\nSandy.\n",
    "memory/state.json": "{}",
}
CLAUDE_CODE: Mapping[str, str | bytes] = {
    "CLAUDE.md": "# Rules\n\nSee @docs/style.md and @gone.md, not me@example.md.\n",
    "docs/style.md": "# Style\n\nTabs.\n",
    ".claude/memory/MEMORY.md": "- [User](user.md): who it is\n",
    ".claude/memory/user.md": "---\nname: The user\ndescription: Who it is\ntype: user\n---\nA gardener.\n",
    ".claude/rules/tests.md": "Run them.\n",
    ".claude/commands/fix.md": "Fix it.\n",
    ".claude/settings.json": "{}",
}
CLAUDE_HOME: Mapping[str, str | bytes] = {
    "CLAUDE.md": "Be brief.\n",
    "projects/-home-me-app/memory/MEMORY.md": "- [Build](build.md)\n",
    "projects/-home-me-app/memory/build.md": "make all\n",
    "projects/-home-me-app/1f0c.jsonl": "{}",
    "todos/1.json": "[]",
    "plugins/cache/README.md": "A plugin.",
}
MEMORY_TOOL: Mapping[str, str | bytes] = {
    "preferences.md": "Tea.\n",
    "customers/guide.xml": "<guide>Say hello.</guide>\n",
    "progress.json": '{"done": 3}\n',
    "todo": "Call Ann.\n",
    "photo.png": b"\x89PNG\0",
    "latin": b"caf\xe9",
}
CLAWVAULT: Mapping[str, str | bytes] = {
    ".clawvault.json": '{"name": "v"}',
    ".obsidian/app.json": "{}",
    "decisions/2026-02-19.md": "[decision|c=0.90|i=0.90] Use [[projects/boat]].\n",
    "projects/boat.md": "---\ntitle: The boat\ncreated: 2026-02-18\n---\nBlue.\n",
    "templates/daily.md": "---\nprimitive: daily-note\n---\n\n# {{date}}\n",
    "templates/mine.md": "My own letterhead.\n",
}
SILICA_V2: Mapping[str, str | bytes] = {
    ".content": "# Root\n\n[Projects](projects)\n",
    ".metadata/migration_state.json": "{}",
    "projects/.content": "# Projects\n\n[Silica](silica), [Boat](projects/boat), [gone](gone.md)\n",
    "projects/silica/.content": "# Silica\n\nUp: [[projects]]\n",
    "projects/boat/.content": "No response generated",
    "projects/silica/..content.k2j1.tmp": "half",
    "notes/.content/.content": b"Filed where the old version put it, at the caf\xe9.\n",
    "image.png": b"\x89PNG\0",
}
FORMATS: Mapping[str, Mapping[str, str | bytes]] = {
    "obsidian": VAULT,
    "daily-logs": WORKSPACE,
    "claude-code": CLAUDE_CODE,
    "clawvault": CLAWVAULT,
    "silica-v2": SILICA_V2,
    "markdown": {"a.md": "# A\n", "b/c.txt": "c\n"},
}
