"""Names and lines by which pages are listed, made without a model."""

from __future__ import annotations

import pytest

from memory_v2.models.offline.describing import describe_page
from memory_v2.models.offline.naming import Terms, is_common_heading, is_of_subjects, subjects, surfaces_of
from memory_v2.text.words import stem
from memory_v2.tree.block import parse_blocks
from memory_v2.tree.page import MAX_DESCRIPTION

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
    assert line == "Full-text search with SQLite FTS5: A virtual table holds the words; Triggers; Ranking"


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
def test_the_line_of_a_document_is_one_line(title: str, text: str) -> None:
    line = describe_page(title, parse_blocks(text))
    assert len(line) <= MAX_DESCRIPTION
    assert "\n" not in line
    assert bool(line) == bool(title.strip() or text)


@pytest.mark.parametrize(
    ("title", "text", "line"),
    [
        (
            "Long-term memory",
            "- **Mailings:** one a week.\n- **WhatsApp (leads):** no old links.\n"
            "- **WhatsApp (groups):** no reminders.\n- **Repairs:** at once, without asking.\n",
            "Mailings; WhatsApp; Repairs",
        ),
        (
            "Release",
            "## Summary\n\n### The queue is drained\n\nYes.\n\n"
            "### The cache is gone\n\nYes.\n\n## Next steps\n\n- Wait.\n",
            "The queue is drained; The cache is gone; Wait",
        ),
        (
            "Reader",
            "## Update: the parser\n\nA.\n\n## Step 2: The lexer\n\nB.\n\n## Grammar (v3)\n\nC.\n",
            "the parser; The lexer; Grammar",
        ),
        (
            "2026-02-09",
            "## Breakfast with Ana\n\nShort.\n\n## The garden wall\n\n"
            + "It was built. " * 9
            + "\n\n## Notes\n\n## A letter to the council about the noise at night\n\n"
            + "It was sent. " * 9
            + "\n\n## A walk along the river with the dogs of the neighbours\n\nLong.\n\n"
            + "## The theatre\n\n"
            + "It was full. " * 9,
            "Breakfast with Ana; The garden wall; A letter to the council about the noise at night; The theatre",
        ),
        ("Audit", "**Date:** 2026-02-05\n**Purpose:** Find what leaks\n\n## Pipes\n\nOld.\n", "Find what leaks; Pipes"),
    ],
)
def test_a_line_covers_the_page(title: str, text: str, line: str) -> None:
    assert describe_page(title, parse_blocks(f"# {title}\n\n{text}")) == f"{title}: {line}"


@pytest.mark.parametrize(
    ("title", "text", "line"),
    [
        (
            "Attempt",
            "**Calls from the harbour (May):**\n- 21:37 one\n\n**The boat is back**\n"
            "- The engine is wet\n\n**Letters to the council:**\n\n| Day | To |\n|---|---|\n| one | Ana |\n",
            "Calls from the harbour; The boat is back; The engine is wet; Letters to the council",
        ),
        ("Scores", "- Speed: 62.8%\n- KU: 73.1%\n- The bottleneck is the search\n", "The bottleneck is the search"),
    ],
)
def test_a_line_tells_what_most_of_the_page_is(title: str, text: str, line: str) -> None:
    assert describe_page(title, parse_blocks(f"# {title}\n\n{text}")).startswith(f"{title}: {line}")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "- **Pronouns:** he/him\n- **Name:** Juan Carlos\n- Respect his weekends.\n",
            "Juan Carlos; Respect his weekends",
        ),
        (
            "## Fecha: 2026-02-09\n\n### Libros\n\nHay.\n\n### Leyes\n\nHay.\n\n### Casos\n\nHay.\n",
            "Libros; Leyes; Casos",
        ),
        ("**Autor:** Quipu\n**Data:** 2026-02-10\n\n## As bombas\n\nA.\n\n## Os canos\n\nB.\n", "As bombas; Os canos"),
        (
            "**Auteur :** Léa\n**Statut :** fini\n\n- **Langue :** français\n- **Outil :** une scie\n",
            "français; une scie",
        ),
    ],
)
def test_a_label_without_its_value_is_not_told(text: str, line: str) -> None:
    assert describe_page("Us", parse_blocks(f"# Us\n\n{text}")) == f"Us: {line}"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "- Governance rules use the regular expressions of the file, not those of the shell\n- Short one here too\n"
            "- The pump was repaired by the neighbour\n",
            "Governance rules use the regular expressions of the file; The pump was repaired by the neighbour",
        ),
        (
            '- He said: "the harbour is closed until the storm has passed and all of the boats are back in"\n',
            "He said – the harbour is closed until the storm has passed…",
        ),
        (
            '*"Knots hold what we know."*\n\n- No network calls. "The quipu was not a device" they say\n',
            "No network calls",
        ),
        (
            "- Ses projets sont décrits dans un cahier (celui que le voisin a trouvé dans la cave de la maison)\n",
            "Ses projets sont décrits dans un cahier",
        ),
        (
            "- 18:40 to 19:25: both lines to the hospital of St. Almut in the south of the town were down\n",
            "both lines to the hospital of St. Almut in the south of the town…",
        ),
    ],
)
def test_a_phrase_is_whole_and_what_it_opens_is_closed(text: str, line: str) -> None:
    assert describe_page("2026-02-03", parse_blocks(f"# 2026-02-03\n\n{text}")) == f"2026-02-03: {line}"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("*A draft.*\n\nA shelf keeps all letters of the office.\n\n", "A shelf keeps all letters of the office"),
        (
            "## Executive Summary\n\nThis research compares six boats. It took 100 days.\n\n",
            "This research compares six boats",
        ),
        ("## Resumen\n\nEl puerto cierra cuando hay tormenta. Más.\n\n", "El puerto cierra cuando hay tormenta"),
        ("## Résumé\n\nLe port ferme pendant la tempête. Suite.\n\n", "Le port ferme pendant la tempête"),
        ("## 概要\n\n港口在暴风雨时关闭。更多。\n\n", "港口在暴风雨时关闭"),
    ],
)
def test_a_line_leads_with_the_summary_of_a_long_document(text: str, line: str) -> None:
    sections = "".join(f"## {name}\n\n{'It is so. ' * 40}\n\n" for name in ("Alpha", "Beta", "Gamma", "Delta"))
    assert describe_page("Study", parse_blocks(f"# Study\n\n{text}{sections}")).startswith(f"Study: {line}; Alpha; ")


