"""Items are told to be contacts, decisions, lessons and so on, with how sure that is, and to the letter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from memory_v2.errors import UsageError
from memory_v2.notes.extract import EVERYTHING, Extracted, Wanted, extracted
from memory_v2.notes.note import Note
from memory_v2.notes.parsing import read_note
from memory_v2.notes.people import NO_ALIASES, Aliases, handles, heading_name, linked, read_aliases
from tests.notes.folder import hashes, notes_of, reopened, settled

DAY = "memory/2026-02-09.md"


def found(text: str, name: str = DAY, aliases: Aliases = NO_ALIASES) -> list[Extracted]:
    note = read_note(name, text.encode())
    assert isinstance(note, Note)
    return list(extracted(note, aliases))


def told(text: str, name: str = DAY) -> set[tuple[str, str]]:
    return {(one.category, one.grade) for one in found(text, name)}


MARKER, HEADING, KEYWORD = "marker", "heading", "keyword"
MARKED = {
    "Decision: NOT joining the market": "decisions",
    "**Key lesson**: the field is `content` NOT `body`": "lessons",
    "LESSON: never water at noon": "lessons",
    "**Problema:** a bomba parou": "issues",
    "Connection issue: the pump drops": "issues",
    "**Décision** : pas de tourbe": "decisions",
    "Entscheidung: kein Torf": "decisions",
    "**Lección**: no regar a mediodía": "lessons",
    "**问题**：水泵停了": "issues",
    "TO RESUME: try the other valve": "pending",
    "2026-02-12T03:04Z Nova diretriz: tudo no quadro": "decisions",
    "Contact: Ada keeps the books": "contacts",
    "[[people/ada|Ada]] keeps the books": "contacts",
    "[ ] buy a filter": "pending",
    "⚠️ **Old filter** - may burst": "issues",
    "Followers rose to 35 (from 26)": "metrics",
    "Current stats: 10 posts, 3 members": "metrics",
    # words that state it outright are as sure as a label
    "The pump failed again": "issues",
    "la bomba no funciona desde ayer": "issues",
    "le serveur ne répond plus": "issues",
    "o site não carrega": "issues",
    "die Pumpe startet nicht": "issues",
    "网站打不开": "issues",
    "We decided to wait": "decisions",
    "Never water at noon": "decisions",
    "The filter is not yet here": "pending",
    "Awaiting the council's word on the beds": "pending",
}


@pytest.mark.parametrize("line", MARKED)
def test_a_label_on_the_line_or_a_statement_is_a_marker(line: str) -> None:
    assert (MARKED[line], MARKER) in told(f"- {line}\n")


HEADED = {
    "## Lessons learned\n\n- water in the evening": "lessons",
    "## Key Contacts on the market\n\n- **Ada** — keeps the books": "contacts",
    "## Stats (end of day)\n\n- bed space: 40%": "metrics",
    "### Próximos passos\n\n- cavar o canteiro": "pending",
    "## 待办\n\n- 修理水泵": "pending",
    "## Decisions taken\n\n- no peat": "decisions",
    "## Risques\n\n- la pompe est vieille": "issues",
    "## Offene Punkte\n\n- Beet umgraben": "pending",
    "Known issues:\n\n- the pump leaks": "issues",
    "**Problema identificado:**\n\n- la bomba": "issues",
    "## PROBLEMA CRÍTICO: sin agua\n\n- la bomba": "issues",
    "**Symptoms:**\n\n- no water": "issues",
    # a title counts for its subsections, a weaker heading only below itself
    "# Lessons learned\n\n## Water\n\n- in the evening": "lessons",
    # a plan and a list of faults say what the lines of their parts are
    "# Garden\n\n## Roadmap\n\n### Phase 1\n\n1. a second pump": "pending",
    "# Garden\n\n## Ordre d'implémentation\n\n### Phase 1\n\n1. a second pump": "pending",
    "# Garden\n\n## Hoja de ruta\n\n### Phase 1\n\n1. a second pump": "pending",
    "# Garden\n\n## Melhorias futuras\n\n### Phase 1\n\n1. a second pump": "pending",
    "# Garden\n\n## Offene Fragen\n\n### Phase 1\n\n1. a second pump": "pending",
    "# Garden\n\n## 路线图\n\n### Phase 1\n\n1. a second pump": "pending",
    "# Garden\n\n## Limitations\n\n### Phase 1\n\n1. a second pump": "issues",
    "# Garden\n\n## Points faibles\n\n### Phase 1\n\n1. a second pump": "issues",
    # below a heading of measurements a number with its unit is a metric
    "## Response times\n\n- the door: ~500-800ms\n- the gate (2 seconds)\n- the bell": "metrics",
    # the head of a table counts by its first cell
    "| Decision | Risks |\n|---|---|\n| no peat | cheap |": "decisions",
}


@pytest.mark.parametrize("text", HEADED)
def test_a_heading_or_an_introducing_line_is_less_sure(text: str) -> None:
    assert told(f"{text}\n", "MEMORY.md" if "# Garden" not in text else "plan.md") == {(HEADED[text], HEADING)}


@pytest.mark.parametrize(
    ("text", "verdicts"),
    [
        ("- The pump is built for an error of one percent", {("issues", KEYWORD)}),
        ("- A decision of the council was quoted", {("decisions", KEYWORD)}),
        ("- **Gull-Agent** — commented on the post about leeks", {("contacts", KEYWORD)}),
        # a marker goes before the heading of another category; a task that has a problem is still one
        ("## Pending\n\n- LESSON: never water at noon", {("lessons", MARKER)}),
        ("## Next steps\n\n- **Bug**: the pump drips", {("issues", MARKER), ("pending", HEADING)}),
        # a sign in a cell says what its row is, unless the row compares
        ("| Part | State | Note |\n|---|---|---|\n| pump | ❌ | old |", {("issues", MARKER)}),
        ("| Part | State | Note |\n|---|---|---|\n| filter | ⏳ ordered | new |", {("pending", MARKER)}),
        ("- Ada's address: ada@example.org", {("contacts", MARKER)}),
    ],
)
def test_a_line_is_what_its_surest_sign_says(text: str, verdicts: set[tuple[str, str]]) -> None:
    assert told(f"{text}\n") == verdicts


@pytest.mark.parametrize(
    "text",
    [
        "# Plans\n\n## Water\n\n- in the evening",
        "| Bed | Decision |\n|---|---|\n| no peat | cheap |",
        "| Part | State | Note |\n|---|---|---|\n| hose | ❌ | ✅ |",
        "- the gate (2 seconds)",
        "- The pump writes to ada@example.org",
        # a heading that names errors as its subject, and one that tells a discovery
        "## Structured errors\n\n- a record with a type",
        "## Discovery: no peat\n\n- it is from the moor",
        "**In case of failure:**\n\n- call Ada",
        # a long line is about many things
        f"- {'much was said, ' * 200} and it failed",
        # code, quotations, what tools print, and forms
        "```\nDECISION: an example\n```",
        "> Decision: somebody else's",
        "- Use `Decision: x` as the format",
        '- She wrote "we decided to wait until the rain comes"',
        "- assistant: Decision: let me continue",
        '- {"decision": "x", "error": "y"}',
        "- [ ] <what to do>",
        "- [ ] {{task}}",
        "- **Decision:** {{decision}}",
        "- Decision: ",
        "- **Key lessons:**",
        "## Plan\n\n- **Date**: 2026-02-07",
        "## Directives\n\n- **Ação executada:** a bomba parada",
        "<!-- Decision: hidden -->",
        "- see https://example.org/decision-failed",
    ],
)
def test_what_names_a_matter_or_quotes_it_says_nothing(text: str) -> None:
    assert told(f"{text}\n") == set()


@pytest.mark.parametrize(
    "line",
    [
        "If the pump failed, call Ada",
        "如果网站打不开，重启",
        "Wenn die Pumpe nicht startet und kaputt ist",
        "Issue tracker: the wall",
        "故障转移: 自动切换",
        "Error handling: by hand",
    ],
)
def test_what_may_only_happen_and_a_label_about_something_else_is_no_marker(line: str) -> None:
    assert MARKER not in {grade for _, grade in told(f"- {line}\n")}


def test_what_a_document_of_no_day_rules_is_its_subject_and_what_it_says_is_open_or_wrong_is_not() -> None:
    rules = "## Rules\n\n- water at dusk\n"
    assert told(rules, "design.md") == set()
    assert told(rules, "MEMORY.md") == {("decisions", "heading")}
    assert told("## Known issues\n\n- search is slow\n", "design.md") == {("issues", "heading")}
    assert told("# Guide\n\n- water in the evening\n", "lessons.md") == {("lessons", "heading")}


def test_the_numbered_parts_of_a_plan_are_pending_unless_they_tell_what_happened() -> None:
    text = "## Phase 2: {}\n\n- a second pump\n"
    assert told(text.format("Water"), "garden.md") == {("pending", "heading")}
    assert told("---\ndate: 2026-02-09\n---\n\n" + text.format("Water"), "garden.md") == {("pending", "heading")}
    assert told(text.format("Water"), DAY) == set()
    assert found(text.format("Water ✅"), "garden.md")[0].is_closed
    assert told("## Phase\n\n- of the moon\n", "garden.md") == set()


def test_what_is_ticked_in_a_plan_is_over() -> None:
    text = "## Roadmap\n\n### ✅ Phase 1\n\n- dig\n\n### Phase 2\n\n- sow\n"
    assert [(one.text, one.is_closed) for one in found(text)] == [("dig", True), ("sow", False)]


def test_a_paragraph_with_a_label_of_its_own_is_no_lesson_because_of_the_title_of_its_page() -> None:
    text = "# Lessons learned\n\n## Pump\n\n**Files:** pump.cfg\n\nOil it in spring.\n"
    assert [one.text for one in found(text)] == ["Oil it in spring."]
    assert len(found(text, "memory/lessons.md")) == 2, "a whole file of lessons"


def test_files_of_templates_say_nothing() -> None:
    assert told("- Decision: fill in\n", "templates/decision.md") == set()
    assert told("- Decision: fill in\n", "weekly-template.md") == set()


def test_a_line_is_quoted_to_the_letter_with_its_no_and_not() -> None:
    (one,) = found("- **Decision**:  we do NOT use peat —  never, `ok`?\n")
    assert one.text == "**Decision**:  we do NOT use peat —  never, `ok`?"


@pytest.mark.parametrize(
    ("line", "is_closed"),
    [
        ("[x] buy a filter", True),
        ("[ ] buy a filter", False),
        ("[ ] ~~buy a filter~~ ✅ DONE", True),
        ("TODO: ~~buy a filter~~", False),
        ("~~TODO: buy a filter~~", True),
        ("TODO: buy a filter ✅", True),
        ("TODO: buy a filter (done)", True),
        ("TODO: buy a filter — not done", False),
        ("Problema: filtro velho. Resolvido", True),
        ("问题：水泵停了（已修复）", True),
        ("问题：水泵停了（未修复）", False),
    ],
)
def test_what_is_done_is_closed(line: str, is_closed: bool) -> None:
    (one,) = [one for one in found(f"- {line}\n") if one.category in ("pending", "issues")][:1]
    assert one.is_closed == is_closed


def test_what_is_closed_is_left_out_unless_asked_for(tmp_path: Path) -> None:
    notes = notes_of(tmp_path, {DAY: "- [ ] buy\n- [x] dig\n"})
    assert [one.text for one in notes.extract()] == ["buy"]
    assert [one.text for one in notes.extract(Wanted(closed=True))] == ["buy", "dig"]


def test_people_are_found_by_links_handles_and_bold_heads() -> None:
    assert handles("ask @ada-l and @bob, not c@d.org or @scope/name or `@code`") == ["@ada-l", "@bob"]
    assert linked("[[people/ada]] met [[people/bob|Bob B]] at [[places/fair]]") == ["ada", "Bob B"]
    assert heading_name("**Ada Lovelace** — keeps the books") == "Ada Lovelace"
    assert heading_name("**Problem**: it leaks") == ""
    (one,) = [one for one in found("## Contacts\n\n- **xiao_dev** — asks about health\n") if one.category == "contacts"]
    assert one.people == ("xiao_dev",)


def test_an_alias_file_says_who_is_who(tmp_path: Path) -> None:
    file = tmp_path / "people.txt"
    file.write_text("# who is who\nAda Lovelace = Ada, @ada\nBob\n")
    aliases = read_aliases(file)
    assert aliases.named("Ada met BOB and Adam") == ["Ada Lovelace", "Bob"]
    (one,) = found("## Contacts\n\n- @ada keeps the books\n", aliases=aliases)
    assert (one.people, one.grade) == (("Ada Lovelace",), "heading")
    (one,) = found("- Rain; bob came late\n", aliases=aliases)
    assert (one.people, one.category, one.grade) == (("Bob",), "contacts", "keyword")
    file.write_text("Ada =\n")
    with pytest.raises(UsageError):
        read_aliases(file)


def test_what_several_notes_say_is_told_once_with_its_places(tmp_path: Path) -> None:
    line = "- **Lesson**: posts must have arguments with data, citations, context and some practical use\n"
    notes = notes_of(tmp_path, {"MEMORY.md": line, DAY: line, "memory/2026-02-10.md": line.replace("some", "real")})
    (one,) = notes.extract()
    assert (one.place, one.also) == ("memory/2026-02-10.md:1", ("memory/2026-02-09.md:1", "MEMORY.md:1"))


def test_what_is_wanted_can_be_narrowed(tmp_path: Path) -> None:
    text = "- Decision: no peat\n- **Lesson**: dig\n- the pump failed\n"
    notes = notes_of(
        tmp_path, {DAY: text, "memory/2026-02-12.md": "- Decision: peat\n", "notes.md": "- Decision: hm\n"}
    )
    assert [one.text for one in notes.extract(Wanted(since=date(2026, 2, 10)))] == ["Decision: peat"]
    assert [one.text for one in notes.extract(Wanted(categories=("lessons",)))] == ["**Lesson**: dig"]
    decisions = notes.extract(Wanted(categories=("decisions",)))
    assert [one.text for one in decisions] == ["Decision: peat", "Decision: no peat", "Decision: hm"]
    assert [one.category for one in notes.extract(Wanted(min_grade="keyword"))][-1] == "issues"


def test_extracting_again_gives_the_same_ids_and_changes_nothing(tmp_path: Path) -> None:
    notes = notes_of(tmp_path, {DAY: "- Decision: no peat\n- Decision: no peat\n- [ ] dig\n"})
    before = hashes(notes.folder)
    first = [one.id for one in notes.extract()]
    assert first == [one.id for one in notes.extract()]
    assert len(set(first)) == len(first)
    assert hashes(notes.folder) == before


def test_what_the_program_writes_into_pages_of_a_memory_is_not_extracted(tmp_path: Path) -> None:
    page = (
        "# Lessons learned\n\n- Water in the evening\n\n## Links\n\n- [[lessons/pumps]] - Pumps: what went wrong\n\n"
        "## Metadata\n\nlast_updated: 2026-02-17T10:00:00Z\nsize_bytes: 45\n"
    )
    with notes_of(
        tmp_path, {"lessons.md": page, "lessons-of-links.md": "# Lessons\n\n## Links\n\n- Links rot: keep a copy\n"}
    ) as notes:
        assert {one.text for one in notes.extract()} == {"Water in the evening", "Links rot: keep a copy"}


KEPT = {
    "MEMORY.md": "# Garden\n\n## Contacts\n\n- **Ada** - sells seeds\n",
    "memory/2026-02-17.md": "- Decision: NOT using peat\n- [x] dig bed 3\n- Members rose to 6 (from 4)\n",
    "memory/2026-02-18.md": "- ~35+ karma, **Problem**: the pump leaks\n",
}


def test_only_notes_that_have_changed_are_extracted_again_and_the_others_give_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = notes_of(tmp_path, KEPT).extract(EVERYTHING)
    assert {one.category for one in fresh} == {"contacts", "decisions", "metrics", "pending", "issues"}
    asked = list[str]()

    def extracting(note: Note) -> Iterator[Extracted]:
        asked.append(note.name)
        return extracted(note)

    monkeypatch.setattr("memory_v2.notes.extract.extracted", extracting)
    folder = tmp_path / "notes"
    assert reopened(folder).extract(EVERYTHING) == fresh
    (folder / "MEMORY.md").write_text("# Garden\n")
    (folder / "memory/2026-02-18.md").unlink()
    assert {one.file for one in reopened(settled(folder)).extract(EVERYTHING)} == {"memory/2026-02-17.md"}
    assert asked == ["MEMORY.md"]


def test_days_and_aliases_count_of_what_is_kept_too(tmp_path: Path) -> None:
    notes = notes_of(tmp_path, KEPT)
    people = tmp_path / "people"
    people.write_text("Ada Lovelace = Ada\n")
    contacts = replace(EVERYTHING, categories=("contacts",))
    assert [one.people for one in notes.extract(contacts)] == [("Ada",)]
    assert [one.people for one in notes.extract(contacts, people)] == [("Ada Lovelace",)]
    day = date(2026, 2, 18)
    assert {one.day for one in notes.extract(replace(EVERYTHING, since=day, until=day))} == {day}
