"""Audits a memory in a folder against a log of what was done with it.

It uses no code of the product. What it knows of the format is in `docs/format.md`: which files are pages, how a message
is laid out, that a block too large for a page is cut into pieces that say so below `## Metadata`, and that a page made
of a section notes there what its heading was, and the rules at its end. It reads the Markdown files, the log, and the
history through plain git, and shows

1. that the text of every acknowledged write is in the history to the letter: on the pages of a commit of its operation,
   or in the message of one;
2. that each line of those texts, and each line written by hand, is on a page, or was taken away by somebody: by the
   user, as the log says, or by a decision whose message names the line and gives a reason; a section's heading may
   have become the title of its page, and rules may have gone from the end of a page, if the page's metadata notes it;
3. that no number stands on a page that neither the page had nor anybody gave.

The log has a JSON object per line for each operation: what was `did`, its arguments, whether it was `acknowledged`, and
the newest commit `before` and `after` it.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

LINE_END = re.compile(r"\r\n|\r|\n")
PIECE = re.compile(r"^piece: (\d+) of (\d+), (\d+) bytes of \w+\s*$", re.M)
PROPERTIES = re.compile(r"[\w-]+:|\s*$")
NOTED = re.compile(r"^(title_level|rules_below): (.+)$", re.M)
FRONT_MATTER = re.compile(r"\A---\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*\n")
SIGNED = re.compile(r"#(?=[ \t]|$)")
UNDERLINED = re.compile(r"(?:[ \t]*\S.*\n)+? {0,3}(=+)[ \t]*(?:\n|$)")
"""The title of a page: a line with a number sign, or lines with a line of equals signs below them."""
PIECES = "/part-*"
"""The end of the name of a document that stands on several pages."""
TRAILER = re.compile(r"(Operation|Agent|Decided-by|Degraded|Undoes): (.*)")

Operation = dict[str, Any]

LINK = re.compile(r"\[\[([^\[\]|#\r\n]*)(?:#[^\[\]|\r\n]*)?(?:\|([^\[\]\r\n]*))?\]\]")
TAKEN_OUT = re.compile(r'blocks? [\d, -]+ of ([^"]+) was taken out, ("(?:[^"\\]|\\.)*"), because: (.*\w.*)')
SAID = re.compile(r"said already: [n\d, -]+ \(lines? ([\d, -]+)\), by (blocks? .*)")
RETOLD = re.compile(r"in other words, .*: [n\d, -]+ \(lines? ([\d, -]+)\)")
WORD = re.compile(r"\d+|[\u3040-\u9fff]|[^\W\d\u3040-\u9fff]+")
"""A number, a word, or a character of a script that writes words without spaces."""
LISTED = re.compile(r"^- \[\[[^\]]*\]\](?: - )?")
PROPERTY = re.compile(r"(last_updated|size_bytes|split_from|piece|repeated_headings|title_level|rules_below): ")
FREE_REMOVAL = 1_000
"""How many bytes a write may take out in addition to twice the length of its text."""
BACK = ("undo", "restore")


@dataclass
class Audit:
    """What was found.

    `whole` writes stand on the pages of a commit of theirs as they are, `quoted` ones in its message, the others in
    parts. `left` counts the lines that are not in the tree by what accounts for them.
    """

    writes: int = 0
    whole: int = 0
    quoted: int = 0
    sentences: int = 0
    standing: int = 0
    left: Counter[str] = field(default_factory=Counter)
    departures: int = 0
    violations: list[str] = field(default_factory=list)


def audit(folder: Path, log: Path) -> Audit:
    """Checks everything."""
    operations: list[Operation] = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    with Repository(folder / ".metadata" / "history.git") as repository:
        commits = repository.commits()
        auditor = _Auditor(repository, _by_operation(commits, operations), operations)
        auditor.walk(commits)
        auditor.compare_with(folder)
    return auditor.found


def _by_operation(commits: Sequence[Commit], operations: Iterable[Operation]) -> dict[str, Operation]:
    """The operation during which each commit was made. One that was made during another is logged first."""
    places = {commit.id: place for place, commit in enumerate(commits, 1)}
    found: dict[str, Operation] = {}
    for operation in operations:
        for commit in commits[places.get(operation["before"], 0) : places.get(operation["after"], 0)]:
            found.setdefault(commit.id, operation)
    return found


class _Auditor:
    def __init__(self, repository: Repository, made_in: dict[str, Operation], operations: list[Operation]) -> None:
        self.found = Audit()
        self.repository = repository
        self.made_in = made_in
        self.operations = operations
        self.texts = {one["n"]: _letters(one["text"]) for one in operations if one["did"] == "write"}
        self.tracked: dict[str, None] = {}
        """Each line that must be accounted for, without the blanks around it."""
        for one in operations:
            given = one.get("text", "") if one["did"] == "write" and one["acknowledged"] else ""
            self.tracked |= dict.fromkeys(_full(lines_of(given)) + one.get("added", []))
        self.given = {line for one in operations for line in _given(one)}
        self.words = _words("\n".join(self.given))
        self.first: dict[str, Commit] = {}
        """The first commit of each operation, by the name that its message gives, and each commit by its id."""
        self.where: dict[str, set[str]] = {line: set() for line in self.tracked}
        self.reasons: dict[str, str] = {}
        """Why each line is not in the tree, the newest reason."""
        self.noted: set[int] = set()
        """The operations of which it is noted what was edited by hand."""
        self.edited_by_hand: set[str] = set()
        self.removed_by_hand: set[tuple[str, str]] = set()
        self.stood_for: set[tuple[str, str]] = set()

    # the commits in order

    def walk(self, commits: list[Commit]) -> None:
        """Follows each line through the history."""
        given: dict[int, list[Commit]] = {one["n"]: [] for one in self.operations}
        for commit in commits:
            if operation := self.made_in.get(commit.id):
                given[operation["n"]].append(commit)
            else:
                self.wrong(f"commit {commit.id[:12]} was made in no operation")
        last = {made[-1].id for made in given.values() if made}
        logged = iter(self.operations)
        for commit in commits:
            if (operation := self.made_in.get(commit.id)) is None:
                continue
            while operation["n"] not in self.noted:
                self._note_edit(next(logged))
            self._follow(commit, operation)
            if commit.id in last:
                self._kept(operation, given[operation["n"]])
        for operation in self.operations:
            if not given[operation["n"]]:
                self._kept(operation, [])

    def _note_edit(self, operation: Operation) -> None:
        """Notes what was edited by hand in an operation; a commit may follow later."""
        self.noted.add(operation["n"])
        if operation["did"] == "edit" and operation["acknowledged"]:
            self.edited_by_hand.add(operation["page"])
            self.removed_by_hand |= {(operation["page"], line) for line in operation["removed"]}

    def wrong(self, what: str) -> None:
        """Notes a violation."""
        self.found.violations.append(what)

    def _follow(self, commit: Commit, operation: Operation) -> None:
        """Finds out which lines a commit has taken out of the tree, and who accounts for it."""
        self.first.setdefault(commit.trailers.get("Operation", commit.id), commit)
        came: dict[str, set[str]] = {}
        went: dict[str, set[str]] = {}
        if commit.kind == "undo" and not self._is_undone(commit):
            self.wrong(f"operation {operation['n']}: {commit.id[:12]} does not bring back what was there before")
        for path, before, after in self.repository.documents_changed(commit):
            self.stood_for |= {(path, line.strip()) for line in noted_lines(before)}
            old, new = (self._lines_in(text) for text in (before, after))
            for line in new - old:
                came.setdefault(line, set()).add(path)
            for line in old - new:
                went.setdefault(line, set()).add(path)
            if commit.kind == "write":
                for line in self._invented_numbers(before, after):
                    self.wrong(f"operation {operation['n']}: a number that nobody gave: {line[:120]!r}")
        for line in came:
            self.where[line] |= came[line]
            self.reasons.pop(line, None)
        for line, paths in went.items():
            self.where[line] -= paths
            if not self.where[line]:
                self.found.departures += 1
                if reason := self._reason(line, paths, commit, operation):
                    self.reasons[line] = reason
                else:
                    self.reasons[line] = "nobody"
                    what = f"{commit.kind} {commit.id[:12]} took it from {', '.join(sorted(paths))}, unnamed"
                    self.wrong(f"operation {operation['n']} ({operation['did']}): {what}: {line[:120]!r}")

    def _is_undone(self, commit: Commit) -> bool:
        """Whether an undo leaves each page that it changes as it was before the operation that it undoes."""
        undone = self.first.get(commit.trailers.get("Undoes", ""))
        return undone is not None and all(
            after == self.repository.page(undone.parent_tree, path)
            for path, _, after in self.repository.documents_changed(commit)
            if not path.endswith(PIECES)
        )

    def _lines_in(self, text: str) -> set[str]:
        return {line for line in _all(text) if line in self.tracked}

    def _reason(self, line: str, paths: set[str], commit: Commit, operation: Operation) -> str:
        """Who accounts for a line that has left the tree in a commit; empty if nobody does."""
        did = operation["did"]
        if commit.kind == "outside":
            return "edited by hand" if all(self._is_edited(path, line) for path in paths) else ""
        if did in BACK and commit.kind == did and operation["acknowledged"]:
            return f"{did} by the user" if did != "undo" or commit.trailers.get("Undoes") else ""
        if did == "delete" and commit.kind == "delete" and all(_is_on(operation["page"], path) for path in paths):
            return "page deleted by the user"
        if did == "write" and operation["mode"] == "replace" and paths == {operation["page"] or "memory"}:
            return "page replaced by the user" if commit.kind == "write" else ""
        if commit.kind == "write" and all(self._is_named(commit, path, line) for path in paths):
            return "taken out by a decision"
        if did in ("rename", "delete", "merge", "check") and _without_links(line) in self._without_links(commit):
            return "a link in it follows its page"
        return ""

    def _is_edited(self, document: str, line: str) -> bool:
        """Whether somebody took a line, or what stood for it, out of a document; or edited a piece of a large block."""
        if document.endswith(PIECES):
            return any(_is_on(page, document) for page in self.edited_by_hand)
        noted = self.stood_for if document in self.edited_by_hand else set()
        return (document, line) in self.removed_by_hand | noted

    def _is_named(self, commit: Commit, path: str, line: str) -> bool:
        """Whether the message of a commit names a line of a page that it takes out, or the title that stood for it."""
        title = line.replace("-", "=") if set(line) == {"-"} else f"#{line.lstrip('#')}"
        stood = {line, title} if (path, line) in self.stood_for else {line}
        return any(_takes_out(commit, path, one) for one in stood)

    def _without_links(self, commit: Commit) -> set[str]:
        changed = self.repository.documents_changed(commit)
        return {_without_links(line) for _, _, after in changed for line in _all(after)}

    # the text of a write

    def _kept(self, operation: Operation, commits: list[Commit]) -> None:
        """Checks that the text of a write is in the history, and that what is not in the tree is accounted for."""
        if operation["did"] != "write" or not operation["acknowledged"]:
            return
        text = self.texts[operation["n"]]
        self.found.writes += 1
        pages = [_letters(after) for commit in commits for _, _, after in self.repository.documents_changed(commit)]
        if any(text.strip("\n") in page for page in pages):
            self.found.whole += 1
        elif any(_letters(commit.text) == text for commit in commits):
            self.found.quoted += 1
        else:
            there = {line for page in pages for line in (*page.split("\n"), *noted_lines(page))}
            lost = [line for line in text.split("\n") if line.strip() and line not in there]
            if lost:
                self.wrong(f"operation {operation['n']}: not in the history: {lost[0][:120]!r}")
        allowed = FREE_REMOVAL + 2 * len(text.encode())
        named = [json.loads(found[2]) for c in commits for why in c.why if (found := TAKEN_OUT.fullmatch(why))]
        if sum(len(words.encode()) for words in named) > allowed:
            self.wrong(f"operation {operation['n']}: took out more than the {allowed} bytes that it may")
        for number, line in enumerate(text.split("\n"), 1):
            if (key := line.strip()) and not self.where[key] and key not in self.reasons:
                self.reasons[key] = self._not_taken_in(number, commits)
                if self.reasons[key] == "nobody":
                    self.wrong(f"operation {operation['n']}: never in the tree, and unnamed: {key[:120]!r}")

    def _not_taken_in(self, number: int, commits: list[Commit]) -> str:
        """Why a line of a text has never come into the tree."""
        for commit in (commit for commit in commits if commit.text):
            for why in commit.why:
                if (found := SAID.fullmatch(why)) and number in _numbers(found[1]):
                    return "said already, by what the message names"
                if (found := RETOLD.fullmatch(why)) and number in _numbers(found[1]):
                    return "told in a model's own words"
        return "nobody"

    # the pages as they are

    def compare_with(self, folder: Path) -> None:
        """Checks the files against the history, and counts what is on them."""
        files = {
            file.relative_to(folder).as_posix().removesuffix(".md"): file.read_text("utf-8", "surrogateescape")
            for file in folder.rglob("*.md")
            if not any(part.startswith(".") for part in file.relative_to(folder).parts)
        }
        recorded = self.repository.pages()
        for path in files.keys() | recorded.keys():
            if _letters(files.get(path, "")) != _letters(recorded.get(path, "")):
                self.wrong(f"the file {path} is not as the history has it")
        self.found.sentences = len(self.tracked)
        self.found.standing = sum(1 for line in self.tracked if self.where[line])
        for line in self.tracked:
            if not self.where[line]:
                by_hand = "edited by hand" if line in {gone for _, gone in self.removed_by_hand} else "nobody"
                reason = self.reasons.get(line, by_hand)
                self.found.left[reason] += 1
                if line not in self.reasons and reason == "nobody":
                    self.wrong(f"never in the history: {line[:120]!r}")

    def _invented_numbers(self, before: str, after: str) -> Iterator[str]:
        """The sentences that are new on a page, and have a number that neither the page had nor anybody gave."""
        old = set(_told(before))
        known = self.words.union(*(_words(line) for _, line in old))  # not the time in its metadata
        for kind, line in set(_told(after)) - old:
            if kind == "sentences" and line not in self.given and any(map(str.isdigit, _words(line) - known)):
                yield line


def _given(operation: Operation) -> list[str]:
    """The lines that somebody gave in an operation, kept or not."""
    return _full([*lines_of(operation.get("text") or ""), *operation.get("added", ())])


def _told(text: str) -> Iterator[tuple[str, str]]:
    """The lines of a page, each with what it is: a title, a description, or a sentence."""
    body = text[: text.rfind("## Metadata\n")] if "## Metadata\n" in text else text
    above, _, listed = body.rpartition("## Links\n")
    if not above:
        above, listed = body, ""
    for number, line in enumerate(_full(lines_of(above))):
        if LISTED.match(line):  # somebody has taken the heading above it away
            yield "descriptions", LISTED.sub("", line)
        elif PROPERTY.match(line):  # likewise
            continue
        elif not line.startswith("[["):
            yield "titles" if not number and line.startswith("# ") else "sentences", line
    yield from (("descriptions", LISTED.sub("", line)) for line in _full(lines_of(listed)))


def _takes_out(commit: Commit, path: str, line: str) -> bool:
    """Whether the message of a commit names a block of this page with this line, and a reason."""
    told = " ".join(line.split())
    named = (TAKEN_OUT.fullmatch(why) for why in commit.why)
    return any(found[1] == path and told in json.loads(found[2]) for found in named if found)


def _is_on(page: str, document: str) -> bool:
    """Whether a page is a document, or has a piece of it."""
    return page == document or (document.endswith(PIECES) and page.startswith(document.removesuffix("*")))


def _letters(text: str) -> str:
    """A text with one kind of line end, and without the mark that says how a file is encoded."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _full(found: Iterable[str]) -> list[str]:
    return [line.strip() for line in found if line.strip()]


