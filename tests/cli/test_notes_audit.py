"""`silica notes audit`: what deserves a look, in the form that somebody needs."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import jsonschema
import pytest

from memory_v2.notes.audit.findings import CODES
from memory_v2.notes.audit.report import audit_sarif
from tests.migrate.folder import write_files
from tests.notes.folder import hashes, notes_of, settled
from tests.notes.sarif import SARIF

from .program import Program
from .test_notes import run

SECRET = "ghp_" + "a1B2c3D4e5" * 4
FILES = {
    "MEMORY.md": "# Garden\n\n- As of 2026-01-01: 3 beds are dug\n- See [pumps](pumps.md) and [*old*](<x y.md>)\n",
    "memory/2026-01-10.md": f"- [ ] paint \x1b[31mthe\x1b[0m fence\n- the token is {SECRET}\n",
    "empty.md": "",
}
NOW = "2026-02-18T12:00:00Z"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return settled(write_files(tmp_path / "notes", FILES))


def test_findings_are_told_by_code_the_gravest_first(program: Program, folder: Path) -> None:
    before = hashes(folder)
    ended = run(program, "audit", str(folder), now=NOW)
    heads = [line.split(":")[0] for line in ended.text.splitlines() if not line.startswith(" ")]
    assert heads == [
        "error secret (1)",
        "warning stale (1)",
        "warning broken-link (2)",
        "notice unfinished (1)",
        "5 findings in 2 notes",
    ]
    assert ended.code == 0
    assert SECRET.encode() not in ended.out and b"\x1b" not in ended.out
    assert hashes(folder) == before


def test_json_has_code_place_advice_and_fingerprint(program: Program, folder: Path) -> None:
    told = run(program, "audit", str(folder), "--json", now=NOW).json
    assert told["counts"] == {"secret": 1, "stale": 1, "broken-link": 2, "unfinished": 1}
    secret = told["findings"][0]
    assert (secret["code"], secret["severity"], secret["path"], secret["line"]) == (
        "secret",
        "error",
        "memory/2026-01-10.md",
        2,
    )
    assert secret["advice"] == CODES["secret"].advice and len(secret["fingerprint"]) == 16
    assert told == run(program, "audit", str(folder), "--json", now=NOW).json


def test_sarif_is_as_its_standard_has_it(program: Program, folder: Path) -> None:
    write_files(folder, {"ünder {0}/📌 a:b.md": "- See [a {0} plan](gone.md)\n"})
    told = run(program, "audit", str(folder), "--format", "sarif", now=NOW).json
    jsonschema.Draft202012Validator(SARIF).validate(told)
    (made,) = told["runs"]
    rules = made["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(CODES)
    assert len(made["results"]) == 6
    for result in made["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        where = result["locations"][0]["physicalLocation"]
        lines = (folder / unquote(where["artifactLocation"]["uri"])).read_bytes().splitlines()
        assert where["region"]["startLine"] <= len(lines)


def test_braces_in_a_note_stand_for_no_argument_in_sarif(tmp_path: Path) -> None:
    with notes_of(tmp_path, {"2026-02-01.md": "- [ ] ask {0} for the plan\n"}) as notes:
        (result,) = audit_sarif(notes.audit(), "0.1.0")["runs"][0]["results"]
    assert "ask {{0}} for the plan. Do it" in result["message"]["text"]


def test_a_report_in_the_folder_is_never_read_as_a_note(program: Program, folder: Path) -> None:
    report = run(program, "audit", str(folder), "--format", "markdown", now=NOW).text
    assert "# Memory audit report — 2026-02-18" in report and "## 🔴 Secret (1 item)" in report
    (folder / "audit-report.md").write_text(report)
    assert run(program, "audit", str(folder), "--format", "markdown", now=NOW).text == report


def test_a_baseline_leaves_out_what_it_knows(program: Program, folder: Path, tmp_path: Path) -> None:
    file = str(tmp_path / "known.json")
    assert len(run(program, "audit", str(folder), "--write-baseline", file, "--json", now=NOW).json["findings"]) == 5
    (folder / "new.md").write_text("# New\n\n- [nowhere](nowhere.md)\n")
    told = run(program, "audit", str(folder), "--baseline", file, "--json", now=NOW).json
    assert ([one["path"] for one in told["findings"]], told["known"]) == (["new.md"], 5)
    again = str(tmp_path / "again.json")
    assert run(program, "audit", str(folder), "--baseline", file, "--write-baseline", again, now=NOW).code == 0
    assert not run(program, "audit", str(folder), "--baseline", again, "--json", now=NOW).json["findings"]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--fail-on", "error"), 1),
        (("--fail-on", "notice", "--select", "unfinished"), 1),
        (("--fail-on", "warning", "--select", "unfinished"), 0),
        (("--select", "nothing"), 2),
        (("--baseline", "nowhere.json"), 2),
    ],
)
def test_the_exit_code_is_that_of_the_gravest_finding_only_if_asked(
    program: Program, folder: Path, options: tuple[str, ...], code: int
) -> None:
    assert run(program, "audit", str(folder), *options, now=NOW).code == code


def test_of_many_findings_some_are_shown_and_with_select_all(program: Program, folder: Path) -> None:
    (folder / "todo-2026-01-02.md").write_text("".join(f"- [ ] thing number {n} of many\n" for n in range(30)))
    text = run(program, "audit", str(folder), now=NOW).text
    assert "… and 21 more: --select unfinished shows all" in text
    assert len(run(program, "audit", str(folder), "--select", "unfinished", now=NOW).text.splitlines()) == 33
