"""What holds for every verb: help, one JSON document, a sentence for what fails, nothing that upsets a terminal."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from datetime import UTC, datetime

import pytest

from memory_v2.cli import app
from memory_v2.storage.history import Revision
from memory_v2.storage.local.git_history import GitHistory
from tests import forks

from .program import PROGRAM, Program, filled, words
from .test_failures import assert_sentence
from .test_records import EVIL, HARMFUL
from .test_terminal import seen

VERBS = [name.partition(".")[2] for names in app.SECTIONS.values() for name in names.split()]
CALLS = """
write "Ruff lints it"
write --dry-run "Ruff lints it"
read
search Silica
search --explain --only entries CTR
tree
capture "Ruff lints it"
history
undo --yes
check
check --apply
ls
replace people "Ada keeps" "Ada kept"
split
merge people
rename people humans
delete people
graph
entries ls
entries show hawk/obs-2026-02-15-001
entries retract hawk/obs-2026-02-15-001 --why wrong
entries export {home}/shards
entries import {folder}/entries
route
route Silica
consolidate
age
age --pack
verify hawk/obs-2026-02-15-001 --by shield
promote
dedupe
status
domains
show {newest}
diff {newest}
blame people
restore {newest} --yes
checkpoint create two
checkpoint list
checkpoint show one
checkpoint export one {home}/two.jsonl
checkpoint load {home}/one.jsonl
checkpoint restore one
forget --dry-run Ada
forget --yes Ada
gc
trace
trace last
replay
import --verify {home}/notes
import --dry-run {home}/notes
export {home}/out
context
config
""".strip().splitlines()
"""A call of each verb, on the memory that `full` makes."""
ON_TERMINAL = ("read", "search", "tree", "ls", "check", "graph", "history", "show", "diff", "blame", "undo", "restore")
"""Verbs whose output on a terminal is another than in a pipe."""
NO_CALL = {"edit", "init", "migrate", "mcp", "view"}
"""Verbs that need an editor, hosts, an older memory, an agent or a browser; their own tests say the same of them."""
ANSWERS_WITHOUT_A_MEMORY = ("config",)
ASKS = {
    "delete people": "Delete people (",
    "undo": "Undo {newest} (write: Grace writes compilers.), with 1 page?",
    "restore {older}": "Restore all pages to the state after {older}",
    "restore {older} people": "Restore people to the state after {older}",
    "checkpoint restore one": "Make all pages and entries those of the checkpoint one?",
    "checkpoint load {home}/one.jsonl": "Make all pages and entries those of ",
    "forget Grace": "Forget this for good? It cannot be undone.",
}
"""What is asked about on a terminal, with the question."""


def test_every_verb_is_called_here() -> None:
    assert {call.split()[0] for call in CALLS} | NO_CALL == set(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_an_example_and_says_where_the_memory_is_chosen(program: Program, verb: str) -> None:
    help_text = program.done(verb, "--help")
    assert f"silica memory {verb}" in help_text.split("Example")[1]
    assert "--json" in help_text or verb in ("entries", "checkpoint")
    assert "silica memory [--path FOLDER]" in " ".join(help_text.split())


@pytest.mark.parametrize("call", CALLS)
def test_every_verb_prints_exactly_one_document(full: Program, call: str) -> None:
    ended = full.quick(*words(full, call), "--json")
    assert ended.code == 0, ended
    assert isinstance(ended.json, dict)
    assert ended.text.count("\n") == 1
    assert all(line.startswith("silica: ") for line in ended.err.splitlines())


@pytest.mark.parametrize("call", [call for call in CALLS if call not in ANSWERS_WITHOUT_A_MEMORY])
def test_every_verb_prints_one_document_for_an_error_too(full: Program, call: str) -> None:
    asked = words(full, call)
    shutil.rmtree(full.folder)
    full.folder.write_text("a file where the folder should be")
    ended = full.quick(*asked, "--json")
    assert (ended.code, ended.json["error"]["kind"]) == (4, "StorageError"), ended
    assert ended.err == f"silica: {ended.json['error']['message']}\n"
    assert_sentence(full.quick(*asked), 4, "is a file")
    assert full.folder.read_text() == "a file where the folder should be"


@pytest.mark.parametrize("call", CALLS)
def test_what_others_wrote_does_nothing_to_the_terminal(full: Program, call: str) -> None:
    full.page("memory", data := f"# Root {EVIL}\n\nneedle {EVIL}\n\n## Links\n\n- [[people]] - {EVIL}\n".encode())
    entry = Revision(f"evil{EVIL}", EVIL, "", EVIL, EVIL, EVIL, (EVIL,), datetime(2026, 5, 4, tzinfo=UTC))
    GitHistory(full.folder / ".metadata").record({"memory": data}, entry)
    (full.home / "notes" / "evil.md").write_bytes(b"- " + data)
    vault = full.folder / "entries" / "agents" / "hawk" / "memory" / "vault"
    (vault / "obs-2026-02-16-001.md").write_text(f"---\nsource: hawk\n---\nCTR {EVIL}\n")
    asked = words(full, call)
    shown = [full.quick(*asked, "--json"), full.quick(*asked)]
    shown += [full.on_terminal(*asked)] if call.split()[0] in ON_TERMINAL else []
    for ended in shown:
        told = ended.err + ("" if asked == ["read"] and ended is shown[1] else seen(ended.text))
        assert not HARMFUL.search(told)


@pytest.mark.parametrize("call", ASKS)
def test_what_cannot_be_taken_lightly_is_asked_about_on_a_terminal_only(full: Program, call: str) -> None:
    asked, question, before = words(full, call), filled(full, ASKS[call]), full.files()
    kept = full.on_terminal(*asked, columns=300, keys=(b"]: ", b"n\n"))
    assert (kept.code, question in kept.text) == (0, True), kept
    assert re.search("nothing was (deleted|undone|restored|changed|forgotten)", kept.text)
    assert full.on_terminal(*asked, keys=(b"]: ", b"\x03")).code == 130
    assert full.files() == before
    assert full.on_terminal(*asked, keys=(b"]: ", b"y\n")).code == 0
    assert full.files() != before
    assert "]: " not in full.on_terminal(*asked, "--yes").text


@pytest.mark.parametrize("call", ["read", "search word", "ls --json", "--help", "trace last"])
def test_a_reader_that_has_had_enough_hears_nothing(program: Program, call: str) -> None:
    program.done("write", "--mode", "append", "word word word.\n\n" * 2_000)
    command = [*PROGRAM, "memory", "--path", str(program.folder), *call.split()]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        env = program.environment()
        with forks.Popen[bytes](command, stdout=writing, stderr=subprocess.PIPE, cwd=program.home, env=env) as process:
            _, said = process.communicate(timeout=60)
    finally:
        os.close(writing)
    assert (process.returncode, said) == (141, b"")


@pytest.mark.parametrize("page", ["peop", "projects/", ""])
def test_a_shell_completes_the_names_of_pages(full: Program, page: str) -> None:
    for verb in ("read", "merge", "write --to", "search --under", "restore x"):
        typed = f"silica memory --path {full.folder} {verb} {page}"
        count = len(typed.split()) - (1 if page else 0)
        asked = {"_SILICA_COMPLETE": "bash_complete", "COMP_WORDS": typed, "COMP_CWORD": str(count)}
        found = [line.split(",")[1] for line in full.silica(env=asked).text.splitlines()]
        assert found == [name for name in ("memory", "people", "projects/silica") if name.startswith(page)], verb
