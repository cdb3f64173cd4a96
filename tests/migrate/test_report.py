"""The report: totals that add up, what a person should look at, and no secrets."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from memory_v2.files.left_out import LeftOut
from memory_v2.migrate.ledger import STATUSES
from memory_v2.migrate.report import MOST, Report, make_report, report_markdown, write_reports
from memory_v2.migrate.source import Scan, SourceDocument
from memory_v2.migrate.verify import Verification, verify
from memory_v2.plan import SKIP, Plan, Step
from memory_v2.serialize import document as as_document
from memory_v2.text.words import shorten
from tests.migrate.brought import brought, document, scan_of
from tests.operations.scenes import offline

SECRET = "hunter2!abc"
LONG = "Leeks are planted in March with a spade from the shed, ten in a row, and watered each evening until June."


def reported(scan: Scan, *steps: Step, found: Verification | None = None) -> Report:
    """The report on a run that came as far as these steps."""
    known = {step.name: step for step in steps}
    reached = tuple(known.get(one.name) or Step("create", one.name) for one in scan.documents)
    facts = {"source": "/home/ada/notes", "read_as": scan.format, "left_out": scan.left_out}
    return make_report(scan, Plan("import", steps=reached, facts=facts), date(2026, 4, 1), found)


def created(name: str) -> Step:
    return Step("create", name, name.removesuffix(".md"), applied=True)


def a_scan() -> Scan:
    silica = document("silica.md", f"# Silica\n\n- Port: 8080\n\nThe password is {SECRET}\n\n{LONG}\n")
    log = document("2026-03-01.md", f"# 2026-03-01\n\n## Silica\n\n- Port: 8443\n\n{LONG}\n")
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
        ("duplicate", "silica.md", 7, f"also in 2026-03-01.md:7: {shorten(LONG, 60)}"),
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
