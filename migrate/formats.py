"""The formats of folders: what shows that a folder is of one, and how it is read; and what to read at some paths.

All of them are read as `folder` reads text; a format says only what is different. Which one a folder has follows from
what is in it, never from a guess among several.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from memory_v2.errors import StorageError, UsageError
from memory_v2.files.claude_folder import address_in, is_memory, judge_in
from memory_v2.files.listing import (
    LeftOut,
    Listing,
    SourceFile,
    has_text_suffix,
    left_out_as_hidden,
    left_out_in_a_line,
    list_files,
    printable,
)
from memory_v2.locations import persona_memory
from memory_v2.migrate import conversations, exported_page, silica_v1
from memory_v2.migrate.folder import Text, scan_files, scan_folder
from memory_v2.migrate.scan import TEXT, Scan
from memory_v2.migrate.silica_v1 import one_persona
from memory_v2.text.amounts import counted
from memory_v2.text.days import named_day
from memory_v2.tree.block import readable
from memory_v2.tree.path import ROOT

OLDER = ("~/.hdev/memory", "~/.silica/memory")
"""Where older versions kept a memory, besides those of personas."""
PERSONA = "default"
"""The persona that an older version takes if none is named."""
SHELF = "daily-logs"
"""The folder of the daily logs that are in none of their own."""
SEVERAL = 3
"""From how many daily logs a folder is one of logs without a `MEMORY.md`."""
CONTENT: Final = ".content"
"""The text of a page of Silica's public branch, each of which is a folder."""
NO_ANSWER: Final = "No response generated"
"""What that version stored in place of a page if the model did not answer."""
_LASTING = ("MEMORY.md", "memory/MEMORY.md")
_CLAWVAULT = ".clawvault.json"
_CLAWVAULT_TEMPLATE = re.compile(r"---\r?\nprimitive:")
_MEMORIES = "memories"
_TOPIC = re.compile(rb"\A---\r?\n(?:.+\n)*?(?: *originSessionId:| *node_type: *memory\b)")
_TOP_BYTES = 2_000
"""How much of a file is read to see whether it is a topic of Claude Code, in bytes: more than the front matter."""


@dataclass(frozen=True, slots=True)
class Format:
    """One format: its `name`, as `--format` gives it, and in a few words what it reads. `detect` says by what a folder
    shows that it is of this format; empty if it does not. `find` finds the documents, sorted by name, and raises
    `StorageError` if the folder cannot be listed. The source is never changed, and links out of it are not followed."""

    name: str
    about: str
    detect: Callable[[Path], str]
    find: Callable[[Path], Scan]

    def scan(self, folder: Path) -> Scan:
        """What is in a folder of this format."""
        return replace(self.find(folder), format=self.name)


def choose(folder: Path, format_name: str | None = None) -> Format:
    """The format of a folder: the one of this name, or else the one that is evident; of a plain folder of text that for
    Markdown. Raises `UsageError` if there is no such format, nothing to read, or more than one format, and
    `StorageError` if the folder cannot be listed."""
    if not _is_folder(folder):
        raise UsageError(f"{folder} is not a folder")
    named = next((one for one in FORMATS if one.name == format_name), None)
    if named is None and format_name is not None:
        raise UsageError(f"there is no format {format_name!r}: use one of {', '.join(one.name for one in FORMATS)}")
    if named is not None:
        return named
    seen = [(one, sign) for one in _OF_PROGRAMS if (sign := one.detect(folder))]
    of_markdown = ((one, sign) for one in _OF_MARKDOWN if (sign := one.detect(folder)))
    seen += [found] if (found := next(of_markdown, None)) else []
    if len(seen) > 1:
        both = " and as ".join(f"{one.name} ({sign})" for one, sign in seen)
        raise UsageError(f"{folder} can be read as {both}: say which with --format")
    if seen:
        return seen[0][0]
    for one in (MARKDOWN, PLAIN_FILES):
        if one.detect(folder) and (one is MARKDOWN or one.scan(folder).documents):
            return one
    raise UsageError(_nothing(folder, MARKDOWN.scan(folder)))


