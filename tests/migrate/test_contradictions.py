"""Contradictions between documents: few, dated, and without secrets."""

from __future__ import annotations

from datetime import date

import pytest

from memory_v2.migrate.report import names_of, said_in
from memory_v2.migrate.source import SourceDocument
from memory_v2.text.contradictions import Contradiction, contradictions
from tests.migrate.brought import document


def found_in(*documents: SourceDocument) -> list[Contradiction]:
    names = names_of(documents)
    return contradictions(said for one in documents for said in said_in(one, names))


def told(*documents: SourceDocument) -> list[tuple[str, str, list[str]]]:
    return [(one.subject, one.label, [each.value for each in one.statements]) for one in found_in(*documents)]


def test_the_newest_value_stands_first_with_its_day_and_line() -> None:
    old = document("silica.md", "# Silica\n\n- Port: 8080\n")
    new = document("2026-03-01.md", "# 2026-03-01\n\n## Silica\n\n- **Port:** `8443`\n", "log/2026-03-01")
    (found,) = found_in(old, new)
    assert (found.subject, found.label) == ("Silica", "Port")
    assert [(one.name, one.line, one.value, one.day) for one in found.statements] == [
        ("2026-03-01.md", 5, "8443", date(2026, 3, 1)),
        ("silica.md", 3, "8080", None),
    ]


def test_a_document_without_a_title_is_about_what_it_is_called() -> None:
    assert told(document("projects/silica.md", "Owner: Ada"), document("silica.md", "# Silica\n\nOwner: Grace\n")) == [
        ("silica", "Owner", ["Ada", "Grace"])
    ]


@pytest.mark.parametrize(("one", "other"), [("M. Perrin", "M. Leroy"), ("Prof. Byron", "Prof. Hopper")])
def test_a_title_before_a_name_ends_no_sentence(one: str, other: str) -> None:
    assert told(document("a.md", f"# Silica\n\nOwner: {one}\n"), document("b.md", f"# Silica\n\nOwner: {other}\n")) == [
        ("Silica", "Owner", [one, other])
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("# Silica\n\nPort: 8080\n", "# Quartz\n\nPort: 8443\n"),
        ("# Silica\n\n## Web\n\nPort: 8080\n", "# Quartz\n\n## Web\n\nPort: 8443\n"),
        ("# Silica\n\nPort: 8080\n", "# Silica\n\nPort: 8080.\n"),
        ("# Silica\n\nPort: 8080\n", "# Silica\n\nPort: 8080 (internal)\n"),
        ("# Silica\n\n- Member: Ada\n- Member: Grace\n", "# Silica\n\n- Member: Ada\n"),
        ("# 2026-03-01\n\n## Work\n\nTask: one\n", "# 2026-03-02\n\n## Work\n\nTask: two\n"),
        ("# Silica\n\nStatus: open\n", "# Silica\n\nStatus: done\n"),
        ("# Silica\n\n```\nPort: 8080\n```\n", "# Silica\n\n```\nPort: 8443\n```\n"),
        ("# Silica\n\nRemember: the port is open. Close it.\n", "# Silica\n\nRemember: the door. Now.\n"),
        ("# Notes\n\nPort: 8080\n", "# Notes\n\nPort: 8443\n"),
    ],
)
def test_what_only_looks_like_one_is_not_told(one: str, other: str) -> None:
    assert told(document("a.md", one), document("b.md", other)) == []


def test_a_form_that_many_documents_fill_in_contradicts_nothing() -> None:
    assert told(*(document(f"{n}.md", f"# Contact\n\nPhone: 555-{n}\n") for n in range(9))) == []


def test_a_secret_is_masked() -> None:
    values = told(
        document("a.md", "# Silica\n\nPassword: hunter2!\n"), document("b.md", "# Silica\n\nPassword: abc99\n")
    )
    assert "hunter2" not in str(values)