def test_the_first_matter_of_a_page_is_told_before_larger_ones_further_down() -> None:
    sections = "".join(
        f"## {name} of the port\n\n{'It is so. ' * size}\n\n" for size, name in enumerate(["Map", *"ABCDEFG"])
    )
    assert describe_page("Port", parse_blocks(f"# Port\n\n{sections}")).startswith("Port: Map of the port; ")


def test_what_recurs_in_a_log_is_told_last() -> None:
    lines = [
        f"2026-02-11T{hour:02}:15Z Heartbeat: checklist run, all is well as it was before." for hour in range(3, 20)
    ]
    lines[5] = '2026-02-11T08:15Z Ana asked: "Stop the reports".'
    lines[9] = "2026-02-11T12:15Z The mail bridge was moved to the new server."
    line = describe_page("2026-02-11", parse_blocks("# 2026-02-11\n\n" + "\n".join(lines) + "\n"))
    assert line == '2026-02-11: Ana asked "Stop the reports"; The mail bridge was moved to the new server'


@pytest.mark.parametrize(
    "heading",
    ["Key findings", "MAJOR LATE-SESSION DEVELOPMENT", "What was built", "Próximos pasos", "Update (22:00)", "下一步"],
)
def test_a_heading_of_any_note_is_known(heading: str) -> None:
    assert is_common_heading(heading)


@pytest.mark.parametrize("heading", ["Key of the cellar", "Redis", "Update: the new server", "数据库"])
def test_a_heading_that_says_something_is_known(heading: str) -> None:
    assert not is_common_heading(heading)


@pytest.mark.parametrize(
    "code",
    [
        "```yaml\npassphrase: correct horse battery staple\nowner: ada\nhosted_at: home\n```\n",
        "```sh\n# the password is staple42 for all of them\nlogin\n```\n",
    ],
)
def test_a_line_tells_no_likely_secret_of_code(code: str) -> None:
    assert "staple" not in describe_page("Login", parse_blocks(f"# Login\n\n{code}"))


@pytest.mark.parametrize("text", ["1. " * 30_000, "A. " * 30_000, "a" + " " * 90_000 + "b"], ids=["1.", "A.", "spaces"])
def test_a_line_for_a_page_of_marks_takes_a_time_that_grows_with_the_page(text: str) -> None:
    assert describe_page("Marks", parse_blocks(f"# Marks\n\nx {text}\n")).startswith("Marks")


def test_a_word_is_spelled_as_it_stands_alone_and_not_as_in_an_address() -> None:
    texts = [
        "Marit Solheim: marit.solheim@example.org, solheim-laptop, kis-db-01",
        "KIS is down, see kis-db-01.example",
    ]
    assert [surfaces_of(texts)[stem(word)] for word in ("solheim", "kis", "laptop")] == ["Solheim", "KIS", "laptop"]


def test_a_line_does_not_tell_values_which_change() -> None:
    text = (
        "# The team\n\n- Mirela is off on Fridays and writes the backend.\n- Pavel keeps the servers of all projects.\n"
    )
    assert describe_page("The team", parse_blocks(text)) == "The team: Pavel keeps the servers of all projects"


def test_a_line_keeps_a_time_within_a_sentence() -> None:
    text = "# 2026-06-12\n\n- 07:40 The flight to Valencia leaves at 09:15 from Schwechat.\n"
    line = describe_page("2026-06-12", parse_blocks(text))
    assert line == "2026-06-12: The flight to Valencia leaves at 09:15 from Schwechat"


def test_a_term_of_a_script_without_spaces_does_not_end_amid_a_word() -> None:
    texts = ["2026-02-08 意识火花记录", "高频意识火花闪烁", "意识火花 17:44", "今天写了一个测试", "明天再看数据库"]
    assert Terms(texts).telling([0, 1, 2], 1) == ["意识火花"]


def test_a_line_of_such_terms_is_known_as_the_line_of_its_page() -> None:
    told = ("数据库每天备份一次", "今天数据库很慢", "部署脚本放在仓库里", "运行部署脚本之前先备份", "值班名单贴在门上")
    blocks = parse_blocks("".join(f"- {line}\n" for line in told))
    assert "部署脚本" in (line := subjects("项目", blocks)).split("; ")
    assert is_of_subjects(line, blocks)