def scan_paths(paths: Sequence[Path], format_name: str | None = None) -> list[tuple[Path, Scan]]:
    """Each source with what is in it: the folders, and the folders of single files, of which only these files are read.
    Raises what `choose` raises, also if a file is not there or a source has no document."""
    single = [path for path in paths if not _is_folder(path)]
    folders = dict.fromkeys(path.resolve() for path in paths if path not in single)
    zips = [path for path in single if conversations.is_zip(path)]
    scans = [(folder, choose(folder, format_name).scan(folder)) for folder in folders]
    files: dict[Path, dict[str, SourceFile]] = {}
    for path in (path for path in single if path not in zips):
        whole, name = path.parent.resolve() / path.name, printable(path.name)
        if not any(whole.is_relative_to(folder) for folder in folders):
            files.setdefault(whole.parent, {})[name] = SourceFile(name, whole)
    if files and format_name not in (None, MARKDOWN.name):
        raise UsageError(f"a single file has no format: give the folder to read it as {format_name}")
    scans += [(path.resolve(), conversations.scan(path)) for path in zips]
    scans += [(folder, scan_files(Listing(tuple(named.values())))) for folder, named in files.items()]
    for folder, scan in scans:
        if not scan.documents:
            raise UsageError(_nothing(folder, scan))
    return scans


def older_memory(persona: str | None = None) -> Path:
    """The folder of the older memory: that of a persona, or else the first one there is. Raises `UsageError` if there
    is none."""
    own = persona_memory(persona or PERSONA).with_name("memory")
    places = [own] if persona else [own, *(Path(place).expanduser() for place in OLDER)]
    if found := next((place for place in places if place.is_dir()), None):
        return found
    looked = " or ".join(map(str, places))
    raise UsageError(f"there is no older memory in {looked}; name its folder with --from")


