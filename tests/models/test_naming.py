"""Names and lines by which pages are listed, made without a model."""

from __future__ import annotations

import pytest

from memory_v2.models.offline.describing import describe_page
from memory_v2.tree.block import parse_blocks

FTS5 = """# Full-text search with SQLite FTS5

A virtual table holds the words.

## Triggers

Triggers keep the virtual table fresh. Triggers run on each insert.

## Ranking

Ranking is by bm25.

```sql
CREATE VIRTUAL TABLE secret_code USING fts5(secret_code);
```
"""


def test_a_document_is_listed_by_its_title_and_what_it_is_about() -> None:
    line = describe_page("Full-text search with SQLite FTS5", parse_blocks(FTS5))
    assert line == "Full-text search with SQLite FTS5: Triggers; Ranking"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "---\ntitle: x\ndescription: How the vault is backed up\n---\n# Vault\n\n## Keys\n\nSome.\n",
            "How the vault is backed up",
        ),
        (
            "# Vault\n\n## Overview\n\nIt keeps the keys of the house. It is old.\n\n## Related\n\nMore.\n",
            "It keeps the keys of the house",
        ),
        (
            "# Vault\n\n**Author:** Ana\n**Purpose:** Keep the keys of the house safe.\n",
            "Keep the keys of the house safe",
        ),
        ("# Vault\n\n- 2026-02-11T03:29Z Eduardo asked for a second copy.\n", "Eduardo asked for a second copy"),
        (
            "# Vault\n\n## 1. Vault\n\n## 2. Opening hours\n\n## 3. Spare: lost keys\n",
            "Opening hours; Spare – lost keys",
        ),
        (
            "# Vault\n\n```\nopen all houses\n```\n\n| open vaults | closed vaults |\n|---|---|\n| one | two |\n",
            "",
        ),
        (
            "# Vault\n\nSee the files in ~/vault/keys/all.txt for more of this. The keys are kept by Ana.\n",
            "The keys are kept by Ana",
        ),
    ],
)
def test_a_line_tells_in_the_words_of_the_text_what_is_there(text: str, line: str) -> None:
    assert describe_page("Vault", parse_blocks(text)) == (f"Vault: {line}" if line else "Vault")


@pytest.mark.parametrize("title", ["SQLite", "word " * 80, "调试" * 90, ""])
@pytest.mark.parametrize("text", ["", FTS5, "调试服务器。" * 50])
def test_the_line_of_a_document_is_one_short_line(title: str, text: str) -> None:
    line = describe_page(title, parse_blocks(text))
    assert len(line) <= 160
    assert "\n" not in line
    assert bool(line) == bool(title.strip() or text)


def test_a_line_does_not_tell_values_which_change() -> None:
    text = (
        "# The team\n\n- Mirela is off on Fridays and writes the backend.\n- Pavel keeps the servers of all projects.\n"
    )
    assert describe_page("The team", parse_blocks(text)) == "The team: Pavel keeps the servers of all projects"


def test_a_line_keeps_a_time_within_a_sentence() -> None:
    text = "# 2026-06-12\n\n- 07:40 The flight to Valencia leaves at 09:15 from Schwechat.\n"
    line = describe_page("2026-06-12", parse_blocks(text))
    assert line == "2026-06-12: The flight to Valencia leaves at 09:15 from Schwechat"
