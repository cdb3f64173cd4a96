"""What is forgotten is nowhere any more; everything else is as it was, and can be undone."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest

from memory_v2.agent.operation import asked_by
from memory_v2.errors import (
    InvalidSetting,
    InvalidText,
    NotAllowed,
    PageNotFound,
    StorageConflict,
    StorageError,
)
from memory_v2.memory import Memory
from memory_v2.operations import commit as committing
from memory_v2.plan import Plan
from memory_v2.storage.history import Change
from memory_v2.storage.local import git_rewrite
from memory_v2.storage.local.leftovers import find_leftovers
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.s3.history import S3History
from memory_v2.storage.s3.storage import S3Storage
from memory_v2.text.redaction import MARKER
from tests.operations.forgotten import SECRET, filled, filled_in, objects, places
from tests.operations.scenes import body, offline
from tests.storage.s3_server import HOST, new_bucket, server

pytestmark = pytest.mark.allow_hosts([HOST])


def pages(memory: Memory) -> dict[str, str]:
    return {page.path: memory.read(page.path) for page in memory.list_files()}


def redacted(plan: Plan) -> set[str]:
    """The pages that a plan takes something out of."""
    return {step.name for step in plan.of("redact")} - {"notes"}


def without(text: str) -> str:
    """The text of a page as it must be: without the secret, and with another size."""
    lines = text.replace(f"It is\n> {SECRET}", f"It is\n> {MARKER}").replace(SECRET, MARKER).splitlines()
    return "\n".join(line for line in lines if not line.startswith("size_bytes"))


def past(memory: Memory) -> list[dict[str, str]]:
    history = memory.storage.history
    return [{path: data.decode() for path, data in history.pages(one.id).items()} for one in history.revisions()]


def expect_the_rest(memory: Memory, before: dict[str, str], then: list[dict[str, str]]) -> None:
    """Expects the pages and their past as they were, but for the secret; and that the last write can be undone."""
    told = {without(path): without(text) for path, text in before.items()}
    assert {path: without(text) for path, text in pages(memory).items()} == told
    assert [{path: without(text) for path, text in one.items()} for one in past(memory)[1:]] == [
        {without(path): without(text) for path, text in one.items()} for one in then
    ]
    assert memory.check() == []
    memory.undo()
    assert "Tomatoes" not in memory.read("garden") and "Tomatoes" in told["garden"]
    memory.undo()
    assert memory.check() == []


@pytest.mark.parametrize("is_packed", [False, True])
def test_no_byte_of_it_is_left_in_the_folder_and_everything_else_is_there(is_packed: bool, tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    memory = filled(offline(storage=LocalStorage(folder)))
    if is_packed:
        memory.pack_history()
        memory.write("One more line.", "kiln", "append")
        memory.undo()
        memory.undo(memory.history()[0].id)
        memory.undo(memory.history()[0].id)
    for torn in (folder / ".silica-0123.tmp", folder / ".metadata" / "traces" / "0123.tmp"):
        torn.write_bytes(b"half of a page: " + SECRET.encode())
    shutil.copytree(folder / ".metadata" / "history.git", folder / ".metadata" / "history-damaged-1.git")
    before, then = pages(memory), past(memory)
    assert len(places(folder)) > 10
    shown = memory.forget(SECRET)
    assert shown.revision is None and (pages(memory), past(memory)) == (before, then)
    done = memory.forget(SECRET, apply=True)
    memory.close()
    assert places(folder) == []
    assert done.revision and done.facts == shown.facts and redacted(done) == redacted(shown)
    assert {"garden", "kiln", "shed", f"gates/{SECRET}"} < redacted(done)
    assert [one.name for one in done.facts["leftovers"]] == [
        ".metadata/history-damaged-1.git", ".metadata/traces/0123.tmp", ".silica-0123.tmp"
    ]  # fmt: skip
    assert "[[gates/(forgotten)|the gate]]" in memory.read("kiln") and memory.read("gates/(forgotten)")
    record = memory.history()[0]
    assert (record.first.kind, record.id, record.paths) == ("forget", done.revision, ())
    checked = subprocess.run(
        ["git", "--git-dir", str(folder / ".metadata" / "history.git"), "fsck", "--strict", "--unreachable"],
        capture_output=True, check=True,
    )  # fmt: skip
    assert (checked.stdout, checked.stderr) == (b"", b"")
    assert not memory.forget(SECRET, apply=True).steps and memory.history()[0].id == done.revision
    if not is_packed:
        expect_the_rest(offline(storage=LocalStorage(folder)), before, then)


@pytest.mark.parametrize("versions", [False, True])
def test_no_byte_of_it_is_left_in_the_bucket_nor_in_the_cache(versions: bool, tmp_path: Path) -> None:
    with new_bucket(versions) as bucket:
        memory = filled(offline(storage=S3Storage(bucket, "p", endpoint=server(), cache=tmp_path)))
        before, then = pages(memory), past(memory)
        assert sum(SECRET in key or SECRET.encode() in data for key, data in objects(bucket)) > 10
        assert bool(memory.forget(SECRET).facts["leftovers"]) == versions
        done = memory.forget(SECRET, apply=True)
        memory.close()
        assert [key for key, data in objects(bucket) if SECRET in key or SECRET.encode() in data] == []
        assert places(tmp_path) == []
        assert {"garden", "kiln", "shed"} < redacted(done)
        expect_the_rest(offline(storage=S3Storage(bucket, "p", endpoint=server(), cache=tmp_path)), before, then)


def test_another_machine_follows_a_history_that_was_rewritten(tmp_path: Path) -> None:
    with new_bucket() as bucket:
        one, other = (
            offline(storage=S3Storage(bucket, "p", endpoint=server(), cache=tmp_path / name, ttl=0)) for name in "ab"
        )
        filled(one)
        assert len(other.history()) == len(one.history())
        one.forget(SECRET, apply=True)
        other.write("The frost came early.", "garden", "append")
        assert [past.id for past in other.history()] == [past.id for past in one.history()]
        assert SECRET not in other.read("garden") and other.check() == []


def test_a_memory_that_is_open_elsewhere_goes_on(tmp_path: Path) -> None:
    one, other = offline(storage=LocalStorage(tmp_path)), offline(storage=LocalStorage(tmp_path))
    filled(one)
    other.search(SECRET)
    one.forget(SECRET, apply=True)
    assert places(tmp_path) == []
    assert not any(SECRET in result.excerpt for result in other.search(f"gate code {SECRET}"))
    other.write("The frost came early.", "garden", "append")
    assert other.check() == [] and one.check() == []
    assert [past.id for past in other.history()] == [past.id for past in one.history()]


def test_a_memory_that_was_opened_before_its_folder_was_there_leaves_nothing_in_the_index_of_others(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "later"
    one = offline(storage=LocalStorage(folder))
    filled(one)
    offline(storage=LocalStorage(folder)).search(SECRET)
    assert places(folder) != []
    one.forget(SECRET, apply=True)
    assert places(folder) == []


def test_a_page_is_forgotten_with_its_past_and_what_stands_elsewhere_stays() -> None:
    memory = offline()
    memory.write("- Ada's phone is 555-1234\n- she likes tea", "memory")
    memory.write("# Ada\n\nAda's phone is 555-1234\n\nShe was born in May.\n\nShe likes tea.", "people/ada")
    memory.write("She likes tea.\n\nAsk [[people/ada|Ada]].", "habits")
    memory.write("Ada", "people/ada/mother", "append")
    memory.write("# Ada\n\nShe has moved away.", "people/ada", "replace")
    memory.write("- something else", "memory", "replace")
    done = memory.forget(path="people/ada", apply=True)
    assert "people/ada" in redacted(done) and "people/ada/mother" in pages(memory)
    assert body(memory, "habits").endswith("She likes tea.\n\nAsk Ada.")
    told = json.dumps([*past(memory), [str(one) for one in memory.storage.history.revisions()]])
    assert not any(line in told for line in ("555-1234", "born in May", "moved away", "[[people/ada]]"))
    assert "She likes tea" in told and not any("people/ada" in one for one in past(memory))
    assert memory.check() == []
    with pytest.raises(PageNotFound):
        memory.forget(path="people/ada")


ADA = (
    ("people/ada", "# Ada\n\nShe was born in May."),
    ("habits", "She likes tea.\n\nAsk [[people/ada|Ada]]."),
    ("people/ada/mother", "Ada's mother."),
    ("other", "Something else."),
)
BELOW = {
    "a text": "\nTyped below.\n",
    "an item": "- typed below\n",
    "with carriage returns": "\r\nTyped below.\r\n",
    "a list of links": "\n## Links\n\n* [[people/ada|Ada]] my friend\n* [[other]]\n",
}


def rest(text: str) -> list[str]:
    """The lines of a page without its links to Ada, its size, and sections that are perhaps empty now."""
    lines = text.replace("[[people/ada|Ada]].", "Ada.").splitlines()
    return [
        line for line in lines if line and not re.match(r"[-*] (\[\[)?people/ada( |]|\|)|size_bytes|## Links", line)
    ]


@pytest.mark.parametrize("below", BELOW)
def test_a_page_is_forgotten_also_where_somebody_typed_below_the_metadata(below: str, tmp_path: Path) -> None:
    for path in ("memory", "people/ada", "habits"):
        folder = tmp_path / path.replace("/", "-")
        with offline(storage=LocalStorage(folder)) as memory:
            for name, text in ADA:
                memory.write(text, name, "append")
            file = folder / f"{path}.md"
            text = file.read_bytes().decode() + BELOW[below]
            file.write_bytes((text.replace("\n", "\r\n") if "\r" in below else text).encode())
            memory.check()
            then = past(memory)
            memory.forget(path="people/ada", apply=True)
            now = past(memory)
            assert [one.first.kind for one in memory.history()][:3] == ["forget", "delete", "outside"]
        for old, new in zip(then, now[2:], strict=True):
            assert {name: rest(text) for name, text in new.items()} == {
                name: rest(text) for name, text in old.items() if name != "people/ada"
            }
            assert all(text.count("## Links") <= old[name].count("## Links") for name, text in new.items())
        assert "born in May" not in json.dumps(now) and "people/ada" not in now[0]


def test_lines_are_forgotten_wherever_they_stand_as_lines() -> None:
    memory = offline()
    memory.write("- Ada\n- Ada likes tea\n- Bo", "list", "append")
    memory.write("## Ada\n\nAda is here, says Ada.", "people", "append")
    line = memory.read("list").splitlines().index("- Ada") + 1
    memory.forget(path="list", lines=f"{line}, {line + 2}", apply=True)
    assert "- (forgotten)\n- Ada likes tea\n- (forgotten)\n" in memory.read("list")
    assert "## (forgotten)\n\nAda is here, says Ada." in memory.read("people")
    assert memory.check() == []


def test_the_name_of_who_asked_is_forgotten() -> None:
    memory = offline()
    with asked_by(f"laptop of {SECRET}"):
        memory.write(f"{SECRET} likes tea.", "people")
    memory.forget(SECRET, apply=True)
    assert [past.first.agent for past in memory.history()] == ["", f"laptop of {MARKER}"]


def test_what_cannot_be_forgotten_is_refused() -> None:
    memory = offline()
    memory.write("Plain.", "page")
    for error, arguments in (
        (InvalidText, {"text": " ab "}),
        (NotAllowed, {"text": "size_bytes"}),
        (NotAllowed, {"text": "memory"}),
        (NotAllowed, {"path": "memory"}),
        (NotAllowed, {"path": "page", "lines": "2"}),
        (PageNotFound, {"path": "nowhere"}),
        (InvalidSetting, {"path": "page", "lines": "0"}),
        (InvalidSetting, {"path": "page", "lines": "3-99"}),
        (InvalidSetting, {"path": "page", "lines": "x"}),
        (InvalidSetting, {"text": "Plain.", "path": "page"}),
        (InvalidSetting, {"lines": "1"}),
        (InvalidSetting, {}),
        (InvalidSetting, {"text": 3}),
        (InvalidText, {"text": "half of a pair: \ud800"}),
        (InvalidSetting, {"path": "page", "lines": 3}),
        (InvalidSetting, {"text": "Plain.", "apply": "yes"}),
    ):
        with pytest.raises(error):
            memory.forget(**arguments)
    assert memory.forget("nowhere to be found", apply=True).steps == ()


def test_two_names_are_forgotten_without_becoming_one_page() -> None:
    memory = offline()
    for name in ("john-smith", "jane-doe"):
        memory.write(f"About {name}.", f"people/{name}")
        memory.forget(name, apply=True)
    assert {"people/(forgotten)", "people/(forgotten 2)"} < set(pages(memory))
    assert memory.check() == []


def test_a_text_that_is_being_written_now_is_not_forgotten_halfway(tmp_path: Path) -> None:
    memory = filled_in(tmp_path)
    notes = LocalStorage(tmp_path).state
    with notes.claim("pending/0123456789", is_new=True):
        notes.write("pending/0123456789", json.dumps({"text": SECRET}).encode())
        with pytest.raises(StorageConflict):
            memory.forget(SECRET, apply=True)
    assert places(tmp_path)


def test_a_note_that_nobody_can_finish_loses_the_text_only(tmp_path: Path) -> None:
    memory = filled_in(tmp_path)
    noted = tmp_path / ".metadata" / "pending" / "0123456789.json"
    noted.parent.mkdir()
    noted.write_text(json.dumps({"text": f"the “gate” {SECRET}\nopens", "mode": "of a later version"}))
    assert memory.forget(SECRET, apply=True).facts["notes"] == ("pending/0123456789",)
    assert json.loads(noted.read_text()) == {"text": f"the “gate” {MARKER}\nopens", "mode": "of a later version"}
    assert places(tmp_path) == []


def test_what_others_write_meanwhile_is_not_lost(tmp_path: Path) -> None:
    memory = filled_in(tmp_path)

    def write(name: str) -> None:
        with Memory.open(tmp_path) as other:
            for number in range(8):
                other.write(f"- fact {number} of {name}.", "garden", "append")

    with ThreadPoolExecutor(3) as pool:
        writing = [pool.submit(write, name) for name in ("ada", "bo", "cy")]
        memory.forget(SECRET, apply=True)
        for done in writing:
            done.result()
    memory.forget(SECRET, apply=True)  # a trace of what had read it before
    facts = [f"fact {number} of {name}." for number in range(8) for name in ("ada", "bo", "cy")]
    assert all(fact in memory.read("garden") for fact in facts)
    assert places(tmp_path) == [] and memory.check() == []
    assert len([one for one in memory.history() if one.first.kind == "write"]) >= 24


def test_files_of_others_and_other_spellings_are_named_and_left_alone(tmp_path: Path) -> None:
    memory = filled_in(tmp_path)
    (tmp_path / "notes.txt").write_text(SECRET)
    (tmp_path / ".git").mkdir()
    memory.write(f"Once it was {SECRET.lower()}.", "kiln", "append")
    told = memory.forget(SECRET, apply=True)
    assert [one.path for one in told.warnings] == [".git", "notes.txt", SECRET.lower()]
    assert (tmp_path / "notes.txt").read_text() == SECRET


def test_other_refs_and_files_of_plain_git_do_not_keep_it(tmp_path: Path) -> None:
    memory = filled_in(tmp_path)
    git = [
        "git",
        "-c",
        "user.name=me",
        "-c",
        "user.email=me@here",
        "--git-dir",
        str(tmp_path / ".metadata/history.git"),
    ]
    for arguments in (["tag", "light"], ["tag", "-a", "-m", SECRET, "heavy", "main~2"], ["branch", "other", "main~1"],
                      ["gc", "-q"], ["update-ref", "--create-reflog", "-m", SECRET, "refs/heads/other", "main~3"],
                      ["commit-graph", "write", "--reachable"], ["repack", "-a", "-d", "-q"]):  # fmt: skip
        subprocess.run([*git, *arguments], check=True, capture_output=True)
    memory.write("After git.", "kiln", "append")
    memory.forget(SECRET, apply=True)
    assert places(tmp_path) == []
    checked = subprocess.run([*git, "fsck", "--strict", "--unreachable"], capture_output=True, check=True)
    assert checked.stdout == b""
    listed = subprocess.run([*git, "for-each-ref", "--format=%(refname)"], capture_output=True, check=True).stdout
    assert listed.split() == [
        b"refs/heads/main", b"refs/heads/other", b"refs/silica/checked-out", b"refs/tags/heavy", b"refs/tags/light"
    ]  # fmt: skip
    assert memory.check() == []


def stopped(*_: object) -> None:
    raise StorageError("the disk or the server is gone")


def test_in_a_folder_what_was_stopped_halfway_is_finished_by_the_next_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = filled_in(tmp_path)
    with monkeypatch.context() as patched, pytest.raises(StorageError, match="do not make it again"):
        patched.setattr(git_rewrite, "adopt", stopped)
        memory.forget(SECRET, apply=True)
    assert places(tmp_path)
    other = offline(storage=LocalStorage(tmp_path))
    assert [one.kind for one in other.recover()] == ["forget"]
    assert places(tmp_path) == [] and other.check() == []
    memory.write("The frost came early.", "garden", "append")
    assert memory.check() == [] and places(tmp_path) == []


def test_in_a_bucket_what_was_stopped_halfway_is_finished_by_the_next_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with new_bucket(versions=True) as bucket:

        def machine() -> Memory:
            return offline(storage=S3Storage(bucket, "p", endpoint=server(), cache=tmp_path))

        memory = filled(machine())
        with monkeypatch.context() as patched, pytest.raises(StorageError, match="do not make it again"):
            patched.setattr(S3History, "adopt", stopped)
            memory.forget(SECRET, apply=True)
        other = machine()
        other.write("The frost came early.", "garden", "append")
        assert other.check() == [] and SECRET not in other.read("garden")
        assert other.history()[1].first.kind == "forget"
        assert not redacted(other.forget(SECRET, apply=True))  # versions that the last steps have made old
        assert [key for key, data in objects(bucket) if SECRET in key or SECRET.encode() in data] == []


@pytest.mark.parametrize("what", [{"text": SECRET}, {"path": "garden"}], ids=["a text", "a page"])
def test_what_cannot_be_decided_changes_nothing(
    what: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = filled_in(tmp_path)
    before, then, traces, told = pages(memory), past(memory), memory.traces(), memory.history()
    with monkeypatch.context() as patched, pytest.raises(StorageError):
        patched.setattr(git_rewrite.GitRewrite, "stage", stopped)
        memory.forget(**what, apply=True)
    assert (pages(memory), past(memory), memory.traces(), memory.history()) == (before, then, traces, told)
    assert list((tmp_path / ".metadata" / "pending").iterdir()) == []
    memory.write("The frost came early.", "garden", "append")
    assert memory.check() == [] and memory.read("garden") != before["garden"]


def test_notes_of_a_stranger_remove_and_write_nothing_outside(tmp_path: Path) -> None:
    folder, outside = tmp_path / "memory", tmp_path / "outside"
    memory = filled_in(folder)
    outside.mkdir()
    names = [outside / "a.jsonl", outside / ".silica-1.tmp", folder / "garden.md"]
    for file in names[:2]:
        file.write_text("mine")
    (folder / "way").symlink_to(outside)
    left = ["../outside/.silica-1.tmp", str(outside), "garden.md", ".metadata", "way/.silica-1.tmp"]
    left += [".metadata/history.git", ".metadata/traces"]
    note = folder / ".metadata" / "pending" / "0123456789.json"
    note.parent.mkdir()
    note.write_text(json.dumps({"erase": ["../../../outside/a"], "leftovers": [[name, ""] for name in left]}))
    offline(storage=LocalStorage(folder)).history()
    assert not note.exists() and all(file.exists() for file in names)
    (folder / "way").unlink()
    assert memory.check() == []
    head = memory.storage.history.head
    main = {"refs/heads/main": head}
    ways = ("../../../outside/ref", "refs/../../../../outside/ref")
    bad: list[object] = [{"refs": main | {way: head}} for way in ways]
    for history in (*bad, {"refs": {"refs/heads/main": "0" * 40}}, {}, 1):
        journal = {"operation": "0", "when": "2026-01-01T00:00:00+00:00", "pages": [], "history": history}
        (folder / ".metadata" / "format.json").write_text(json.dumps({"format": 1, "rewriting": journal}))
        with pytest.raises(StorageError):
            offline(storage=LocalStorage(folder)).write("One more.")
        assert "ref" not in {file.name for file in outside.iterdir()}
    (folder / ".metadata" / "format.json").write_text(json.dumps({"format": 1}))
    assert memory.storage.history.head == head and memory.check() == []


def test_two_who_forget_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    with offline(storage=LocalStorage(tmp_path)) as memory:
        for number in range(6):
            memory.write(f"The gate {number} opens with {SECRET}{number}.", f"gate-{number}")

    def act(number: int) -> None:
        with offline(storage=LocalStorage(tmp_path)) as memory:
            if number == 2:
                memory.pack_history()
            else:
                assert memory.forget(f"{SECRET}{number}", apply=True).revision

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(act, range(3)))
    with offline(storage=LocalStorage(tmp_path)) as memory:
        assert memory.check() == []
        assert not memory.forget(f"{SECRET}0").steps and not memory.forget(f"{SECRET}1").steps


@pytest.mark.parametrize("back", ["undo", "restore"])
def test_what_is_forgotten_meanwhile_is_not_brought_back(
    back: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with offline(storage=LocalStorage(tmp_path)) as memory, offline(storage=LocalStorage(tmp_path)) as other:
        memory.write(f"The gate opens with {SECRET}.", "gate")
        memory.write("It is green.", "gate", "replace")
        revision = memory.history()[1 if back == "restore" else 0].id
        with ThreadPoolExecutor(1) as pool:
            waiting: list[Future[Plan]] = []

            def commit(*arguments: Any, **named: Any) -> Change:
                waiting.append(pool.submit(other.forget, SECRET, apply=True))
                wait(waiting, 0.5)
                return stored(*arguments, **named)

            stored = committing.commit
            monkeypatch.setattr("memory_v2.operations.history.commit", commit)
            getattr(memory, back)(revision)
            assert waiting[0].result().revision
        assert places(tmp_path) == [] and MARKER in memory.read("gate")


def test_what_is_forgotten_before_the_trace_of_another_operation_is_saved_is_in_no_trace(tmp_path: Path) -> None:
    with offline(storage=LocalStorage(tmp_path)) as other:

        def forget(_: str, event: Mapping[str, Any]) -> None:
            if event["event"] == "end" and is_ready:
                assert other.forget(SECRET, apply=True).revision

        is_ready = False
        with Memory(LocalStorage(tmp_path), on_event=forget) as memory:
            memory.write(f"The gate opens with {SECRET}.", "gate")
            is_ready = True
            memory.undo()
        assert places(tmp_path) == []


def test_a_folder_that_is_removed_while_leftovers_are_looked_for_stops_nothing(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / ".silica-1.tmp").write_text(SECRET)

    def holds(data: bytes) -> bool:
        shutil.rmtree(tmp_path / "c", ignore_errors=True)
        return SECRET.encode() in data

    assert find_leftovers(tmp_path, holds)[:1] == ["a/.silica-1.tmp"]