def _all(page: str) -> list[str]:
    """The lines of a page, and those that its metadata stands for."""
    return _full([*lines_of(page), *noted_lines(page)])


def _without_links(line: str) -> str:
    return LINK.sub(lambda link: link[2] or "", line.replace("`", ""))


def _words(text: str) -> set[str]:
    return {word.casefold() for word in WORD.findall(text)}


def _numbers(told: str) -> set[int]:
    """`4-6, 9` → 4, 5, 6, 9."""
    ends = [[int(number) for number in part.split("-")] for part in told.split(",")]
    return {number for end in ends for number in range(end[0], end[-1] + 1)}


def lines_of(text: str) -> list[str]:
    """The lines of a text, without their ends."""
    return LINE_END.split(text)


def metadata_of(page: str) -> tuple[str, str]:
    """A page above its metadata, and those; all and nothing if somebody wrote in them, or took their heading away."""
    body, _, metadata = "\n".join(lines_of(page.removeprefix("\ufeff"))).rpartition("\n## Metadata\n")
    return (body, metadata) if all(map(PROPERTIES.match, metadata.split("\n"))) else (page, "")


def noted_lines(page: str) -> list[str]:
    """The lines that the metadata of a page stands for: the heading of a section, now its title, and rules below it."""
    body, metadata = metadata_of(page)
    notes: dict[str, str] = dict(NOTED.findall(metadata))
    rules, level = notes.get("rules_below", "").split(", "), notes.get("title_level", "")
    top = FRONT_MATTER.sub("", body).lstrip()
    if SIGNED.match(top) and level in list("23456"):
        return [SIGNED.sub("#" * int(level), lines_of(top)[0]), *rules]
    if level == "2" and (found := UNDERLINED.match(top)):
        return ["-" * len(found[1]), *rules]
    return rules


