"""The conversations that ChatGPT and Claude export, as a zip file and as a folder."""

from __future__ import annotations

import json
import zipfile
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from memory_v2.errors import UsageError
from memory_v2.migrate.formats import scan_paths
from memory_v2.migrate.planning import make_plan
from memory_v2.migrate.run import run
from tests.operations.scenes import offline


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
