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

from .program import Ended, Program, write_twice
from .test_failures import assert_sentence
from .test_past import (  # noqa: F401 - what holds for a folder is tested here again
    newest,
    rows,
    test_a_page_is_brought_back_and_the_others_stay,
    test_a_page_that_was_deleted_is_brought_back_by_its_name,
    test_all_pages_are_brought_back_to_the_byte,
    test_an_operation_is_shown_with_who_decided_why_and_the_diff,
    test_each_line_is_told_with_what_brought_it,
    test_what_cannot_be_undone_is_refused_in_one_sentence_and_nothing_is_changed,
    test_what_differs_between_two_moments_is_a_unified_diff,
    test_what_was_edited_by_hand_is_listed_and_can_be_undone,
)

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
    write_twice(program)
    return program


def test_where_nothing_was_done_yet_that_is_said_and_nothing_is_made(program: ProgramOnS3) -> None:
    shown = program.quick("history")
    assert (shown.code, shown.out) == (0, b"")
    assert f"s3://{program.bucket}/memory at {server()} has no history yet" in shown.err
    assert keys(program.bucket) == {}


def test_a_process_of_its_own_sees_and_undoes_the_same(written: ProgramOnS3) -> None:
    listed = written.run("history", "--json")
    assert listed.code == 0, listed
    assert json.loads(listed.text) == written.quick("history", "--json").json
    undone = written.run("undo")
    assert undone.code == 0 and undone.err.startswith("silica: another undo would undo ")
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
