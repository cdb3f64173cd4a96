"""All readers, and which one is for a folder: by what the folder shows, never by a guess among several."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path

from memory_v2.errors import StorageError, UsageError
from memory_v2.files.left_out import left_out_in_a_line
from memory_v2.files.listing import Listing, SourceFile, printable
from memory_v2.migrate.exported_page import SILICA_EXPORT
from memory_v2.migrate.folder import scan_files
from memory_v2.migrate.formats import CLAUDE_CODE, CLAWVAULT, DAILY_LOGS, MARKDOWN, MEMORY_TOOL, OBSIDIAN, PLAIN_FILES
from memory_v2.migrate.silica_v1 import SILICA_V1
from memory_v2.migrate.silica_v2 import SILICA_V2
from memory_v2.migrate.source import Reader, Scan

_OF_SILICA: Sequence[Reader] = (SILICA_V1, SILICA_V2)
_OF_MARKDOWN: Sequence[Reader] = (SILICA_EXPORT, CLAWVAULT, MEMORY_TOOL, DAILY_LOGS, CLAUDE_CODE, OBSIDIAN)
"""Each reads every note of a folder that is of several of these formats, so the most telling one is taken."""
READERS: Sequence[Reader] = (*_OF_SILICA, *_OF_MARKDOWN, MARKDOWN, PLAIN_FILES)


def choose(folder: Path, format_name: str | None = None) -> Reader:
    """The reader for a folder: the one of this name, or else the one whose format is evident; of a plain folder of text
    that for Markdown. Raises `UsageError` if there is no such reader, nothing to read, or more than one format, and
    `StorageError` if the folder cannot be listed."""
    if not _is_folder(folder):
        raise UsageError(f"{folder} is not a folder")
    if format_name is not None:
        return _named(format_name)
    seen = {reader.name: sign for reader in _OF_SILICA if (sign := reader.detect(folder))}
    of_markdown = ((reader, sign) for reader in _OF_MARKDOWN if (sign := reader.detect(folder)))
    other, sign = next(of_markdown, (None, ""))
    if other is not None:
        seen[other.name] = sign
    if len(seen) > 1:
        both = " and as ".join(f"{name} ({sign})" for name, sign in seen.items())
        raise UsageError(f"{folder} can be read as {both}: say which with --format")
    if seen:
        return _named(next(iter(seen)))
    if MARKDOWN.detect(folder):
        return MARKDOWN
    if PLAIN_FILES.detect(folder) and PLAIN_FILES.scan(folder).documents:
        return PLAIN_FILES
    raise UsageError(_nothing(folder, MARKDOWN.scan(folder)))


def scan_paths(paths: Sequence[Path], format_name: str | None = None) -> list[tuple[Path, Scan]]:
    """Each source with what is in it: the folders, and the folders of single files, of which only these files are read.
    Raises what `choose` raises, also if a file is not there or a source has no document."""
    single = [path for path in paths if not _is_folder(path)]
    folders = dict.fromkeys(path.resolve() for path in paths if path not in single)
    scans = [(folder, choose(folder, format_name).scan(folder)) for folder in folders]
    files: dict[Path, dict[str, SourceFile]] = {}
    for path in single:
        whole, name = path.parent.resolve() / path.name, printable(path.name)
        if not any(whole.is_relative_to(folder) for folder in folders):
            files.setdefault(whole.parent, {})[name] = SourceFile(name, whole)
    if files and format_name not in (None, MARKDOWN.name):
        raise UsageError(f"a single file has no format: give the folder to read it as {format_name}")
    scans += [(folder, scan_files(MARKDOWN.name, Listing(tuple(named.values())))) for folder, named in files.items()]
    for folder, scan in scans:
        if not scan.documents:
            raise UsageError(_nothing(folder, scan))
    return scans


def _is_folder(path: Path) -> bool:
    """Whether the path is a folder, and not a file. Raises `UsageError` if nothing is there."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UsageError(f"there is no file or folder {path}") from error
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}") from error


def _named(format_name: str) -> Reader:
    for reader in READERS:
        if reader.name == format_name:
            return reader
    raise UsageError(f"there is no format {format_name!r}: use one of {', '.join(reader.name for reader in READERS)}")


def _nothing(folder: Path, scan: Scan) -> str:
    return f"there is nothing to import in {folder}: {left_out_in_a_line(scan.left_out) or 'it is empty'}"
