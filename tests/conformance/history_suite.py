"""What every history promises: inherit `HistoryConformance` and say in fixtures how to make one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory_v2.storage.history import Extent, History, PageChange, Revision

from .storage_suite import at_once

BEGUN = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
ODD = ("日本語/メモ", "café", "emoji 🎉/a b", "עברית", "a", "a/b", "a-b", "a.b", '"quoted"', "tab\u00a0", "x" * 200)
"""Paths that plain git quotes, or sorts otherwise than one would think: `a.md` stands between `a-b.md` and `a/`."""

TEXTS = (
    "One line.",
    "",
    "\n\nA list:\n\n- one\n\n- two  \n\n\n",
    "Text:\n> quoted\n\nOperation: no\nDecided-by: nobody\n",
    "\r\nlines of\r\n\r\nanother\rsystem\u2028and\x0bmore\r",
    "a null \0 and\n\nmore “ü” 🎉\n",
    "    code\n\t\n",
)


def entry(number: int = 0, **told: Any) -> Revision:
    return Revision("write", f"fact {number}", f"op{number}", when=BEGUN + timedelta(minutes=number), **told)


def three(history: History) -> list[str]:
    """Three commits: two pages, one of them changed, the other removed."""
    return [
        history.record({"memory": b"# Memory\n", "people/ada": b"Ada\n"}, entry(0)),
        history.record({"memory": b"# Memory\n\nMore.\n"}, entry(1)),
        history.record({"people/ada": None}, entry(2)),
    ]


class Without:
    """Rules that take a word out, and a page."""

    def path(self, path: str) -> str | None:
        return None if path == "gone" else path.replace("secret", "(gone)")

    def page(self, data: bytes) -> bytes:
        return data.replace(b"secret", b"(gone)")

    def revision(self, revision: Revision) -> Revision:
        why = tuple(one.replace("secret", "(gone)") for one in revision.why)
        return replace(revision, text=revision.text.replace("secret", "(gone)"), why=why)


class HistoryConformance:
    """The conformance suite; the test class of a history inherits it and overrides the fixtures."""

    @pytest.fixture
    def history(self) -> History:
        """An empty history of its own for each test."""
        raise NotImplementedError("a conformance test says how to make its history")

    @pytest.fixture
    def another(self, history: History) -> Callable[[], History]:
        """Makes another one that is kept in the same place, as another process sees it."""
        raise NotImplementedError("a conformance test says how to make its history")

    def test_the_changes_of_many_revisions_are_those_of_each(self, history: History) -> None:
        three(history)
        history.record({"people/ada": b"Ada again\n", "b": b"b\n"}, entry(3))
        revisions = list(history.revisions())[::-1]
        each = [history.difference(history.before(one.id), one.id) for one in revisions]
        assert list(history.changed_by(revisions)) == each
        assert list(history.changed_by(revisions[2:])) == each[2:]
        assert list(history.changed_by([])) == []

    def test_what_is_recorded_is_told_newest_first(self, history: History) -> None:
        ids = three(history)
        assert [one.id for one in history.revisions()] == ids[::-1]
        assert list(history.revisions()) == [
            replace(entry(2), id=ids[2], paths=("people/ada",)),
            replace(entry(1), id=ids[1], paths=("memory",)),
            replace(entry(0), id=ids[0], paths=("memory", "people/ada")),
        ]
        assert [one.is_first for one in history.revisions()] == [False, False, True]
        assert [one.id for one in history.revisions("people/ada")] == [ids[2], ids[0]]
        assert list(history.revisions("people")) == []
        assert [history.before(one) for one in ids] == ["", ids[0], ids[1]]

    @pytest.mark.parametrize("text", TEXTS)
    def test_a_text_is_kept_to_the_letter_with_pages_and_without(
        self, text: str, history: History, another: Callable[[], History]
    ) -> None:
        changed: dict[str, bytes | None] = {"memory": b"# Memory\n"}
        first = history.record(changed, entry(0, why=("said already",), text=text))
        alone = history.record({}, entry(1, decided_by="a:model", why=("said already",), text=text))
        nothing = history.record({}, Revision("write", "", when=BEGUN, text=text))
        told = [replace(one, is_first=False) for one in another().revisions()]
        assert told == [
            Revision("write", "", when=BEGUN, text=text, id=nothing),
            replace(entry(1, decided_by="a:model", why=("said already",), text=text), id=alone),
            replace(entry(0, why=("said already",), text=text), id=first, paths=("memory",)),
        ]
        assert history.pages(nothing) == history.pages(first)
        assert history.difference(first, nothing) == ()
        assert history.before(nothing) == alone

    def test_ids_are_hexadecimal_and_differ(self, history: History) -> None:
        ids = [history.record({"memory": b"x"}, entry()) for _ in range(3)]
        assert len(set(ids)) == 3
        assert all(len(one) == 40 and set(one) <= set("0123456789abcdef") for one in ids)

    def test_pages_are_told_as_they_were_after_each_commit(self, history: History) -> None:
        first, second, third = three(history)
        assert history.pages(first) == {"memory": b"# Memory\n", "people/ada": b"Ada\n"}
        assert history.pages(second) == {"memory": b"# Memory\n\nMore.\n", "people/ada": b"Ada\n"}
        assert history.pages(third) == {"memory": b"# Memory\n\nMore.\n"}
        assert history.read(first, "memory") == b"# Memory\n"
        assert history.read(second, "people/ada") == b"Ada\n"
        assert history.read(third, "people/ada") is None
        assert history.read(third, "people") is None
        assert history.read(third, "memory/below") is None

    def test_the_states_of_a_page_are_told_oldest_first(self, history: History) -> None:
        first, second, third = three(history)
        told = [(one.id, data) for one, data in history.states("people/ada")]
        assert told == [(first, b"Ada\n"), (third, None)]
        assert [(one.id, data) for one, data in history.states("memory")] == [
            (first, b"# Memory\n"),
            (second, b"# Memory\n\nMore.\n"),
        ]
        assert list(history.states("nowhere")) == []

    def test_nothing_is_there_before_the_first_record(self, history: History) -> None:
        assert not history.begun
        assert list(history.revisions()) == []
        assert history.unrecorded({"memory": None}) == {}
        assert history.unrecorded({"memory": b"x"}) == {"memory": b"x"}
        assert not history.begun

    def test_a_history_has_begun_once_something_is_recorded(self, history: History) -> None:
        history.record({"memory": b"x"}, entry())
        assert history.begun

    def test_what_differs_from_the_newest_commit_is_stale(self, history: History) -> None:
        three(history)
        same: dict[str, bytes | None] = {"memory": b"# Memory\n\nMore.\n", "people/ada": None, "nowhere": None}
        assert history.unrecorded(same) == {}
        other: dict[str, bytes | None] = {"memory": None, "people/ada": b"", "people": b"x"}
        assert history.unrecorded({**other, "nowhere": None}) == other

    def test_the_newest_revision_is_the_head_and_what_is_checked_out_is_noted(
        self, history: History, another: Callable[[], History]
    ) -> None:
        assert (history.head, history.checked_out) == ("", "")
        ids = three(history)
        assert (history.head, history.checked_out) == (ids[2], "")
        history.mark_checked_out(ids[1])
        assert (another().head, another().checked_out) == (ids[2], ids[1])
        history.mark_checked_out(ids[2])
        assert history.checked_out == another().checked_out == ids[2]

    def test_the_pages_that_were_changed_since_a_stamp_are_told_or_unknown(
        self, history: History, another: Callable[[], History]
    ) -> None:
        for revision in three(history)[:2]:
            history.mark_checked_out(revision)
        assert another().changed_since(history.stamp) in ({"people/ada"}, None)
        assert history.changed_since(history.head) in (frozenset(), None)
        assert history.changed_since("") is None
        assert history.changed_since("0" * 40) is None

    def test_two_revisions_are_compared(self, history: History) -> None:
        first, second, third = three(history)
        more = PageChange("memory", b"# Memory\n", b"# Memory\n\nMore.\n")
        assert history.difference(first, second) == (more,)
        assert history.difference(first, third) == (more, PageChange("people/ada", b"Ada\n", None))
        assert history.difference(third, second) == (PageChange("people/ada", None, b"Ada\n"),)
        assert history.difference("", first) == (
            PageChange("memory", None, b"# Memory\n"),
            PageChange("people/ada", None, b"Ada\n"),
        )
        assert history.difference(second, second) == ()

    def test_the_newest_revision_can_be_taken_back(self, history: History, another: Callable[[], History]) -> None:
        ids = three(history)
        other = another()
        assert other.head == ids[2]
        history.take_back(ids[2])
        assert [one.id for one in history.revisions()] == [one.id for one in other.revisions()] == [ids[1], ids[0]]
        assert history.head == other.head == ids[1]
        assert history.unrecorded({"people/ada": None}) == {"people/ada": None}
        again = other.record({"people/ada": b"Ada L.\n"}, entry(4))
        assert history.before(again) == ids[1]
        assert history.pages(again)["people/ada"] == b"Ada L.\n"

    def test_a_first_revision_that_is_taken_back_leaves_a_history_that_has_not_begun(self, history: History) -> None:
        history.take_back(history.record({"memory": b"x"}, entry(0)))
        assert not history.begun
        assert (history.head, list(history.revisions())) == ("", [])

    def test_removing_the_last_page_leaves_nothing_and_goes_on(self, history: History) -> None:
        history.record({"a/b/c": b"x"}, entry(0))
        gone = history.record({"a/b/c": None}, entry(1))
        assert history.pages(gone) == {}
        again = history.record({"a": b"y"}, entry(2))
        assert history.pages(again) == {"a": b"y"}

    def test_a_commit_that_changes_nothing_is_an_entry_without_pages(self, history: History) -> None:
        history.record({"memory": b"x"}, entry(0))
        history.record({"memory": b"x", "nowhere": None}, entry(1))
        assert [one.paths for one in history.revisions()] == [(), ("memory",)]

    def test_paths_in_any_script_come_back_as_they_are(self, history: History) -> None:
        pages = {path: f"# {path}\n".encode() for path in ODD}
        for number, (path, data) in enumerate(pages.items()):
            history.record({path: data}, entry(number))
        newest = next(history.revisions())
        assert history.pages(newest.id) == pages
        assert {path: history.read(newest.id, path) for path in ODD} == pages
        assert {one.paths for one in history.revisions()} == {(path,) for path in ODD}
        assert all(len(list(history.revisions(path))) == 1 for path in ODD)
        assert history.unrecorded(dict(pages)) == {}

    @pytest.mark.parametrize(
        "data", [b"", b"\0", b"\xff\xfe", b"a\r\nb", b"no end", bytes(range(256)) * 4_000], ids=len
    )
    def test_bytes_come_back_as_they_are(self, history: History, data: bytes) -> None:
        one = history.record({"memory": data}, entry())
        assert history.read(one, "memory") == data
        assert history.pages(one) == {"memory": data}

    def test_two_at_once_and_one_after_the_other_see_the_same(
        self, history: History, another: Callable[[], History]
    ) -> None:
        other = another()
        history.record({"memory": b"1"}, entry(0))
        assert other.begun
        other.record({"memory": b"2"}, entry(1))
        assert [entry.summary for entry in history.revisions()] == ["fact 1", "fact 0"]
        assert history.unrecorded({"memory": b"2"}) == {}
        assert list(another().revisions()) == list(history.revisions())

    def test_threads_record_and_read_side_by_side(self, history: History) -> None:
        history.record({"memory": b"0"}, entry(0))

        def work(number: int) -> None:
            for turn in range(5):
                history.record({f"page-{number}": b"%d" % turn}, entry(number))
                assert next(history.revisions()).id

        at_once(4, work)
        assert len(list(history.revisions())) == 21
        assert len(history.pages(next(history.revisions()).id)) == 5

    def test_reading_can_be_left_off_in_the_middle(self, history: History) -> None:
        ids = three(history)
        entries = history.revisions()
        assert next(entries).id == ids[2]
        assert history.read(ids[0], "memory") == b"# Memory\n"
        history.record({"memory": b"meanwhile"}, entry(3))
        assert [one.id for one in entries] == [ids[1], ids[0]]
        abandoned = history.revisions()
        next(abandoned)
        del abandoned
        states = history.states("memory")
        next(states)
        del states

    # What is told

    def test_all_that_is_known_of_an_operation_is_told(self, history: History) -> None:
        one = Revision(
            "write", "日本語", "op", "a model", "the model failed: no key", "op0", ("n1: kept", "all"), BEGUN
        )
        name = history.record({"memory": b"x"}, one)
        assert list(history.revisions()) == [replace(one, id=name, paths=("memory",))]

    @pytest.mark.parametrize("why", ["Operation: pretended", "Undoes: 3fa09c123456", "Degraded: no"])
    def test_a_reason_is_never_taken_for_something_else(self, history: History, why: str) -> None:
        one = Revision("write", "fact", why=(why,), when=BEGUN)
        name = history.record({"memory": b"x"}, one)
        assert list(history.revisions()) == [replace(one, id=name, paths=("memory",))]

    def test_what_takes_several_lines_is_told_in_one(self, history: History) -> None:
        several = Revision("write", "one\n\ntwo", "op", "m", "a\r\nOperation: b", "", ("c\u2028d",), BEGUN)
        history.record({"memory": b"x"}, several)
        (found,) = history.revisions()
        told = (found.summary, found.operation, found.degraded, found.why)
        assert told == ("one two", "op", "a Operation: b", ("c d",))

    @pytest.mark.parametrize("text", ["\ud800", "\udcff", "half \ud83d of a pair"], ids=ascii)
    def test_words_that_are_no_utf8_do_not_keep_a_change_out_of_the_history(self, history: History, text: str) -> None:
        history.record({"memory": b"x"}, entry(degraded=f"the model failed: {text}"))
        (found,) = history.revisions()
        assert found.degraded.startswith("the model failed: ")
        assert found.operation == "op0"

    def test_a_rewritten_history_never_had_what_the_rules_take_out(
        self, history: History, another: Callable[[], History]
    ) -> None:
        before = history.record({"memory": b"# Memory\n", "a/b": b"plain\n"}, entry(0))
        held = history.record({"secret/page": b"x\n", "memory": b"# Memory\n\nsecret\n"}, entry(1, text="a secret"))
        history.record({"memory": b"# Memory\n\nsecret and more\n", "gone": b"never\n"}, entry(2, undoes=held))
        history.record({"secret/page": None, "gone": b"never again\n"}, entry(3, why=("a secret",)))
        rewrite = history.rewriting(Without())
        assert rewrite.extent() == rewrite.extent() == Extent(3, 2)
        last = history.record({"a/b": b"secret plain\n"}, entry(4))
        assert rewrite.extent() == Extent(4, 3)
        staged = rewrite.stage(Revision("forget", "in 4", "op9", when=BEGUN))
        assert history.head == last  # nothing that is staged is read
        history.adopt(json.loads(json.dumps(staged)))
        history.adopt(staged)  # as after an interruption
        for seen in (history, another()):
            told = list(seen.revisions())[::-1]
            assert [one.kind for one in told] == ["write"] * 5 + ["forget"]
            assert [one.operation for one in told] == ["op0", "op1", "op2", "op3", "op4", "op9"]
            assert told[0].id == before and held not in {one.id for one in told}
            assert told[1].text == "a (gone)" and told[3].why == ("a (gone)",) and told[2].undoes == told[1].id
            assert seen.pages(told[1].id) == {
                "memory": b"# Memory\n\n(gone)\n", "a/b": b"plain\n", "(gone)/page": b"x\n"
            }  # fmt: skip
            assert seen.pages(told[4].id) == {"memory": b"# Memory\n\n(gone) and more\n", "a/b": b"(gone) plain\n"}
            assert seen.checked_out == seen.head == told[5].id
            assert not seen.rewriting(Without()).extent()
        history.record({"memory": b"# Memory\n"}, entry(10))
        assert another().pages(history.head)["memory"] == b"# Memory\n"

    def test_a_history_is_rewritten_from_its_first_revision_on(
        self, history: History, another: Callable[[], History]
    ) -> None:
        history.record({"secret": b"secret\n"}, entry(0, text="secret"))
        rewrite = history.rewriting(Without())
        history.adopt(rewrite.stage(Revision("forget", "", "op9", when=BEGUN)))
        assert another().pages(history.head) == {"(gone)": b"(gone)\n"}
        assert [one.is_first for one in another().revisions()] == [False, True]