@dataclass(frozen=True)
class Commit:
    """One commit: what its message says, and the trees after it and before it."""

    id: str
    tree: str
    parent_tree: str
    kind: str
    why: tuple[str, ...]
    text: str
    trailers: dict[str, str]


class Repository:
    """A bare repository, read by `git cat-file --batch`."""

    def __init__(self, folder: Path) -> None:
        self._git = ["git", "--git-dir", str(folder)]
        self._batch = subprocess.Popen(
            [*self._git, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._read = lru_cache(20_000)(self._fetched)
        self._files = lru_cache(20_000)(self._listed)

    def __enter__(self) -> Repository:
        return self

    def __exit__(self, *_: object) -> None:
        self._batch.communicate()

    def commits(self) -> list[Commit]:
        """The commits, oldest first."""
        listed = subprocess.run([*self._git, "rev-list", "--reverse", "main"], capture_output=True, check=True)
        commits: list[Commit] = []
        for name in listed.stdout.decode().split():
            head, _, message = self._read(name).decode("utf-8", "surrogateescape").partition("\n\n")
            tree = head.partition("\n")[0].removeprefix("tree ")
            commits.append(_commit(name, tree, commits[-1].tree if commits else "", message))
        return commits

    def documents_changed(self, commit: Commit) -> list[tuple[str, str, str]]:
        """Each document that a commit changes, before and after; empty where it does not exist. A document is a page,
        or a block that was cut into pieces."""
        before, after = self._files(commit.parent_tree), self._files(commit.tree)
        changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
        found = [(path, self._text(before.get(path)), self._text(after.get(path))) for path in changed]
        groups = {path.rpartition("/part-")[0] for path in changed if "/part-" in path}
        return found + [
            (f"{group}{PIECES}", self._joined(group, before), self._joined(group, after)) for group in sorted(groups)
        ]

    def page(self, tree: str, path: str) -> str:
        """A page of a tree; empty if it does not exist."""
        return self._text(self._files(tree).get(path))

    def pages(self) -> dict[str, str]:
        """The pages after the newest commit."""
        tree = subprocess.run([*self._git, "rev-parse", "main^{tree}"], capture_output=True, check=True)
        return {path: self._text(blob) for path, blob in self._files(tree.stdout.decode().strip()).items()}

    def _joined(self, group: str, files: dict[str, str]) -> str:
        """A block, put together from its pieces."""
        pieces: dict[int, bytes] = {}
        for path, blob in files.items():
            if path.startswith(f"{group}/part-") and (found := PIECE.search(metadata_of(self._text(blob))[1])):
                _, _, rest = self._read(blob).partition(b"\n")
                pieces[int(found[1])] = rest.partition(b"\n")[2][: int(found[3])]
        return b"".join(data for _, data in sorted(pieces.items())).decode("utf-8", "surrogateescape")

    def _text(self, blob: str | None) -> str:
        return self._read(blob).decode("utf-8", "surrogateescape") if blob else ""

    def _listed(self, tree: str) -> dict[str, str]:
        """The pages of a tree: path → blob."""
        return dict(self._walk(tree)) if tree else {}

    def _walk(self, tree: str) -> Iterator[tuple[str, str]]:
        rest = self._read(tree)
        while rest:
            head, _, rest = rest.partition(b"\0")
            mode, _, name = head.decode("utf-8", "surrogateescape").partition(" ")
            object_id, rest = rest[:20].hex(), rest[20:]
            if mode == "40000":
                yield from ((f"{name}/{path}", blob) for path, blob in self._files(object_id).items())
            else:
                yield name.removesuffix(".md"), object_id

    def _fetched(self, name: str) -> bytes:
        assert self._batch.stdin is not None
        assert self._batch.stdout is not None
        self._batch.stdin.write(f"{name}\n".encode())
        self._batch.stdin.flush()
        size = int(self._batch.stdout.readline().split()[2])
        data = self._batch.stdout.read(size)
        self._batch.stdout.read(1)
        return data


def _commit(name: str, tree: str, parent_tree: str, message: str) -> Commit:
    """Reads a message: `kind: summary`, the reasons as a list, the text quoted, and the trailers."""
    first, _, rest = message.partition("\n")
    why: list[str] = []
    text: list[str] = []
    trailers: dict[str, str] = {}
    part = ""
    for line in rest.split("\n"):
        if not line:
            part = ""
        elif line in ("Text:", "Text as JSON:") and not part:
            part = line
        elif part == "Text as JSON:":
            text = [json.loads(line)]
        elif part == "Text:":
            text.append(line.removeprefix("> "))
        elif line.startswith("- "):
            why.append(line.removeprefix("- "))
        elif found := TRAILER.fullmatch(line):
            trailers[found[1]] = found[2]
    return Commit(name, tree, parent_tree, first.partition(":")[0], tuple(why), "\n".join(text), trailers)
