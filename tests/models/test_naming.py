"""Names and lines by which pages are listed, made without a model."""

from __future__ import annotations

import pytest

from memory_v2.models.offline.naming import describe_document
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
    line = describe_document("Full-text search with SQLite FTS5", parse_blocks(FTS5))
    assert line.startswith("Full-text search with SQLite FTS5: ")
    assert "Triggers" in line
    assert "virtual table" in line
    assert "secret_code" not in line


@pytest.mark.parametrize("title", ["SQLite", "word " * 80, "调试" * 90, ""])
@pytest.mark.parametrize("text", ["", FTS5, "调试服务器。" * 50])
def test_the_line_of_a_document_is_one_short_line(title: str, text: str) -> None:
    line = describe_document(title, parse_blocks(text))
    assert len(line) <= 160
    assert "\n" not in line
    assert bool(line) == bool(title.strip() or text)
