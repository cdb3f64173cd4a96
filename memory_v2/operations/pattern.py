"""Searching for those who know what they look for: the lines that match a regular expression, in the order of pages."""

from __future__ import annotations

import json
import re
import subprocess
import sys

from memory_v2.errors import InvalidPattern, StorageError
from memory_v2.operations.context import Context
from memory_v2.operations.draft import Draft
from memory_v2.operations.results import SearchResult
from memory_v2.operations.search_request import SearchFilter
from memory_v2.text import matching
from memory_v2.tree.block import BYTE_ORDER_MARK, readable, split_lines
from memory_v2.tree.page import Page, source_at

SECONDS = 10.0
"""How long a pattern may take, in seconds: many times what a large memory needs, and a person still waits for it."""
SPARE = 20
"""How many lines are looked for, for each that is asked for, where days or sources may exclude some."""


def matching_results(context: Context, pattern: str, limit: int, where: SearchFilter) -> list[SearchResult]:
    """The first lines that match, each as a result, the root's first, then by path. Pages that cannot be read are left
    out. Raises `InvalidPattern` if the pattern is none, or takes too long."""
    draft = Draft(context)
    paths = (node.path for node in draft.graph().nodes if where.pages is None or node.path in where.pages)
    pages = [page for path in paths if (page := draft.find_readable(path))]
    most = limit if where.is_of_whole_pages else limit * SPARE
    found = matches(pattern, [readable(page.body).removeprefix(BYTE_ORDER_MARK) for page in pages], most)
    results = (_result(context, pages[number], line + 1) for number, line in found)
    admitted = (result for result in results if where.has(result.path, result.date, result.source))
    return [one for one, _ in zip(admitted, range(limit), strict=False)]


def matches(pattern: str, texts: list[str], most: int) -> list[tuple[int, int]]:
    """As `matching_lines`, in another process, which is stopped if it takes too long. Raises `InvalidPattern`."""
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise InvalidPattern(f"not a regular expression: {error}") from error
    asked = json.dumps({"pattern": pattern, "texts": texts, "most": most})
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", matching.__file__],
            input=asked,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        hint = "make it simpler; a repetition inside a repetition, such as (a+)+, can take for ever"
        raise InvalidPattern(f"the pattern took longer than {SECONDS:.0f} seconds: {hint}") from error
    except OSError as error:
        raise StorageError(f"cannot start {sys.executable} to match the pattern: {error}") from error
    if done.returncode:
        raise InvalidPattern(f"the pattern could not be matched: {done.stderr.strip().rpartition(chr(10))[2]}")
    return [(number, line) for number, line in json.loads(done.stdout)]


def _result(context: Context, page: Page, line: int) -> SearchResult:
    lines = split_lines(page.text.removeprefix(BYTE_ORDER_MARK))
    start = len("".join(split_lines(page.text)[: line - 1]))
    block = sum(place <= start for place, _ in page.placed_blocks())
    day, speaks_of = context.index.said(page.path, (block,))
    way = context.index.graph().breadcrumb(page.path)
    return SearchResult(
        path=page.path,
        excerpt=readable(lines[line - 1]).rstrip("\r\n"),
        relevance_score=1.0,
        context=" › ".join(way),
        lines=(line, line),
        date=day,
        breadcrumb=way,
        speaks_of=speaks_of,
        source=readable(source_at(page, line).name),
        section=page.section_of(block),
    )
