"""Looking back and going back in a bucket: as on a disk."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from memory_v2.cli.app import silica
from tests.storage.s3_server import ENVIRONMENT, HOST, client, keys, new_bucket, server

from .program import Ended, Program
from .test_failures import assert_sentence
from .test_past import ID, newest, rows

pytestmark = pytest.mark.allow_hosts([HOST])


@dataclass(frozen=True)
class ProgramOnS3(Program):
    """`silica memory` with the settings of a bucket."""

    bucket: str

    @property
    def settings(self) -> dict[str, str]:
        return {
            **ENVIRONMENT,
            "HOME": str(self.home),
            "SILICA_MEMORY_BACKEND": "s3",
            "SILICA_MEMORY_S3_BUCKET": self.bucket,
            "SILICA_MEMORY_S3_ENDPOINT": server(),
            "XDG_CACHE_HOME": str(self.home / "cache"),
        }

    def quick(self, *args: str, stdin: bytes | None = None) -> Ended:
        runner = CliRunner(env={"SILICA_MEMORY_PATH": None, "SILICA_MEMORY_MODEL": None, **self.settings})
        done = runner.invoke(silica, ["memory", *args], input=stdin)
        return Ended(done.exit_code, done.stdout_bytes, done.stderr)

    def run(self, *args: str | bytes, **how: object) -> Ended:
        return self.silica("memory", *args, env=self.settings)

    def page(self, path: str, data: bytes | str) -> Path:
        """Somebody else changes a page."""
        body = data if isinstance(data, bytes) else data.encode()
        client().put_object(Bucket=self.bucket, Key=f"memory/{path}.md", Body=body)
        return Path(path)

    def files(self) -> dict[str, bytes]:
        """Every page, byte for byte."""
        found = keys(self.bucket).items()
        return {key.removeprefix("memory/"): data for key, data in found if "/.metadata/" not in key}


@pytest.fixture
def program(tmp_path: Path) -> Iterator[ProgramOnS3]:
    with new_bucket() as bucket:
        yield ProgramOnS3(tmp_path, tmp_path / "no such folder", bucket)


@pytest.fixture
def written(program: ProgramOnS3) -> ProgramOnS3:
    program.done("write", "Grace writes compilers")
    program.done("write", "--to", "people", "Ada keeps the books")
    return program


def test_where_nothing_was_done_yet_that_is_said_and_nothing_is_made(program: ProgramOnS3) -> None:
    shown = program.quick("history")
    assert (shown.code, shown.out) == (0, b"")
    assert f"s3://{program.bucket}/memory at {server()} has no history yet" in shown.err
    assert keys(program.bucket) == {}


def test_what_was_done_is_listed_and_shown_and_edits_by_hand_are_among_it(written: ProgramOnS3) -> None:
    written.page("people", written.files()["people.md"] + b"Linus likes penguins\n")
    listed = rows(written)
    assert all(ID.fullmatch(row[0]) for row in listed)
    assert [row[2:5] for row in listed] == [
        ["outside", "edited by hand: people", ""],
        ["write", "Ada keeps the books", "offline"],
        ["write", "Grace writes compilers", "offline"],
    ]
    assert [row[3] for row in rows(written, "memory")] == ["Ada keeps the books", "Grace writes compilers"]
    assert [row[3] for row in rows(written, "-n", "1")] == ["edited by hand: people"]
    shown = written.done("show", listed[1][0][:4].upper())
    assert "  in the tree to the letter: n1\n" in shown
    assert "+Ada keeps the books\n" in shown
    assert "+Linus likes penguins\n" in written.done("show", listed[0][0])


def test_what_differs_is_told_between_two_moments_and_from_one_to_now(written: ProgramOnS3) -> None:
    write, first = (row[0] for row in rows(written))
    assert "-Ada keeps the books\n" in written.done("diff", write, first)
    assert written.quick("diff", write).err == "silica: no difference\n"
    written.page("people", written.files()["people.md"].replace(b"Ada", b"Grace"))
    assert "-Ada keeps the books\n+Grace keeps the books\n" in written.done("diff", write)


def test_each_operation_is_undone_to_the_byte_and_the_undo_as_well(program: ProgramOnS3) -> None:
    states = [program.files()]
    for text in (
        "Grace writes compilers",
        "Linus likes penguins",
        "\n\n".join(f"## {n}\n\n" + "x " * 999 for n in "abc"),
    ):
        program.done("write", "--mode", "append", text)
        states.append(program.files())
    assert len(states[-1]) == 1
    program.done("split")
    states.append(program.files())
    assert len(states[-1]) > 1
    undos = []
    for state in states[-2::-1]:
        assert program.done("undo").startswith("undone: ")
        assert program.files() == state
        undos.append(newest(program))
    assert_sentence(program.quick("undo"), 2, "there is nothing to undo")
    for state in states[1:]:
        program.done("undo", undos.pop())
        assert program.files() == state


def test_a_page_and_all_pages_are_brought_back(written: ProgramOnS3) -> None:
    name, before = newest(written), written.files()
    written.done("delete", "people")
    written.done("restore", name, "people")
    assert "Ada keeps the books\n" in written.done("read", "people")
    written.done("rename", "people", "persons")
    assert written.done("restore", name).splitlines()[-1] == "  removed: persons"
    assert written.files() == before
    assert_sentence(written.quick("restore", rows(written)[-1][0], "people"), 3, "'people'")


def test_each_line_is_told_with_what_brought_it(written: ProgramOnS3) -> None:
    write = newest(written)
    written.page("people", written.files()["people.md"] + b"by hand")
    lines = [line.split("\t", 5) for line in written.done("blame", "people").splitlines()]
    assert [line[5] for line in lines] == written.files()["people.md"].decode().splitlines()
    assert [line[0] for line in lines] == [*[write] * (len(lines) - 1), newest(written)]
    assert (lines[0][2:4], lines[-1][2:4]) == (["write", "offline"], ["outside", ""])


def test_a_process_of_its_own_sees_and_undoes_the_same(written: ProgramOnS3) -> None:
    listed = written.run("history", "--json")
    assert listed.code == 0, listed
    assert json.loads(listed.text) == written.quick("history", "--json").json
    undone = written.run("undo")
    assert (undone.code, undone.err) == (0, "")
    assert undone.text.startswith("undone: ")
    assert written.files().keys() == {"memory.md"}


def test_old_records_that_are_gone_are_told_in_one_sentence_and_nothing_is_changed(written: ProgramOnS3) -> None:
    written.done("write", "--mode", "replace", "--to", "people", "Nobody")
    after, name = written.files(), newest(written)
    records = sorted(key for key in keys(written.bucket) if "/.metadata/history/0" in key)
    client().delete_object(Bucket=written.bucket, Key=records[-2])
    shutil.rmtree(written.home / "cache")
    for verb in (["undo"], ["show", name], ["blame", "people"]):
        assert_sentence(written.quick(*verb), 4, "a lifecycle rule")
    assert written.files() == after


def test_a_bucket_has_nothing_to_pack(written: ProgramOnS3) -> None:
    assert_sentence(written.run("gc"), 2, "needs no packing")
