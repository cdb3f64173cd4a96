"""What goes wrong is one sentence and an exit code; nothing is changed, and nobody sees a traceback."""

from __future__ import annotations

import fcntl
import resource
import signal
import struct
import subprocess
import termios
import time
from dataclasses import replace
from pathlib import Path
from typing import IO, Literal

import pytest

from memory_v2.agent.loop import Undecided
from memory_v2.errors import Cancelled, ModelError, StorageConflict
from memory_v2.memory import Memory
from memory_v2.operations.results import WriteResult
from tests import forks

from .program import PROGRAM, Ended, Program, words


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="only where there is a /proc")
def test_where_no_folder_can_be_made_the_system_is_quoted(program: Program) -> None:
    ended = program.silica("memory", "--path", "/proc/x", "write", "Leeks.")
    assert_sentence(ended, 4, "No such file or directory")
    assert "try again" not in ended.err


def assert_sentence(ended: Ended, code: int, *said: str) -> None:
    assert ended.code == code, ended
    assert ended.out == b""
    assert ended.err.startswith("silica: ")
    assert ended.err.count("\n") == 1
    for part in said:
        assert part in ended.err


WRONG = [
    ("read nowhere", 3, "PageNotFound", "silica memory ls"),
    ("split nowhere", 3, "PageNotFound", "'nowhere'"),
    ("merge nowhere", 3, "PageNotFound", "'nowhere'"),
    ("rename nowhere there", 3, "PageNotFound", "'nowhere'"),
    ("rename people projects/silica", 3, "PageExists", "'projects/silica'"),
    ("delete nowhere", 3, "PageNotFound", "'nowhere'"),
    ("edit nowhere", 3, "PageNotFound", "'nowhere'"),
    ("replace people Bea Ada", 2, "NotAllowed", "it occurs 0 times"),
    ("replace nowhere Ada Bea", 3, "PageNotFound", "'nowhere'"),
    ("read ../secrets", 2, "InvalidPath", "dot"),
    ("read 'a\x1bb'", 2, "InvalidPath", "control"),
    ("write --to con x", 2, "InvalidPath", "Windows"),
    ("write ''", 2, "InvalidText", "empty"),
    ("write ' \n'", 2, "InvalidText", "empty"),
    ("write --file 'no such file'", 2, "UsageError", "cannot read no such file"),
    ("write --file /", 2, "UsageError", "cannot read /"),
    ("write x --file y", 2, "UsageError", "not both"),
    ("write x --mode overwrite", 2, "UsageError", "--mode"),
    ("write x --mode replace", 2, "UsageError", "--to memory"),
    ("write x --date tomorrow", 2, "InvalidSetting", "date"),
    ("write x --date 2999-01-01", 2, "InvalidSetting", "date"),
    ("write x --source ''", 2, "InvalidSetting", "source"),
    ("search", 2, "UsageError", "QUERY"),
    ("search ''", 2, "InvalidText", "empty"),
    ("search -n 0 x", 2, "InvalidSetting", "at least one"),
    ("search -n many x", 2, "UsageError", "-n"),
    ("search --max-tokens 9 x", 2, "InvalidSetting", "max_tokens"),
    ("search --regex '('", 2, "InvalidPattern", "not a regular expression"),
    ("search --under nowhere x", 3, "PageNotFound", "'nowhere'"),
    ("merge memory", 2, "NotAllowed", "root"),
    ("rename memory x", 2, "NotAllowed", "root"),
    ("rename one", 2, "UsageError", "NEW"),
    ("delete memory", 2, "NotAllowed", "root"),
    ("read --bogus", 2, "UsageError", "silica memory read --help"),
    ("reed", 2, "UsageError", "read"),
    ("''", 2, "UsageError", "command"),
    ("history -n 0", 2, "UsageError", "-n"),
    ("history ../secrets", 2, "InvalidPath", "dot"),
    ("blame nowhere", 3, "PageNotFound", "'nowhere'"),
    ("restore {older} ../people", 2, "InvalidPath", "dot"),
    ("trace -n 0", 2, "UsageError", "-n"),
    ("trace --full", 2, "UsageError", "NAME"),
    ("replay nowhere.jsonl", 2, "UsageError", "there is no file nowhere.jsonl"),
    ("entries show nobody/obs-2026-02-15-001", 3, "EntryNotFound", "nobody/obs-2026-02-15-001"),
    ("entries retract hawk/obs-2026-02-15-001", 2, "UsageError", "--why"),
    ("capture x --confidence 7", 2, "InvalidSetting", "confidence"),
    ("capture x --batch {home}/one.jsonl", 2, "UsageError", "not both"),
    ("route x --apply", 2, "UsageError", "only looked at"),
    ("age --older-than 3", 2, "UsageError", "--pack"),
    ("promote --threshold 2", 2, "InvalidSetting", "threshold"),
    ("promote --agent hawk", 2, "UsageError", "--entry"),
    ("promote --entry nothing", 2, "UsageError", "nothing"),
    ("consolidate --home gardens", 2, "InvalidSetting", "gardens"),
    ("consolidate --since soon", 2, "InvalidSetting", "since"),
    ("consolidate --agent a/b", 2, "InvalidSetting", "a/b"),
    ("checkpoint show two", 2, "NotAllowed", "two"),
    ("checkpoint load nowhere.jsonl", 2, "UsageError", "nowhere.jsonl"),
    ("checkpoint load {home}/notes/2026-02-17.md", 2, "InvalidText", "2026-02-17.md"),
    ("checkpoint export one {home}/one.jsonl", 2, "UsageError", "--force"),
    ("forget Ada", 2, "UsageError", "--yes"),
    ("forget --yes --page people Ada", 2, "UsageError", "not both"),
    ("forget --yes --page memory", 2, "NotAllowed", "root"),
    ("forget --yes ab", 2, "InvalidText", "at least 3 bytes"),
    ("forget --yes --page nowhere", 3, "PageNotFound", "'nowhere'"),
    ("import {home}/nowhere", 2, "UsageError", "there is no file or folder"),
    ("import {folder}", 2, "UsageError", "is inside the memory"),
    ("import {home}", 2, "UsageError", "is inside"),
    ("import {home}/notes --format nothing", 2, "UsageError", "there is no format 'nothing'"),
    ("import {home}/notes --plan {home}/notes/2026-02-17.md", 2, "InvalidSetting", "is not JSON"),
    ("import {home}/notes --dry-run --report r.md", 2, "UsageError", "--dry-run"),
    ("import {home}/notes --max-cost nan", 2, "UsageError", "not a number of dollars"),
    ("migrate --from {home}/nowhere", 2, "UsageError", "there is no file or folder"),
    ("migrate --from {home}/notes", 2, "NotAllowed", "--merge"),
    ("export {home}/notes", 2, "UsageError", "--force"),
    ("export -", 2, "UsageError", "standard output"),
    ("graph --format svg", 2, "UsageError", "--format"),
    ("init --apply --undo", 2, "UsageError", "not both"),
]
"""What cannot be done, with the exit code, the kind of error and some words of the sentence."""


