"""Pages as HTML. Nothing in a page becomes a tag, a script, an image or a request: HTML is text, images are links, and
a link leads to a page of the memory, to the web, or is text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from functools import cache
from typing import Any
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup, escape

from memory_v2.operations.results import DatedLines
from memory_v2.text.slug import slug
from memory_v2.tree.block import MAX_NESTING, Block, readable
from memory_v2.tree.path import LINK, link_key
from memory_v2.tree.source import is_source_line

SCHEMES = ("http", "https", "mailto")
"""Where a link may lead outside the memory."""
MOST_CHARACTERS = 60_000
"""Characters that are shown at once: six pages of the size at which they are split. A browser stays quick, and the
parser takes a tenth of a second."""
MISSING = "no page of this name yet"

PageAddress = Callable[[str, str], str | None]
"""The address of a page and a heading of it, by the folded path; `None` if there is no such page."""


def to_html(text: str, page_at: PageAddress, lines: LineLabels | None = None) -> Markup:
    """A text as HTML; `lines` gives each block the day it was said."""
    environment: dict[str, Any] = {"page_at": page_at, "lines": lines, "slugs": {}}
    return Markup(_parser().render(readable(text), environment))


class LineLabels:
    """What is known of the lines of a page. `first` is how many lines stand above the text that is shown."""

    def __init__(self, dated: Sequence[DatedLines], why_at: str, first: int = 0) -> None:
        self._dated, self._starts = dated, [part.lines[0] for part in dated]
        self._why_at, self._first = why_at, first

    def label(self, line: int) -> str:
        """The day of a block that begins with this line of the text, from 0, and a link to why it is there."""
        number = self._first + line + 1
        at = bisect_right(self._starts, number) - 1
        known = self._dated[at] if at >= 0 else None
        day = known.date.isoformat() if known and known.date else ""
        source = f" · from {known.source}" if known and known.source else ""
        title = (f"said {day}" if day else "no day known") + source
        return str(
            Markup(
                '<a class="day" id="L{0}" href="{1}#L{0}" title="{2}" tabindex="-1" aria-hidden="true">{3}</a>'
            ).format(number, self._why_at, title, day)
        )


@cache
def _parser() -> MarkdownIt:
    parser = _Markdown("commonmark", {"html": False, "maxNesting": MAX_NESTING}, renderer_cls=_Renderer)
    parser.enable(["table", "strikethrough"])
    parser.inline.ruler.before("link", "page_link", _page_link)
    return parser


class _Markdown(MarkdownIt):
    """The parser with our own rule for where a link may lead."""

    def validateLink(self, url: str) -> bool:  # noqa: N802 - as the library calls it
        return is_safe(url)


def is_safe(target: str) -> bool:
    """Whether a link may lead there: to the web, to mail, or to a place in the memory."""
    try:
        parts = urlsplit("".join(target.split()))
    except ValueError:
        return False
    if parts.scheme:
        return parts.scheme.lower() in SCHEMES
    return not target.startswith(("//", "/\\", "\\"))


def _page_link(state: StateInline, silent: bool) -> bool:
    """The parser's rule for `[[path#heading|words]]`."""
    if not state.src.startswith("[[", state.pos) or state.linkLevel or not (link := LINK.match(state.src, state.pos)):
        return False
    target, heading, words = link.groups()
    if not silent:
        shown = (words or "").lstrip("\\|").strip() or target.strip() + (heading or "").rstrip()
        where = state.env["page_at"](link_key(target) or "", slug((heading or "").lstrip("#")))
        opened = state.push("page_open", "a" if where else "span", 1)
        opened.attrs = {"href": where, "class": "to-page"} if where else {"class": "missing", "title": MISSING}
        state.push("text", "", 0).content = shown
        state.push("page_close", "a" if where else "span", -1)
    state.pos = link.end()
    return True


class _Renderer(RendererHTML):
    """Adds the day to each block; writes images as links."""

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]) -> str:
        """An image is never fetched: it is a link to it, or its words."""
        token = tokens[idx]
        words = self.renderInlineAsText(token.children, options, env) or "image"
        target = str(token.attrs.get("src", ""))
        if urlsplit(target).scheme.lower() not in ("http", "https"):
            return str(Markup('<span class="image">{}</span>').format(words))
        return str(Markup('<a class="image" rel="noreferrer nofollow" href="{}">{}</a>').format(target, words))

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]) -> str:
        """A link out of the memory does not say where it was followed; one to a file of a page leads to the page."""
        token = tokens[idx]
        target = str(token.attrs.get("href", ""))
        if not urlsplit(target).scheme and not target.startswith("#"):
            path, _, heading = unquote(target).partition("#")
            if where := env["page_at"](link_key(path) or "", slug(heading)):
                token.attrSet("href", where)
            else:
                token.attrs = {"class": "missing", "title": MISSING}
        token.attrSet("rel", "noreferrer nofollow")
        return str(self.renderToken(tokens, idx, options, env))

    def heading_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        """A heading can be linked to by its words."""
        words = slug(tokens[idx + 1].content) if idx + 1 < len(tokens) else ""
        if words and env["slugs"].setdefault(words, idx) == idx and not re.fullmatch(r"l\d+", words):
            tokens[idx].attrSet("id", f"h-{words}")
        return self._dated(tokens, idx, options, env)

    def table_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]) -> str:
        """A table that is wider than the page can be moved within it."""
        return f'<div class="wide" tabindex="0" role="group" aria-label="table">{_label(tokens[idx], env)}<table>\n'

    def table_close(self, *_: Any) -> str:
        """Ends what a table opened."""
        return "</table></div>\n"

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]) -> str:
        """Code, as it is."""
        code = f"{_label(tokens[idx], env)}<pre><code>{escape(tokens[idx].content)}</code></pre>"
        return f'<div class="wide" tabindex="0" role="group" aria-label="code">{code}</div>\n'

    code_block = fence

    def _dated(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]) -> str:
        return str(self.renderToken(tokens, idx, options, env)) + _label(tokens[idx], env)

    def paragraph_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        """The line that says where a text came from stands back behind the text."""
        if is_source_line(Block(tokens[idx + 1].content, "paragraph")):
            tokens[idx].attrSet("class", "from")
        return self._dated(tokens, idx, options, env)

    list_item_open = blockquote_open = _dated


def _label(token: Token, env: Mapping[str, Any]) -> str:
    """The day of a block, where the token begins one: what stands on the first level, or is an item there."""
    level = 1 if token.type == "list_item_open" else 0
    if env["lines"] is None or token.map is None or token.hidden or token.level != level:
        return ""
    return str(env["lines"].label(token.map[0]))


def parts_of(blocks: Sequence[str], most: int = MOST_CHARACTERS) -> Iterator[tuple[int, str, bool]]:
    """A page in parts that can be shown at once: how many lines stand above each, its text, and whether that is a piece
    of a block too large to be read as Markdown."""
    line, held, held_at = 0, "", 0
    for block in blocks:
        if held and len(held) + len(block) > most:
            yield held_at, held, False
            held = ""
        if len(block) > most:
            for start in range(0, len(block), most):
                yield line + block.count("\n", 0, start), block[start : start + most], True
        else:
            held, held_at = held + block, held_at if held else line
        line += block.count("\n")
    if held:
        yield held_at, held, False