def _is_folder(path: Path) -> bool:
    """Whether the path is a folder, and not a file. Raises `UsageError` if nothing is there."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UsageError(f"there is no file or folder {path}") from error
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}") from error


def _nothing(folder: Path, scan: Scan) -> str:
    return f"there is nothing to import in {folder}: {left_out_in_a_line(scan.left_out) or 'it is empty'}"


# by what a folder shows of which format it is, and what each leaves out


def _names(folder: Path, is_text: Callable[[str], bool] = has_text_suffix) -> list[str]:
    """The names of the text files of a folder."""
    return [*filter(is_text, list_files(folder, judge_in(folder)).names())]


def _is_markdown(folder: Path) -> str:
    texts = len(_names(folder))
    return counted(texts, "text file") if texts else ""


def _is_obsidian(folder: Path) -> str:
    settings = sorted((folder / ".obsidian").glob("*.json"))
    return f".obsidian/{settings[0].name}" if settings else ""


def _is_clawvault(folder: Path) -> str:
    return _CLAWVAULT if (folder / _CLAWVAULT).is_file() else ""


def _no_template(text: Text) -> LeftOut | None:
    if text.name.startswith("templates/") and _CLAWVAULT_TEMPLATE.match(text.text):
        return LeftOut(text.name, "a template that ClawVault made", is_expected=True)
    return None


def _is_memory_tool(folder: Path) -> str:
    """By its name: the folder is called `memories`, or holds nothing else."""
    if folder.name == _MEMORIES:
        return f"the name {_MEMORIES}/"
    inside = [path.name for path in folder.iterdir() if not path.name.startswith(".")]
    return f"{_MEMORIES}/" if inside == [_MEMORIES] and (folder / _MEMORIES).is_dir() else ""


def _no_bytes(text: Text) -> LeftOut | None:
    if has_text_suffix(text.name) or readable(text.text) == text.text:
        return None
    return LeftOut(text.name, "no text: its bytes are not UTF-8")


def _is_daily_logs(folder: Path) -> str:
    """By logs at the top or in `memory/`: several, or one and a `MEMORY.md`."""
    texts = _names(folder)
    logs = sum(map(_is_log, texts))
    lasting = next((text for text in _LASTING if text in texts), "")
    if logs < (1 if lasting else SEVERAL):
        return ""
    return " and ".join(filter(None, [lasting, counted(logs, "daily log")]))


def _scan_daily_logs(folder: Path) -> Scan:
    """Logs are put into a folder, so that they are together."""

    def address(text: str) -> str:
        return f"{SHELF}/{text.rpartition('/')[2]}" if _is_log(text) else address_in(folder, text)

    return scan_folder(folder, address=address)


def _is_log(text: str) -> bool:
    """Whether a text is at the top or in `memory/`, and its name begins with a day."""
    above, _, last = text.rpartition("/")
    return above in ("", "memory") and last[:4].isdecimal() and named_day(last) is not None


def _is_claude_code(folder: Path) -> str:
    """By a `.claude` folder, by the front matter of a topic beside `MEMORY.md`, or by `CLAUDE.md`."""
    names = _names(folder)
    if kept := [name for name in names if is_memory(folder, name)]:
        return kept[0]
    for name in names if "MEMORY.md" in names else ():
        if "/" not in name and _is_topic(folder / name):
            return f"MEMORY.md and {name}"
    return next((each for each in ("CLAUDE.md", "CLAUDE.local.md") if each in names), "")


def _is_topic(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return bool(_TOPIC.match(file.read(_TOP_BYTES)))
    except OSError:
        return False


def _has_no_suffix(name: str) -> bool:
    return "." not in name.rpartition("/")[2]


def _is_plain_files(folder: Path) -> str:
    files = len(_names(folder, _has_no_suffix))
    return f"{counted(files, 'file')} without a suffix" if files else ""


def _is_content(name: str) -> bool:
    return name.rpartition("/")[2] == CONTENT


def _is_silica_v2(folder: Path) -> str:
    pages = sum(map(_is_content, list_files(folder, _judge_content).names()))
    return counted(pages, f"{CONTENT} file") if pages else ""


def _scan_silica_v2(folder: Path) -> Scan:
    """Each page is a document. Raises `UsageError` if the folder holds the memories of several personas."""
    start = ""  # the folder of the only persona, if this is the folder of all
    if not (folder / CONTENT).exists() and not (folder / ".metadata").exists():
        start = one_persona(folder, [f"{path.parent.name}/" for path in folder.glob("*/.metadata")])

    def address(page: str) -> str:
        path = "/".join(part for part in page.removeprefix(start).split("/") if part != CONTENT)
        return f"{path}.md" if path else CONTENT

    listing = list_files(folder, _judge_content)
    return scan_files(listing, address, _is_content, _unanswered, start + CONTENT)


def _judge_content(name: str, path: Path) -> LeftOut | None:
    *_, last = name.rstrip("/").rpartition("/")
    if last == CONTENT:
        return None
    if last.startswith(f".{CONTENT}.") and last.endswith(".tmp"):
        return LeftOut(name, "a write that was never finished", is_expected=True)
    return left_out_as_hidden(name, path)


def _unanswered(text: Text) -> LeftOut | None:
    if text.text.strip() == NO_ANSWER:
        return LeftOut(text.name, f"it only says {NO_ANSWER!r}: the old version lost this page to a failed request")
    return None


# the table


MARKDOWN = Format(TEXT, "a folder of Markdown or text files", _is_markdown, scan_folder)
PLAIN_FILES = Format(
    "plain-files",
    "a memory of text files without a suffix",
    _is_plain_files,
    partial(
        scan_folder,
        is_text=lambda name: _has_no_suffix(name) or has_text_suffix(name),
        leave_out=_no_bytes,
        root=ROOT,
    ),
)
_OF_PROGRAMS = (
    Format(
        "silica-v1", "Silica's first memory: Markdown with .metadata.json beside it", silica_v1.detect, silica_v1.scan
    ),
    Format("silica-v2", "the .content files of Silica's public branch", _is_silica_v2, _scan_silica_v2),
    Format(
        conversations.NAME,
        "ChatGPT's or Claude's export: a zip file or its folder",
        conversations.detect,
        conversations.scan,
    ),
)
"""Each is read in a way of its own, so a folder that is of two of these, or of one below too, is not guessed at."""
_OF_MARKDOWN = (
    Format("silica-export", "a memory exported by 'silica memory export'", exported_page.detect, exported_page.scan),
    Format("clawvault", "a ClawVault", _is_clawvault, partial(scan_folder, leave_out=_no_template)),
    Format(
        "claude-memory-tool",
        "the folder /memories of Claude's memory tool",
        _is_memory_tool,
        partial(
            scan_folder,
            address=lambda text: text.removeprefix(f"{_MEMORIES}/"),
            is_text=lambda _: True,
            leave_out=_no_bytes,
        ),
    ),
    Format("daily-logs", "MEMORY.md and a log for each day", _is_daily_logs, _scan_daily_logs),
    Format("claude-code", "the memory of Claude Code: CLAUDE.md, .claude/…/memory", _is_claude_code, scan_folder),
    Format("obsidian", "an Obsidian vault", _is_obsidian, scan_folder),
)
"""Each reads every note of a folder that is of several of these formats, so the most telling one is taken."""
FORMATS = (*_OF_PROGRAMS, *_OF_MARKDOWN, MARKDOWN, PLAIN_FILES)
