"""The history of a memory as plain git has it: commits, their messages, and the documents that they change.

It uses no code of the product. What it knows of the format is in `docs/format.md`: which files are pages, how a message
is laid out, that a block too large for a page is cut into pieces that say so below `## Metadata`, and that a page made
of a section notes there what its heading was, and the rules at its end.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

LINE_END = re.compile(r"\r\n|\r|\n")
PIECE = re.compile(r"^piece: (\d+) of (\d+), (\d+) bytes of \w+\s*$", re.M)
NOTED = re.compile(r"^(title_level|rules_below): (.+)$", re.M)
FRONT_MATTER = re.compile(r"\A---\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*\n")
SIGNED = re.compile(r"#(?=[ \t]|$)")
UNDERLINED = re.compile(r"(?:[ \t]*\S.*\n)+? {0,3}(=+)[ \t]*(?:\n|$)")
"""The title of a page: a line with a number sign, or lines with a line of equals signs below them."""
PIECES = "/part-*"
"""The end of the name of a document that stands on several pages."""
TRAILER = re.compile(r"(Operation|Decided-by|Degraded|Undoes): (.*)")


def lines_of(text: str) -> list[str]:
    """The lines of a text, without their ends."""
    return LINE_END.split(text)


def noted_lines(page: str) -> list[str]:
    """The lines of a section that became this page which its metadata stands for: the heading, where it is the title of
    the page now, and the rules at its end."""
    body, _, metadata = "\n".join(lines_of(page.removeprefix("\ufeff"))).rpartition("\n## Metadata\n")
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
            if path.startswith(f"{group}/part-") and (found := PIECE.search(self._text(blob))):
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