@pytest.mark.parametrize(("call", "code", "kind", "said"), WRONG, ids=[call for call, *_ in WRONG])
def test_what_cannot_be_done_is_one_sentence_and_changes_nothing(
    full: Program, call: str, code: int, kind: str, said: str
) -> None:
    before, asked = full.files(), words(full, call)
    assert_sentence(full.quick(*asked), code, said)
    ended = full.quick(*asked, "--json")
    assert (ended.code, ended.json["error"]["kind"]) == (code, kind)
    assert ended.err == f"silica: {ended.json['error']['message']}\n"
    assert full.files() == before


def test_options_in_the_wrong_place_are_told_the_right_one(program: Program) -> None:
    assert_sentence(program.quick("read", "--path", "x"), 2, "goes before the verb: silica memory --path x read;")
    model = program.quick("ls", "--model=offline")
    assert_sentence(model, 2, f"before the verb: silica memory --path {program.folder} --model offline ls;")
    assert_sentence(program.quick("write", "x", "--path", "projects"), 2, "--to")
    named = program.quick("entries", "ls", "--tag", "ctr", "--path", "a b")  # below another group, and with a blank
    assert_sentence(named, 2, "silica memory --path 'a b' entries ls --tag ctr;")
    assert_sentence(program.quick("--colour", "ls"), 2, "--colour")
    before_the_verb = program.quick("--json", "ls")
    assert before_the_verb.code == 2
    assert "goes after the verb" in before_the_verb.json["error"]["message"]
    assert "after the verb: silica memory VERB --json" in program.silica("--json", "memory", "ls").err
    assert_sentence(program.silica("write", "x"), 2, "'silica memory write'")
    assert_sentence(program.silica("--bogus"), 2, "--bogus")


