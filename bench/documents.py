"""Three corpora of real documents: `notes` (the folders of `SILICA_BENCH_DATA`/notes), `own` (this project's documents
and prompts), and `package` (the installed package with the most Markdown)."""

from __future__ import annotations

import re
import sys
import sysconfig
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bench.data import HERE, data_folder

SUFFIXES = (".md", ".rst", ".markdown", ".j2")

_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\n(.*?)\n---[ \t]*\n", re.S)
_CODE = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)
_HEADING = re.compile(r"^#{1,6}[ \t]+(\S.*?)[ \t#]*$|^(\S.*)\n(?:={3,}|-{3,})[ \t]*$", re.M)


@dataclass(frozen=True)
class Document:
    """A file of a corpus: its name in the corpus, and its text."""

    name: str
    text: str

    @cached_property
    def lines(self) -> list[str]:
        """The lines that are not blank, each as it is compared."""
        return compared(self.text)

    @property
    def folder(self) -> str:
        """The first part of the name."""
        return self.name.partition("/")[0] if "/" in self.name else "."

    @cached_property
    def title(self) -> str:
        """Its title: that of its front matter, else its first heading, else the name of its file."""
        return self.own_title or self.name.rsplit("/", 1)[-1].split(".")[0]

    @cached_property
    def own_title(self) -> str:
        """The title of its front matter, else its first heading; empty if it has neither."""
        if (front := _FRONT_MATTER.match(self.text)) and (named := re.search(r"^title:[ \t]*(\S.*)$", front[1], re.M)):
            return named[1].strip().strip("\"'")
        found = _HEADING.search(_CODE.sub("", _FRONT_MATTER.sub("", self.text)))
        return (found[1] or found[2]) if found else ""


def compared(text: str) -> list[str]:
    """The lines of a text that are not blank, without trailing blanks; headings of any level are the same."""
    lines = (line.rstrip() for line in text.removeprefix("\ufeff").splitlines())
    return [re.sub(r"^ {0,3}#{1,6}[ \t]+(.*?)[ \t#]*$", r"# \1", line) for line in lines if line]


def documents(corpus: str) -> list[Document]:
    """The documents of a corpus in order. Says so if it is not there."""
    found = in_order(CORPORA[corpus]())
    if not found:
        print(f"{corpus}: no documents here", file=sys.stderr)
    return found


def below(folder: Path, above: Path) -> list[tuple[str, Path]]:
    """The files of a folder that are documents, with their names from the folder `above`."""
    files = (file for file in folder.rglob("*") if file.suffix in SUFFIXES and file.is_file())
    return [(file.relative_to(above).as_posix(), file) for file in files]


def in_order(files: Iterable[tuple[str, Path]]) -> list[Document]:
    """The documents in these named files, by name; of equal texts only the first."""
    texts: dict[str, str] = {}
    for name, file in sorted(files):
        if not file.stem.upper().startswith("LICENSE"):
            text = file.read_bytes().decode("utf-8", "replace")
            if text.strip():
                texts.setdefault(text, name)
    return [Document(name, text) for text, name in texts.items()]


def _notes() -> list[tuple[str, Path]]:
    folder = data_folder() / "notes"
    return below(folder, folder)


def _own() -> list[tuple[str, Path]]:
    tops = [(file.name, file) for file in HERE.glob("*.md")]
    return [*tops, *below(HERE / "docs", HERE), *below(HERE / "prompts", HERE)]


def _package() -> list[tuple[str, Path]]:
    """The documents of the installed package that has the most."""
    site = Path(sysconfig.get_path("purelib"))
    packages = [below(folder, folder) for folder in sorted(site.iterdir()) if (folder / "__init__.py").is_file()]
    return max(packages, key=len, default=[])


CORPORA: dict[str, Callable[[], list[tuple[str, Path]]]] = {"notes": _notes, "own": _own, "package": _package}
