"""Verification finds each block, or says why it is not there; the report says it to a person."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from memory_v2.files.listing import LeftOut
from memory_v2.memory import Memory
from memory_v2.migrate.ledger import STATUSES
from memory_v2.migrate.report import MOST, Report, make_report, report_markdown, write_reports
from memory_v2.migrate.scan import Scan, SourceDocument
from memory_v2.migrate.verify import BlockOutcome, Verification, verify
from memory_v2.plan import SKIP, Plan, Step
from memory_v2.serialize import document as as_document
from memory_v2.storage.history import Revision
from memory_v2.text.words import shorten
from tests.migrate.brought import brought, brought_one, document, last_operation, scan_of
from tests.operations.scenes import SMALL, call, calls, offline, scripted

GARDEN = "# Garden\n\nLeeks are planted in March.\n\n## Tools\n\n- a spade\n- a rake\n\n---\n\nThe end.\n"
LONG = "# Log\n\n" + "".join(f"## Day {n}\n\nOn day {n} the {n}th leek was planted.\n\n" for n in range(200))


def verified(memory: Memory, scan: Scan) -> Verification:
    return verify(memory, scan, brought(memory, scan))


def skipping(name: str, reason: str) -> Plan:
    """A plan that skips a document."""
    return Plan("import", steps=(Step(SKIP, name, reason=reason),))


def test_each_block_of_a_document_is_found_with_its_lines_and_its_page() -> None:
    memory, scan = offline(), scan_of(document("notes/garden.md", GARDEN))
    found = verified(memory, scan)
    assert found.passages == tuple(
        BlockOutcome("notes/garden.md", (line, line), "there", "notes/garden") for line in (1, 3, 5, 7, 8, 12)
    )
    assert (found.is_complete, found.blocks, found.documents) == (True, 6, 1)


@pytest.mark.parametrize(
    ("text", "pages"), [(LONG, 4), (LONG.replace("\n", "\r\n"), 4), ("# One\n\n" + 30_000 * "A long line. ", 1)]
)
def test_a_document_that_was_divided_is_found_on_all_its_pages(text: str, pages: int) -> None:
    memory, scan = offline(SMALL), scan_of(document("log.md", text))
    found = verified(memory, scan)
    assert found.is_complete
    assert found.count("there") == found.blocks
    assert len({passage.page for passage in found.passages}) >= pages


def test_a_heading_that_became_a_title_or_was_repeated_is_there() -> None:
    memory, scan = offline(), scan_of(document("garden.md", "# Garden\n\n## Tools\n\n- a spade\n"))
    imported = brought(memory, scan)
    memory.create("tools", "# Tools\n\n- a spade\n")
    memory.write("# Garden\n\nNothing.", path="garden", mode="replace")
    assert verify(memory, scan, imported).is_complete


def test_a_text_of_two_documents_must_stand_twice() -> None:
    memory = offline()
    scan = scan_of(document("a.md", "# A\n\nThe same words."), document("b.md", "# B\n\nThe same words."))
    imported = brought(memory, scan)
    assert verify(memory, scan, imported).is_complete
    memory.storage.write("b", b"# B\n")
    found = verify(memory, scan, imported)
    assert [(one.name, one.state) for one in found.passages if one.state != "there"] == [("b.md", "changed")]


def test_a_text_that_stands_twice_in_a_document_must_stand_twice() -> None:
    memory = offline()
    imported = brought(memory, scan_of(document("a.md", "# A\n\nOne.\n\nOne.\n")))
    found = verify(memory, scan_of(document("a.md", "# A\n\nOne.\n\nOne.\n\nOne.\n")), imported)
    assert [(one.state, one.lines) for one in found.passages] == [
        ("there", (1, 1)),
        ("there", (3, 3)),
        ("there", (5, 5)),
        ("missing", (7, 7)),
    ]


def test_what_was_changed_since_is_told_with_the_operation() -> None:
    memory, scan = offline(), scan_of(document("garden.md", GARDEN))
    imported = brought(memory, scan)
    memory.replace_text("garden", "in March", "in April")
    found = verify(memory, scan, imported)
    (changed,) = (one for one in found.passages if one.state == "changed")
    assert found.is_complete
    assert changed.lines == (3, 3)
    assert changed.operation == memory.history()[0].id
    assert "Leeks are planted in March" in changed.opening


def test_an_edit_by_hand_is_an_operation_too() -> None:
    memory, scan = offline(), scan_of(document("garden.md", GARDEN))
    imported = brought(memory, scan)
    memory.storage.write("garden", b"# Garden\n\nEmpty now.\n")
    found = verify(memory, scan, imported)
    assert found.is_complete
    assert {one.operation for one in found.passages if one.state == "changed"} == {memory.history()[0].first.id[:12]}
    assert memory.history()[0].first.kind == "outside"


def test_each_change_accounts_for_as_many_blocks_as_it_took() -> None:
    memory = offline()
    scan = scan_of(document("a.md", "# A\n\nThe same words."), document("b.md", "# B\n\nThe same words."))
    imported = brought(memory, scan)
    memory.delete("b")
    three = scan_of(*scan.documents, document("c.md", "# B\n\nThe same words."))
    found = verify(memory, three, {**imported, "c.md": replace(imported["b.md"])})
    assert [one.state for one in found.passages if one.state != "there"] == ["changed"] * 2 + ["missing"] * 2


def test_a_split_is_no_reason_for_a_block_to_be_gone() -> None:
    memory, scan = offline(), scan_of(document("garden.md", GARDEN))
    imported = brought(memory, scan)
    history = memory.storage.history
    lossy = b"# Garden\n\nLeeks are planted in March.\n"
    memory.storage.write("garden", lossy)
    history.record({"garden": lossy}, Revision("split", "a split that loses text", "0123456789"))
    found = verify(memory, scan, imported)
    assert not found.is_complete
    assert found.count("missing") == 4


def test_a_document_that_was_not_brought_in_is_missing_unless_there_is_a_reason() -> None:
    memory = offline()
    scan = scan_of(
        document("a.md", GARDEN), document("b.md", GARDEN), left_out=[LeftOut("c.json", "no reader for JSON")]
    )
    imported = {"a.md": brought_one(memory, scan.documents[0])}
    assert verify(memory, scan, imported).count("missing") == 6
    found = verify(memory, scan, imported, skipping("b.md", "a.md has the same text"))
    assert found.is_complete
    assert found.passages[-1] == BlockOutcome("b.md", (12, 12), "there", "a", reason="a.md has the same text")
    assert found.left_out == (LeftOut("c.json", "no reader for JSON"),)
    other = scan_of(scan.documents[0], document("b.md", "# Beans\n\nThey climb.\n\nThe end.\n"))
    found = verify(memory, other, imported, skipping("b.md", "nobody wanted it"))
    assert found.is_complete
    assert (found.count("there"), found.count("left out"), found.blocks) == (7, 2, 9)


def test_a_source_that_has_changed_since_is_missing_until_it_is_imported_again() -> None:
    memory = offline()
    imported = brought(memory, scan_of(document("a.md", GARDEN)))
    changed = scan_of(document("a.md", GARDEN + "\nA new line.\n"))
    found = verify(memory, changed, imported)
    assert [one.reason for one in found.passages if one.state == "missing"] == [
        "it has changed in the source since it was imported"
    ]
    assert verify(memory, changed, imported, skipping("a.md", "changed on both sides")).is_complete


def test_what_was_forgotten_is_told_as_forgotten() -> None:
    memory = offline()
    scan = scan_of(document("a.md", "# A\n\nThe key is hunter22.\n"), document("b.md", "# B\n\nAll of this goes.\n"))
    imported = brought(memory, scan)
    memory.forget("hunter22", apply=True)
    memory.forget(path="b", apply=True)
    found = verify(memory, scan, imported)
    assert found.is_complete
    assert {(one.reason, one.opening) for one in found.passages if one.state == "changed"} == {("forgotten", "")}


def test_what_a_model_told_in_other_words_is_in_the_history() -> None:
    text = "The leeks of the garden are planted in the month of March 2026."
    memory = offline()
    memory.write("# Garden\n\nBeans.", path="garden", mode="replace")
    told, _ = scripted(
        memory, calls(call("insert_words", page="garden", after=2, text="Leeks: planted in March 2026.", covers="n1"))
    )
    told.write(text, path="garden")
    imported = {"a.md": replace(brought_one(offline(), document("a.md", text)), page="garden")}
    imported["a.md"] = replace(imported["a.md"], operation=last_operation(memory))
    found = verify(memory, scan_of(document("a.md", text)), imported)
    assert found.is_complete


def test_a_fence_that_was_closed_is_there() -> None:
    memory, scan = offline(), scan_of(document("a.md", "# A\n\n```\nx = 1\n"))
    imported = brought(memory, scan)
    memory.write("More.", path="a", mode="append")
    found = verify(memory, scan, imported)
    assert found.passages == (BlockOutcome("a.md", (1, 1), "there", "a"), BlockOutcome("a.md", (3, 4), "there", "a"))


def test_code_that_belongs_to_an_item_where_it_came_to_stand_is_there() -> None:
    memory = offline()
    scan = scan_of(document("a.md", "    indented = True\n"))
    imported = brought(memory, scan)
    memory.storage.write("a", b"# A\n\n- an item\n\n    indented = True\n")
    found = verify(memory, scan, imported)
    assert [(one.state, one.page) for one in found.passages] == [("there", "a")]


SECRET = "hunter2!abc"
LEEKS = "Leeks are planted in March with a spade from the shed, ten in a row, and watered each evening until June."


def reported(scan: Scan, *steps: Step, found: Verification | None = None) -> Report:
    """The report on a run that came as far as these steps."""
    known = {step.name: step for step in steps}
    reached = tuple(known.get(one.name) or Step("create", one.name) for one in scan.documents)
    facts = {"source": "/home/ada/notes", "read_as": scan.format, "left_out": scan.left_out}
    return make_report(scan, Plan("import", steps=reached, facts=facts), date(2026, 4, 1), found)


def created(name: str) -> Step:
    return Step("create", name, name.removesuffix(".md"), applied=True)


SAID_TWICE = "Leeks are planted in March with a spade from the shed, ten in a row, and watered each evening until June."


def a_scan() -> Scan:
    silica = document("silica.md", f"# Silica\n\n- Port: 8080\n\nThe password is {SECRET}\n\n{SAID_TWICE}\n")
    log = document("2026-03-01.md", f"# 2026-03-01\n\n## Silica\n\n- Port: 8443\n\n{SAID_TWICE}\n")
    copy = document("copy.md", "# Beans\n\nBeans climb.\n")
    again = replace(copy, name="again.md", place="again", dead=("@gone",), notes=(f"look at password: {SECRET}",))
    return scan_of(
        silica,
        log,
        copy,
        again,
        left_out=[LeftOut("a.json", f"it says: the password is {SECRET}"), LeftOut(".x", "", True)],
    )


def test_the_totals_add_up() -> None:
    scan = a_scan()
    steps = [created(one.name) for one in scan.documents[:2]]
    steps.append(Step(SKIP, "copy.md", reason="it stands on beans already"))
    totals = reported(scan, *steps).totals
    assert totals["documents"] == 4 == sum(totals[status] for status in STATUSES)
    assert (totals["created"], totals["skipped"], totals["failed"]) == (2, 1, 1)
    assert totals["files"] == totals["documents"] + totals["left_out"] == 6


def test_the_blocks_add_up_too() -> None:
    memory, scan = offline(), a_scan()
    found = verify(memory, scan, brought(memory, scan))
    totals = reported(scan, found=found).totals
    assert totals["blocks"] == sum(totals[f"blocks_{state}"] for state in ("there", "changed", "left_out", "missing"))
    assert totals["blocks"] == totals["blocks_there"] == 12


def test_what_a_person_should_look_at_is_found() -> None:
    told = [(one.kind, one.path, one.line, one.message) for one in reported(a_scan()).plan.warnings]
    assert told == [
        ("secret", "silica.md", 5, "this looks like a password or token: hu…"),
        ("contradiction", "silica.md", 3, "Port of Silica is 8080 here, and 8443 in 2026-03-01.md:5"),
        ("duplicate", "silica.md", 7, f"also in 2026-03-01.md:7: {shorten(SAID_TWICE, 60)}"),
        ("dead-reference", "again.md", 0, "@gone"),
        ("remark", "again.md", 0, "look at password: hu…"),
    ]


@pytest.mark.parametrize("name", ["report.md", "report.json"])
def test_no_secret_is_in_a_report(name: str, tmp_path: Path) -> None:
    memory, scan = offline(), a_scan()
    imported = brought(memory, scan)
    memory.storage.write("silica", b"# Silica\n")
    found = verify(memory, scan, imported)
    assert found.count("changed")
    write_reports([reported(scan, found=found)], tmp_path / name)
    text = (tmp_path / name).read_text("utf-8")
    assert SECRET not in text
    assert SECRET[4:] not in text


def test_the_json_has_all_and_the_markdown_the_first(tmp_path: Path) -> None:
    documents = [document(f"{n}.md", f"# Page {n}\n\n{n}\n") for n in range(40)]
    report = reported(scan_of(*documents), *(created(one.name) for one in documents))
    write_reports([report], tmp_path / "report.json")
    assert len(json.loads((tmp_path / "report.json").read_text("utf-8"))["reports"][0]["plan"]["steps"]) == 40
    shown = report_markdown(report)
    assert shown.count("(created)") == MOST
    assert "and 30 more (--json has all)" in shown
    assert as_document(report)["totals"]["created"] == 40


def test_what_has_gone_wrong_stands_first() -> None:
    shown = report_markdown(reported(a_scan(), created("silica.md")))
    headings = [line for line in shown.splitlines() if line.startswith("## ")]
    assert headings[0].startswith("## Failed (3)")
    assert headings[1].startswith("## Likely secrets")
    assert headings[-1].startswith("## What went where")


def test_names_that_are_not_text_can_be_told(tmp_path: Path) -> None:
    report = reported(scan_of(SourceDocument("a`b\n.md", "One.", "a")))
    for name in ("report.md", "report.json"):
        write_reports([report], tmp_path / name)
        assert (tmp_path / name).read_bytes().decode("utf-8")