def test_a_setting_that_means_nothing_is_wrong_use(grown: Program) -> None:
    assert_sentence(grown.run("ls", env={"SILICA_MEMORY_SIZE_THRESHOLD": "big"}), 2, "SILICA_MEMORY_SIZE_THRESHOLD")
    assert_sentence(grown.silica("memory", "--path", "", "ls"), 2, "empty path")
    assert_sentence(grown.run("write", "x", env={"SILICA_MEMORY_MODEL": "nobody"}), 2, "'nobody'")
    assert_sentence(grown.quick("--model", "nobody", "search", "x"), 2, "'nobody'")


def test_no_text_and_nobody_at_a_pipe_is_an_empty_text(program: Program) -> None:
    assert_sentence(program.run("write"), 2, "empty")
    assert not program.folder.exists()


def test_input_that_is_not_utf8_is_refused_with_the_place(program: Program) -> None:
    assert_sentence(program.run("write", stdin=b"good \xff bad"), 2, "standard input", "0xff", "offset 5")
    file = program.home / "latin1.txt"
    file.write_bytes("Grüße".encode("latin-1"))
    assert_sentence(program.run("write", "--file", str(file)), 2, "latin1.txt", "offset 2")
    assert_sentence(program.run("write", b"caf\xe9"), 2, "character 3")
    assert not program.folder.exists()


def test_a_page_that_is_not_utf8_is_read_with_replacement_reported_and_left_alone(program: Program) -> None:
    data = b"# Old\n\nfine\ncaf\xe9 \xff\xfe\n"
    file = program.page("memory", data)
    read = program.quick("read")
    assert (read.code, read.text) == (0, data.decode("utf-8", "replace"))
    assert program.quick("read", "--json").json["size_bytes"] == len(data)
    assert "not-utf8 memory:4 " in program.done("check")
    assert "0xe9" in program.done("check", "--apply")
    assert "caf\ufffd" in program.done("search", "caf")
    assert file.read_bytes() == data
    program.done("write", "--mode", "append", "more")
    assert file.read_bytes().startswith(data)


@pytest.mark.parametrize("place", ["file/below", "/proc/silica", "/dev/null/silica"])
def test_a_folder_that_cannot_be_made_is_a_storage_failure(program: Program, place: str) -> None:
    (program.home / "file").write_text("precious")
    written = program.silica("memory", "--path", place, "write", "x")
    assert_sentence(written, 4)


def test_a_full_disk_is_a_storage_failure_and_every_page_is_as_it_was(grown: Program) -> None:
    before = grown.files()
    text = "\n\n".join(f"Paragraph {number} tells of something else." for number in range(2_000))

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, 4_096))

    failed = grown.run("write", "--mode", "append", stdin=text.encode(), before=limit)
    assert failed.code == 4, failed
    assert failed.err.startswith("silica: ")
    assert "Traceback" not in failed.err
    assert grown.files() == before
    assert grown.done("check").startswith("all is well")


