"""Whatever is done to a memory, in whatever order: nothing is lost, the tree is whole, the index can be made again."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from memory_v2.errors import NotAllowed
from memory_v2.memory import Memory
from memory_v2.operations.results import Result, WriteResult
from memory_v2.settings import DEFAULT_THRESHOLD
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tree.block import encode, parse_blocks, split_lines
from memory_v2.tree.page import Page
from memory_v2.tree.path import ROOT, TakenPaths
from tests.effort import effort
from tests.properties.whole import clock, faults, missing, pages_of, says, texts_of

TRIED = settings(max_examples=effort(4, 60), stateful_step_count=14)
INDEX_EVERY = effort(3, 1)
"""The index is compared with a new one after so many steps, which takes longer than the steps do; and at the end."""
NAMES = ["Alice", "Boat", "Silica", "Deploy", "Garden", "Paris", "Ledger", "Kiln"]
PATHS = ["projects/silica", "people", "people/alice", "Log", "日本/京都", "a/b/c/d/e/f/g/h/i/j/k/l"]
QUERIES = ["Alice boat", "2026-02-03", "garden facts 7", "日本語 会議", "café", "code line"]


def sentence(n: int) -> str:
    name, other = NAMES[n % 8], NAMES[(n // 8 + 3) % 8]
    return f"{name} noted fact {n}: the {other.lower()} costs {n * 7} euros since 2026-{n % 12 + 1:02d}."


def several(n: int) -> list[str]:
    return [sentence(n * 31 + i) for i in range(4 + n % 9)]


TEXTS: dict[str, Callable[[int], str]] = {
    "sentence": sentence,
    "paragraphs": lambda n: "\n\n".join(several(n)) + "\n",
    "crlf": lambda n: f"## {NAMES[n % 8]} {n}\r\n\r\n" + "".join(f"- {line}\r\n" for line in several(n)) + "\r\n",
    "lone cr": lambda n: "\r\r".join(several(n)),
    "bom": lambda n: f"\ufeff# {NAMES[n % 8]} {n}\n\n{sentence(n)}\n",
    "fence": lambda n: f"{sentence(n)}\n\n```python\nx = [[x{n}]]  # code line\n\n# no heading {n}\n```\n",
    "open fence": lambda n: f"```\n[[open{n}]]\ncode line {n}\n\n- no item",
    "open html": lambda n: f"<!-- comment {n}\n\n# no heading\n",
    "table": lambda n: "| fact | n |\n|---|---|\n" + "".join(f"| {line} | `a\\|b` |\n" for line in several(n)),
    "nested": lambda n: "".join(f"- {line}\n  - below {n}\n\n    ```\n    deep\n    ```\n" for line in several(n)),
    "sections": lambda n: "".join(f"## {NAMES[(n + i) % 8]}\n\n{sentence(n + i)}\n\n" * 2 for i in range(5)),
    "setext": lambda n: f"Title {n}\n=====\n\n{sentence(n)}\n\nSub {n}\n---\n\n---\n",
    "reference": lambda n: f"[ref{n}]: /url{n}\n\nsee [ref{n}]\n\n[late{n}]: /x 'title\nof {n}'\n",
    "long paragraph": lambda n: f"start {n} " + " ".join(several(n) * 60),
    "long unbroken": lambda n: f"{n}" + "é🧠日x" * 3_000,
    "long fence": lambda n: f"```\nfirst {n}\n" + "".join(f"code line {i} of {n}\n" for i in range(1_500)) + "```\n",
    "long list item": lambda n: f"- item {n}\n" + "".join(f"  - {sentence(n * 100 + i)}\n" for i in range(500)),
    "long item of crlf": lambda n: f"- item {n}\r\n" + "".join(f"  more {n}-{i}\r\n" for i in range(1_500)),
    "long listing": lambda n: f"```\n{n}\n" + "## Links\n\n- [[a]]\n- [[b]] - c\n\n## Metadata\n\npiece: x\n" * 300,
    "cjk": lambda n: f"## 会議 {n}\n\n" + "".join(f"- 日本語の記録{n}と{i}：来週は東京で。\n" for i in range(30)),
    "emoji": lambda n: "\n\n".join("🧠🎉" * (n % 7 + 3) + f"{i}" for i in range(40)) + f" {n}",
    "only emoji": lambda n: "\n\n".join("🧠🎉👩‍💻" * (n % 5 + 3 + i % 7) for i in range(40)),
    "stop words": lambda n: "\n\n".join("and so it was of the " * (n % 4 + 1) + str(i) for i in range(60)),
    "nfd": lambda n: f"cafe\u0301 {n} in Zu\u0308rich\n\n- e\u0301te\u0301 {n}\n",
    "own links": lambda n: f"{sentence(n)}\n\n## Links\n\n- [[ghost {n}]] - boo\n",
    "own metadata": lambda n: f"{sentence(n)}\n\n## Metadata\n\nlast_updated: 2001-01-01\nowner: {n}\n",
    "own both": lambda n: f"## Links\n\n- [[ghost]]\n\n## Metadata\n\nsize_bytes: {n}\npiece: 1 of 1, 5 bytes of a\n",
    "log": lambda n: "".join(f"## 2026-{n % 4 + 1:02d}-{d + 1:02d}\n\n{sentence(n + d)}\n\n" for d in range(n % 9 + 2)),
    "log lines": lambda n: "".join(f"- 2026-{n % 5 + 1:02d}-{d + 1:02d}: {sentence(n + d)}\n" for d in range(12)),
    "old log": lambda n: "".join(f"## {2000 + i}-{n % 12 + 1:02d}-01\n\n{sentence(n + i)}\n\n" for i in range(26)),
    "dialogue": lambda n: "".join(f"Alice: Did you see {n * 50 + i}?\nBob: Yes, I love it!\n\n" for i in range(30)),
    "nearly nothing": lambda n: f"\n\n  {n}\n\n",
    "mark": lambda n: ["-", "#", "***", "---", "\\", "|", ">", "```", "\u00a0x", "[[", "<b>"][n % 11],
    "nul": lambda n: f"a\0b {n}\n\n\0\n\n\x0c {n} \x0b\n",
    "many items": lambda n: "".join(f"- {NAMES[(n + i) % 8]} {sentence(n * 9 + i)}\n" for i in range(70)),
    "long title": lambda n: f"# {sentence(n) * (n % 12 + 1)}\n\n{sentence(n + 1)}\n",
    "deep headings": lambda n: "".join(f"{'#' * (i % 6 + 1)} Part {n}\n\n{sentence(n + i)}\n" for i in range(30)),
}  # fmt: skip
texts = st.builds(lambda kind, n: TEXTS[kind](n), st.sampled_from(list(TEXTS)), st.integers(0, 90))
picks = st.integers(0, 999)


class TreeHolds(RuleBasedStateMachine):
    threshold = 2_048
    steps = 0

    @initialize()
    def begin(self) -> None:
        self.storage = VolatileStorage(clock)
        self.memory = self.reader()
        self.expected: dict[str, None] = {}
        self.is_edited = False

    def reader(self) -> Memory:
        return Memory(self.storage, threshold=self.threshold, now=clock)

    # what is done through the memory

    @rule(text=texts)
    def write_where_it_belongs(self, text: str) -> None:
        self.written(text, self.memory.write(text))

    @rule(text=texts, pick=picks)
    def write_again(self, text: str, pick: int) -> None:
        self.written(text, self.memory.write(text))
        self.written(text, self.memory.write(text))

    @rule(text=texts, path=st.sampled_from(PATHS))
    def write_on_a_page(self, text: str, path: str) -> None:
        self.written(text, self.memory.write(text, path))

    @rule(text=texts, pick=picks)
    def write_on_a_page_that_is_there(self, text: str, pick: int) -> None:
        if path := self.pick(pick):
            self.written(text, self.memory.write(text, path))

    @rule(text=texts, path=st.sampled_from([None, *PATHS]))
    def append(self, text: str, path: str | None) -> None:
        self.written(text, self.memory.write(text, path, "append"))

    @rule(text=texts, pick=picks)
    def replace(self, text: str, pick: int) -> None:
        path = self.pick(pick) or ROOT
        self.leave_out(path)
        self.written(text, self.memory.write(text, path, "replace"))

    @rule(pick=picks)
    def split(self, pick: int) -> None:
        if path := self.pick(pick, pieces=True):
            result = self.memory.split(path)
            self.told_truly(result)
            assert all(self.storage.exists(new) for new in result.new_files)

    @rule(pick=picks)
    def merge(self, pick: int) -> None:
        if (path := self.pick(pick)) and path != ROOT:
            try:
                self.told_truly(self.memory.merge(path))
            except NotAllowed:
                return
            assert not self.storage.exists(path)

    @rule(pick=picks, new=st.sampled_from(["renamed", "people/renamed", "Renamed/x", "projects", "people"]))
    def rename(self, pick: int, new: str) -> None:
        path = self.pick(pick)
        free = new not in TakenPaths(self.pages()) and not any(other.startswith(f"{new}/") for other in self.pages())
        if path and path != ROOT and free:
            self.told_truly(self.memory.rename(path, new))
            assert self.storage.exists(new)

    @rule(pick=picks)
    def rename_into_itself(self, pick: int) -> None:
        path = self.pick(pick)
        if path and path != ROOT and path.count("/") < 4 and not self.storage.exists(f"{path}/inner"):
            self.told_truly(self.memory.rename(path, f"{path}/inner"))

    @rule(pick=picks)
    def delete(self, pick: int) -> None:
        if (path := self.pick(pick)) and path != ROOT:
            self.leave_out(path)
            self.told_truly(self.memory.delete(path))

    @rule()
    def check(self) -> None:
        self.memory.checkup(apply=True)

    # what is done by hand

    @rule(pick=picks, text=texts, mended=st.booleans())
    @precondition(lambda self: self.pages())
    def append_by_hand(self, pick: int, text: str, mended: bool) -> None:
        path = self.pick(pick, pieces=True) or ROOT
        self.edited(path, self.storage.read(path).data + encode(text), mended)

    @rule(pick=picks, place=st.integers(0, 100), text=texts, mended=st.booleans())
    @precondition(lambda self: self.pages())
    def insert_by_hand(self, pick: int, place: int, text: str, mended: bool) -> None:
        path = self.pick(pick) or ROOT
        lines = split_lines(self.pages()[path].text)
        at = len(lines) * place // 100
        self.edited(path, encode("".join([*lines[:at], text, "\n", *lines[at:]])), mended)

    @rule(pick=picks, mended=st.booleans())
    @precondition(lambda self: self.pages())
    def remove_a_file(self, pick: int, mended: bool) -> None:
        if path := self.pick(pick, pieces=True):
            self.storage.delete(path)
            self.after_edit(mended or path == ROOT)

    @rule(path=st.sampled_from(["lost", "people/lost", "lost/and/found", "Lone"]), text=texts, mended=st.booleans())
    @precondition(lambda self: self.pages())
    def add_a_file(self, path: str, text: str, mended: bool) -> None:
        clash = any(p.casefold() in (path.casefold(), path.casefold().split("/")[0]) for p in self.pages())
        if not clash:
            self.edited(path, encode(text), mended)

    # what is expected

    def written(self, text: str, result: WriteResult) -> None:
        pages = self.pages()
        everything = texts_of(pages)
        for block in parse_blocks(text):
            content = block.content
            if not missing([content], everything):
                self.expected[content] = None
            else:
                assert says(pages, content), f"lost: {content[:80]!r}"
                assert result.outcome == "nothing new" or block.kind == "heading" or result.said_in
        assert self.storage.exists(result.path), result.path
        assert result.size_bytes == pages[result.path].size
        assert all(path in pages for path in (*result.new_files, *result.said_in))
        self.told_truly(result)

    def told_truly(self, result: Result) -> None:
        assert result.degraded == "", result.degraded
        if self.is_edited:
            self.mend()

    def edited(self, path: str, data: bytes, mended: bool) -> None:
        self.storage.write(path, data.replace(b"piece: 1 of 1,", b"nobody says"))  # that is for the program to say
        self.after_edit(mended)

    def after_edit(self, mended: bool) -> None:
        """What a hand took away is gone; all that is still there has to stay, whatever mends the tree."""
        self.expected = dict.fromkeys(set(self.expected) - set(missing(self.expected, texts_of(self.pages()))))
        self.is_edited = True
        if mended:
            self.mend()

    def mend(self) -> None:
        changes = self.memory.checkup(apply=True).changes
        assert changes is not None
        assert not changes.degraded, changes.degraded
        self.is_edited = False

    def leave_out(self, path: str) -> None:
        """What stands nowhere but on a page that is about to go need not stand any more."""
        pages = self.pages()
        if path in pages:
            others = {other: page for other, page in pages.items() if other != path}
            for content in missing(self.expected, texts_of(others)):
                del self.expected[content]

    def pages(self) -> dict[str, Page]:
        return pages_of(self.storage)

    def pick(self, number: int, pieces: bool = False) -> str | None:
        """One of the pages; a part of a large block only where it is asked for."""
        paths = sorted(path for path, page in self.pages().items() if pieces or page.piece is None)
        return paths[number % len(paths)] if paths else None

    @invariant()
    def nothing_is_lost(self) -> None:
        lost = missing(self.expected, texts_of(self.pages()))
        assert not lost, [content[:80] for content in lost]

    @invariant()
    def the_tree_is_whole(self) -> None:
        if self.is_edited:
            return  # the next operation has to do with the tree as it is
        found = faults(self.pages(), self.threshold)
        assert not found, found
        errors = [finding for finding in self.memory.check() if finding.severity == "error"]
        assert not errors, errors

    @invariant()
    def the_index_is_derived_now_and_then(self) -> None:
        self.steps += 1
        if self.steps % INDEX_EVERY == 0:
            self.the_index_is_derived()

    def teardown(self) -> None:
        self.the_index_is_derived()

    def the_index_is_derived(self) -> None:
        fresh = self.reader()
        assert fresh.list_files() == self.memory.list_files(), "other rows"
        assert fresh.graph().to_dict() == self.memory.graph().to_dict(), "another graph"
        for query in QUERIES:
            assert list(fresh.search(query)) == list(self.memory.search(query)), f"other answers to {query}"


class TreeHoldsByDefault(TreeHolds):
    threshold = DEFAULT_THRESHOLD


TestTreeHolds = TreeHolds.TestCase
TestTreeHolds.settings = TRIED
TestTreeHoldsByDefault = TreeHoldsByDefault.TestCase
TestTreeHoldsByDefault.settings = TRIED


def run_of(*steps: Callable[[TreeHolds], None]) -> None:
    """A history, with everything checked after each step."""
    machine = TreeHolds()
    machine.begin()
    for step in steps:
        step(machine)
        machine.nothing_is_lost()
        machine.the_tree_is_whole()
        machine.the_index_is_derived()


def test_an_index_that_was_kept_answers_as_one_that_is_new() -> None:
    """Passages that come to lie side by side in the tables have nothing to do with each other."""
    run_of(
        lambda tree: tree.write_on_a_page(text=TEXTS["many items"](86), path="people/alice"),
        lambda tree: tree.write_again(text=TEXTS["long paragraph"](75), pick=0),
        lambda tree: tree.rename_into_itself(pick=587),
    )


def test_pages_far_down_have_room_for_their_links() -> None:
    """Each line of `## Links` holds a path of a hundred bytes there; what is divided must still fit."""
    run_of(
        lambda tree: tree.write_on_a_page(text=TEXTS["sentence"](68), path="people"),
        lambda tree: tree.insert_by_hand(pick=69, place=91, text=TEXTS["long list item"](71), mended=True),
        lambda tree: tree.write_on_a_page_that_is_there(text=TEXTS["stop words"](30), pick=998),
    )


def test_the_parts_of_a_merged_block_are_not_written_over() -> None:
    run_of(
        lambda tree: tree.write_where_it_belongs(text=TEXTS["long fence"](21)),
        lambda tree: tree.merge(pick=1),
        lambda tree: tree.write_again(text=TEXTS["long fence"](39), pick=0),
    )