def test_output_that_cannot_be_printed_is_told(grown: Program) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    with open("/dev/full", "wb") as full:
        command = [*PROGRAM, "memory", "--path", str(grown.folder), "read"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, cwd=grown.home, env=grown.environment())
    assert done.returncode == 4
    assert done.stderr.startswith(b"silica: cannot print the output: ")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm_end_it_with_130_and_no_traceback(program: Program, by: signal.Signals) -> None:
    command = [*PROGRAM, "memory", "--path", str(program.folder), "write", "-"]
    process = forks.Popen[bytes](
        command,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=program.home,
        env=program.environment(),
    )
    assert process.stdin is not None
    process.stdin.write(b"half a text")
    process.stdin.flush()
    deadline = time.monotonic() + 30
    while _unread(process.stdin) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(by)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert not program.folder.exists()


def test_a_failing_model_and_a_conflict_have_codes_of_their_own(
    grown: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raising(error: Exception) -> None:
        def method(*_: object, **__: object) -> None:
            raise error

        monkeypatch.setattr(Memory, "write", method)

    raising(ModelError("the provider is down", retryable=True))
    assert_sentence(grown.quick("write", "x"), 5, "the provider is down")
    raising(StorageConflict("the page was changed"))
    assert_sentence(grown.quick("write", "x"), 3, "the page was changed")
    raising(Undecided("no model passed the guard"))
    assert_sentence(grown.quick("write", "x"), 5, "no model passed the guard")
    raising(Cancelled("the operation was cancelled"))
    assert_sentence(grown.quick("write", "x"), 130, "the operation was cancelled")
    raising(ZeroDivisionError("a bug"))
    bug = grown.quick("write", "x", "--json")
    assert bug.code == 70
    assert "Traceback" in bug.err
    assert "ZeroDivisionError: a bug" in bug.err
    assert bug.json["error"]["kind"] == "ZeroDivisionError"


def test_what_was_not_decided_as_asked_is_said(grown: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Memory.write

    def degraded(
        memory: Memory, text: str, path: str | None, mode: Literal["update", "append", "replace"], **said: str | None
    ) -> WriteResult:
        return replace(whole(memory, text, path, mode, **said), degraded="some:model: the model refused")

    monkeypatch.setattr(Memory, "write", degraded)
    written = grown.quick("write", "One more fact")
    assert (written.code, written.err) == (0, "silica: some:model: the model refused (decided by offline)\n")
    told = grown.quick("write", "--json", "Another one")
    assert told.json["degraded"] == "some:model: the model refused"
    assert "the model refused" in told.err


def test_an_error_can_do_nothing_to_a_terminal(program: Program) -> None:
    failed = program.silica("memory", "--path", "a\x1b[31m\nb/c", "read")
    (program.home / "a\x1b[31m\nb").write_text("")
    failed = program.silica("memory", "--path", "a\x1b[31m\nb", "read")
    assert_sentence(failed, 4, "a\\x1b[31m\\x0ab")


def test_text_is_utf8_whatever_the_locale_says(program: Program) -> None:
    for name, locale in (
        ("grüße", {"LC_ALL": "C"}),
        ("plain", {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    ):
        text = f"Grüße aus {name} an 日本".encode()
        written = program.run("write", "--to", name.encode(), "-", stdin=text, env=locale)
        assert written.code == 0, written
        assert f"memory › {name} · " in written.text
        assert text in program.run("read", name.encode(), env=locale).out
        assert f"── {name}" in program.run("tree", env=locale).text


def _unread(pipe: IO[bytes]) -> int:
    """The bytes that nobody has taken out of the pipe yet."""
    answer = fcntl.ioctl(pipe, termios.FIONREAD, b"\0\0\0\0")
    return int(struct.unpack("i", answer)[0])
